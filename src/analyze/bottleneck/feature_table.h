// The features that bottleneck rules look at: one number each, with where it is from or why there
// is none. The only list of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace perflab::analyze {

/// What a feature is measured with. In the order of what each costs to get.
enum class FeatureSource : std::uint8_t {
  dispatches,     ///< times and launch geometry in the trace
  resources,      ///< registers, LDS, occupancy: trace and code object
  critical_path,  ///< host calls of the trace
  counters,       ///< counter passes: roofline and counter figures
  pc_sampling,    ///< samples of where waves were, and why they did not issue
  thread_trace,
};
inline constexpr std::size_t kFeatureSources = 6;
std::string_view to_string(FeatureSource source);  ///< as documents have it: "thread_trace"

enum class FeatureId : std::uint8_t {
  // dispatches
  dispatch_count,   ///< dispatches of the kernel
  dispatch_median,  ///< ns
  idle_before,      ///< share: median idle time of the GPU before its dispatches, of that time and
                    ///< the median duration together
  work_fill,        ///< waves of the launch / waves that the GPU can hold of this kernel
  work_per_cu,      ///< work-groups of the launch per CU
  // resources
  theoretical_occupancy,  ///< 0 to 1, resident model
  scratch_bytes,          ///< per work-item
  // critical path
  path_launch_share,  ///< of the critical path of the run: launch latency and launch calls
  path_kernel_share,  ///< of the critical path of the run: time in this kernel
  // counters
  hbm_share,  ///< of the bandwidth ceiling (or measured roof)
  l2_share,
  lds_share,
  compute_share,  ///< of the compute roof of this kernel's mix
  integer_share,  ///< of the integer roof where that is the binding one; 0 where another one is
  nearest_roof,   ///< share of the binding roof: the largest of the shares
  memory_side,    ///< time at the memory roofs / (that + time at the compute roof); needs no times
  valu_busy,
  mfma_busy,  ///< 0 to 1, of all CU cycles
  vmem_busy,
  lds_busy,
  cu_busy,             ///< 0 to 1, share of CU time with waves
  achieved_occupancy,  ///< 0 to 1, of all wave slots, over all cycles of the GPU
  busy_cu_occupancy,   ///< 0 to 1, of the wave slots of CUs that have waves
  occupancy_reached,  ///< waves on CUs that have any / waves that such a CU can hold of this kernel
  wait_dependency,
  wait_issue,     ///< 0 to 1, of wave time
  gap_tail,       ///< 0 to 1, of all wave slots: empty in the last round of work-groups
  gap_imbalance,  ///< 0 to 1, of all wave slots: of CUs without work while others have some
  lanes_active,   ///< 0 to 1, of the wave's lanes per vector instruction
  partial_waves,  ///< 0 to 1
  branch_share,   ///< of instructions
  l2_hit,
  // PC samples; shares of the kernel's samples, with intervals
  pc_issued,
  pc_memory_wait,        ///< waits on vector memory
  pc_lds_wait,           ///< waits on LDS
  pc_scalar_wait,        ///< waits on scalar loads
  pc_wait_unknown,       ///< waits on what is not known
  pc_barrier,            ///< waits at barriers
  pc_vmem_backpressure,  ///< vector memory instructions that their pipe refused
  pc_lds_backpressure,   ///< likewise of LDS
  pc_matrix_busy,        ///< matrix instructions that their pipe refused: it is full
  pc_valu_busy,          ///< other vector instructions likewise
  pc_contention,         ///< ready, another wave was taken
  pc_dependency,         ///< waits on results of arithmetic
  pc_instruction_fetch,  ///< no instruction was there
  pc_lanes_active,       ///< 0 to 1, of a wave's lanes
  pc_waves_per_cu,       ///< waves on CUs that have any, on average
  pc_simd_latency,       ///< no pipe of the SIMD was used
  // thread trace; shares of the traced waves' time
  att_issue,
  att_wait,
  att_barrier,
  att_issue_stall,
  att_idle,
  att_memory_wait,  ///< waits attributed to vector memory and scalar loads
  att_lds_wait,
  att_vmem_stall,    ///< issue stalls of vector memory instructions
  att_alu,           ///< issue and issue stall of VALU and matrix instructions
  att_branch,        ///< cost of branches
  att_tail,          ///< occupancy tail, share of the span
  att_waves_per_cu,  ///< waves on CUs that have any, on average
};
inline constexpr std::size_t kFeatures = static_cast<std::size_t>(FeatureId::att_waves_per_cu) + 1;

/// What a feature is, independent of any kernel.
struct FeatureInfo {
  FeatureId id{};
  std::string_view name;   ///< as documents have it: "counters.wait_dependency"
  std::string_view label;  ///< for people: "wave time spent waiting"
  std::string_view unit;   ///< "share", "ns", "count", "bytes", "waves"
  FeatureSource source{};
  std::string_view formula;  ///< how it is computed, in words a reader can follow
};
const FeatureInfo& info(FeatureId id);

/// One feature of one kernel.
struct Feature {
  FeatureId id{};
  std::optional<double> value;
  /// Of samples: the bounds of the 95 % interval. A condition has to hold at both.
  std::optional<double> low, high;
  std::string from;    ///< with a value: its inputs: "SQ_WAIT_ANY / SQ_WAVE_CYCLES, pass 1"
  std::string reason;  ///< without one: why
  std::string remedy;
};

/// All features, by FeatureId.
class FeatureSet {
 public:
  FeatureSet();
  [[nodiscard]] const Feature& operator[](FeatureId id) const;
  Feature& operator[](FeatureId id);
  [[nodiscard]] std::span<const Feature> all() const { return features_; }
  /// A copy in which everything from other sources than those up to `last` is missing.
  [[nodiscard]] FeatureSet only_up_to(FeatureSource last) const;
  /// A copy in which everything from this source is missing.
  [[nodiscard]] FeatureSet without(FeatureSource source) const;

 private:
  template <class Keep>
  [[nodiscard]] FeatureSet kept(const Keep& keep, std::string_view reason) const;

  std::vector<Feature> features_;
};

}  // namespace perflab::analyze
