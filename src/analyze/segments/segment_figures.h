// The segments of a run with their figures: work, periods, warm-up, spread, and what is different
// in the slowest.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace perflab::analyze {

/// More segments than these are not kept: nobody reads them, and a step that short is a kernel.
inline constexpr std::size_t kMostSegments = 100'000;

/// One occurrence of the phase. Its dispatches and copies are those launched inside of it (user
/// ranges), or those of its stretch of the sequence and the copies next to them.
struct Segment {
  std::string label;                ///< text of its range; empty for a found one
  std::int64_t start = 0, end = 0;  ///< ns, trace clock: first begin to last end of its work
  std::int64_t period = 0;  ///< ns from its start to the start of the next; the last: its length
  /// ns: its range; for a found one from its first launch to that of the next (launches not
  /// recorded: its work). Host calls that start in here are of it.
  std::int64_t host_start = 0, host_end = 0;
  std::uint64_t dispatches = 0;
  std::int64_t kernel_time = 0;  ///< sum over its dispatches
  std::int64_t busy = 0;         ///< time with at least one dispatch or copy of it running
  bool warm_up = false;
};

/// How a kernel, a kind of copy or the idle time differs in the slowest segment from the others.
struct SegmentDifference {
  trace::Index kernel = trace::kNone;     ///< strings; kNone: the time in which nothing ran
  bool copy = false;                      ///< `kernel` is a kind of copy
  std::int64_t time = 0, usual_time = 0;  ///< ns in the slowest; median over other steady ones
  std::uint64_t count = 0;                ///< dispatches or copies in the slowest
  double usual_count = 0;                 ///< median over other steady ones
};

/// Spread over the periods of the segments that are not warm-up. The last one has no next one: it
/// counts only when its length alone is more than every other period, and no segment's work reaches
/// into the next one's (then a length says nothing about a period).
struct SegmentSpread {
  std::uint64_t count = 0;
  std::int64_t min = 0, max = 0;
  double median = 0, mean = 0;
  std::optional<double> cv;
};

struct Segments {
  enum class Source : std::uint8_t { ranges, dispatches };
  Source source = Source::dispatches;
  trace::Index process = trace::kNone;  ///< whose segments these are
  std::string pattern;    ///< ranges: their text with numbers as '#'; dispatches: the kernel that
                          ///< each begins with
  double regularity = 0;  ///< share of segments (without warm-up) with the usual dispatches, 0 to 1
  std::vector<Segment> segments;               ///< in time order
  std::uint64_t warm_up = 0;                   ///< leading segments that are
  SegmentSpread spread;                        ///< of their periods
  std::optional<std::size_t> slowest;          ///< index into segments, not warm-up
  std::vector<SegmentDifference> differences;  ///< largest difference first, at most ten
  std::uint64_t dispatches_outside = 0;        ///< dispatches of the process in no segment
  /// By dispatch and copy of the trace: index into segments, kNone: of none (or another process).
  std::vector<trace::Index> of_dispatch, of_copy;
};

/// Sum of times from 0 that stops at the largest: damaged recordings have such times.
inline std::int64_t add_times(std::int64_t a, std::int64_t b) {
  return a > std::numeric_limits<std::int64_t>::max() - b ? std::numeric_limits<std::int64_t>::max()
                                                          : a + b;
}

/// Measures: everything else of Segments. Drops segments without dispatches, orders by start.
void measure_segments(const trace::Trace& trace, Segments& segments);

}  // namespace perflab::analyze
