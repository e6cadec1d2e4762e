// What a user can do about a capture that does not hold what was written.
#pragma once

namespace perflab::capture {

/// The remedy for files that were cut short, altered or damaged.
inline constexpr const char* kTakeAgain =
    "copy the capture again, or take it again with rocm-perf isolate";

}  // namespace perflab::capture
