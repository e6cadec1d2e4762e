// From folders that the tests write to kernels with names, joins, occupancy and coverage.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "analyze/analysis.h"
#include "analyze/thread_trace/make_thread_traces.h"
#include "analyze/thread_trace/occupancy_over_time.h"
#include "analyze/trace_builder.h"
#include "support/att_writer.h"

namespace perflab::analyze {
namespace {

namespace fs = std::filesystem;
using code::InstructionClass;
using test::UiOutput;
using test::UiStep;

class TracesTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* const info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(PERFLAB_BINARY_DIR) / "test-files" / "thread_trace" / info->name();
    fs::remove_all(folder_);
  }

  ThreadTraces make(const fs::path& place, const trace::Trace& trace = {},
                    const Analysis& analysis = {}) {
    auto made = make_thread_traces({place}, trace, analysis.kernels, 2);
    EXPECT_TRUE(made) << describe(made.error());
    return made ? std::move(*made) : ThreadTraces{};
  }

  fs::path folder_;
};

/// A copy kernel: loads, waits, stores; `waves` waves one after the other on CU 1.
UiOutput copy_kernel(int waves) {
  UiOutput out;
  out.agent = 7;
  out.dispatch = 3;
  out.code = {{.text = "; _Z4copyPfS_", .source = "copy(float*, float*)"},
              {.text = "s_load_dwordx4 s[0:3], s[4:5], 0x0", .source = "copy.hip:3"},
              {.text = "s_waitcnt lgkmcnt(0)", .source = "copy.hip:3"},
              {.text = "global_load_dword v1, v0, s[0:1]", .source = "copy.hip:4"},
              {.text = "s_waitcnt vmcnt(0)", .source = "copy.hip:4"},
              {.text = "global_store_dword v0, v1, s[2:3]", .source = "copy.hip:4"},
              {.text = "s_endpgm", .source = "copy.hip:5"}};
  out.kernels = {{1, "_Z4copyPfS_"}};
  const UiStep steps[] = {{.line = 1, .idle = 100},
                          {.line = 2, .issue = 0, .stall = 200, .causes = {1}},
                          {.line = 3},
                          {.line = 4, .issue = 0, .stall = 600, .causes = {3}},
                          {.line = 5, .stall = 8},
                          {.line = 6, .idle = 20}};
  for (int i = 0; i < waves; ++i)
    test::add_ui_wave(out, {.simd = i % 4, .slot = i / 4, .begin = 1000 + 10 * i}, steps);
  return out;
}

Analysis analysis_of(const char* name, const char* mangled, std::uint32_t grid) {
  Analysis analysis;
  Kernel other;
  other.name = "other()";
  other.mangled_name = "_Z5otherv";
  Kernel kernel;
  kernel.name = name;
  kernel.mangled_name = mangled;
  kernel.launch_shapes = 1;
  kernel.launch = {.workgroup = {256, 1, 1}, .grid = {grid, 1, 1}};
  kernel.gpu.wave_size = 64;
  analysis.kernels = {other, kernel};
  return analysis;
}

TEST_F(TracesTest, AFolderAlone) {
  const fs::path place = test::write_ui_output(folder_, copy_kernel(8));
  const ThreadTraces made = make(place);
  EXPECT_EQ(made.traces, (std::vector<std::string>{"ui_output_agent_7_dispatch_3"}));
  EXPECT_TRUE(made.warnings.empty());
  ASSERT_EQ(made.kernels.size(), 1U);
  const KernelThreadTrace& kernel = made.kernels[0];
  EXPECT_EQ(kernel.kernel, "copy(float*, float*)");
  EXPECT_EQ(kernel.mangled_name, "_Z4copyPfS_");
  EXPECT_EQ(kernel.dispatch_id, 3);
  EXPECT_EQ(kernel.gfxip, 9);
  EXPECT_EQ(kernel.version, "3.1.0");
  EXPECT_FALSE(kernel.from_stats);
  EXPECT_FALSE(kernel.analysis_kernel);
  EXPECT_EQ(kernel.sums.hits, 8 * 6);
  EXPECT_EQ(kernel.time.wait, 8 * 800);
  EXPECT_EQ(kernel.time.issue, 8 * 16);
  EXPECT_EQ(kernel.time.issue_stall, 8 * 8);
  EXPECT_EQ(kernel.time.idle, 8 * 120);
  EXPECT_EQ(kernel.wave_cycles, 8 * 944);
  EXPECT_EQ(kernel.states[static_cast<std::size_t>(att::WaveState::wait)], 8 * 800);
  EXPECT_EQ(kernel.links, WaitLinks::trace);
  EXPECT_EQ(kernel.wait_by_class.at(InstructionClass::smem), 8 * 200);
  EXPECT_EQ(kernel.wait_by_class.at(InstructionClass::vmem_load), 8 * 600);
  ASSERT_FALSE(kernel.lines.empty());
  EXPECT_EQ(kernel.lines[0].line, "copy.hip:4");
  EXPECT_EQ(kernel.lines[0].wait_caused, 8 * 600);
  EXPECT_EQ(kernel.coverage.waves, 8U);
  EXPECT_EQ(kernel.coverage.waves_started, 8U);
  EXPECT_EQ(kernel.coverage.rows_differing, 0U);
  EXPECT_EQ(kernel.confidence, Confidence::high);
  const auto missing = [&](const char* field) {
    return std::ranges::count(kernel.missing, field, &Missing::field);
  };
  EXPECT_EQ(missing("analysis_kernel"), 1);
  EXPECT_EQ(missing("core_clock_mhz"), 1);
  EXPECT_EQ(missing("waves_of_dispatch"), 1);
  EXPECT_EQ(missing("occupancy"), 0);
}

TEST_F(TracesTest, JoinedByNameAndByDispatch) {
  const fs::path place = test::write_ui_output(folder_, copy_kernel(8));
  // 1000 items in groups of 256: four groups of four waves.
  const Analysis analysis = analysis_of("copy(float*, float*)", "_Z4copyPfS_", 1000);
  const KernelThreadTrace by_name = make(place, {}, analysis).kernels.at(0);
  EXPECT_EQ(by_name.analysis_kernel, 1U);
  EXPECT_EQ(by_name.coverage.waves_of_dispatch, 16U);
  EXPECT_EQ(by_name.dispatch_id, 3);

  TraceBuilder built;
  built.source();
  built.agent("gfx942");
  TraceBuilder::KernelOptions options;
  options.mangled = "_Z4copyPfS_";
  const trace::Index copy = built.kernel("copy(float*, float*)", options);
  built.dispatch(
      copy,
      {.start = 1000, .duration = 10, .config = {.workgroup = {100, 2, 1}, .grid = {1000, 4, 1}}});
  built.trace.dispatches.dispatch_id = {3};
  const KernelThreadTrace by_id = make(place, built.trace, analysis).kernels.at(0);
  EXPECT_EQ(by_id.analysis_kernel, 1U);
  EXPECT_EQ(by_id.coverage.waves_of_dispatch, 20U * 4);  // 10 x 2 groups of 200 items

  // The same number, another kernel: only the name joins.
  built.trace.kernel_symbols[copy].name = built.trace.strings.intern("other()");
  built.trace.kernel_symbols[copy].mangled_name = built.trace.strings.intern("_Z5otherv");
  EXPECT_EQ(make(place, built.trace, analysis).kernels.at(0).coverage.waves_of_dispatch, 16U);
}

TEST_F(TracesTest, NotJoinedWhereNoNameAgrees) {
  const fs::path place = test::write_ui_output(folder_, copy_kernel(2));
  const KernelThreadTrace none =
      make(place, {}, analysis_of("copy(double*)", "_Z4copyPd", 64)).kernels.at(0);
  EXPECT_FALSE(none.analysis_kernel);
  EXPECT_EQ(none.kernel, "copy(float*, float*)");
  // A database without mangled names: the demangled ones agree.
  EXPECT_EQ(
      make(place, {}, analysis_of("copy(float*, float*)", "", 64)).kernels.at(0).analysis_kernel,
      1U);
  // The mangled name goes before a display name that happens to be the same.
  Analysis both = analysis_of("other name", "_Z4copyPfS_", 64);
  both.kernels[0].name = "copy(float*, float*)";
  EXPECT_EQ(make(place, {}, both).kernels.at(0).analysis_kernel, 1U);
  EXPECT_EQ(make(place, {}, both).kernels.at(0).kernel, "other name");
  Analysis shapes = analysis_of("copy(float*, float*)", "_Z4copyPfS_", 1000);
  shapes.kernels[1].launch_shapes = 2;
  EXPECT_FALSE(make(place, {}, shapes).kernels.at(0).coverage.waves_of_dispatch);
  Analysis sizes = analysis_of("copy(float*, float*)", "_Z4copyPfS_", 1000);
  sizes.kernels[1].gpu.wave_size = std::nullopt;
  EXPECT_FALSE(make(place, {}, sizes).kernels.at(0).coverage.waves_of_dispatch);
}

TEST_F(TracesTest, TheStatsFileAlone) {
  const fs::path place = test::write_ui_output(folder_, copy_kernel(8));
  fs::remove_all(place);
  const ThreadTraces made = make(folder_);
  const KernelThreadTrace& kernel = made.kernels.at(0);
  EXPECT_TRUE(kernel.from_stats);
  EXPECT_EQ(kernel.kernel, "copy(float*, float*)");
  EXPECT_EQ(kernel.sums.hits, 8 * 6);
  EXPECT_EQ(kernel.time.wait, 8 * 800);
  EXPECT_EQ(kernel.time.total(), kernel.sums.cost());
  EXPECT_EQ(kernel.wait_unattributed, 8 * 800);
  EXPECT_EQ(kernel.wave_cycles, 0);
  EXPECT_FALSE(kernel.wave_ipc);
  EXPECT_FALSE(kernel.occupancy);
  EXPECT_EQ(kernel.confidence, Confidence::low);
  for (const char* const field : {"instructions_per_wave", "wave_ipc", "simd_ipc", "occupancy"})
    EXPECT_EQ(std::ranges::count(kernel.missing, field, &Missing::field), 1) << field;
}

TEST_F(TracesTest, NoWaveOnTheTracedCu) {
  UiOutput out = copy_kernel(0);
  out.occupancy = {{.time = 10, .cu = 3}, {.time = 500, .cu = 3, .start = false}};
  const ThreadTraces made = make(test::write_ui_output(folder_, out));
  ASSERT_EQ(made.kernels.size(), 1U);
  const KernelThreadTrace& kernel = made.kernels[0];
  EXPECT_EQ(kernel.coverage.waves, 0U);
  EXPECT_EQ(kernel.coverage.waves_started, 1U);
  EXPECT_EQ(kernel.sums.hits, 0);
  EXPECT_TRUE(kernel.hot.empty());
  EXPECT_FALSE(kernel.instructions_per_wave);
  ASSERT_TRUE(kernel.occupancy);
  EXPECT_EQ(kernel.occupancy->span, 490);
  EXPECT_EQ(kernel.confidence, Confidence::low);
  ASSERT_EQ(made.warnings.size(), 1U);
  EXPECT_NE(made.warnings[0].find("--att-target-cu"), std::string::npos);
}

TEST_F(TracesTest, SeveralKernelsKeepTheirWavesApart) {
  UiOutput out = copy_kernel(4);
  const auto base = static_cast<std::int64_t>(out.code.size());
  out.code.push_back({.text = "; _Z4workv", .source = "work()", .code_object = 2});
  out.code.push_back({.text = "v_mov_b32_e32 v0, 0", .code_object = 2});
  out.code.push_back({.text = "s_endpgm", .code_object = 2});
  out.kernels[2] = "_Z4workv";
  out.occupancy_of_waves = false;
  for (const test::UiWave& wave : out.waves) {
    out.occupancy.push_back({.time = wave.begin, .simd = wave.simd, .slot = wave.slot});
    out.occupancy.push_back(
        {.time = wave.end, .simd = wave.simd, .slot = wave.slot, .start = false});
  }
  // Three waves of the other one: by its occupancy row, and two by the label before their code.
  const UiStep work[] = {{.line = base + 1}, {.line = base + 2}};
  for (int i = 0; i < 3; ++i)
    test::add_ui_wave(out, {.slot = 5, .id = i, .begin = 5000 + 100 * i}, work);
  out.occupancy.push_back({.time = 5000, .slot = 5, .kernel = 2});
  out.occupancy.push_back({.time = 5008, .slot = 5, .start = false, .kernel = 2});
  const ThreadTraces made = make(test::write_ui_output(folder_, out));
  ASSERT_EQ(made.kernels.size(), 2U);
  EXPECT_EQ(made.kernels[0].kernel, "copy(float*, float*)");  // most cost first
  EXPECT_EQ(made.kernels[0].coverage.waves, 4U);
  EXPECT_EQ(made.kernels[0].sums.hits, 4 * 6);
  EXPECT_EQ(made.kernels[1].kernel, "work()");
  EXPECT_EQ(made.kernels[1].coverage.waves, 3U);
  EXPECT_EQ(made.kernels[1].coverage.waves_started, 1U);
  EXPECT_EQ(made.kernels[1].sums.hits, 6);
  for (const KernelThreadTrace& kernel : made.kernels) {
    EXPECT_FALSE(kernel.dispatch_id) << "the folder's number is not known to be this one's";
    EXPECT_EQ(kernel.coverage.rows_differing, 0U);
  }
}

TEST_F(TracesTest, AKernelWithoutASymbolIsNamedByItsLabelOrAddress) {
  UiOutput out = copy_kernel(2);
  out.kernels = {{1, "1 / 0x1000"}};  // where the label stands
  EXPECT_EQ(make(test::write_ui_output(folder_ / "a", out)).kernels.at(0).mangled_name,
            "_Z4copyPfS_");
  out.kernels = {{1, "9 / 0x40"}};
  EXPECT_EQ(make(test::write_ui_output(folder_ / "b", out)).kernels.at(0).kernel, "9 / 0x40");
  out.kernels = {};
  out.code[0].text = "v_nop";
  const ThreadTraces unknown = make(test::write_ui_output(folder_ / "c", out));
  EXPECT_EQ(unknown.kernels.at(0).kernel, "unknown kernel");
  EXPECT_EQ(unknown.kernels.at(0).mangled_name, "");
  EXPECT_EQ(unknown.kernels.at(0).coverage.waves, 2U);
}

TEST_F(TracesTest, WithoutWaveFilesTheCodeRowsAreSplitByTheirLabels) {
  UiOutput out = copy_kernel(4);
  out.code.push_back({.text = "; _Z4workv", .source = "work()"});
  out.code.push_back({.text = "v_mov_b32_e32 v0, 0", .sums = {{.hits = 3, .latency = 12}}});
  out.code.push_back({.text = "v_mov_b32_e32 v1, 0",
                      .code_object = 2,  // of neither
                      .sums = {{.hits = 1, .latency = 4}}});
  out.stats = false;
  for (const test::UiWave& wave : out.waves) out.leave_out.insert(name_of(wave));
  const ThreadTraces made = make(test::write_ui_output(folder_, out));
  ASSERT_EQ(made.kernels.size(), 3U);
  EXPECT_EQ(made.kernels[0].kernel, "copy(float*, float*)");
  EXPECT_EQ(made.kernels[0].sums.hits, 4 * 6);
  EXPECT_EQ(made.kernels[1].kernel, "work()");
  EXPECT_EQ(made.kernels[1].sums.hits, 3);
  EXPECT_EQ(made.kernels[2].kernel, "unknown kernel");
  EXPECT_EQ(made.kernels[2].sums.hits, 1);
  for (const KernelThreadTrace& kernel : made.kernels) {
    EXPECT_FALSE(kernel.wave_ipc);
    EXPECT_EQ(kernel.confidence, Confidence::low);
  }
  EXPECT_FALSE(made.warnings.empty());
}

TEST_F(TracesTest, LossesAreSaidAndLowerTheConfidence) {
  UiOutput out = copy_kernel(8);
  out.events = {{.time = 1500, .type = 6}, {.time = 1600, .type = 6}, {.time = 1700, .type = 9}};
  const ThreadTraces made = make(test::write_ui_output(folder_, out));
  EXPECT_EQ(made.kernels.at(0).coverage.packets_lost, 2U);
  EXPECT_EQ(made.kernels.at(0).coverage.trace_stalls, 1U);
  EXPECT_EQ(made.kernels.at(0).confidence, Confidence::low);
  ASSERT_EQ(made.warnings.size(), 1U);
  EXPECT_NE(made.warnings[0].find("--att-buffer-size"), std::string::npos);
}

/// What a kernel of several dispatches has not, and why.
void expect_no_single_dispatch(const KernelThreadTrace& kernel, std::string_view why) {
  EXPECT_FALSE(kernel.occupancy);
  EXPECT_FALSE(kernel.simd_ipc);
  EXPECT_FALSE(kernel.dispatch_id);
  EXPECT_FALSE(kernel.coverage.waves_of_dispatch);
  EXPECT_EQ(kernel.confidence, Confidence::medium);
  ASSERT_EQ(kernel.confidence_reasons.size(), 1U);
  EXPECT_NE(kernel.confidence_reasons[0].find(why), std::string::npos);
  for (const char* const field : {"dispatch_id", "waves_of_dispatch", "occupancy", "simd_ipc"}) {
    const auto found = std::ranges::find(kernel.missing, field, &Missing::field);
    ASSERT_NE(found, kernel.missing.end()) << field;
    EXPECT_EQ(found->reason, kernel.confidence_reasons[0]);
    EXPECT_EQ(std::ranges::count(kernel.missing, field, &Missing::field), 1) << field;
  }
  EXPECT_TRUE(kernel.instructions_per_wave);
  EXPECT_TRUE(kernel.wave_ipc);
}

TEST_F(TracesTest, SeveralDispatchesOfOneKernelAreNotTakenForOne) {
  const Analysis analysis = analysis_of("copy(float*, float*)", "_Z4copyPfS_", 1024);
  UiOutput out = copy_kernel(8);
  const KernelThreadTrace one =
      make(test::write_ui_output(folder_ / "one", out), {}, analysis).kernels.at(0);
  EXPECT_EQ(one.coverage.waves_of_dispatch, 16U);
  EXPECT_TRUE(one.occupancy);
  // The same again after a gap.
  const std::vector<test::UiWave> first = out.waves;
  for (test::UiWave wave : first) {
    constexpr std::int64_t kLater = 50'000;
    ++wave.id;
    wave.begin += kLater;
    wave.end += kLater;
    for (test::UiInstruction& instruction : wave.instructions) instruction.time += kLater;
    out.waves.push_back(wave);
  }
  const KernelThreadTrace gap =
      make(test::write_ui_output(folder_ / "gap", out), {}, analysis).kernels.at(0);
  EXPECT_EQ(gap.coverage.waves, 16U);
  EXPECT_EQ(gap.coverage.waves_started, 16U);
  expect_no_single_dispatch(gap, "the trace holds several dispatches");
  // A launch of four waves cannot have started eight.
  const KernelThreadTrace more = make(test::write_ui_output(folder_ / "more", copy_kernel(8)), {},
                                      analysis_of("copy(float*, float*)", "_Z4copyPfS_", 256))
                                     .kernels.at(0);
  expect_no_single_dispatch(more, "more waves of this kernel started than one launch of it has");
  // Another engine that has another id for the name.
  UiOutput ids = copy_kernel(8);
  ids.kernels[2] = "_Z4copyPfS_";
  ids.occupancy = {{.engine = 1, .time = 10, .kernel = 2},
                   {.engine = 1, .time = 990, .start = false, .kernel = 2}};
  expect_no_single_dispatch(
      make(test::write_ui_output(folder_ / "ids", ids), {}, analysis).kernels.at(0),
      "the trace holds several dispatches");
}

TEST_F(TracesTest, EndsThatWereNotRecordedAreCountedAndSaid) {
  UiOutput out = copy_kernel(16);
  out.occupancy_of_waves = false;
  for (const test::UiWave& wave : out.waves) {
    out.occupancy.push_back({.time = wave.begin, .simd = wave.simd, .slot = wave.slot});
    if (wave.slot == 0 && wave.simd == 0)
      out.occupancy.push_back(
          {.time = wave.end, .simd = wave.simd, .slot = wave.slot, .start = false});
  }
  const KernelThreadTrace kernel = make(test::write_ui_output(folder_, out)).kernels.at(0);
  EXPECT_EQ(kernel.coverage.waves_started, 16U);
  EXPECT_FALSE(kernel.occupancy);
  EXPECT_TRUE(kernel.simd_ipc);
  EXPECT_EQ(kernel.dispatch_id, 3);
  EXPECT_EQ(kernel.confidence, Confidence::low);
  const std::string reason = "the end of 15 of 16 waves was not recorded";
  EXPECT_EQ(kernel.confidence_reasons, (std::vector<std::string>{reason}));
  const auto found = std::ranges::find(kernel.missing, "occupancy", &Missing::field);
  ASSERT_NE(found, kernel.missing.end());
  EXPECT_EQ(found->reason, reason);
}

TEST_F(TracesTest, CoreClockOverAllEngines) {
  UiOutput out = copy_kernel(2);
  out.clock = {{.engine = 0, .cycles = 1000, .realtime = 50},
               {.engine = 0, .cycles = 1500, .realtime = 70},
               {.engine = 0, .cycles = 3000, .realtime = 150}};
  EXPECT_DOUBLE_EQ(make(test::write_ui_output(folder_, out)).kernels.at(0).core_clock_mhz.value(),
                   2000);  // 2000 cycles in 100 ticks of 10 ns
  out.clock.resize(1);
  EXPECT_FALSE(make(test::write_ui_output(folder_, out)).kernels.at(0).core_clock_mhz);
}

TEST_F(TracesTest, SeveralFoldersAndOneGivenTwice) {
  test::write_ui_output(folder_, copy_kernel(2));
  UiOutput second = copy_kernel(3);
  second.dispatch = 12;
  const fs::path place = test::write_ui_output(folder_, second);
  const auto made = make_thread_traces({folder_, place}, {}, {}, 1);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->traces, (std::vector<std::string>{"ui_output_agent_7_dispatch_3",
                                                    "ui_output_agent_7_dispatch_12"}));
  ASSERT_EQ(made->kernels.size(), 2U);
  EXPECT_EQ(made->kernels[1].trace, 1U);
  EXPECT_EQ(made->kernels[1].coverage.waves, 3U);
  EXPECT_FALSE(make_thread_traces({folder_ / "nothing"}, {}, {}, 1));
}

TEST_F(TracesTest, TellsHowFarItIsAndNeverLess) {
  test::write_ui_output(folder_, copy_kernel(2));
  UiOutput second = copy_kernel(8);
  second.dispatch = 12;
  test::write_ui_output(folder_, second);
  std::vector<double> told;
  const auto tell = [&](std::string_view what, double done) {
    EXPECT_EQ(what, "reading thread traces");
    told.push_back(done);
  };
  ASSERT_TRUE(make_thread_traces({folder_}, {}, {}, 4, false, tell));
  EXPECT_EQ(told.size(), 10U);
  EXPECT_TRUE(std::ranges::is_sorted(told));
  EXPECT_DOUBLE_EQ(told.at(1), 0.5);
  EXPECT_DOUBLE_EQ(told.back(), 1);
}

att::OccupancyRow row(std::int64_t time, bool start, int cu, int slot, std::int64_t kernel = 1) {
  att::OccupancyRow made;
  made.time = time;
  made.start = start;
  made.cu = cu;
  made.slot = slot;
  made.kernel = kernel;
  return made;
}

KernelLifetimes lifetimes_of_kernel_1(const std::vector<att::ShaderEngine>& engines) {
  return pair_lifetimes(engines, 2, [](std::int64_t id) { return id == 1 ? 1U : 0U; })[1];
}

std::optional<OccupancyOverTime> of_kernel_1(const std::vector<att::ShaderEngine>& engines) {
  return occupancy_over_time(lifetimes_of_kernel_1(engines));
}

TEST(OccupancyOverTime, ByHand) {
  att::ShaderEngine engine;
  engine.occupancy = {row(100, true, 1, 0),    row(100, true, 1, 1),  row(150, true, 2, 0),
                      row(150, true, 3, 0, 2),  // another kernel
                      row(300, false, 1, 0),   row(350, true, 1, 0),  row(400, false, 2, 0),
                      row(500, false, 1, 1),   row(600, false, 1, 0), row(900, false, 3, 0, 2)};
  const auto seen = of_kernel_1({engine});
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->span, 500);
  EXPECT_EQ(seen->cus, 2U);
  EXPECT_EQ(seen->peak, 2);
  EXPECT_DOUBLE_EQ(seen->average, (200 + 400 + 250 + 250) / (500.0 * 2));
  EXPECT_DOUBLE_EQ(seen->mean_lifetime, (200 + 400 + 250 + 250) / 4.0);
  EXPECT_DOUBLE_EQ(seen->longest_lifetime, 400);
  EXPECT_DOUBLE_EQ(seen->ramp_share, 0);
  EXPECT_DOUBLE_EQ(seen->tail_share, 0.2);  // two of three at the peak are there until 500
  ASSERT_EQ(seen->bins.size(), kOccupancyBins);
  EXPECT_DOUBLE_EQ(seen->bins[0], 1);   // two waves on two CUs
  EXPECT_DOUBLE_EQ(seen->bins[22], 1);  // 220 to 230 after the start: two
  EXPECT_DOUBLE_EQ(seen->bins.back(), 0.5);
}

TEST(OccupancyOverTime, TailAndRamp) {
  att::ShaderEngine engine;
  engine.occupancy = {row(0, true, 1, 0)};
  for (int slot = 1; slot < 8; ++slot) engine.occupancy.push_back(row(10 * slot, true, 1, slot));
  for (int slot = 1; slot < 8; ++slot)
    engine.occupancy.push_back(row(100 + 10 * slot, false, 1, slot));
  engine.occupancy.push_back(row(1000, false, 1, 0));
  engine.occupancy.push_back(row(5000, true, 5, 0, 2));
  const auto seen = of_kernel_1({engine});
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->span, 1000);
  EXPECT_EQ(seen->peak, 8);
  EXPECT_DOUBLE_EQ(seen->ramp_share, 0.03);       // four of eight from 30 on
  EXPECT_DOUBLE_EQ(seen->tail_share, 1 - 0.150);  // three are left from 150 on
  EXPECT_DOUBLE_EQ(seen->longest_lifetime, 1000);
}

/// `many` waves of kernel 1 that live 100 cycles on one CU, of which the first ones have no end;
/// then a row of another kernel.
att::ShaderEngine engine_with_ends(int many, int unended) {
  att::ShaderEngine engine;
  for (int slot = 0; slot < many; ++slot) engine.occupancy.push_back(row(0, true, 1, slot));
  for (int slot = unended; slot < many; ++slot)
    engine.occupancy.push_back(row(100, false, 1, slot));
  engine.occupancy.push_back(row(5000, true, 5, 0, 2));
  return engine;
}

TEST(OccupancyOverTime, WavesWithoutAnEndAreLeftOutAndTooManyLeaveNothing) {
  const KernelLifetimes few = lifetimes_of_kernel_1({engine_with_ends(20, 1)});
  EXPECT_EQ(few.waves.size(), 20U);
  EXPECT_EQ(few.unended, 1U);
  const auto seen = occupancy_over_time(few);  // exactly 5 %
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->span, 100);
  EXPECT_EQ(seen->peak, 19);
  EXPECT_DOUBLE_EQ(seen->average, 19);
  EXPECT_DOUBLE_EQ(seen->mean_lifetime, 100);
  EXPECT_DOUBLE_EQ(seen->tail_share, 0);
  EXPECT_FALSE(of_kernel_1({engine_with_ends(19, 1)}));
  EXPECT_FALSE(of_kernel_1({engine_with_ends(16, 15)}));
  // A start in a slot that did not end, of this kernel or of another, is a lost end.
  att::ShaderEngine again;
  again.occupancy = {row(0, true, 1, 0), row(50, true, 1, 0), row(90, false, 1, 0),
                     row(95, true, 1, 1), row(99, true, 1, 1, 2)};
  EXPECT_EQ(lifetimes_of_kernel_1({again}).unended, 2U);
  EXPECT_EQ(lifetimes_of_kernel_1({again}).waves.size(), 3U);
}

/// Were every kernel to look at every row, a trace of 200,000 kernels took minutes.
TEST(OccupancyOverTime, ManyKernelsArePairedInOneWalk) {
  constexpr std::int64_t kMany = 20'000;
  att::ShaderEngine engine;
  for (std::int64_t i = 0; i < kMany; ++i) {
    engine.occupancy.push_back(row(10 * i, true, 1, 0, i));
    engine.occupancy.push_back(row(10 * i + 7, false, 1, 0, i));
  }
  std::int64_t lookups = 0;
  const auto all = pair_lifetimes({engine}, kMany, [&](std::int64_t id) {
    ++lookups;
    return static_cast<std::size_t>(id);
  });
  EXPECT_EQ(lookups, kMany);
  ASSERT_EQ(all.size(), static_cast<std::size_t>(kMany));
  for (const KernelLifetimes& one : all) ASSERT_EQ(one.waves.size(), 1U);
  const auto last = occupancy_over_time(all.back());
  ASSERT_TRUE(last);
  EXPECT_EQ(last->span, 7);
}

TEST(OccupancyOverTime, SeveralDispatchesByTheirPauseOrTheirIds) {
  const auto several = [](std::vector<att::OccupancyRow> rows,
                          std::vector<att::OccupancyRow> others = {}) {
    std::vector<att::ShaderEngine> engines(2);
    engines[0].occupancy = std::move(rows);
    engines[1].number = 1;
    engines[1].occupancy = std::move(others);
    return several_dispatches(
        pair_lifetimes(engines, 1, [](std::int64_t) { return std::size_t{0}; })[0]);
  };
  // Waves of 2000 cycles: as long a pause can be the dispatcher's, a longer one is not.
  const auto twice = [](std::int64_t pause) {
    return std::vector{row(0, true, 1, 0), row(2000, false, 1, 0), row(2000 + pause, true, 1, 0),
                       row(4000 + pause, false, 1, 0)};
  };
  EXPECT_FALSE(several({}));
  EXPECT_FALSE(several(twice(2000)));
  EXPECT_TRUE(several(twice(2001)));
  // Another engine's wave lasts longer: this one can have waited for it.
  EXPECT_FALSE(several(twice(2001), {row(0, true, 1, 0), row(2001, false, 1, 0)}));
  // Engines have clocks of their own: no pause between two of them.
  EXPECT_FALSE(several(twice(10), {row(90000, true, 1, 0), row(92000, false, 1, 0)}));
  // Waves of 10 cycles: short pauses are the dispatcher's.
  const auto brief = [](std::int64_t pause) {
    return std::vector{row(0, true, 1, 0), row(10, false, 1, 0), row(10 + pause, true, 1, 0),
                       row(20 + pause, false, 1, 0)};
  };
  EXPECT_FALSE(several(brief(kShortestPause)));
  EXPECT_TRUE(several(brief(kShortestPause + 1)));
  // A wave without an end is taken to have lived as long as the longest: until 2100 + 2000.
  const auto lost = [&](std::int64_t second) {
    return std::vector{row(0, true, 1, 0), row(2000, false, 1, 0), row(2100, true, 1, 1),
                       row(second, true, 1, 0), row(second + 2000, false, 1, 0)};
  };
  EXPECT_FALSE(several(lost(6100)));
  EXPECT_TRUE(several(lost(6101)));
  // Two ids of one name, on one engine or two; 0 says nothing.
  EXPECT_TRUE(several({row(0, true, 1, 0), row(1, true, 1, 1, 2)}));
  EXPECT_TRUE(several({row(0, true, 1, 0)}, {row(0, true, 1, 0, 2)}));
  EXPECT_FALSE(several({row(0, true, 1, 0), row(1, true, 1, 1, 0)}));
}

TEST(OccupancyOverTime, EnginesStartTogether) {
  att::ShaderEngine first;
  first.number = 0;
  first.occupancy = {row(1000, true, 1, 0), row(1100, false, 1, 0)};
  att::ShaderEngine second;
  second.number = 4;
  second.occupancy = {row(77, true, 1, 0), row(77, true, 1, 1), row(127, false, 1, 1),
                      row(277, false, 1, 0)};
  const auto seen = of_kernel_1({first, second});
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->span, 200);
  EXPECT_EQ(seen->cus, 2U);
  EXPECT_EQ(seen->peak, 2);
  EXPECT_DOUBLE_EQ(seen->average, (100 + 50 + 200) / (200.0 * 2));
  EXPECT_DOUBLE_EQ(seen->tail_share, 0.5);  // of three at the peak one is left after 100
}

TEST(OccupancyOverTime, NothingWithoutAWholeWave) {
  EXPECT_FALSE(of_kernel_1({}));
  att::ShaderEngine engine;
  engine.occupancy = {row(5, false, 1, 0)};
  EXPECT_FALSE(of_kernel_1({engine}));
  engine.occupancy = {row(5, true, 1, 0), row(9, true, 1, 1)};
  EXPECT_FALSE(of_kernel_1({engine}));
  engine.occupancy = {row(5, true, 1, 0), row(5, false, 1, 0)};
  EXPECT_FALSE(of_kernel_1({engine}));  // it took no time
}

}  // namespace
}  // namespace perflab::analyze
