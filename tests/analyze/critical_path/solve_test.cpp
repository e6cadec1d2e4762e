// analyze/critical_path/graph.h and solve.h: lags, slack and the path on graphs small enough to
// check by hand, and on thousands of random ones against the slow model of random_graph.h.
#include "analyze/critical_path/solve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analyze/critical_path/bindings.h"
#include "analyze/critical_path/random_graph.h"

namespace perflab::analyze {
namespace {

using test::add_node;
using test::ModelChanges;
using test::Prng;
using test::random_graph;
using test::SlowModel;
using ::testing::ElementsAre;

constexpr std::uint64_t kGraphs = 4000;

std::vector<PathStep> path_of(const Graph& graph) {
  std::vector<PathStep> steps;
  walk_critical_path(graph, [&](const PathStep& step) { steps.push_back(step); });
  return steps;
}

/// "node from-to spent via" of every step; via: the edge's rule or "-".
std::vector<std::string> texts(const Graph& graph, const std::vector<PathStep>& steps) {
  constexpr std::array<const char*, kSpentKinds> kNames = {
      "kernel", "copy", "launch_latency", "host_call", "sync_return", "host_code", "idle"};
  std::vector<std::string> result;
  for (const PathStep& s : steps)
    result.push_back(std::to_string(s.node) + " " + std::to_string(s.from) + "-" +
                     std::to_string(s.to) + " " + kNames.at(static_cast<std::size_t>(s.spent)) +
                     " " + (s.via == kNoEdge ? "-" : std::string(info(graph.rule[s.via]).name)));
  return result;
}

/// A launch, its kernel, and a call that waits for the device.
Graph launch_and_wait() {
  Graph graph;
  add_node(graph, NodeKind::call, 100, 110);
  add_node(graph, NodeKind::dispatch, 115, 140, {{0, EdgeRule::launch}});
  add_node(graph, NodeKind::call, 112, 145,
           {{0, EdgeRule::program_order}, {1, EdgeRule::device_sync}});
  measure_usual_lags(graph);
  return graph;
}

bool operator==(const BoundEdges& a, const BoundEdges& b) {
  return a.start == b.start && a.end == b.end;
}

TEST(CriticalPathSolve, BindingEdgesAreThoseThatTimesTell) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Prng prng(seed);
    Graph graph = random_graph(prng, 40);
    const PackedColumn<std::int64_t> slacks = slack(graph);
    find_bindings(graph, 2);
    const EdgeView edges(graph);
    for (NodeId node = 0; node < graph.size(); ++node)
      ASSERT_TRUE(edges.binding(node) == edges.find_binding(node)) << seed << ", node " << node;
    EXPECT_TRUE(slack(graph) == slacks) << seed;
  }
}

/// Ranges of nodes and edges are looked at side by side, of many edges a share is drawn.
TEST(CriticalPathSolve, ThreadsChangeNothingInALargeGraph) {
  Graph graph;
  Prng prng(7);
  for (NodeId node = 0; node < 700'000; ++node) {
    const std::int64_t start = 100 * std::int64_t{node} + static_cast<std::int64_t>(prng.below(60));
    const auto length = static_cast<std::int64_t>(prng.below(40));
    if (node == 0)
      add_node(graph, NodeKind::call, start, start + length);
    else if (node % 3 == 2)
      add_node(graph, NodeKind::call, start, start + length,
               {{node - 1, EdgeRule::program_order}, {node - 2, EdgeRule::device_sync}});
    else
      add_node(graph, NodeKind::call, start, start + length, {{node - 1, EdgeRule::program_order}});
  }
  Graph alone = graph;
  measure_usual_lags(alone);
  find_bindings(graph, 4);
  const EdgeView edges(graph);
  for (NodeId node = 0; node < graph.size(); ++node)
    ASSERT_TRUE(edges.binding(node) == edges.find_binding(node)) << node;
  measure_usual_lags(graph, 4);
  EXPECT_EQ(graph.usual_lag, alone.usual_lag);
  EXPECT_EQ(graph.usual_sync_call, alone.usual_sync_call);
  // From a node's end (up to 100 behind its hundred) to the next one's start: 100 + 0..59 - 0..59
  // - 0..39 ns, 80.5 on average.
  EXPECT_NEAR(
      static_cast<double>(graph.usual_lag[static_cast<std::size_t>(EdgeRule::program_order)]), 80.5,
      2);
}

TEST(CriticalPathSolve, EmptyGraph) {
  Graph graph;
  measure_usual_lags(graph);
  EXPECT_THAT(slack(graph), ElementsAre());
  EXPECT_TRUE(path_of(graph).empty());
  EXPECT_EQ(makespan(graph), 0);
}

TEST(CriticalPathSolve, LaunchKernelWait) {
  const Graph graph = launch_and_wait();
  EXPECT_EQ(makespan(graph), 45);
  EXPECT_THAT(texts(graph, path_of(graph)),
              ElementsAre("2 140-145 sync_return device_sync", "1 115-140 kernel -",
                          "1 110-115 launch_latency launch", "0 100-110 host_call -"));
  // Nothing says how long the waiting call takes by itself: it may begin as late as it ends.
  EXPECT_THAT(slack(graph), ElementsAre(0, 0, 33));
  EXPECT_EQ(graph.usual_lag[static_cast<std::size_t>(EdgeRule::launch)], 5);
  EXPECT_EQ(graph.usual_lag[static_cast<std::size_t>(EdgeRule::program_order)], 2);
  EXPECT_EQ(graph.usual_lag[static_cast<std::size_t>(EdgeRule::device_sync)], 5);
  EXPECT_EQ(graph.usual_lag[static_cast<std::size_t>(EdgeRule::handover)], 0);
}

TEST(CriticalPathSolve, WaitingCallThatFoundNothingToWaitForGivesItsOwnWork) {
  Graph graph = launch_and_wait();
  add_node(graph, NodeKind::call, 150, 157,
           {{2, EdgeRule::program_order}, {1, EdgeRule::device_sync}});
  measure_usual_lags(graph);
  EXPECT_EQ(graph.usual_sync_call, 7);
  EXPECT_EQ(EdgeView(graph).binding(3).start, 3U);
  EXPECT_EQ(EdgeView(graph).binding(3).end, kNoEdge);
  EXPECT_EQ(EdgeView(graph).own_work(3, kNoEdge), 7);
  EXPECT_EQ(EdgeView(graph).binding(2).end, 2U);
  EXPECT_EQ(EdgeView(graph).own_work(2, 2), 7);
  EXPECT_EQ(EdgeView(graph).lag(3, 4, kNoEdge), 5);  // the usual one, not the recorded 17
  EXPECT_THAT(slack(graph), ElementsAre(0, 0, 26, 0));
}

TEST(CriticalPathSolve, OverlapInAQueueBelongsToTheEarlierKernel) {
  Graph graph;
  add_node(graph, NodeKind::dispatch, 0, 50);
  add_node(graph, NodeKind::copy, 10, 30, {{0, EdgeRule::submission_order}});
  add_node(graph, NodeKind::dispatch, 32, 60, {{1, EdgeRule::stream_order}});
  EXPECT_THAT(texts(graph, path_of(graph)),
              ElementsAre("2 32-60 kernel -", "2 30-32 idle stream_order", "1 10-30 copy -",
                          "0 0-10 kernel submission_order"));
  EXPECT_THAT(slack(graph), ElementsAre(0, 0, 0));
}

TEST(CriticalPathSolve, IdleDownToTheEarliestStart) {
  Graph graph;
  add_node(graph, NodeKind::call, 5, 9);
  add_node(graph, NodeKind::dispatch, 20, 30);
  EXPECT_THAT(texts(graph, path_of(graph)), ElementsAre("1 20-30 kernel -", "1 5-20 idle -"));
  EXPECT_THAT(slack(graph), ElementsAre(21, 0));
}

TEST(CriticalPathSolve, NegativeGapIsCutNotCountedTwice) {
  Graph graph;
  add_node(graph, NodeKind::dispatch, 0, 12);
  add_node(graph, NodeKind::dispatch, 10, 30, {{0, EdgeRule::queue_order}});
  EXPECT_THAT(texts(graph, path_of(graph)),
              ElementsAre("1 10-30 kernel -", "1 10-10 idle queue_order", "0 0-10 kernel -"));
  EXPECT_THAT(slack(graph), ElementsAre(0, 0));
}

TEST(CriticalPathSolve, OfEqualOriginsTheFirstEdgeBinds) {
  Graph graph;
  add_node(graph, NodeKind::dispatch, 0, 10);
  add_node(graph, NodeKind::dispatch, 2, 10);
  add_node(graph, NodeKind::dispatch, 12, 20,
           {{1, EdgeRule::event_wait}, {0, EdgeRule::stream_order}});
  EXPECT_EQ(EdgeView(graph).binding(2).start, 0U);
  EXPECT_THAT(texts(graph, path_of(graph)),
              ElementsAre("2 12-20 kernel -", "2 10-12 idle event_wait", "1 2-10 kernel -",
                          "1 0-2 idle -"));
}

TEST(CriticalPathSolve, WalkBackStopsAtTheGivenTime) {
  const Graph graph = launch_and_wait();
  std::vector<PathStep> steps;
  const auto collect = [&](const PathStep& step) { steps.push_back(step); };
  walk_back(graph, 2, 104, collect);
  EXPECT_THAT(texts(graph, steps),
              ElementsAre("2 110-112 host_code program_order", "0 104-110 host_call -"));
  steps.clear();
  walk_back(graph, 0, 90, collect);
  EXPECT_THAT(texts(graph, steps), ElementsAre("0 90-100 idle -"));
  steps.clear();
  walk_back(graph, 1, 115, collect);
  EXPECT_THAT(texts(graph, steps), ElementsAre());
}

TEST(CriticalPathSolve, UsualLagIsTheMedianWhereItBinds) {
  Graph graph;
  NodeId last = add_node(graph, NodeKind::dispatch, 0, 10);
  for (const std::int64_t gap : {4, 1, 90, 2, 3}) {
    const std::int64_t start = graph.end[last] + gap;
    last = add_node(graph, NodeKind::dispatch, start, start + 10, {{last, EdgeRule::queue_order}});
  }
  measure_usual_lags(graph);
  EXPECT_EQ(graph.usual_lag[static_cast<std::size_t>(EdgeRule::queue_order)], 3);
}

TEST(CriticalPathSolve, UsualLagOfMillionsIsThatOfAFairSample) {
  // Four streams in turn with gaps of 1, 2, 3 and 1000: what takes every n-th sees only one.
  Graph graph;
  add_node(graph, NodeKind::dispatch, 0, 1);
  constexpr std::array<std::int64_t, 4> kGaps = {1, 2, 3, 1000};
  for (NodeId i = 0; i < 1'500'000; ++i) {
    const std::int64_t start = graph.end[i] + kGaps[i % 4];
    graph.start.push_back(start);
    graph.end.push_back(start + 1);
    graph.kind_row.push_back(i);
    graph.from.push_back(i);
    graph.rule.push_back(EdgeRule::stream_order);
    graph.first_edge.push_back(i + 1);
  }
  measure_usual_lags(graph);
  const std::int64_t usual = graph.usual_lag[static_cast<std::size_t>(EdgeRule::stream_order)];
  EXPECT_TRUE(usual == 2 || usual == 3) << usual;
}

TEST(CriticalPathSolve, RecordedTimesAreTheEarliestSchedule) {
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    Prng prng(seed);
    const Graph graph = random_graph(prng, 40);
    SlowModel model(graph);
    for (NodeId node = 0; node < graph.size(); ++node) {
      ASSERT_EQ(model.time(node, NodeEvent::start, {}), graph.start[node]) << seed;
      ASSERT_EQ(model.time(node, NodeEvent::end, {}), graph.end[node]) << seed;
    }
  }
}

TEST(CriticalPathSolve, MakespanIsTheLongestOfAllPaths) {
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    Prng prng(seed);
    const Graph graph = random_graph(prng, 10);
    ASSERT_EQ(SlowModel(graph).longest_path_end() - std::ranges::min(graph.start), makespan(graph))
        << seed;
  }
}

TEST(CriticalPathSolve, SlackIsTheLongestHarmlessDelay) {
  std::uint64_t with_slack = 0, without = 0;
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    Prng prng(seed);
    const Graph graph = random_graph(prng, 30);
    SlowModel model(graph);
    const PackedColumn<std::int64_t> found = slack(graph);
    ASSERT_EQ(found.size(), graph.size());
    const std::int64_t run_end = model.run_end({});
    for (NodeId node = 0; node < graph.size(); ++node) {
      ASSERT_GE(found[node], 0) << seed;
      ++(found[node] > 0 ? with_slack : without);
      ModelChanges changes;
      changes.delay.assign(graph.size(), 0);
      changes.delay[node] = found[node];
      ASSERT_EQ(model.run_end(changes), run_end) << seed << " node " << node;
      changes.delay[node] = found[node] + 1;
      ASSERT_EQ(model.run_end(changes), run_end + 1) << seed << " node " << node;
    }
  }
  EXPECT_GT(with_slack, 10'000U);
  EXPECT_GT(without, 10'000U);
}

TEST(CriticalPathSolve, StepsCoverTheMakespanOnceAndHaveNoSlack) {
  std::uint64_t cut = 0, inside = 0;
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    Prng prng(seed);
    const Graph graph = random_graph(prng, 40);
    const PackedColumn<std::int64_t> slacks = slack(graph);
    std::int64_t at = std::ranges::max(graph.end);
    NodeId before = kNoNode;
    for (const PathStep& step : path_of(graph)) {
      ASSERT_EQ(step.to, at) << seed;
      ASSERT_LE(step.from, step.to) << seed;
      ASSERT_LE(step.node, before) << seed;
      if (step.via == kNoEdge) {
        ASSERT_EQ(slacks[step.node], 0) << seed;
        ++inside;
      } else {
        const EdgeRule rule = graph.rule[step.via];
        if (graph.time(graph.from[step.via], info(rule).from) > at) ++cut;
      }
      at = step.from;
      before = step.node;
    }
    ASSERT_EQ(at, std::ranges::min(graph.start)) << seed;
  }
  EXPECT_GT(cut, 100U);
  EXPECT_GT(inside, 1000U);
}

TEST(CriticalPathSolve, WalkBackCoversExactlyTheStretch) {
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    Prng prng(seed);
    const Graph graph = random_graph(prng, 40);
    const auto node = static_cast<NodeId>(prng.below(static_cast<std::int64_t>(graph.size())));
    const std::int64_t until = graph.start[node] - prng.below(100) + 5;
    std::int64_t at = graph.start[node];
    walk_back(graph, node, until, [&](const PathStep& step) {
      EXPECT_EQ(step.to, at) << seed;
      EXPECT_LE(step.from, step.to) << seed;
      at = step.from;
    });
    ASSERT_EQ(at, std::min(graph.start[node], until)) << seed;
  }
}

}  // namespace
}  // namespace perflab::analyze
