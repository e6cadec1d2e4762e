// The table of features: name, unit, source and formula of each, in the order of FeatureId.
// Formulas are those of docs/facts/counters.md (counters), docs/facts/thread_trace.md "Sums"
// (thread trace) and docs/models/bottleneck_features.md (what is built on them).
#include "analyze/bottleneck/feature_table.h"

#include <array>

#include "base/enum_names.h"
#include "base/error.h"

namespace perflab::analyze {
namespace {

using enum FeatureId;
using Source = FeatureSource;

constexpr std::array<FeatureInfo, kFeatures> kFeatureTable = {{
    {dispatch_count, "dispatches.count", "dispatches", "count", Source::dispatches,
     "dispatches of the kernel in the timing recording"},
    {dispatch_median, "dispatches.median", "time of a dispatch", "ns", Source::dispatches,
     "median of end - start"},
    {idle_before, "dispatches.idle_before", "GPU idle before the kernel's dispatches", "share",
     Source::dispatches,
     "median idle time / (median idle time + median duration); idle: to the start from the "
     "latest of the end of any earlier dispatch or copy of the GPU and the begin of its own launch "
     "call; 0 where they overlap"},
    {work_fill, "dispatches.work_fill", "GPU filled by the launch", "share", Source::dispatches,
     "waves of the launch / (CUs x waves of this kernel that a CU can hold)"},
    {work_per_cu, "dispatches.work_per_cu", "work-groups per CU", "count", Source::dispatches,
     "work-groups of the launch / CUs"},
    {theoretical_occupancy, "resources.occupancy", "wave slots that its resources allow", "share",
     Source::resources, "resident waves / wave slots of a SIMD (resident model)"},
    {scratch_bytes, "resources.scratch_bytes", "scratch of a work-item", "bytes", Source::resources,
     "as the launch recorded it"},
    {path_launch_share, "critical_path.launch_share", "critical path spent in launches", "share",
     Source::critical_path,
     "(launch latency + time in launch calls that the path's stretches name) / length of the path"},
    {path_kernel_share, "critical_path.kernel_share", "critical path inside the kernel", "share",
     Source::critical_path, "time of the path in the kernel's dispatches / length of the path"},
    {hbm_share, "counters.hbm_share", "memory bandwidth used", "share", Source::counters,
     "bytes that left L2 / time / bandwidth ceiling"},
    {l2_share, "counters.l2_share", "L2 bandwidth used", "share", Source::counters,
     "bytes between L1 and L2 / time / bandwidth ceiling"},
    {lds_share, "counters.lds_share", "LDS bandwidth used", "share", Source::counters,
     "bytes of LDS / time / bandwidth ceiling"},
    {compute_share, "counters.compute_share", "arithmetic rate used", "share", Source::counters,
     "FLOP/s / the compute roof of this kernel's mix of pipes and precisions"},
    {integer_share, "counters.integer_share", "integer rate used", "share", Source::counters,
     "share of the integer roof where that is the binding one; 0 where another roof is"},
    {nearest_roof, "counters.nearest_roof", "nearness of the binding roof", "share",
     Source::counters, "time that the binding roof alone explains / time"},
    {memory_side, "counters.memory_side", "memory's part of the roof times", "share",
     Source::counters,
     "longest time at a memory roof / (that + time at the floating-point roof); needs no times"},
    {valu_busy, "counters.valu_busy", "vector ALU busy", "share", Source::counters, "issue.valu"},
    {mfma_busy, "counters.mfma_busy", "matrix pipes busy", "share", Source::counters, "issue.mfma"},
    {vmem_busy, "counters.vmem_busy", "vector memory issue busy", "share", Source::counters,
     "issue.vmem"},
    {lds_busy, "counters.lds_busy", "LDS busy", "share", Source::counters, "lds.util"},
    {cu_busy, "counters.cu_busy", "CUs with waves", "share", Source::counters, "cu.busy"},
    {achieved_occupancy, "counters.achieved_occupancy", "wave slots in use", "share",
     Source::counters, "occupancy.achieved"},
    {busy_cu_occupancy, "counters.busy_cu_occupancy", "wave slots in use on CUs with waves",
     "share", Source::counters, "occupancy.busy_cus_waves / wave slots of a CU"},
    {occupancy_reached, "counters.occupancy_reached", "resident waves that were reached", "share",
     Source::counters,
     "occupancy.busy_cus_waves / waves of this kernel that a CU can hold (resident model)"},
    {wait_dependency, "counters.wait_dependency", "wave time spent waiting", "share",
     Source::counters, "wave_time.dependency"},
    {wait_issue, "counters.wait_issue", "wave time spent waiting to issue", "share",
     Source::counters, "wave_time.issue"},
    {gap_tail, "counters.gap_tail", "wave slots empty in the last round", "share", Source::counters,
     "occupancy gap: tail (docs/models/occupancy_gap.md)"},
    {gap_imbalance, "counters.gap_imbalance", "wave slots of CUs that ran out of work", "share",
     Source::counters, "occupancy gap: imbalance (docs/models/occupancy_gap.md)"},
    {lanes_active, "counters.lanes_active", "lanes at work per vector instruction", "share",
     Source::counters, "lanes / lanes of a wave"},
    {partial_waves, "counters.partial_waves", "waves that are not full", "share", Source::counters,
     "partial_waves; 0 where the launch has whole waves only"},
    {branch_share, "counters.branch_share", "branches among the instructions", "share",
     Source::counters, "branch_share"},
    {l2_hit, "counters.l2_hit", "L2 hit rate", "share", Source::counters, "hit.l2"},
    {pc_issued, "pc_sampling.issued", "samples that issued", "share", Source::pc_sampling,
     "issued samples / samples of the kernel"},
    {pc_memory_wait, "pc_sampling.memory_wait", "samples waiting for memory", "share",
     Source::pc_sampling, "stalled in waits on vector memory / samples of the kernel"},
    {pc_lds_wait, "pc_sampling.lds_wait", "samples waiting for LDS", "share", Source::pc_sampling,
     "stalled in waits on LDS / samples of the kernel"},
    {pc_scalar_wait, "pc_sampling.scalar_wait", "samples waiting for scalar loads", "share",
     Source::pc_sampling, "stalled in waits on scalar loads / samples of the kernel"},
    {pc_wait_unknown, "pc_sampling.wait_unknown", "samples waiting for what is not known", "share",
     Source::pc_sampling, "stalled in waits on several or unknown things / samples of the kernel"},
    {pc_barrier, "pc_sampling.barrier", "samples in barriers", "share", Source::pc_sampling,
     "stalled in barriers / samples of the kernel"},
    {pc_vmem_backpressure, "pc_sampling.vmem_backpressure",
     "memory instructions refused by their pipe", "share", Source::pc_sampling,
     "vector memory instructions that won the arbiter and were refused / samples of the kernel"},
    {pc_lds_backpressure, "pc_sampling.lds_backpressure", "LDS instructions refused by their pipe",
     "share", Source::pc_sampling,
     "LDS instructions that won the arbiter and were refused / samples of the kernel"},
    {pc_matrix_busy, "pc_sampling.matrix_busy", "matrix instructions behind a full pipe", "share",
     Source::pc_sampling,
     "matrix instructions that won the arbiter and were refused / samples of the kernel"},
    {pc_valu_busy, "pc_sampling.valu_busy", "vector instructions behind a full pipe", "share",
     Source::pc_sampling,
     "other vector instructions that won the arbiter and were refused / samples of the kernel"},
    {pc_contention, "pc_sampling.contention", "samples ready but not picked", "share",
     Source::pc_sampling, "stalled because another wave was taken / samples of the kernel"},
    {pc_dependency, "pc_sampling.dependency", "samples waiting for arithmetic", "share",
     Source::pc_sampling, "stalled on results of the ALU / samples of the kernel"},
    {pc_instruction_fetch, "pc_sampling.instruction_fetch", "samples without an instruction",
     "share", Source::pc_sampling,
     "stalled with an empty instruction buffer / samples of the kernel"},
    {pc_lanes_active, "pc_sampling.lanes_active", "lanes on in the samples", "share",
     Source::pc_sampling, "lanes of the EXEC masks / lanes of a wave, mean of samples"},
    {pc_waves_per_cu, "pc_sampling.waves_per_cu", "waves on a sampled CU", "waves",
     Source::pc_sampling, "mean of samples; CUs without waves give none"},
    {pc_simd_latency, "pc_sampling.simd_latency", "samples in which no pipe worked", "share",
     Source::pc_sampling, "no pipe of the sampled SIMD was used / samples of the kernel"},
    {att_issue, "thread_trace.issue", "wave time issuing", "share", Source::thread_trace,
     "issue cycles, waits and barriers apart / cycles of the traced waves"},
    {att_wait, "thread_trace.wait", "wave time in waits", "share", Source::thread_trace,
     "latency of waits (on memory counters and others: s_nop, s_sleep), barriers apart / cycles of "
     "the traced waves"},
    {att_barrier, "thread_trace.barrier", "wave time in barriers", "share", Source::thread_trace,
     "latency of barriers / cycles of the traced waves"},
    {att_issue_stall, "thread_trace.issue_stall", "wave time denied to issue", "share",
     Source::thread_trace, "stall of instructions other than waits / cycles of the traced waves"},
    {att_idle, "thread_trace.idle", "wave time idle", "share", Source::thread_trace,
     "idle cycles / cycles of the traced waves"},
    {att_memory_wait, "thread_trace.memory_wait", "wave time waiting for memory", "share",
     Source::thread_trace,
     "waits attributed to vector, scratch and scalar memory / cycles of the traced waves"},
    {att_lds_wait, "thread_trace.lds_wait", "wave time waiting for LDS", "share",
     Source::thread_trace, "waits attributed to LDS / cycles of the traced waves"},
    {att_vmem_stall, "thread_trace.vmem_stall", "memory instructions denied to issue", "share",
     Source::thread_trace,
     "stall of vector and scratch memory instructions / cycles of the traced waves"},
    {att_alu, "thread_trace.alu", "wave time in arithmetic", "share", Source::thread_trace,
     "latency of vector and matrix instructions / cycles of the traced waves"},
    {att_branch, "thread_trace.branch", "wave time in branches", "share", Source::thread_trace,
     "latency and idle of branches / cycles of the traced waves"},
    {att_tail, "thread_trace.tail", "tail of the dispatch", "share", Source::thread_trace,
     "span after the last time that half of the peak of waves were resident / span"},
    {att_waves_per_cu, "thread_trace.waves_per_cu", "waves on a CU", "waves", Source::thread_trace,
     "average over the span, of CUs with at least one wave"},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kFeatures; ++i)
    if (static_cast<std::size_t>(kFeatureTable[i].id) != i) return false;
  return true;
}
static_assert(in_order(), "the table must be in the order of FeatureId");

}  // namespace

std::string_view to_string(FeatureSource source) {
  using enum FeatureSource;
  static constexpr auto kNames = enum_names<FeatureSource>({{dispatches, "dispatches"},
                                                            {resources, "resources"},
                                                            {critical_path, "critical_path"},
                                                            {counters, "counters"},
                                                            {pc_sampling, "pc_sampling"},
                                                            {thread_trace, "thread_trace"}});
  return kNames[source];
}

const FeatureInfo& info(FeatureId id) {
  PERFLAB_CHECK(static_cast<std::size_t>(id) < kFeatures);
  return kFeatureTable[static_cast<std::size_t>(id)];
}

FeatureSet::FeatureSet() : features_(kFeatures) {
  for (std::size_t i = 0; i < kFeatures; ++i) {
    features_[i].id = static_cast<FeatureId>(i);
    features_[i].reason = "it was not looked at";
  }
}

const Feature& FeatureSet::operator[](FeatureId id) const {
  return features_[static_cast<std::size_t>(id)];
}

Feature& FeatureSet::operator[](FeatureId id) {
  return features_[static_cast<std::size_t>(id)];
}

template <class Keep>
FeatureSet FeatureSet::kept(const Keep& keep, std::string_view reason) const {
  FeatureSet less = *this;
  for (Feature& feature : less.features_) {
    if (keep(info(feature.id).source) || !feature.value) continue;
    feature.value.reset();
    feature.low.reset();
    feature.high.reset();
    feature.from.clear();
    feature.reason = reason;
  }
  return less;
}

FeatureSet FeatureSet::only_up_to(FeatureSource last) const {
  return kept([&](FeatureSource source) { return source <= last; },
              "left out here: only what costs less to get is looked at");
}

FeatureSet FeatureSet::without(FeatureSource left_out) const {
  return kept([&](FeatureSource source) { return source != left_out; },
              "left out here: only other sources are looked at");
}

}  // namespace perflab::analyze
