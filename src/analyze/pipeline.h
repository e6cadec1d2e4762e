// The pipeline: databases in, an Analysis out; and several runs of one command into one profile.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analyze/analysis.h"
#include "analyze/critical_path/critical_path.h"
#include "analyze/kernels/code_join.h"
#include "analyze/pc_sampling/make_pc_sampling.h"
#include "analyze/stability.h"
#include "base/error.h"
#include "base/text/progress.h"
#include "hal/calibration.h"
#include "hal/measured_roofs.h"
#include "trace/read_options.h"
#include "trace/trace.h"

namespace perflab::analyze {

/// Everything that is concluded from one trace. A trace without dispatches gives an Analysis
/// without a selection; critical path and segments are not in it. `join`: the trace's code objects,
/// where they were found;
/// `roofs`: measured ceilings, used before those of the tables.
Analysis analyze_trace(const trace::Trace& trace, const CodeJoin& join = {},
                       const hal::MeasuredRoofs* roofs = nullptr);

/// A trace and what was concluded from it.
struct AnalyzedTrace {
  trace::Trace trace;
  Analysis analysis;
};

/// How to analyse.
struct AnalyzeOptions {
  unsigned threads = 0;  ///< 0: all cores; the result does not depend on it
  /// Binaries or code objects that hold the kernels, looked at before anything else.
  std::vector<std::filesystem::path> code_files = {};
  bool search_code = true;  ///< look for code objects where the trace names them (code_join.h)
  /// Databases or tables of counter passes of the same command, read together with the databases.
  std::vector<std::filesystem::path> counter_files = {};
  std::optional<hal::MeasuredRoofs> roofs = std::nullopt;  ///< ceilings that were measured
  /// What is known of the counters and ceilings of a GPU; not used for kernels on another one.
  std::optional<hal::Calibration> calibration = std::nullopt;
  bool find_calibration = false;  ///< without one, that of this machine, where it has one
  /// Ceilings by the recorded attributes of the GPU with this number, not by its product's.
  std::optional<int> roofs_device = std::nullopt;
  bool find_critical_path = true;
  bool timeline = false;                   ///< make Analysis::timeline
  CriticalPathOptions critical_path = {};  ///< its `threads` are ignored
  /// Folders with decoded thread traces (or stats files) of dispatches of the same command.
  std::vector<std::filesystem::path> thread_traces = {};
  bool keep_trace_detail = false;  ///< their instructions and waves too, for thread_trace.json
  /// PC samples of the same command: files of rocprofv3, or folders of them.
  std::vector<std::filesystem::path> pc_samples = {};
  std::optional<std::uint64_t> pc_interval = std::nullopt;  ///< as PcSamplesRequest::interval
  std::optional<std::size_t> segment =
      std::nullopt;                ///< analyse only this one of Analysis::segments
  trace::Part part = {};           ///< what of the recordings is read
  trace::MemoryLimit memory = {};  ///< its per_dispatch is ignored
  TellProgress progress = {};
};

/// Reads databases as one trace and analyses it, critical path and segments included. Error
/// (bad_input): a file cannot be used, or there is no kernel dispatch in any of them; (usage):
/// there is no such segment, a --what-if applies to nothing.
Result<AnalyzedTrace> analyze_files(const std::vector<std::filesystem::path>& files,
                                    const AnalyzeOptions& options = {});

/// The analysis of thread traces and PC samples alone: a trace without recordings, and the traced
/// and sampled kernels with their figures and verdicts. Errors: those of att::find, att::read and
/// make_pc_sampling(). Precondition: there is one of either.
Result<AnalyzedTrace> analyze_thread_traces(const AnalyzeOptions& options);

/// Adds thread traces to an analysis of the whole run, which stays as it is but for their figures,
/// warnings and the verdicts: nothing is read or computed again. `losses`: what the profiler's log
/// said was not recorded of them, in sentences; confidence in their figures is then low.
/// `keep_detail` as AnalyzeOptions::keep_trace_detail. Errors,
/// with nothing changed: those of att::find and att::read.
Result<void> add_thread_traces(const std::vector<std::filesystem::path>& places,
                               const std::vector<std::string>& losses, unsigned threads,
                               bool keep_detail, AnalyzedTrace& analyzed);

/// Adds PC samples likewise. Errors, with nothing changed: those of make_pc_sampling().
Result<void> add_pc_samples(const PcSamplesRequest& request, AnalyzedTrace& analyzed);

/// Several runs of the same command. The representative run (see representative_run) stands for
/// all; stability is measured over the totals of its selected kernel.
struct AnalyzedRuns {
  AnalyzedTrace representative;
  std::size_t representative_index = 0;      ///< into the runs given
  RunStability stability;                    ///< one entry per run given
  std::vector<std::optional<Error>> failed;  ///< per run given: why its databases could not be used
};

/// Analyses each run's databases. A run whose databases cannot be used is left out and said so in
/// `failed`; error (of the first) when none can be used. Precondition: at least one run; counter
/// files only with a single one.
Result<AnalyzedRuns> analyze_runs(const std::vector<std::vector<std::filesystem::path>>& runs,
                                  const AnalyzeOptions& options = {});

}  // namespace perflab::analyze
