// Loading a code object: its segments into memory, the symbols of its .symtab. Facts: ELF, and
// docs/facts/code_object.md "ELF header", "Kernel descriptor" (a kernel is the 64-byte object
// NAME.kd).
#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "sim.h"

namespace perflab::hsa::sim {
namespace {

constexpr std::uint64_t kImagePage = 4096;
constexpr std::uint64_t kDescriptor = 64;
constexpr std::uint16_t kAmdGpu = 224;
constexpr std::uint64_t kLargestImage = std::uint64_t{1} << 32;

template <class T>
std::optional<T> read_at(std::string_view file, std::uint64_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return std::nullopt;
  T typed;
  std::memcpy(&typed, file.data() + offset, sizeof typed);
  return typed;
}

std::string_view piece(std::string_view file, std::uint64_t offset, std::uint64_t bytes) {
  if (offset > file.size() || file.size() - offset < bytes) return {};
  return file.substr(offset, bytes);
}

std::optional<Elf64_Ehdr> header_of(std::string_view file) {
  const auto header = read_at<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_type != ET_DYN) return std::nullopt;
  if (header->e_machine != kAmdGpu) return std::nullopt;
  return header;
}

template <class T>
std::vector<T> table(std::string_view file, std::uint64_t offset, std::uint64_t count) {
  std::vector<T> rows;
  for (std::uint64_t i = 0; i < count; ++i)
    if (const auto row = read_at<T>(file, offset + i * sizeof(T))) rows.push_back(*row);
  return rows;
}

// Opens the library that an object carries, through a file that lives in memory only. The file
// stays open as long: dlopen takes an equal name for an equal library.
void open_library(LoadedObject& object, const void* bytes, std::size_t size) {
  object.library_file = ::memfd_create("hsa_sim_library", MFD_CLOEXEC);
  if (object.library_file < 0 ||
      ::write(object.library_file, bytes, size) != static_cast<ssize_t>(size))
    misuse("a code object's library cannot be kept");
  const std::string path = "/proc/self/fd/" + std::to_string(object.library_file);
  object.library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object.library == nullptr) misuse(::dlerror());
}

void add_symbol(LoadedObject& object, std::string_view names, const Elf64_Sym& symbol) {
  if (symbol.st_name >= names.size() || ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT) return;
  if (symbol.st_value + symbol.st_size > object.bytes) return;
  auto made = std::make_unique<LoadedSymbol>();
  made->name = std::string(names.substr(symbol.st_name));
  made->name.resize(std::strlen(made->name.c_str()));
  made->is_kernel = made->name.ends_with(".kd") && symbol.st_size == kDescriptor;
  made->exported = ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL;
  made->address = object.base + symbol.st_value;
  made->bytes = symbol.st_size;
  if (made->name == "hsa_sim_body")
    object.bodies.assign(reinterpret_cast<const char*>(made->address), made->bytes);
  if (made->name == "hsa_sim_library")
    open_library(object, reinterpret_cast<const void*>(made->address), made->bytes);
  object.symbols.push_back(std::move(made));
}

void add_symbols(LoadedObject& object, std::string_view file, const Elf64_Ehdr& header) {
  const auto sections = table<Elf64_Shdr>(file, header.e_shoff, header.e_shnum);
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& strings = sections[section.sh_link];
    const std::string_view names = piece(file, strings.sh_offset, strings.sh_size);
    for (const Elf64_Sym& symbol :
         table<Elf64_Sym>(file, section.sh_offset, section.sh_size / sizeof(Elf64_Sym)))
      add_symbol(object, names, symbol);
  }
}

}  // namespace

LoadedObject::~LoadedObject() {
  if (library != nullptr) ::dlclose(library);
  if (library_file >= 0) ::close(library_file);
}

const LoadedSymbol* LoadedObject::find(std::string_view name) const {
  const auto found =
      std::ranges::find_if(symbols, [name](const auto& symbol) { return symbol->name == name; });
  return found == symbols.end() ? nullptr : found->get();
}

std::shared_ptr<LoadedObject> load_image(std::string_view file, int agent) {
  const auto header = header_of(file);
  if (!header) return nullptr;
  const auto segments = table<Elf64_Phdr>(file, header->e_phoff, header->e_phnum);
  std::uint64_t end = 0;
  for (const Elf64_Phdr& segment : segments)
    if (segment.p_type == PT_LOAD) end = std::max(end, segment.p_vaddr + segment.p_memsz);
  if (end == 0 || end > kLargestImage) return nullptr;
  const std::uint64_t bytes = (end + kImagePage - 1) / kImagePage * kImagePage;
  const std::uint64_t base = take_memory(bytes, kImagePage, 0, true);
  if (base == 0) return nullptr;
  const auto free_image = [](LoadedObject* object) {
    give_memory(object->base, object->bytes, 0);
    delete object;
  };
  const std::shared_ptr<LoadedObject> object(new LoadedObject, free_image);
  object->base = base;
  object->bytes = bytes;
  object->agent = agent;
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_LOAD) continue;
    const std::string_view contents = piece(file, segment.p_offset, segment.p_filesz);
    if (contents.size() != segment.p_filesz || segment.p_filesz > segment.p_memsz) return nullptr;
    std::memcpy(reinterpret_cast<void*>(base + segment.p_vaddr), contents.data(), contents.size());
  }
  add_symbols(*object, file, *header);
  return object;
}

}  // namespace perflab::hsa::sim
