// The roofline in the terminal: what stands where, how wide it is, and that data cannot drive it.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "report/kit/text_table.h"
#include "report/roofline/roofline_drawing.h"
#include "report/roofline/roofline_text.h"
#include "report/roofline_samples.h"
#include "support/lines.h"

namespace perflab::report {
namespace {

using test::lines_of;

analyze::Analysis analysis_of(std::vector<analyze::KernelRoofline> kernels) {
  analyze::Analysis analysis;
  analysis.roofline.emplace().kernels = std::move(kernels);
  return analysis;
}

/// A kernel of the sample.
const analyze::KernelRoofline* find_kernel(const std::string& name) {
  static const analyze::Analysis analysis = sample_roofline();
  const auto found =
      std::ranges::find(analysis.roofline->kernels, name, &analyze::KernelRoofline::kernel);
  return found == analysis.roofline->kernels.end() ? nullptr : &*found;
}

/// The row and column of a letter in the drawn chart; nothing when it stands in none.
std::optional<std::pair<std::size_t, std::size_t>> place_of(const std::string& drawing, char c) {
  const std::vector<std::string> lines = lines_of(drawing);
  for (std::size_t row = 0; row < lines.size(); ++row) {
    const std::size_t axis = lines[row].find_first_of("|+");
    if (axis == std::string::npos || axis > 9) continue;
    const std::size_t column = lines[row].find(c, axis);
    if (column != std::string::npos) return std::pair{row, column - axis - 1};
  }
  return std::nullopt;
}

TEST(RooflineText, WithoutRooflineSaysWhyOnlyWhenThereAreCounters) {
  analyze::Analysis analysis;
  analysis.roofline_missing.reason = "the counters of gfx1250 are not known";
  EXPECT_EQ(roofline_text(analysis, {}), "");
  analysis.counters.emplace_back().name = "SQ_WAVES";
  EXPECT_EQ(roofline_text(analysis, {}), "\nno roofline: the counters of gfx1250 are not known\n");
}

TEST(RooflineText, FitsEightyColumns) {
  for (const std::size_t width : {80U, 100U, 200U})
    for (const std::string& line : lines_of(roofline_text(sample_roofline(), {.width = width})))
      EXPECT_LE(display_width(line), width) << line;
}

TEST(RooflineText, HasNoBlanksAtTheEndOfLines) {
  for (const std::string& line : lines_of(roofline_text(sample_roofline(), {.width = 80})))
    EXPECT_TRUE(line.empty() || line.back() != ' ') << "'" << line << "'";
}

TEST(RooflineText, SurvivesAnyWidth) {
  for (std::size_t width = 0; width < 130; ++width)
    EXPECT_GT(roofline_text(sample_roofline(), {.width = width}).size(), 1000U);
}

TEST(RooflineText, HasColourOnlyWhereAskedAndTheSameLettersBelow) {
  const std::string plain = roofline_text(sample_roofline(), {.width = 80});
  std::string colour = roofline_text(sample_roofline(), {.width = 80, .colour = true});
  EXPECT_EQ(plain.find('\x1b'), std::string::npos);
  EXPECT_NE(colour.find("\x1b[32mA\x1b[0m"), std::string::npos);
  for (std::size_t at = colour.find('\x1b'); at != std::string::npos; at = colour.find('\x1b'))
    colour.erase(at, colour.find('m', at) + 1 - at);
  EXPECT_EQ(colour, plain);
}

TEST(RooflineText, GivesBandwidthOfAKernelWithoutFloatingPointWork) {
  const std::string text = roofline_text(sample_roofline(), {.width = 80});
  EXPECT_NE(text.find("  copy(double*, double const*)\n"
                      "             5.40 TB/s of memory, 101.9 % of 5.30 TB/s\n"
                      "             it does no floating-point operations\n"),
            std::string::npos);
}

TEST(RooflineText, SaysWhatIsNotKnownAndWhy) {
  const std::string text = roofline_text(sample_roofline(), {.width = 100});
  EXPECT_NE(text.find("  not known  latency.l1: gfx942 does not count it\n"), std::string::npos);
  EXPECT_NE(text.find("  note       102 % of HBM: the Infinity Cache served a part of it\n"),
            std::string::npos);
}

TEST(RooflineText, MarksWhatOnlySeveralPassesGive) {
  const std::string text = roofline_text(sample_roofline(), {.width = 100});
  EXPECT_NE(text.find("  latency    lds 0 cycles, vmem ~812.5 cycles\n"), std::string::npos);
  EXPECT_NE(text.find("\n  ~          no single pass has"), std::string::npos);
  EXPECT_EQ(text.find("latency.vmem"), std::string::npos);  // not among what is not known
}

TEST(RooflineText, DescribesTheFirstKernelsAndCountsTheRest) {
  std::vector<analyze::KernelRoofline> kernels;
  for (int i = 0; i < 30; ++i)
    kernels.push_back(simple_kernel("kernel" + std::to_string(i), 1 + i, 0.5 + i));
  const std::string text = roofline_text(analysis_of(std::move(kernels)), {.width = 80});
  EXPECT_NE(text.find("  … and 15 more\n"), std::string::npos);
  EXPECT_NE(text.find("\n25 more kernels: see roofline.json\n"), std::string::npos);
  EXPECT_EQ(text.find("kernel15"), std::string::npos);
}

TEST(RooflineText, SaysWhereTheRestStands) {
  std::vector<analyze::KernelRoofline> kernels(6, simple_kernel("k", 20, 0.5));
  analyze::Figure figure;
  figure.name = "hit.l2";
  figure.lack = analyze::Lack::recording;
  kernels[0].features = {figure};
  const analyze::Analysis analysis = analysis_of(std::move(kernels));
  const std::string text = roofline_text(analysis, {.width = 100}, "--out DIR");
  EXPECT_NE(text.find("\n1 more kernel: see --out DIR\n"), std::string::npos);
  EXPECT_NE(text.find("hit.l2: their counters were not recorded (which: see --out DIR)\n"),
            std::string::npos);
  EXPECT_EQ(text.find("roofline.json"), std::string::npos);
  EXPECT_NE(roofline_text(analysis, {}).find("(which: see roofline.json)"), std::string::npos);
}

TEST(RooflineText, ShowsMarksOfKernelsBehindManyThatHaveNone) {
  std::vector<analyze::KernelRoofline> kernels(20, *find_kernel("copy(double*, double const*)"));
  for (int i = 0; i < 16; ++i)
    kernels.push_back(simple_kernel("marked" + std::to_string(i), 20 + i, 0.5));
  const std::string text = roofline_text(analysis_of(std::move(kernels)), {.width = 100});
  EXPECT_NE(text.find("\n  A        0.5  20.0 G"), std::string::npos);
  EXPECT_NE(text.find("  marked14\n"), std::string::npos);
  EXPECT_EQ(text.find("  marked15\n"), std::string::npos);
  EXPECT_NE(text.find("  … and 1 more\n\nKernels without a mark"), std::string::npos);
  // Described one by one are those that take the most time.
  EXPECT_NE(text.find("\ncopy(double*, double const*)\n  time "), std::string::npos);
  EXPECT_EQ(text.find("\nA  marked0"), std::string::npos);
}

TEST(RooflineText, HasNoChartForMarksAtOtherLevelsOnly) {
  analyze::KernelRoofline kernel = simple_kernel("k", 20, 0.5);
  kernel.levels[0].name = "l2";
  const std::string text = roofline_text(analysis_of({kernel}), {.width = 100});
  EXPECT_EQ(text.find("Roofline of"), std::string::npos);
  EXPECT_NE(text.find("Kernels without a mark"), std::string::npos);
  EXPECT_NE(text.find("\nk\n  time "), std::string::npos);  // without a letter
}

TEST(RooflineText, SaysUnderCountersOnlyOfTimesThatAreKnown) {
  analyze::KernelRoofline kernel = simple_kernel("k", 20, 0.5);
  kernel.time_from = "counter passes";
  EXPECT_NE(roofline_text(analysis_of({kernel}), {}).find("under counters"), std::string::npos);
  kernel.time_ns.reset();
  EXPECT_EQ(roofline_text(analysis_of({kernel}), {}).find("under counters"), std::string::npos);
}

TEST(RooflineText, BreaksWarningsIntoLinesThatFit) {
  analyze::Analysis analysis = sample_roofline();
  analysis.warnings = {std::string(30, 'a') + " bb " + std::string(30, 'c') + " 99 % dd"};
  const std::string text = roofline_report_text(sample_roofline_trace(), analysis, {.width = 50});
  EXPECT_NE(text.find("\nwarning: " + std::string(30, 'a') + " bb\n         " +
                      std::string(30, 'c') + " 99 % dd\n"),
            std::string::npos)
      << text;
}

TEST(RooflineReport, SaysWhatIsSyntheticAndCountsPasses) {
  trace::Trace trace = sample_roofline_trace();
  trace.sources[0].synthetic = "made up";
  EXPECT_TRUE(roofline_report_text(trace, sample_roofline(), {})
                  .starts_with("SYNTHETIC: made up\n3 counters in 2 passes\n"));
}

TEST(DrawnChart, PutsMarksWhereTheirFiguresAre) {
  // Axes: 0.1 to 100 FLOP/byte, 10 to 10000 GFLOP/s; the ridge lies at 10, 1000.
  const auto drawn = [](double rate, double intensity) {
    analyze::Roofline roofline;
    roofline.kernels = {simple_kernel("anchor", 15, 0.2), simple_kernel("k", rate, intensity)};
    const Chart chart = roofline_charts(roofline).gpus.at(0);
    EXPECT_EQ(chart.x.high - chart.x.low, 3);
    EXPECT_EQ(chart.y.high - chart.y.low, 3);
    return place_of(drawn_chart(chart, 2, {.width = 82}), 'B');
  };
  // 71 columns for three decades: 23 each; 6 rows each, counted from the top.
  EXPECT_EQ(drawn(100, 1), (std::pair<std::size_t, std::size_t>{12, 23}));
  EXPECT_EQ(drawn(20, 0.5), (std::pair<std::size_t, std::size_t>{16, 16}));
  EXPECT_EQ(drawn(900, 50), (std::pair<std::size_t, std::size_t>{6, 62}));
}

TEST(DrawnChart, ShowsTwoKernelsInOnePlaceAsOneSign) {
  analyze::Roofline roofline;
  roofline.kernels = {simple_kernel("a", 20, 0.5), simple_kernel("b", 20, 0.5)};
  const std::string drawing = drawn_chart(roofline_charts(roofline).gpus.at(0), 2, {.width = 80});
  EXPECT_TRUE(place_of(drawing, '*'));
  EXPECT_FALSE(place_of(drawing, 'A'));
  EXPECT_NE(drawing.find("   * A, B in one place\n"), std::string::npos) << drawing;
}

TEST(DrawnChart, ExplainsAStarOnlyWhereThereIsOne) {
  analyze::Roofline roofline;
  roofline.kernels = {simple_kernel("a", 20, 0.5), simple_kernel("b", 900, 50)};
  const std::string drawing = drawn_chart(roofline_charts(roofline).gpus.at(0), 2, {.width = 80});
  EXPECT_EQ(drawing.find('*'), std::string::npos) << drawing;
}

TEST(DrawnChart, NamesKernelsWhoseLetterIsANumber) {
  analyze::Roofline roofline;
  roofline.kernels.assign(52, simple_kernel("a", 20, 0.5));
  roofline.kernels.push_back(simple_kernel("z", 900, 50));
  const std::string drawing = drawn_chart(roofline_charts(roofline).gpus.at(0), 53, {.width = 300});
  EXPECT_TRUE(drawing.ends_with("in one place   * 53\n")) << drawing;
}

TEST(DrawnChart, LabelsRoofsAndDecades) {
  analyze::Roofline roofline;
  roofline.kernels = {simple_kernel("a", 20, 0.5)};
  const std::string drawing = drawn_chart(roofline_charts(roofline).gpus.at(0), 1, {.width = 80});
  for (const char* text : {"  10 TF +", "   1 TF +", " 100 GF +", "  10 GF +",
                           " vector fp32 1.00 TFLOP/s\n", "/ memory 100 GB/s"})
    EXPECT_NE(drawing.find(text), std::string::npos) << text << "\n" << drawing;
  EXPECT_EQ(lines_of(drawing)[19].find("0.1"), 8U) << drawing;
}

TEST(DrawnChart, RisesByOneDecadePerDecade) {
  analyze::Roofline roofline;
  roofline.kernels = {simple_kernel("a", 20, 0.5)};
  const std::vector<std::string> lines =
      lines_of(drawn_chart(roofline_charts(roofline).gpus.at(0), 1, {.width = 82}));
  // The memory roof from (0.1, 10) at the bottom left to (10, 1000): 46 columns, 12 rows.
  EXPECT_EQ(lines[18].find('/'), 9U);
  for (std::size_t row = 7; row < 18; ++row) {
    const std::size_t column = lines[row].find('/') - 9;
    const double exact = static_cast<double>(18 - row) / 6 * 23;
    EXPECT_NEAR(static_cast<double>(column), exact, 4) << row;
  }
}

}  // namespace
}  // namespace perflab::report
