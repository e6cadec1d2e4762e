// Graphs of recorded databases against plain SQL. The databases are not part of the project:
// without them these tests are skipped.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "analyze/critical_path/graph_input.h"
#include "analyze/critical_path/path_recording.h"
#include "support/test_database.h"
#include "trace/api_calls.h"

namespace perflab::analyze {
namespace {

namespace fs = std::filesystem;
using test::build;
using test::Built;
using test::TestDatabase;
using trace::kNone;

fs::path recorded(const char* name) {
  return fs::path(PERFLAB_SHARED_DIR) / "data" / "rocpd" / name;
}

class RecordedGraph : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!fs::exists(path()))
      GTEST_SKIP() << "skipped: " << path()
                   << " is not there (recorded databases are kept outside the project)";
  }
  [[nodiscard]] fs::path path() const { return recorded(GetParam()); }
};

/// Names of the calls that are nodes, by start; calls in halves once.
std::vector<std::string> calls_of(const Built& b) {
  std::vector<std::string> names;
  for (NodeId node = 0; node < b.graph().size(); ++node)
    if (b.graph().kind(node) == NodeKind::call)
      names.emplace_back(b.trace.strings.view(node_name(b.trace, b.graph(), node)));
  return names;
}

/// Names of API calls by start that do something of their own; `like`: SQL pattern of names.
std::vector<std::string> wanted_calls(TestDatabase& db, const std::string& condition) {
  std::vector<std::string> names = db.list(
      "SELECT s.string FROM rocpd_region r JOIN rocpd_string s ON s.id = r.name_id JOIN "
      "rocpd_event e ON e.id = r.event_id JOIN rocpd_string c ON c.id = e.category_id "
      "WHERE " +
      condition + " ORDER BY r.start");
  std::erase_if(names, [](const std::string& name) {
    const trace::CallKind kind = trace::call_kind(name);
    return kind == trace::CallKind::other || kind == trace::CallKind::set_device;
  });
  return names;
}

TEST_P(RecordedGraph, HasEveryDispatchAndCopyOnce) {
  TestDatabase db(path());
  const Built b = build({path()}, {}, 1);  // checks every node, edge and step
  EXPECT_EQ(std::to_string(b.path.report.dispatches),
            db.text("SELECT count(*) FROM rocpd_kernel_dispatch"));
  EXPECT_EQ(std::to_string(b.path.report.copies),
            db.text("SELECT count(*) FROM rocpd_memory_copy"));
  // Work of which a call has the same stack id.
  const std::string linked =
      "SELECT count(*) FROM rocpd_{} x JOIN rocpd_event e ON e.id = x.event_id WHERE e.stack_id "
      "<> 0 AND e.stack_id IN (SELECT stack_id FROM rocpd_event q JOIN rocpd_region r ON "
      "r.event_id = q.id)";
  const auto with = db.number(fmt::format(fmt::runtime(linked), "kernel_dispatch")) +
                    db.number(fmt::format(fmt::runtime(linked), "memory_copy"));
  EXPECT_EQ(static_cast<long long>(b.path.report.dispatches + b.path.report.copies -
                                   b.path.report.without_launch),
            with);
  EXPECT_EQ(static_cast<long long>(b.count(EdgeRule::launch) + b.count(EdgeRule::launch_inside) +
                                   b.path.report.contradicted[std::size_t(EdgeRule::launch)]),
            with);
}

TEST_P(RecordedGraph, HasAllHipCallsThatMatterAndNoMarkers) {
  TestDatabase db(path());
  const Built b = build({path()}, {}, 1);
  std::vector<std::string> calls = calls_of(b);
  std::erase_if(calls, [](const std::string& name) { return !name.starts_with("hip"); });
  EXPECT_EQ(calls, wanted_calls(db, "s.string LIKE 'hip%' AND c.string NOT LIKE '%marker%'"));
}

INSTANTIATE_TEST_SUITE_P(
    Files, RecordedGraph,
    testing::Values("emulated_mi300x/single.db", "emulated_mi300x/single_hsa.db",
                    "emulated_mi300x/multi.db", "emulated_mi300x/multi_runtime.db",
                    "emulated_mi300x/kernel_only.db", "emulated_mi300x/streams.db",
                    "emulated_mi300x/streams_sys.db", "emulated_mi300x/copies.db",
                    "emulated_mi300x/graph.db", "emulated_mi300x/vmm_sys.db",
                    "emulated_mi300x/rawhsa.db", "emulated_mi300x/crash_abort.db",
                    "emulated_mi300x/multiproc/process_1.db",
                    "emulated_mi300x/multiproc/process_2.db", "mi350x_rocprofsys/rocpd.db"),
    [](const auto& file) {
      std::string name = fs::path(file.param).replace_extension().string();
      std::ranges::replace_if(name, [](char c) { return c == '/' || c == '.'; }, '_');
      return name;
    });

/// Reads one of the emulated recordings, or skips.
class RecordedRun : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(recorded("emulated_mi300x")))
      GTEST_SKIP() << "skipped: " << recorded("emulated_mi300x")
                   << " is not there (recorded databases are kept outside the project)";
  }
  static fs::path file(const char* name) { return recorded("emulated_mi300x") / name; }
};

/// {stream, start} of the operations with such an edge into dispatches of that kernel.
std::set<std::pair<std::int64_t, std::int64_t>> origins(const Built& b, std::string_view kernel,
                                                        EdgeRule rule) {
  std::set<std::pair<std::int64_t, std::int64_t>> found;
  for (NodeId node = 0; node < b.graph().size(); ++node) {
    if (b.graph().kind(node) != NodeKind::dispatch ||
        !b.trace.strings.view(node_name(b.trace, b.graph(), node)).starts_with(kernel))
      continue;
    for (std::uint32_t e = b.graph().first_edge[node]; e < b.graph().first_edge[node + 1]; ++e) {
      if (b.graph().rule[e] != rule) continue;
      const NodeId from = b.graph().from[e];
      const trace::Track& track = b.trace.tracks[b.trace.dispatches.track[b.graph().row(from)]];
      found.emplace(b.trace.streams[track.stream].id, b.graph().start[from]);
    }
  }
  return found;
}

TEST_F(RecordedRun, StreamsJoinWhereTheProgramWaits) {
  for (const char* name : {"streams.db", "streams_sys.db"}) {
    TestDatabase db(file(name));
    const Built b = build({file(name)}, {}, 1);
    // join_k runs in one stream and waits for events behind the last work of the two others. Work
    // of a stream overlaps here (an emulator ran it): what ends last counts.
    std::set<std::pair<std::int64_t, std::int64_t>> expected;
    for (const auto& row : db.rows(
             "SELECT d.stream_id, d.start, max(d.end) FROM rocpd_kernel_dispatch d JOIN "
             "rocpd_info_kernel_symbol k ON k.id = d.kernel_id WHERE d.stream_id NOT IN (SELECT "
             "j.stream_id FROM rocpd_kernel_dispatch j JOIN rocpd_info_kernel_symbol q ON q.id = "
             "j.kernel_id WHERE q.display_name LIKE 'join_k%') GROUP BY d.stream_id"))
      expected.emplace(std::stoll(row[0]), std::stoll(row[1]));
    EXPECT_EQ(expected.size(), 2U);
    EXPECT_EQ(origins(b, "join_k", EdgeRule::event_wait), expected) << name;
    EXPECT_EQ(b.count(EdgeRule::event_wait), 2U);
    EXPECT_EQ(b.path.report.unknown_events, 0U);
    EXPECT_EQ(b.path.report.without_launch, 0U);
    EXPECT_EQ(b.count(EdgeRule::handover), 0U);
    // One hipStreamSynchronize for each of three streams.
    EXPECT_EQ(b.count(EdgeRule::stream_sync), 3U) << name;
  }
}

TEST_F(RecordedRun, NestedHsaCallsAreNoNodes) {
  const Built hip = build({file("streams.db")}, {}, 1);
  const Built all = build({file("streams_sys.db")}, {}, 1);
  EXPECT_EQ(calls_of(all), calls_of(hip));
  for (const EdgeRule rule : {EdgeRule::launch, EdgeRule::launch_inside, EdgeRule::program_order,
                              EdgeRule::event_wait, EdgeRule::stream_sync, EdgeRule::signal_wait})
    EXPECT_EQ(all.count(rule), hip.count(rule)) << info(rule).name;
}

TEST_F(RecordedRun, GraphLaunchesLaunchWhatTheyHold) {
  TestDatabase db(file("graph.db"));
  const Built b = build({file("graph.db")}, {}, 1);
  const auto launches = db.list(
      "SELECT e.stack_id FROM rocpd_region r JOIN rocpd_string s ON s.id = r.name_id JOIN "
      "rocpd_event e ON e.id = r.event_id WHERE s.string = 'hipGraphLaunch'");
  EXPECT_GT(launches.size(), 1U);
  EXPECT_EQ(b.path.report.graph_launches, launches.size());
  EXPECT_EQ(b.path.report.blind_graph_launches, 0U);
  std::uint64_t edges = 0;
  for (NodeId node = 0; node < b.graph().size(); ++node)
    for (std::uint32_t e = b.graph().first_edge[node]; e < b.graph().first_edge[node + 1]; ++e)
      if (is_launch(b.graph().rule[e]) && b.name(b.graph().from[e]).starts_with("hipGraphLaunch"))
        ++edges;
  EXPECT_EQ(std::to_string(edges),
            db.text("SELECT count(*) FROM rocpd_kernel_dispatch d JOIN rocpd_event e ON e.id = "
                    "d.event_id WHERE e.stack_id IN (SELECT q.stack_id FROM rocpd_region r JOIN "
                    "rocpd_string s ON s.id = r.name_id JOIN rocpd_event q ON q.id = r.event_id "
                    "WHERE s.string = 'hipGraphLaunch')"));
  EXPECT_GT(edges, launches.size());
}

TEST_F(RecordedRun, ProcessesAreNotJoined) {
  const fs::path one = file("multiproc/process_1.db"), two = file("multiproc/process_2.db");
  const Built both = build({one, two}, {}, 1);
  EXPECT_EQ(both.path.processes, 2U);
  EXPECT_TRUE(both.path.other_nodes.empty());
  std::vector<std::string> apart;
  for (const fs::path& path : {one, two})
    for (std::string& edge : build({path}, {}, 1).edges()) apart.push_back(std::move(edge));
  std::vector<std::string> together = both.edges();
  std::ranges::sort(apart);
  std::ranges::sort(together);
  EXPECT_EQ(together.size(), apart.size());
  EXPECT_EQ(both.summary(), build({two, one}, {}, 1).summary());
}

TEST_F(RecordedRun, BlockingCopiesWaitForWhatTheyCopy) {
  TestDatabase db(file("copies.db"));
  const Built b = build({file("copies.db")}, {}, 1);
  // Work of hipMemcpy calls that ended before the call returned.
  const auto wanted = db.number(
      "SELECT count(*) FROM (SELECT x.end AS done, e.stack_id AS stack FROM rocpd_memory_copy x "
      "JOIN rocpd_event e ON e.id = x.event_id UNION ALL SELECT x.end, e.stack_id FROM "
      "rocpd_kernel_dispatch x JOIN rocpd_event e ON e.id = x.event_id) JOIN rocpd_event q ON "
      "q.stack_id = stack JOIN rocpd_region r ON r.event_id = q.id JOIN rocpd_string s ON s.id = "
      "r.name_id WHERE s.string = 'hipMemcpy' AND done <= r.end + 1000");
  EXPECT_GT(wanted, 0);
  EXPECT_EQ(static_cast<long long>(b.count(EdgeRule::blocking_call)), wanted);
}

TEST_F(RecordedRun, BareHsaWaitsWaitForWhatEndedWhileTheyRan) {
  TestDatabase db(file("rawhsa.db"));
  const Built b = build({file("rawhsa.db")}, {}, 1);
  const auto waits = db.number(
      "SELECT count(*) FROM rocpd_region r JOIN rocpd_string s ON s.id = r.name_id WHERE s.string "
      "LIKE 'hsa_signal_wait%' AND EXISTS (SELECT 1 FROM (SELECT end FROM rocpd_kernel_dispatch "
      "UNION ALL SELECT end FROM rocpd_memory_copy) w WHERE w.end > r.start AND w.end <= r.end)");
  EXPECT_GE(waits, 12);
  EXPECT_EQ(static_cast<long long>(b.count(EdgeRule::signal_wait)), waits);
}

TEST_F(RecordedRun, KernelsAloneHaveNoHostAndNoHandover) {
  const Built b = build({file("kernel_only.db")}, {}, 1);
  EXPECT_EQ(b.path.report.calls, 0U);
  EXPECT_EQ(b.count(EdgeRule::handover), 0U);
  EXPECT_EQ(b.path.report.without_launch, b.path.report.dispatches);
  EXPECT_EQ(b.graph().size(), b.path.report.dispatches);
  EXPECT_THAT(b.path.warnings,
              testing::Contains(testing::HasSubstr("no host API call was recorded")));
}

TEST_F(RecordedRun, WhatACrashLeftIsAGraph) {
  TestDatabase db(file("crash_abort.db"));
  const Built b = build({file("crash_abort.db")}, {}, 1);
  EXPECT_EQ(b.path.report.dispatches, 3U);
  EXPECT_EQ(std::to_string(b.path.length),
            db.text("SELECT max(b) - min(a) FROM (SELECT start a, end b FROM "
                    "rocpd_kernel_dispatch UNION ALL SELECT r.start, r.end FROM rocpd_region r "
                    "JOIN rocpd_string s ON s.id = r.name_id WHERE s.string LIKE 'hip%' AND "
                    "s.string NOT IN ('hipGetDevice', 'hipGetDeviceCount', 'hipSetDevice'))"));
}

TEST_F(RecordedRun, OfRocprofilerSystems) {
  const fs::path path = recorded("mi350x_rocprofsys/rocpd.db");
  if (!fs::exists(path)) GTEST_SKIP() << "skipped: " << path << " is not there";
  const Built b = build({path}, {}, 1);
  EXPECT_EQ(b.path.report.calls, 7U);        // two hipMalloc, two hipMemcpy, a launch, two hipFree
  EXPECT_EQ(b.count(EdgeRule::launch), 1U);  // the kernel began 12 us after the return
  EXPECT_EQ(b.count(EdgeRule::launch_inside), 2U);  // of hipMemcpy
  EXPECT_EQ(b.count(EdgeRule::blocking_call), 2U);
  EXPECT_EQ(b.count(EdgeRule::program_order), 6U + 2U);  // and to the halves of hipMemcpy
  EXPECT_EQ(b.count(EdgeRule::stream_order), 2U);        // copy, kernel, copy
}

}  // namespace
}  // namespace perflab::analyze
