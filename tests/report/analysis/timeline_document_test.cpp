// timeline.json of a written critical path: schema, order of keys, reasons, and what stands where.
#include <gmock/gmock.h>

#include <map>

#include "report/analysis/timeline_document.h"
#include "report/critical_path/dag_document.h"
#include "report/dag_samples.h"
#include "report/document_checks.h"
#include "report/report_cases.h"

namespace perflab::report {
namespace {

Json timeline_sample(const analyze::TimelineLimits& limits = {}) {
  return rendered_json("timeline", timeline_document(sample_dag_trace(), sample_timeline(limits)));
}

TEST(TimelineDocument, SatisfiesItsSchemaInItsOrderAndExplainsItsNulls) {
  for (const std::size_t slices : {60'000U, 3U}) {
    const Json document = timeline_sample({.slices = slices, .stretches = slices});
    const Json schema = schema_of("timeline");
    expect_schema_order(schema, schema, document, "timeline");
    expect_nulls_explained(document);
    expect_entries_are_true(document, "");
  }
}

TEST(TimelineDocument, HasTheWorkOnLanesWithItsTimeOnThePath) {
  const Json document = timeline_sample();
  EXPECT_EQ(document.at("span_ns"), 205);
  EXPECT_EQ(document.at("resolution_ns"), 0);
  std::map<std::string, Json> lanes;
  for (const Json& lane : document.at("lanes")) lanes[lane.at("label")] = lane;
  ASSERT_EQ(lanes.size(), 3U);
  const Json& names = document.at("names");
  const auto name_of_slice = [&](const Json& slice) {
    return names.at(slice.at(2).get<std::size_t>());
  };
  const Json& second = lanes.at("stream 2").at("slices");  // axpy, then the copy
  ASSERT_EQ(second.size(), 2U);
  EXPECT_EQ(second[0].dump(), Json::array({50, 100, second[0][2], 1, 100, 100}).dump());
  EXPECT_EQ(name_of_slice(second[1]), "MEMORY_COPY_HOST_TO_DEVICE");
  EXPECT_EQ(second[1].dump(), Json::array({155, 45, second[1][2], 1, 45, 45}).dump());
  EXPECT_EQ(lanes.at("stream 1").at("path_ns"), 0);
  EXPECT_EQ(lanes.at("stream 1").at("busy_ns"), 140);
  EXPECT_EQ(document.at("outside").at("operations"), 0);
}

TEST(TimelineDocument, PutsThePathOverTheLanesWithoutGaps) {
  const Json document = timeline_sample();
  const Json dag = rendered_json("dag", dag_document(sample_dag_trace(), sample_timeline()));
  std::map<std::string, std::int64_t> spent;
  std::int64_t at = 0;
  for (const Json& stretch : document.at("path")) {
    EXPECT_EQ(stretch[0], at);
    at = stretch[1];
    spent[document.at("spent_kinds").at(stretch[2].get<std::size_t>())] +=
        stretch[4].get<std::int64_t>();
    EXPECT_EQ(stretch[3].is_null(),
              document.at("spent_kinds").at(stretch[2].get<std::size_t>()) == "idle");
  }
  EXPECT_EQ(at, dag.at("critical_path_ns"));
  EXPECT_EQ(spent["kernel"], 100);
  EXPECT_EQ(spent["copy"], 45);
  EXPECT_EQ(spent["launch_latency"], 40);
  EXPECT_EQ(spent["idle"], 5);
}

TEST(TimelineDocument, WithoutACriticalPathSaysWhy) {
  analyze::Analysis analysis = sample_timeline();
  analysis.critical_path.reset();
  analysis.critical_path_missing.reason = "it was not asked for";
  analysis.timeline->path.reset();
  const Json document = rendered_json("timeline", timeline_document(sample_dag_trace(), analysis));
  EXPECT_TRUE(document.at("path").is_null());
  ASSERT_EQ(document.at("missing").size(), 1U);
  EXPECT_EQ(document.at("missing")[0].at("field"), "path");
  EXPECT_EQ(document.at("missing")[0].at("reason"), "it was not asked for");
}

TEST(TimelineDocument, LanesAreToldApartByProcessAndGpuOnlyWhereThereAreSeveral) {
  const trace::Trace trace = sample_dag_trace();
  analyze::Analysis analysis = sample_timeline();
  ASSERT_FALSE(trace.agents.empty());
  analysis.timeline->lanes.back().agent = 0;
  analysis.timeline->lanes.back().process = trace::kNone;
  const Json document = rendered_json("timeline", timeline_document(trace, analysis));
  EXPECT_EQ(document.at("lanes").back().at("label"), "stream 2");
  EXPECT_EQ(document.at("lanes").front().at("label"), "process 0, thread 0");
}

}  // namespace
}  // namespace perflab::report
