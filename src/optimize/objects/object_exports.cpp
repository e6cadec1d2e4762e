// Facts: elf(5); relocations of AMDGPU: LLVM AMDGPUUsage, "Relocation Records" (a variable that
// others may replace is reached through the GOT, whose entries have relocations with its symbol;
// any other is reached by s_getpc_b64 and a literal that is added to it); encodings of s_getpc_b64:
// the ISA manuals of GCN3, RDNA1 and RDNA3 (seen with llvm-objdump 19 for gfx90a, gfx1030, gfx1100
// and gfx1201).
#include "optimize/objects/object_exports.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "code/elf/bytes.h"
#include "code/elf/elf.h"
#include "code/object/unit_names.h"

namespace perflab::optimize {
namespace {

constexpr std::uint32_t kRelative64 = 13;  // R_AMDGPU_RELATIVE64
/// Instruction words behind an s_getpc_b64 among which its literal is looked for.
constexpr std::size_t kLiteralReach = 8;
/// s_getpc_b64 but for its register (bits 16 to 22): gfx6 to gfx9, gfx10, gfx11 and gfx12.
constexpr std::uint32_t kGetPcMask = 0xff80ffff;
constexpr std::array<std::uint32_t, 3> kGetPc{0xbe801c00, 0xbe801f00, 0xbe804700};

/// One symbol of the dynamic table.
struct Export {
  std::size_t number = 0;  ///< in the table
  Elf64_Sym symbol{};
  std::string_view contents;  ///< empty: zeros that the file does not hold

  [[nodiscard]] std::string_view kind() const {
    return ELF64_ST_TYPE(symbol.st_info) == STT_FUNC ? "function" : "variable";
  }
};
using Exports = std::map<std::string, Export>;

bool is_offered(const Elf64_Sym& symbol) {
  const unsigned bind = ELF64_ST_BIND(symbol.st_info), type = ELF64_ST_TYPE(symbol.st_info);
  return symbol.st_shndx != SHN_UNDEF &&
         ((type == STT_OBJECT && bind != STB_LOCAL) || (type == STT_FUNC && bind == STB_GLOBAL));
}

/// Addresses, and numbers of symbols, that something in an object leads to.
struct Reached {
  std::set<std::uint64_t> addresses;
  std::set<std::size_t> symbols;
};

void add_relocations(const code::Elf& elf, Reached& out) {
  for (const code::ElfSection& section : elf.sections()) {
    if (section.type != SHT_RELA) continue;
    for (std::size_t at = 0; at + sizeof(Elf64_Rela) <= section.bytes.size();
         at += sizeof(Elf64_Rela)) {
      const auto entry = *code::value_at<Elf64_Rela>(section.bytes, at);
      out.symbols.insert(ELF64_R_SYM(entry.r_info));
      if (ELF64_R_TYPE(entry.r_info) == kRelative64)
        out.addresses.insert(static_cast<std::uint64_t>(entry.r_addend));
    }
  }
}

/// Addresses that code computes from its own.
void add_code(const code::Elf& elf, Reached& out) {
  constexpr std::size_t kWord = sizeof(std::uint32_t);
  for (const code::ElfSegment& segment : elf.segments()) {
    if (segment.type != PT_LOAD) continue;
    for (std::size_t at = 0; at + kWord <= segment.bytes.size(); at += kWord) {
      const std::uint32_t word = *code::value_at<std::uint32_t>(segment.bytes, at);
      if (std::ranges::find(kGetPc, word & kGetPcMask) == kGetPc.end()) continue;
      const std::uint64_t counter = segment.address + at + kWord;
      for (std::size_t i = 1; i <= kLiteralReach; ++i)
        if (const auto literal = code::value_at<std::int32_t>(segment.bytes, at + i * kWord))
          out.addresses.insert(counter + static_cast<std::uint64_t>(std::int64_t{*literal}));
    }
  }
}

/// Markers of translation units: what they are named, and that they are nothing else.
std::set<std::string> unit_markers(const code::Elf& elf, const Exports& exports) {
  std::set<std::string> out;
  for (const auto& [name, one] : exports)
    if (code::is_unit_marker_name(name) && one.kind() == "variable" && one.symbol.st_size == 1 &&
        ELF64_ST_BIND(one.symbol.st_info) == STB_GLOBAL &&
        ELF64_ST_VISIBILITY(one.symbol.st_other) == STV_DEFAULT &&
        one.contents.find_first_not_of('\0') == std::string_view::npos)
      out.insert(name);
  if (out.empty()) return out;
  Reached reached;
  add_relocations(elf, reached);
  add_code(elf, reached);
  std::erase_if(out, [&](const std::string& name) {
    const Export& one = exports.at(name);
    return reached.symbols.contains(one.number) || reached.addresses.contains(one.symbol.st_value);
  });
  return out;
}

/// The file's bytes of a symbol.
std::string_view contents_of(const code::Elf& elf, const Elf64_Sym& symbol) {
  if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC) return {};
  return elf.at_address(symbol.st_value, symbol.st_size).value_or(std::string_view());
}

/// All but kernels and markers of translation units.
Result<Exports> exports_of(const code::Elf& elf) {
  Exports out;
  for (const code::ElfSection& section : elf.sections()) {
    if (section.type != SHT_DYNSYM || section.link >= elf.sections().size()) continue;
    const std::string_view names = elf.sections()[section.link].bytes;
    for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= section.bytes.size();
         at += sizeof(Elf64_Sym)) {
      const auto symbol = *code::value_at<Elf64_Sym>(section.bytes, at);
      if (!is_offered(symbol) || symbol.st_name >= names.size()) continue;
      const std::string_view rest = names.substr(symbol.st_name);
      out[std::string(rest.substr(0, rest.find('\0')))] = {
          .number = at / sizeof(Elf64_Sym), .symbol = symbol, .contents = contents_of(elf, symbol)};
    }
  }
  const std::set<std::string> markers = unit_markers(elf, out);
  std::erase_if(out, [&](const auto& one) {
    const bool kernel_code = one.second.kind() == "function" && out.contains(one.first + ".kd");
    return kernel_code || markers.contains(one.first);
  });
  std::erase_if(out, [](const auto& one) { return one.first.ends_with(".kd"); });
  return out;
}

/// How a symbol changed; empty: it did not. Sizes of functions follow from their code.
std::string change_of(const std::string& name, const Export& was, const Export& is, bool renamed) {
  if (was.kind() != is.kind())
    return fmt::format("{} is a {}, it was a {}", name, is.kind(), was.kind());
  if (was.kind() == "function") return {};
  if (was.symbol.st_size != is.symbol.st_size)
    return fmt::format("{} has {} bytes, it had {}", name, is.symbol.st_size, was.symbol.st_size);
  // One that has another name has to show that it is the same.
  if (renamed && was.contents != is.contents)
    return fmt::format("{} begins with other contents", name);
  return {};
}

}  // namespace

Result<std::vector<std::string>> changed_exports(std::string_view original,
                                                 std::string_view candidate) {
  PERFLAB_TRY(const code::Elf before, code::Elf::read(original, "the original's code object"));
  PERFLAB_TRY(const code::Elf after, code::Elf::read(candidate, "the candidate's code object"));
  PERFLAB_TRY(const Exports old_ones, exports_of(before));
  PERFLAB_TRY(const Exports new_ones, exports_of(after));
  const auto names_in = [](const Exports& exports) {
    std::vector<std::string> names;
    for (const auto& [name, one] : exports) names.push_back(name);
    return names;
  };
  const code::NamePairs pairs = code::pair_names(names_in(old_ones), names_in(new_ones));
  std::vector<std::string> out;
  for (const std::string& name : pairs.fresh) {
    const Export& one = new_ones.at(name);
    out.push_back(one.kind() == "function"
                      ? fmt::format("the function {} is new", name)
                      : fmt::format("{} ({} bytes) is new", name, one.symbol.st_size));
  }
  for (const std::string& name : pairs.gone)
    out.push_back(fmt::format("{}{} is gone",
                              old_ones.at(name).kind() == "function" ? "the function " : "", name));
  for (const auto& [was, is] : pairs.same)
    if (std::string change = change_of(is, old_ones.at(was), new_ones.at(is), was != is);
        !change.empty())
      out.push_back(std::move(change));
  return out;
}

}  // namespace perflab::optimize
