// What to find out about a command beside its times, and its profile as measured.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analyze/pipeline.h"
#include "base/error.h"
#include "collect/att_pass.h"
#include "collect/collect.h"
#include "collect/counter_passes.h"
#include "collect/pc_sampling_pass.h"
#include "collect/platform.h"
#include "measure/att_choice.h"

namespace perflab::measure {

/// What to trace with --att; what is unset is chosen (att_choice.h) or rocprofv3's own.
struct AttOptions {
  std::string kernel;                      ///< regex; empty: the one with most critical time
  std::optional<std::uint64_t> iteration;  ///< which of its dispatches, from 1
  int target_cu = 1;                       ///< CU (gfx10 and later: WGP); rocprofv3's own choice
  std::optional<std::uint64_t> shader_engines;  ///< bit mask
  std::optional<std::uint64_t> buffer_bytes;    ///< per shader engine
  bool keep_detail = false;                     ///< analyze::AnalyzeOptions::keep_trace_detail
};

/// How to sample with --pc-sampling, and whose samples are analysed: no profiler samples one kernel
/// alone.
struct PcSamplingOptions {
  collect::PcSamplingWish wish;
  std::string kernel;        ///< regex; empty: the one with most time
  bool all_kernels = false;  ///< all of them instead of one
};

/// The thread trace as it was taken.
struct ThreadTracePass {
  AttChoice choice;
  std::vector<collect::AttRun> runs;  ///< one, or two when the first saw no wave: the last counts
};

/// What to find out beside the times.
struct ProfileOptions {
  std::optional<trace::Platform> platform;     ///< none: found (collect/platform.h)
  bool roofline = false;                       ///< collect rocm-perf's own sets of counters
  std::vector<std::string> counters;           ///< counters of the user's, in addition (or alone)
  std::optional<std::filesystem::path> roofs;  ///< measured ceilings (hal/measured_roofs.h)
  std::optional<int> roofs_device;  ///< row of that file; without one: GPU of the recording
  std::optional<AttOptions> att;    ///< take a thread trace
  std::optional<PcSamplingOptions> pc_sampling;  ///< take PC samples
  bool timeline = false;                         ///< analyze::AnalyzeOptions::timeline
  std::size_t keep_nodes_up_to = 0;              ///< analyze::CriticalPathOptions::keep_nodes_up_to
  unsigned threads = 0;                          ///< to read with; 0: all cores

  [[nodiscard]] bool wants_counters() const { return roofline || !counters.empty(); }
};

/// A profile as measured. `analyzed` is empty with --no-rocprof, and when no run left a database
/// that can be used; then `problem` says why (for --no-rocprof only if the process itself failed).
/// Where counters were wanted and there are none, its roofline_missing and `warnings` say why;
/// where a thread trace or PC samples were, its thread_traces_missing or pc_sampling_missing and
/// `warnings` do. The rest of the profile
/// is whole all the same.
struct Profile {
  collect::Collection collection;
  collect::ChosenPlatform platform;
  std::optional<collect::CounterCollection> counters;  ///< nullopt: none were collected
  std::optional<ThreadTracePass> thread_trace;         ///< nullopt: none was taken
  std::optional<collect::PcSamplingRun> pc_sampling;   ///< nullopt: nothing was run for samples
  std::optional<analyze::AnalyzedRuns> analyzed;
  std::vector<std::optional<std::size_t>>
      analyzed_index;  ///< per run of the collection: place in analyzed, if any
  std::vector<std::string> warnings;
  std::optional<Error> problem;  ///< the exit code must tell it, whatever could be saved
};

}  // namespace perflab::measure
