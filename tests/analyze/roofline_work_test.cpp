// What a kernel's work is, where floating-point counters do not tell all of it: integer
// instructions, matrix types that nobody recorded, Radeons whose waves have two sizes; and what the
// roof and the single dispatches say of it. Rates: docs/facts/hardware.md "Limits and rates".
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>

#include "analyze/roofline_checks.h"

namespace perflab::analyze {
namespace {

using enum hal::Pipe;
using enum hal::Precision;
using test::CountedDispatch;
using test::CountedGpu;
using Sets = std::vector<std::vector<std::string>>;

constexpr double kKernelNs = 100'000;  // of every kernel here

/// The sets of an architecture without the counters whose names begin like one of these.
Sets sets_without(const CountedGpu& gpu, const std::vector<std::string>& prefixes) {
  Sets sets = own_sets(gpu.gfx);
  for (auto& set : sets)
    std::erase_if(set, [&](const std::string& counter) {
      return std::ranges::any_of(
          prefixes, [&](const std::string& prefix) { return counter.starts_with(prefix); });
    });
  return sets;
}

KernelRoofline run(const CountedGpu& gpu, const CountedDispatch& dispatch, const Sets& sets) {
  const Analysis analysis = analyze_program({.gpu = gpu, .dispatches = {dispatch}}, sets);
  check_promises(analysis);
  return kernel_of(analysis);
}

class WorkOfInstinct : public testing::TestWithParam<CountedGpu> {
 protected:
  const CountedGpu& gpu_ = GetParam();

  KernelRoofline run(const std::map<std::string, double>& counts,
                     const std::vector<std::string>& without = {}) {
    return analyze::run(gpu_, counted(gpu_, counts), sets_without(gpu_, without));
  }
  /// Operations per ns, one of every lane in every clock.
  [[nodiscard]] double lane_rate() const {
    return 64 * static_cast<double>(gpu_.cus) * static_cast<double>(gpu_.mhz) / 1000;
  }
};

INSTANTIATE_TEST_SUITE_P(, WorkOfInstinct,
                         testing::Values(test::mi210(), test::mi300x(), test::mi350x()),
                         [](const auto& of) { return of.param.gfx; });

TEST_P(WorkOfInstinct, IntegerInstructionsBindAKernelThatHasLittleElse) {
  // 64 x (9,000,000 + 1,000,000) OP: MI210 56.6 us, MI300X 15.7 us, MI350X 17.8 us of 100. Memory
  // takes 5.3, 2.0 and 1.3 us.
  const KernelRoofline kernel =
      run({{"SQ_INSTS_VALU_INT32", 9'000'000}, {"SQ_INSTS_VALU_INT64", 1'000'000}});
  EXPECT_EQ(kernel.flops_raw, 0);
  ASSERT_TRUE(kernel.binding);
  EXPECT_EQ(kernel.binding->roof, "integer");
  EXPECT_EQ(kernel.binding->bound, "compute");
  EXPECT_FIGURE(kernel.binding->share, 640'000'000 / lane_rate() / kKernelNs);
  EXPECT_NEAR(*kernel.binding->share,
              gpu_.gfx == "gfx90a"   ? 0.5656
              : gpu_.gfx == "gfx942" ? 0.1566
                                     : 0.1776,
              5e-5);
  EXPECT_FALSE(kernel.binding->attainable_gflops);
  ASSERT_NE(missing_of(kernel, "binding.attainable_gflops"), nullptr);
  EXPECT_FALSE(kernel.compute_roof.value);  // which is of floating-point work
}

TEST_P(WorkOfInstinct, FewIntegerInstructionsDoNotBind) {
  // 6,400,000 OP are 0.57 us at most.
  const KernelRoofline kernel = run({{"SQ_INSTS_VALU_INT32", 100'000}});
  ASSERT_TRUE(kernel.binding);
  EXPECT_EQ(kernel.binding->roof, "hbm");
  EXPECT_EQ(kernel.binding->bound, "memory");
}

TEST_P(WorkOfInstinct, FloatingPointWorkThatTakesLongerThanIntegersBinds) {
  // 128,000,000 OP and 2 x 64 x 10,000,000 FLOP at two per lane and clock: five times as long.
  const KernelRoofline kernel =
      run({{"SQ_INSTS_VALU_INT32", 2'000'000}, {"SQ_INSTS_VALU_FMA_F32", 10'000'000}});
  ASSERT_TRUE(kernel.binding);
  EXPECT_EQ(kernel.binding->roof, "compute");
  EXPECT_EQ(kernel.binding->bound, "compute");
}

TEST_P(WorkOfInstinct, IntegersThatNobodyCountedAreSaid) {
  const KernelRoofline kernel = run({}, {"SQ_INSTS_VALU_INT"});
  ASSERT_TRUE(kernel.binding);
  EXPECT_TRUE(some_say(kernel.assumptions, "without integer instructions"));
  EXPECT_FALSE(some_say(run({}).assumptions, "integer instructions"));
}

TEST_P(WorkOfInstinct, MatrixWorkOfAnUnknownAmountLeavesTheRoofOpen) {
  // Matrix instructions ran, of no floating-point type, and INT8 was not recorded: they may take
  // longer than the memory does.
  const KernelRoofline kernel = run({{"SQ_INSTS_MFMA", 1'000'000}}, {"SQ_INSTS_VALU_MFMA_MOPS_I8"});
  EXPECT_EQ(work_of(kernel, matrix, int8).flops.state, CounterState::missing);
  EXPECT_EQ(kernel.flops_raw, 0);
  EXPECT_FALSE(kernel.binding);
  const Missing* const why = missing_of(kernel, "binding");
  ASSERT_NE(why, nullptr);
  EXPECT_NE(why->reason.find("INT8"), std::string::npos) << why->reason;
  EXPECT_NE(why->reason.find("SQ_INSTS_VALU_MFMA_MOPS_I8"), std::string::npos) << why->reason;
}

TEST_P(WorkOfInstinct, WithoutMatrixInstructionsEveryMatrixTypeIsATrueZero) {
  const KernelRoofline kernel = run({{"SQ_INSTS_MFMA", 0}, {"SQ_INSTS_VALU_FMA_F32", 1'024'000}},
                                    {"SQ_INSTS_VALU_MFMA_MOPS_"});
  int types = 0;
  for (const Work& work : kernel.work) {
    if (work.pipe != matrix) continue;
    ++types;
    EXPECT_EQ(work.flops.state, CounterState::zero) << work.flops.name;
    EXPECT_EQ(work.flops.value, 0) << work.flops.name;
    EXPECT_EQ(work.flops.passes, (std::vector<int>{2})) << work.flops.name;  // of SQ_INSTS_MFMA
  }
  EXPECT_GE(types, 5);
  EXPECT_FIGURE(kernel.flops_raw, 131'072'000);
  EXPECT_EQ(kernel.flops_are, "lane-corrected");
  EXPECT_TRUE(kernel.binding);
  ASSERT_EQ(kernel.per_dispatch.size(), 1U);
  EXPECT_FIGURE(kernel.per_dispatch[0].flops, 131'072'000);
}

TEST_P(WorkOfInstinct, MatrixInstructionsOfUnknownTypesLeaveTheFlopsOpen) {
  const KernelRoofline kernel = run({{"SQ_INSTS_MFMA", 1}, {"SQ_INSTS_VALU_FMA_F32", 1'024'000}},
                                    {"SQ_INSTS_VALU_MFMA_MOPS_"});
  EXPECT_EQ(kernel.flops_raw, std::nullopt);
  EXPECT_FALSE(kernel.binding);
  ASSERT_EQ(kernel.per_dispatch.size(), 1U);
  EXPECT_EQ(kernel.per_dispatch[0].flops, std::nullopt);
}

TEST_P(WorkOfInstinct, TheRoofsFormulaNamesSharesOfItsTime) {
  // Vector FP32 131,072,000, matrix FP16 262,144,000 FLOP, matrix INT8 512,000,000 OP: of the three
  // times, not of the FLOPs, which integers are not even among.
  const std::regex share("([0-9.e+-]+) % of the time");
  for (const double integers : {0.0, 1'000'000.0}) {
    SCOPED_TRACE(integers);
    const KernelRoofline kernel = run({{"SQ_INSTS_VALU_FMA_F32", 1'024'000},
                                       {"SQ_INSTS_VALU_MFMA_MOPS_F16", 512'000},
                                       {"SQ_INSTS_VALU_MFMA_MOPS_I8", integers}});
    const std::string& formula = kernel.compute_roof.formula;
    double sum = 0;
    int parts = 0;
    for (std::sregex_iterator at(formula.begin(), formula.end(), share), end; at != end; ++at) {
      sum += std::stod((*at)[1]);
      ++parts;
    }
    EXPECT_EQ(parts, integers > 0 ? 3 : 2) << formula;
    EXPECT_NEAR(sum, 100, 1e-3) << formula;
    if (integers > 0) continue;
    // With q = matrix rate / vector rate = 8, 16, 32: q parts of time to 2.
    const char* const vector_share = gpu_.gfx == "gfx90a"   ? "80 % of the time vector fp32"
                                     : gpu_.gfx == "gfx942" ? "88.8889 % of the time vector fp32"
                                                            : "94.1176 % of the time vector fp32";
    EXPECT_TRUE(formula.starts_with(vector_share)) << formula;
    EXPECT_NE(formula.find("% of the time matrix fp16 at"), std::string::npos) << formula;
  }
}

TEST_P(WorkOfInstinct, WavesInFlightOfADispatchAreOfOnePass) {
  const double waves = 8 * static_cast<double>(gpu_.cus);
  const KernelRoofline whole = run({});
  ASSERT_EQ(whole.per_dispatch.size(), 1U);
  EXPECT_FIGURE(whole.per_dispatch[0].waves_in_flight, waves);
  EXPECT_EQ(whole.per_dispatch[0].waves_across_passes, std::nullopt);
  // The cycles of another pass: the kernel ran at another clock there, and nobody can know.
  const KernelRoofline apart =
      analyze::run(gpu_, counted(gpu_), {{"SQ_WAVES", "SQ_WAVE_CYCLES"}, {"GRBM_GUI_ACTIVE"}});
  ASSERT_EQ(apart.per_dispatch.size(), 1U);
  EXPECT_EQ(apart.per_dispatch[0].waves_in_flight, std::nullopt);
  EXPECT_FIGURE(apart.per_dispatch[0].waves_across_passes, waves);
  // A later pass that has both goes before them.
  const KernelRoofline later = analyze::run(
      gpu_, counted(gpu_),
      {{"SQ_WAVES", "SQ_WAVE_CYCLES"}, {"GRBM_GUI_ACTIVE"}, {"SQ_WAVE_CYCLES", "GRBM_GUI_ACTIVE"}});
  ASSERT_EQ(later.per_dispatch.size(), 1U);
  EXPECT_FIGURE(later.per_dispatch[0].waves_in_flight, waves);
}

class WorkOfRadeon : public testing::TestWithParam<CountedGpu> {
 protected:
  const CountedGpu& gpu_ = GetParam();
};

INSTANTIATE_TEST_SUITE_P(, WorkOfRadeon,
                         testing::Values(test::rx6900xt(), test::rx7900xtx(), test::rx9070xt()),
                         [](const auto& of) { return of.param.gfx; });

TEST_P(WorkOfRadeon, TheWavesThatWereCountedTellTheirSize) {
  // 65,536 work-items: 2048 waves of 32, 1024 of 64.
  for (const double size : {32.0, 64.0}) {
    SCOPED_TRACE(size);
    const KernelRoofline kernel =
        run(gpu_, counted(gpu_, {{"SQ_WAVES", 65'536 / size}}), own_sets(gpu_.gfx));
    EXPECT_EQ(kernel.flops_are, "estimate");
    ASSERT_TRUE(kernel.estimate);
    EXPECT_FIGURE(kernel.estimate->flops, 2'048'000 * size);
    EXPECT_FIGURE(kernel.gflops, 2'048'000 * size / kKernelNs);
    EXPECT_EQ(kernel.flops_raw, std::nullopt);
    EXPECT_FALSE(kernel.estimate->known_error.empty());
    EXPECT_EQ(missing_of(kernel, "flops.estimate"), nullptr);
  }
}

TEST_P(WorkOfRadeon, WithoutTheWavesThereIsNoEstimate) {
  const KernelRoofline kernel = run(gpu_, counted(gpu_), sets_without(gpu_, {"SQ_WAVES"}));
  EXPECT_FALSE(kernel.estimate);
  EXPECT_EQ(kernel.gflops, std::nullopt);
  EXPECT_EQ(kernel.flops_are, "");
  const Missing* const why = missing_of(kernel, "flops.estimate");
  ASSERT_NE(why, nullptr);
  EXPECT_FALSE(why->reason.empty());
}

TEST_P(WorkOfRadeon, WavesThatFitBothSizesTellNothing) {
  // Work-groups of 32: one wave each, whatever its size.
  CountedDispatch dispatch = counted(gpu_, {{"SQ_WAVES", 2048}});
  dispatch.workgroup = {.x = 32};
  const KernelRoofline kernel = run(gpu_, dispatch, own_sets(gpu_.gfx));
  EXPECT_FALSE(kernel.estimate);
  EXPECT_NE(missing_of(kernel, "flops.estimate"), nullptr);
}

TEST_P(WorkOfRadeon, KernelsHaveSizesOfTheirOwn) {
  CountedDispatch narrow = counted(gpu_, {{"SQ_WAVES", 2048}});
  narrow.kernel = "wave32";
  CountedDispatch wide = counted(gpu_, {{"SQ_WAVES", 1024}});
  wide.kernel = "wave64";
  const Analysis analysis = analyze_program({.gpu = gpu_, .dispatches = {narrow, wide}});
  check_promises(analysis);
  ASSERT_TRUE(kernel_of(analysis, "wave32").estimate);
  EXPECT_FIGURE(kernel_of(analysis, "wave32").estimate->flops, 2'048'000 * 32);
  ASSERT_TRUE(kernel_of(analysis, "wave64").estimate);
  EXPECT_FIGURE(kernel_of(analysis, "wave64").estimate->flops, 2'048'000 * 64);
}

}  // namespace
}  // namespace perflab::analyze
