// See cubin_writer.h.
#include "support/cubin_writer.h"

#include <elf.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "support/code_writer.h"

namespace perflab::test {
namespace {

constexpr std::uint32_t kInfoSection = 0x70000000;  // SHT_CUDA_INFO
constexpr std::uint32_t kReservedShared = 1024;
constexpr std::uint32_t kLargestSmallParameter = 0x3fff;

template <class T>
void put_value(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string words(std::initializer_list<std::uint32_t> values) {
  std::string out;
  for (const std::uint32_t value : values) put_value(out, value);
  return out;
}

/// An attribute whose value stands behind it, or in it.
void put_sized(std::string& out, std::uint8_t attribute, const std::string& bytes) {
  put_value<std::uint8_t>(out, 4);
  put_value(out, attribute);
  put_value(out, static_cast<std::uint16_t>(bytes.size()));
  out += bytes;
}
void put_short(std::string& out, std::uint8_t attribute, std::uint32_t value) {
  put_value<std::uint8_t>(out, 3);
  put_value(out, attribute);
  put_value(out, static_cast<std::uint16_t>(value));
}

/// One section to be written. Section 0 is the empty one.
struct Section {
  std::string name;
  Elf64_Shdr header{};
  std::string bytes;
};

Elf64_Shdr section_header(std::uint32_t type, Elf64_Xword flags, Elf64_Xword alignment) {
  Elf64_Shdr header{};
  header.sh_type = type;
  header.sh_flags = flags;
  header.sh_addralign = alignment;
  return header;
}

class CubinFileWriter {
 public:
  explicit CubinFileWriter(const WrittenCubin& spec) : spec_(spec) {
    sections_.push_back({});
    strings_.push_back('\0');
    symbols_.append(sizeof(Elf64_Sym), '\0');
    add(".strtab", SHT_STRTAB, {});
    add(".symtab", SHT_SYMTAB, {});
    info_ = add(".nv.info", kInfoSection, {});
    for (const WrittenCubinKernel& kernel : spec.kernels) add_kernel(kernel);
    add_variables();
    for (const WrittenCubinSection& one : spec.sections) add(one.name, SHT_PROGBITS, one.bytes);
    sections_[kStrings].bytes = strings_;
    sections_[kSymbols].bytes = symbols_;
    sections_[kSymbols].header.sh_link = kStrings;
    sections_[kSymbols].header.sh_entsize = sizeof(Elf64_Sym);
    sections_[info_].bytes = common_info_;
    for (Section& section : sections_)
      if (section.header.sh_type == kInfoSection) section.header.sh_link = kSymbols;
  }

  [[nodiscard]] std::string write() const {
    std::string out(sizeof(Elf64_Ehdr), '\0'), names(1, '\0');
    std::vector<Elf64_Shdr> headers;
    std::vector<Section> all = sections_;
    all.push_back({.name = ".shstrtab", .header = section_header(SHT_STRTAB, 0, 1), .bytes = {}});
    for (std::size_t i = 1; i < all.size(); ++i) {
      all[i].header.sh_name = static_cast<Elf64_Word>(names.size());
      (names += all[i].name) += '\0';
    }
    all.back().bytes = names;
    for (Section& section : all) {
      const std::size_t alignment = std::max<std::size_t>(section.header.sh_addralign, 1);
      out.resize((out.size() + alignment - 1) / alignment * alignment, '\0');
      if (section.header.sh_type != SHT_NULL) section.header.sh_offset = out.size();
      if (section.header.sh_type != SHT_NOBITS) section.header.sh_size = section.bytes.size();
      out += section.bytes;
      headers.push_back(section.header);
    }
    out.resize((out.size() + 7) / 8 * 8, '\0');
    const Elf64_Ehdr header = file_header(out.size(), all.size());
    std::memcpy(out.data(), &header, sizeof header);
    for (const Elf64_Shdr& one : headers) put_value(out, one);
    return out;
  }

 private:
  static constexpr std::size_t kStrings = 1, kSymbols = 2;

  [[nodiscard]] Elf64_Ehdr file_header(std::size_t table, std::size_t sections) const {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    const bool is_new = spec_.abi_version >= 8;
    header.e_ident[EI_OSABI] = is_new ? 0x41 : 0x33;
    header.e_ident[EI_ABIVERSION] = spec_.abi_version;
    header.e_type = spec_.type;
    header.e_machine = 190;
    header.e_version = 1;
    header.e_flags = is_new ? 0x06000004U | spec_.architecture << 8U
                            : 0x500U | spec_.architecture << 16U | spec_.architecture;
    header.e_ehsize = sizeof(Elf64_Ehdr);
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shoff = table;
    header.e_shnum = static_cast<Elf64_Half>(sections);
    header.e_shstrndx = static_cast<Elf64_Half>(sections - 1);
    return header;
  }

  std::size_t add(std::string name, std::uint32_t type, std::string bytes, Elf64_Xword flags = 0,
                  Elf64_Xword alignment = 4) {
    sections_.push_back({.name = std::move(name),
                         .header = section_header(type, flags, alignment),
                         .bytes = std::move(bytes)});
    return sections_.size() - 1;
  }

  std::uint32_t add_symbol(const std::string& name, unsigned char type, bool local,
                           unsigned char other, std::size_t section, std::uint64_t value,
                           std::uint64_t size) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(strings_.size());
    symbol.st_info =
        static_cast<unsigned char>(ELF64_ST_INFO(local ? STB_LOCAL : STB_GLOBAL, type));
    symbol.st_other = other;
    symbol.st_shndx = static_cast<Elf64_Section>(section);
    symbol.st_value = value;
    symbol.st_size = size;
    (strings_ += name) += '\0';
    put_value(symbols_, symbol);
    return static_cast<std::uint32_t>(symbols_.size() / sizeof(Elf64_Sym) - 1);
  }

  void add_kernel(const WrittenCubinKernel& kernel) {
    const std::size_t text =
        add(".text." + kernel.name, SHT_PROGBITS, kernel.code, SHF_ALLOC | SHF_EXECINSTR, 128);
    const std::uint32_t symbol = add_symbol(kernel.name, STT_FUNC, kernel.local,
                                            kernel.entry ? 0x10 : 0, text, 0, kernel.code.size());
    sections_[text].header.sh_info = symbol;
    if (spec_.architecture < 90) sections_[text].header.sh_info |= kernel.registers << 24U;
    put_sized(common_info_, 0x2f, words({symbol, kernel.registers}));
    put_sized(common_info_, 0x11, words({symbol, kernel.frame_bytes}));
    put_sized(common_info_, 0x12, words({symbol, kernel.stack_bytes}));
    if (!kernel.entry) return;
    const std::size_t info = add(".nv.info." + kernel.name, kInfoSection, own_info(kernel));
    sections_[info].header.sh_info = symbol;
    if (kernel.shared_bytes == 0 && !kernel.shared_section) return;
    const std::size_t shared =
        add(".nv.shared." + kernel.name, SHT_NOBITS, {}, SHF_ALLOC | SHF_WRITE, 16);
    sections_[shared].header.sh_info = symbol;
    sections_[shared].header.sh_size =
        kernel.shared_bytes + (spec_.architecture >= 90 ? kReservedShared : 0);
  }

  [[nodiscard]] std::string own_info(const WrittenCubinKernel& kernel) const {
    std::string out;
    put_sized(out, 0x37, words({spec_.cuda_version}));
    std::uint32_t bytes = 0;
    // Compilers write the last parameter first.
    for (std::size_t i = kernel.parameters.size(); i-- > 0;) {
      const WrittenCubinParameter& one = kernel.parameters[i];
      const std::uint32_t place = static_cast<std::uint32_t>(i) | one.offset << 16U;
      const bool large = one.size > kLargestSmallParameter;
      put_sized(out, large ? 0x45 : 0x17,
                words({0, place, large ? one.size : one.size << 18U | 0x1f000U}));
      bytes = std::max(bytes, one.offset + one.size);
    }
    put_short(out, 0x1b, 255);
    std::string spills;
    for (std::uint32_t i = 0; i < kernel.spills; ++i) spills += words({1, 16 * i});
    if (!spills.empty()) put_sized(out, 0x55, spills);
    const auto put_three = [&](std::uint8_t attribute, const auto& three) {
      if (three) put_sized(out, attribute, words({(*three)[0], (*three)[1], (*three)[2]}));
    };
    put_three(0x05, kernel.max_threads);
    put_three(0x10, kernel.required_threads);
    put_three(0x3d, kernel.cluster);
    if (!kernel.parameters.empty()) put_short(out, 0x19, bytes);
    return out;
  }

  void add_variables() {
    std::string constants, initialised;
    std::uint64_t zeros = 0;
    const std::size_t constant = add(".nv.constant3", SHT_PROGBITS, {}, SHF_ALLOC);
    const std::size_t init = add(".nv.global.init", SHT_PROGBITS, {}, SHF_ALLOC | SHF_WRITE);
    const std::size_t global = add(".nv.global", SHT_NOBITS, {}, SHF_ALLOC | SHF_WRITE);
    for (const WrittenCubinVariable& one : spec_.variables) {
      const bool in_file = one.constant || !one.contents.empty();
      std::string& bytes = one.constant ? constants : initialised;
      const std::uint64_t size = one.contents.size() + one.zeros;
      add_symbol(one.name, STT_OBJECT, one.local, one.managed ? 4 : 0,
                 one.constant ? constant
                 : in_file    ? init
                              : global,
                 in_file ? bytes.size() : zeros, size);
      if (in_file)
        bytes.append(one.contents).append(one.zeros, '\0');
      else
        zeros += size;
    }
    sections_[constant].bytes = constants;
    sections_[init].bytes = initialised;
    sections_[global].header.sh_size = zeros;
  }

  const WrittenCubin& spec_;
  std::vector<Section> sections_;
  std::string strings_, symbols_, common_info_;
  std::size_t info_ = 0;
};

std::string packed_with_zstd(const std::string& bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
  return out;
}

void put_lz4_length(std::string& out, std::size_t rest) {
  for (; rest >= 255; rest -= 255) out += '\xff';
  out += static_cast<char>(rest);
}

/// One sequence of a block; `match` 0: the last one, of literals alone.
void put_lz4_sequence(std::string& out, std::string_view literals, std::size_t distance,
                      std::size_t match) {
  const std::size_t rest = match == 0 ? 0 : match - 4;
  out += static_cast<char>(std::min<std::size_t>(literals.size(), 15) << 4U |
                           std::min<std::size_t>(rest, 15));
  if (literals.size() >= 15) put_lz4_length(out, literals.size() - 15);
  out += literals;
  if (match == 0) return;
  out += static_cast<char>(distance & 255U);
  out += static_cast<char>(distance >> 8U);
  if (rest >= 15) put_lz4_length(out, rest - 15);
}

/// Matches are looked for at the last place of the same four bytes. As the format wants it, the
/// last match begins twelve bytes before the end at least, and the last five are literals.
std::string packed_with_lz4(const std::string& bytes) {
  std::string out;
  std::map<std::string_view, std::size_t> last;
  const std::string_view all(bytes);
  std::size_t begin = 0, at = 0;
  while (at + 12 < all.size()) {
    const auto [known, fresh] = last.try_emplace(all.substr(at, 4), at);
    const std::size_t distance = at - std::exchange(known->second, at);
    if (fresh || distance > 65'535) {
      ++at;
      continue;
    }
    std::size_t match = 4;
    while (at + match + 5 < all.size() && all[at + match] == all[at + match - distance]) ++match;
    put_lz4_sequence(out, all.substr(begin, at - begin), distance, match);
    at += match;
    begin = at;
  }
  put_lz4_sequence(out, all.substr(begin), 0, 0);
  return out;
}

}  // namespace

std::string write_cubin(const WrittenCubin& spec) {
  return CubinFileWriter(spec).write();
}

std::string write_fatbin(std::span<const WrittenFatbinEntry> entries) {
  std::string body;
  for (const WrittenFatbinEntry& one : entries) {
    const bool packed = one.packing != FatbinPacking::none;
    std::string payload = one.packing == FatbinPacking::zstd  ? packed_with_zstd(one.bytes)
                          : one.packing == FatbinPacking::lz4 ? packed_with_lz4(one.bytes)
                                                              : one.bytes;
    const auto size = static_cast<std::uint32_t>(payload.size());
    payload.resize((payload.size() + 7) / 8 * 8, '\0');
    put_value<std::uint16_t>(body, one.ptx ? 1 : 2);
    put_value<std::uint16_t>(body, 0x101);
    put_value<std::uint32_t>(body, 64);
    put_value<std::uint64_t>(body, payload.size());
    put_value<std::uint32_t>(body, packed ? size : 0);
    put_value<std::uint32_t>(body, 0);
    put_value<std::uint32_t>(body, 0x10008);
    put_value<std::uint32_t>(body, one.architecture);
    put_value<std::uint64_t>(body, 0);
    put_value<std::uint64_t>(body, 0x11U | (one.packing == FatbinPacking::zstd  ? 0x8000U
                                            : one.packing == FatbinPacking::lz4 ? 0x2000U
                                                                                : 0U));
    put_value<std::uint64_t>(body, 0);
    put_value<std::uint64_t>(body, packed ? one.bytes.size() : 0);
    body += payload;
  }
  std::string out;
  put_value<std::uint32_t>(out, 0xba55ed50);
  put_value<std::uint16_t>(out, 1);
  put_value<std::uint16_t>(out, 16);
  put_value<std::uint64_t>(out, body.size());
  return out + body;
}

std::string write_cuda_host_file(std::string_view section, std::string_view fatbin) {
  ElfSpec spec;
  spec.parts.push_back({.name = std::string(section), .bytes = std::string(fatbin)});
  return write_elf(spec);
}

}  // namespace perflab::test
