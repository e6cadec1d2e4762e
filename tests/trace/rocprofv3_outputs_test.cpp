// rocprofv3's own JSON and its CSV tables: a random run means the same in every form; recorded
// files against figures of another program; what is damaged is one clear sentence.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/text/json.h"
#include "support/described_run.h"
#include "support/prng.h"
#include "trace/read/file_kind.h"
#include "trace/read/read_trace.h"
#include "trace/rocprofv3_json/read_rocprofv3_json.h"
#include "trace/trace_checks.h"

namespace perflab::trace {
namespace {

namespace fs = std::filesystem;

/// Reads files of any kind. A failure is reported, and the Trace is then empty.
Trace read_any(const Paths& files) {
  auto trace = read(files);
  if (!trace) {
    ADD_FAILURE() << trace.error().message;
    return {};
  }
  return std::move(*trace);
}

Error error_of_any(const Paths& files) {
  auto trace = read(files);
  if (trace) {
    ADD_FAILURE() << "could be read";
    return {};
  }
  EXPECT_EQ(trace.error().code, ErrorCode::bad_input);
  EXPECT_TRUE(is_one_sentence(trace.error().message)) << trace.error().message;
  return trace.error();
}

/// What a comparison leaves out, because a form does not have it.
struct Shared {
  bool json = true;  ///< also what JSON has and CSV has not
};

std::string text_of(const Trace& t, Index string) {
  return std::string(t.strings.view(string));
}

std::string track_text(const Trace& t, Index track, bool thread) {
  const Track& k = t.tracks[track];
  return fmt::format(
      "agent {} {} queue {} stream {} thread {}", k.agent == kNone ? -1 : t.agents[k.agent].id,
      k.agent == kNone ? "" : t.agents[k.agent].type, k.queue == kNone ? -1 : t.queues[k.queue].id,
      k.stream == kNone ? -1 : t.streams[k.stream].id,
      !thread || k.thread == kNone ? -1 : t.threads[k.thread].tid);
}

std::string region_text(const Trace& t, Index region, bool json) {
  if (region == kNone) return "none";
  const bool marker = t.strings.view(t.regions.category[region]).starts_with("MARKER");
  return fmt::format("{} {} {}-{} thread {}",
                     marker && !json ? "" : text_of(t, t.regions.name[region]),
                     text_of(t, t.regions.category[region]), t.regions.start[region],
                     t.regions.end[region], t.threads[t.regions.thread[region]].tid);
}

/// Every fact that the forms share, a line each.
std::string facts_of(const Trace& t, Shared shared) {
  std::string out;
  const auto line = [&](const std::string& text) { out += text + "\n"; };
  for (std::size_t i = 0; i < t.dispatches.size(); ++i) {
    const KernelSymbol& k = t.kernel_symbols[t.dispatches.kernel[i]];
    const LaunchConfig& c = t.launch_configs[t.dispatches.config[i]];
    line(fmt::format(
        "dispatch {} {}-{} {} {} {} {}/{}/{} grid {} {} {} group {} {} {} lds {} by {}",
        t.dispatches.dispatch_id[i], t.dispatches.start[i], t.dispatches.end[i], text_of(t, k.name),
        shared.json ? text_of(t, k.mangled_name) : "", track_text(t, t.dispatches.track[i], true),
        *k.sgprs, *k.arch_vgprs, *k.accum_vgprs, c.grid[0], c.grid[1], c.grid[2], c.workgroup[0],
        c.workgroup[1], c.workgroup[2], c.lds_bytes,
        region_text(t, t.dispatches.launch[i], shared.json)));
  }
  for (Index i = 0; i < t.regions.size(); ++i)
    line(fmt::format("region {} in {}", region_text(t, i, shared.json),
                     shared.json ? region_text(t, t.regions.parent[i], true) : ""));
  for (std::size_t i = 0; i < t.copies.size(); ++i)
    line(fmt::format("copy {}-{} {} {} from {} {} by {}", t.copies.start[i], t.copies.end[i],
                     text_of(t, t.copies.kind[i]), shared.json ? t.copies.bytes[i] : 0,
                     t.agents[t.copies.source_agent[i]].id,
                     track_text(t, t.copies.track[i], shared.json),
                     region_text(t, t.copies.launch[i], shared.json)));
  for (std::size_t i = 0; i < t.allocations.size(); ++i)
    line(fmt::format("memory {}-{} {} {} {} {} agent {}", t.allocations.start[i],
                     t.allocations.end[i], text_of(t, t.allocations.type[i]),
                     text_of(t, t.allocations.level[i]), t.allocations.address[i],
                     t.allocations.bytes[i], t.agents[t.allocations.agent[i]].id));
  for (std::size_t i = 0; i < t.counters.size(); ++i)
    line(fmt::format("counter {} {} {} {}", t.counters.dispatch[i],
                     text_of(t, t.counter_infos[t.counters.counter[i]].name), t.counters.sum[i],
                     shared.json ? fmt::format("{} {} {}", t.counters.instances[i],
                                               t.counters.min[i], t.counters.max[i])
                                 : ""));
  for (std::size_t i = 0; i < t.ranges.region.size(); ++i)
    line(fmt::format("text {} {}", t.ranges.region[i], text_of(t, t.ranges.message[i])));
  if (!shared.json) return out;
  for (std::size_t i = 0; i < t.call_arguments.size(); ++i)
    line(fmt::format("argument {} {} {}", t.call_arguments.region[i], t.call_arguments.has[i],
                     t.call_arguments.stream[i]));
  return out;
}

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

class Rocprofv3Outputs : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              fmt::format("outputs_{}_{}", ::getpid(),
                          testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string json_error(std::string text) {
    Trace trace;
    LoadState state(trace);
    const auto done = rocprofv3_json::load_text(state, std::move(text), "a.json");
    EXPECT_FALSE(done.has_value());
    if (done) return {};
    EXPECT_EQ(done.error().code, ErrorCode::bad_input);
    EXPECT_TRUE(is_one_sentence(done.error().message)) << done.error().message;
    return done.error().message;
  }

  fs::path folder_;
};

TEST_F(Rocprofv3Outputs, AllFormsMeanTheSame) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    test::Prng random(seed);
    const test::DescribedRun run = test::random_run(random);
    const fs::path folder = folder_ / std::to_string(seed);
    fs::create_directories(folder);
    const auto written = test::write_rocpd(run, folder / "a_results.db");
    ASSERT_TRUE(written.has_value()) << written.error().message;
    write_file(folder / "a_results.json", test::json_of(run));
    fs::path any;
    for (const auto& [name, text] : test::csv_of(run)) {
      any = folder / fmt::format("{}_{}.csv", run.pid, name);
      write_file(any, text);
    }
    const Trace database = read_any({folder / "a_results.db"});
    const Trace json = read_any({folder / "a_results.json"});
    ASSERT_EQ(facts_of(json, {}), facts_of(database, {})) << "seed " << seed;
    EXPECT_EQ(json.report.dropped, (std::map<ReadReport::Key, std::uint64_t>{}));
    if (run.calls.empty()) continue;
    const Trace table = read_any({any});
    ASSERT_EQ(facts_of(table, {.json = false}), facts_of(database, {.json = false}))
        << "seed " << seed;
    for (Index i = 0; i < table.regions.size(); ++i) {
      const std::string kind = text_of(table, table.regions.category[i]);
      if (kind.starts_with("MARKER_CORE")) {
        EXPECT_EQ(text_of(table, table.regions.name[i]), kind);
      }
    }
    // A folder, or all of its tables, is the same recording once.
    EXPECT_EQ(dump(read_any({folder})), dump(table));
    Paths all;
    for (const auto& [name, text] : test::csv_of(run))
      if (name != "agent_info") all.push_back(folder / fmt::format("{}_{}.csv", run.pid, name));
    EXPECT_EQ(dump(read_any(all)), dump(table));
  }
}

TEST_F(Rocprofv3Outputs, SaysWhoRanAndWhat) {
  test::Prng random(3);
  const test::DescribedRun run = test::random_run(random);
  write_file(folder_ / "a.json", test::json_of(run));
  const Trace trace = read_any({folder_ / "a.json"});
  ASSERT_EQ(trace.processes.size(), 1U);
  EXPECT_EQ(trace.processes[0].pid, run.pid);
  EXPECT_EQ(trace.processes[0].command, "/app/demo -n 3");
  ASSERT_EQ(trace.nodes.size(), 1U);
  EXPECT_EQ(trace.nodes[0].hostname, "node0");
  EXPECT_EQ(trace.nodes[0].machine_id, "0000");
  EXPECT_EQ(trace.agents.size(), 3U);
  EXPECT_EQ(trace.agents[1].facts.compute_units, 304);
  EXPECT_EQ(trace.sources[0].collector, "rocprofv3");
  EXPECT_EQ(kind_of_file(folder_ / "a.json"), FileKind::rocprofv3_json);
  EXPECT_TRUE(is_recording(folder_ / "a.json"));
  fs::copy_file(folder_ / "a.json", folder_ / "b.json");
  EXPECT_NE(error_of_any({folder_ / "b.json", folder_ / "a.json"}).message.find("given already"),
            std::string::npos);
}

TEST_F(Rocprofv3Outputs, PcSamplesAreForAnotherOption) {
  const fs::path table = folder_ / "a_pc_sampling_host_trap.csv";
  write_file(table,
             "\"Sample_Timestamp\",\"Exec_Mask\",\"Dispatch_Id\",\"Instruction\"\n1,1,1,\"a\"\n");
  EXPECT_EQ(kind_of_file(table), FileKind::pc_samples);
  EXPECT_FALSE(is_recording(table));
  const Error error = error_of_any({table});
  EXPECT_NE(error.message.find("is a table of PC samples"), std::string::npos);
  EXPECT_NE(error.remedy.find("--pc-samples"), std::string::npos);
}

TEST_F(Rocprofv3Outputs, ArgumentsOfRcclCallsAreKept) {
  test::DescribedRun run;
  run.threads = {run.pid};
  run.calls.push_back({.kind = "RCCL_API_EXT",
                       .name = "ncclAllReduce",
                       .message = {},
                       .start = 5'000'000'000'000,
                       .end = 5'000'000'001'000,
                       .thread = run.pid,
                       .id = 1,
                       .arguments = {{"count", "1024"},
                                     {"datatype", "ncclFloat32"},
                                     {"comm", "0x55aa"},
                                     {"stream", "0x10"}}});
  write_file(folder_ / "a.json", test::json_of(run));
  const Trace trace = read_any({folder_ / "a.json"});
  ASSERT_EQ(trace.communications.size(), 1U);
  const Communication& said = trace.communications[0];
  EXPECT_TRUE(said.of_region);
  EXPECT_EQ(trace.strings.view(trace.regions.name[said.row]), "ncclAllReduce");
  EXPECT_EQ(said.count, 1024);
  EXPECT_EQ(trace.strings.view(said.data_type), "ncclFloat32");
  // An address means something in its process alone: it is no group that ranks share.
  EXPECT_EQ(trace.strings.view(said.handle), "0x55aa");
  EXPECT_EQ(said.group, kNone);
  EXPECT_EQ(said.stream, 16);
}

TEST_F(Rocprofv3Outputs, DamageIsOneSentence) {
  EXPECT_NE(json_error("").find("is empty"), std::string::npos);
  EXPECT_NE(json_error("[1]").find("no object"), std::string::npos);
  EXPECT_NE(json_error("{\"a\":1}").find("rocprofiler-sdk-tool"), std::string::npos);
  EXPECT_NE(json_error("{\"rocprofiler-sdk-tool\":[]}").find("no recording"), std::string::npos);
  test::Prng random(5);
  const std::string whole = test::json_of(test::random_run(random));
  for (const std::size_t share : {1U, 3U, 7U, 9U})
    EXPECT_NE(json_error(whole.substr(0, whole.size() * share / 10)).find("only a part"),
              std::string::npos);
}

TEST_F(Rocprofv3Outputs, SectionsStandInAnyOrder) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    test::Prng random(seed);
    const std::string text = test::json_of(test::random_run(random));
    write_file(folder_ / "a.json", text);
    Json turned = Json::parse(text);
    Json& sections = turned["rocprofiler-sdk-tool"][0]["buffer_records"];
    Json last_first = Json::object();
    for (std::size_t i = sections.size(); i-- > 0;) {
      const auto section = std::next(sections.begin(), static_cast<std::ptrdiff_t>(i));
      if (!section->empty()) last_first[section.key()] = *section;
    }
    sections = std::move(last_first);
    write_file(folder_ / "b.json", turned.dump());
    ASSERT_EQ(facts_of(read_any({folder_ / "b.json"}), {}),
              facts_of(read_any({folder_ / "a.json"}), {}))
        << "seed " << seed;
  }
}

TEST_F(Rocprofv3Outputs, TextsMayEndInBackslashes) {
  const std::string text =
      R"({"rocprofiler-sdk-tool":[{"metadata":{"pid":1,"command":["a\\\\","\\\"","\\"]}}]})";
  write_file(folder_ / "a.json", text);
  EXPECT_EQ(read_any({folder_ / "a.json"}).processes[0].command, R"(a\\ \" \)");
  for (const std::string_view wrong :
       {R"("a\\\")", R"("a)", R"(\"a")", R"(12"a")", R"("a"12)", R"("a" "b")", R"([1,])", R"([,1])",
        R"({"a"})", R"({"a":})", R"({1:2})", R"([1:2])", R"({"a":1,})", R"([1}])"}) {
    const std::string command = R"("command":["a\\\\","\\\"","\\"])";
    std::string damaged = text;
    damaged.replace(damaged.find(command), command.size(), fmt::format("\"a\":{}", wrong));
    EXPECT_NE(json_error(damaged).find("is not JSON"), std::string::npos) << damaged;
  }
}

TEST_F(Rocprofv3Outputs, RowsThatAreBrokenAreCounted) {
  write_file(
      folder_ / "a.json",
      R"({"rocprofiler-sdk-tool":[{"metadata":{"pid":1,"init_time":5},"buffer_records":{)"
      R"("kernel_dispatch":[3,{"start_timestamp":"x"},{"start_timestamp":9,"end_timestamp":4,)"
      R"("dispatch_info":{"kernel_id":1,"dispatch_id":1,"private_segment_size":0,)"
      R"("group_segment_size":0,"workgroup_size":{"x":1,"y":1,"z":1},)"
      R"("grid_size":{"x":1,"y":1,"z":1}}}],"hip_api":[{"kind":7,"operation":1}]}}]})");
  const Trace trace = read_any({folder_ / "a.json"});
  EXPECT_EQ(trace.dispatches.size(), 0U);
  const std::string malformed = "a time, id or size is missing or no number";
  EXPECT_EQ(dropped(trace, "kernel_dispatch", malformed), 2U);
  EXPECT_EQ(dropped(trace, "kernel_dispatch", kUnfinished), 1U);
  EXPECT_EQ(dropped(trace, "region", malformed), 1U);
}

TEST_F(Rocprofv3Outputs, OldTablesAndOtherSpellings) {
  write_file(folder_ / "kernel_trace.csv",
             "Kind,Agent_Id,Queue_Id,Kernel_Name,Correlation_Id,Start_Timestamp,End_Timestamp,"
             "Private_Segment_Size,Group_Segment_Size,Workgroup_Size_X,Workgroup_Size_Y,"
             "Workgroup_Size_Z,Grid_Size_X,Grid_Size_Y,Grid_Size_Z\n"
             "KERNEL_DISPATCH,4,1,\"a<int, 2>(int)\",1,100,200,16,1024,64,1,1,640,1,1\n");
  write_file(folder_ / "memory_copy_trace.csv",
             "KIND,DIRECTION,SOURCE_AGENT_ID,DESTINATION_AGENT_ID,CORRELATION_ID,START_TIMESTAMP,"
             "END_TIMESTAMP\nMEMORY_COPY,HOST_TO_DEVICE,0,4,2,300,400\n");
  const Trace trace = read_any({folder_ / "kernel_trace.csv"});
  ASSERT_EQ(trace.dispatches.size(), 1U);
  EXPECT_EQ(kernel_name(trace, 0), "a<int, 2>(int)");
  EXPECT_EQ(trace.launch_configs[0].lds_bytes, 1024U);
  EXPECT_EQ(trace.launch_configs[0].scratch_bytes, 16U);
  EXPECT_FALSE(trace.kernel_symbols[0].sgprs.has_value());
  ASSERT_EQ(trace.copies.size(), 1U);
  EXPECT_EQ(trace.strings.view(trace.copies.kind[0]), "MEMORY_COPY_HOST_TO_DEVICE");
  EXPECT_FALSE(trace.sources[0].copy_sizes_known);
  EXPECT_EQ(trace.tracks[trace.copies.track[0]].agent,
            trace.tracks[trace.dispatches.track[0]].agent);
  write_file(folder_ / "kernel_trace.csv", "Kind,Agent_Id\n1,2\n");
  EXPECT_NE(error_of_any({folder_ / "kernel_trace.csv"}).message.find("has no column Kernel_Name"),
            std::string::npos);
}

/// rocprofv3 writes a kernel's static LDS; before 2025, and `rocpd convert` under the same name but
/// with a Guid, that of the dispatch.
TEST_F(Rocprofv3Outputs, LdsOfTablesIsTheWholeOrNotKnown) {
  const auto known = [&](std::string_view guid, std::string_view value, std::string_view column) {
    write_file(folder_ / "kernel_trace.csv",
               fmt::format("{}Agent_Id,Kernel_Name,Start_Timestamp,End_Timestamp,{},"
                           "Workgroup_Size_X,Workgroup_Size_Y,Workgroup_Size_Z,Grid_Size_X,"
                           "Grid_Size_Y,Grid_Size_Z\n{}4,k,100,200,512,64,1,1,640,1,1\n",
                           guid, column, value));
    const Trace trace = read_any({folder_ / "kernel_trace.csv"});
    EXPECT_EQ(trace.launch_configs[0].lds_bytes, 512U);
    return trace.sources[0].lds_known;
  };
  EXPECT_FALSE(known("", "", "LDS_Block_Size"));
  EXPECT_TRUE(known("", "", "Group_Segment_Size"));
  EXPECT_TRUE(known("Guid,", "abc,", "Lds_Block_Size"));
}

/// The tables of a run that rocprofv3 also wrote as a database.
TEST_F(Rocprofv3Outputs, RecordedTablesAreTheDatabase) {
  const fs::path folder = recorded_folder() / "emulated_mi300x";
  PERFLAB_SKIP_WITHOUT(folder);
  const Trace database = read_any({folder / "multi_runtime.db"});
  const Trace table = read_any({folder / "multi_runtime_hip_api_trace.csv"});
  EXPECT_EQ(table.dispatches.start, database.dispatches.start);
  EXPECT_EQ(table.dispatches.end, database.dispatches.end);
  EXPECT_EQ(kernel_names(table), kernel_names(database));
  EXPECT_EQ(table.regions.start, database.regions.start);
  EXPECT_EQ(table.dispatches.launch, database.dispatches.launch);
  EXPECT_EQ(table.allocations.bytes, database.allocations.bytes);
  EXPECT_EQ(table.allocations.address, database.allocations.address);
  EXPECT_EQ(table.processes[0].pid, database.processes[0].pid);
  EXPECT_EQ(table.agents.size(), database.agents.size());
}

/// One rank of a training job on MI350X; figures of a Python script over the same file.
TEST_F(Rocprofv3Outputs, RecordedRank) {
  const fs::path file =
      recorded_folder().parent_path() / "ranks" / "aorta_mi350_rocprofv3" / "908_results.json.gz";
  PERFLAB_SKIP_WITHOUT(file);
  const Trace trace = read_any({file});
  EXPECT_EQ(trace.dispatches.size(), 43'915U);
  EXPECT_EQ(trace.agents.size(), 10U);
  EXPECT_EQ(trace.code_objects.size(), 37U);
  EXPECT_EQ(trace.kernel_symbols.size(), 9'888U);
  EXPECT_EQ(trace.nodes[0].hostname, "smci350-zts-gtu-c6-25");
  EXPECT_EQ(trace.processes[0].pid, 908);
  std::size_t rccl = 0;
  std::int64_t least = INT64_MAX, most = 0, sum = 0;
  for (std::size_t i = 0; i < trace.dispatches.size(); ++i) {
    if (!kernel_name(trace, i).starts_with("ncclDevKernel_Generic_1")) continue;
    const std::int64_t length = trace.dispatches.end[i] - trace.dispatches.start[i];
    ++rccl;
    sum += length;
    least = std::min(least, length);
    most = std::max(most, length);
  }
  EXPECT_EQ(rccl, 1'310U);
  EXPECT_EQ(least, 70280);
  EXPECT_EQ(most, 733003332);
  EXPECT_EQ(sum, 4158756678);
  EXPECT_EQ(trace.report.dropped, (std::map<ReadReport::Key, std::uint64_t>{}));
}

}  // namespace
}  // namespace perflab::trace
