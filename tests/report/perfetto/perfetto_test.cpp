// The Perfetto export, parsed back: the fields that the Trace Event Format requires of each phase,
// slices that nest on every track, and the times of the trace. Format:
// report/perfetto/trace_events.h.
#include "report/perfetto/perfetto.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "base/temp_folder.h"
#include "report/dag_samples.h"
#include "report/perfetto/trace_events.h"
#include "report/report_cases.h"

namespace perflab::report {
namespace {

using Track = std::pair<std::int64_t, std::int64_t>;  // pid, tid

Json written(const trace::Trace& trace, const analyze::Analysis& analysis) {
  const test::TempFolder folder;
  const Result<void> done = write_perfetto(folder / "trace.json", trace, analysis);
  EXPECT_TRUE(done) << describe(done.error());
  return parse_json(test::text_of(folder / "trace.json"), "trace.json").value_or(Json::object());
}

Json perfetto_sample() {
  return written(sample_dag_trace(), sample_dag());
}

/// ns since the origin of a field in microseconds.
std::int64_t ns(const Json& event, const char* field) {
  return std::llround(event.at(field).get<double>() * 1000);
}

/// Events of one phase, and of one category when it is named.
std::vector<Json> events_of(const Json& file, std::string_view phase,
                            std::string_view category = {}) {
  std::vector<Json> out;
  for (const Json& event : file.at("traceEvents"))
    if (event.at("ph") == phase && (category.empty() || event.value("cat", "") == category))
      out.push_back(event);
  return out;
}

Track track_of(const Json& event) {
  return {event.at("pid"), event.at("tid")};
}

std::map<Track, std::string> track_names(const Json& file) {
  std::map<Track, std::string> names;
  for (const Json& event : events_of(file, "M"))
    if (event.at("name") == "thread_name") names[track_of(event)] = event.at("args").at("name");
  return names;
}

/// What the format requires: "Trace Event Format", sections Complete, Counter, Metadata and Flow
/// events.
void expect_required_fields(const Json& file) {
  ASSERT_TRUE(file.at("traceEvents").is_array());
  EXPECT_EQ(file.at("displayTimeUnit"), "ns");
  std::map<std::int64_t, std::set<std::string>> flows;
  for (const Json& event : file.at("traceEvents")) {
    const std::string phase = event.at("ph");
    ASSERT_TRUE(std::set<std::string>({"X", "C", "M", "s", "f"}).contains(phase)) << event.dump();
    EXPECT_TRUE(event.at("name").is_string());
    EXPECT_TRUE(event.at("pid").is_number_unsigned());
    EXPECT_TRUE(event.at("tid").is_number_unsigned());
    if (phase == "M") {
      const char* argument =
          event.at("name").get<std::string>().ends_with("sort_index") ? "sort_index" : "name";
      EXPECT_TRUE(event.at("args").contains(argument)) << event.dump();
      continue;
    }
    EXPECT_GE(event.at("ts").get<double>(), 0);
    EXPECT_TRUE(phase != "X" || event.at("dur").get<double>() >= 0) << event.dump();
    EXPECT_TRUE(phase != "C" || event.at("args").at("value").is_number()) << event.dump();
    if (phase != "s" && phase != "f") continue;
    EXPECT_TRUE(event.at("cat").is_string());
    EXPECT_TRUE(flows[event.at("id")].insert(phase).second);
  }
  for (const auto& [id, phases] : flows) EXPECT_EQ(phases.size(), 2U) << id;
}

/// Slices of a track lie inside one another or apart, in the order in which they are written; and
/// every track has a name.
void expect_nesting(const Json& file) {
  const std::map<Track, std::string> names = track_names(file);
  std::map<Track, std::vector<std::int64_t>> open;
  std::map<Track, std::int64_t> last;
  for (const Json& event : events_of(file, "X")) {
    const Track track = track_of(event);
    EXPECT_TRUE(names.contains(track)) << event.dump();
    EXPECT_NE(track.first, track.second) << "Perfetto would take it for the main thread";
    const std::int64_t start = ns(event, "ts");
    const std::int64_t end = start + ns(event, "dur");
    EXPECT_GE(start, last[track]) << event.dump();
    last[track] = start;
    std::vector<std::int64_t>& ends = open[track];
    while (!ends.empty() && ends.back() <= start) ends.pop_back();
    EXPECT_TRUE(ends.empty() || end <= ends.back()) << event.dump();
    ends.push_back(end);
  }
  std::set<std::int64_t> threads;
  for (const auto& [track, name] : names)
    EXPECT_TRUE(threads.insert(track.second).second) << "a thread number twice";
}

/// Slices of dispatches and copies have the times of the trace, each row once.
void expect_times(const Json& file, const trace::Trace& trace, const analyze::Graph& graph) {
  const std::int64_t origin = file.at("otherData").at("origin_ns");
  std::multiset<std::pair<std::int64_t, std::int64_t>> expected, found;
  for (analyze::NodeId node = 0; node < graph.size(); ++node) {
    const std::uint32_t row = graph.row(node);
    if (graph.kind(node) == analyze::NodeKind::dispatch)
      expected.emplace(trace.dispatches.start[row], trace.dispatches.end[row]);
    if (graph.kind(node) == analyze::NodeKind::copy)
      expected.emplace(trace.copies.start[row], trace.copies.end[row]);
  }
  for (const char* category : {"dispatch", "copy"})
    for (const Json& event : events_of(file, "X", category))
      found.emplace(origin + ns(event, "ts"), origin + ns(event, "ts") + ns(event, "dur"));
  EXPECT_EQ(found, expected);
}

/// The outer slices of the path's track follow each other and add up to the path.
void expect_path(const Json& file, std::int64_t length) {
  std::int64_t sum = 0, until = -1;
  for (const Json& event : events_of(file, "X", "critical_path")) {
    if (!event.contains("args")) continue;  // the name inside
    EXPECT_TRUE(until < 0 || ns(event, "ts") == until) << event.dump();
    until = ns(event, "ts") + ns(event, "dur");
    sum += ns(event, "dur");
  }
  EXPECT_EQ(sum, length);
}

TEST(Perfetto, HasTheFieldsThatTheFormatRequires) {
  expect_required_fields(perfetto_sample());
}

TEST(Perfetto, SlicesNestOnEveryTrack) {
  expect_nesting(perfetto_sample());
}

TEST(Perfetto, HasTheTimesOfTheTrace) {
  const analyze::Analysis analysis = sample_dag();
  const Json file = perfetto_sample();
  EXPECT_EQ(file.at("otherData").at("origin_ns"), 990);  // the range begins before the graph
  EXPECT_EQ(file.at("otherData").at("left_out_calls"), 0);
  expect_times(file, sample_dag_trace(), *analysis.critical_path->graph);
  expect_path(file, 205);
}

TEST(Perfetto, WritesMicrosecondsWithThreeDecimals) {
  const test::TempFolder folder;
  ASSERT_TRUE(write_perfetto(folder / "t.json", sample_dag_trace(), sample_dag()));
  const std::string text = test::text_of(folder / "t.json");
  EXPECT_NE(text.find(R"("ts":0.060,"dur":0.100,"name":"axpy")"), std::string::npos) << text;
}

TEST(Perfetto, OverlappingDispatchesOfAStreamHaveTracksOfTheirOwn) {
  const Json file = perfetto_sample();
  const std::map<Track, std::string> names = track_names(file);
  std::vector<std::string> gemm;
  for (const Json& event : events_of(file, "X", "dispatch"))
    if (event.at("name") == "gemm<float>") gemm.push_back(names.at(track_of(event)));
  EXPECT_EQ(gemm,
            (std::vector<std::string>{"agent 4 gfx942, stream 1", "agent 4 gfx942, stream 1 (2)"}));
}

TEST(Perfetto, HasTracksForCallsRangesCopiesSegmentsAndThePath) {
  const Json file = perfetto_sample();
  std::multiset<std::string> names;
  for (const auto& [track, name] : track_names(file)) names.insert(name);
  for (const char* name : {"critical path", "segments", "segments (2)", "thread 11",
                           "ranges of thread 11", "copies to agent 4 gfx942, stream 2"})
    EXPECT_EQ(names.count(name), 1U) << name;
  EXPECT_EQ(events_of(file, "X", "range").at(0).at("name"), "step 1");
  EXPECT_EQ(events_of(file, "X", "call").size(), 3U);
  const std::vector<Json> segments = events_of(file, "X", "segment");
  ASSERT_EQ(segments.size(), 3U);
  EXPECT_EQ(segments[0].at("args").at("warm_up"), true);
  EXPECT_EQ(segments[2].at("name"), "step 3");
}

TEST(Perfetto, OnlyTheSegmentThatIsAnalysedIsShown) {
  analyze::Analysis analysis = sample_dag();
  analysis.segment = 1;
  const Json file = written(sample_dag_trace(), analysis);
  ASSERT_EQ(events_of(file, "X", "segment").size(), 1U);
  EXPECT_EQ(events_of(file, "X", "segment")[0].at("name"), "step 2");
  EXPECT_EQ(file.at("otherData").at("segment"), 1);
}

TEST(Perfetto, CountsWhatRunsAndShowsSlack) {
  const Json file = perfetto_sample();
  std::vector<std::pair<std::int64_t, int>> running;
  std::map<std::string, std::vector<double>> slack;
  for (const Json& event : events_of(file, "C")) {
    const std::string name = event.at("name");
    if (name == "running dispatches")
      running.emplace_back(990 + ns(event, "ts"), event.at("args").at("value"));
    else
      slack[name].push_back(event.at("args").at("value"));
  }
  EXPECT_EQ(running, (std::vector<std::pair<std::int64_t, int>>{
                         {1030, 1}, {1050, 2}, {1120, 3}, {1130, 2}, {1150, 1}, {1160, 0}}));
  const PackedColumn<std::int64_t> of = sample_dag().critical_path->slack;
  EXPECT_GT(of[2], 0);
  EXPECT_EQ(slack.at("slack us, agent 4 gfx942, stream 2"), (std::vector<double>{0}));
  EXPECT_EQ(slack.at("slack us, agent 4 gfx942, stream 1").at(0), static_cast<double>(of[2]) / 1e3);
  for (const Json& event : events_of(file, "X", "dispatch"))
    if (event.at("name") == "axpy") {
      EXPECT_EQ(event.at("args").at("slack_ns"), 0);
      EXPECT_EQ(event.at("args").at("on_path"), true);
      EXPECT_EQ(event.at("args").at("grid"), "1024x2x1");
    }
}

TEST(Perfetto, ArrowsLeadFromTheCallToItsWorkOnThePathOnly) {
  const Json file = perfetto_sample();
  const std::vector<Json> from = events_of(file, "s"), to = events_of(file, "f");
  ASSERT_EQ(from.size(), 1U);
  ASSERT_EQ(to.size(), 1U);
  EXPECT_EQ(990 + ns(from[0], "ts"), 1000);
  EXPECT_EQ(990 + ns(to[0], "ts"), 1050);
  EXPECT_EQ(to[0].at("bp"), "e");
  for (const Json& event : events_of(file, "X")) {
    const bool call = event.at("name") == "hipLaunchKernel" && event.at("cat") == "call";
    const bool work = event.at("name") == "axpy" && event.at("cat") == "dispatch";
    EXPECT_TRUE(!call || track_of(event) == track_of(from[0]));
    EXPECT_TRUE(!work || track_of(event) == track_of(to[0]));
  }
}

TEST(Perfetto, CountersAreZeroOnlyWhereNothingOnTheirTrackRuns) {
  trace::Trace trace = sample_dag_trace();
  trace::CounterInfo counter;
  counter.name = trace.strings.intern("SQ_WAVES");
  trace.counter_infos.push_back(counter);
  trace.counters.dispatch = {0, 2};
  trace.counters.counter = {0, 0};
  trace.counters.instances = {1, 1};
  trace.counters.sum = trace.counters.min = trace.counters.max = {64, 32.5};
  const Json file = written(trace, sample_dag());
  using Values = std::vector<std::pair<std::int64_t, double>>;
  std::map<std::string, Values> values;
  for (const Json& event : events_of(file, "C"))
    if (const std::string name = event.at("name"); name.starts_with("SQ_WAVES"))
      values[name].emplace_back(990 + ns(event, "ts"), event.at("args").at("value"));
  // They overlap from 1120 to 1130: both values are shown.
  EXPECT_EQ(values, (std::map<std::string, Values>{{"SQ_WAVES", {{1030, 64}, {1130, 0}}},
                                                   {"SQ_WAVES (2)", {{1120, 32.5}, {1160, 0}}}}));
}

TEST(Perfetto, NamesCannotBreakTheFile) {
  trace::Trace trace = sample_dag_trace();
  trace.kernel_symbols[1].name = trace.strings.intern("a\"b\\c\n\x01\xff\xc3");
  const Json file = written(trace, sample_dag());
  expect_required_fields(file);
  EXPECT_EQ(events_of(file, "X", "dispatch").size(), 3U);
}

TEST(Perfetto, IsTheSameBytesEveryTimeAndLeavesNothingElse) {
  const test::TempFolder folder;
  for (const char* name : {"a.json", "b.json"})
    ASSERT_TRUE(write_perfetto(folder / name, sample_dag_trace(), sample_dag()));
  EXPECT_EQ(test::text_of(folder / "a.json"), test::text_of(folder / "b.json"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 2);
}

TEST(Perfetto, APlaceThatCannotBeWrittenIsAUsageError) {
  const test::TempFolder folder;
  const Result<void> done =
      write_perfetto(folder / "nowhere/t.json", sample_dag_trace(), sample_dag());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::usage);
}

class PerfettoOf : public testing::TestWithParam<std::size_t> {};

TEST_P(PerfettoOf, EveryRunIsAFileThatHoldsTogether) {
  const Case& input = all_cases()[GetParam()];
  const auto runs = input.runs();
  if (runs.empty())
    GTEST_SKIP() << "skipped: " << input.name
                 << " is not there (recorded databases are kept outside the project)";
  analyze::AnalyzeOptions options;
  options.critical_path.keep_nodes = true;
  const auto analyzed = analyze::analyze_files(runs.front(), options);
  ASSERT_TRUE(analyzed) << describe(analyzed.error());
  const auto& [trace, analysis] = *analyzed;
  if (!analysis.critical_path) return;
  const Json file = written(trace, analysis);
  expect_required_fields(file);
  expect_nesting(file);
  if (input.name != "extremes") {  // times there are beyond what a double of the parser holds
    expect_times(file, trace, *analysis.critical_path->graph);
    expect_path(file, analysis.critical_path->length);
  }
}

INSTANTIATE_TEST_SUITE_P(All, PerfettoOf, testing::Range<std::size_t>(0, all_cases().size()),
                         [](const auto& parameter) { return all_cases()[parameter.param].name; });

TEST(Lanes, TakeTheLowestThatIsFree) {
  OverlapLanes lanes;
  EXPECT_EQ(lanes.lane(0, 10), 0U);
  EXPECT_EQ(lanes.lane(5, 8), 1U);
  EXPECT_EQ(lanes.lane(6, 20), 2U);
  EXPECT_EQ(lanes.lane(8, 9), 1U);
  EXPECT_EQ(lanes.lane(10, 10), 0U);
  EXPECT_EQ(lanes.lane(10, 12), 0U);
}

TEST(Lanes, NestedSlicesStayInOne) {
  NestedLanes lanes;
  EXPECT_EQ(lanes.lane(0, 100), 0U);
  EXPECT_EQ(lanes.lane(0, 100), 0U);
  EXPECT_EQ(lanes.lane(10, 50), 0U);
  EXPECT_EQ(lanes.lane(40, 60), 1U);  // overlaps the last one
  EXPECT_EQ(lanes.lane(55, 100), 0U);
  NestedLanes damaged;
  for (std::int64_t i = 0; i < 100; ++i)
    EXPECT_EQ(damaged.lane(i, 1000 + i),
              std::min<std::size_t>(static_cast<std::size_t>(i), NestedLanes::kMost));
}

}  // namespace
}  // namespace perflab::report
