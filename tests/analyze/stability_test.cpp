// Stability over runs, and the run that stands for all.
#include "analyze/stability.h"

#include <gtest/gtest.h>

namespace perflab::analyze {
namespace {

using Runs = std::vector<std::optional<Analysis>>;

/// A run with one kernel "k" of that total, and that much time in all kernels.
Analysis run(std::int64_t kernel_total, std::int64_t all, const char* name = "k") {
  Analysis analysis;
  Kernel& kernel = analysis.kernels.emplace_back();
  kernel.name = name;
  kernel.durations.total = kernel_total;
  kernel.durations.count = 3;
  analysis.activity.dispatch_total = all;
  return analysis;
}

TEST(Stability, IsTheSpreadOfTheKernelsTotals) {
  const RunStability s = measure_stability({run(90, 500), run(100, 500), run(110, 500)}, "k");
  EXPECT_DOUBLE_EQ(s.cv.value(), 0.1);
  EXPECT_EQ(s.label, stats::Stability::moderate);
  ASSERT_EQ(s.runs.size(), 3U);
  EXPECT_EQ(s.runs[2].kernel_total, 110);
  EXPECT_EQ(s.runs[2].dispatches, 3U);
  EXPECT_EQ(s.runs[2].all_kernels_total, 500);
}

TEST(Stability, LabelsStableAndUnstable) {
  EXPECT_EQ(measure_stability({run(100, 1), run(101, 1)}, "k").label, stats::Stability::stable);
  EXPECT_EQ(measure_stability({run(100, 1), run(200, 1)}, "k").label, stats::Stability::unstable);
}

TEST(Stability, OfOneRunIsUnknown) {
  const RunStability s = measure_stability({run(100, 1)}, "k");
  EXPECT_EQ(s.cv, std::nullopt);
  EXPECT_EQ(s.label, std::nullopt);
}

TEST(Stability, LeavesOutRunsWithoutTheKernel) {
  const RunStability s =
      measure_stability({run(100, 7), run(5, 8, "other"), std::nullopt, run(100, 9)}, "k");
  EXPECT_DOUBLE_EQ(s.cv.value(), 0);
  ASSERT_EQ(s.runs.size(), 4U);
  EXPECT_EQ(s.runs[1].kernel_total, std::nullopt);
  EXPECT_EQ(s.runs[1].all_kernels_total, 8);
  EXPECT_EQ(s.runs[1].dispatches, 0U);
  EXPECT_EQ(s.runs[2].all_kernels_total, std::nullopt);
}

TEST(Stability, OfZeroTimeIsUnknown) {
  EXPECT_EQ(measure_stability({run(0, 1), run(0, 1)}, "k").cv, std::nullopt);
}

TEST(RepresentativeRun, IsTheMedianByTheTimeOfAllKernels) {
  EXPECT_EQ(representative_run(Runs{run(1, 30), run(2, 10), run(3, 20)}), 2U);
}

TEST(RepresentativeRun, OfAnEvenCountIsTheLowerMiddle) {
  EXPECT_EQ(representative_run(Runs{run(1, 40), run(1, 10), run(1, 30), run(1, 20)}), 3U);
}

TEST(RepresentativeRun, OfEqualRunsIsTheEarliest) {
  EXPECT_EQ(representative_run(Runs{run(1, 10), run(1, 10)}), 0U);
}

TEST(RepresentativeRun, SkipsRunsThatCouldNotBeUsed) {
  EXPECT_EQ(representative_run(Runs{std::nullopt, run(1, 50), std::nullopt}), 1U);
}

}  // namespace
}  // namespace perflab::analyze
