// The kernel table and the choice of the kernel that the profile is about (docs/models/times.md
// "The selected kernel").
#include "analyze/kernels/kernel_table.h"

#include <gtest/gtest.h>

#include <numeric>

#include "analyze/pipeline.h"
#include "analyze/trace_builder.h"

namespace perflab::analyze {
namespace {

using trace::Index;

class KernelTable : public testing::Test {
 protected:
  KernelTable() {
    b_.source();
    b_.agent("gfx942", "AMD Instinct MI300X");
  }
  [[nodiscard]] Analysis analysis() const { return analyze_trace(b_.trace); }
  [[nodiscard]] std::string selected() const {
    const Analysis a = analysis();
    return a.selection ? a.kernels[a.selection->kernel].name : "(none)";
  }
  TraceBuilder b_;
};

using Selecting = KernelTable;

TEST_F(Selecting, TakesTheLongestDispatchNotTheLargestTotal) {
  b_.dispatches(b_.kernel("often"), {40, 40, 40, 40});
  b_.dispatches(b_.kernel("long"), {50});
  const Analysis a = analysis();
  EXPECT_EQ(selected(), "long");
  EXPECT_EQ(a.selection->longest_dispatch, 50);
  EXPECT_FALSE(a.selection->only_runtime_helpers);
  EXPECT_EQ(a.kernels[0].name, "often");
}

TEST_F(Selecting, LeavesOutTheHelpersOfTheRuntime) {
  b_.dispatches(b_.kernel("__amd_rocclr_fillBufferAligned"), {900});
  b_.dispatches(b_.kernel("user"), {5});
  EXPECT_EQ(selected(), "user");
  EXPECT_TRUE(analysis().kernels[0].runtime_helper);
  EXPECT_FALSE(analysis().kernels[1].runtime_helper);
}

TEST_F(Selecting, MostTimeIsTheLargestTotalOfThoseWithTheNameHelpersLast) {
  b_.dispatches(b_.kernel("__amd_rocclr_fillBufferAligned"), {900});
  b_.dispatches(b_.kernel("often"), {40, 40, 40, 40});
  b_.dispatches(b_.kernel("long"), {50});
  const std::vector<Kernel> kernels = analysis().kernels;
  const auto with_name = [&](const char* text) -> std::string {
    const Result<Pattern> pattern = Pattern::compile(text);
    const auto found = kernel_with_most_time(kernels, &pattern.value());
    return found ? kernels[*found].name : "(none)";
  };
  EXPECT_EQ(kernels[kernel_with_most_time(kernels).value()].name, "often");
  EXPECT_EQ(with_name("o"), "often");
  EXPECT_EQ(with_name("^l"), "long");
  EXPECT_EQ(with_name("fillBuffer"), "__amd_rocclr_fillBufferAligned");
  EXPECT_EQ(with_name("gemm"), "(none)");
  EXPECT_FALSE(kernel_with_most_time({}));
}

TEST_F(Selecting, KeepsAUserKernelCalledHipAnything) {
  const Index user = b_.code_object();
  b_.dispatches(b_.kernel("hip_anything", {.code_object = user}), {900});
  b_.dispatches(b_.kernel("hsa_mine"), {800});
  b_.dispatches(b_.kernel("other"), {5});
  EXPECT_EQ(selected(), "hip_anything");
}

TEST_F(Selecting, LeavesOutHipKernelsOfTheRuntimesCodeObject) {
  const Index runtime = b_.code_object();
  b_.trace.code_objects[runtime].of_runtime = true;
  b_.dispatches(b_.kernel("hipMemsetKernel", {.code_object = runtime}), {900});
  b_.dispatches(b_.kernel("hsa_helper", {.code_object = runtime}), {800});
  b_.dispatches(b_.kernel("user_in_runtime_object", {.code_object = runtime}), {5});
  EXPECT_EQ(selected(), "user_in_runtime_object");
}

TEST_F(Selecting, FlagsThatThereAreOnlyHelpers) {
  b_.dispatches(b_.kernel("__amd_rocclr_copyBuffer"), {10});
  b_.dispatches(b_.kernel("__amd_rocclr_fillBufferAligned"), {20});
  const Analysis a = analysis();
  EXPECT_EQ(selected(), "__amd_rocclr_fillBufferAligned");
  EXPECT_TRUE(a.selection->only_runtime_helpers);
  EXPECT_EQ(a.warnings,
            std::vector<std::string>{"only kernels of the runtime (its copies and fills) were "
                                     "dispatched: the longest of them is reported"});
}

TEST_F(Selecting, OfNothingIsNothing) {
  b_.kernel("never dispatched");
  EXPECT_EQ(selected(), "(none)");
  EXPECT_TRUE(analysis().kernels.empty());
}

TEST_F(Selecting, OfEqualDispatchesTakesTheKernelWithMoreTime) {
  b_.dispatches(b_.kernel("a"), {50});
  b_.dispatches(b_.kernel("b"), {50, 1});
  EXPECT_EQ(selected(), "b");
}

TEST_F(Selecting, OfEqualKernelsTakesTheFirstByName) {
  b_.dispatches(b_.kernel("b"), {50});
  b_.dispatches(b_.kernel("a"), {50});
  EXPECT_EQ(selected(), "a");
}

TEST_F(Selecting, AKernelNamedLikeAHelperInBothObjectsIsTheUsers) {
  const Index runtime = b_.code_object();
  b_.trace.code_objects[runtime].of_runtime = true;
  const Index user = b_.code_object();
  b_.dispatches(b_.kernel("hip_shared", {.code_object = runtime}), {900});
  b_.dispatches(b_.kernel("hip_shared", {.code_object = user}), {100});
  EXPECT_FALSE(analysis().kernels[0].runtime_helper);
}

TEST_F(KernelTable, FiguresOfFourDispatches) {
  b_.dispatches(b_.kernel("k"), {40, 10, 30, 20});
  const Durations d = analysis().kernels[0].durations;
  EXPECT_EQ(d.count, 4U);
  EXPECT_EQ(d.total, 100);
  EXPECT_EQ(d.min, 10);
  EXPECT_EQ(d.max, 40);
  EXPECT_DOUBLE_EQ(d.median, 25);
  EXPECT_DOUBLE_EQ(d.mean, 25);
  // Deviations 15, 15, 5, 5: sqrt(500 / 3) / 25.
  EXPECT_DOUBLE_EQ(d.cv.value(), 0.51639777949432230);
}

TEST_F(KernelTable, MedianOfAnOddCountIsTheMiddle) {
  b_.dispatches(b_.kernel("k"), {9, 1, 5});
  EXPECT_DOUBLE_EQ(analysis().kernels[0].durations.median, 5);
}

TEST_F(KernelTable, OneDispatchHasNoSpread) {
  b_.dispatches(b_.kernel("k"), {9});
  const Durations d = analysis().kernels[0].durations;
  EXPECT_EQ(d.cv, std::nullopt);
  EXPECT_DOUBLE_EQ(d.median, 9);
}

TEST_F(KernelTable, ZeroDispatchesInTotalHaveNoShareAndNoSpread) {
  b_.dispatches(b_.kernel("k"), {0, 0});
  const Kernel kernel = analysis().kernels[0];
  EXPECT_EQ(kernel.durations.total, 0);
  EXPECT_EQ(kernel.durations.cv, std::nullopt);
  EXPECT_EQ(kernel.share, 0);
}

TEST_F(KernelTable, SharesAreOfAllKernelTime) {
  b_.dispatches(b_.kernel("a"), {60});
  b_.dispatches(b_.kernel("b"), {10, 20});
  b_.dispatches(b_.kernel("c"), {10});
  const auto kernels = analysis().kernels;
  EXPECT_DOUBLE_EQ(kernels[0].share, 0.6);
  EXPECT_DOUBLE_EQ(kernels[1].share, 0.3);
  EXPECT_DOUBLE_EQ(kernels[2].share, 0.1);
}

TEST_F(KernelTable, SharesSumToOne) {
  for (std::int64_t i = 1; i <= 97; ++i)
    b_.dispatches(b_.kernel("k" + std::to_string(i)), {i * 7919 % 1013 + 1, i, 3 * i});
  const auto kernels = analysis().kernels;
  ASSERT_EQ(kernels.size(), 97U);
  double sum = 0;
  for (const Kernel& kernel : kernels) sum += kernel.share;
  EXPECT_NEAR(sum, 1, 1e-12);
}

TEST_F(KernelTable, IsOrderedByTimeThenName) {
  b_.dispatches(b_.kernel("z"), {10});
  b_.dispatches(b_.kernel("m"), {30});
  b_.dispatches(b_.kernel("a"), {10});
  const auto kernels = analysis().kernels;
  EXPECT_EQ(kernels[0].name, "m");
  EXPECT_EQ(kernels[1].name, "a");
  EXPECT_EQ(kernels[2].name, "z");
}

TEST_F(KernelTable, SymbolsOfOneNameAreOneKernel) {
  b_.dispatches(b_.kernel("k", {.arch_vgprs = 32}), {10});
  b_.source();
  b_.dispatches(b_.kernel("k", {.arch_vgprs = 64}), {20});
  b_.dispatches(b_.kernel("k", {.arch_vgprs = 64}), {30});
  const auto kernels = analysis().kernels;
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0].durations.total, 60);
  EXPECT_EQ(kernels[0].resource_variants, 2U);
  EXPECT_EQ(kernels[0].resources.arch_vgprs, 64);  // of the longest dispatch
}

TEST_F(KernelTable, CountsLaunchShapes) {
  const Index k = b_.kernel("k");
  const trace::LaunchConfig small{.workgroup = {64, 1, 1}, .grid = {64, 1, 1}};
  const trace::LaunchConfig large{.workgroup = {64, 1, 1}, .grid = {640, 1, 1}};
  b_.dispatch(k, {.start = 10, .duration = 5, .config = small});
  b_.dispatch(k, {.start = 20, .duration = 9, .config = large});
  b_.dispatch(k, {.start = 30, .duration = 5, .config = small});
  const Kernel kernel = analysis().kernels[0];
  EXPECT_EQ(kernel.launch_shapes, 2U);
  EXPECT_EQ(kernel.launch, large);
  EXPECT_EQ(kernel.workgroups, 10U);
}

TEST_F(KernelTable, CountsLinkedLaunches) {
  b_.region("HIP", "hipLaunchKernel", 1, 5);
  const Index k = b_.kernel("k");
  b_.dispatch(k, {.start = 10, .duration = 5, .launched = true});
  b_.dispatch(k, {.start = 20, .duration = 5});
  b_.dispatch(k, {.start = 30, .duration = 5, .launched = true});
  EXPECT_EQ(analysis().kernels[0].launches_linked, 2U);
}

TEST_F(KernelTable, TotalsBeyond64BitsStayAtTheLargest) {
  const Index k = b_.kernel("k");
  for (int i = 0; i < 3; ++i) b_.dispatch(k, {.start = 1, .duration = INT64_MAX - 1});
  const Analysis a = analysis();
  EXPECT_EQ(a.kernels[0].durations.total, INT64_MAX);
  EXPECT_EQ(a.activity.dispatch_total, INT64_MAX);
  EXPECT_EQ(a.warnings.size(), 1U);
}

TEST_F(KernelTable, ReportsTheFirstOfEquallyLongDispatches) {
  const Index k = b_.kernel("k");
  const trace::LaunchConfig first{.workgroup = {64, 1, 1}, .grid = {64, 1, 1}};
  const trace::LaunchConfig second{.workgroup = {64, 1, 1}, .grid = {640, 1, 1}};
  b_.dispatch(k, {.start = 10, .duration = 5, .config = first});
  b_.dispatch(k, {.start = 20, .duration = 5, .config = second});
  EXPECT_EQ(analysis().kernels[0].launch, first);
}

}  // namespace
}  // namespace perflab::analyze
