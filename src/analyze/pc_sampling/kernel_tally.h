// One pass over the samples of a kernel: every sum that its figures are made from, by cluster of
// ticks. Internal to src/analyze/pc_sampling.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "analyze/pc_sampling/pc_figures.h"
#include "analyze/pc_sampling/sampled_code.h"
#include "analyze/pc_sampling/share_maker.h"
#include "pc_sampling/model.h"

namespace perflab::analyze {

inline constexpr std::size_t kPcPipes = 10;  ///< of pc_sampling::Pipe

/// Sums of some samples: of an instruction, or of a line or a class by adding them up.
struct CountTally {
  ClusterSums samples, issued, waves;  ///< `waves`: each sample times the waves on its CU
  std::map<std::uint8_t, std::uint64_t> reasons;  ///< stalled samples by row of PcSamples::reasons

  explicit CountTally(const ClusterSums& zero) : samples(zero), issued(zero), waves(zero) {}
  void add(const CountTally& more);
};

/// Figures that come from one kind of stall each.
enum class StallFeature : std::uint8_t {
  memory_wait,
  lds_wait,
  scalar_wait,
  wait_unknown,
  barrier,
  vmem_backpressure,
  lds_backpressure,
  matrix_busy,
  valu_busy,
  contention,
  dependency,
  instruction_fetch,
};
inline constexpr std::size_t kStallFeatures =
    static_cast<std::size_t>(StallFeature::instruction_fetch) + 1;

/// Which of them a stall counts in; nullopt: none.
std::optional<StallFeature> stall_feature(pc_sampling::StallKind kind,
                                          code::InstructionClass instruction_class,
                                          std::optional<PcWait> wait);

/// Whether a sample says what its instruction cannot do (docs/facts/pc_sampling.md "Reasons").
bool contradicts(const PcInstruction& instruction, bool issued,
                 std::optional<pc_sampling::StallKind> stall, std::string_view architecture);

struct XccTally {
  ClusterSums samples;
  std::set<std::tuple<std::uint8_t, std::uint8_t, std::uint8_t>> cus;
  std::set<std::uint32_t> ticks;
  std::map<std::uint8_t, std::uint64_t> slots;
};

struct KernelTally {
  std::vector<std::optional<CountTally>> instructions;  ///< beside SampledCode::instructions
  std::map<std::uint8_t, CountTally> reasons;           ///< stalled samples, by row of the table
  ClusterSums issued, stalled, waves, lanes;            ///< `lanes`: shares of the wave's lanes
  std::array<ClusterSums, kPcWaits> waits;
  std::array<ClusterSums, kStallFeatures> features;
  std::map<code::InstructionClass, ClusterSums> refused;
  std::array<ClusterSums, kPcPipes> used, pushed_back;
  std::uint16_t seen_pipes = 0;
  ClusterSums no_pipe_used, nobody_asked, pipes_used;
  std::uint64_t arbiter_contradictions = 0, reason_contradictions = 0, lock_errors = 0;
  std::map<std::uint32_t, std::uint64_t> wave_counts;  ///< samples by waves on the CU
  std::map<std::uint8_t, XccTally> xccs;
};

/// `rows`: the kernel's decoded samples; `ticks` beside them, may be empty.
KernelTally tally_kernel(const pc_sampling::PcSamples& samples, std::span<const std::uint32_t> rows,
                         std::span<const std::uint32_t> ticks, const SampledCode& code,
                         const ShareMaker& shares, std::string_view architecture);

}  // namespace perflab::analyze
