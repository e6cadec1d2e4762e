// Durations as people type them on a command line.
#pragma once

#include <chrono>
#include <string_view>

#include "base/error.h"

namespace perflab {

/// Reads "90" (seconds), "500ms", "1.5s", "10m", "2h". Error (usage) for anything else, zero and
/// below included.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);

/// Reads a short time: "0", "500ns", "5us", "1.5ms", "2s". Error (usage) for anything else, below
/// zero and above an hour included.
Result<std::chrono::nanoseconds> parse_short_time(std::string_view text);

}  // namespace perflab
