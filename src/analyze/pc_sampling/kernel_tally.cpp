// Each sample adds to every sum that it is in.
#include "analyze/pc_sampling/kernel_tally.h"

#include <algorithm>
#include <bit>

#include "analyze/thread_trace/row_table.h"

namespace perflab::analyze {
namespace {

using code::InstructionClass;
using pc_sampling::PcSamples;
using pc_sampling::StallKind;

bool is_vector_memory(InstructionClass one) {
  using enum InstructionClass;
  return one == vmem_load || one == vmem_store || one == vmem_atomic || one == scratch_load ||
         one == scratch_store;
}

/// Whose pipe refused.
std::optional<StallFeature> refusal_of(InstructionClass one) {
  if (is_vector_memory(one)) return StallFeature::vmem_backpressure;
  if (one == InstructionClass::lds) return StallFeature::lds_backpressure;
  if (one == InstructionClass::matrix) return StallFeature::matrix_busy;
  if (one == InstructionClass::valu) return StallFeature::valu_busy;
  return std::nullopt;
}

StallFeature feature_of(PcWait wait) {
  switch (wait) {
    case PcWait::vector_memory:
      return StallFeature::memory_wait;
    case PcWait::lds:
      return StallFeature::lds_wait;
    case PcWait::scalar:
      return StallFeature::scalar_wait;
    case PcWait::unknown:
      break;
  }
  return StallFeature::wait_unknown;
}

class Tallier {
 public:
  Tallier(const PcSamples& samples, const SampledCode& code, const ShareMaker& shares,
          std::string_view architecture)
      : samples_(samples), code_(code), shares_(shares), architecture_(architecture) {
    const ClusterSums zero = shares.zero();
    out_.instructions.resize(code.instructions.size());
    for (ClusterSums* const sums : {&out_.issued, &out_.stalled, &out_.waves, &out_.lanes,
                                    &out_.no_pipe_used, &out_.nobody_asked, &out_.pipes_used})
      *sums = zero;
    out_.waits.fill(zero);
    out_.features.fill(zero);
    out_.used.fill(zero);
    out_.pushed_back.fill(zero);
    // NVIDIA has two rows of each name: with and without another warp that issued.
    for (const pc_sampling::StallReason& one : samples.reasons)
      reason_of_.push_back(static_cast<std::uint8_t>(
          std::ranges::find(samples.reasons, one.name, &pc_sampling::StallReason::name) -
          samples.reasons.begin()));
  }

  void add(std::uint32_t row, std::size_t cluster, std::optional<std::uint32_t> tick) {
    cluster_ = cluster;
    weight_ = static_cast<double>(samples_.weight_of(row));
    waves_ = samples_.wave_count.empty() ? 0 : weight_ * samples_.wave_count[row];
    const std::size_t index = code_.of_pc.at(samples_.pc[row]);
    if (!out_.instructions[index]) out_.instructions[index].emplace(shares_.zero());
    CountTally& tally = *out_.instructions[index];
    count(tally);
    out_.waves[cluster] += waves_;
    if (!samples_.wave_count.empty())
      out_.wave_counts[samples_.wave_count[row]] += samples_.weight_of(row);
    add_lanes(row);
    add_place(row, tick);
    if (samples_.reason.empty()) return;
    add_stall(row, code_.instructions[index], tally);
    add_arbiter(row);
  }

  KernelTally take() { return std::move(out_); }

 private:
  void count(CountTally& tally) const {
    tally.samples[cluster_] += weight_;
    tally.waves[cluster_] += waves_;
  }

  void add_stall(std::uint32_t row, const PcInstruction& instruction, CountTally& tally) {
    const bool issued = samples_.issued(row);
    const auto stall = samples_.stall(row);
    const std::uint64_t weight = samples_.weight_of(row);
    if (contradicts(instruction, issued, stall, architecture_))
      out_.reason_contradictions += weight;
    if ((samples_.flags[row] & pc_sampling::kLockError) != 0) out_.lock_errors += weight;
    if (samples_.reasons[samples_.reason[row]].scheduler_idle)
      out_.no_pipe_used[cluster_] += weight_;
    if (issued) {
      out_.issued[cluster_] += weight_;
      tally.issued[cluster_] += weight_;
      return;
    }
    out_.stalled[cluster_] += weight_;
    const std::uint8_t reason = reason_of_[samples_.reason[row]];
    tally.reasons[reason] += weight;
    count(out_.reasons.try_emplace(reason, shares_.zero()).first->second);
    if (*stall == StallKind::waitcnt)
      out_.waits[static_cast<std::size_t>(instruction.wait.value_or(PcWait::unknown))][cluster_] +=
          weight_;
    if (*stall == StallKind::arbiter_win_ex_stall)
      out_.refused.try_emplace(instruction.instruction_class, shares_.zero())
          .first->second[cluster_] += weight_;
    if (const auto feature = stall_feature(*stall, instruction.instruction_class, instruction.wait))
      out_.features[static_cast<std::size_t>(*feature)][cluster_] += weight_;
  }

  void add_arbiter(std::uint32_t row) {
    if (samples_.arbiter_issue.empty()) return;
    const std::uint16_t issue = samples_.arbiter_issue[row], stall = samples_.arbiter_stall[row];
    out_.seen_pipes |= issue | stall;
    if ((stall & ~issue) != 0) out_.arbiter_contradictions += samples_.weight_of(row);
    const auto used = static_cast<std::uint16_t>(issue & ~stall);
    for (std::size_t pipe = 0; pipe < kPcPipes; ++pipe) {
      if ((used >> pipe & 1U) != 0) out_.used[pipe][cluster_] += weight_;
      if ((issue & stall) >> pipe & 1U) out_.pushed_back[pipe][cluster_] += weight_;
    }
    if (used == 0) out_.no_pipe_used[cluster_] += weight_;
    if (issue == 0 && stall == 0) out_.nobody_asked[cluster_] += weight_;
    int issues = std::popcount(used);
    if ((samples_.flags[row] & pc_sampling::kDualIssue) != 0 && (used & 1U) != 0) ++issues;
    out_.pipes_used[cluster_] += weight_ * issues;
  }

  void add_lanes(std::uint32_t row) {
    if (samples_.exec_mask.empty()) return;
    const std::uint64_t mask = samples_.exec_mask[row];
    out_.lanes[cluster_] += weight_ * std::popcount(mask) / wave_size(row, mask);
  }

  [[nodiscard]] double wave_size(std::uint32_t row, std::uint64_t mask) const {
    const pc_sampling::Index agent = samples_.agent_of(row);
    if (agent != pc_sampling::kNone && samples_.agents[agent].wave_size > 0)
      return mask >> 32U != 0 ? 64 : samples_.agents[agent].wave_size;
    return mask >> 32U == 0 && architecture_.starts_with("gfx1") ? 32 : 64;
  }

  void add_place(std::uint32_t row, std::optional<std::uint32_t> tick) {
    if (samples_.hardware.empty()) return;
    const pc_sampling::HardwareId& id = samples_.hardware[row];
    XccTally& xcc = out_.xccs[id.xcc];
    if (xcc.samples.empty()) xcc.samples = shares_.zero();
    xcc.samples[cluster_] += weight_;
    xcc.cus.emplace(id.shader_engine, id.shader_array, id.cu);
    if (tick) xcc.ticks.insert(*tick);
    xcc.slots[id.wave_slot] += samples_.weight_of(row);
  }

  const PcSamples& samples_;
  const SampledCode& code_;
  const ShareMaker& shares_;
  std::string_view architecture_;
  KernelTally out_;
  std::vector<std::uint8_t> reason_of_;  ///< first row of the table with the same name
  std::size_t cluster_ = 0;
  double weight_ = 0, waves_ = 0;
};

}  // namespace

void CountTally::add(const CountTally& more) {
  analyze::add(samples, more.samples);
  analyze::add(issued, more.issued);
  analyze::add(waves, more.waves);
  for (const auto& [reason, many] : more.reasons) reasons[reason] += many;
}

std::optional<StallFeature> stall_feature(StallKind kind, InstructionClass instruction_class,
                                          std::optional<PcWait> wait) {
  using enum StallFeature;
  switch (kind) {
    case StallKind::waitcnt:
      return feature_of(wait.value_or(PcWait::unknown));
    case StallKind::arbiter_win_ex_stall:
      return refusal_of(instruction_class);
    case StallKind::long_scoreboard:
      return memory_wait;
    case StallKind::short_scoreboard:
      return wait_unknown;  // shared memory, or a special function
    case StallKind::constant_miss:
      return scalar_wait;
    case StallKind::barrier_wait:
      return barrier;
    case StallKind::lg_throttle:
    case StallKind::tex_throttle:
      return vmem_backpressure;
    case StallKind::math_pipe_throttle:
      return valu_busy;
    case StallKind::arbiter_not_win:
      return contention;
    case StallKind::alu_dependency:
    case StallKind::fixed_latency:
      return dependency;
    case StallKind::no_instruction:
      return instruction_fetch;
    default:
      return std::nullopt;
  }
}

bool contradicts(const PcInstruction& instruction, bool issued, std::optional<StallKind> stall,
                 std::string_view architecture) {
  if (architecture.starts_with("sm_")) return false;
  using enum StallKind;
  const std::string_view name = split_instruction(instruction.text).mnemonic;
  const bool wait = name.starts_with("s_wait"), barrier = name.starts_with("s_barrier");
  if (issued) return name == "s_waitcnt";
  if (stall == waitcnt && !wait) return true;
  if (stall == barrier_wait && !barrier) return true;
  const bool gfx9 = architecture.starts_with("gfx9");
  if (!gfx9 || stall == no_instruction || stall == none || stall == unknown) return false;
  if (name == "s_waitcnt") return stall != waitcnt;
  if (name == "s_nop" || name == "s_sleep") return stall != internal_instruction;
  return barrier && stall != arbiter_not_win && stall != barrier_wait;
}

KernelTally tally_kernel(const PcSamples& samples, std::span<const std::uint32_t> rows,
                         std::span<const std::uint32_t> ticks, const SampledCode& code,
                         const ShareMaker& shares, std::string_view architecture) {
  Tallier tallier(samples, code, shares, architecture);
  for (std::size_t i = 0; i < rows.size(); ++i)
    tallier.add(rows[i], shares.cluster(i), ticks.empty() ? std::nullopt : std::optional(ticks[i]));
  return tallier.take();
}

}  // namespace perflab::analyze
