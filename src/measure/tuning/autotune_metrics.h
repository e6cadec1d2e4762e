// Metrics and limits of a tuning, from what the user names: --metric, --limit.
#pragma once

#include <vector>

#include "base/error.h"
#include "measure/tuning/autotune.h"
#include "tune/records/recording.h"
#include "tune/values/metrics.h"

namespace perflab::measure {

/// The further metrics of a request, with their limits. `recording`: what is searched instead of
/// running commands; null: none. Errors: usage (a text that is not of the form, a limit on a metric
/// that nobody names), bad_input (the recording does not have it).
Result<std::vector<tune::Metric>> metrics_of(const AutotuneRequest& request,
                                             const tune::Recording* recording);

/// Of commands that are run. Errors: also usage (what no run can give) and, on this machine,
/// missing_tool (no sensor gives what a limit is on).
Result<std::vector<tune::Metric>> live_metrics(const AutotuneRequest& request,
                                               tune::ObjectiveKind objective);

/// The GPUs that are asked for; "all" stands for their numbers.
std::vector<std::string> gpus_of(const AutotuneRequest& request);

/// What a journal's measurements must have in common of them: with other limits the same numbers
/// are measured.
std::string metrics_key(const std::vector<tune::Metric>& metrics);

}  // namespace perflab::measure
