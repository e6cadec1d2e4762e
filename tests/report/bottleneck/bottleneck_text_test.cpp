// What a person reads of thread traces and verdicts: what is on the page, that it fits the width,
// and that foreign text cannot drive the terminal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "report/bottleneck/bottleneck_text.h"
#include "report/bottleneck_samples.h"
#include "report/kit/text_table.h"
#include "report/thread_trace/thread_trace_text.h"

namespace perflab::report {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The page without its line breaks, each run of blanks as one: sentences can be looked for.
std::string flat(const std::string& text) {
  std::istringstream words(text);
  std::string out;
  for (std::string word; words >> word;) out += (out.empty() ? "" : " ") + word;
  return out;
}

TEST(BottleneckText, SaysVerdictReasonsAndWhatToDo) {
  const std::string text = flat(bottleneck_text(sample_bottlenecks(), {.width = 120}));
  for (const char* part :
       {"What limits copy", "memory-bandwidth bound, confidence high", "because HBM works near",
        "72.5 %, at least 60.0 % (good copies reach 0.7 to 0.9); from levels.hbm of the roofline",
        "12.5 %, below 50.0 %", "against -", "87.5 %, below 90.0 %",
        "runner-up latency bound, score 2 to 2: waves mostly wait for memory",
        "at most 1.38 times as fast",
        "- roofline, 1.38 times: 72.5 % of 5300 GB/s of HBM are reached",
        "- occupancy: all wave slots are in use",
        "the run would be at most 2.50 us shorter (5.0 %)",
        "try - move fewer bytes: smaller types, reuse in LDS at copy.hip:12, load.h:7",
        "next rocm-perf profile -- ./app", "whether launches are in the way is not known",
        "with counters: memory-bandwidth bound instead of insufficient data",
        "open 1 rule could not be decided without dispatches.idle_before"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(BottleneckText, ShowsOfTheHistoryOnlyWhatChanged) {
  analyze::Analysis analysis = sample_bottlenecks();
  EXPECT_THAT(bottleneck_text(analysis, {}), Not(HasSubstr("with thread trace:")));
  analysis.selection->kernel = 1;  // one step
  EXPECT_THAT(bottleneck_text(analysis, {}), Not(HasSubstr("history")));
}

TEST(BottleneckText, SaysWhatTheRunCouldGainOnce) {
  analyze::Analysis analysis = sample_bottlenecks();
  analysis.bottlenecks.kernels[0].bound.parts.push_back({"critical path", 1.05, "of the run"});
  const std::string text = flat(bottleneck_text(analysis, {}));
  EXPECT_THAT(text, HasSubstr("- critical path, 1.05 times: of the run"));
  EXPECT_THAT(text, Not(HasSubstr("the run would be")));
}

TEST(BottleneckText, GivesTheOtherKernelsALineEach) {
  const std::string text = bottleneck_text(sample_bottlenecks(), {});
  EXPECT_THAT(text, HasSubstr("What limits the other kernels"));
  EXPECT_THAT(text, HasSubstr("  insufficient data  low         —  axpy\n"));
  EXPECT_THAT(text, HasSubstr("  latency bound      low         —  loose\n"));
  EXPECT_THAT(text, HasSubstr("  … and 4 more\n"));
}

TEST(BottleneckText, DescribesTheSelectedKernelWhereverItStands) {
  analyze::Analysis analysis = sample_bottlenecks();
  analysis.selection->kernel = 1;
  EXPECT_THAT(bottleneck_text(analysis, {}), HasSubstr("What limits axpy\n"));
  EXPECT_EQ(bottleneck_headline(analysis, {}), "axpy: insufficient data, confidence low\n");
  EXPECT_THAT(flat(bottleneck_text(analysis, {})),
              HasSubstr("at most not known: there are no counters"));
}

TEST(BottleneckText, WithoutVerdictsIsEmpty) {
  EXPECT_EQ(bottleneck_text({}, {}), "");
  EXPECT_EQ(bottleneck_headline({}, {}), "");
  EXPECT_EQ(thread_trace_text({}, {}), "");
}

TEST(FeatureValueText, HasTheUnit) {
  EXPECT_EQ(feature_value_text(0.725, "share"), "72.5 %");
  EXPECT_EQ(feature_value_text(4100, "ns"), "4.10 us");
  EXPECT_EQ(feature_value_text(4096, "bytes"), "4.10 kB");
  EXPECT_EQ(feature_value_text(12, "count"), "12");
  EXPECT_EQ(feature_value_text(6.5, "waves"), "6.5 waves");
}

TEST(ThreadTraceText, SaysWhereTheCyclesWent) {
  const std::string text = thread_trace_text(sample_bottlenecks(), {.width = 100});
  const std::string words = flat(text);
  for (const char* part :
       {"Thread trace of copy", "4 waves of the dispatch's 128 (3.1 %) on CU 1 of shader engine 0",
        "dispatch 2", "3 records lost by the hardware", "1 x wave file is missing",
        "confidence medium - 4 of 128 waves were seen", "I 30.0 % 1200 issuing instructions",
        "W 40.0 % 1600 waiting", "S 20.0 % 800 ready, but not issued", ". 10.0 % 400 idle",
        "s_waitcnt vmcnt(0)", "load.h:7 < copy.hip:12", "(no source line)",
        "Waits, and the instructions they were for", "of 5 waits 1 by the counters",
        "the cause of 2.5 % of all cycles in waits is not known", "6.5 per CU on average, 8 on one",
        "the last 25.0 % of the time, and in the first 12.5 %"})
    EXPECT_THAT(words, HasSubstr(part));
  // 96 columns: 28.8, 38.4, 19.2 and 9.6 of them, cut where the sum is rounded.
  EXPECT_THAT(text, HasSubstr("\n  " + std::string(29, 'I') + std::string(38, 'W') +
                              std::string(19, 'S') + std::string(10, '.') + "\n"));
  EXPECT_THAT(text, HasSubstr("\n  .▂▄▆███▄▂▁\n"));
  EXPECT_THAT(text, Not(HasSubstr("waiting at barriers")));  // there were none
}

TEST(ThreadTraceText, GivesOtherTracesALineEach) {
  const std::string words = flat(thread_trace_text(sample_bottlenecks(), {}));
  EXPECT_THAT(words, HasSubstr("500 50.0 % 0.0 % 0.0 % 50.0 % 0.0 % low — copy"));
  EXPECT_THAT(words, HasSubstr("0 — — — — — low — loose"));
}

TEST(ThreadTraceText, OfAStatsFileSaysThatThereAreNoWaves) {
  analyze::Analysis analysis = sample_bottlenecks();
  analysis.thread_traces->kernels = {analysis.thread_traces->kernels[1]};
  const std::string text = thread_trace_text(analysis, {});
  EXPECT_THAT(text, HasSubstr("sums of each instruction from a stats file, without waves"));
  EXPECT_THAT(text, Not(HasSubstr("Occupancy over time")));
  EXPECT_THAT(text, HasSubstr("I  50.0 %"));
}

TEST(ThreadTraceText, WithoutARecordingIsAReportOfItsOwn) {
  const std::string text = thread_trace_report_text(sample_thread_traces_alone(), {});
  EXPECT_THAT(text, testing::StartsWith(
                        "3 traced kernels from 2 thread traces, no recording of times\nloose: "
                        "latency bound, confidence low\n"));
  EXPECT_THAT(text, HasSubstr("Thread trace of copy"));  // the most cycles
  EXPECT_THAT(text, HasSubstr("What limits loose"));
  EXPECT_THAT(text, HasSubstr("warning: a warning of a thread trace\n"));
}

TEST(Sparkline, IsAsHighAsTheValues) {
  EXPECT_EQ(sparkline({0, 1, 4, 8, 9, -1}, 8), ".▁▄██.");
  EXPECT_EQ(sparkline({0, 0}, 0), "..");
  EXPECT_EQ(sparkline({}, 1), "");
}

/// Every name and text of the samples replaced or extended.
analyze::Analysis with_foreign_text(const std::string& text) {
  analyze::Analysis out = sample_bottlenecks();
  for (analyze::KernelThreadTrace& kernel : out.thread_traces->kernels) {
    kernel.kernel += text;
    kernel.confidence_reasons.push_back(text);
    kernel.coverage.dropped[text] = 1;
    for (auto* list : {&kernel.hot, &kernel.causes})
      for (analyze::InstructionCycles& one : *list) {
        one.text += text;
        for (std::string& line : one.chain) line += text;
      }
    for (analyze::SourceCycles& line : kernel.lines) {
      line.line += text;
      for (std::string& one : line.chain) one += text;
    }
  }
  for (analyze::KernelBottleneck& one : out.bottlenecks.kernels) {
    one.kernel += text;
    one.summary += text;
    one.confidence_reasons.push_back(text);
    for (analyze::Advice& advice : one.advice) advice.lines.push_back(text);
    for (analyze::GainBound& part : one.bound.parts) part.text += text;
    if (one.next) one.next->command += text;
  }
  return out;
}

TEST(BottleneckText, CannotDriveTheTerminal) {
  const analyze::Analysis analysis = with_foreign_text("\x1b[2J\r\x9b\x07\n\xff");
  for (const std::size_t width : {40U, 80U, 120U, 200U}) {
    const std::string text = thread_trace_text(analysis, {.width = width}) +
                             bottleneck_text(analysis, {.width = width}) +
                             bottleneck_headline(analysis, {.width = width});
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_EQ(line, printable(line));
  }
}

TEST(BottleneckText, FitsTheWidth) {
  const std::string kernel = std::string(300, 'k') + "<" + std::string(300, 't') + ">";
  for (const analyze::Analysis& analysis : {sample_bottlenecks(), with_foreign_text(kernel)})
    for (const std::size_t width : {80U, 100U, 120U, 200U}) {
      std::istringstream text(thread_trace_text(analysis, {.width = width}) +
                              bottleneck_headline(analysis, {.width = width}));
      for (std::string line; std::getline(text, line);) {
        const bool one_word = line.find(std::string(100, 'k')) != std::string::npos;
        EXPECT_TRUE(one_word || display_width(line) <= width) << line;
      }
    }
  for (const std::size_t width : {80U, 100U, 120U, 200U}) {
    std::istringstream text(bottleneck_text(sample_bottlenecks(), {.width = width}));
    for (std::string line; std::getline(text, line);) EXPECT_LE(display_width(line), width) << line;
  }
}

}  // namespace
}  // namespace perflab::report
