// Evaluates one configuration: build, look at the code object, run until the figures are steady,
// check the result. Every step is a process of its own with a time limit; whatever it does, the
// answer is an Evaluation.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "tune/evaluate/job.h"
#include "tune/values/outcome.h"
#include "tune/values/value.h"

namespace perflab::tune {

/// One run that was measured by a profiler: samples in ns, or why there are none.
struct ProfiledRun {
  std::vector<double> samples;
  std::string problem;  ///< empty: none
  bool timed_out = false;
  double wall_seconds = 0;
  std::optional<Outcome> failure{};  ///< what the problem is called; missing: run_failed
  std::optional<Proof> proof{};      ///< of Job::captured
};
/// Runs argv under rocprofv3, or replays Job::captured, and gives the durations of the kernel's
/// dispatches. measure/ has both.
/// Errors only for what would fail every configuration alike (missing_tool, interrupted).
using GpuTimer =
    std::function<Result<ProfiledRun>(const std::vector<std::string>& argv, const Job& job)>;

/// The build step alone: sets outcome compile_failed, timed_out or not_launchable, or leaves the
/// evaluation `correct` without a value. Errors: interrupted, internal.
Result<Evaluation> build(const Job& job);
/// The runs and the check of a job whose build() succeeded; `built` is what build() gave.
Result<Evaluation> run(const Job& job, Evaluation built, const GpuTimer& gpu_timer);

}  // namespace perflab::tune
