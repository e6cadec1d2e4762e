// Tables of counters that are absurd, repeat themselves or each other: what is refused and why, and
// that nothing is left out without being counted.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "trace/counter_csv_checks.h"

namespace perflab::trace {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class CounterCsvLimits : public CounterCsv {
 protected:
  /// Files a.csv, b.csv, ... of these texts.
  Paths write_all(const std::vector<std::string>& texts) {
    Paths files;
    for (const std::string& text : texts)
      files.push_back(
          folder_.write(fmt::format("{}.csv", static_cast<char>('a' + files.size())), text));
    return files;
  }
  /// One error, whatever order the files come in: `part` is a part of `whole`.
  static void expect_part(Paths files, const fs::path& part, const fs::path& whole) {
    std::ranges::sort(files);
    do {
      const Error error = error_of(files);
      EXPECT_EQ(error.message,
                fmt::format("{}: is a part of the merged table {}, so that its values would count "
                            "twice: leave one of the two out",
                            part.string(), whole.string()));
      EXPECT_THAT(error.remedy, HasSubstr("no merged table together with its parts"));
    } while (std::ranges::next_permutation(files).found);
  }
};

/// A merged table of so many passes with one counter each, and one row.
std::string table_of_passes(int passes) {
  std::string header = ",C_0", values = ",1000";
  for (int i = 1; i < passes; ++i) {
    header += fmt::format(",Wave_Size_{0},C_X{0}", i);
    values += fmt::format(",64,{}", 1000 + i);
  }
  return wide_table(header, {wide_row(0, values)});
}

TEST_F(CounterCsvLimits, AMergedTableHasAtMost1024Passes) {
  const Trace most = read_text(table_of_passes(1024));
  EXPECT_EQ(most.sources.size(), 1024U);
  EXPECT_EQ(most.counters.size(), 1024U);
  EXPECT_EQ(sums_of(most, "C_X1023"), (Sums{{0, 2023}}));
  EXPECT_EQ(message_of(table_of_passes(1025)), "has more than 1024 passes side by side");
  EXPECT_EQ(message_of(table_of_passes(20'000)), "has more than 1024 passes side by side");
}

TEST_F(CounterCsvLimits, ATableHasAtMost1024RecordingsAnd256Gpus) {
  const auto rows = [](int count, auto&& change) {
    std::vector<RocprofRow> all;
    for (int i = 0; i < count; ++i) change(all.emplace_back(RocprofRow{.dispatch = i}), i);
    return rocprof_table(all);
  };
  const auto processes = [](RocprofRow& row, int i) { row.pid = i; };
  EXPECT_EQ(read_text(rows(1024, processes)).sources.size(), 1024U);
  EXPECT_EQ(message_of(rows(1025, processes)),
            "holds more than 1024 recordings (processes, or GUIDs)");
  const auto agents = [](RocprofRow& row, int i) { row.agent = fmt::format("Agent {}", i); };
  EXPECT_EQ(read_text(rows(256, agents)).agents.size(), 256U);
  EXPECT_EQ(message_of(rows(257, agents)), "names more than 256 GPUs");
}

TEST_F(CounterCsvLimits, ANodeHasAtMost256Agents) {
  const auto info = [](int agents) {
    std::string text = "Node_Id,Agent_Type,Name\n";
    for (int i = 0; i < agents; ++i) text += fmt::format("{},GPU,gfx942\n", i);
    return text;
  };
  const fs::path table = folder_.write("1_counter_collection.csv", rocprof_table({{}}));
  ASSERT_FALSE(folder_.write("1_agent_info.csv", info(256)).empty());
  EXPECT_EQ(read_paths({table}).agents.at(0).name, "gfx942");
  const fs::path machine = folder_.write("1_agent_info.csv", info(257));
  EXPECT_EQ(error_of({table}).message, machine.string() + ": has more than 256 agents");
}

TEST_F(CounterCsvLimits, AValueHas64Bits) {
  const auto table = [](std::string_view value) {
    return wide_table(",SQ_WAVES", {wide_row(0, ",5"), wide_row(1, fmt::format(",{}", value))});
  };
  // 2^64 is what 2^64 - 1 is as a double.
  EXPECT_EQ(sums_of(read_text(table("18446744073709551615")), "SQ_WAVES"),
            (Sums{{0, 5}, {1, 0x1p64}}));
  for (const std::string_view value : {"1.8446744073709556e19", "1.85e19", "1e200"})
    EXPECT_EQ(
        message_of(table(value)),
        fmt::format("line 3, column SQ_WAVES: \"{}\" is more than any counter can hold", value));
  for (const std::string_view value : {"inf", "-inf", "nan", "1e309"})
    EXPECT_EQ(message_of(table(value)),
              fmt::format("line 3, column SQ_WAVES: \"{}\" is not a number", value));
}

TEST_F(CounterCsvLimits, AColumnStandsInATableOnce) {
  const auto twice = [](std::string_view column) {
    std::string text(kRocprofHeader);
    text.insert(text.size() - 1, fmt::format(",{}", column));
    std::string row = text_of({});
    row.insert(row.size() - 1, ",1");
    return text + row;
  };
  for (const std::string_view column :
       {"Counter_Value", "Counter_Name", "Dispatch_Id", "Start_Timestamp", "Kernel_Name"})
    EXPECT_EQ(message_of(twice(column)), fmt::format("has two columns {}", column));
  EXPECT_EQ(message_of(wide_table(",SQ_WAVES,PID", {wide_row(0, ",1,1")})), "has two columns PID");
  EXPECT_EQ(message_of(wide_table(",TCC_HIT[0],TCC_HIT[0]", {wide_row(0, ",1,1")})),
            "has two columns TCC_HIT[0]");
}

/// Two passes side by side: what a pass's table says, with other times and without its queue.
const std::string kMergedHeader =
    "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,"
    "Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES,SQ_BUSY_CYCLES,SQ_IFETCH,"
    "Wave_Size_1,SQ_WAVES_1,TCC_HIT_sum,TCC_MISS_sum,TCC_BUBBLE_sum\n";
const std::string kMerged = kMergedHeader + "0,0,1024,64,0,0,k,1500,1600,16,100,7,64,16,30,4,0\n" +
                            "1,0,1024,64,0,0,k,1700,1800,16,120,8,64,16,31,5,0\n";
constexpr std::string_view kFirst = ",SQ_WAVES,SQ_BUSY_CYCLES,SQ_IFETCH";
constexpr std::string_view kSecond = ",SQ_WAVES,TCC_HIT_sum,TCC_MISS_sum,TCC_BUBBLE_sum";

TEST_F(CounterCsvLimits, AMergedTableIsNotReadBesideItsParts) {
  const std::string first =
      wide_table(kFirst, {wide_row(0, ",16,100,7"), wide_row(1, ",16,120,8")});
  const std::string second =
      wide_table(kSecond, {wide_row(0, ",16,30,4,0", "k", 7), wide_row(1, ",16,31,5,0", "k", 9)});
  const Paths files = write_all({first, second, kMerged});
  expect_part({files[0], files[2]}, files[0], files[2]);
  expect_part({files[1], files[2]}, files[1], files[2]);
  expect_part(files, files[0], files[2]);
  EXPECT_EQ(sums_of(read_paths({files[0], files[1]}), "TCC_HIT_sum"), (Sums{{0, 30}, {1, 31}}));
  EXPECT_EQ(sums_of(read_paths({files[2]}), "TCC_HIT_sum"), (Sums{{0, 30}, {1, 31}}));
  // In the order of ids, whatever the means made of the order in time.
  const Paths late = write_all(
      {wide_table(kFirst, {wide_row(0, ",16,100,7", "k", 5000), wide_row(1, ",16,120,8")}),
       kMerged});
  expect_part(late, late[0], late[1]);
  // A part that lost a counter is one still.
  const Paths fewer =
      write_all({wide_table(",SQ_IFETCH", {wide_row(0, ",7"), wide_row(1, ",8")}), kMerged});
  expect_part(fewer, fewer[0], fewer[1]);
  // Another merged table of the same passes.
  std::string copy = kMerged;
  copy.replace(copy.find("1500"), 4, "1501");
  const Paths both = write_all({kMerged, copy});
  expect_part(both, both[0], both[1]);
}

TEST_F(CounterCsvLimits, OtherPassesAndRunsAreReadBesideAMergedTable) {
  const std::vector<std::pair<std::string, std::string>> others = {
      {"one value is another one",
       wide_table(kFirst, {wide_row(0, ",16,100,7"), wide_row(1, ",16,121,8")})},
      {"a counter that the pass does not have",
       wide_table(",SQ_WAVES,SQ_IFETCH,TCC_HIT_sum",
                  {wide_row(0, ",16,7,30"), wide_row(1, ",16,8,31")})},
      {"the waves alone", wide_table(",SQ_WAVES", {wide_row(0, ",16"), wide_row(1, ",16")})},
      {"the waves, and what did not happen",
       wide_table(",SQ_WAVES,TCC_BUBBLE_sum", {wide_row(0, ",16,0"), wide_row(1, ",16,0")})},
      {"another kernel",
       wide_table(kFirst, {wide_row(0, ",16,100,7"), wide_row(1, ",16,120,8", "other")})},
      {"fewer dispatches", wide_table(kFirst, {wide_row(0, ",16,100,7")})},
      {"no counters", wide_table("", {wide_row(0, ""), wide_row(1, "")})},
      {"a merged table with one new pass",
       wide_table(fmt::format("{},Wave_Size_1,SQ_INSTS", kFirst),
                  {wide_row(0, ",16,100,7,64,900"), wide_row(1, ",16,120,8,64,901")})},
  };
  for (const auto& [what, text] : others) {
    const Paths files = write_all({text, kMerged});
    EXPECT_GT(read_paths(files).sources.size(), 2U) << what;
    EXPECT_GT(read_paths({files[1], files[0]}).sources.size(), 2U) << what;
  }
  // Without a merged table among them equal counters are those of another run.
  const Paths runs = write_all({wide_table(kFirst, {wide_row(0, ",16,100,7")}),
                                wide_table(kFirst, {wide_row(0, ",16,100,7", "k", 5)})});
  EXPECT_EQ(read_paths(runs).sources.size(), 2U);
}

/// Every row of a table is a value of a dispatch in the trace, or counted as dropped.
TEST_F(CounterCsvLimits, EveryRowIsReadOrCounted) {
  const Trace trace =
      read_text(rocprof_table({{.dispatch = 1},
                               {.dispatch = 2, .start = 0},
                               {.dispatch = 3, .start = 3000, .length = -1},
                               {.dispatch = 3, .counter = "SQ_INSTS", .start = 3000, .length = -1},
                               {.dispatch = 4, .value = "", .start = 4000},
                               {.dispatch = 5, .counter = "TCC_HIT[1]", .start = 5000},
                               {.dispatch = 6, .counter = "SQ_ACCUM_PREV_HIRES", .start = 6000},
                               {.dispatch = 7, .counter = "TCC_HIT", .start = 7000},
                               {.dispatch = 7, .counter = "TCC_HIT[0]", .start = 7000}}));
  EXPECT_EQ(sums_of(trace, "SQ_WAVES"), (Sums{{1, 64}}));
  EXPECT_EQ(sums_of(trace, "TCC_HIT"), (Sums{{7, 64}}));
  // A dispatch stays when only its values are left out.
  EXPECT_EQ(trace.dispatches.size(), 5U);
  EXPECT_EQ(dropped(trace, "counter_table",
                    "unfinished dispatch: no start time, or its end is before its start"),
            2U);
  EXPECT_EQ(dropped(trace, "counter_table", "value of an unfinished dispatch"), 3U);
  EXPECT_EQ(dropped(trace, "counter_table", "counter without a value"), 1U);
  std::uint64_t values = 0;
  for (const auto& [key, many] : trace.report.dropped) {
    EXPECT_EQ(key.first, "counter_table");
    values += many;
  }
  EXPECT_EQ(values - 2 + trace.counters.size(), trace.report.rows.at("counter_table"));
}

TEST_F(CounterCsvLimits, ADispatchThatIsDroppedIsCountedInEveryPass) {
  const Trace trace = read_text(
      "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,"
      "Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES,Wave_Size_1,TCC_HIT\n"
      "0,0,64,64,0,0,k,10,20,1,64,2\n1,0,64,64,0,0,k,30,25,3,64,4\n2,0,64,64,0,0,k,40,50,,64,6\n");
  EXPECT_EQ(trace.dispatches.size(), 4U);
  EXPECT_EQ(dropped(trace, "counter_table",
                    "unfinished dispatch: no start time, or its end is before its start"),
            2U);
  EXPECT_EQ(dropped(trace, "counter_table", "value of an unfinished dispatch"), 2U);
  EXPECT_EQ(dropped(trace, "counter_table", "counter without a value"), 1U);
}

}  // namespace
}  // namespace perflab::trace
