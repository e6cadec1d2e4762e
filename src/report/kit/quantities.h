// Durations, sizes and confidences as people read them.
#pragma once

#include <string>

namespace perflab::report {

/// A duration with three to four digits and its unit: "10.92 us", "123.4 ms"; none behind the
/// point for whole numbers.
std::string duration_text(double nanoseconds);

/// A byte count: "4 MB", "4.10 kB" (decimal).
std::string bytes_text(double bytes);

/// "95 % interval"; "98.3 % interval" where three comparisons share the 95 %.
std::string interval_title(double confidence);

}  // namespace perflab::report
