// The critical path in the terminal: what stands where, how wide it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "report/critical_path/dag_text.h"
#include "report/dag_samples.h"
#include "report/kit/text_table.h"
#include "support/lines.h"

namespace perflab::report {
namespace {

using test::lines_of;

using testing::HasSubstr;
using testing::Not;

std::string text_at(std::size_t width, bool colour = false) {
  return dag_text(sample_dag_trace(), sample_dag(), {.width = width, .colour = colour});
}

/// Without the breaks that the width makes.
std::string unbroken(const std::string& text) {
  std::string line;
  for (const char c : text)
    if (const bool blank = c == ' ' || c == '\n'; !blank || !line.ends_with(' '))
      line += blank ? ' ' : c;
  return line;
}

TEST(DagText, FitsTheWidthWithoutBlanksAtTheEnd) {
  for (const std::size_t width : {80U, 100U, 200U})
    for (const std::string& line : lines_of(text_at(width))) {
      EXPECT_LE(display_width(line), width) << line;
      EXPECT_TRUE(line.empty() || line.back() != ' ') << "'" << line << "'";
    }
}

TEST(DagText, SurvivesAnyWidth) {
  for (std::size_t width = 0; width < 130; ++width) EXPECT_GT(text_at(width).size(), 1000U);
}

TEST(DagText, TheBarIsAsLongAsThePartsOfTheRun) {
  const std::vector<std::string> lines = lines_of(text_at(80));
  // 76 columns: 100 of 205 ns are 37, 45 are 17, 40 are 15 (54 to 68.6), 10 are 3, 5 are 2.
  EXPECT_EQ(lines.at(2), "  " + std::string(37, 'K') + std::string(17, 'C') + std::string(15, 'L') +
                             "HHH" + "RR" + "..");
}

TEST(DagText, SaysWhatMatters) {
  const std::string text = unbroken(text_at(100));
  EXPECT_THAT(text, HasSubstr("critical path of 205 ns"));
  EXPECT_THAT(text, HasSubstr("K 48.8 % 100 ns kernels"));
  EXPECT_THAT(text, HasSubstr("48.8 % 100 ns 1/1 19.5 % 19.5 % 0 ns axpy"));
  EXPECT_THAT(text, HasSubstr("0.0 % 0 ns 0/2 — — 45 ns gemm<float>"));
  EXPECT_THAT(text, HasSubstr("4 of them inferred: 4 by handover (timestamps alone"));
  EXPECT_THAT(text, Not(HasSubstr("deny")));  // a warning says that, once
  EXPECT_THAT(text, HasSubstr("side by side: none for 19.5 %, 1 for 36.6 %, 2 for 39.0 %, 3 or "
                              "more for 4.9 % of the run"));
  EXPECT_THAT(text, HasSubstr("a bound: sync=drop ignores every wait"));
  EXPECT_THAT(text, HasSubstr("axpy=2x: applies to 1 node"));
  EXPECT_THAT(text, HasSubstr("160 ns instead of 205 ns: 45 ns less (22.0 %)"));
  EXPECT_THAT(text, HasSubstr("2 short ones kernels axpy, MEMORY_COPY_HOST_TO_DEVICE"));
  EXPECT_THAT(text, HasSubstr("thread 11 host: return from waiting —"));
  EXPECT_THAT(text, HasSubstr("until the last operation: 3 gaps, 14 ns (6.8 % of the run)"));
  EXPECT_THAT(text, HasSubstr("host: inside API calls hipMemcpyAsync axpy"));
  EXPECT_THAT(text, HasSubstr("3 segments from user ranges: step #; 1 dispatch outside"));
  EXPECT_THAT(text, HasSubstr("2 segments at a median of 50 ns, 40 ns to 60 ns, CV 25.0 %"));
  EXPECT_THAT(text, HasSubstr("number 2 with 40 ns: gemm<float> 40 ns (usually 20 ns; 2 "
                              "dispatches, usually 1), nothing running 10 ns (usually 5 ns)"));
  EXPECT_THAT(text, HasSubstr("warning: 1 graph launch shows no work"));
}

TEST(DagText, SaysThatItIsOfOneSegmentOnly) {
  analyze::Analysis analysis = sample_dag();
  analysis.segment = 2;
  EXPECT_THAT(dag_text(sample_dag_trace(), analysis, {}), HasSubstr("segment 2 only"));
}

TEST(DagText, WithoutAPathSaysWhy) {
  analyze::Analysis analysis;
  EXPECT_EQ(dag_text(sample_dag_trace(), analysis, {}), "");
  analysis.critical_path_missing.reason = "only counter passes were given";
  EXPECT_EQ(dag_text(sample_dag_trace(), analysis, {}),
            "\nno critical path: only counter passes were given\n");
}

TEST(DagText, WithoutSegmentsSaysWhy) {
  analyze::Analysis analysis = sample_dag();
  analysis.segments = {};
  analysis.segments.missing.reason = "no repetition";
  EXPECT_THAT(dag_text(sample_dag_trace(), analysis, {}), HasSubstr("none       no repetition"));
}

TEST(DagText, ALongerRunIsCalledLonger) {
  analyze::Analysis analysis = sample_dag();
  analysis.critical_path->what_if->makespan = 215;
  analysis.critical_path->what_if->gain = -10;
  EXPECT_THAT(unbroken(dag_text(sample_dag_trace(), analysis, {})),
              HasSubstr("215 ns instead of 205 ns: 10 ns longer (4.9 %)"));
}

/// The run with long names everywhere, in several processes with large numbers.
std::string crowded_text(std::size_t width) {
  trace::Trace trace = sample_dag_trace();
  analyze::Analysis analysis = sample_dag();
  analyze::CriticalPath& path = *analysis.critical_path;
  path.processes = 2;
  trace.processes[0].pid = 4194304;
  for (analyze::PathSegment& segment : path.segments) {
    segment.folded = 0;
    segment.place_id += 4194000;
    segment.names.clear();
    for (const char* name : {"void alpha::first_kernel_with_a_name<float, 4, true>(float*, int)",
                             "void beta::second_kernel_with_a_name<float, 4, true>(float*, int)",
                             "void gamma::third_kernel_with_a_name<float, 4, true>(float*, int)"})
      segment.names.emplace_back(trace.strings.intern(name), 1);
  }
  for (analyze::KernelCriticality& kernel : path.kernels)
    kernel.on_path = kernel.dispatches = 10'000'000;
  trace.kernel_symbols[1].name = path.segments[0].names[0].first;
  trace.regions.name.set(2, trace.strings.intern("hipExtModuleLaunchKernelWithALongName"));
  path.bubbles[0].cause = analyze::Spent::sync_return;
  return dag_text(trace, analysis, {.width = width});
}

TEST(DagText, FitsTheWidthWithSeveralProcessesAndLongNames) {
  for (const std::size_t width : {80U, 90U, 100U, 120U, 200U})
    for (const std::string& line : lines_of(crowded_text(width)))
      EXPECT_LE(display_width(line), width) << line;
}

TEST(DagText, CutsEachNameByItself) {
  EXPECT_THAT(crowded_text(200), HasSubstr("void alpha::"));
  EXPECT_THAT(crowded_text(200), HasSubstr(", void beta::s"));
  EXPECT_THAT(crowded_text(80), HasSubstr("void al"));
  EXPECT_THAT(crowded_text(80), HasSubstr("thread 4194011 (4194304)"));
}

TEST(DagText, SaysTheMedianSlackAtAnyWidth) {
  EXPECT_THAT(text_at(100), HasSubstr("median slack"));
  EXPECT_THAT(text_at(80), HasSubstr("slack      median of axpy 0 ns, gemm<float> 45 ns"));
}

TEST(DagText, LongTablesAreCutAndItSaysByHowMuch) {
  const std::string text = dag_text(sample_dag_trace(), sample_dag(), {.most_rows = 1});
  EXPECT_THAT(text, Not(HasSubstr("gemm<float>\n  …")));
  EXPECT_THAT(text, HasSubstr("axpy\n  … and 1 more"));
  EXPECT_THAT(text, HasSubstr("the 2 longest of 3 stretches; … means the others"));
  EXPECT_THAT(unbroken(text), HasSubstr("… 5 ns 1 more … …"));
}

TEST(DagText, HasColourOnlyWhereAsked) {
  EXPECT_EQ(text_at(80).find('\x1b'), std::string::npos);
  EXPECT_NE(text_at(80, true).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace perflab::report
