// What a person sees: the analysis and the profile as aligned text. Colour only where the caller
// says so.
#pragma once

#include <cstddef>
#include <string>

#include "analyze/pipeline.h"
#include "report/profile_document.h"

namespace perflab::report {

/// How to draw.
struct TerminalStyle {
  std::size_t width = 100;     ///< columns
  bool colour = false;         ///< ANSI colours
  std::size_t most_rows = 15;  ///< rows per table; the rest is counted
};

/// A duration with three to four digits and its unit: "10.92 us", "123.4 ms"; none behind the
/// point for whole numbers.
std::string duration_text(double nanoseconds);

/// A byte count: "4 MB", "4.10 kB" (decimal).
std::string bytes_text(double bytes);

/// The whole analysis: recordings, kernels, API calls, copies, counters, what was left out.
std::string analysis_text(const trace::Trace& trace, const analyze::Analysis& analysis,
                          const TerminalStyle& style);

/// The profile of the selected kernel; then its thread trace and what limits it, where those are
/// there, and in a line each those of the other kernels.
std::string profile_text(const ProfileData& data, const TerminalStyle& style);

}  // namespace perflab::report
