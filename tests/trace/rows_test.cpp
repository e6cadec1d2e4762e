// Rows of every kind with odd values: what is kept, what is dropped and counted, and how each value
// is read.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/test_database.h"
#include "trace/trace_checks.h"

namespace perflab::trace {
namespace {

using test::Cell;
using test::DispatchRow;
using test::Id;
using test::Overrides;
using test::RocpdWriter;
using test::Strictness;
using test::test_folder;

/// A machine and whatever a test adds. Constraints are off, values keep the type they are given.
class Rows : public testing::Test {
 protected:
  Rows() : writer_(test_folder() / "rows.db", {.strictness = Strictness::untyped}) {
    add_machine(writer_);
  }
  Trace read() {
    finish(writer_);
    return read_ok({test_folder_});
  }
  RocpdWriter writer_;

 private:
  std::filesystem::path test_folder_ = writer_.file().path();
};

using Dispatches = Rows;
using Agents = Rows;
using Symbols = Rows;
using Copies = Rows;
using Allocations = Rows;
using Regions = Rows;
using ThreadRows = Rows;

TEST_F(Dispatches, AreReadWithEveryFact) {
  DispatchRow row = dispatch_at(100, 250);
  row.workgroup = {.x = 64, .y = 2, .z = 1};
  row.grid = {.x = 640, .y = 20, .z = 3};
  row.group_segment_size = 4096;
  row.private_segment_size = 24;
  row.dispatch_id = 77;
  writer_.dispatch(row);
  const Trace trace = read();
  const DispatchColumns& d = trace.dispatches;
  ASSERT_EQ(d.size(), 1U);
  EXPECT_EQ(d.start[0], kT0 + 100);
  EXPECT_EQ(d.end[0], kT0 + 350);
  EXPECT_EQ(d.dispatch_id[0], 77);
  EXPECT_EQ(
      trace.launch_configs[d.config[0]],
      (LaunchConfig{
          .workgroup = {64, 2, 1}, .grid = {640, 20, 3}, .lds_bytes = 4096, .scratch_bytes = 24}));
  const Track& track = trace.tracks[d.track[0]];
  EXPECT_EQ(trace.agents[track.agent].name, "gfx942");
  EXPECT_EQ(trace.queues[track.queue].name, "Queue 0");
  EXPECT_EQ(trace.streams[track.stream].name, "Default Stream");
  EXPECT_EQ(trace.report.dropped.size(), 0U);
  EXPECT_EQ(trace.report.rows.at("kernel_dispatch"), 1U);
}

TEST_F(Dispatches, AreInOrderOfTimeNotOfRows) {
  for (const std::int64_t start : {300, 100, 200}) writer_.dispatch(dispatch_at(start));
  writer_.dispatch(dispatch_at(100, 10));  // same start, ends earlier
  const Trace trace = read();
  EXPECT_EQ(trace.dispatches.dispatch_id, (std::vector<std::int64_t>{4, 2, 3, 1}));
}

TEST_F(Dispatches, OfEqualTimesAreInTheOrderOfTheirNumbers) {
  for (const Id number : {3, 1, 2, 1}) {
    DispatchRow row = dispatch_at(100);
    row.dispatch_id = number;
    row.private_segment_size = 16 * number;
    writer_.dispatch(row);
  }
  const Trace trace = read();
  EXPECT_EQ(trace.dispatches.dispatch_id, (std::vector<std::int64_t>{1, 1, 2, 3}));
  EXPECT_EQ(trace.launch_configs[trace.dispatches.config[3]].scratch_bytes, 48U);
}

TEST_F(Dispatches, QueueAndStreamMayBeNull) {
  DispatchRow row = dispatch_at(0);
  row.queue = {};
  row.stream = {};
  writer_.dispatch(row);
  row = dispatch_at(10);
  row.queue = 4711;  // no such row
  row.overrides = {{"agent_id", nullptr}, {"tid", nullptr}};
  writer_.dispatch(row);
  const Trace trace = read();
  ASSERT_EQ(trace.dispatches.size(), 2U);
  EXPECT_EQ(trace.tracks[trace.dispatches.track[0]].queue, kNone);
  EXPECT_EQ(trace.tracks[trace.dispatches.track[0]].stream, kNone);
  EXPECT_EQ(trace.tracks[trace.dispatches.track[0]].agent, 1U);
  EXPECT_EQ(trace.tracks[trace.dispatches.track[1]].queue, kNone);
  EXPECT_EQ(trace.tracks[trace.dispatches.track[1]].agent, kNone);
  EXPECT_EQ(trace.tracks[trace.dispatches.track[1]].thread, kNone);
  EXPECT_EQ(trace.tracks[trace.dispatches.track[1]].process, 0U);
}

TEST_F(Dispatches, NumbersMayBeTextOrReal) {
  DispatchRow row = dispatch_at(0);
  row.overrides = {{"start", "1000"},     {"end", 1500.0},
                   {"kernel_id", "1"},    {"queue_id", "1"},
                   {"agent_id", 1.0},     {"grid_size_x", "4096"},
                   {"dispatch_id", "55"}, {"group_segment_size", "128"}};
  writer_.dispatch(row);
  const Trace trace = read();
  ASSERT_EQ(trace.dispatches.size(), 1U);
  EXPECT_EQ(trace.dispatches.start[0], 1000);
  EXPECT_EQ(trace.dispatches.end[0], 1500);
  EXPECT_EQ(trace.dispatches.dispatch_id[0], 55);
  EXPECT_EQ(kernel_name(trace, 0), "axpy(float*)");
  EXPECT_EQ(trace.tracks[trace.dispatches.track[0]].queue, 1U);
  EXPECT_EQ(trace.tracks[trace.dispatches.track[0]].agent, 1U);
  EXPECT_EQ(trace.launch_configs[0].grid[0], 4096U);
  EXPECT_EQ(trace.launch_configs[0].lds_bytes, 128U);
}

TEST_F(Dispatches, ZeroLengthIsKeptAndCounted) {
  writer_.dispatch(dispatch_at(0, 0));
  writer_.dispatch(dispatch_at(5, 0));
  writer_.dispatch(dispatch_at(9, 1));
  const Trace trace = read();
  EXPECT_EQ(trace.dispatches.size(), 3U);
  EXPECT_EQ(odd(trace, "kernel_dispatch", "zero length"), 2U);
}

TEST_F(Dispatches, UnfinishedAreDroppedAndCounted) {
  const std::vector<std::pair<std::int64_t, std::int64_t>> times = {
      {0, 0}, {kT0, 0}, {0, kT0}, {kT0 + 1, kT0}, {-5, kT0}, {-7, -3}};
  for (const auto& [start, end] : times) {
    DispatchRow row;
    row.start = start;
    row.end = end;
    writer_.dispatch(row);
  }
  writer_.dispatch(dispatch_at(0));
  const Trace trace = read();
  EXPECT_EQ(trace.dispatches.size(), 1U);
  EXPECT_EQ(dropped(trace, "kernel_dispatch", kUnfinished), 6U);
  EXPECT_EQ(trace.report.rows.at("kernel_dispatch"), 1U);
}

TEST_F(Dispatches, WithoutANumberAreDroppedAndCounted) {
  const std::vector<Overrides> rows = {{{"start", nullptr}},
                                       {{"end", "soon"}},
                                       {{"start", 1.5}},
                                       {{"kernel_id", nullptr}},
                                       {{"grid_size_x", -1}},
                                       {{"grid_size_y", 4'294'967'296}},
                                       {{"workgroup_size_z", "many"}},
                                       {{"group_segment_size", -1}},
                                       {{"end", Cell::Blob{"1234"}}},
                                       {{"end", "99999999999999999999999"}}};
  for (const Overrides& overrides : rows) {
    DispatchRow row = dispatch_at(0);
    row.overrides = overrides;
    writer_.dispatch(row);
  }
  const Trace trace = read();
  EXPECT_EQ(trace.dispatches.size(), 0U);
  EXPECT_EQ(dropped(trace, "kernel_dispatch", "a time, kernel id or size is missing or no number"),
            10U);
}

TEST_F(Dispatches, SizesThatAreNullAreZero) {
  DispatchRow row = dispatch_at(0);
  row.overrides = {{"workgroup_size_x", nullptr}, {"private_segment_size", nullptr}};
  writer_.dispatch(row);
  const Trace trace = read();
  ASSERT_EQ(trace.dispatches.size(), 1U);
  EXPECT_EQ(trace.launch_configs[0].workgroup, (std::array<std::uint32_t, 3>{0, 1, 1}));
  EXPECT_EQ(trace.launch_configs[0].scratch_bytes, 0U);
}

TEST_F(Dispatches, LargestSizesAreKept) {
  DispatchRow row = dispatch_at(0);
  row.grid = {.x = 4'294'967'295, .y = 1, .z = 1};
  writer_.dispatch(row);
  EXPECT_EQ(read().launch_configs[0].grid[0], 4'294'967'295U);
}

TEST_F(Dispatches, WithoutASymbolAreNamedByTheirKernelIdAndCounted) {
  for (const Id kernel : {1, 5, 5, 6}) {
    DispatchRow row = dispatch_at(kernel);
    row.kernel = kernel;
    writer_.dispatch(row);
  }
  const Trace trace = read();
  EXPECT_EQ(kernel_names(trace),
            (std::vector<std::string>{"axpy(float*)", "kernel 5", "kernel 5", "kernel 6"}));
  EXPECT_FALSE(trace.kernel_symbols[trace.dispatches.kernel[1]].known);
  EXPECT_EQ(trace.kernel_symbols[trace.dispatches.kernel[1]].arch_vgprs, std::nullopt);
  EXPECT_EQ(odd(trace, "kernel_dispatch", kNoSymbol), 3U);
}

TEST_F(Dispatches, ThatOverlapOnAQueueAreKept) {
  writer_.dispatch(dispatch_at(0, 1000));
  writer_.dispatch(dispatch_at(500, 1000));
  writer_.dispatch(dispatch_at(600, 10));
  const Trace trace = read();
  EXPECT_EQ(trace.dispatches.size(), 3U);
  EXPECT_EQ(trace.report.dropped.size(), 0U);
  EXPECT_EQ(trace.report.odd.size(), 0U);
}

TEST_F(Dispatches, WrittenTwiceAreTwo) {
  DispatchRow row = dispatch_at(0);
  row.dispatch_id = 3;
  writer_.dispatch(row);
  writer_.dispatch(row);
  EXPECT_EQ(read().dispatches.dispatch_id, (std::vector<std::int64_t>{3, 3}));
}

TEST_F(Agents, TakeTheirFactsFromExtdata) {
  const Trace trace = read();
  ASSERT_EQ(trace.agents.size(), 2U);
  EXPECT_EQ(trace.agents[0].type, "CPU");
  const Agent& gpu = trace.agents[1];
  EXPECT_EQ(gpu.type, "GPU");
  EXPECT_EQ(gpu.product, "AMD Instinct MI300X");
  EXPECT_EQ(gpu.facts.compute_units, 304);
  EXPECT_EQ(gpu.facts.xcc_count, 8);
  EXPECT_EQ(gpu.facts.simds_per_cu, 4);
  EXPECT_EQ(gpu.facts.wave_size, 64);
  EXPECT_EQ(gpu.facts.max_waves_per_simd, 8);
  EXPECT_EQ(gpu.facts.max_waves_per_cu, 32);
  EXPECT_EQ(gpu.facts.lds_bytes_per_cu, 65536);
  EXPECT_EQ(gpu.facts.clock_mhz, 2100);
  EXPECT_EQ(gpu.facts.target_version, 90402);
}

/// An agent with this extdata, and its facts.
class ExtdataTest : public Rows,
                    public testing::WithParamInterface<std::pair<const char*, std::string>> {};

TEST_P(ExtdataTest, WithoutFactsIsNoError) {
  test::AgentRow row = test::mi300x_agent();
  row.id = 2;
  row.extdata = GetParam().second;
  writer_.agent(row);
  const Trace trace = read();
  ASSERT_EQ(trace.agents.size(), 3U);
  const AgentFacts& facts = trace.agents[2].facts;
  for (const auto& fact :
       {facts.compute_units, facts.xcc_count, facts.simds_per_cu, facts.wave_size,
        facts.max_waves_per_simd, facts.max_waves_per_cu, facts.lds_bytes_per_cu, facts.clock_mhz,
        facts.target_version, facts.device_id})
    EXPECT_EQ(fact, std::nullopt);
  EXPECT_EQ(trace.agents[2].product, "AMD Instinct MI300X");
}

INSTANTIATE_TEST_SUITE_P(
    Extdata, ExtdataTest,
    testing::Values(
        std::pair("Braces", std::string("{}")), std::pair("Empty", std::string()),
        std::pair("Cut", std::string(R"({"cu_count": 304, "num_xcc")")),
        std::pair("Array", std::string("[304]")), std::pair("Text", std::string("none")),
        std::pair("Deep", std::string(500'000, '[')),
        std::pair("Huge", R"({"cu_count": 304, "x": ")" + std::string(2'000'000, 'x') + "\"}"),
        std::pair("Types",
                  std::string(R"({"cu_count": "304", "num_xcc": 8.0, "wave_front_size": null,
            "simd_per_cu": [4], "lds_size_in_kb": {"a": 1}, "device_id": true})")),
        std::pair(
            "Range",
            std::string(R"({"cu_count": 0, "num_xcc": -8, "lds_size_in_kb": 9000000000000000000,
            "device_id": 18446744073709551615, "max_engine_clk_fcompute": 1e300})"))),
    [](const auto& parameter) { return std::string(parameter.param.first); });

TEST_F(Symbols, LoseTheSuffixOfTheirDescriptor) {
  writer_.kernel({.id = 10, .name = "plain"});
  writer_.kernel({.id = 11, .name = "systems", .display_name = "systems.kd"});
  writer_.kernel({.id = 12, .name = "_Z5clonev", .display_name = "clone() [clone .kd]"});
  writer_.kernel({.id = 13, .name = "kd.inside.kdx", .add_kd_suffix = false});
  for (Id kernel = 10; kernel < 14; ++kernel) {
    DispatchRow row = dispatch_at(kernel);
    row.kernel = kernel;
    writer_.dispatch(row);
  }
  const Trace trace = read();
  EXPECT_EQ(kernel_names(trace),
            (std::vector<std::string>{"plain", "systems", "clone()", "kd.inside.kdx"}));
  const auto mangled = [&](std::size_t i) {
    return trace.strings.view(trace.kernel_symbols[trace.dispatches.kernel[i]].mangled_name);
  };
  EXPECT_EQ(mangled(0), "plain");
  EXPECT_EQ(mangled(2), "_Z5clonev");
}

TEST_F(Symbols, WithoutADisplayNameUseTheOther) {
  writer_.kernel({.id = 10, .name = "_Z1kv", .overrides = {{"display_name", nullptr}}});
  writer_.kernel({.id = 11, .overrides = {{"display_name", nullptr}, {"kernel_name", nullptr}}});
  for (const Id kernel : {10, 11}) {
    DispatchRow row = dispatch_at(kernel);
    row.kernel = kernel;
    writer_.dispatch(row);
  }
  const Trace trace = read();
  EXPECT_EQ(kernel_names(trace), (std::vector<std::string>{"_Z1kv", "kernel 11"}));
  EXPECT_TRUE(trace.kernel_symbols[trace.dispatches.kernel[1]].known);
}

TEST_F(Symbols, KeepTheirResources) {
  writer_.kernel({.id = 10,
                  .name = "k",
                  .kernarg_segment_size = 280,
                  .group_segment_size = 1024,
                  .private_segment_size = 16,
                  .sgpr_count = 48,
                  .arch_vgpr_count = 128,
                  .accum_vgpr_count = 384});
  const Trace trace = read();
  const KernelSymbol& symbol = trace.kernel_symbols[1];
  EXPECT_EQ(symbol.kernarg_bytes, 280);
  EXPECT_EQ(symbol.static_lds_bytes, 1024);
  EXPECT_EQ(symbol.scratch_bytes_per_lane, 16);
  EXPECT_EQ(symbol.sgprs, 48);
  EXPECT_EQ(symbol.arch_vgprs, 128);
  EXPECT_EQ(symbol.accum_vgprs, 384);
}

TEST_F(Symbols, SizesBelowZeroAreNotKnown) {
  writer_.kernel({.id = 10,
                  .name = "k",
                  .kernarg_segment_size = -1,
                  .group_segment_size = -1,
                  .private_segment_size = -1,
                  .sgpr_count = -1,
                  .arch_vgpr_count = INT64_MIN,
                  .accum_vgpr_count = -8});
  const Trace trace = read();
  const KernelSymbol& symbol = trace.kernel_symbols[1];
  for (const auto& size :
       {symbol.kernarg_bytes, symbol.static_lds_bytes, symbol.scratch_bytes_per_lane, symbol.sgprs,
        symbol.arch_vgprs, symbol.accum_vgprs})
    EXPECT_EQ(size, std::nullopt);
  EXPECT_EQ(odd(trace, "info_kernel_symbol", "a register count or size below 0: taken as missing"),
            6U);
}

TEST_F(Symbols, OfTheRuntimeMarkTheirCodeObject) {
  writer_.code_object({.id = 2});
  writer_.code_object({.id = 3});
  writer_.kernel({.id = 10, .code_object = 2, .name = "__amd_rocclr_copyBuffer"});
  writer_.kernel({.id = 11, .code_object = 3, .name = "not__amd_rocclr_copyBuffer"});
  const Trace trace = read();
  ASSERT_EQ(trace.code_objects.size(), 3U);
  EXPECT_FALSE(trace.code_objects[0].of_runtime);
  EXPECT_TRUE(trace.code_objects[1].of_runtime);
  EXPECT_FALSE(trace.code_objects[2].of_runtime);
}

TEST_F(Symbols, AddressesAboveInt64AreRead) {
  writer_.code_object(
      {.id = 2,
       .overrides = {{"load_base", "18446744073709551615"}, {"load_size", "9223372036854775808"}}});
  const Trace trace = read();
  EXPECT_EQ(trace.code_objects[1].load_base, 18'446'744'073'709'551'615U);
  EXPECT_EQ(trace.code_objects[1].load_size, 9'223'372'036'854'775'808U);
}

TEST_F(Copies, AreReadWithEveryFact) {
  writer_.copy({.start = kT0,
                .end = kT0 + 78000,
                .size = 4'000'000,
                .dst_agent = 1,
                .src_agent = 0,
                .queue = {},
                .stream = 0});
  const Trace trace = read();
  ASSERT_EQ(trace.copies.size(), 1U);
  EXPECT_EQ(trace.copies.end[0] - trace.copies.start[0], 78000);
  EXPECT_EQ(trace.copies.bytes[0], 4'000'000);
  EXPECT_EQ(trace.strings.view(trace.copies.kind[0]), "MEMORY_COPY_HOST_TO_DEVICE");
  EXPECT_EQ(trace.agents[trace.copies.source_agent[0]].type, "CPU");
  const Track& track = trace.tracks[trace.copies.track[0]];
  EXPECT_EQ(trace.agents[track.agent].type, "GPU");
  EXPECT_EQ(track.queue, kNone);
  EXPECT_EQ(track.stream, 0U);
  EXPECT_EQ(trace.copies.launch[0], kNone);
}

TEST_F(Copies, UnfinishedAndSizelessAreDroppedAndCounted) {
  writer_.copy({.start = kT0, .end = kT0 - 1, .size = 1});
  writer_.copy({.start = 0, .end = kT0, .size = 1});
  writer_.copy({.start = kT0, .end = kT0, .size = -1});
  writer_.copy({.start = kT0, .end = kT0, .overrides = {{"size", nullptr}}});
  writer_.copy({.start = kT0, .end = kT0, .size = 0});
  const Trace trace = read();
  EXPECT_EQ(trace.copies.size(), 1U);
  EXPECT_EQ(dropped(trace, "memory_copy", kUnfinished), 2U);
  EXPECT_EQ(dropped(trace, "memory_copy", "a time or size is missing or no number"), 2U);
}

TEST_F(Allocations, AreReadWithEveryFact) {
  writer_.allocation({.start = kT0,
                      .end = kT0 + 5,
                      .size = 4096,
                      .overrides = {{"address", "18446744073709551615"}}});
  writer_.allocation({.type = "FREE", .start = kT0 + 9, .end = kT0 + 9, .size = 0, .agent = {}});
  const Trace trace = read();
  const AllocationColumns& a = trace.allocations;
  ASSERT_EQ(a.size(), 2U);
  EXPECT_EQ(a.address[0], 18'446'744'073'709'551'615U);
  EXPECT_EQ(a.bytes[0], 4096);
  EXPECT_EQ(trace.strings.view(a.type[0]), "ALLOC");
  EXPECT_EQ(trace.strings.view(a.level[0]), "REAL");
  EXPECT_EQ(a.agent[0], 1U);
  EXPECT_EQ(trace.strings.view(a.type[1]), "FREE");
  EXPECT_EQ(a.agent[1], kNone);
}

TEST_F(Allocations, UnfinishedAndSizelessAreDroppedAndCounted) {
  writer_.allocation({.start = kT0, .end = 0, .size = 1});
  writer_.allocation({.start = kT0, .end = kT0, .size = -1});
  const Trace trace = read();
  EXPECT_EQ(trace.allocations.size(), 0U);
  EXPECT_EQ(dropped(trace, "memory_allocate", kUnfinished), 1U);
  EXPECT_EQ(dropped(trace, "memory_allocate", "a time or size is missing or no number"), 1U);
}

TEST_F(Regions, AreInOrderWithTheEnclosingOneFirst) {
  writer_.region({.name = "inner", .start = kT0 + 5, .end = kT0 + 10});
  writer_.region({.name = "outer", .start = kT0 + 5, .end = kT0 + 90});
  writer_.region({.name = "first", .start = kT0, .end = kT0 + 1});
  const Trace trace = read();
  ASSERT_EQ(trace.regions.size(), 3U);
  EXPECT_EQ(trace.strings.view(trace.regions.name[0]), "first");
  EXPECT_EQ(trace.strings.view(trace.regions.name[1]), "outer");
  EXPECT_EQ(trace.strings.view(trace.regions.name[2]), "inner");
}

TEST_F(Regions, WithNullsHaveNoNameThreadOrCategory) {
  writer_.region({.start = kT0,
                  .end = kT0 + 1,
                  .event = {.link = test::EventLink::null},
                  .overrides = {{"name_id", 424242}, {"tid", nullptr}}});
  const Trace trace = read();
  ASSERT_EQ(trace.regions.size(), 1U);
  EXPECT_EQ(trace.strings.view(trace.regions.name[0]), "");
  EXPECT_EQ(trace.strings.view(trace.regions.category[0]), "");
  EXPECT_EQ(trace.regions.thread[0], kNone);
  EXPECT_EQ(trace.regions.parent[0], kNone);
}

TEST_F(Regions, UnfinishedAreDroppedAndCounted) {
  writer_.region({.start = kT0, .end = 0});
  writer_.region({.start = kT0, .end = kT0 - 1});
  writer_.region({.start = kT0, .end = kT0, .overrides = {{"start", nullptr}}});
  const Trace trace = read();
  EXPECT_EQ(trace.regions.size(), 0U);
  EXPECT_EQ(dropped(trace, "region", kUnfinished), 2U);
  EXPECT_EQ(dropped(trace, "region", "a time or size is missing or no number"), 1U);
}

TEST_F(Regions, OfDuplicateCategoryStringsShareOneName) {
  writer_.region({.start = kT0, .end = kT0 + 1});
  const Id first = writer_.string_id("HIP_RUNTIME_API_EXT");
  const Id second = writer_.duplicate_string("HIP_RUNTIME_API_EXT");
  ASSERT_NE(first, second);
  writer_.region({.start = kT0 + 5, .end = kT0 + 6, .event = {.category = "HIP_RUNTIME_API_EXT"}});
  const Trace trace = read();
  ASSERT_EQ(trace.regions.size(), 2U);
  EXPECT_EQ(trace.strings.view(trace.regions.category[0]), "HIP_RUNTIME_API_EXT");
  EXPECT_EQ(trace.regions.category[0], trace.regions.category[1]);
}

TEST_F(Regions, OfManyCategoriesKeepTheirOwn) {
  for (int i = 0; i < 300; ++i)
    writer_.region({.start = kT0 + i,
                    .end = kT0 + i,
                    .event = {.category = fmt::format("category {}", i % 150)}});
  const Trace trace = read();
  ASSERT_EQ(trace.regions.size(), 300U);
  EXPECT_EQ(trace.strings.view(trace.regions.category[0]), "category 0");
  EXPECT_EQ(trace.strings.view(trace.regions.category[149]), "category 149");
  EXPECT_EQ(trace.strings.view(trace.regions.category[299]), "category 149");
}

TEST_F(ThreadRows, NotInTheirTableAreStillTold) {
  writer_.thread({.tid = 555});
  for (const Id tid : {555, 777, 777}) {
    DispatchRow row = dispatch_at(tid);
    row.tid = tid;
    writer_.dispatch(row);
  }
  const Trace trace = read();
  const auto tid_of = [&](std::size_t i) {
    return trace.threads[trace.tracks[trace.dispatches.track[i]].thread].tid;
  };
  EXPECT_EQ(tid_of(0), 555);
  EXPECT_EQ(tid_of(1), 777);
  EXPECT_EQ(trace.dispatches.track[1], trace.dispatches.track[2]);
  EXPECT_EQ(trace.threads.size(), 3U);  // main thread, 555, 777
}

TEST_F(Rows, ProcessFactsAreRead) {
  const Trace trace = read();
  ASSERT_EQ(trace.processes.size(), 1U);
  EXPECT_EQ(trace.processes[0].pid, 4242);
  EXPECT_EQ(trace.processes[0].command, "/app/demo");
  EXPECT_EQ(trace.processes[0].start, 5'000'000'000'000);
  EXPECT_EQ(trace.processes[0].end, 5'001'000'000'000);
  EXPECT_EQ(trace.nodes[trace.processes[0].node].hash, 6628153277542038266);
}

}  // namespace
}  // namespace perflab::trace
