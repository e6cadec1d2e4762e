// See cubin.h. Every number of the file is checked against the bytes that are there before use.
// Facts: docs/facts/cuda_code.md.
#include "code/cubin/cubin.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/enum_names.h"
#include "code/elf/bytes.h"
#include "code/elf/elf.h"
#include "code/elf/hostile_text.h"
#include "code/object/unit_names.h"

namespace perflab::code {
namespace {

constexpr std::uint32_t kInfoType = 0x70000000;  // SHT_CUDA_INFO (SHT_LOPROC)
constexpr std::uint8_t kCudaObject = 13;         // STT of variables in files that are not linked
constexpr std::uint8_t kEntryFlag = 0x10;        // STO_CUDA_ENTRY: the function is a kernel
constexpr std::uint8_t kManagedFlag = 0x04;      // STO_CUDA_MANAGED
constexpr int kOldAbi = 7, kNewAbi = 8;
constexpr int kFirstReserving = 90;          // sm_90: a block's shared memory begins at 1024
constexpr std::uint32_t kListsSpills = 130;  // CUDA 13.0
constexpr std::uint32_t kSpill = 1;          // kind of an annotated instruction
constexpr std::size_t kMostParameters = 4096;

/// Attributes of .nv.info sections that are used (docs/facts/cuda_code.md).
enum Attribute : std::uint8_t {
  kMaxThreads = 0x05,
  kRequiredThreads = 0x10,
  kFrameSize = 0x11,
  kMinStackSize = 0x12,
  kParameterInfo = 0x17,
  kParameterBytes = 0x19,
  kRegisterCount = 0x2f,
  kCudaVersion = 0x37,
  kCluster = 0x3d,
  kLargeParameterInfo = 0x45,
  kAnnotations = 0x55,
};

constexpr std::uint8_t kSized = 4;  // format of an attribute whose value is bytes behind it

/// One attribute: `bytes` of sized ones, `value` (16 bits) of the others.
struct Record {
  std::uint8_t attribute = 0;
  std::uint16_t value = 0;
  std::string_view bytes;

  [[nodiscard]] std::optional<std::uint32_t> word(std::size_t index) const {
    return value_at<std::uint32_t>(bytes, index * sizeof(std::uint32_t));
  }
  [[nodiscard]] std::optional<std::array<std::uint32_t, 3>> three() const {
    return value_at<std::array<std::uint32_t, 3>>(bytes, 0);
  }
};

/// A symbol with its number.
struct NumberedSymbol {
  std::string_view name;
  Elf64_Sym symbol{};
};

class CubinReader {
 public:
  CubinReader(const Elf& elf, std::string_view what) : elf_(elf), what_(what) {}

  Result<Cubin> run() {
    PERFLAB_TRY_VOID(check_header());
    PERFLAB_TRY_VOID(read_symbols());
    for (std::size_t i = 0; i < symbols_.size(); ++i) PERFLAB_TRY_VOID(take_symbol(i));
    for (const ElfSection& section : elf_.sections()) {
      if (section.type == kInfoType) PERFLAB_TRY_VOID(read_info(section));
      if (section.name.starts_with(".nv.shared.")) take_shared(section);
      PERFLAB_TRY_VOID(take_relocations(section));
    }
    for (CubinKernel& kernel : cubin_.kernels) finish(kernel);
    return std::move(cubin_);
  }

 private:
  [[nodiscard]] std::unexpected<Error> damaged(std::string_view problem) const {
    return fail(ErrorCode::bad_input, fmt::format("{}: damaged cubin: {}", what_, problem));
  }

  Result<void> check_header() {
    if (elf_.machine() != kCubinMachine)
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: an ELF file for machine {}, not a cubin (machine {})", what_,
                              elf_.machine(), kCubinMachine));
    cubin_.abi_version = elf_.abi_version();
    if (cubin_.abi_version != kOldAbi && cubin_.abi_version != kNewAbi)
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: a cubin with ABI version {}, which is not known", what_,
                              cubin_.abi_version),
                  "update rocm-perf");
    if (elf_.type() != ET_EXEC)
      return fail(ErrorCode::bad_input, fmt::format("{}: a cubin that is not linked yet", what_),
                  "build it without -rdc=true (-dc), or link it with nvlink");
    cubin_.architecture = static_cast<int>(
        cubin_.abi_version == kOldAbi ? elf_.flags() & 0xffU : elf_.flags() >> 8U & 0xffU);
    return {};
  }

  Result<void> read_symbols() {
    for (const ElfSection& section : elf_.sections()) {
      if (section.type != SHT_SYMTAB) continue;
      if (section.link >= elf_.sections().size()) return damaged("its symbols have no names");
      const std::string_view names = elf_.sections()[section.link].bytes;
      const std::size_t count = section.bytes.size() / sizeof(Elf64_Sym);
      for (std::size_t i = 0; i < count; ++i) {
        const auto symbol = *value_at<Elf64_Sym>(section.bytes, i * sizeof(Elf64_Sym));
        const std::string_view rest =
            symbol.st_name < names.size() ? names.substr(symbol.st_name) : std::string_view();
        const std::size_t end = rest.find('\0');
        if (end == std::string_view::npos)
          return damaged(fmt::format("the name of symbol {} lies outside its table", i));
        symbols_.push_back({rest.substr(0, end), symbol});
      }
      return {};
    }
    return damaged("it has no symbols");
  }

  Result<void> take_symbol(std::size_t number) {
    const auto& [name, symbol] = symbols_[number];
    const std::uint8_t type = ELF64_ST_TYPE(symbol.st_info);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE || name.empty()) return {};
    if (type != STT_FUNC && type != STT_OBJECT && type != kCudaObject) return {};
    if (symbol.st_shndx >= elf_.sections().size())
      return damaged(fmt::format("symbol {} lies in no section", in_quotes(name)));
    const ElfSection& section = elf_.sections()[symbol.st_shndx];
    if (type == STT_FUNC) return take_function(number, section);
    take_variable(name, symbol, section);
    return {};
  }

  Result<void> take_function(std::size_t number, const ElfSection& section) {
    const auto& [name, symbol] = symbols_[number];
    if ((symbol.st_other & kEntryFlag) == 0) {
      cubin_.functions.emplace_back(name);
      return {};
    }
    const auto code = range_of(section.bytes, symbol.st_value, symbol.st_size);
    if (!code) return damaged(fmt::format("the code of {} lies outside", in_quotes(name)));
    if (!kernels_.try_emplace(std::string(name), cubin_.kernels.size()).second)
      return damaged(fmt::format("two kernels are named {}", in_quotes(name)));
    by_number_[static_cast<std::uint32_t>(number)] = cubin_.kernels.size();
    CubinKernel& kernel = cubin_.kernels.emplace_back();
    kernel.name = name;
    kernel.code = *code;
    // Before sm_90 the section has the count too (docs/facts/cuda_code.md).
    constexpr unsigned kCountShift = 24;
    if (const std::uint32_t count = section.info >> kCountShift; count != 0)
      kernel.registers = count;
    return {};
  }

  void take_variable(std::string_view name, const Elf64_Sym& symbol, const ElfSection& section) {
    if (name.find_first_of("$.") != std::string_view::npos) return;
    const bool constant = section.name.starts_with(".nv.constant");
    if (!constant && !section.name.starts_with(".nv.global")) return;
    CubinVariable& variable = cubin_.variables.emplace_back();
    variable.name = name;
    variable.space = constant                                ? CubinSpace::constant
                     : (symbol.st_other & kManagedFlag) != 0 ? CubinSpace::managed
                                                             : CubinSpace::global;
    variable.size = symbol.st_size;
    variable.contents = range_of(section.bytes, symbol.st_value, symbol.st_size).value_or("");
  }

  CubinKernel* kernel_of_section(std::string_view section, std::string_view prefix) {
    if (!section.starts_with(prefix)) return nullptr;
    const auto found = kernels_.find(section.substr(prefix.size()));
    return found == kernels_.end() ? nullptr : &cubin_.kernels[found->second];
  }

  Result<void> read_info(const ElfSection& section) {
    CubinKernel* const kernel = kernel_of_section(section.name, ".nv.info.");
    const bool of_all = section.name == ".nv.info";
    if (kernel == nullptr && !of_all) return {};
    std::uint64_t at = 0;
    while (section.bytes.size() - at >= sizeof(std::uint32_t)) {
      const auto format = *value_at<std::uint8_t>(section.bytes, at);
      Record record{.attribute = *value_at<std::uint8_t>(section.bytes, at + 1),
                    .value = *value_at<std::uint16_t>(section.bytes, at + 2),
                    .bytes = {}};
      at += sizeof(std::uint32_t);
      if (format == kSized) {
        const auto bytes = range_of(section.bytes, at, record.value);
        if (!bytes)
          return damaged(fmt::format("attribute {:#x} in {} lies outside", record.attribute,
                                     in_quotes(section.name)));
        record.bytes = *bytes;
        at += record.value;
      }
      const bool taken = of_all ? take_common(record) : take_own(record, *kernel);
      if (!taken)
        return damaged(fmt::format("attribute {:#x} in {} cannot be read", record.attribute,
                                   in_quotes(section.name)));
    }
    return {};
  }

  /// An attribute of .nv.info, which names a symbol by its number. False: it cannot be.
  bool take_common(const Record& record) {
    if (record.attribute != kRegisterCount && record.attribute != kFrameSize &&
        record.attribute != kMinStackSize)
      return true;
    const auto number = record.word(0), value = record.word(1);
    if (!number || !value) return false;
    const auto found = by_number_.find(*number);
    if (found == by_number_.end()) return true;  // of a function that is no kernel
    CubinKernel& kernel = cubin_.kernels[found->second];
    if (record.attribute == kRegisterCount) kernel.registers = *value;
    if (record.attribute == kFrameSize) kernel.frame_bytes = *value;
    if (record.attribute == kMinStackSize) kernel.stack_bytes = *value;
    return true;
  }

  /// An attribute of a kernel's own section. False: it cannot be.
  static bool take_own(const Record& record, CubinKernel& kernel) {
    switch (record.attribute) {
      case kParameterInfo:
      case kLargeParameterInfo:
        return take_parameter(record, kernel);
      case kParameterBytes:
        kernel.parameter_bytes = record.value;
        return true;
      case kMaxThreads:
        return (kernel.max_threads = record.three()).has_value();
      case kRequiredThreads:
        return (kernel.required_threads = record.three()).has_value();
      case kCluster:
        return (kernel.cluster = record.three()).has_value();
      case kCudaVersion:
        return (kernel.cuda_version = record.word(0)).has_value();
      case kAnnotations: {
        std::uint64_t count = kernel.spill_instructions.value_or(0);
        for (std::size_t i = 0; record.word(i + 1); i += 2) count += *record.word(i) == kSpill;
        kernel.spill_instructions = count;
        return true;
      }
      default:
        return true;
    }
  }

  static bool take_parameter(const Record& record, CubinKernel& kernel) {
    const auto place = record.word(1), size = record.word(2);
    if (!place || !size || kernel.parameters.size() == kMostParameters) return false;
    constexpr unsigned kSizeShift = 18;  // below: where it is kept, and its alignment
    kernel.parameters.push_back(
        {.ordinal = *place & 0xffffU,
         .offset = *place >> 16U,
         .size = record.attribute == kParameterInfo ? *size >> kSizeShift : *size});
    return true;
  }

  void take_shared(const ElfSection& section) {
    CubinKernel* const kernel = kernel_of_section(section.name, ".nv.shared.");
    if (kernel == nullptr) return;
    const bool reserves = cubin_.architecture >= kFirstReserving;
    kernel->shared_bytes =
        section.size - (reserves ? std::min(section.size, kReservedSharedBytes) : 0);
  }

  Result<void> take_relocations(const ElfSection& section) {
    if (section.type != SHT_REL && section.type != SHT_RELA) return {};
    const bool with_addend = section.type == SHT_RELA;
    CubinKernel* const kernel =
        kernel_of_section(section.name, with_addend ? ".rela.text." : ".rel.text.");
    if (kernel == nullptr) return {};
    const std::size_t step = with_addend ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
    for (std::size_t at = 0; section.bytes.size() - at >= step; at += step) {
      const auto entry = *value_at<Elf64_Rel>(section.bytes, at);
      const std::int64_t addend =
          with_addend ? value_at<Elf64_Rela>(section.bytes, at)->r_addend : 0;
      const std::uint64_t symbol = ELF64_R_SYM(entry.r_info);
      if (symbol >= symbols_.size())
        return damaged(fmt::format("a relocation of {} names no symbol", in_quotes(kernel->name)));
      kernel->relocations += fmt::format("{:#x} {} {}+{}\n", entry.r_offset,
                                         ELF64_R_TYPE(entry.r_info), symbols_[symbol].name, addend);
    }
    return {};
  }

  static void finish(CubinKernel& kernel) {
    std::ranges::sort(kernel.parameters, {}, &CubinParameter::ordinal);
    if (!kernel.spill_instructions && kernel.cuda_version.value_or(0) >= kListsSpills)
      kernel.spill_instructions = 0;
  }

  const Elf& elf_;
  std::string_view what_;
  Cubin cubin_;
  std::vector<NumberedSymbol> symbols_;
  std::map<std::string, std::size_t, std::less<>> kernels_;  ///< by name
  std::map<std::uint32_t, std::size_t> by_number_;           ///< by the number of its symbol
};

}  // namespace

std::string_view to_string(CubinSpace space) {
  using enum CubinSpace;
  static constexpr auto kNames =
      enum_names<CubinSpace>({{global, "global"}, {constant, "constant"}, {managed, "managed"}});
  return kNames[space];
}

std::optional<std::uint64_t> CubinKernel::local_bytes() const {
  if (!frame_bytes && !stack_bytes) return std::nullopt;
  return std::max(frame_bytes.value_or(0), stack_bytes.value_or(0));
}

bool is_cubin(std::string_view bytes) {
  const auto machine = value_at<std::uint16_t>(bytes, offsetof(Elf64_Ehdr, e_machine));
  return machine == kCubinMachine && is_elf(bytes) &&
         static_cast<unsigned char>(bytes[EI_CLASS]) == ELFCLASS64;
}

std::optional<int> cubin_architecture(std::string_view bytes) {
  const auto header = value_at<Elf64_Ehdr>(bytes, 0);
  if (!header || !is_cubin(bytes)) return std::nullopt;
  if (header->e_ident[EI_ABIVERSION] == kOldAbi) return static_cast<int>(header->e_flags & 0xffU);
  if (header->e_ident[EI_ABIVERSION] == kNewAbi)
    return static_cast<int>(header->e_flags >> 8U & 0xffU);
  return std::nullopt;
}

Result<Cubin> read_cubin(std::string_view bytes, std::string_view what) {
  PERFLAB_TRY(const Elf elf, Elf::read(bytes, what));
  return CubinReader(elf, what).run();
}

const CubinKernel* kernel_named(const Cubin& cubin, std::string_view name) {
  return named_but_for_unit(cubin.kernels, &CubinKernel::name, name);
}

}  // namespace perflab::code
