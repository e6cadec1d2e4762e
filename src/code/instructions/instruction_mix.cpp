// Classification of one instruction, and the counts of a function over it. The tables of names are
// in instruction_alu.cpp and instruction_memory.cpp.
#include "code/instructions/instruction_mix.h"

#include <algorithm>
#include <set>

#include "base/text/numbers.h"
#include "code/instructions/instruction_name.h"

namespace perflab::code {
namespace {

/// The name without what says only how it is encoded: "v_add_f32_e64_dpp" is "v_add_f32".
std::string_view without_encoding(std::string_view name) {
  if (!name.starts_with("v_")) return name;
  for (const std::string_view suffix : {"_dpp", "_sdwa", "_dpp8"})
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  for (const std::string_view suffix : {"_e32", "_e64"})
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  return name;
}

std::optional<InstructionInfo> look_up(std::string_view name, std::string_view operands,
                                       std::string_view scratch_resource) {
  using detail::NameParts;
  if (name.starts_with("s_")) return detail::scalar_instruction(name);
  if (name.starts_with("v_")) return detail::vector_instruction(name, operands);
  if (name.starts_with("ds_") || name.starts_with("lds_"))
    return detail::lds_instruction(NameParts(name));
  for (const std::string_view unit :
       {"global_", "flat_", "scratch_", "buffer_", "tbuffer_", "image_"})
    if (name.starts_with(unit))
      return detail::vector_memory(NameParts(name), operands, scratch_resource);
  if (name == "exp" || name == "export") {
    InstructionInfo info;
    info.instruction_class = InstructionClass::export_;
    return info;
  }
  return std::nullopt;
}

/// The first register of the target of an s_mov_b64 ("s[4:5], s[0:1]": 4), if the source is
/// `source`.
std::optional<int> copied_to(const Instruction& instruction, std::string_view source) {
  if (instruction.mnemonic != "s_mov_b64") return std::nullopt;
  std::string_view operands = instruction.operands;
  const std::size_t comma = operands.find(", ");
  if (comma == std::string_view::npos || operands.substr(comma + 2) != source ||
      !operands.starts_with("s["))
    return std::nullopt;
  operands = operands.substr(2, comma - 2);
  return take_number<int>(operands);
}

void add_memory(const InstructionInfo& info, int wave_size, InstructionMix& mix) {
  const double bytes =
      static_cast<double>(info.memory_bytes_per_lane) * wave_size + info.memory_bytes_per_wave;
  switch (info.instruction_class) {
    case InstructionClass::vmem_load:
    case InstructionClass::vmem_store:
    case InstructionClass::vmem_atomic:
      mix.global_bytes += bytes;
      break;
    case InstructionClass::scratch_load:
    case InstructionClass::scratch_store:
      mix.scratch_bytes += bytes;
      break;
    case InstructionClass::smem:
      mix.scalar_bytes += bytes;
      break;
    case InstructionClass::lds:
      mix.lds_bytes += bytes;
      break;
    default:
      break;
  }
}

void add_arithmetic(const InstructionInfo& info, int wave_size, InstructionMix& mix) {
  if (info.instruction_class == InstructionClass::valu) {
    ++mix.valu_by_precision[info.precision];
    mix.vector_flops += info.flops_per_lane * wave_size + info.flops_per_wave;
  } else if (info.instruction_class == InstructionClass::matrix) {
    ++mix.matrix_by_precision[info.precision];
    mix.matrix_flops += info.flops_per_wave;
  }
  mix.packed += info.packed ? 1 : 0;
  mix.dual_issue += info.dual_issue ? 1 : 0;
  mix.transcendental += info.transcendental ? 1 : 0;
}

}  // namespace

InstructionInfo classify(std::string_view mnemonic, std::string_view operands,
                         std::string_view scratch_resource) {
  if (auto info = look_up(without_encoding(mnemonic), operands, scratch_resource)) return *info;
  InstructionInfo unknown;
  unknown.known = false;
  return unknown;
}

std::string scratch_resource_of(std::span<const Instruction> instructions) {
  std::optional<int> low;
  std::optional<int> high;
  std::string copy;
  for (const Instruction& instruction : instructions) {
    if (instruction.mnemonic.starts_with("scratch_")) return {};
    if (!low) low = copied_to(instruction, "s[0:1]");
    if (!high) high = copied_to(instruction, "s[2:3]");
    if (copy.empty() && low && high && *high == *low + 2)
      copy = "s[" + std::to_string(*low) + ":" + std::to_string(*low + 3) + "]";
    if (!copy.empty() && instruction.mnemonic.starts_with("buffer_") &&
        instruction.operands.find(" " + copy) != std::string::npos)
      return copy;
  }
  return "s[0:3]";
}

std::optional<double> InstructionMix::static_intensity() const {
  if (global_bytes <= 0) return std::nullopt;
  return (vector_flops + matrix_flops) / global_bytes;
}

InstructionMix instruction_mix(std::span<const Instruction> instructions, int wave_size,
                               bool may_use_scratch) {
  const std::string resource = may_use_scratch ? scratch_resource_of(instructions) : std::string{};
  InstructionMix mix;
  std::set<std::string, std::less<>> unknown;
  for (const Instruction& instruction : instructions) {
    const InstructionInfo info = classify(instruction.mnemonic, instruction.operands, resource);
    ++mix.instructions;
    mix.code_bytes += instruction.bytes;
    ++mix.by_class[info.instruction_class];
    mix.calls += info.call ? 1 : 0;
    if (instruction.branch_target && *instruction.branch_target <= instruction.address)
      ++mix.backward_branches;
    if (!info.known) unknown.insert(instruction.mnemonic);
    add_arithmetic(info, wave_size, mix);
    add_memory(info, wave_size, mix);
  }
  mix.unknown.assign(unknown.begin(), unknown.end());
  return mix;
}

}  // namespace perflab::code
