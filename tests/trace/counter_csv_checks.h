// What the tests of tables of counters share: tables as text, reading them, and sums by dispatch.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/temp_folder.h"
#include "trace/trace.h"
#include "trace/trace_checks.h"

namespace perflab::trace {

extern const std::string_view kRocprofHeader;

/// A row of rocprofv3's counter_collection.csv.
struct RocprofRow {
  int dispatch = 1;
  std::string counter = "SQ_WAVES";
  std::string value = "64";
  std::string kernel = "axpy(float*)";
  int start = 1000;
  int length = 100;
  std::string agent = "Agent 1";
  int pid = 77;
};
std::string text_of(const RocprofRow& row);
std::string rocprof_table(const std::vector<RocprofRow>& rows);

/// One row of rocprof-compute's wide table: the facts about a dispatch, then the values. It starts
/// at 1000 + 100 * dispatch + `delay`.
std::string wide_row(int dispatch, std::string_view values, std::string_view kernel = "k",
                     int delay = 0);
/// The table: `counters` are further columns (",SQ_WAVES").
std::string wide_table(std::string_view counters, const std::vector<std::string>& rows);

/// "SQ_WAVES" -> sums by dispatch number, over all recordings.
using Sums = std::map<std::int64_t, double>;
Sums sums_of(const Trace& trace, std::string_view counter);

class CounterCsv : public testing::Test {
 protected:
  /// Reads files; a failure is reported, and the Trace is then empty.
  static Trace read_paths(const Paths& files);
  Trace read_text(std::string_view text) { return read_paths({folder_.write("t.csv", text)}); }
  /// The error of reading files; reports a failure when it is none, or not one sentence about
  /// input.
  static Error error_of(const Paths& files);
  /// The message behind "<path>: ".
  std::string message_of(std::string_view text);

  test::TempFolder folder_;
};

}  // namespace perflab::trace
