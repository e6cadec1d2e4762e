// Places of samples become rows by their distance from the kernel's begin; a disassembly that fits
// them adds the rest.
#include "analyze/pc_sampling/sampled_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "analyze/pc_sampling/sampled_waits.h"
#include "analyze/thread_trace/cycles.h"
#include "analyze/thread_trace/row_table.h"
#include "base/text/numbers.h"

namespace perflab::analyze {
namespace {

using pc_sampling::Pc;
using pc_sampling::PcSamples;

/// Where a place is: in the kernel itself or in other code, how far in, and what it says.
struct CodePlace {
  bool elsewhere = false;  ///< another kernel's or a function's code
  std::string owner;       ///< whose; empty: the kernel's own
  std::optional<std::int64_t> in_owner;
  std::string_view text, line;
  friend auto operator<=>(const CodePlace&, const CodePlace&) = default;
};

std::string_view name_of_sampled(const PcSamples& samples, pc_sampling::Index kernel) {
  if (kernel == pc_sampling::kNone) return {};
  const pc_sampling::Kernel& one = samples.kernels[kernel];
  return one.mangled_name.empty() ? one.name : one.mangled_name;
}

CodePlace place_of(const PcSamples& samples, pc_sampling::Index pc, pc_sampling::Index kernel) {
  const Pc& one = samples.pcs[pc];
  CodePlace out;
  out.text = one.instruction;
  const std::string_view owner = name_of_sampled(samples, one.kernel);
  out.elsewhere = !owner.empty() && owner != name_of_sampled(samples, kernel);
  if (out.elsewhere) out.owner = owner;
  if (!one.offset) {
    out.line = one.source_line;
    return out;
  }
  std::uint64_t begin = 0;
  if (one.kernel != pc_sampling::kNone) begin = samples.kernels[one.kernel].begin.value_or(0);
  out.in_owner = static_cast<std::int64_t>(*one.offset - begin);
  return out;
}

code::InstructionClass class_of(std::string_view text) {
  const SplitInstruction parts = split_instruction(text);
  return code::classify(parts.mnemonic, parts.operands).instruction_class;
}

PcInstruction sampled_row(const PcSamples& samples, pc_sampling::Index pc, const CodePlace& place) {
  const Pc& one = samples.pcs[pc];
  PcInstruction out;
  out.offset = one.offset;
  const bool begin_known =
      one.kernel != pc_sampling::kNone && samples.kernels[one.kernel].begin.has_value();
  if (!place.elsewhere && place.in_owner && *place.in_owner >= 0 && begin_known)
    out.in_kernel = static_cast<std::uint64_t>(*place.in_owner);
  out.text = one.instruction;
  out.chain = chain_of(one.source_line);
  out.instruction_class = class_of(one.instruction);
  return out;
}

/// Why a disassembly is not of the sampled code; empty: it is.
std::string why_not(const std::vector<CodeInstruction>& disassembly,
                    const std::vector<PcInstruction>& sampled) {
  std::size_t compared = 0, same = 0;
  for (const PcInstruction& one : sampled) {
    if (!one.in_kernel) continue;
    ++compared;
    const auto found =
        std::ranges::lower_bound(disassembly, *one.in_kernel, {}, &CodeInstruction::in_kernel);
    if (found != disassembly.end() && found->in_kernel == *one.in_kernel &&
        same_instruction(found->text, one.text))
      ++same;
  }
  if (compared == 0)
    return "no sample has a place in the kernel that the code could be held against";
  if (same == compared) return {};
  return fmt::format(
      "{} of {} sampled instructions are others in the code object: it is of "
      "another build",
      compared - same, compared);
}

/// Adds what was never sampled, and says where branches go.
std::map<std::size_t, std::size_t> add_unsampled(const std::vector<CodeInstruction>& disassembly,
                                                 SampledCode& out) {
  std::map<std::uint64_t, std::size_t> sampled;
  std::optional<std::uint64_t> base;  // offset of the kernel's begin
  for (std::size_t i = 0; i < out.instructions.size(); ++i) {
    const PcInstruction& one = out.instructions[i];
    if (!one.in_kernel) continue;
    sampled.emplace(*one.in_kernel, i);
    if (one.offset) base = *one.offset - *one.in_kernel;
  }
  std::vector<PcInstruction> all;
  std::vector<std::size_t> moved(out.instructions.size(), SIZE_MAX);
  std::map<std::uint64_t, std::size_t> at;
  for (const CodeInstruction& one : disassembly) {
    at.emplace(one.in_kernel, all.size());
    if (const auto found = sampled.find(one.in_kernel); found != sampled.end()) {
      moved[found->second] = all.size();
      all.push_back(std::move(out.instructions[found->second]));
      continue;
    }
    PcInstruction& row = all.emplace_back();
    row.in_kernel = one.in_kernel;
    if (base) row.offset = *base + one.in_kernel;
    row.text = one.text;
    row.instruction_class = class_of(one.text);
  }
  for (std::size_t i = 0; i < moved.size(); ++i) {
    if (moved[i] != SIZE_MAX) continue;
    moved[i] = all.size();
    all.push_back(std::move(out.instructions[i]));
  }
  out.instructions = std::move(all);
  for (auto& [pc, row] : out.of_pc) row = moved[row];
  out.code_known = true;
  std::map<std::size_t, std::size_t> branches;
  for (const CodeInstruction& one : disassembly)
    if (one.branch_target)
      if (const auto target = at.find(*one.branch_target); target != at.end())
        branches.emplace(at.at(one.in_kernel), target->second);
  return branches;
}

}  // namespace

bool same_instruction(std::string_view a, std::string_view b) {
  const SplitInstruction left = split_instruction(a), right = split_instruction(b);
  if (left.mnemonic != right.mnemonic) return false;
  if (class_of(a) == code::InstructionClass::branch) return true;
  const auto packed = [](std::string_view operands) {
    std::string out;
    for (const char c : operands)
      if (c != ' ' && c != '\t') out += c;
    return out;
  };
  return packed(left.operands) == packed(right.operands);
}

int generation_of(std::string_view architecture, std::span<const PcInstruction> code) {
  if (architecture.starts_with("gfx") && architecture.size() >= 6) {
    // Two digits of stepping, the rest is the generation: gfx90a, gfx942, gfx1201.
    const auto digits = architecture.substr(3, architecture.size() - 5);
    if (const auto generation = whole_number<int>(digits)) return *generation;
  }
  const bool separate = std::ranges::any_of(code, [](const PcInstruction& one) {
    return one.text.starts_with("s_wait_loadcnt") || one.text.starts_with("s_wait_kmcnt") ||
           one.text.starts_with("s_wait_dscnt");
  });
  return separate ? 12 : 9;
}

SampledCode sampled_code(const PcSamples& samples, std::span<const pc_sampling::Index> pcs,
                         pc_sampling::Index kernel, std::span<const CodeOfKernelFile> codes) {
  std::map<CodePlace, std::vector<pc_sampling::Index>> places;
  for (const pc_sampling::Index pc : pcs) places[place_of(samples, pc, kernel)].push_back(pc);
  SampledCode out;
  for (const auto& [place, same] : places) {
    for (const pc_sampling::Index pc : same) out.of_pc.emplace(pc, out.instructions.size());
    out.instructions.push_back(sampled_row(samples, same.front(), place));
  }
  std::map<std::size_t, std::size_t> branches;
  for (const CodeOfKernelFile& code : codes) {
    out.code_refused = why_not(code, out.instructions);
    if (!out.code_refused.empty()) continue;
    branches = add_unsampled(code, out);
    break;
  }
  const bool ordered = std::ranges::all_of(
      out.instructions, [](const PcInstruction& one) { return one.offset || one.in_kernel; });
  const CodeOrder order = !ordered         ? CodeOrder::none
                          : out.code_known ? CodeOrder::whole
                                           : CodeOrder::sampled;
  const pc_sampling::Index agent =
      kernel == pc_sampling::kNone || samples.kernels[kernel].code_object == pc_sampling::kNone
          ? pc_sampling::kNone
          : samples.code_objects[samples.kernels[kernel].code_object].agent;
  const std::string_view arch = agent == pc_sampling::kNone
                                    ? std::string_view()
                                    : std::string_view(samples.agents[agent].arch);
  find_sampled_waits(out.instructions, branches, generation_of(arch, out.instructions), order);
  return out;
}

}  // namespace perflab::analyze
