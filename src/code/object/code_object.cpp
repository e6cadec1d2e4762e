// Kernels of a code object: the metadata note says what there is, symbols say where, descriptors
// what the hardware is told.
#include "code/object/code_object.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "code/elf/bytes.h"
#include "code/elf/elf.h"
#include "code/elf/elf_flags.h"
#include "code/elf/hostile_text.h"
#include "code/object/metadata.h"
#include "code/object/unit_names.h"

namespace perflab::code {
namespace {

constexpr std::uint8_t kOsAbiHsa = 64;  // ELFOSABI_AMDGPU_HSA
constexpr std::uint32_t kMetadataNote = 32;
constexpr std::string_view kMetadataOwner = "AMDGPU";
constexpr std::uint64_t kDescriptorBytes = 64;
// A file with more than this many oddities is not made clearer by naming them all.
constexpr std::size_t kMostProblems = 100;

constexpr std::string_view kRebuild =
    "rebuild it with ROCm 3.5 or newer, or with -mcode-object-version=5";

/// Checks that the file is a linked code object of a version that can be read; returns the version.
Result<int> check_header(const Elf& elf, std::string_view what) {
  const auto refuse = [&](std::string_view problem, std::string_view remedy = {}) {
    return fail(ErrorCode::bad_input, fmt::format("{}: {}", what, problem), std::string(remedy));
  };
  if (elf.machine() != EM_AMDGPU)
    return refuse(fmt::format("an ELF file for machine {}, not an AMDGPU code object (machine {})",
                              elf.machine(), EM_AMDGPU));
  if (elf.os_abi() != kOsAbiHsa)
    return refuse(
        fmt::format("an AMDGPU ELF file of OS ABI {}, not of HSA ({}), as graphics "
                    "drivers make",
                    elf.os_abi(), kOsAbiHsa));
  const auto version = version_of_abi(elf.abi_version());
  if (!version)
    return refuse(fmt::format("AMDGPU code object with ABI version {}, which is not known",
                              elf.abi_version()),
                  "update rocm-perf");
  if (*version < 3)
    return refuse("code object version 2 (2018 and older) is not supported", kRebuild);
  if (elf.type() != ET_DYN && elf.type() != ET_EXEC)
    return refuse("an AMDGPU object file that is not linked yet", "link it with ld.lld -shared");
  return *version;
}

Result<std::string_view> metadata_note(const Elf& elf, std::string_view what) {
  PERFLAB_TRY(const auto notes, elf.notes());
  for (const ElfNote& note : notes)
    if (note.name == kMetadataOwner && note.type == kMetadataNote) return note.description;
  return fail(ErrorCode::bad_input, fmt::format("{}: a code object without metadata note", what));
}

KernelDescriptor decode(std::string_view bytes) {
  return {.group_segment_bytes = value_at<std::uint32_t>(bytes, 0).value(),
          .private_segment_bytes = value_at<std::uint32_t>(bytes, 4).value(),
          .kernarg_bytes = value_at<std::uint32_t>(bytes, 8).value(),
          .entry_offset = value_at<std::int64_t>(bytes, 16).value(),
          .rsrc1 = value_at<std::uint32_t>(bytes, 48).value(),
          .rsrc2 = value_at<std::uint32_t>(bytes, 52).value(),
          .rsrc3 = value_at<std::uint32_t>(bytes, 44).value(),
          .properties = value_at<std::uint16_t>(bytes, 56).value(),
          .kernarg_preload = value_at<std::uint16_t>(bytes, 58).value()};
}

/// The symbols with the names that the metadata uses; only those are looked up, of which a library
/// may have many thousands.
class Symbols {
 public:
  static Result<Symbols> read(const Elf& elf, const std::vector<KernelMetadata>& kernels) {
    Symbols symbols;
    std::size_t longest = 0;
    for (const KernelMetadata& kernel : kernels)
      for (const std::string_view name : {std::string_view(kernel.name), {kernel.symbol}}) {
        symbols.by_name_.try_emplace(name);
        longest = std::max(longest, name.size());
      }
    PERFLAB_TRY_VOID(elf.visit_symbols(longest, [&](const ElfSymbol& symbol) {
      const auto wanted = symbols.by_name_.find(symbol.name);
      if (wanted != symbols.by_name_.end() && !wanted->second) wanted->second = symbol;
    }));
    return symbols;
  }

  [[nodiscard]] const std::optional<ElfSymbol>& find(std::string_view name) const {
    return by_name_.at(name);
  }

 private:
  std::unordered_map<std::string_view, std::optional<ElfSymbol>> by_name_;
};

/// Finds a kernel's descriptor and code.
void locate(const Elf& elf, const Symbols& symbols, KernelMetadata& kernel, CodeObject& object) {
  const auto odd = [&](std::string_view problem) {
    if (object.problems.size() < kMostProblems)
      object.problems.push_back(fmt::format("kernel {}: {}", in_quotes(kernel.name), problem));
  };
  if (const auto& function = symbols.find(kernel.name)) {
    kernel.code_address = function->value;
    kernel.code_bytes = function->size;
  }
  const auto& symbol = symbols.find(kernel.symbol);
  if (!symbol) return odd(fmt::format("there is no symbol {}", in_quotes(kernel.symbol)));
  kernel.descriptor_address = symbol->value;
  const auto bytes = elf.at_address(symbol->value, kDescriptorBytes);
  if (!bytes) return odd("its descriptor lies outside the loaded segments");
  kernel.descriptor = decode(*bytes);
  const std::uint64_t entry =
      symbol->value + static_cast<std::uint64_t>(kernel.descriptor->entry_offset);
  if (kernel.code_bytes != 0 && kernel.code_address != entry) {
    odd("its descriptor does not point to its function symbol; the descriptor counts");
    kernel.code_bytes = 0;
  }
  kernel.code_address = entry;
  if (kernel.code_bytes != 0 && !elf.at_address(entry, kernel.code_bytes)) {
    odd("its code lies outside the loaded segments");
    kernel.code_bytes = 0;
  }
}

}  // namespace

bool is_code_object(std::string_view bytes) {
  const auto machine = value_at<std::uint16_t>(bytes, offsetof(Elf64_Ehdr, e_machine));
  return machine == EM_AMDGPU && is_elf(bytes) &&
         static_cast<unsigned char>(bytes[EI_CLASS]) == ELFCLASS64;
}

std::optional<TargetId> code_object_target(std::string_view bytes) {
  const auto header = value_at<Elf64_Ehdr>(bytes, 0);
  if (!header || !is_code_object(bytes)) return std::nullopt;
  const auto version = version_of_abi(header->e_ident[EI_ABIVERSION]);
  if (!version) return std::nullopt;
  return target_of_flags(header->e_flags, *version);
}

Result<CodeObject> read_code_object(std::string_view bytes, std::string_view what) {
  PERFLAB_TRY(const Elf elf, Elf::read(bytes, what));
  CodeObject object;
  PERFLAB_TRY(object.version, check_header(elf, what));
  object.target = target_of_flags(elf.flags(), object.version);
  object.generic_version = generic_version_of_flags(elf.flags(), object.version);
  PERFLAB_TRY(const std::string_view note, metadata_note(elf, what));
  PERFLAB_TRY(Metadata metadata, read_metadata(note, what));
  object.metadata_version = metadata.version;
  object.metadata_target = std::move(metadata.target);
  object.printf_formats = std::move(metadata.printf_formats);
  object.kernels = std::move(metadata.kernels);

  const auto named = parse_target_id(object.metadata_target);
  if (named && named->processor != object.target.processor)
    object.problems.push_back(fmt::format("the metadata is for {}, the ELF flags are for {}",
                                          in_quotes(named->processor), object.target.processor));
  PERFLAB_TRY(const Symbols symbols, Symbols::read(elf, object.kernels));
  for (KernelMetadata& kernel : object.kernels) locate(elf, symbols, kernel, object);
  return object;
}

const KernelMetadata* kernel_named(const CodeObject& object, std::string_view name) {
  return named_but_for_unit(object.kernels, &KernelMetadata::symbol, std::string(name) + ".kd");
}

std::string_view kernel_code(std::string_view bytes, const KernelMetadata& kernel) {
  if (kernel.code_bytes == 0) return {};
  const auto elf = Elf::read(bytes, "code object");
  if (!elf) return {};
  return elf->at_address(kernel.code_address, kernel.code_bytes).value_or(std::string_view());
}

}  // namespace perflab::code
