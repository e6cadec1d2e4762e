// Thread traces and verdicts in the documents: nothing of the analysis is lost, every null is
// explained, and the shares are those of the cycles beside them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "report/analysis/analysis_document.h"
#include "report/analysis/profile_document.h"
#include "report/bottleneck/bottleneck_json.h"
#include "report/bottleneck_samples.h"
#include "report/document_checks.h"
#include "report/kit/document.h"
#include "report/report_cases.h"
#include "report/roofline/roofline_document.h"
#include "report/roofline_samples.h"
#include "report/thread_trace/thread_trace_json.h"

namespace perflab::report {
namespace {

Json sample(const analyze::Analysis& analysis = sample_bottlenecks()) {
  return rendered_json("analysis", analysis_document({}, analysis));
}

Json traced(std::size_t kernel) {
  return sample().at("thread_traces").at("kernels").at(kernel);
}

Json verdict(std::size_t kernel) {
  return sample().at("bottlenecks").at("kernels").at(kernel);
}

/// The reason of a field in an object's `missing`; empty: there is none.
std::string reason_of(const Json& holder, const std::string& field) {
  for (const Json& entry : holder.at("missing"))
    if (entry.at("field") == field) return entry.at("reason");
  return {};
}

void expect_good(const Json& document, const std::string& name) {
  const Json schema = schema_of(name);
  expect_schema_order(schema, schema, document, name);
  expect_nulls_explained(document);
  expect_entries_are_true(document, name + ": ");
  for (const Json& kernel : document.at("bottlenecks").at("kernels")) {
    expect_entries_are_true(kernel, "bottleneck: ");
    expect_entries_are_true(kernel.at("bound"), "bound: ");
  }
  if (!document.contains("thread_traces") || document.at("thread_traces").is_null()) return;
  for (const Json& kernel : document.at("thread_traces").at("kernels"))
    expect_entries_are_true(kernel, "thread trace: ");
}

TEST(BottleneckDocument, SatisfiesWhatDocumentsOwe) {
  expect_good(sample(), "analysis");
  expect_good(sample(sample_thread_traces_alone()), "analysis");
}

TEST(BottleneckDocument, SaysWhyThereAreNoThreadTraces) {
  analyze::Analysis analysis = sample_bottlenecks();
  analysis.thread_traces.reset();
  const Json document = sample(analysis);
  EXPECT_TRUE(document.at("thread_traces").is_null());
  EXPECT_EQ(reason_of(document, "thread_traces"), "no thread trace was given");
}

TEST(BottleneckDocument, OfThreadTracesAloneSaysSo) {
  const Json document = sample(sample_thread_traces_alone());
  EXPECT_EQ(reason_of(document, "selected_kernel"), "only thread traces were given");
  EXPECT_EQ(document.at("kernels"), Json::array());
  EXPECT_EQ(document.at("bottlenecks").at("kernels")[0].at("verdict"), "latency-bound");
}

TEST(ThreadTraceJson, SharesAreThoseOfTheCycles) {
  const Json kernel = traced(0);
  const Json& time = kernel.at("time");
  EXPECT_EQ(time.at("cycles"), 4000);
  EXPECT_EQ(time.at("wait"), (Json{{"cycles", 1600}, {"share", 0.4}}));
  EXPECT_EQ(time.at("barrier"), (Json{{"cycles", 0}, {"share", 0.0}}));
  EXPECT_EQ(time.at("idle").at("share"), 0.1);
  EXPECT_EQ(kernel.at("states").at("empty").at("share"), 0.0);
  EXPECT_EQ(kernel.at("states").at("exec").at("share"), 1504.0 / 4004);
  EXPECT_EQ(kernel.at("cycles").at("cost"), 4000);
  EXPECT_EQ(kernel.at("cycles").at("issue"), 1200);
  EXPECT_EQ(kernel.at("classes")[1].at("class"), "vmem_load");
  EXPECT_EQ(kernel.at("classes")[1].at("cost_share"), 1100.0 / 4000);
  EXPECT_EQ(kernel.at("hot")[1].at("cost_share"), 1100.0 / 4000);
  EXPECT_EQ(kernel.at("hot")[1].at("wait_caused"), 1500);
  EXPECT_EQ(kernel.at("waits").at("by_class")[0].at("share"), 1500.0 / 4000);
  EXPECT_EQ(kernel.at("waits").at("unattributed").at("cycles"), 100);
  EXPECT_EQ(kernel.at("waits").at("other").at("share"), 0.0);
}

TEST(ThreadTraceJson, NamesBothEndsOfAWait) {
  const Json pairs = traced(0).at("waits").at("pairs");
  EXPECT_EQ(pairs[0].at("wait"), (Json{{"row", 5}, {"text", "s_waitcnt vmcnt(0)"}}));
  EXPECT_EQ(pairs[0].at("cause").at("text"), "global_load_dwordx4 v[0:3], v[0:1], off");
  EXPECT_EQ(pairs[1].at("cause"), (Json{{"row", nullptr}, {"text", nullptr}}));
}

TEST(ThreadTraceJson, HasCoverageOccupancyAndConfidence) {
  const Json kernel = traced(0);
  const Json& seen = kernel.at("coverage");
  EXPECT_EQ(seen.at("cus"), Json::array({Json{{"engine", 0}, {"cu", 1}}}));
  EXPECT_EQ(seen.at("waves_of_dispatch"), 128);
  EXPECT_EQ(seen.at("dropped")[0], (Json{{"reason", "wave file is missing"}, {"count", 1}}));
  EXPECT_EQ(kernel.at("confidence"), "medium");
  EXPECT_EQ(kernel.at("confidence_reasons")[0], "4 of 128 waves were seen");
  EXPECT_EQ(kernel.at("occupancy").at("bins").size(), 10U);
  EXPECT_EQ(kernel.at("occupancy").at("tail_share"), 0.25);
  EXPECT_EQ(kernel.at("lines")[1].at("chain").size(), 2U);
  EXPECT_EQ(reason_of(kernel, "lines[2].line"), "these instructions have none");
}

TEST(ThreadTraceJson, OfAStatsFileHasSumsAndReasons) {
  const Json kernel = traced(1);
  EXPECT_EQ(kernel.at("form"), "stats");
  EXPECT_EQ(kernel.at("cycles").at("latency"), 500);
  for (const char* field :
       {"wave_cycles", "states", "coverage.waves", "rates.wave_ipc", "occupancy"})
    EXPECT_EQ(reason_of(kernel, field), "a stats file holds the sums of each line and no waves")
        << field;
  EXPECT_EQ(reason_of(kernel, "lines"), "the stats file has no sources");  // the analysis' own
}

TEST(ThreadTraceJson, WithoutCyclesHasNoShares) {
  const Json kernel = traced(2);
  EXPECT_TRUE(kernel.at("time").at("issue").at("share").is_null());
  EXPECT_EQ(reason_of(kernel, "hot[0].cost_share"), "no traced wave ran this kernel");
}

TEST(BottleneckJson, EvidenceCanBeRecomputed) {
  const Json kernel = verdict(0);
  EXPECT_EQ(kernel.at("verdict"), "memory-bandwidth-bound");
  EXPECT_EQ(kernel.at("label"), analyze::label_of(analyze::Bottleneck::memory_bandwidth));
  EXPECT_EQ(kernel.at("score"), 2);
  EXPECT_EQ(kernel.at("runner_up"), "latency-bound");
  const Json& evidence = kernel.at("evidence");
  ASSERT_EQ(evidence.size(), 2U);
  EXPECT_EQ(evidence[0].at("rule"), "sample.near_roof");
  EXPECT_EQ(evidence[0].at("feature"), "counters.hbm_share");
  EXPECT_EQ(evidence[0].at("value"), 0.725);
  EXPECT_EQ(evidence[0].at("comparison"), "at_least");
  EXPECT_EQ(evidence[0].at("threshold"), 0.6);
  EXPECT_EQ(evidence[0].at("why"), "good copies reach 0.7 to 0.9");
  EXPECT_EQ(evidence[0].at("source"), "counters");
  EXPECT_EQ(evidence[0].at("from"), "levels.hbm of the roofline");
  EXPECT_EQ(evidence[1].at("comparison"), "below");
  ASSERT_EQ(kernel.at("against").size(), 1U);
  EXPECT_EQ(kernel.at("against")[0].at("feature"), "counters.lanes_active");
  EXPECT_EQ(kernel.at("candidates")[0].at("held")[0].at("evidence"), evidence);
}

TEST(BottleneckJson, HasCandidatesBoundNextAdviceAndHistory) {
  const Json kernel = verdict(0);
  ASSERT_EQ(kernel.at("candidates").size(), 3U);
  const Json& open = kernel.at("candidates")[2].at("open")[0];
  EXPECT_EQ(open.at("rule"), "sample.gaps");
  EXPECT_EQ(open.at("missing_features"),
            (Json{"dispatches.idle_before", "critical_path.launch_share"}));
  EXPECT_EQ(kernel.at("bound").at("kernel_factor"), 1 / 0.725);
  EXPECT_TRUE(kernel.at("bound").at("parts")[1].at("factor").is_null());
  EXPECT_EQ(kernel.at("next").at("decides"), Json{"launch-bound"});
  EXPECT_EQ(kernel.at("next").at("features"), Json{"dispatches.idle_before"});
  EXPECT_EQ(kernel.at("advice")[0].at("lines"), (Json{"copy.hip:12", "load.h:7"}));
  EXPECT_EQ(kernel.at("history")[1].at("with"), "counters");
  EXPECT_TRUE(kernel.at("history")[0].at("change").is_null());
}

TEST(BottleneckJson, OfInsufficientDataExplainsItself) {
  const Json kernel = verdict(1);
  EXPECT_EQ(kernel.at("verdict"), "insufficient-data");
  EXPECT_EQ(kernel.at("score"), 0);
  EXPECT_EQ(kernel.at("evidence"), Json::array());
  EXPECT_EQ(reason_of(kernel.at("bound"), "kernel_factor"), "there are no counters");
  EXPECT_EQ(reason_of(kernel.at("bound"), "end_to_end_ns"), "there is no critical path");
  EXPECT_EQ(reason_of(kernel, "runner_up"), "no other verdict has a rule that holds");
}

TEST(BottleneckJson, NamesEveryFeatureOnceAndInOneOrder) {
  const Json list = sample().at("bottlenecks").at("features");
  ASSERT_EQ(list.size(), analyze::kFeatures);
  for (std::size_t kernel = 0; kernel < 3; ++kernel) {
    const Json features = verdict(kernel).at("features");
    ASSERT_EQ(features.size(), analyze::kFeatures);
    for (std::size_t i = 0; i < features.size(); ++i) {
      EXPECT_EQ(features[i].at("name"), list[i].at("name"));
      EXPECT_EQ(features[i].at("value").is_null(), features[i].at("reason").is_string());
      EXPECT_EQ(features[i].at("value").is_null(), features[i].at("from").is_null());
    }
  }
  EXPECT_EQ(sample().at("bottlenecks").at("left_out"), 4);
}

TEST(BottleneckJson, StandsInTheRooflineToo) {
  analyze::Analysis analysis = sample_roofline();
  analysis.bottlenecks = sample_bottlenecks().bottlenecks;
  const Json document =
      rendered_json("roofline", roofline_document(sample_roofline_trace(), analysis));
  expect_good(document, "roofline");
  EXPECT_EQ(document.at("bottlenecks"), sample().at("bottlenecks"));
}

TEST(BottleneckJson, OfTheSelectedKernelStandsInTheProfile) {
  auto runs = analyze_case(case_named("passes"));
  ASSERT_TRUE(runs);
  analyze::Analysis& analysis = runs->representative.analysis;
  const auto profile = [&] {
    return rendered_json("profile", profile_document(profile_of_recording(*runs)));
  };
  analysis.bottlenecks = sample_bottlenecks().bottlenecks;
  analysis.bottlenecks.kernels[0].analysis_kernel = analysis.selection->kernel;
  EXPECT_EQ(profile().at("bottleneck"),
            (Json{{"verdict", "memory-bandwidth-bound"},
                  {"label", analyze::label_of(analyze::Bottleneck::memory_bandwidth)},
                  {"score", 2},
                  {"confidence", "high"},
                  {"summary", analysis.bottlenecks.kernels[0].summary}}));
  analysis.bottlenecks.kernels.erase(analysis.bottlenecks.kernels.begin());
  analysis.bottlenecks.kernels[0].analysis_kernel.reset();
  const Json without = profile();
  EXPECT_TRUE(without.at("bottleneck").is_null());
  EXPECT_EQ(reason_of(without, "bottleneck"),
            "only the 50 kernels with the most time get a verdict");
  expect_nulls_explained(without);
}

}  // namespace
}  // namespace perflab::report
