// Where ceilings come from: the tables, a benchmark of the machine, or nowhere.
#include <gtest/gtest.h>

#include "analyze/pipeline.h"
#include "analyze/roofline_checks.h"
#include "support/test_database.h"

namespace perflab::analyze {
namespace {

using enum hal::Pipe;
using enum hal::Precision;
using test::CountedDispatch;
using test::CountedGpu;

hal::MeasuredRoof roof(double value, const char* column) {
  return {.value = value, .low = {}, .high = {}, .column = column};
}

Analysis analyze_with(const CountedGpu& gpu, const CountedDispatch& dispatch,
                      const hal::MeasuredRoofs& roofs) {
  const auto files = test::write_runs(test::test_folder(), {.gpu = gpu, .dispatches = {dispatch}},
                                      own_sets(gpu.gfx));
  EXPECT_TRUE(files) << describe(files.error());
  auto analyzed = analyze_files(*files, {.search_code = false, .roofs = roofs});
  if (analyzed) return std::move(analyzed->analysis);
  ADD_FAILURE() << describe(analyzed.error());
  return {};
}

/// 131,072,000 FLOP of FP32 vector and 262,144,000 of FP16 matrix instructions.
CountedDispatch mixed(const CountedGpu& gpu) {
  return counted(gpu,
                 {{"SQ_INSTS_VALU_FMA_F32", 1'024'000}, {"SQ_INSTS_VALU_MFMA_MOPS_F16", 512'000}});
}

TEST(MeasuredCeilings, GoBeforeTheTables) {
  hal::MeasuredRoofs roofs;
  roofs.memory = roof(4000, "HBMBw");
  roofs.rates = {{.pipe = vector, .precision = fp32, .roof = roof(70'000, "FP32Flops")}};
  const CountedGpu gpu = test::mi300x();
  const Analysis analysis = analyze_with(gpu, mixed(gpu), roofs);
  check_promises(analysis);
  const KernelRoofline& kernel = kernel_of(analysis);
  const LevelTraffic& hbm = level_of(kernel, "hbm");
  EXPECT_FIGURE(hbm.ceiling.value, 4000);
  EXPECT_EQ(hbm.ceiling.from, "measured");
  EXPECT_FIGURE(hbm.share, 105.6 / 4000);  // 10,560,000 bytes in 100,000 ns
  EXPECT_EQ(level_of(kernel, "l2").ceiling.from, "tables");
  EXPECT_FIGURE(level_of(kernel, "l2").ceiling.value, 34406.4);
  EXPECT_EQ(work_of(kernel, vector, fp32).ceiling.from, "measured");
  EXPECT_EQ(work_of(kernel, matrix, fp16).ceiling.from, "tables");
  EXPECT_FIGURE(kernel.compute_roof.value,
                393'216'000 / (131'072'000 / 70'000.0 + 262'144'000 / 1'307'443.2));
  EXPECT_NE(kernel.compute_roof.from.find("measured"), std::string::npos);
  EXPECT_NE(kernel.compute_roof.from.find("tables"), std::string::npos);
}

TEST(MeasuredCeilings, OfPackedInstructionsAreNotThoseOfPlainOnes) {
  // 140 TFLOP/s of FP32 are v_pk_fma_f32 on an MI300X, whose plain rate is 81.7; 85 are within the
  // 5 % that a clock above the tables' allows.
  const CountedGpu gpu = test::mi300x();
  for (const auto& [measured, ceiling] : {std::pair{140'000.0, 81'715.2}, {85'000.0, 85'000.0}}) {
    hal::MeasuredRoofs roofs;
    roofs.rates = {{.pipe = vector, .precision = fp32, .roof = roof(measured, "FP32Flops")}};
    const Analysis analysis = analyze_with(gpu, mixed(gpu), roofs);
    EXPECT_FIGURE(work_of(kernel_of(analysis), vector, fp32).ceiling.value, ceiling);
  }
}

TEST(MeasuredCeilings, OfMatricesAreNeverThoseOfPackedInstructions) {
  const CountedGpu gpu = test::mi300x();
  hal::MeasuredRoofs roofs;
  roofs.rates = {{.pipe = matrix, .precision = fp16, .roof = roof(1'500'000, "MFMAF16Flops")}};
  const Analysis analysis = analyze_with(gpu, mixed(gpu), roofs);
  EXPECT_FIGURE(work_of(kernel_of(analysis), matrix, fp16).ceiling.value, 1'500'000);
}

TEST(MeasuredCeilings, AShareAboveOneIsOfTheBenchmark) {
  hal::MeasuredRoofs roofs;
  roofs.memory = roof(50, "HBMBw");
  const CountedGpu gpu = test::mi300x();
  const Analysis analysis = analyze_with(gpu, mixed(gpu), roofs);
  check_promises(analysis);
  EXPECT_FIGURE(level_of(kernel_of(analysis), "hbm").share, 105.6 / 50);
}

TEST(MeasuredCeilings, OfSeveralDevicesNameTheOneThatIsTaken) {
  hal::MeasuredRoofs roofs;
  roofs.device = 3;
  roofs.other_devices = {0, 7};
  roofs.memory = roof(4000, "HBMBw");
  const CountedGpu gpu = test::mi300x();
  const Analysis several = analyze_with(gpu, mixed(gpu), roofs);
  EXPECT_FIGURE(level_of(kernel_of(several), "hbm").ceiling.value, 4000);
  ASSERT_TRUE(several.roofline);
  EXPECT_TRUE(some_say(several.roofline->warnings, "those of device 3; the file has 0, 7 too"));
  roofs.other_devices.clear();
  const Analysis one = analyze_with(gpu, mixed(gpu), roofs);
  ASSERT_TRUE(one.roofline);
  EXPECT_TRUE(one.roofline->warnings.empty());
}

TEST(MeasuredCeilings, OfOneGpuAreNotThoseOfTwoArchitectures) {
  // One kernel on an MI210 and one on an MI300X, each in a process of its own.
  hal::MeasuredRoofs roofs;
  roofs.memory = roof(1000, "HBMBw");
  const std::filesystem::path folder = test::test_folder();
  std::vector<std::filesystem::path> files;
  for (const auto& [stem, gpu] : {std::pair{"1000", test::mi210()}, {"2000", test::mi300x()}}) {
    CountedDispatch dispatch = mixed(gpu);
    dispatch.kernel = "on " + gpu.gfx;
    auto written = test::write_runs(folder, {.gpu = gpu, .dispatches = {dispatch}},
                                    own_sets(gpu.gfx), {.stem = stem});
    ASSERT_TRUE(written) << describe(written.error());
    files.insert(files.end(), written->begin(), written->end());
  }
  const auto analyzed = analyze_files(files, {.search_code = false, .roofs = roofs});
  ASSERT_TRUE(analyzed) << describe(analyzed.error());
  check_promises(analyzed->analysis);
  const LevelTraffic& old = level_of(kernel_of(analyzed->analysis, "on gfx90a"), "hbm");
  EXPECT_FIGURE(old.ceiling.value, 1638.4);
  EXPECT_EQ(old.ceiling.from, "tables");
  const LevelTraffic& young = level_of(kernel_of(analyzed->analysis, "on gfx942"), "hbm");
  EXPECT_FIGURE(young.ceiling.value, 5300);
  EXPECT_EQ(young.ceiling.from, "tables");
  EXPECT_TRUE(some_say(analyzed->analysis.roofline->warnings,
                       "the measured ceilings are not used: they are of one GPU, and kernels ran "
                       "on gfx90a and gfx942"));
}

TEST(Ceilings, OfAnUnknownProductAreMissingWhereOnlyItsDataSheetKnows) {
  CountedGpu gpu = test::mi300x();
  gpu.product = "Prototype";
  const Analysis analysis = analyze_program({.gpu = gpu, .dispatches = {mixed(gpu)}});
  check_promises(analysis);
  const KernelRoofline& kernel = kernel_of(analysis);
  // CUs and clock are the agent's own; the memory's bandwidth is nobody's.
  EXPECT_FIGURE(kernel.compute_roof.value, 217'907.2);
  const LevelTraffic& hbm = level_of(kernel, "hbm");
  EXPECT_FIGURE(hbm.bytes, 10'560'000);
  EXPECT_EQ(hbm.ceiling.value, std::nullopt);
  EXPECT_FALSE(hbm.ceiling.reason.empty());
  EXPECT_EQ(hbm.share, std::nullopt);
  EXPECT_EQ(hbm.ridge, std::nullopt);
  EXPECT_EQ(kernel.binding, std::nullopt);
}

TEST(Ceilings, OfAPartitionAreThoseOfItsDies) {
  // An eighth of an MI300X: 38 CUs, one die with 16 channels of L2.
  CountedGpu gpu = test::mi300x();
  gpu.cus = 38;
  gpu.xccs = 1;
  const Analysis analysis = analyze_program({.gpu = gpu, .dispatches = {mixed(gpu)}});
  check_promises(analysis);
  const KernelRoofline& kernel = kernel_of(analysis);
  EXPECT_FIGURE(work_of(kernel, vector, fp32).ceiling.value, 128 * 38 * 2.1);
  EXPECT_FIGURE(level_of(kernel, "l2").ceiling.value, 128 * 16 * 2.1);
  EXPECT_FIGURE(feature_of(kernel, "occupancy.waves_per_cu").value, 8);
}

TEST(Ceilings, PipesThatOverlappedAreAboveTheRoofAndExplained) {
  // 393,216,000 FLOP in 1700 ns: 231,303.5 GFLOP/s, above 217,907.2 of both pipes in turn, below
  // 245,145.6 of both at once.
  const CountedGpu gpu = test::mi300x();
  CountedDispatch dispatch = mixed(gpu);
  dispatch.duration = 1'700;
  const Analysis analysis = analyze_program({.gpu = gpu, .dispatches = {dispatch}});
  check_promises(analysis);
  const KernelRoofline& kernel = kernel_of(analysis);
  EXPECT_FIGURE(kernel.gflops, 393'216'000 / 1'700.0);
  EXPECT_FIGURE(kernel.overlapped_roof, 245'145.6);
  EXPECT_GT(kernel.compute_share, 1);
  EXPECT_TRUE(some_say(kernel.explanations, "overlapped"));
}

TEST(Counters, KeepTheSpreadOverTheirInstances) {
  const CountedGpu gpu = test::mi300x();
  const Analysis analysis =
      analyze_program({.gpu = gpu, .dispatches = {counted(gpu), counted(gpu)}}, own_sets(gpu.gfx),
                      {.instances = 8, .split = 5});
  const CounterValue* const waves = counter_of(kernel_of(analysis), "SQ_WAVES", 1);
  ASSERT_NE(waves, nullptr);
  EXPECT_EQ(waves->dispatches, 2U);
  EXPECT_EQ(waves->instances, 8U);
  EXPECT_FIGURE(waves->mean, 1024);
  EXPECT_FIGURE(waves->min, 1024);
  EXPECT_FIGURE(waves->max, 1024);
  EXPECT_LT(waves->instance_min, 128);
  EXPECT_GT(waves->instance_max, 128);
}

}  // namespace
}  // namespace perflab::analyze
