// Tables of counters that the tests write: what each column becomes, which sums are made and which
// are not, and what is said about tables that are wrong.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>

#include "trace/counter_csv/read_counter_csv.h"
#include "trace/counter_csv_checks.h"
#include "trace/trace_checks.h"

namespace perflab::trace {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(CounterCsv, EveryColumnOfRocprofv3HasItsPlace) {
  const Trace trace = read_text(rocprof_table(
      {{.dispatch = 4, .kernel = "gemm<int, 2>(float const*, char)", .start = 5000}}));
  ASSERT_EQ(trace.sources.size(), 1U);
  const Source& source = trace.sources[0];
  EXPECT_EQ(source.collector, "rocprofv3");
  EXPECT_EQ(source.guid, "");
  EXPECT_TRUE(source.counter_table && source.flat_sizes && source.times_known);
  EXPECT_FALSE(source.pass);
  ASSERT_EQ(trace.dispatches.size(), 1U);
  EXPECT_EQ(trace.dispatches.start[0], 5000);
  EXPECT_EQ(trace.dispatches.end[0], 5100);
  EXPECT_EQ(trace.dispatches.dispatch_id[0], 4);
  EXPECT_EQ(trace.dispatches.launch[0], kNone);
  EXPECT_EQ(kernel_name(trace, 0), "gemm<int, 2>(float const*, char)");
  const KernelSymbol& kernel = trace.kernel_symbols.at(0);
  EXPECT_EQ(kernel.id, 12);
  EXPECT_TRUE(kernel.known);
  EXPECT_EQ(kernel.arch_vgprs, 32);
  EXPECT_EQ(kernel.accum_vgprs, 4);
  EXPECT_EQ(kernel.sgprs, 48);
  EXPECT_EQ(kernel.mangled_name, 0U);
  const LaunchConfig& config = trace.launch_configs.at(0);
  EXPECT_THAT(config.grid, ElementsAre(4096, 1, 1));
  EXPECT_THAT(config.workgroup, ElementsAre(256, 1, 1));
  EXPECT_EQ(config.lds_bytes, 512U);
  EXPECT_EQ(config.scratch_bytes, 16U);
  EXPECT_EQ(trace.processes.at(0).pid, 77);
  EXPECT_EQ(trace.threads.at(0).tid, 77);
  EXPECT_EQ(trace.queues.at(0).id, 3);
  ASSERT_EQ(trace.agents.size(), 1U);
  EXPECT_EQ(trace.agents[0].type, "GPU");
  EXPECT_EQ(trace.agents[0].id, 1);
  EXPECT_EQ(trace.agents[0].name, "");
  EXPECT_EQ(trace.agents[0].facts, AgentFacts{});
  EXPECT_EQ(sums_of(trace, "SQ_WAVES"), (Sums{{4, 64}}));
  EXPECT_EQ(trace.report.rows.at("counter_table"), 1U);
}

TEST_F(CounterCsv, RocprofComputesRegistersAreNotBelieved) {
  const Trace trace = read_text(wide_table(",SQ_WAVES", {wide_row(0, ",16", "_Z1kv.kd")}));
  const KernelSymbol& kernel = trace.kernel_symbols.at(0);
  EXPECT_EQ(kernel.arch_vgprs, std::nullopt);
  EXPECT_EQ(kernel.sgprs, std::nullopt);
  EXPECT_EQ(trace.strings.view(kernel.name), "_Z1kv");
  EXPECT_EQ(trace.strings.view(kernel.mangled_name), "_Z1kv");
}

TEST_F(CounterCsv, RowsOfOneCounterAreItsInstances) {
  const Trace trace = read_text(rocprof_table({{.counter = "GRBM_GUI_ACTIVE", .value = "10.5"},
                                               {.counter = "SQ_WAVES", .value = "4"},
                                               {.counter = "GRBM_GUI_ACTIVE", .value = "30"},
                                               {.counter = "GRBM_GUI_ACTIVE", .value = "20"}}));
  EXPECT_EQ(sums_of(trace, "GRBM_GUI_ACTIVE"), (Sums{{1, 60.5}}));
  const CounterColumns& all = trace.counters;
  ASSERT_EQ(all.size(), 2U);
  EXPECT_THAT(all.instances, ElementsAre(3, 1));
  EXPECT_EQ(all.min[0], 10.5);
  EXPECT_EQ(all.max[0], 30);
}

TEST_F(CounterCsv, TheOrderOfRowsAndFilesChangesNothing) {
  std::vector<RocprofRow> rows;
  for (int dispatch = 1; dispatch <= 6; ++dispatch)
    for (int counter = 0; counter < 5; ++counter)
      for (int instance = 0; instance < 3; ++instance)
        rows.push_back({.dispatch = dispatch,
                        .counter = fmt::format("C_{}", counter),
                        .value = fmt::format("{}", 0.1 * (dispatch + counter) + instance / 3.0),
                        .kernel = dispatch % 2 == 0 ? "a" : "b",
                        .start = 1000 * (dispatch / 2),
                        .agent = dispatch % 3 == 0 ? "Agent 2" : "Agent 1",
                        .pid = 70 + dispatch % 2});
  const std::vector<std::string> wide = {wide_row(0, ",1,2"), wide_row(1, ",3,4"),
                                         wide_row(2, ",5,6")};
  const fs::path first = folder_.write("a.csv", rocprof_table(rows));
  const fs::path second = folder_.write("b.csv", wide_table(",SQ_WAVES,X_Y", wide));
  const std::string expected = dump(read_paths({first, second}));
  EXPECT_THAT(expected, HasSubstr("source"));
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::ranges::shuffle(rows, random);
    std::vector<std::string> shuffled = wide;
    std::ranges::shuffle(shuffled, random);
    ASSERT_EQ(folder_.write("a.csv", rocprof_table(rows)), first);
    ASSERT_EQ(folder_.write("b.csv", wide_table(",SQ_WAVES,X_Y", shuffled)), second);
    EXPECT_EQ(dump(read_paths(round % 2 == 0 ? Paths{second, first} : Paths{first, second})),
              expected);
  }
}

TEST_F(CounterCsv, ProcessesAndGuidsAreRecordings) {
  const Trace processes = read_text(rocprof_table(
      {{.dispatch = 1, .value = "3", .pid = 8}, {.dispatch = 1, .value = "4", .pid = 9}}));
  EXPECT_EQ(processes.sources.size(), 2U);
  EXPECT_EQ(processes.dispatches.size(), 2U);

  const std::string header =
      "GPU_ID,GUID,Dispatch_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,"
      "Kernel_Name,Start_Timestamp,End_Timestamp,Counter_Name,Counter_Value\n";
  const Trace guids = read_text(header + "0,aa,0,64,64,0,0,k,10,20,SQ_WAVES,1\n" +
                                "0,bb,0,64,64,0,0,k,30,40,SQ_WAVES,2\n");
  ASSERT_EQ(guids.sources.size(), 2U);
  EXPECT_EQ(guids.sources[0].guid, "aa");
  EXPECT_EQ(guids.sources[1].guid, "bb");
  EXPECT_EQ(guids.agents.size(), 1U);
}

TEST_F(CounterCsv, ARecordingGivenTwiceIsAnError) {
  const std::string text = rocprof_table({{.dispatch = 1}, {.dispatch = 2}});
  const fs::path a = folder_.write("a.csv", text);
  const fs::path b = folder_.write("b.csv", text);
  EXPECT_EQ(error_of({a, b}).message,
            fmt::format("{}: holds the same recording as {}", b.string(), a.string()));
  EXPECT_EQ(error_of({b, a}).message, error_of({a, b}).message);
  EXPECT_THAT(error_of({a, a}).message, HasSubstr("holds the same recording as"));
  // Another run of the same program is another recording.
  const fs::path c =
      folder_.write("c.csv", rocprof_table({{.dispatch = 1}, {.dispatch = 2, .length = 101}}));
  EXPECT_EQ(read_paths({a, c}).sources.size(), 2U);
}

TEST_F(CounterCsv, PassesSideBySideAreRecordings) {
  const Trace trace = read_text(wide_table(
      ",SQ_WAVES,TCC_A[1],TCC_A[0],Wave_Size_1,Correlation_ID_1,XCC_Index,SQ_INSTS,"
      "Kernel_ID_4,GRBM_GUI_ACTIVE,SQ_WAVES_4",
      {wide_row(0, ",16,3,4,64,0,0,100,7,999,17"), wide_row(1, ",26,5,6,64,0,0,200,7,888,27")}));
  ASSERT_EQ(trace.sources.size(), 3U);
  EXPECT_EQ(trace.dispatches.size(), 6U);
  EXPECT_EQ(sums_of(trace, "TCC_A"), (Sums{{0, 7}, {1, 11}}));
  EXPECT_EQ(sums_of(trace, "SQ_INSTS"), (Sums{{0, 100}, {1, 200}}));
  // The counter of two passes; each pass has its own.
  EXPECT_EQ(sums_of(trace, "SQ_WAVES"), (Sums{{0, 33}, {1, 53}}));
  EXPECT_TRUE(sums_of(trace, "SQ_WAVES_4").empty());
  EXPECT_EQ(trace.report.dropped, (std::map<ReadReport::Key, std::uint64_t>{}));
}

TEST_F(CounterCsv, ChannelsAddUpOnlyWhenAllAreThere) {
  const auto read_with = [&](std::string_view sysinfo, std::string_view columns,
                             std::string_view values) {
    const fs::path folder = folder_ / "machine";
    fs::remove_all(folder);
    fs::create_directory(folder);
    std::ofstream(folder / "pmc_perf.csv") << wide_table(columns, {wide_row(0, values)});
    if (!sysinfo.empty()) std::ofstream(folder / "sysinfo.csv") << sysinfo;
    return read_paths({folder / "pmc_perf.csv"});
  };
  const std::string_view four = "gpu_arch,total_l2_chan\ngfx90a,4\n";
  const std::string_view all = ",TCC_HIT[0],TCC_HIT[1],TCC_HIT[2],TCC_HIT[3]";
  EXPECT_EQ(sums_of(read_with(four, all, ",1,2,3,4"), "TCC_HIT"), (Sums{{0, 10}}));
  EXPECT_EQ(sums_of(read_with("", all, ",1,2,3,4"), "TCC_HIT"), (Sums{{0, 10}}));

  // The last channel is missing, which only the machine's file tells.
  const std::string_view three = ",TCC_HIT[0],TCC_HIT[1],TCC_HIT[2]";
  EXPECT_EQ(sums_of(read_with("", three, ",1,2,3"), "TCC_HIT"), (Sums{{0, 6}}));
  const Trace short_of = read_with(four, three, ",1,2,3");
  EXPECT_TRUE(sums_of(short_of, "TCC_HIT").empty());
  EXPECT_EQ(dropped(short_of, "counter_table",
                    "TCC_HIT: only 3 of 4 channels are there, so there is no total"),
            3U);
  // Other blocks' instances are not L2 channels.
  EXPECT_EQ(sums_of(read_with(four, ",TA_BUSY[0],TA_BUSY[1]", ",1,2"), "TA_BUSY"), (Sums{{0, 3}}));

  const Trace gap = read_with("", ",TCC_HIT[0],TCC_HIT[2]", ",1,3");
  EXPECT_TRUE(sums_of(gap, "TCC_HIT").empty());
  EXPECT_EQ(dropped(gap, "counter_table",
                    "TCC_HIT: only 2 of 3 channels are there, so there is no total"),
            2U);
  const Trace empty = read_with(four, all, ",1,,3,4");
  EXPECT_TRUE(sums_of(empty, "TCC_HIT").empty());
  EXPECT_EQ(dropped(empty, "counter_table", "counter without a value"), 1U);
  const Trace too_many = read_with("gpu_arch,total_l2_chan\ngfx90a,2\n",
                                   ",TCC_HIT[0],TCC_HIT[1],TCC_HIT[2]", ",1,2,3");
  EXPECT_TRUE(sums_of(too_many, "TCC_HIT").empty());
  // The total is not counted once more.
  const Trace both = read_with("", ",TCC_HIT,TCC_HIT[0],TCC_HIT[1]", ",30,10,20");
  EXPECT_EQ(sums_of(both, "TCC_HIT"), (Sums{{0, 30}}));
  EXPECT_EQ(both.report.dropped.size(), 1U);
}

TEST_F(CounterCsv, TheAccumulatorNeedsExactlyOneLevelCounter) {
  const auto accumulated = [&](std::string_view counters, std::string_view values) {
    return read_text(wide_table(fmt::format("{},SQ_ACCUM_PREV_HIRES", counters),
                                {wide_row(0, fmt::format("{},500", values))}));
  };
  EXPECT_EQ(sums_of(accumulated(",SQ_LEVEL_WAVES,SQ_WAVES", ",5,6"), "SQ_LEVEL_WAVES_ACCUM"),
            (Sums{{0, 500}}));
  EXPECT_EQ(
      sums_of(accumulated(",SQC_ICACHE_INFLIGHT_LEVEL", ",5"), "SQC_ICACHE_INFLIGHT_LEVEL_ACCUM"),
      (Sums{{0, 500}}));
  const std::string why =
      "SQ_ACCUM_PREV_HIRES next to no level counter, or to several: it is unknown which it belongs "
      "to";
  for (const auto& [counters, values] : std::vector<std::pair<std::string, std::string>>{
           {",SQ_WAVES", ",6"},
           {",SQ_LEVEL_WAVES,SQ_IFETCH_LEVEL", ",5,6"},
           {",SQ_LEVEL_WAVES,SQ_LEVEL_WAVES_ACCUM", ",5,6"}}) {
    const Trace trace = accumulated(counters, values);
    EXPECT_EQ(dropped(trace, "counter_table", why), 1U) << counters;
    EXPECT_TRUE(sums_of(trace, "SQ_ACCUM_PREV_HIRES").empty());
    EXPECT_EQ(sums_of(trace, "SQ_LEVEL_WAVES_ACCUM").contains(0),
              counters.find("_ACCUM") != std::string::npos);
  }
}

TEST_F(CounterCsv, TimesWithoutTheirDigitsOnlyOrder) {
  const auto table = [](const std::vector<std::string>& times) {
    std::string text =
        "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,"
        "Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES\n";
    for (std::size_t i = 0; i < times.size(); ++i)
      text += fmt::format("{},0,64,64,0,0,k,{},{}\n", times.size() - i, times[i], 10 + i);
    return text;
  };
  const auto known = [](const Trace& trace) { return trace.sources.at(0).times_known; };

  const Trace lost = read_text(table({"8.1097E+14,8.1097E+14", "8.1097E+14,8.1098E+14"}));
  EXPECT_FALSE(known(lost));
  EXPECT_THAT(lost.dispatches.start, ElementsAre(810970000000000, 810970000000000));
  EXPECT_EQ(lost.dispatches.end, lost.dispatches.start);
  EXPECT_THAT(lost.dispatches.dispatch_id, ElementsAre(1, 2));

  const Trace whole = read_text(table({"8497326606250386,8.497326606269586E+15", "5.5,9.25"}));
  EXPECT_TRUE(known(whole));
  EXPECT_THAT(whole.dispatches.start, ElementsAre(6, 8497326606250386));
  EXPECT_THAT(whole.dispatches.end, ElementsAre(9, 8497326606269586));

  // All of length 0, and no times at all: nothing was timed.
  EXPECT_FALSE(known(read_text(table({"100,100", "200,200"}))));
  const Trace zeros = read_text(table({"0,0", "0,0", "0,0"}));
  EXPECT_FALSE(known(zeros));
  EXPECT_THAT(zeros.dispatches.dispatch_id, ElementsAre(1, 2, 3));
  const Trace none = read_text(
      "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,"
      "Kernel_Name,SQ_WAVES\n1,0,64,64,0,0,k,7\n0,0,64,64,0,0,k,5\n");
  EXPECT_FALSE(known(none));
  EXPECT_THAT(none.dispatches.dispatch_id, ElementsAre(0, 1));
  EXPECT_EQ(sums_of(none, "SQ_WAVES"), (Sums{{0, 5}, {1, 7}}));
}

TEST_F(CounterCsv, UnfinishedDispatchesAreCounted) {
  const Trace trace =
      read_text(rocprof_table({{.dispatch = 1}, {.dispatch = 2, .start = 2000, .length = -10}}));
  EXPECT_EQ(trace.dispatches.size(), 1U);
  EXPECT_EQ(sums_of(trace, "SQ_WAVES"), (Sums{{1, 64}}));
  EXPECT_EQ(dropped(trace, "counter_table",
                    "unfinished dispatch: no start time, or its end is before its start"),
            1U);
  EXPECT_EQ(dropped(trace, "counter_table", "value of an unfinished dispatch"), 1U);
}

TEST_F(CounterCsv, Rocprofv3sAgentsComeFromTheFileBeside) {
  const std::string info =
      "\"Node_Id\",\"Logical_Node_Id\",\"Agent_Type\",\"Cu_Count\",\"Num_Xcc\",\"Lds_Size_In_Kb\","
      "\"Max_Engine_Clk_Fcompute\",\"Gfx_Target_Version\",\"Device_Id\",\"Name\",\"Product_Name\","
      "\"Model_Name\"\n"
      "0,0,\"CPU\",64,1,0,3000,0,0,\"EPYC\",\"EPYC\",\"\"\n"
      "4,1,\"GPU\",304,8,64,2100,90402,29857,\"gfx942\",\"AMD Instinct MI300X\",\"\"\n"
      "6,2,\"GPU\",104,1,64,0,90010,29711,\"gfx90a\",\"MI210\",\"\"\n";
  const auto name_with = [&](const std::string& agent) {
    const fs::path table =
        folder_.write("9_counter_collection.csv", rocprof_table({{.agent = agent}}));
    return read_paths({table}).agents.at(0);
  };
  EXPECT_EQ(name_with("Agent 1").name, "");
  EXPECT_FALSE(folder_.write("9_agent_info.csv", info).empty());
  EXPECT_FALSE(folder_.write("8_agent_info.csv", "not,for\nthis,one\n").empty());
  const Agent mi300x = name_with("Agent 1");
  EXPECT_EQ(mi300x.name, "gfx942");
  EXPECT_EQ(mi300x.product, "AMD Instinct MI300X");
  EXPECT_EQ(mi300x.id, 4);
  EXPECT_EQ(mi300x.facts.compute_units, 304);
  EXPECT_EQ(mi300x.facts.xcc_count, 8);
  EXPECT_EQ(mi300x.facts.lds_bytes_per_cu, 65536);
  EXPECT_EQ(mi300x.facts.target_version, 90402);
  EXPECT_EQ(mi300x.facts.simds_per_cu, std::nullopt);
  EXPECT_EQ(name_with("Agent 2").name, "gfx90a");
  EXPECT_EQ(name_with("Agent 2").facts.clock_mhz, std::nullopt);
  EXPECT_EQ(name_with("Agent 4").name, "gfx942");  // --agent-index absolute
  EXPECT_EQ(name_with("GPU 1").name, "gfx90a");    // --agent-index type-relative
  EXPECT_EQ(name_with("Agent 0").name, "");        // a CPU runs no kernels
  EXPECT_EQ(name_with("Agent 9").id, 9);
}

TEST_F(CounterCsv, TheFileAboutTheMachineIsNamedWhenItIsBroken) {
  const fs::path table =
      folder_.write("pmc_perf.csv", wide_table(",SQ_WAVES", {wide_row(0, ",1")}));
  for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
           {"", "has no header line"},
           {"a,b\n1,2\n", "has no column gpu_arch"},
           {"gpu_arch,cu_per_gpu\n", "has a header line only"},
           {"gpu_arch,cu_per_gpu\n,1\n", "column gpu_arch is empty"},
           {"gpu_arch,cu_per_gpu\ngfx942,many\n",
            "line 2, column cu_per_gpu: \"many\" is not a number"},
           {"gpu_arch,total_l2_chan\ngfx942,-1\n", "is below 0"}}) {
    const fs::path sysinfo = folder_.write("sysinfo.csv", text);
    const std::string found = error_of({table}).message;
    EXPECT_THAT(found, StartsWith(sysinfo.string() + ": "));
    EXPECT_THAT(found, HasSubstr(message));
  }
  EXPECT_FALSE(folder_.write("sysinfo.csv", "gpu_arch,cu_per_gpu,max_sclk\ngfx942,N/A,\n").empty());
  EXPECT_EQ(read_paths({table}).agents.at(0).name, "gfx942");
  EXPECT_EQ(read_paths({table}).agents.at(0).facts, AgentFacts{});
  fs::remove(folder_ / "sysinfo.csv");
  fs::create_directory(folder_ / "sysinfo.csv");
  EXPECT_THAT(error_of({table}).message, HasSubstr("sysinfo.csv: is not a file"));
}

TEST_F(CounterCsv, FoldersOfPassesAreKept) {
  fs::create_directories(folder_ / "pmc_3");
  std::ofstream(folder_ / "pmc_3/1_counter_collection.csv") << rocprof_table({{}});
  EXPECT_EQ(read_paths({folder_ / "pmc_3/1_counter_collection.csv"}).sources.at(0).pass, 3);
}

TEST_F(CounterCsv, QuotesLineEndsAndABomAreReadAlike) {
  const std::string text = rocprof_table({{.kernel = "f(\"\"x\"\", 1)"}, {.dispatch = 2}});
  std::string dos = "\xEF\xBB\xBF" + text;
  for (std::size_t at = 0; (at = dos.find('\n', at)) != std::string::npos; at += 2)
    dos.replace(at, 1, "\r\n");
  const std::string expected = dump(read_text(text));
  EXPECT_EQ(dump(read_text(dos)), expected);
  EXPECT_EQ(kernel_name(read_text(dos), 0), "f(\"x\", 1)");
}

TEST_F(CounterCsv, WhatIsNeitherADatabaseNorATableIsSaidSo) {
  for (const std::string_view text :
       {"hello\n", "a,b\n1,2\n", "\"\n", "\n\n", "Dispatch_ID,Kernel_Name,GPU_ID\n0,k,0\n"}) {
    EXPECT_EQ(message_of(text), "is not an SQLite database, nor a table of counters (CSV)");
    EXPECT_THAT(error_of({folder_ / "bad.csv"}).remedy, HasSubstr("counter_collection.csv"));
  }
  EXPECT_EQ(message_of(""), "is empty (0 bytes)");
  EXPECT_THAT(error_of({folder_.path()}).message, HasSubstr("is a folder"));
  EXPECT_THAT(error_of({folder_ / "none.csv"}).message, HasSubstr("no such file"));
}

/// The table with one text in place of another.
std::string with(std::string text, std::string_view what, std::string_view by) {
  const std::size_t at = text.rfind(what);
  EXPECT_NE(at, std::string::npos) << what;
  if (at != std::string::npos) text.replace(at, what.size(), by);
  return text;
}

TEST_F(CounterCsv, BadTablesAreOneErrorThatNamesThePlace) {
  const std::string good = rocprof_table({{.dispatch = 1}, {.dispatch = 2}});
  const std::vector<std::pair<std::string, std::string>> cases = {
      {with(good, "Grid_Size", "Size"), "has no column Grid_Size"},
      {with(good, "Counter_Value", "Value"), "has no column Counter_Value"},
      {with(good, "Counter_Name", "Name"), "has no column Counter_Name"},
      {with(good, "End_Timestamp", "End"), "has no column End_Timestamp"},
      {with(good, ",64,", ",x,"), "line 3, column Counter_Value: \"x\" is not a number"},
      {with(good, ",64,", ",nan,"), "line 3, column Counter_Value: \"nan\" is not a number"},
      {with(good, ",64,", ",1e999,"), "line 3, column Counter_Value: \"1e999\" is not a number"},
      {with(good, ",64,", ",1.85e19,"),
       "line 3, column Counter_Value: \"1.85e19\" is more than any counter can hold"},
      {with(good, ",64,", ",inf,"), "line 3, column Counter_Value: \"inf\" is not a number"},
      {with(good, ",64,", ",-1,"), "line 3, column Counter_Value: \"-1\" is below 0"},
      {with(good, ",4096,", ",-4096,"), "line 3, column Grid_Size: \"-4096\" is below 0"},
      {with(good, ",4096,", ",4.5,"), "line 3, column Grid_Size: \"4.5\" is not a whole number"},
      {with(good, ",4096,", ",4294967296,"),
       "line 3, column Grid_Size: \"4294967296\" is more than a dispatch can have"},
      {with(good, ",1000,", ",-1000,"), "line 3, column Start_Timestamp: \"-1000\" is below 0"},
      {with(good, ",1000,", ",,"), "line 3, column Start_Timestamp: \"\" is not a number"},
      {with(good, "Agent 1", "CPU 1"), "line 3, column Agent_Id: \"CPU 1\" names no GPU"},
      {with(good, "\"axpy(float*)\"", ""), "line 3: dispatch 2 has no kernel name"},
      {with(good, "\"SQ_WAVES\"", ""), "line 3 has no counter name"},
      {with(good, "\"SQ_WAVES\"", "\"SQ_WAVES"), "the quote of line 3 is never closed"},
      {with(good, ",64,", ",64,1,"), "line 3 has 20 fields, the header has 19"},
      {good + text_of({.dispatch = 1, .kernel = "other"}),
       "dispatch 1 of line 4 is another one than that of line 2"},
      {good + text_of({.dispatch = 1, .start = 999}),
       "dispatch 1 of line 4 is another one than that of line 2"},
      {wide_table(",SQ_WAVES", {wide_row(0, ",1"), wide_row(1, ",2"), wide_row(0, ",1")}),
       "the dispatch of line 4 is in an earlier line as well"},
      {wide_table(",SQ_WAVES,SQ_WAVES", {wide_row(0, ",1,1")}), "has two columns SQ_WAVES"},
      {wide_table(",SQ_WAVES", {wide_row(0, ",many")}),
       "line 2, column SQ_WAVES: \"many\" is not a number"},
      {with(wide_table(",SQ_WAVES", {}), "GPU_ID", "GPU"), "has no column GPU_ID"},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(message_of(text), message);
}

TEST_F(CounterCsv, ColumnsThatAreNoCountersAreCounted) {
  const Trace trace = read_text(wide_table(",SQ_WAVES,Unnamed: 0,", {wide_row(0, ",1,x,y")}));
  EXPECT_EQ(sums_of(trace, "SQ_WAVES"), (Sums{{0, 1}}));
  EXPECT_EQ(dropped(trace, "counter_table", "column that is named like no counter"), 2U);
}

TEST_F(CounterCsv, ATableWithoutRowsIsATraceWithoutDispatches) {
  EXPECT_EQ(read_text(kRocprofHeader).dispatches.size(), 0U);
  EXPECT_EQ(read_text(wide_table(",SQ_WAVES", {})).dispatches.size(), 0U);
}

TEST_F(CounterCsv, DatabasesAndTablesAreOneTrace) {
  test::RocpdWriter writer(folder_ / "a.db", {});
  add_machine(writer);
  const test::Id level = writer.counter({.name = "SQ_IFETCH_LEVEL"});
  const test::Id other = writer.counter({.name = "SQ_LEVEL_WAVES"});
  const test::Id accumulator = writer.counter({.name = "SQ_ACCUM_PREV_HIRES"});
  const test::Written named = writer.dispatch(dispatch_at(0));
  const test::Written several = writer.dispatch(dispatch_at(5000));
  const test::Written nameless = writer.dispatch(dispatch_at(9000));
  for (const test::Id event : {named.event, several.event, nameless.event})
    writer.counter_values(event, accumulator, std::array<double, 2>{300, 200});
  for (const test::Id event : {named.event, several.event}) writer.counter_value(event, level, 7);
  writer.counter_value(several.event, other, 9);
  finish(writer);
  const fs::path table = folder_.write("t.csv", rocprof_table({{.dispatch = 1, .value = "5"}}));
  const Trace trace = read_paths({table, folder_ / "a.db"});
  ASSERT_EQ(trace.sources.size(), 2U);
  EXPECT_FALSE(trace.sources[0].counter_table);
  EXPECT_TRUE(trace.sources[1].counter_table);
  EXPECT_EQ(trace.dispatches.size(), 4U);
  EXPECT_EQ(sums_of(trace, "SQ_WAVES"), (Sums{{1, 5}}));
  // The accumulator of a database is named in the same way, dispatch by dispatch.
  EXPECT_EQ(sums_of(trace, "SQ_IFETCH_LEVEL_ACCUM").size(), 1U);
  EXPECT_EQ(sums_of(trace, "SQ_IFETCH_LEVEL_ACCUM").begin()->second, 500);
  EXPECT_TRUE(sums_of(trace, "SQ_ACCUM_PREV_HIRES").empty());
  EXPECT_EQ(dropped(trace, "pmc_event",
                    "SQ_ACCUM_PREV_HIRES next to no level counter, or to several: it is unknown "
                    "which it belongs "
                    "to"),
            2U);
}

/// A bad byte, a cut, a piece twice: an error or a trace whose indices are all good, never a crash.
TEST_F(CounterCsv, MutationsAreReadOrRefused) {
  std::vector<std::string> seeds = {
      rocprof_table({{.dispatch = 1}, {.dispatch = 1, .counter = "TCC_HIT[0]"}, {.dispatch = 2}}),
      wide_table(",TCC_HIT[0],SQ_ACCUM_PREV_HIRES,Wave_Size_1,SQ_LEVEL_WAVES",
                 {wide_row(0, ",1,2,64,3"), wide_row(1, ",4,5,64,6")})};
  std::mt19937 random(11);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  const std::string_view bytes = ",\"\n\r-.eE0194[]_x \0";
  std::size_t read_well = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text = seeds[below(seeds.size())];
    for (std::size_t edits = 1 + below(3); edits > 0 && !text.empty(); --edits) {
      const std::size_t at = below(text.size());
      const std::size_t size = below(12);
      if (below(3) == 0)
        text.erase(at, size);
      else if (below(2) == 0)
        text.insert(at, text.substr(below(text.size()), size));
      else
        text[at] = bytes[below(bytes.size())];
    }
    Trace trace;
    LoadState state(trace);
    auto recordings =
        counter_csv::parse({.text = text, .name = "m.csv", .machine_text = {}, .machine_name = {}});
    if (!recordings) {
      ASSERT_EQ(recordings.error().code, ErrorCode::bad_input);
      ASSERT_TRUE(is_one_sentence(recordings.error().message)) << recordings.error().message;
      continue;
    }
    if (!counter_csv::load(state, std::move(*recordings))) continue;
    finish(state);
    ++read_well;
    for (const Index dispatch : trace.counters.dispatch)
      ASSERT_LT(dispatch, trace.dispatches.size());
    for (const std::int64_t start : trace.dispatches.start) ASSERT_GT(start, 0);
    ASSERT_FALSE(dump(trace).empty());
  }
  EXPECT_GT(read_well, 400U);
}

}  // namespace
}  // namespace perflab::trace
