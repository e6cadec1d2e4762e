// Stability over runs: how far the kernel's runtime moves when the same command is run again
// (docs/models/times.md "Stability").
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/analysis.h"
#include "stats/summary.h"

namespace perflab::analyze {

/// The kernel's time in one run; nullopt when the run has no such kernel.
struct RunTime {
  std::optional<std::int64_t> kernel_total;  ///< ns
  std::uint64_t dispatches = 0;
  std::optional<std::int64_t>
      all_kernels_total;  ///< ns; nullopt when the run left nothing to analyse
};

/// CV = stddev / mean of the runs' kernel totals.
struct RunStability {
  std::vector<RunTime> runs;
  std::optional<double> cv;  ///< nullopt for fewer than two runs with the kernel
  std::optional<stats::Stability> label;
};

/// The total of the kernel with this name in each run; a run without an analysis has no figures.
RunStability measure_stability(const std::vector<std::optional<Analysis>>& runs,
                               const std::string& kernel_name);

/// The run that stands for all: the lower median by the time of all kernels (ties: the earlier
/// run). Precondition: at least one run.
std::size_t representative_run(const std::vector<std::optional<Analysis>>& runs);

}  // namespace perflab::analyze
