// One disassembly per kernel that matters; whatever fails leaves the answer unknown.
#include "analyze/roofline/packed_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyze/kernels/gpu.h"
#include "code/files/container.h"
#include "code/instructions/disassembly.h"
#include "code/instructions/instruction_mix.h"
#include "hal/arch.h"

namespace perflab::analyze {
namespace {

/// Number formats that have packed instructions somewhere.
constexpr std::array<hal::Precision, 2> kPackable = {hal::Precision::fp32, hal::Precision::fp16};

double packable_flops(const KernelRoofline& kernel) {
  const hal::Arch* const arch = hal::find_arch(kernel.architecture);
  double flops = 0;
  for (const Work& work : kernel.work)
    if (work.pipe == hal::Pipe::vector &&
        std::ranges::find(kPackable, work.precision) != kPackable.end() && arch != nullptr &&
        arch->ops_per_clk_per_cu(hal::Pipe::packed, work.precision))
      flops += work.flops.value.value_or(0);
  return flops;
}

/// The symbol of a kernel name on an architecture whose code object was found.
const trace::KernelSymbol* joined_symbol(const trace::Trace& trace, const CodeJoin& join,
                                         const KernelRoofline& kernel) {
  for (const trace::KernelSymbol& symbol : trace.kernel_symbols) {
    if (trace.strings.view(symbol.name) != kernel.kernel) continue;
    const JoinedObject* const object = join.object_of(symbol);
    if (object != nullptr && object->target.processor == kernel.architecture &&
        join.kernel_of(trace, symbol) != nullptr)
      return &symbol;
  }
  return nullptr;
}

Result<std::uint64_t> count_packed(const JoinedObject& object, const code::KernelMetadata& kernel) {
  PERFLAB_TRY(const code::Disassembler disassembler,
              code::find_disassembler(object.target.processor));
  PERFLAB_TRY(const code::Container container, code::open_container(object.file));
  for (const code::EmbeddedObject& embedded : container.objects) {
    if (embedded.entry != object.entry || !(embedded.target == object.target)) continue;
    const std::array work{code::ToDisassemble{
        .bytes = embedded.bytes, .processor = object.target.processor, .symbols = {}}};
    PERFLAB_TRY(const auto results, code::disassemble(disassembler, work));
    if (!results.front()) return std::unexpected(results.front().error());
    const code::Function function =
        code::function_at(*results.front(), kernel.name, kernel.code_address, kernel.code_bytes);
    if (function.instructions.empty()) break;
    return static_cast<std::uint64_t>(
        std::ranges::count_if(function.instructions, [](const code::Instruction& one) {
          const code::InstructionInfo info = code::classify(one.mnemonic, one.operands);
          return info.packed && info.flops_per_lane > 0;
        }));
  }
  return fail(ErrorCode::bad_input,
              fmt::format("{}: the kernel's code is not where it was", object.file.string()));
}

void look_at(const trace::Trace& trace, const CodeJoin& join, KernelRoofline& kernel) {
  const auto miss = [&](std::string reason, std::string remedy = {}) {
    kernel.missing.push_back(
        {.field = "packed_code", .reason = std::move(reason), .remedy = std::move(remedy)});
  };
  const double flops = packable_flops(kernel);
  if (flops == 0)
    return miss("no vector work was counted that this GPU has packed instructions for");
  const trace::KernelSymbol* const symbol = joined_symbol(trace, join, kernel);
  if (symbol == nullptr)
    return miss("the kernel's code object was not found",
                "give the program or its code object with --code");
  const auto packed = count_packed(*join.object_of(*symbol), *join.kernel_of(trace, *symbol));
  if (!packed) return miss(packed.error().message, packed.error().remedy);
  kernel.packed_code = *packed > 0;
  if (*packed > 0)
    kernel.explanations.push_back(fmt::format(
        "its code has {} packed instructions (v_pk_*), which do two operations per lane and are "
        "counted as one: the FLOPs are up to {:.6g} more",
        *packed, flops));
}

}  // namespace

void find_packed_code(const trace::Trace& trace, const CodeJoin& join, Roofline& roofline) {
  for (std::size_t i = 0; i < roofline.kernels.size(); ++i) {
    KernelRoofline& kernel = roofline.kernels[i];
    if (i < kMostKernelsForPacked)
      look_at(trace, join, kernel);
    else
      kernel.missing.push_back(
          {.field = "packed_code",
           .reason = fmt::format("only the {} kernels with the most time are disassembled",
                                 kMostKernelsForPacked),
           .remedy = ""});
  }
}

}  // namespace perflab::analyze
