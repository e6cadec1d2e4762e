// What a roofline says when counters are missing, of another GPU, of other work, or cannot be: the
// right state and reason, the other figures as ever, and never a wrong one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analyze/roofline_checks.h"
#include "support/test_database.h"

namespace perflab::analyze {
namespace {

using enum hal::Pipe;
using enum hal::Precision;
using test::CountedDispatch;
using test::CountedGpu;
using test::CountedProgram;
using Files = std::vector<std::filesystem::path>;

/// A kernel with some of everything; its integer matrix work takes the longest by far.
CountedDispatch busy(const CountedGpu& gpu) {
  return counted(gpu, {{"SQ_INSTS_VALU_FMA_F32", 102'400},
                       {"SQ_INSTS_VALU_ADD_F64", 20'000},
                       {"SQ_INSTS_VALU_MFMA_MOPS_F16", 51'200},
                       {"SQ_INSTS_VALU_MFMA_MOPS_I8", 400'000'000},
                       {"SQ_INSTS_MFMA", 10'000},
                       {"VmemLatency", 900},
                       {"LdsLatency", 60},
                       {"SmemLatency", 100}});
}

/// A run without counters and one for each set. Empties the test's folder.
Files write(const CountedProgram& program, const std::vector<std::vector<std::string>>& sets) {
  auto files = test::write_runs(test::test_folder(), program, sets);
  EXPECT_TRUE(files) << describe(files.error());
  return files.value_or(Files{});
}

/// Writes the run of pass N again, of a program that did something else this time.
void rewrite(const Files& files, int pass, const CountedProgram& program,
             const std::vector<std::vector<std::string>>& sets) {
  test::RunOptions options{.pass = pass,
                           .counters = sets[static_cast<std::size_t>(pass) - 1],
                           .stem = std::to_string(1000 + pass)};
  options.start += std::int64_t{1'000'000'000} * pass;
  const auto written = test::write_run(files.front().parent_path(), program, options);
  ASSERT_TRUE(written) << describe(written.error());
  EXPECT_EQ(*written, files[static_cast<std::size_t>(pass)]);
}

/// Every figure of `part` is the one of `whole`, or there is none and a reason.
void expect_same_or_none(const KernelRoofline& part, const KernelRoofline& whole) {
  const auto expect = [](const std::string& name, const std::optional<double>& value,
                         const std::optional<double>& full) {
    if (value) {
      EXPECT_EQ(value, full) << name;
    }
  };
  ASSERT_EQ(part.features.size(), whole.features.size());
  for (std::size_t i = 0; i < whole.features.size(); ++i)
    expect(whole.features[i].name, part.features[i].value, whole.features[i].value);
  ASSERT_EQ(part.work.size(), whole.work.size());
  for (std::size_t i = 0; i < whole.work.size(); ++i) {
    expect(whole.work[i].flops.name, part.work[i].flops.value, whole.work[i].flops.value);
    expect(whole.work[i].flops.name, part.work[i].lane_corrected, whole.work[i].lane_corrected);
  }
  for (std::size_t i = 0; i < whole.levels.size(); ++i) {
    expect(whole.levels[i].name, part.levels[i].bytes, whole.levels[i].bytes);
    expect(whole.levels[i].name, part.levels[i].share, whole.levels[i].share);
  }
  expect("flops_raw", part.flops_raw, whole.flops_raw);
  expect("flops_lane_corrected", part.flops_lane_corrected, whole.flops_lane_corrected);
}

class OfInstinct : public testing::TestWithParam<CountedGpu> {};
INSTANTIATE_TEST_SUITE_P(, OfInstinct,
                         testing::Values(test::mi210(), test::mi300x(), test::mi350x()),
                         [](const auto& of) { return of.param.gfx; });

TEST_P(OfInstinct, WithoutOnePassItsFiguresAreMissingAndNoOtherIsWrong) {
  const CountedGpu gpu = GetParam();
  const CountedProgram program{.gpu = gpu, .dispatches = {busy(gpu), busy(gpu)}};
  const auto sets = own_sets(gpu.gfx);
  const Files files = write(program, sets);
  const Analysis full = analyze_paths(files);
  check_promises(full);
  const KernelRoofline& whole = kernel_of(full);
  EXPECT_TRUE(whole.flops_lane_corrected);
  ASSERT_TRUE(whole.binding);
  for (std::size_t left_out = 1; left_out <= sets.size(); ++left_out) {
    SCOPED_TRACE(fmt::format("without pass {}", left_out));
    Files others = files;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(left_out));
    const Analysis analysis = analyze_paths(others);
    check_promises(analysis);
    const KernelRoofline& kernel = kernel_of(analysis);
    expect_same_or_none(kernel, whole);
    // 204.8 GOP of int8 per dispatch: a verdict that does not know of them must say so.
    if (kernel.binding && kernel.binding->roof != whole.binding->roof) {
      EXPECT_TRUE(some_say(kernel.assumptions, "INT8") || some_say(kernel.assumptions, "integer"))
          << kernel.binding->roof << " instead of " << whole.binding->roof;
    }
  }
}

TEST_P(OfInstinct, WithOnePassOnlyEverythingElseIsMissing) {
  const CountedGpu gpu = GetParam();
  const CountedProgram program{.gpu = gpu, .dispatches = {busy(gpu)}};
  const auto sets = own_sets(gpu.gfx);
  const Files files = write(program, sets);
  const Analysis full = analyze_paths(files);
  for (std::size_t only = 1; only <= sets.size(); ++only) {
    SCOPED_TRACE(fmt::format("pass {} only", only));
    const Analysis analysis = analyze_paths({files[0], files[only]});
    check_promises(analysis);
    expect_same_or_none(kernel_of(analysis), kernel_of(full));
    EXPECT_EQ(kernel_of(analysis).binding, std::nullopt);
  }
}

TEST_P(OfInstinct, WithoutTypesTheEstimateStandsInUnderItsName) {
  const CountedGpu gpu = GetParam();
  const CountedProgram program{.gpu = gpu, .dispatches = {busy(gpu)}};
  const Analysis analysis = analyze_program(
      program, {{"GRBM_GUI_ACTIVE", "SQ_INSTS_VALU", "SQ_INSTS_VALU_MFMA_MOPS_F32"}});
  check_promises(analysis);
  const KernelRoofline& kernel = kernel_of(analysis);
  ASSERT_TRUE(kernel.estimate);
  EXPECT_FIGURE(kernel.estimate->flops, 64 * 2'048'000.0);
  EXPECT_FALSE(kernel.estimate->known_error.empty());
  EXPECT_EQ(kernel.flops_are, "estimate");
  EXPECT_EQ(kernel.flops_raw, std::nullopt);
  EXPECT_EQ(kernel.flops_lane_corrected, std::nullopt);
  EXPECT_FIGURE(kernel.gflops, 64 * 2'048'000.0 / 100'000);
  EXPECT_EQ(kernel.gflops_raw, std::nullopt);
}

TEST_P(OfInstinct, WithTypesThereIsNoEstimate) {
  const CountedGpu gpu = GetParam();
  const Analysis analysis = analyze_program({.gpu = gpu, .dispatches = {busy(gpu)}});
  EXPECT_EQ(kernel_of(analysis).estimate, std::nullopt);
}

TEST(Doubts, NoCountersNoRooflineButTheRest) {
  const CountedGpu gpu = test::mi300x();
  const Analysis analysis = analyze_program({.gpu = gpu, .dispatches = {busy(gpu)}}, {});
  check_promises(analysis);
  EXPECT_FALSE(analysis.roofline);
  EXPECT_EQ(analysis.roofline_missing.field, "roofline");
  EXPECT_EQ(analysis.roofline_missing.reason, "no hardware counters were collected");
  EXPECT_EQ(analysis.roofline_missing.remedy, "record with counters: rocm-perf profile --roofline");
  ASSERT_EQ(analysis.kernels.size(), 1U);
  EXPECT_EQ(analysis.kernels[0].durations.total, 100'000);
  EXPECT_TRUE(analysis.kernels[0].occupancy);
}

TEST(Doubts, UnknownArchitecture) {
  CountedGpu gpu = test::mi300x();
  gpu.gfx = "gfx1234";
  gpu.product = "Prototype";
  gpu.target_version = 120304;
  const Analysis analysis =
      analyze_program({.gpu = gpu, .dispatches = {busy(gpu)}}, {{"SQ_WAVES", "GRBM_GUI_ACTIVE"}});
  check_promises(analysis);
  EXPECT_FALSE(analysis.roofline);
  EXPECT_EQ(analysis.roofline_missing.reason,
            "the counters of gfx1234 are not known to this version");
  EXPECT_EQ(analysis.kernels.size(), 1U);
  EXPECT_EQ(analysis.counters.size(), 2U);
}

TEST(Doubts, CountersOfAnotherArchitectureAreUnsupported) {
  // The names of gfx90a on a gfx942.
  const CountedGpu gpu = test::mi300x();
  CountedDispatch dispatch = busy(gpu);
  dispatch.counts["TCC_EA_RDREQ_sum"] = 100'000;
  dispatch.counts["TCC_EA_RDREQ_32B_sum"] = 20'000;
  const Analysis analysis = analyze_program(
      {.gpu = gpu, .dispatches = {dispatch}},
      {{"GRBM_GUI_ACTIVE", "TCC_EA_RDREQ_sum", "TCC_EA_RDREQ_32B_sum", "SQ_WAVES"}});
  check_promises(analysis);
  const KernelRoofline& kernel = kernel_of(analysis);
  const CounterValue* const requests = counter_of(kernel, "TCC_EA_RDREQ_sum", 1);
  ASSERT_NE(requests, nullptr);
  EXPECT_EQ(requests->state, CounterState::unsupported);
  EXPECT_FALSE(requests->reason.empty());
  EXPECT_EQ(counter_of(kernel, "SQ_WAVES", 1)->state, CounterState::measured);
  EXPECT_EQ(level_of(kernel, "hbm").read_bytes.state, CounterState::missing);
  EXPECT_EQ(level_of(kernel, "hbm").bytes, std::nullopt);
}

TEST(Doubts, WithoutATimingRunTimesAreOfThePasses) {
  const CountedGpu gpu = test::mi300x();
  Files files = write({.gpu = gpu, .dispatches = {busy(gpu)}}, own_sets(gpu.gfx));
  files.erase(files.begin());
  const Analysis analysis = analyze_paths(files);
  check_promises(analysis);
  EXPECT_TRUE(analysis.timed_under_counters);
  const KernelRoofline& kernel = kernel_of(analysis);
  EXPECT_EQ(kernel.time_from, "counter passes");
  EXPECT_FIGURE(kernel.time_ns, 100'000);
  EXPECT_EQ(kernel.dispatches, 1U);
  EXPECT_TRUE(kernel.binding);
}

TEST(Doubts, AProgramThatRunsAKernelMoreOftenInOnePass) {
  const CountedGpu gpu = test::mi300x();
  const CountedProgram twice{.gpu = gpu, .dispatches = {busy(gpu), busy(gpu)}};
  const CountedProgram thrice{.gpu = gpu, .dispatches = {busy(gpu), busy(gpu), busy(gpu)}};
  const auto sets = own_sets(gpu.gfx);
  const Files files = write(twice, sets);
  const KernelRoofline whole = kernel_of(analyze_paths(files));
  for (int changed = 1; changed <= static_cast<int>(sets.size()); ++changed) {
    SCOPED_TRACE(fmt::format("pass {}", changed));
    rewrite(files, changed, thrice, sets);
    const Analysis analysis = analyze_paths(files);
    check_promises(analysis);
    const KernelRoofline& kernel = kernel_of(analysis);
    EXPECT_EQ(kernel.dispatches, 2U);
    expect_same_or_none(kernel, whole);
    EXPECT_TRUE(kernel.per_dispatch.empty());  // nobody knows which of three is which of two
    EXPECT_EQ(kernel.dispatches_left_out, 3U);
    const bool told = std::ranges::any_of(kernel.missing, [](const Missing& missing) {
      return missing.reason.find("did not do the same work each time") != std::string::npos;
    });
    const bool of_features = std::ranges::any_of(kernel.features, [](const Figure& figure) {
      return figure.reason.find("did not do the same work each time") != std::string::npos;
    });
    EXPECT_TRUE(told || of_features || changed >= 5);
    rewrite(files, changed, twice, sets);
  }
}

TEST(Doubts, AProgramWhoseKernelsHaveOtherNamesInOnePass) {
  const CountedGpu gpu = test::mi300x();
  const CountedProgram program{.gpu = gpu, .dispatches = {busy(gpu)}};
  const auto sets = own_sets(gpu.gfx);
  const Files files = write(program, sets);
  const KernelRoofline whole = kernel_of(analyze_paths(files));
  CountedProgram other = program;
  other.dispatches[0].kernel = "other";
  rewrite(files, 2, other, sets);
  const Analysis analysis = analyze_paths(files);
  check_promises(analysis);
  const KernelRoofline& kernel = kernel_of(analysis, "kernel");
  expect_same_or_none(kernel, whole);
  EXPECT_EQ(level_of(kernel, "hbm").read_bytes.value, std::nullopt);
  EXPECT_FALSE(level_of(kernel, "hbm").read_bytes.reason.empty());
  const KernelRoofline& stranger = kernel_of(analysis, "other");
  EXPECT_EQ(stranger.time_ns, std::nullopt);
  ASSERT_NE(missing_of(stranger, "time_ns"), nullptr);
  EXPECT_EQ(missing_of(stranger, "time_ns")->reason,
            "the run that gives the times did not dispatch this kernel");
  EXPECT_EQ(stranger.gflops, std::nullopt);
  ASSERT_EQ(analysis.roofline->kernels.size(), 2U);
  EXPECT_EQ(analysis.roofline->kernels[1].kernel, "other");  // without time: last
}

TEST(Doubts, AllZeroIsNotATrueZero) {
  const CountedGpu gpu = test::mi300x();
  CountedDispatch nothing = counted(gpu);
  nothing.counts.clear();
  const Analysis analysis = analyze_program({.gpu = gpu, .dispatches = {nothing}});
  check_promises(analysis);
  const KernelRoofline& kernel = kernel_of(analysis);
  for (const CounterValue& counter : kernel.counters)
    EXPECT_EQ(counter.state, CounterState::suspicious) << counter.name;
  EXPECT_EQ(kernel.flops_raw, std::nullopt);
  EXPECT_EQ(kernel.binding, std::nullopt);
  for (const LevelTraffic& level : kernel.levels) {
    EXPECT_EQ(level.bytes, std::nullopt) << level.name;
    if (level.read_bytes.state != CounterState::unsupported) {
      EXPECT_EQ(level.read_bytes.state, CounterState::suspicious) << level.name;
    }
  }
  ASSERT_NE(missing_of(kernel, "flops.raw"), nullptr);
  EXPECT_NE(missing_of(kernel, "flops.raw")->reason.find("nothing was counted"), std::string::npos);
}

TEST(Doubts, AProcessThatCountedNothingMakesItsPassSuspiciousForItsKernels) {
  // Two processes run `shared`, and the first runs `own` as well. In one pass after the other the
  // counters of the second process are all 0: half of the truth must not be told.
  const CountedGpu gpu = test::mi300x();
  CountedProgram first{.gpu = gpu, .dispatches = {busy(gpu), busy(gpu)}};
  first.dispatches[0].kernel = "shared";
  first.dispatches[1].kernel = "own";
  CountedProgram second{.gpu = gpu, .dispatches = {first.dispatches[0]}};
  const auto sets = own_sets(gpu.gfx);
  const Files files = write(first, sets);
  const std::filesystem::path folder = files.front().parent_path();
  const auto run_second = [&](int pass, bool dead) {
    test::RunOptions options{.stem = std::to_string(2000 + pass)};
    options.start += std::int64_t{1'000'000'000} * pass + 1'000;
    CountedProgram program = second;
    if (pass > 0) {
      options.pass = pass;
      options.counters = sets[static_cast<std::size_t>(pass) - 1];
      if (dead) program.dispatches[0].counts.clear();
    }
    const auto written = test::write_run(folder, program, options);
    EXPECT_TRUE(written) << describe(written.error());
    return written.value_or(std::filesystem::path());
  };
  Files all = files;
  const int passes = static_cast<int>(sets.size());
  for (int pass = 0; pass <= passes; ++pass) all.push_back(run_second(pass, false));
  const Analysis healthy = analyze_paths(all);
  const KernelRoofline shared = kernel_of(healthy, "shared");
  EXPECT_EQ(shared.dispatches, 2U);
  EXPECT_FIGURE(level_of(shared, "hbm").bytes, 2 * 10'560'000.0);
  for (int dead = 1; dead <= passes; ++dead) {
    SCOPED_TRACE(fmt::format("pass {}", dead));
    run_second(dead, true);
    const Analysis analysis = analyze_paths(all);
    check_promises(analysis);
    const KernelRoofline& kernel = kernel_of(analysis, "shared");
    expect_same_or_none(kernel, shared);
    for (const CounterValue& counter : kernel.counters) {
      if (counter.pass != dead) continue;
      EXPECT_EQ(counter.state, CounterState::suspicious) << counter.name;
      EXPECT_NE(counter.reason.find("nothing was counted"), std::string::npos) << counter.reason;
    }
    if (dead == 2) {  // that of reads beyond L2
      EXPECT_EQ(level_of(kernel, "hbm").read_bytes.state, CounterState::suspicious);
      EXPECT_EQ(level_of(kernel, "hbm").bytes, std::nullopt);
      for (const DispatchFigures& row : kernel.per_dispatch)
        EXPECT_EQ(row.hbm_read_bytes, std::nullopt);
    }
    const KernelRoofline& own = kernel_of(analysis, "own");
    for (const CounterValue& counter : own.counters)
      EXPECT_NE(counter.state, CounterState::suspicious) << counter.name;
    EXPECT_FIGURE(level_of(own, "hbm").bytes, 10'560'000);
    EXPECT_TRUE(own.flops_raw);
    EXPECT_TRUE(own.binding);
    run_second(dead, false);
  }
}

TEST(Doubts, ZeroAmongOtherCountsIsATrueZero) {
  const CountedGpu gpu = test::mi300x();
  const Analysis analysis = analyze_program({.gpu = gpu, .dispatches = {counted(gpu)}});
  const KernelRoofline& kernel = kernel_of(analysis);
  EXPECT_EQ(counter_of(kernel, "SQ_WAVES_LT_64", 1)->state, CounterState::zero);
  EXPECT_EQ(kernel.flops_raw, 0);
}

TEST(Doubts, WavesWithoutInstructionsAreSuspicious) {
  const CountedGpu gpu = test::mi300x();
  const Analysis analysis =
      analyze_program({.gpu = gpu, .dispatches = {counted(gpu, {{"SQ_INSTS", 0}})}});
  check_promises(analysis);
  const KernelRoofline& kernel = kernel_of(analysis);
  for (const char* name : {"SQ_WAVES", "SQ_INSTS", "SQ_WAVE_CYCLES"}) {
    const CounterValue* const counter = counter_of(kernel, name, 1);
    ASSERT_NE(counter, nullptr) << name;
    EXPECT_EQ(counter->state, CounterState::suspicious) << name;
    EXPECT_NE(counter->reason.find("no instruction"), std::string::npos) << counter->reason;
  }
  EXPECT_EQ(counter_of(kernel, "TCC_HIT_sum", 1)->state, CounterState::measured);
  EXPECT_EQ(feature_of(kernel, "instructions_per_wave").state, CounterState::suspicious);
  EXPECT_EQ(feature_of(kernel, "wave_time.dependency").state, CounterState::suspicious);
  EXPECT_FIGURE(feature_of(kernel, "hit.l2").value, 30);
}

TEST(Doubts, HalfOfTheWavesAreSuspicious) {
  const CountedGpu gpu = test::mi300x();
  const Analysis analysis =
      analyze_program({.gpu = gpu, .dispatches = {counted(gpu, {{"SQ_WAVES", 512}})}});
  check_promises(analysis);
  const KernelRoofline& kernel = kernel_of(analysis);
  const CounterValue* const waves = counter_of(kernel, "SQ_WAVES", 1);
  ASSERT_NE(waves, nullptr);
  EXPECT_EQ(waves->state, CounterState::suspicious);
  EXPECT_NE(waves->reason.find("512 waves were counted where 1024 were launched"),
            std::string::npos)
      << waves->reason;
  EXPECT_EQ(feature_of(kernel, "instructions_per_wave").value, std::nullopt);
  EXPECT_EQ(feature_of(kernel, "occupancy.busy_cus_waves").value, std::nullopt);
  EXPECT_EQ(feature_of(kernel, "occupancy.busy_cus_waves").state, CounterState::suspicious);
}

TEST(Doubts, WhatHalfOfTheGpuSawIsNotTheKernelsWork) {
  // Half of the dies were seen in every pass, but only the first pass counts waves: the FLOPs of
  // the other passes are half of the truth, and somebody must say so.
  const CountedGpu gpu = test::mi300x();
  CountedDispatch half = counted(gpu, {{"SQ_INSTS_VALU_FMA_F32", 1'024'000}});
  for (auto& [name, count] : half.counts)
    if (name != "GRBM_GUI_ACTIVE") count /= 2;
  const Analysis analysis = analyze_program({.gpu = gpu, .dispatches = {half}});
  const KernelRoofline& kernel = kernel_of(analysis);
  EXPECT_TRUE(!kernel.flops_raw || some_say(kernel.assumptions, "waves") ||
              some_say(kernel.explanations, "waves"))
      << *kernel.flops_raw << " FLOP of 131072000, and not a word";
}

TEST(Doubts, ALastWorkGroupThatIsNotFullIsNoReasonForDoubt) {
  // 1025 work-items in groups of 1024: 16 waves and one more.
  const CountedGpu gpu = test::mi300x();
  CountedDispatch dispatch = counted(gpu, {{"SQ_WAVES", 17}});
  dispatch.grid = {.x = 1025};
  dispatch.workgroup = {.x = 1024};
  const Analysis analysis = analyze_program({.gpu = gpu, .dispatches = {dispatch}});
  const CounterValue* const waves = counter_of(kernel_of(analysis), "SQ_WAVES", 1);
  ASSERT_NE(waves, nullptr);
  EXPECT_EQ(waves->state, CounterState::measured) << waves->reason;
}

TEST(Doubts, RadeonsRunWavesOfBothSizes) {
  const CountedGpu gpu = test::rx7900xtx();
  for (const double waves : {1024.0, 2048.0}) {
    const Analysis analysis =
        analyze_program({.gpu = gpu, .dispatches = {counted(gpu, {{"SQ_WAVES", waves}})}});
    EXPECT_EQ(counter_of(kernel_of(analysis), "SQ_WAVES", 1)->state, CounterState::measured);
  }
  const Analysis few =
      analyze_program({.gpu = gpu, .dispatches = {counted(gpu, {{"SQ_WAVES", 900}})}});
  EXPECT_EQ(counter_of(kernel_of(few), "SQ_WAVES", 1)->state, CounterState::suspicious);
  const Analysis many =
      analyze_program({.gpu = gpu, .dispatches = {counted(gpu, {{"SQ_WAVES", 2300}})}});
  EXPECT_EQ(counter_of(kernel_of(many), "SQ_WAVES", 1)->state, CounterState::suspicious);
}

TEST(Doubts, CyclesThatNoClockAllowsAreSuspicious) {
  // 100 ms, where launch overhead does not matter: a tenth of the clock is slow but possible, three
  // times the highest is not, nor is a hundredth.
  const CountedGpu gpu = test::mi300x();
  for (const auto& [factor, possible] :
       {std::pair{1.0, true}, {0.1, true}, {0.01, false}, {3.0, false}, {8.0, false}}) {
    SCOPED_TRACE(factor);
    CountedDispatch dispatch = busy(gpu);
    dispatch.duration = 100'000'000;
    dispatch.counts["GRBM_GUI_ACTIVE"] = factor * gpu.cycles(dispatch.duration);
    const Analysis analysis = analyze_program({.gpu = gpu, .dispatches = {dispatch}});
    check_promises(analysis);
    const KernelRoofline& kernel = kernel_of(analysis);
    const CounterValue* const cycles = counter_of(kernel, "GRBM_GUI_ACTIVE", 1);
    ASSERT_NE(cycles, nullptr);
    EXPECT_EQ(cycles->state, possible ? CounterState::measured : CounterState::suspicious);
    EXPECT_EQ(feature_of(kernel, "occupancy.achieved").value.has_value(), possible);
    EXPECT_EQ(feature_of(kernel, "cycles").value.has_value(), possible);
    EXPECT_TRUE(kernel.flops_raw);  // not built from cycles
  }
}

TEST(Doubts, LaunchAndFlushExplainSomeCyclesOfAShortKernelButNotAMillisecond) {
  // 46,074 cycles were recorded for a kernel of 20 us at 1700 MHz; 1.8 million are 1.06 ms.
  const CountedGpu gpu = test::mi210();
  for (const auto& [cycles, possible] : {std::pair{46'074.0, true}, {1.8e6, false}}) {
    SCOPED_TRACE(cycles);
    CountedDispatch dispatch = counted(gpu, {{"GRBM_GUI_ACTIVE", cycles}});
    dispatch.duration = 20'000;
    const Analysis analysis = analyze_program({.gpu = gpu, .dispatches = {dispatch}});
    check_promises(analysis);
    const KernelRoofline& kernel = kernel_of(analysis);
    const CounterValue* const counter = counter_of(kernel, "GRBM_GUI_ACTIVE", 1);
    ASSERT_NE(counter, nullptr);
    EXPECT_EQ(counter->state, possible ? CounterState::measured : CounterState::suspicious);
    EXPECT_EQ(feature_of(kernel, "cycles").value.has_value(), possible);
    EXPECT_EQ(feature_of(kernel, "occupancy.achieved").value.has_value(), possible);
  }
}

TEST(Doubts, CyclesOfAnUnknownNumberOfDiesAreInNoDoubt) {
  // The sum over eight dies, of a GPU that neither the recording nor a table knows well enough.
  CountedGpu gpu = test::mi300x();
  CountedDispatch dispatch = counted(gpu);
  dispatch.duration = 100'000'000;
  dispatch.counts["GRBM_GUI_ACTIVE"] = gpu.cycles(dispatch.duration);
  gpu.product = "Prototype";
  gpu.xccs = 0;  // which no GPU has: not known
  const Analysis analysis = analyze_program({.gpu = gpu, .dispatches = {dispatch}});
  check_promises(analysis);
  const KernelRoofline& kernel = kernel_of(analysis);
  const CounterValue* const cycles = counter_of(kernel, "GRBM_GUI_ACTIVE", 1);
  ASSERT_NE(cycles, nullptr);
  EXPECT_EQ(cycles->state, CounterState::measured) << cycles->reason;
  EXPECT_EQ(feature_of(kernel, "cycles").value, std::nullopt);
  EXPECT_EQ(feature_of(kernel, "cycles").reason, "XCC of this GPU is not known");
}

TEST(Doubts, SharesAboveOneAreExplained) {
  // Much more work in a microsecond than any of these GPUs can do.
  for (const CountedGpu& gpu : {test::mi210(), test::mi300x(), test::mi350x()}) {
    SCOPED_TRACE(gpu.gfx);
    CountedDispatch dispatch = busy(gpu);
    dispatch.duration = 1'000;
    for (auto& [name, count] : dispatch.counts)
      if (name.starts_with("TC") || name.starts_with("SQ_LDS") ||
          name.starts_with("SQ_INSTS_VALU_"))
        count *= 100;
    const Analysis analysis = analyze_program({.gpu = gpu, .dispatches = {dispatch}});
    check_promises(analysis);
    const KernelRoofline& kernel = kernel_of(analysis);
    for (const LevelTraffic& level : kernel.levels) {
      if (level.name == "lds" && gpu.gfx == "gfx950") continue;  // no share there: see the tables
      EXPECT_GT(level.share, 1) << level.name;
    }
    EXPECT_GT(kernel.compute_share, 1);
    EXPECT_GT(feature_of(kernel, "lds.util").value, 0);
  }
}

TEST(Doubts, AShareOfTheRoofThatBindsHasItsOwnExplanation) {
  // Three quarters of the lanes are masked, so that the achieved FLOP/s are below the compute roof,
  // but the vector pipe alone explains twice the time. That L2 is above its ceiling as well is
  // another matter.
  const CountedGpu gpu = test::mi300x();
  CountedDispatch dispatch = counted(gpu, {{"SQ_INSTS_VALU_FMA_F32", 128'000'000},
                                           {"SQ_THREAD_CYCLES_VALU", 16 * 2'048'000.0},
                                           {"TCP_TCC_READ_REQ_sum", 30'000'000}});
  const Analysis analysis = analyze_program({.gpu = gpu, .dispatches = {dispatch}});
  const KernelRoofline& kernel = kernel_of(analysis);
  ASSERT_TRUE(kernel.binding);
  EXPECT_EQ(kernel.binding->roof, "compute");
  EXPECT_GT(kernel.binding->share, 1);
  EXPECT_GT(level_of(kernel, "l2").share, 1);
  EXPECT_TRUE(some_say(kernel.explanations, "% of the l2"));
  EXPECT_TRUE(some_say(kernel.explanations, "% of the roof that binds") ||
              some_say(kernel.explanations, "% of the compute roof"));
}

TEST(Doubts, SingleDispatchesAreListedUpTo64) {
  const CountedGpu gpu = test::mi300x();
  CountedProgram program{.gpu = gpu, .dispatches = {}};
  for (int i = 0; i < 70; ++i) program.dispatches.push_back(counted(gpu));
  for (int i = 0; i < 5; ++i) {
    program.dispatches.push_back(counted(gpu, {{"SQ_WAVES", 2048}}));
    program.dispatches.back().grid = {.x = 2 * 65536};
  }
  const Analysis analysis = analyze_program(program);
  check_promises(analysis);
  const KernelRoofline& kernel = kernel_of(analysis);
  EXPECT_EQ(kernel.dispatches, 75U);
  EXPECT_EQ(kernel.per_dispatch.size(), 64U);
  EXPECT_EQ(kernel.dispatches_left_out, 11U);
  EXPECT_FIGURE(level_of(kernel, "hbm").bytes, 75 * 10'560'000.0);
}

TEST(Doubts, KernelsWithMostTimeComeFirst) {
  const CountedGpu gpu = test::mi300x();
  CountedProgram program{.gpu = gpu, .dispatches = {}};
  for (const auto& [name, duration] :
       {std::pair{"short", 20'000}, {"long", 300'000}, {"middle", 100'000}}) {
    program.dispatches.push_back(counted(gpu));
    program.dispatches.back().kernel = name;
    program.dispatches.back().duration = duration;
  }
  const Analysis analysis = analyze_program(program);
  check_promises(analysis);
  ASSERT_TRUE(analysis.roofline);
  std::vector<std::string> names;
  for (const KernelRoofline& kernel : analysis.roofline->kernels) names.push_back(kernel.kernel);
  EXPECT_EQ(names, (std::vector<std::string>{"long", "middle", "short"}));
}

}  // namespace
}  // namespace perflab::analyze
