// See cubin_image.h; the form is that of sim_cubins.cpp.
#include "cuda_sim/cubin_image.h"

#include <elf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace perflab::cuda_sim {
namespace {

constexpr std::uint16_t kCuda = 190;
constexpr std::uint64_t kReservedShared = 1024;  // of a section, beside the kernel's own

template <class T>
T value_at(std::string_view bytes, std::size_t offset) {
  T value{};
  if (offset + sizeof value <= bytes.size())
    std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

struct Section {
  std::string_view name, bytes;
  Elf64_Shdr header;
};

std::vector<Section> sections_of(std::string_view file) {
  const auto header = value_at<Elf64_Ehdr>(file, 0);
  std::vector<Section> sections(header.e_shnum);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    sections[i].header = value_at<Elf64_Shdr>(file, header.e_shoff + i * sizeof(Elf64_Shdr));
    const Elf64_Shdr& one = sections[i].header;
    if (one.sh_type != SHT_NOBITS && one.sh_offset + one.sh_size <= file.size())
      sections[i].bytes = file.substr(one.sh_offset, one.sh_size);
  }
  if (header.e_shstrndx >= sections.size()) return {};
  const std::string_view names = sections[header.e_shstrndx].bytes;
  for (Section& section : sections)
    if (section.header.sh_name < names.size())
      section.name = names.substr(section.header.sh_name).data();
  return sections;
}

/// Calls `take(attribute, bytes of the value)` for the entries of an .nv.info section.
template <class Take>
void each_attribute(std::string_view info, Take take) {
  constexpr std::uint8_t kSized = 4;
  while (info.size() >= 4) {
    const auto form = static_cast<std::uint8_t>(info[0]);
    const auto attribute = static_cast<std::uint8_t>(info[1]);
    const auto value = value_at<std::uint16_t>(info, 2);
    info.remove_prefix(4);
    const std::size_t bytes = form == kSized ? std::min<std::size_t>(value, info.size()) : 0;
    take(attribute, info.substr(0, bytes));
    info.remove_prefix(bytes);
  }
}

void read_kernel_info(std::string_view info, ImageKernel& kernel) {
  constexpr std::uint8_t kMaxThreads = 0x05, kKernelParam = 0x17;
  each_attribute(info, [&](std::uint8_t attribute, std::string_view value) {
    if (attribute == kMaxThreads) kernel.max_threads = value_at<std::uint32_t>(value, 0);
    if (attribute == kKernelParam)
      kernel.parameters.emplace_back(value_at<std::uint16_t>(value, 6),
                                     value_at<std::uint32_t>(value, 8) >> 18U);
  });
  std::ranges::sort(kernel.parameters);
}

std::string body_of(std::string_view list, std::string_view kernel) {
  while (!list.empty()) {
    const std::string_view item = list.substr(0, list.find(';'));
    list.remove_prefix(std::min(item.size() + 1, list.size()));
    const std::size_t equals = item.find('=');
    if (equals != std::string_view::npos && item.substr(0, equals) == kernel)
      return std::string(item.substr(equals + 1));
  }
  return std::string(kernel);
}

const Section* named(const std::vector<Section>& sections, const std::string& name) {
  const auto at = std::ranges::find(sections, name, &Section::name);
  return at == sections.end() ? nullptr : &*at;
}

ImageKernel kernel_of(const std::vector<Section>& sections, std::string_view name,
                      std::uint32_t number) {
  constexpr std::uint8_t kFrameSize = 0x11, kRegisters = 0x2f;
  ImageKernel kernel;
  kernel.name = name;
  if (const Section* const info = named(sections, ".nv.info." + kernel.name))
    read_kernel_info(info->bytes, kernel);
  if (const Section* const shared = named(sections, ".nv.shared." + kernel.name))
    kernel.shared_bytes = static_cast<std::uint32_t>(
        shared->header.sh_size - std::min<std::uint64_t>(shared->header.sh_size, kReservedShared));
  if (const Section* const all = named(sections, ".nv.info"))
    each_attribute(all->bytes, [&](std::uint8_t attribute, std::string_view value) {
      if (value_at<std::uint32_t>(value, 0) != number) return;
      if (attribute == kFrameSize) kernel.local_bytes = value_at<std::uint32_t>(value, 4);
      if (attribute == kRegisters) kernel.registers = value_at<std::uint32_t>(value, 4);
    });
  const Section* const bodies = named(sections, ".cuda_sim.bodies");
  kernel.body = body_of(bodies == nullptr ? "" : bodies->bytes, name);
  return kernel;
}

/// The number behind the first `before` of a text, 0: there is none.
std::uint32_t number_behind(std::string_view text, std::string_view before) {
  const std::size_t at = text.find(before);
  return at == std::string_view::npos
             ? 0
             : static_cast<std::uint32_t>(std::atoi(text.data() + at + before.size()));
}

/// What PTX declares of its only kernel, whose body is the function of its name: parameters (all of
/// 4 bytes, or one of 8), local memory, threads. That is all of PTX that is understood.
CubinImage read_ptx(std::string_view text) {
  CubinImage image;
  image.bytes = text;
  constexpr std::string_view kEntry = ".visible .entry ", kParameter = ".param .u32";
  const std::size_t at = text.find(kEntry);
  if (at == std::string_view::npos) return image;
  const std::string_view rest = text.substr(at + kEntry.size());
  ImageKernel kernel;
  kernel.name = kernel.body = rest.substr(0, rest.find('('));
  kernel.registers = 254;
  kernel.local_bytes = number_behind(rest, ".b8 left_local[");
  kernel.max_threads = number_behind(rest, ".maxntid ");
  const std::string_view head = rest.substr(0, rest.find(')'));
  for (std::size_t one = head.find(kParameter); one != std::string_view::npos;
       one = head.find(kParameter, one + 1))
    kernel.parameters.emplace_back(4 * kernel.parameters.size(), 4);
  if (head.find(".param .u64") != std::string_view::npos) kernel.parameters.emplace_back(0, 8);
  image.kernels.push_back(std::move(kernel));
  return image;
}

bool is_ptx(std::string_view bytes) {
  return bytes.starts_with(".version");
}

}  // namespace

std::size_t image_bytes(const void* image) {
  if (const auto* const text = static_cast<const char*>(image);
      std::strncmp(text, ".version", 8) == 0)
    return std::strlen(text);
  Elf64_Ehdr header{};
  std::memcpy(&header, image, sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != kCuda) return 0;
  return header.e_shoff + std::size_t{header.e_shnum} * sizeof(Elf64_Shdr);
}

CubinImage read_image(std::string_view bytes) {
  if (is_ptx(bytes)) return read_ptx(bytes);
  CubinImage image;
  image.bytes = bytes;
  const std::vector<Section> sections = sections_of(image.bytes);
  const Section* const symbols = named(sections, ".symtab");
  const Section* const names = named(sections, ".strtab");
  if (symbols == nullptr || names == nullptr) return image;
  for (std::size_t i = 0; i < symbols->bytes.size() / sizeof(Elf64_Sym); ++i) {
    const auto symbol = value_at<Elf64_Sym>(symbols->bytes, i * sizeof(Elf64_Sym));
    if (symbol.st_shndx == 0 || symbol.st_shndx >= sections.size() ||
        symbol.st_name >= names->bytes.size())
      continue;
    const std::string_view name = names->bytes.substr(symbol.st_name).data();
    if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC)
      image.kernels.push_back(kernel_of(sections, name, static_cast<std::uint32_t>(i)));
    if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT) continue;
    std::string contents(sections[symbol.st_shndx].bytes.substr(
        std::min<std::size_t>(symbol.st_value, sections[symbol.st_shndx].bytes.size()),
        symbol.st_size));
    contents.resize(symbol.st_size);
    image.variables.push_back({.name = std::string(name), .contents = std::move(contents)});
  }
  if (const Section* const library = named(sections, ".cuda_sim.library"))
    image.library = library->bytes;
  return image;
}

}  // namespace perflab::cuda_sim
