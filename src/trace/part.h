// A part of a run that is to be read alone: what began in a span of time, or the dispatches of some
// kernels.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "base/text/pattern.h"
#include "trace/trace.h"

namespace perflab::trace {

/// Everything, unless something is set.
struct Part {
  /// Rows that begin in [from, to), in ns since the earliest start of a finished dispatch, copy or
  /// region of all recordings that are read together.
  std::optional<std::int64_t> from = std::nullopt, to = std::nullopt;
  /// Dispatches of kernels in whose names this is found, with their counters, and the calls that
  /// launched them; no copies, allocations and other calls.
  std::optional<Pattern> kernel = std::nullopt;

  [[nodiscard]] bool has_window() const { return from || to; }
  [[nodiscard]] bool is_all() const { return !has_window() && !kernel; }
};

/// A span of the trace clock, in ns: from `begin` on and before `end`.
struct Window {
  std::int64_t begin = std::numeric_limits<std::int64_t>::min();
  std::int64_t end = std::numeric_limits<std::int64_t>::max();

  [[nodiscard]] bool has(std::int64_t time) const { return time >= begin && time < end; }
};

/// The window of a part whose times count from `zero`.
Window window_of(const Part& part, std::int64_t zero);

/// Why rows are not in a Trace of which a part was asked for.
inline constexpr std::string_view kOutsideOfPart =
    "not in the part of the run that was asked for, or not finished";

/// The part of a Trace of a whole run: what reading it alone gives, but for the rows that are
/// counted, and for the calls that teach which stream a handle is (CallArgumentColumns), which were
/// chosen from the whole run. Precondition: a part of it is wanted.
Trace keep_part(const Trace& whole, const Part& part);

}  // namespace perflab::trace
