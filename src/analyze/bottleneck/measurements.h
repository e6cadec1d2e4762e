// What was measured, before anything is judged: the verdicts are made from it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/critical_path/critical_path.h"
#include "analyze/kernels/kernel.h"
#include "analyze/pc_sampling/pc_figures.h"
#include "analyze/roofline/roofline.h"
#include "analyze/thread_trace/cycle_figures.h"
#include "base/missing.h"

namespace perflab::analyze {

struct Measurements {
  std::vector<Kernel> kernels;         ///< most time first
  std::optional<Selection> selection;  ///< nullopt: no dispatches
  std::uint64_t timed_dispatches = 0;  ///< dispatches in `kernels`
  bool timed_under_counters =
      false;  ///< only counter passes were given: dispatches ran one after the other
  bool of_chosen_kernels = false;    ///< dispatches of other kernels were not read (--kernel)
  std::optional<Roofline> roofline;  ///< nullopt: there are no counters it could be made from
  Missing roofline_missing{.field = "roofline", .reason = {}, .remedy = {}};  ///< why, then
  std::optional<CriticalPath> critical_path;  ///< nullopt: the times do not tell one
  Missing critical_path_missing{.field = "critical_path", .reason = {}, .remedy = {}};
  std::optional<ThreadTraces> thread_traces;  ///< nullopt: none were given, or none can be used
  Missing thread_traces_missing{
      .field = "thread_traces",
      .reason = "no thread trace was given",
      .remedy = "take one: rocm-perf profile --att; or add one: --att DIR"};  ///< why, then
  std::optional<PcSampling> pc_sampling;  ///< nullopt: no samples were given
  Missing pc_sampling_missing{.field = "pc_sampling",
                              .reason = "no PC samples were given",
                              .remedy = "add them: --pc-samples FILE"};  ///< why, then
};

}  // namespace perflab::analyze
