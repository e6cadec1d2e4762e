// What the tests of thread traces share: reading a folder whole, and sums over its waves.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "att/read_thread_trace.h"

namespace perflab::att {

/// A trace with its waves, by index; a wave that was dropped has no timeline and ends at 0.
struct WholeTrace {
  ThreadTrace trace;
  std::vector<Wave> waves;
  std::vector<bool> visited;
};

/// Finds the only trace of a place and reads it all; a failure is reported.
WholeTrace read_whole(const std::filesystem::path& place, unsigned threads = 1);
/// The error of doing so; reports a failure when it is none, or not one sentence about input.
Error error_of(const std::filesystem::path& place);

/// Hits, latency, stall and idle of each row of the code, from the waves alone.
struct LineSums {
  std::int64_t hits = 0, latency = 0, stall = 0, idle = 0;
  friend bool operator==(const LineSums&, const LineSums&) = default;
};
std::vector<LineSums> sums_over_waves(const WholeTrace& whole);

/// Every figure of a trace and its waves as text, to compare two of them.
std::string dump(const WholeTrace& whole);

}  // namespace perflab::att

namespace perflab::test {

inline std::filesystem::path recorded_traces() {
  return std::filesystem::path(PERFLAB_SHARED_DIR) / "data/att";
}

}  // namespace perflab::test
