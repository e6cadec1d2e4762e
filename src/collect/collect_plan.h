// What to collect: the target, how often and how long it may run, and what is recorded of it.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text/progress.h"
#include "collect/run_folder.h"
#include "trace/trace.h"

namespace perflab::collect {

/// What to collect.
struct CollectPlan {
  std::vector<std::string> target;                   ///< program and arguments, taken as they are
  int runs = 1;                                      ///< at least 1
  std::optional<std::chrono::milliseconds> timeout;  ///< per run; none: as long as it takes
  std::filesystem::path root = kProfileRoot;         ///< see make_collection_folder
  bool no_rocprof = false;                           ///< time the process alone: no GPU figures
  trace::Platform platform = trace::Platform::amd;   ///< decides what records (recorder.h)
  std::vector<std::string> trace_options = {"--kernel-trace", "--hip-trace", "--memory-copy-trace",
                                            "--marker-trace"};
  std::vector<std::string> extra_options;  ///< the user's own, for rocprofv3
  /// CUDA: samples PCs beside what is recorded: "default", or n from 5 to 31 for samples 2^n cycles
  /// apart; empty: none. pc_sampling::read() takes the database.
  std::string cuda_pc_sampling;
  /// Of the target and of what records it, added to ours.
  std::vector<std::pair<std::string, std::string>> environment = {};

  /// Time that a stopped target gets between SIGTERM (SIGINT for Ctrl-C) and the next, harder
  /// signal. rocprofv3 writes its database in that time.
  std::chrono::milliseconds grace{30'000};
  /// Time that children may outlive the target; they may still be writing their databases.
  std::chrono::milliseconds linger{10'000};

  /// Shows the run and passes on the target's stdout and stderr (both to the line's descriptor:
  /// stdout is for data). Null: nothing is shown.
  ProgressLine* progress = nullptr;
};

}  // namespace perflab::collect
