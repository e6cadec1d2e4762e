// Collecting: runs the target under `rocprofv3 --kernel-trace --hip-trace --memory-copy-trace
// --marker-trace -f rocpd`, or on NVIDIA's GPUs with librocm_perf_record.so inside, once per run,
// each in its own fresh folder, and reports how every run ended and which databases it left. What a
// failed, hanging or interrupted run left is kept. Nothing here prints, nothing reads a database.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/system/subprocess.h"
#include "collect/collect_plan.h"
#include "collect/rocprofv3.h"
#include "collect/run_folder.h"

namespace perflab::collect {

/// One run of the target: how it ended and what it left.
struct TargetRun {
  int number = 0;                ///< from 1
  std::filesystem::path folder;  ///< absolute; empty when nothing is recorded
  ProcessResult process;  ///< wall_time includes rocprofv3's own time: a figure of the target only
                          ///< without it. error.tail holds the end of stdout and stderr together.
  std::vector<DatabaseFile> databases;  ///< one per process of the target that used a GPU
  std::vector<std::string> rejected;  ///< files of a database's name that are none, with the reason

  /// It ended well and left something to analyse (or was to be timed only).
  [[nodiscard]] bool complete() const {
    return process.succeeded() && (folder.empty() || !databases.empty());
  }
};

/// What was collected. With `problem` set the last run went wrong (or was stopped) and the runs
/// after it were not started; what there is can still be analysed, and must be called partial.
struct Collection {
  bool traced = false;                 ///< false: --no-rocprof, there are no GPU figures
  std::optional<Rocprofv3> rocprofv3;  ///< set when traced by it
  trace::Platform platform = trace::Platform::amd;
  std::filesystem::path folder;  ///< ".rocpd_profile/NNNN", absolute; empty when not traced
  int runs_wanted = 0;
  std::vector<TargetRun> runs;     ///< in order; only the last can be incomplete
  std::optional<Error> problem;    ///< target_failed, bad_input (no database) or interrupted
  std::vector<std::string> notes;  ///< sentences for people: what was odd about a run

  [[nodiscard]] int complete_runs() const;
  [[nodiscard]] bool has_databases() const;
};

/// Runs the plan. Errors, with nothing to salvage:
/// - usage: no target, the target does not exist or cannot be executed (the command line names it,
///   nothing was run), runs < 1, a place that cannot be written, an option that is ours to set;
/// - missing_tool: rocprofv3 is not there, cannot be started, or is too old for what is needed; the
///   recording library is not there;
/// - interrupted: Ctrl-C before the first run.
/// A regular file on our standard input is read by every run from the same place; a pipe is
/// consumed by the first run.
Result<Collection> collect(const CollectPlan& plan);

}  // namespace perflab::collect
