// One backward branch is the loop; everything else runs once.
#include "calibrate/code_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text/numbers.h"
#include "code/cubin/sass.h"

namespace perflab::calibrate {
namespace {

using code::InstructionClass;

bool is_vmem(InstructionClass unit) {
  using enum InstructionClass;
  return unit == vmem_load || unit == vmem_store || unit == vmem_atomic;
}

/// "fma", "add", "mul" or "trans" of floating-point arithmetic: as AMD's counters tell them apart.
std::string_view kind_of(const KnownInstruction& one) {
  const double per_operation = one.info.flops_per_lane / (one.info.packed ? 2 : 1);
  if (one.info.transcendental) return "trans";
  if (per_operation == 2) return "fma";
  const std::string& name = one.instruction.mnemonic;
  return name.find("mul") != std::string::npos || name.find("MUL") != std::string::npos ? "mul"
                                                                                        : "add";
}

/// Operations of a matrix instruction on whole numbers, 2*m*n*k of "v_mfma_i32_32x32x16_i8": the
/// tables of code/ count those of floating point only. 0: its name has no such part.
double integer_operations(std::string_view mnemonic) {
  const std::size_t cross = mnemonic.find('x');
  const std::size_t begin = mnemonic.rfind('_', cross);
  if (cross == std::string_view::npos || begin == std::string_view::npos) return 0;
  std::string_view rest = mnemonic.substr(begin + 1);
  double operations = 2;
  for (int part = 0; part < 3; ++part) {
    const auto size = take_number<int>(rest);
    if (!size || (part < 2 && !rest.starts_with('x'))) return 0;
    operations *= *size;
    rest.remove_prefix(std::min<std::size_t>(1, rest.size()));
  }
  return operations;
}

void count(const KnownInstruction& one, CodeCounts& counts) {
  const code::InstructionInfo& info = one.info;
  ++counts["all"];
  ++counts[std::string(code::to_string(info.instruction_class))];
  if (is_vmem(info.instruction_class)) ++counts["vmem"];
  if (info.instruction_class == InstructionClass::matrix)
    counts["matrix_flops"] += info.flops_per_wave > 0
                                  ? info.flops_per_wave
                                  : integer_operations(one.instruction.mnemonic);
  if (info.instruction_class != InstructionClass::valu) return;
  if (info.flops_per_lane > 0) {
    ++counts[fmt::format("{}_{}", kind_of(one), info.precision)];
    counts["flops_" + info.precision] += info.flops_per_lane;
  } else {
    ++counts["op_" + info.precision];
  }
}

std::string stream_text(std::span<const KnownInstruction> body) {
  using enum InstructionClass;
  std::vector<std::pair<std::string, int>> named;  // in order of appearance
  std::map<std::string_view, int> rest;
  for (const KnownInstruction& one : body) {
    const InstructionClass unit = one.info.instruction_class;
    const bool matters = is_vmem(unit) || unit == matrix || unit == lds || unit == scratch_load ||
                         unit == scratch_store || one.info.flops_per_lane > 0;
    if (!matters) {
      ++rest[code::to_string(unit)];
      continue;
    }
    const auto found =
        std::ranges::find(named, one.instruction.mnemonic, &std::pair<std::string, int>::first);
    if (found == named.end())
      named.emplace_back(one.instruction.mnemonic, 1);
    else
      ++found->second;
  }
  std::string text;
  const auto add = [&](std::string_view name, int many) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", many, name);
  };
  for (const auto& [name, many] : named) add(name, many);
  for (const auto& [name, many] : rest) add(name, many);
  return text;
}

/// Why the instruction does not let its kernel be counted; empty: it does.
std::string fault_of(const KnownInstruction& one) {
  if (one.info.call) return fmt::format("it calls another function ({})", one.instruction.mnemonic);
  const bool branches = one.info.instruction_class == InstructionClass::branch;
  if (branches && !one.instruction.branch_target)
    return fmt::format("where {} goes is not known", one.instruction.mnemonic);
  if (!branches && one.instruction.operands.starts_with(code::kSassPredicated))
    return fmt::format("not all threads run its {}", one.instruction.mnemonic);
  return {};
}

}  // namespace

double count_of(const CodeCounts& counts, std::string_view name) {
  const auto found = counts.find(name);
  return found == counts.end() ? 0 : found->second;
}

CodeCounts CodeShape::of_wave(double rounds) const {
  CodeCounts total = outside;
  for (const auto& [name, many] : loop) total[name] += rounds * many;
  return total;
}

std::expected<CodeShape, std::string> shape_of(std::span<const KnownInstruction> code) {
  std::optional<std::size_t> first, last;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (std::string fault = fault_of(code[i]); !fault.empty())
      return std::unexpected(std::move(fault));
    const auto& target = code[i].instruction.branch_target;
    if (!target) continue;
    if (*target > code[i].instruction.address)
      return std::unexpected("it has a branch that skips instructions");
    if (first) return std::unexpected("it has more than one loop");
    const auto begin = std::ranges::find(
        code, *target, [](const KnownInstruction& one) { return one.instruction.address; });
    first = static_cast<std::size_t>(begin - code.begin());
    last = i;
  }
  if (!first) return std::unexpected("the compiler left no loop");
  CodeShape shape;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const bool inside = i >= *first && i <= *last;
    count(code[i], inside ? shape.loop : shape.outside);
    if (inside) shape.body.push_back(code[i]);
  }
  shape.stream = stream_text(shape.body);
  return shape;
}

}  // namespace perflab::calibrate
