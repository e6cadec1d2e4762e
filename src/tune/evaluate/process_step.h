// One process of an evaluation: the build, a run, or the check. Its input is empty, its output is
// kept to the end of what it says, and it is ended as a group at its time limit.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/system/sandbox.h"

namespace perflab::tune {

struct StepOptions {
  std::vector<std::pair<std::string, std::string>> environment;  ///< added to ours
  std::optional<double> limit_seconds;
  /// Output as it comes: 1 is stdout, 2 is stderr.
  std::function<void(int stream, std::string_view)> on_stream;
  Confinement confinement{};
};

/// How it ended.
struct StepEnd {
  bool succeeded = false;
  bool timed_out = false;
  std::string detail;  ///< one line, empty when it succeeded: "exited with code 1: error: ..."
  double seconds = 0;  ///< wall time of the process itself
};

/// Runs it to its end. What the program does is no error, nor that it cannot be started. Errors:
/// interrupted, internal.
Result<StepEnd> run_step(const std::vector<std::string>& argv, const StepOptions& options);

/// The variables that choose a GPU for HIP programs, beside ROCR_VISIBLE_DEVICES: the ones to be
/// removed when `environment` chooses one.
std::vector<std::string> device_variables_to_remove(
    const std::vector<std::pair<std::string, std::string>>& environment);

/// Text of a program as one line of UTF-8: blanks for line ends and control characters, '?' for
/// what is no UTF-8, cut after a few hundred bytes.
std::string one_line(std::string_view text);

/// What a program's output says went wrong: the first line with "error" in it, else the last line
/// that is not empty; as one_line().
std::string telling_line(std::string_view output);

}  // namespace perflab::tune
