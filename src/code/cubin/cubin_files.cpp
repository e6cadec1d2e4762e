// See cubin_files.h.
#include "code/cubin/cubin_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/system/files.h"
#include "code/cubin/cubin.h"
#include "code/elf/elf.h"

namespace perflab::code {
namespace {

constexpr std::string_view kFatbinSectionName = ".nv_fatbin";
constexpr std::string_view kRelocatableSectionName = "__nv_relfatbin";

/// Adds what the fat binaries of a range hold.
Result<void> add_fatbins(std::string_view bytes, std::string_view what, std::uint64_t budget,
                         CubinFile& out, std::vector<int>& ptx) {
  PERFLAB_TRY(Fatbin fatbin, read_fatbin(bytes, what, budget));
  std::ranges::move(fatbin.cubins, std::back_inserter(out.cubins));
  ptx.insert(ptx.end(), fatbin.ptx.begin(), fatbin.ptx.end());
  return {};
}

/// Whether a host file has code that is not linked yet.
Result<bool> search_sections(std::string_view bytes, std::string_view what, std::uint64_t budget,
                             CubinFile& out, std::vector<int>& ptx) {
  PERFLAB_TRY(const Elf elf, Elf::read(bytes, what));
  bool relocatable = false;
  for (const ElfSection& section : elf.sections()) {
    relocatable |= section.name == kRelocatableSectionName;
    if (section.name == kFatbinSectionName)
      PERFLAB_TRY_VOID(add_fatbins(section.bytes, what, budget, out, ptx));
  }
  return relocatable;
}

}  // namespace

bool may_hold_cubins(std::string_view start) {
  return is_elf(start) || is_fatbin(start);
}

bool holds_cubins(std::string_view bytes) {
  if (is_cubin(bytes) || is_fatbin(bytes)) return true;
  if (!is_elf(bytes)) return false;
  const auto elf = Elf::read(bytes, "file");
  return elf && std::ranges::any_of(elf->sections(), [](const ElfSection& section) {
           return section.name == kFatbinSectionName;
         });
}

Result<CubinFile> find_cubins(std::string bytes, std::string_view what,
                              std::uint64_t most_unpacked) {
  CubinFile out;
  out.file = std::make_shared<const std::string>(std::move(bytes));
  const std::string_view file = *out.file;
  std::vector<int> ptx;
  bool relocatable = false;
  if (is_cubin(file)) {
    out.cubins.push_back(
        {.architecture = cubin_architecture(file).value_or(0), .bytes = file, .unpacked = {}});
  } else if (is_fatbin(file)) {
    PERFLAB_TRY_VOID(add_fatbins(file, what, most_unpacked, out, ptx));
  } else if (is_elf(file)) {
    PERFLAB_TRY(relocatable, search_sections(file, what, most_unpacked, out, ptx));
  } else {
    return fail(ErrorCode::bad_input,
                fmt::format("{}: neither a cubin, nor a fat binary, nor an ELF file", what),
                "build a cubin: nvcc -cubin -arch=sm_90");
  }
  if (!out.cubins.empty()) return out;
  if (!ptx.empty())
    return fail(ErrorCode::bad_input,
                fmt::format("{}: no cubin in it, only PTX for compute_{}", what,
                            fmt::join(ptx, ", compute_")),
                "build machine code for the GPU: nvcc -arch=sm_90");
  return fail(ErrorCode::bad_input,
              fmt::format("{}: no cubin in it ({})", what,
                          relocatable ? "its device code is not linked yet"
                                      : "looked for .nv_fatbin sections"),
              relocatable ? "build without -rdc=true, or link with nvcc -dlink"
                          : "build a cubin: nvcc -cubin -arch=sm_90");
}

Result<CubinFile> open_cubins(const std::filesystem::path& path) {
  PERFLAB_TRY(std::string bytes, read_file(path, kMostUnpackedBytes));
  return find_cubins(std::move(bytes), path.string());
}

}  // namespace perflab::code
