// What counter passes left, whoever collected them: counter_passes.h and cuda_counters.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/system/subprocess.h"
#include "collect/run_folder.h"

namespace perflab::collect {

/// One start of the target with a set of counters.
struct CounterPass {
  int number = 0;                       ///< from 1, as in the folder's name
  std::vector<std::string> counters;    ///< asked for
  std::filesystem::path folder;         ///< ".../counters/pass_N"; missing when nothing was left
  std::vector<DatabaseFile> databases;  ///< one per process of the target that used a GPU
  std::vector<std::string> rejected;  ///< files of a database's name that are none, with the reason
};

/// What was collected. With `problem` set a pass went wrong or the collection was stopped: the last
/// pass that left databases may then be incomplete, and those after it are missing.
struct CounterCollection {
  std::filesystem::path folder;       ///< ".rocpd_profile/NNNN/counters"
  std::filesystem::path job_file;     ///< in it; empty on CUDA
  std::vector<CounterPass> passes;    ///< all that were planned, in order
  ProcessResult process;              ///< of the one call of rocprofv3
  std::vector<std::string> refusals;  ///< what rocprofv3 said it cannot count, each sentence once
  std::vector<std::string> notes;     ///< sentences for people: what was odd
  /// target_failed, interrupted, bad_input (a pass left no database), missing_tool (rocprofv3
  /// cannot count a set).
  std::optional<Error> problem;

  [[nodiscard]] std::size_t passes_with_databases() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        passes, [](const CounterPass& pass) { return !pass.databases.empty(); }));
  }
};

}  // namespace perflab::collect
