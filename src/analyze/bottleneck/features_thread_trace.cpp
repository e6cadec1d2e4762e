// Features of a thread trace: shares of the traced waves' cycles (docs/facts/thread_trace.md
// "States and buckets").
#include <fmt/format.h>

#include <array>

#include "analyze/bottleneck/feature_parts.h"

namespace perflab::analyze {
namespace {

using enum FeatureId;
using code::InstructionClass;

constexpr std::array kMemoryClasses = {
    InstructionClass::vmem_load, InstructionClass::vmem_store, InstructionClass::vmem_atomic,
    InstructionClass::scratch_load, InstructionClass::scratch_store};

/// Sum of a member over the classes named.
template <class Classes, class Get>
std::int64_t over(const KernelThreadTrace& traced, const Classes& classes, const Get& get) {
  std::int64_t sum = 0;
  for (const ClassCycles& row : traced.classes)
    for (const InstructionClass wanted : classes)
      if (row.instruction_class == wanted) sum += get(row.sums);
  return sum;
}

template <class Classes>
std::int64_t waits_for(const KernelThreadTrace& traced, const Classes& classes) {
  std::int64_t sum = 0;
  for (const InstructionClass wanted : classes)
    if (const auto found = traced.wait_by_class.find(wanted); found != traced.wait_by_class.end())
      sum += found->second;
  return sum;
}

/// Sums by instruction, without the waves that they are of.
bool only_sums(const KernelThreadTrace& traced) {
  return traced.from_stats || traced.coverage.waves == 0;
}

constexpr std::string_view kWavesRemedy = "give the ui_output folder of the dispatch";

/// On gfx9 the row of s_barrier holds two instructions: the message that the wave has arrived,
/// which can be denied to issue, and the wait for the others.
void lack_barriers(const KernelThreadTrace& traced, FeatureSet& set) {
  if (!only_sums(traced) || over(traced, std::array{InstructionClass::barrier},
                                 [](const CycleSums& sums) { return sums.hits; }) == 0)
    return;
  for (const FeatureId id : {att_barrier, att_issue_stall})
    lack(set, id, "sums by instruction do not tell arriving at a barrier from waiting there",
         kWavesRemedy);
}

}  // namespace

void add_thread_trace_features(const KernelThreadTrace& traced, FeatureSet& set) {
  const std::int64_t total = traced.time.total();
  if (total <= 0) {
    lack_all(set, FeatureSource::thread_trace, "the thread trace holds no cycles of this kernel",
             "trace a CU that runs it: rocm-perf profile --att -- ./app");
    return;
  }
  const auto share = [&](FeatureId id, std::int64_t cycles, std::string_view what) {
    give(set, id, static_cast<double>(cycles) / static_cast<double>(total),
         fmt::format("{} of {} cycles of the traced waves{}", cycles, total, what));
  };
  share(att_issue, traced.time.issue, "");
  share(att_wait, traced.time.wait, "");
  share(att_barrier, traced.time.barrier, "");
  share(att_issue_stall, traced.time.issue_stall, "");
  share(att_idle, traced.time.idle, "");
  share(att_vmem_stall,
        over(traced, kMemoryClasses, [](const CycleSums& sums) { return sums.stall; }), "");
  share(att_alu,
        over(traced, std::array{InstructionClass::valu, InstructionClass::matrix},
             [](const CycleSums& sums) { return sums.latency; }),
        "");
  share(att_branch,
        over(traced, std::array{InstructionClass::branch},
             [](const CycleSums& sums) { return sums.cost(); }),
        "");
  lack_barriers(traced, set);
  if (only_sums(traced) && traced.time.wait > traced.wait_other) {
    for (const FeatureId id : {att_memory_wait, att_lds_wait})
      lack(set, id, "which instructions the waits were for is not known: there are only sums",
           kWavesRemedy);
  } else {
    const std::string unknown =
        traced.wait_unattributed > 0
            ? fmt::format("; {} cycles of waits have no known cause", traced.wait_unattributed)
            : std::string();
    share(att_memory_wait,
          waits_for(traced, kMemoryClasses) + waits_for(traced, std::array{InstructionClass::smem}),
          unknown);
    share(att_lds_wait, waits_for(traced, std::array{InstructionClass::lds}), unknown);
  }
  if (traced.occupancy) {
    give(set, att_tail, traced.occupancy->tail_share,
         fmt::format("of {} cycles on {} CUs", traced.occupancy->span, traced.occupancy->cus));
    give(set, att_waves_per_cu, traced.occupancy->average,
         fmt::format("over {} cycles on {} CUs, {} waves at most", traced.occupancy->span,
                     traced.occupancy->cus, traced.occupancy->peak));
  } else {
    for (const FeatureId id : {att_tail, att_waves_per_cu})
      lack(set, id, "the thread trace has no occupancy over time",
           traced.from_stats ? kWavesRemedy : std::string_view());
  }
}

}  // namespace perflab::analyze
