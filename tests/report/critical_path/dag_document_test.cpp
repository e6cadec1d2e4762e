// dag.json of a written critical path: schema, order of keys, reasons, and where figures stand.
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "report/analysis/analysis_document.h"
#include "report/critical_path/dag_document.h"
#include "report/dag_samples.h"
#include "report/document_checks.h"
#include "report/kit/document.h"
#include "report/report_cases.h"

namespace perflab::report {
namespace {

Json document_of(const analyze::Analysis& analysis, const DagRequest& request = {}) {
  return rendered_json("dag", dag_document(sample_dag_trace(), analysis, request));
}

Json dag_sample(const DagRequest& request = {}) {
  return document_of(sample_dag(), request);
}

TEST(DagDocument, SatisfiesItsSchemaInItsOrderAndExplainsItsNulls) {
  for (const bool full : {false, true}) {
    const Json document = dag_sample({.full = full});
    const Json schema = schema_of("dag");
    expect_schema_order(schema, schema, document, "dag");
    expect_nulls_explained(document);
    expect_entries_are_true(document, "");
  }
}

TEST(DagDocument, AttributesEveryNanosecond) {
  const Json document = dag_sample();
  const Json& attribution = document.at("attribution");
  std::int64_t sum = 0;
  double shares = 0;
  for (const char* part : {"kernel", "copy", "launch_latency", "host", "idle"}) {
    sum += attribution.at(part).at("time_ns").get<std::int64_t>();
    shares += attribution.at(part).at("share").get<double>();
  }
  EXPECT_EQ(document.at("critical_path_ns"), 205);
  EXPECT_EQ(sum, 205);
  EXPECT_NEAR(shares, 1, 1e-12);
  const Json& host = attribution.at("host");
  EXPECT_EQ(host.at("time_ns"), 15);
  EXPECT_EQ(host.at("sync_return").at("time_ns"), 5);
  EXPECT_EQ(host.at("calls").at("time_ns"), 10);
}

TEST(DagDocument, NamesEveryRuleAndWhatItIsWorth) {
  const Json graph = dag_sample().at("graph");
  ASSERT_EQ(graph.at("rules").size(), analyze::kEdgeRules - 1);  // graph_order: of CUDA
  EXPECT_EQ(graph.at("edges"), 12);
  const Json& stream = graph.at("rules")[3];
  EXPECT_EQ(stream.at("rule"), "stream_order");
  EXPECT_EQ(stream.at("proven"), true);
  EXPECT_EQ(stream.at("from"), "end");
  EXPECT_EQ(stream.at("to"), "start");
  EXPECT_EQ(stream.at("contradicted"), 1);
  const Json& handover = graph.at("rules")[14];
  EXPECT_EQ(handover.at("proven"), false);
  EXPECT_EQ(handover.at("edges"), 4);
  EXPECT_EQ(graph.at("options").at("handover_ns"), analyze::GraphOptions{}.handover);
  EXPECT_EQ(graph.at("blind_graph_launches"), 1);
}

TEST(DagDocument, HasCriticalityAndGainsOfKernels) {
  const Json kernels = dag_sample().at("kernels");
  EXPECT_EQ(kernels[0].at("name"), "axpy");
  EXPECT_EQ(kernels[0].at("on_path_share"), 1);
  EXPECT_DOUBLE_EQ(kernels[0].at("path_share").get<double>(), 100.0 / 205);
  EXPECT_EQ(kernels[0].at("gains")[1].at("factor"), 2);
  EXPECT_EQ(kernels[0].at("gains")[1].at("gain_ns"), 40);
  EXPECT_TRUE(kernels[0].at("gains")[2].at("factor").is_null());
  EXPECT_TRUE(kernels[1].at("gains").is_null());
  EXPECT_EQ(kernels[1].at("least_slack_ns"), 45);
}

TEST(DagDocument, HasThePathBubblesAndSlackByName) {
  const Json document = dag_sample();
  const Json& segments = document.at("path").at("segments");
  EXPECT_EQ(segments[0].at("place"), "stream");
  EXPECT_EQ(segments[0].at("id"), 2);
  EXPECT_EQ(segments[0].at("names")[0].at("name"), "axpy");
  EXPECT_EQ(segments[1].at("place"), "host_thread");
  EXPECT_EQ(segments[1].at("id"), 0);  // of environment.threads, not the thread's own number
  EXPECT_EQ(segments[1].at("entered_by"), "stream_sync");
  EXPECT_EQ(document.at("environment").at("threads")[0].at("tid"), 11);
  const Json& bubble = document.at("bubbles").at("longest")[0];
  EXPECT_EQ(bubble.at("before").at("name"), "gemm<float>");
  EXPECT_EQ(bubble.at("after").at("name"), "axpy");
  EXPECT_EQ(bubble.at("call").at("name"), "hipMemcpyAsync");
  EXPECT_EQ(bubble.at("cause"), "host_call");
  EXPECT_TRUE(document.at("bubbles").at("longest")[1].at("call").is_null());
  const Json& slack = document.at("top_slack");
  EXPECT_EQ(slack[0].at("start_ns"), 120);
  EXPECT_EQ(slack[0].at("duration_ns"), 40);
  EXPECT_EQ(slack[1].at("kind"), "copy");
}

TEST(DagDocument, ListsTheGraphOnlyWhenAsked) {
  EXPECT_TRUE(dag_sample().at("nodes").is_null());
  const Json nodes = dag_sample({.full = true}).at("nodes");
  ASSERT_EQ(nodes.size(), 7U);
  EXPECT_EQ(nodes[3].at("kind"), "dispatch");
  EXPECT_EQ(nodes[3].at("start_ns"), 50);
  EXPECT_EQ(nodes[3].at("on_path"), true);
  EXPECT_EQ(nodes[3].at("stream"), 2);
  EXPECT_EQ(nodes[3].at("queue"), 7);
  EXPECT_EQ(nodes[3].at("dispatch_id"), 102);
  EXPECT_EQ(nodes[3].at("edges"),
            (Json::array({{{"from", 0}, {"rule", "launch"}, {"lag_ns", 40}, {"binds", true}}})));
  EXPECT_EQ(nodes[5].at("edges").size(), 2U);
  EXPECT_TRUE(nodes[0].at("stream").is_null());
  EXPECT_EQ(nodes[0].at("thread"), 0);
}

/// The earliest schedule of the graph in a document, from nothing but lags and own work, against
/// the recorded times.
void expect_earliest_schedule(const Json& document) {
  std::map<std::string, std::pair<bool, bool>> from_end_to_end;
  for (const Json& rule : document.at("graph").at("rules"))
    from_end_to_end[rule.at("rule")] = {rule.at("from") == "end", rule.at("to") == "end"};
  std::vector<std::int64_t> starts, ends;
  std::size_t bound = 0;
  for (const Json& node : document.at("nodes")) {
    std::optional<std::int64_t> start, until;
    for (const Json& edge : node.at("edges")) {
      const auto& [from_end, to_end] = from_end_to_end.at(edge.at("rule"));
      const std::int64_t time = (from_end ? ends : starts).at(edge.at("from").get<std::size_t>()) +
                                edge.at("lag_ns").get<std::int64_t>();
      std::optional<std::int64_t>& event = to_end ? until : start;
      event = std::max(event.value_or(time), time);
      if (edge.at("binds").get<bool>()) ++bound;
    }
    starts.push_back(start.value_or(node.at("start_ns").get<std::int64_t>()));
    const std::int64_t own = starts.back() + node.at("own_ns").get<std::int64_t>();
    ends.push_back(std::max(own, until.value_or(own)));
    EXPECT_EQ(starts.back(), node.at("start_ns")) << node.dump();
    EXPECT_EQ(ends.back(),
              node.at("start_ns").get<std::int64_t>() + node.at("duration_ns").get<std::int64_t>())
        << node.dump();
  }
  EXPECT_GT(bound, 0U);
  EXPECT_EQ(std::ranges::max(ends), document.at("critical_path_ns"));
}

TEST(DagDocument, LetsAnyoneRecomputeTheSchedule) {
  expect_earliest_schedule(dag_sample({.full = true}));
}

TEST(DagDocument, LetsAnyoneRecomputeTheScheduleOfARecordedRun) {
  const auto runs = case_named("mi350x").runs();
  if (runs.empty())
    GTEST_SKIP() << "skipped: mi350x is not there (recorded databases are kept outside the "
                    "project)";
  analyze::AnalyzeOptions options;
  options.critical_path.keep_nodes = true;
  const auto analyzed = analyze::analyze_files(runs.front(), options);
  ASSERT_TRUE(analyzed) << describe(analyzed.error());
  ASSERT_TRUE(analyzed->analysis.critical_path);
  expect_earliest_schedule(
      rendered_json("dag", dag_document(analyzed->trace, analyzed->analysis, {.full = true})));
}

TEST(DagDocument, AGraphThatIsTooLargeIsNotListedAndItSaysSo) {
  analyze::Analysis analysis = sample_dag();
  auto large = std::make_shared<analyze::Graph>();
  large->start.append(std::vector<std::int64_t>(200'001, analysis.critical_path->begin));
  large->end = large->start;
  analysis.critical_path->graph = large;
  const Json document = document_of(analysis, {.full = true});
  EXPECT_TRUE(document.at("nodes").is_null());
  EXPECT_EQ(document.at("missing")[0].at("field"), "nodes");
  EXPECT_EQ(document.at("missing")[0].at("remedy"), "restrict it to one segment with --segment N");
}

TEST(DagDocument, HasSegmentsOrTheReasonWhyNot) {
  const Json segments = dag_sample().at("segments");
  EXPECT_EQ(segments.at("count"), 3);
  EXPECT_EQ(segments.at("period").at("median_ns"), 50);
  EXPECT_EQ(segments.at("slowest").at("segment"), 2);
  EXPECT_TRUE(segments.at("slowest").at("differences")[2].at("name").is_null());
  EXPECT_EQ(segments.at("list")[1].at("start_ns"), 70);
  analyze::Analysis analysis = sample_dag();
  analysis.segments = {};
  analysis.segments.missing.reason = "the sequence of 3 dispatches shows no repetition";
  const Json document = document_of(analysis);
  EXPECT_TRUE(document.at("segments").is_null());
  expect_nulls_explained(document);
  EXPECT_EQ(document.at("missing")[0].at("reason"),
            "the sequence of 3 dispatches shows no repetition");
}

TEST(DagDocument, ManySegmentsAreListedOnlyWhenAsked) {
  analyze::Analysis analysis = sample_dag();
  analysis.segments.segments->segments.resize(1001);
  EXPECT_TRUE(document_of(analysis).at("segments").at("list").is_null());
  EXPECT_EQ(document_of(analysis, {.full = true}).at("segments").at("list").size(), 1001U);
}

TEST(DagDocument, SaysWhatWasAskedFor) {
  EXPECT_EQ(dag_sample().at("what_if").at("changes")[0],
            (Json{{"text", "axpy=2x"}, {"matched", 1}}));
  EXPECT_DOUBLE_EQ(dag_sample().at("what_if").at("gain_share").get<double>(), 45.0 / 205);
  analyze::Analysis analysis = sample_dag();
  EXPECT_EQ(dag_sample().at("what_if").at("bound"), true);  // sync=drop
  analysis.critical_path->what_if->changes[1].drop = false;
  EXPECT_EQ(document_of(analysis).at("what_if").at("bound"), false);
  analysis.critical_path->what_if.reset();
  analysis.segment = 1;
  const Json document = document_of(analysis);
  EXPECT_TRUE(document.at("what_if").is_null());
  EXPECT_EQ(document.at("segment"), 1);
}

TEST(DagDocument, OfARunOfNoLengthHasNoShares) {
  analyze::Analysis analysis = sample_dag();
  analysis.critical_path->length = 0;
  analysis.critical_path->spent = {};
  const Json document = document_of(analysis);
  EXPECT_TRUE(document.at("attribution").at("kernel").at("share").is_null());
  expect_nulls_explained(document);
}

TEST(DagDocument, HoldsHostFactsOnlyUnderEnvironment) {
  Json document = dag_sample({.full = true});
  EXPECT_EQ(document.at("machine"), 0);
  EXPECT_EQ(document.at("other_machines")[0].at("machine"), 1);
  EXPECT_EQ(document.at("environment").at("machines"), (Json{"machine-1", "machine-2"}));
  document.erase("environment");
  const std::string text = to_canonical_text(document);
  for (const char* fact : {"machine-1", "./app", "run.db", "\"pid\"", "\"tid\""})
    EXPECT_EQ(text.find(fact), std::string::npos) << fact;
}

TEST(DagSummaries, StandInAnalysisJson) {
  const Json analysis =
      rendered_json("analysis", analysis_document(sample_dag_trace(), sample_dag()));
  const Json& path = analysis.at("critical_path");
  EXPECT_EQ(path.at("critical_path_ns"), 205);
  EXPECT_EQ(path.at("attribution"), dag_sample().at("attribution"));
  EXPECT_EQ(path.at("kernels")[0].at("gain_if_infinitely_fast_ns"), 40);
  EXPECT_TRUE(path.at("kernels")[1].at("gain_if_infinitely_fast_ns").is_null());
  EXPECT_EQ(analysis.at("segments").at("slowest"), 2);
  EXPECT_EQ(analysis.at("segments").at("warm_up"), 1);
  EXPECT_TRUE(analysis.at("segment").is_null());
}

TEST(DagSummaries, AreNullWithTheReason) {
  analyze::Analysis analysis;
  analysis.critical_path_missing.reason = "only counter passes were given";
  const Json document = rendered_json("analysis", analysis_document(sample_dag_trace(), analysis));
  expect_nulls_explained(document);
  EXPECT_NE(document.at("missing").dump().find("only counter passes were given"),
            std::string::npos);
}

}  // namespace
}  // namespace perflab::report
