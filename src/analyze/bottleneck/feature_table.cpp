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
    {scratch_bytes, "resources.scratch_bytes", "scratch memory of a work-item", "bytes",
     Source::resources, "as the launch recorded it"},
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
    {lanes_active, "counters.lanes_active", "lanes at work per vector instruction", "share",
     Source::counters, "lanes / lanes of a wave"},
    {partial_waves, "counters.partial_waves", "waves that are not full", "share", Source::counters,
     "partial_waves; 0 where the launch has whole waves only"},
    {branch_share, "counters.branch_share", "branches among the instructions", "share",
     Source::counters, "branch_share"},
    {l2_hit, "counters.l2_hit", "L2 hit rate", "share", Source::counters, "hit.l2"},
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

FeatureSet FeatureSet::only_up_to(FeatureSource last) const {
  FeatureSet kept = *this;
  for (Feature& feature : kept.features_) {
    if (info(feature.id).source <= last || !feature.value) continue;
    feature.value.reset();
    feature.from.clear();
    feature.reason = "left out here: only what costs less to get is looked at";
  }
  return kept;
}

}  // namespace perflab::analyze
