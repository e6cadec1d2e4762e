// Metrics and limits of a tuning, from what the user names: --metric, --limit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "tune/evaluate/job.h"
#include "tune/records/recording.h"
#include "tune/values/metrics.h"

namespace perflab::measure {

/// As typed.
struct MetricTexts {
  std::vector<std::string> metrics;  ///< further numbers that the command prints: "NAME:UNIT=REGEX"
  std::vector<std::string> limits;   ///< "power<=400W"
  std::string second_objective;      ///< name of a metric; empty: there is one objective
  bool maximize_second = false;
};

/// The further metrics, with their limits. `recording`: what is searched instead of
/// running commands; null: none. Errors: usage (a text that is not of the form, a limit on a metric
/// that nobody names), bad_input (the recording does not have it).
Result<std::vector<tune::Metric>> metrics_of(const MetricTexts& texts,
                                             const tune::Recording* recording);

/// Of commands that are run. Errors: also usage (what no run can give) and, on this machine,
/// missing_tool (no sensor gives what a limit is on). `gpus`: the numbers that are used here;
/// unset: the commands run on other machines.
Result<std::vector<tune::Metric>> live_metrics(const MetricTexts& texts,
                                               tune::ObjectiveKind objective,
                                               const std::optional<std::vector<std::string>>& gpus);

/// What a journal's measurements must have in common of them: with other limits the same numbers
/// are measured.
std::string metrics_key(const std::vector<tune::Metric>& metrics);

}  // namespace perflab::measure
