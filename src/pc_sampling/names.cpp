// Names of the model's enums, and those that rocprofv3's files have
// (docs/facts/pc_sampling.md 3).
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "pc_sampling/model.h"

namespace perflab::pc_sampling {
namespace {

constexpr auto kMethodNames = enum_names<Method>({
    {Method::stochastic, "stochastic"},
    {Method::host_trap, "host_trap"},
    {Method::cupti, "cupti"},
});

constexpr auto kTypeNames = enum_names<InstructionType>({
    {InstructionType::none, "NONE"},
    {InstructionType::valu, "VALU"},
    {InstructionType::matrix, "MATRIX"},
    {InstructionType::scalar, "SCALAR"},
    {InstructionType::tex, "TEX"},
    {InstructionType::lds, "LDS"},
    {InstructionType::lds_direct, "LDS_DIRECT"},
    {InstructionType::flat, "FLAT"},
    {InstructionType::exporting, "EXPORT"},
    {InstructionType::message, "MESSAGE"},
    {InstructionType::barrier, "BARRIER"},
    {InstructionType::branch_not_taken, "BRANCH_NOT_TAKEN"},
    {InstructionType::branch_taken, "BRANCH_TAKEN"},
    {InstructionType::jump, "JUMP"},
    {InstructionType::other, "OTHER"},
    {InstructionType::no_inst, "NO_INST"},
    {InstructionType::dual_valu, "DUAL_VALU"},
    {InstructionType::unknown, "unknown"},
});

constexpr auto kStallNames = enum_names<StallKind>({
    {StallKind::none, "NONE"},
    {StallKind::no_instruction, "NO_INSTRUCTION_AVAILABLE"},
    {StallKind::alu_dependency, "ALU_DEPENDENCY"},
    {StallKind::waitcnt, "WAITCNT"},
    {StallKind::internal_instruction, "INTERNAL_INSTRUCTION"},
    {StallKind::barrier_wait, "BARRIER_WAIT"},
    {StallKind::arbiter_not_win, "ARBITER_NOT_WIN"},
    {StallKind::arbiter_win_ex_stall, "ARBITER_WIN_EX_STALL"},
    {StallKind::other_wait, "OTHER_WAIT"},
    {StallKind::sleep_wait, "SLEEP_WAIT"},
    {StallKind::unknown, "unknown"},
    {StallKind::selected, "selected"},
    {StallKind::long_scoreboard, "long_scoreboard"},
    {StallKind::short_scoreboard, "short_scoreboard"},
    {StallKind::fixed_latency, "wait"},
    {StallKind::branch_resolving, "branch_resolving"},
    {StallKind::constant_miss, "imc_miss"},
    {StallKind::dispatch_stall, "dispatch_stall"},
    {StallKind::drain, "drain"},
    {StallKind::memory_barrier, "membar"},
    {StallKind::lg_throttle, "lg_throttle"},
    {StallKind::mio_throttle, "mio_throttle"},
    {StallKind::tex_throttle, "tex_throttle"},
    {StallKind::math_pipe_throttle, "math_pipe_throttle"},
    {StallKind::warpgroup_wait, "gmma"},
});

constexpr auto kPipeNames = enum_names<Pipe>({
    {Pipe::valu, "valu"},
    {Pipe::matrix, "matrix"},
    {Pipe::lds, "lds"},
    {Pipe::lds_direct, "lds_direct"},
    {Pipe::scalar, "scalar"},
    {Pipe::vmem_tex, "vmem_tex"},
    {Pipe::flat, "flat"},
    {Pipe::exporting, "exp"},
    {Pipe::misc, "misc"},
    {Pipe::brmsg, "brmsg"},
});

/// The enumerator below `unknown` that has the name after the prefix; `unknown`: none has.
template <class E>
E below_unknown(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return E::unknown;
  const std::optional<E> found = from_name<E>(name.substr(prefix.size()));
  return found && *found < E::unknown ? *found : E::unknown;
}

}  // namespace

std::string_view to_string(Method method) {
  return kMethodNames[method];
}
std::string_view to_string(InstructionType type) {
  return kTypeNames[type];
}
std::string_view to_string(StallKind kind) {
  return kStallNames[kind];
}
std::string_view to_string(Pipe pipe) {
  return kPipeNames[pipe];
}

InstructionType instruction_type_of(std::string_view name) {
  return below_unknown<InstructionType>(name, "ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_");
}

StallKind stall_kind_of(std::string_view name) {
  return below_unknown<StallKind>(name, "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_");
}

StallReason cuda_reason(std::string_view name) {
  constexpr std::string_view kPrefix = "smsp__pcsamp_warps_issue_stalled_", kIdle = "_not_issued";
  constexpr auto kOthers = std::to_array<std::pair<std::string_view, StallKind>>(
      {{"barrier", StallKind::barrier_wait},
       {"misc", StallKind::other_wait},
       {"no_instructions", StallKind::no_instruction},
       {"not_selected", StallKind::arbiter_not_win},
       {"sleeping", StallKind::sleep_wait},
       {"warpgroup_arrive", StallKind::warpgroup_wait}});
  StallReason reason;
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  reason.scheduler_idle = name.ends_with(kIdle);
  if (reason.scheduler_idle) name.remove_suffix(kIdle.size());
  reason.name = name;
  const auto* const other =
      std::ranges::find(kOthers, name, &std::pair<std::string_view, StallKind>::first);
  if (other != kOthers.end()) {
    reason.kind = other->second;
  } else if (const std::optional<StallKind> own = from_name<StallKind>(name);
             own && *own > StallKind::unknown) {
    reason.kind = *own;
  }
  return reason;
}

std::vector<StallReason> amd_reasons() {
  std::vector<StallReason> reasons;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(StallKind::unknown); ++i) {
    const auto kind = static_cast<StallKind>(i);
    reasons.push_back({std::string(to_string(kind)), kind, false});
  }
  return reasons;
}

}  // namespace perflab::pc_sampling
