// Geometry of roofline charts: what holds for every chart, and places computed by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "report/roofline/roofline_chart.h"
#include "report/roofline_samples.h"

namespace perflab::report {
namespace {

void expect_inside(const Chart& chart, const ChartPoint& at, const std::string& what) {
  constexpr double kRoom = 1e-9;
  EXPECT_GE(std::log10(at.x), chart.x.low - kRoom) << what;
  EXPECT_LE(std::log10(at.x), chart.x.high + kRoom) << what;
  EXPECT_GE(std::log10(at.y), chart.y.low - kRoom) << what;
  EXPECT_LE(std::log10(at.y), chart.y.high + kRoom) << what;
}

/// What holds for every chart.
void expect_sound(const Chart& chart) {
  EXPECT_GE(chart.x.high - chart.x.low, 2);
  EXPECT_GE(chart.y.high - chart.y.low, 2);
  for (const ChartMark& mark : chart.marks) {
    expect_inside(chart, mark.at, mark.label);
    EXPECT_NE(mark.letter, "");
  }
  double bandwidth = 0, compute = 0;
  for (const ChartRoof& roof : chart.roofs)
    (roof.kind == RoofKind::memory ? bandwidth : compute) =
        std::max(roof.kind == RoofKind::memory ? bandwidth : compute, roof.value);
  for (const ChartRoof& roof : chart.roofs) {
    expect_inside(chart, roof.start, roof.label);
    expect_inside(chart, roof.end, roof.label);
    EXPECT_LT(roof.start.x, roof.end.x) << roof.label;
    if (roof.kind == RoofKind::memory) {
      // On the line, and up to the highest compute roof.
      EXPECT_NEAR(roof.start.y / (roof.value * roof.start.x), 1, 1e-9) << roof.label;
      EXPECT_NEAR(roof.end.y / (roof.value * roof.end.x), 1, 1e-9) << roof.label;
      if (compute > 0) {
        EXPECT_DOUBLE_EQ(roof.end.y, compute) << roof.label;
      }
    } else {
      EXPECT_EQ(roof.start.y, roof.value);
      EXPECT_EQ(roof.end.y, roof.value);
      if (bandwidth > 0) {
        EXPECT_NEAR(roof.start.x, roof.value / bandwidth, 1e-9 * roof.start.x) << roof.label;
      }
    }
  }
}

RooflineCharts charts_of(std::vector<analyze::KernelRoofline> kernels) {
  analyze::Roofline roofline;
  roofline.kernels = std::move(kernels);
  return roofline_charts(roofline);
}

const ChartRoof* find_roof(const Chart& chart, const std::string& name) {
  const auto found = std::ranges::find(chart.roofs, name, &ChartRoof::name);
  return found == chart.roofs.end() ? nullptr : &*found;
}

TEST(RooflineChart, OfOneKernelIsWhereHandsPutIt) {
  // 1000 GFLOP/s and 100 GB/s meet at 10 FLOP/byte.
  const RooflineCharts charts = charts_of({simple_kernel("k", 20, 0.5)});
  ASSERT_EQ(charts.gpus.size(), 1U);
  const Chart& chart = charts.gpus[0];
  expect_sound(chart);
  EXPECT_EQ(chart.x.low, -1);
  EXPECT_EQ(chart.x.high, 2);
  EXPECT_EQ(chart.y.low, 1);
  EXPECT_EQ(chart.y.high, 4);
  const ChartRoof* memory = find_roof(chart, "hbm");
  const ChartRoof* compute = find_roof(chart, "vector.fp32");
  const ChartRoof* mix = find_roof(chart, "A");
  ASSERT_TRUE(memory != nullptr && compute != nullptr && mix != nullptr);
  EXPECT_DOUBLE_EQ(memory->start.x, 0.1);
  EXPECT_DOUBLE_EQ(memory->start.y, 10);
  EXPECT_DOUBLE_EQ(memory->end.x, 10);
  EXPECT_DOUBLE_EQ(memory->end.y, 1000);
  EXPECT_EQ(memory->label, "memory 100 GB/s");
  EXPECT_DOUBLE_EQ(compute->start.x, 10);
  EXPECT_DOUBLE_EQ(compute->end.x, 100);
  EXPECT_EQ(compute->label, "vector fp32 1.00 TFLOP/s");
  EXPECT_EQ(mix->kind, RoofKind::mix);
  EXPECT_EQ(mix->kernel, 0U);
  ASSERT_EQ(chart.marks.size(), 1U);
  EXPECT_EQ(chart.marks[0].at.x, 0.5);
  EXPECT_EQ(chart.marks[0].at.y, 20);
  EXPECT_EQ(chart.marks[0].bound, "memory");
  EXPECT_EQ(chart.marks[0].attainable_gflops, 50);
  EXPECT_EQ(chart.marks[0].label, "k: 0.5 FLOP/byte of memory, 20.0 GFLOP/s");
}

TEST(RooflineChart, BoundsEachMarkByItsSideOfTheRidge) {
  const RooflineCharts charts =
      charts_of({simple_kernel("left", 20, 9.99), simple_kernel("right", 20, 10.01)});
  ASSERT_EQ(charts.gpus.size(), 1U);
  EXPECT_EQ(charts.gpus[0].marks[0].bound, "memory");
  EXPECT_EQ(charts.gpus[0].marks[1].bound, "compute");
  EXPECT_EQ(charts.gpus[0].marks[1].attainable_gflops, 1000);
}

TEST(RooflineChart, OfTheSampleHasOneChartPerGpu) {
  const RooflineCharts charts = roofline_charts(*sample_roofline().roofline);
  ASSERT_EQ(charts.gpus.size(), 2U);
  for (const Chart& chart : charts.gpus) expect_sound(chart);
  EXPECT_EQ(charts.gpus[0].product, "AMD Instinct MI300X");
  EXPECT_EQ(charts.gpus[1].architecture, "gfx1100");
  // gemm at three levels, axpy at two; each GPU begins with A.
  std::string marks;
  for (const ChartMark& mark : charts.gpus[0].marks) marks += mark.letter + ":" + mark.level + " ";
  EXPECT_EQ(marks, "A:hbm A:l2 A:lds B:hbm B:l2 ");
  ASSERT_EQ(charts.gpus[1].marks.size(), 1U);
  EXPECT_EQ(charts.gpus[1].marks[0].letter, "A");
  EXPECT_EQ(charts.gpus[1].marks[0].bound, "");  // no compute roof
  EXPECT_TRUE(charts.gpus[1].roofs[0].measured);
}

TEST(RooflineChart, HasTheRoofsThatKernelsUseEachOnce) {
  const Chart chart = roofline_charts(*sample_roofline().roofline).gpus[0];
  std::string names;
  for (const ChartRoof& roof : chart.roofs) names += roof.name + " ";
  // axpy counted no matrix operations: only gemm brings that roof. Compute from the top.
  EXPECT_EQ(names, "hbm l2 lds matrix.fp16 vector.fp32 vector.fp64 A B ");
}

TEST(RooflineChart, SaysWhyAKernelHasNoMark) {
  const RooflineCharts charts = roofline_charts(*sample_roofline().roofline);
  ASSERT_EQ(charts.without_mark.size(), 2U);
  EXPECT_EQ(charts.without_mark[0].kernel, 1U);
  EXPECT_EQ(charts.without_mark[0].reason, "it does no floating-point operations");
  EXPECT_EQ(charts.without_mark[1].reason, "its floating-point rate is not known");
}

TEST(RooflineChart, TakesTheReasonOfTheAnalysis) {
  analyze::KernelRoofline kernel = simple_kernel("k", 20, 0.5);
  kernel.gflops.reset();
  kernel.missing = {{.field = "gflops", .reason = "no time", .remedy = ""},
                    {.field = "flops.raw", .reason = "pass 3 is not there", .remedy = ""}};
  EXPECT_EQ(charts_of({kernel}).without_mark.at(0).reason, "pass 3 is not there");
  kernel.missing.pop_back();
  EXPECT_EQ(charts_of({kernel}).without_mark.at(0).reason, "no time");
}

TEST(RooflineChart, LeavesOutWhatCannotBeDrawn) {
  for (const double rate : {1e200, -5.0, std::nan("")}) {
    const RooflineCharts charts = charts_of({simple_kernel("k", rate, 1)});
    EXPECT_TRUE(charts.gpus.empty()) << rate;
    ASSERT_EQ(charts.without_mark.size(), 1U);
    EXPECT_GT(charts.without_mark[0].reason.size(), 10U);
  }
  analyze::KernelRoofline kernel = simple_kernel("k", 5, 1);
  kernel.levels[0].intensity.reset();
  EXPECT_EQ(charts_of({kernel}).without_mark.at(0).reason,
            "its FLOP per byte of memory are not known");
}

TEST(RooflineChart, HasAMarkAtMemoryOnlyWithTheIntensityThere) {
  analyze::KernelRoofline lost = simple_kernel("lost", 20, 0.5);
  lost.levels.push_back(lost.levels[0]);
  lost.levels[0].intensity.reset();
  lost.levels[1].name = "l2";
  lost.missing = {{.field = "levels.hbm.intensity", .reason = "no bytes", .remedy = ""},
                  {.field = "levels.hbm.bytes", .reason = "TCC_EA0_RDREQ is lost", .remedy = ""}};
  const RooflineCharts charts = charts_of({lost, simple_kernel("k", 20, 2)});
  ASSERT_EQ(charts.gpus.size(), 1U);
  expect_sound(charts.gpus[0]);
  // The document has the mark that there is; the drawing is of memory, and has none of it.
  ASSERT_EQ(charts.gpus[0].marks.size(), 2U);
  EXPECT_EQ(charts.gpus[0].marks[0].level, "l2");
  const std::vector<const ChartMark*> marks = memory_marks(charts.gpus[0]);
  ASSERT_EQ(marks.size(), 1U);
  EXPECT_EQ(marks[0]->kernel, 1U);
  EXPECT_EQ(marks[0]->at.x, 2);
  ASSERT_EQ(charts.without_mark.size(), 1U);
  EXPECT_EQ(charts.without_mark[0].kernel, 0U);
  EXPECT_EQ(charts.without_mark[0].reason,
            "its FLOP per byte of memory are not known: TCC_EA0_RDREQ is lost");
}

TEST(RooflineChart, IsSoundWithoutMemoryRoofsAndWithoutComputeRoofs) {
  analyze::KernelRoofline kernel = simple_kernel("k", 20, 0.5);
  kernel.levels[0].ceiling = {};
  kernel.levels[0].ridge = kernel.levels[0].ridge_ratio = std::nullopt;
  expect_sound(charts_of({kernel}).gpus.at(0));
  EXPECT_EQ(charts_of({kernel}).gpus[0].marks[0].attainable_gflops, std::nullopt);
  kernel = simple_kernel("k", 20, 0.5);
  kernel.work.clear();
  kernel.compute_roof = {};
  expect_sound(charts_of({kernel}).gpus.at(0));
  kernel.levels[0].ceiling = {};
  expect_sound(charts_of({kernel}).gpus.at(0));
  EXPECT_TRUE(charts_of({kernel}).gpus[0].roofs.empty());
}

TEST(RooflineChart, IsSoundForAnyRatesAndIntensities) {
  std::mt19937_64 random(20260726);
  std::uniform_real_distribution<double> decade(-6, 7);
  for (int round = 0; round < 300; ++round) {
    std::vector<analyze::KernelRoofline> kernels;
    const std::size_t many = 1 + random() % 60;
    for (std::size_t i = 0; i < many; ++i)
      kernels.push_back(simple_kernel("k" + std::to_string(i), std::pow(10, decade(random)),
                                      std::pow(10, decade(random))));
    const RooflineCharts charts = charts_of(std::move(kernels));
    ASSERT_EQ(charts.gpus.size(), 1U);
    ASSERT_EQ(charts.gpus[0].marks.size(), many);
    expect_sound(charts.gpus[0]);
  }
}

TEST(RooflineChart, HasMarksOnPowersOfTenInsideItsAxes) {
  for (int decade = -5; decade <= 6; ++decade) {
    const double value = std::pow(10, decade);
    const Chart chart = charts_of({simple_kernel("k", value, value)}).gpus.at(0);
    expect_sound(chart);
    EXPECT_LT(chart.x.low, decade);
    EXPECT_GT(chart.x.high, decade);
  }
}

TEST(RateText, HasThreeDigits) {
  EXPECT_EQ(rate_text(0, "B/s"), "0 B/s");
  EXPECT_EQ(rate_text(1, "B/s"), "1.00 GB/s");
  EXPECT_EQ(rate_text(812.4, "B/s"), "812 GB/s");
  EXPECT_EQ(rate_text(1638.4, "B/s"), "1.64 TB/s");
  EXPECT_EQ(rate_text(22'630, "FLOP/s"), "22.6 TFLOP/s");
  EXPECT_EQ(rate_text(1'307'443, "FLOP/s"), "1.31 PFLOP/s");
  EXPECT_EQ(rate_text(0.0125, "FLOP/s"), "12.5 MFLOP/s");
  EXPECT_EQ(rate_text(3e-9, "FLOP/s"), "3.00 FLOP/s");
}

TEST(RateText, DoesNotGrowByRounding) {
  EXPECT_EQ(rate_text(999.4, "B/s"), "999 GB/s");
  EXPECT_EQ(rate_text(999.6, "B/s"), "1.00 TB/s");
  EXPECT_EQ(rate_text(9.996, "B/s"), "10.0 GB/s");
  EXPECT_EQ(rate_text(99.96, "B/s"), "100 GB/s");
}

}  // namespace
}  // namespace perflab::report
