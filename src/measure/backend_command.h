// Timing a command: by a number that it prints, or by its wall time as seen from outside.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "measure/backend.h"

namespace perflab::measure {

struct CommandBackendOptions {
  /// RE2 with one group around the number, tried on every line of both streams; every match of a
  /// run is a sample. Empty: the wall time of the process, in s.
  std::string metric_pattern{};
  std::string metric_unit{};  ///< of the number; may be empty
  bool larger_is_better = false;
  std::optional<std::chrono::milliseconds> time_limit{};  ///< of one run
  /// Sees what a timed run prints, as it comes: 1 is stdout, 2 is stderr.
  std::function<void(int stream, std::string_view)> on_stream{};
};

/// The backend's names, by what it takes its number from.
inline constexpr std::string_view kMetricBackend = "command (metric)";
inline constexpr std::string_view kWallTimeBackend = "command (wall time)";

/// One measurement is one run of Variant::command: empty input, own session, ended with its
/// children. A run that fails, hangs or prints no number is the variant's failure. Errors: usage
/// (the pattern; a direction or unit without one). Those of measure(): interrupted, internal.
Result<std::unique_ptr<Backend>> make_command_backend(const CommandBackendOptions& options);

}  // namespace perflab::measure
