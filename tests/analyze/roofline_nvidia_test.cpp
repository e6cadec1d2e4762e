// Rooflines of an H100 from counters of kernels whose work is known (docs/facts/cuda_counters.md
// "Known work"), as the recorder leaves them: all counters of a launch in one run. Rates and
// bandwidth: src/hal/archs/sm_90.json.
#include <gtest/gtest.h>

#include <string>

#include "analyze/pipeline.h"
#include "analyze/roofline_checks.h"
#include "support/test_database.h"

namespace perflab::analyze {
namespace {

using enum hal::Pipe;
using enum hal::Precision;
using test::CountedDispatch;
using test::CountedGpu;
using Counts = std::map<std::string, double>;

CountedGpu h100() {
  return {.gfx = "sm_90",
          .product = "NVIDIA H100 80GB HBM3",
          .target_version = 0,
          .cus = 132,
          .xccs = 1,
          .mhz = 1980,
          .wave_size = 32,
          .simds_per_cu = 4,
          .max_waves_per_cu = 64};
}

std::string operations_of(const std::string& name) {
  return "sm__sass_thread_inst_executed_op_" + name + "_pred_on.sum";
}

/// A kernel of 1000 blocks of 128 threads that runs for 100 us at 1980 MHz with 32 warps on every
/// SM all the time; `counts` are added to its own or take their place.
CountedDispatch launch(const Counts& counts, std::int64_t ns = 100'000) {
  const double cycles = 1.98 * static_cast<double>(ns);
  CountedDispatch dispatch{.kernel = "kernel",
                           .grid = {.x = 128'000},
                           .workgroup = {.x = 128},
                           .duration = ns,
                           .counts = {{"sm__cycles_elapsed.max", cycles},
                                      {"sm__cycles_elapsed.sum", 132 * cycles},
                                      {"sm__cycles_active.sum", 132 * cycles},
                                      {"smsp__cycles_active.sum", 4 * 132 * cycles},
                                      {"sm__warps_active.sum", 32 * 132 * cycles},
                                      {"smsp__warps_active.sum", 32 * 132 * cycles},
                                      {"smsp__warps_launched.sum", 4000},
                                      {"smsp__inst_executed.sum", 400'000},
                                      {"smsp__thread_inst_executed.sum", 32 * 400'000},
                                      {"gpu__time_duration.sum", static_cast<double>(ns)}}};
  for (const auto& [name, value] : counts) dispatch.counts[name] = value;
  return dispatch;
}

KernelRoofline run(const CountedDispatch& dispatch) {
  const Analysis analysis = analyze_program({.gpu = h100(), .dispatches = {dispatch}});
  check_promises(analysis);
  return kernel_of(analysis);
}

TEST(RooflineOfNvidia, ACopyIsBoundByMemory) {
  // 256 MiB in 179.2 us; no arithmetic.
  const KernelRoofline kernel = run(launch({{"dram__bytes_read.sum", 268.450e6},
                                            {"dram__bytes_write.sum", 266.44e6},
                                            {"lts__t_sectors_srcunit_tex.sum", 16'777'216},
                                            {"lts__t_sectors_srcunit_tex_op_read.sum", 8'388'608}},
                                           179'200));
  const LevelTraffic& memory = level_of(kernel, "hbm");
  EXPECT_EQ(memory.label, "bytes to and from device memory");
  EXPECT_FIGURE(memory.bytes, 268.450e6 + 266.44e6);
  ASSERT_TRUE(memory.share);
  EXPECT_NEAR(*memory.share, 0.891, 0.001);  // CUPTI's own: 89.06 % of 3352 GB/s
  EXPECT_FIGURE(level_of(kernel, "l2").bytes, 536'870'912);
  EXPECT_EQ(kernel.flops_raw, 0);
  ASSERT_TRUE(kernel.binding);
  EXPECT_EQ(kernel.binding->roof, "hbm");
  EXPECT_EQ(kernel.binding->bound, "memory");
}

/// The analysis of a copy with ceilings of GPU `number` of the recording.
Result<AnalyzedTrace> analyze_with_device(const CountedGpu& gpu, int number) {
  const std::filesystem::path folder = test::test_folder();
  const std::string gfx = gpu.gfx;
  const auto run = test::write_run(folder,
                                   {.gpu = gpu,
                                    .dispatches = {launch({{"dram__bytes_read.sum", 2e6},
                                                           {"dram__bytes_write.sum", 1e6},
                                                           {operations_of("ffma"), 1000}})}},
                                   {.pass = 1, .counters = own_sets(gfx).front()});
  EXPECT_TRUE(run) << describe(run.error());
  if (!run) return std::unexpected(run.error());
  return analyze_files({*run}, {.search_code = false, .roofs_device = number});
}

TEST(RooflineOfNvidia, CeilingsAreTheDevicesOwnWhereAsked) {
  CountedGpu slower = h100();
  slower.mhz = 1000;  // and no memory attributes: that ceiling is not the product's then
  const auto analyzed = analyze_with_device(slower, 0);
  ASSERT_TRUE(analyzed) << describe(analyzed.error());
  const KernelRoofline& kernel = kernel_of(analyzed->analysis);
  const Ceiling& rate = work_of(kernel, vector, fp32).ceiling;
  EXPECT_FIGURE(rate.value, 256 * 132 * 1.000);
  EXPECT_EQ(rate.from, "device");
  const Ceiling& memory = level_of(kernel, "hbm").ceiling;
  EXPECT_FALSE(memory.value);
  EXPECT_NE(memory.reason.find("not known"), std::string::npos) << memory.reason;
}

TEST(RooflineOfNvidia, ADeviceThatTheRecordingLacksIsRefused) {
  for (const int number : {-1, 1, 7}) {
    const auto analyzed = analyze_with_device(h100(), number);
    ASSERT_FALSE(analyzed) << number;
    EXPECT_EQ(analyzed.error().code, ErrorCode::usage);
    EXPECT_NE(analyzed.error().message.find("has 1 GPU"), std::string::npos)
        << analyzed.error().message;
  }
}

TEST(RooflineOfNvidia, WorkIsCountedByThread) {
  // A quarter of the lanes: what CUPTI counts are the threads that worked.
  const KernelRoofline kernel = run(launch({{operations_of("ffma"), 12'800'000},
                                            {operations_of("fadd"), 6'400'000},
                                            {operations_of("fmul"), 3'200'000},
                                            {"smsp__thread_inst_executed.sum", 8 * 400'000}}));
  EXPECT_EQ(work_of(kernel, vector, fp32).flops.value, 35'200'000);
  EXPECT_EQ(work_of(kernel, vector, fp32).lane_corrected, 35'200'000);
  EXPECT_EQ(kernel.flops_raw, 35'200'000);
  EXPECT_EQ(kernel.flops_are, "lane-corrected");
  // 256 FLOP per clock and SM.
  EXPECT_FIGURE(work_of(kernel, vector, fp32).ceiling.value, 256 * 132 * 1.980);
  EXPECT_EQ(feature_of(kernel, "lanes").value, 8);
}

TEST(RooflineOfNvidia, PackedAndTensorWorkHaveTheirOwnCeilings) {
  const KernelRoofline kernel = run(launch(
      {{operations_of("hfma"), 12'800'000}, {"sm__ops_path_tensor_src_fp16.sum", 819'200'000}}));
  EXPECT_EQ(work_of(kernel, vector, fp16).flops.value, 51'200'000);
  EXPECT_TRUE(work_of(kernel, vector, fp16).ceiling.value);
  EXPECT_EQ(work_of(kernel, matrix, fp16).flops.value, 819'200'000);
  EXPECT_TRUE(work_of(kernel, matrix, fp16).ceiling.value);
  EXPECT_TRUE(kernel.compute_roof.value);
  EXPECT_EQ(kernel.flops_raw, 870'400'000);
}

TEST(RooflineOfNvidia, OccupancyAndStalls) {
  const double warp_cycles = 32 * 132 * 198'000.0;
  const KernelRoofline kernel =
      run(launch({{"smsp__warps_issue_stalled_long_scoreboard.sum", warp_cycles / 2},
                  {"smsp__warps_issue_stalled_barrier.sum", warp_cycles / 4},
                  {"smsp__warps_issue_stalled_math_pipe_throttle.sum", warp_cycles / 8}}));
  EXPECT_FIGURE(feature_of(kernel, "occupancy.achieved").value, 50);
  EXPECT_FIGURE(feature_of(kernel, "occupancy.busy_cus_waves").value, 32);
  EXPECT_FIGURE(feature_of(kernel, "wave_time.dependency").value, 75);
  EXPECT_FIGURE(feature_of(kernel, "wave_time.issue").value, 12.5);
  EXPECT_FIGURE(feature_of(kernel, "stall.long_scoreboard").value, 50);
}

// The recorded times of a repeated launch are those of all its repetitions.
TEST(RooflineOfNvidia, CyclesAreHeldAgainstTheTimeThatWasCounted) {
  CountedDispatch replayed = launch({});
  replayed.duration = 50'000'000;
  EXPECT_EQ(feature_of(run(replayed), "cycles").state, CounterState::measured);
  CountedDispatch wrong = launch({{"sm__cycles_elapsed.max", 1'000.0}});
  EXPECT_EQ(feature_of(run(wrong), "cycles").state, CounterState::suspicious);
}

TEST(RooflineOfNvidia, WarpsThatWereNotLaunchedAreSuspicious) {
  const KernelRoofline kernel = run(launch({{"smsp__warps_launched.sum", 2000}}));
  EXPECT_EQ(feature_of(kernel, "occupancy.achieved").state, CounterState::suspicious);
}

}  // namespace
}  // namespace perflab::analyze
