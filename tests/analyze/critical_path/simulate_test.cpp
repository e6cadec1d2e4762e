// analyze/critical_path/what_if.h, Simulator: makespans under changes against the slow model of
// random_graph.h, what must hold for every graph, threads, and a graph of a million nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>

#include "analyze/critical_path/bindings.h"
#include "analyze/critical_path/random_graph.h"
#include "analyze/critical_path/solve.h"
#include "analyze/critical_path/what_if.h"

namespace perflab::analyze {
namespace {

using test::add_node;
using test::ModelChanges;
using test::Prng;
using test::random_graph;
using test::SlowModel;
using ::testing::ElementsAre;

/// Factors whose products with small whole numbers a double holds exactly, but for 1/3.
constexpr std::array<double, 6> kFactors = {0, 0.5, 1.0 / 3, 1, 1.5, 4};

std::vector<std::uint16_t> random_classes(Prng& prng, const Graph& graph) {
  std::vector<std::uint16_t> classes(graph.size());
  for (std::uint16_t& c : classes) c = static_cast<std::uint16_t>(prng.below(5));
  return classes;
}

/// `shorter`: nothing becomes longer, which is computed in another type.
Scenario random_scenario(Prng& prng, bool shorter) {
  Scenario scenario;
  scenario.drop_syncs = prng.below(4) == 0;
  scenario.changes.resize(static_cast<std::size_t>(prng.below(7)));
  for (Change& change : scenario.changes) {
    change.factor = kFactors.at(static_cast<std::size_t>(prng.below(kFactors.size())));
    if (prng.below(2) == 0) change.plus = prng.below(40) - 20;
    if (!shorter) continue;
    change.factor = std::min(change.factor, 1.0);
    change.plus = std::min<std::int64_t>(change.plus, 0);
  }
  return scenario;
}

/// The new own work by the formula in what_if.h, in whole numbers: factor = sixths / 6.
std::int64_t changed(std::int64_t own, const Change& change) {
  const auto sixths = static_cast<std::int64_t>(change.factor * 6 + 0.5);
  return std::max<std::int64_t>(0, (2 * own * sixths + 6) / 12 + change.plus);
}

ModelChanges model_changes(const Scenario& scenario, const std::vector<std::uint16_t>& classes) {
  ModelChanges changes;
  changes.drop_syncs = scenario.drop_syncs;
  changes.own = [&](NodeId node, std::int64_t own) {
    const std::uint16_t c = classes[node];
    return c == 0 || c >= scenario.changes.size() ? own : changed(own, scenario.changes[c]);
  };
  return changes;
}

TEST(Simulator, MakespansOfRandomChangesMatchTheSlowModel) {
  std::uint64_t longer = 0, shorter = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    Prng prng(seed);
    const Graph graph = random_graph(prng, 40);
    const std::vector<std::uint16_t> classes = random_classes(prng, graph);
    std::vector<Scenario> scenarios(static_cast<std::size_t>(1 + prng.below(20)));
    for (Scenario& scenario : scenarios) scenario = random_scenario(prng, seed % 3 == 0);
    const std::vector<std::int64_t> found = Simulator(graph).makespans(classes, scenarios, 1);
    ASSERT_EQ(found.size(), scenarios.size());
    SlowModel model(graph);
    for (std::size_t i = 0; i < scenarios.size(); ++i) {
      const std::int64_t expected =
          model.run_end(model_changes(scenarios[i], classes)) - std::ranges::min(graph.start);
      ASSERT_EQ(found[i], expected) << seed << " scenario " << i;
      if (expected > makespan(graph)) ++longer;
      if (expected < makespan(graph)) ++shorter;
    }
  }
  EXPECT_GT(longer, 1000U);
  EXPECT_GT(shorter, 1000U);
}

TEST(Simulator, UnchangedScenarioGivesTheRecordedMakespan) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Prng prng(seed);
    const Graph graph = random_graph(prng, 40);
    const std::vector<std::uint16_t> classes = random_classes(prng, graph);
    const std::vector<Scenario> scenarios = {{}, {.changes = std::vector<Change>(9)}};
    EXPECT_THAT(Simulator(graph).makespans(classes, scenarios, 1),
                ElementsAre(makespan(graph), makespan(graph)));
  }
}

TEST(Simulator, AFasterNodeNeverLengthensTheRunNorDoesALongerOneWithinItsSlack) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Prng prng(seed);
    const Graph graph = random_graph(prng, 40);
    const auto node = static_cast<NodeId>(prng.below(static_cast<std::int64_t>(graph.size())));
    std::vector<std::uint16_t> classes(graph.size(), 0);
    classes[node] = 1;
    std::vector<Scenario> scenarios(3);
    scenarios[0].changes = {{}, {.factor = 0, .plus = 0}};
    scenarios[1].changes = {{}, {.factor = 0.5, .plus = 0}};
    scenarios[2].changes = {{}, {.factor = 1, .plus = slack(graph)[node]}};
    const std::vector<std::int64_t> found = Simulator(graph).makespans(classes, scenarios, 1);
    ASSERT_LE(found[0], found[1]) << seed;
    ASSERT_LE(found[1], makespan(graph)) << seed;
    ASSERT_EQ(found[2], makespan(graph)) << seed;
  }
}

TEST(Simulator, DroppedSyncsLetTheHostRunAhead) {
  // Launch, kernel, wait, launch, kernel: without the wait the second launch follows the first.
  Graph graph;
  add_node(graph, NodeKind::call, 0, 10);
  add_node(graph, NodeKind::dispatch, 15, 100, {{0, EdgeRule::launch}});
  add_node(graph, NodeKind::call, 12, 105,
           {{0, EdgeRule::program_order}, {1, EdgeRule::device_sync}});
  add_node(graph, NodeKind::call, 107, 117, {{2, EdgeRule::program_order}});
  add_node(graph, NodeKind::dispatch, 122, 130,
           {{3, EdgeRule::launch}, {1, EdgeRule::stream_order}});
  measure_usual_lags(graph);
  // The wait takes no time by itself (none is known), the next launch begins 2 later, at 14: the
  // second kernel could begin at 29, but its stream is busy until 100 (no lag is known of that).
  EXPECT_EQ(graph.usual_lag[static_cast<std::size_t>(EdgeRule::stream_order)], 0);  // never binds
  graph.usual_lag[static_cast<std::size_t>(EdgeRule::stream_order)] = 3;
  const std::vector<std::uint16_t> classes = {0, 1, 0, 0, 1};
  const std::vector<Scenario> scenarios = {
      {.changes = {}, .drop_syncs = true},
      {.changes = {{}, {.factor = 0, .plus = 0}}, .drop_syncs = true},
      {.changes = {{}, {.factor = 0, .plus = 0}}, .drop_syncs = false}};
  EXPECT_THAT(Simulator(graph).makespans(classes, scenarios, 1), ElementsAre(111, 29, 37));
}

TEST(Simulator, HugeChangesDoNotOverflow) {
  Graph graph;
  NodeId last = add_node(graph, NodeKind::dispatch, 0, 1'000'000);
  for (int i = 0; i < 999; ++i)
    last = add_node(graph, NodeKind::dispatch, graph.end[last], graph.end[last] + 1'000'000,
                    {{last, EdgeRule::queue_order}});
  const std::vector<std::uint16_t> classes(graph.size(), 1);
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::vector<Scenario> scenarios = {{.changes = {{}, {.factor = 1e300, .plus = kMost}}},
                                           {.changes = {{}, {.factor = 1, .plus = -kMost}}},
                                           {.changes = {{}, {.factor = 1000, .plus = 7}}}};
  const std::vector<std::int64_t> found = Simulator(graph).makespans(classes, scenarios, 1);
  EXPECT_GT(found[0], std::int64_t{1} << 60);
  EXPECT_THAT(found[1], 0);
  EXPECT_THAT(found[2], 1000 * (std::int64_t{1'000'000'000} + 7));
}

TEST(Simulator, EmptyGraph) {
  const Graph graph;
  EXPECT_THAT(Simulator(graph).makespans({}, std::vector<Scenario>(2), 1), ElementsAre(0, 0));
}

/// Launches and kernels on eight streams, with a wait now and then.
Graph big_graph(std::uint32_t dispatches) {
  Prng prng(7);
  Graph graph;
  graph.first_edge.push_back(0);
  const auto add = [&](NodeKind kind, std::int64_t start, std::int64_t end) {
    graph.start.push_back(start);
    graph.end.push_back(end);
    graph.kind_row.push_back(static_cast<std::uint32_t>(kind) << Graph::kRowBits);
    graph.first_edge.push_back(static_cast<std::uint32_t>(graph.from.size()));
    return static_cast<NodeId>(graph.size() - 1);
  };
  const auto edge = [&](NodeId from, EdgeRule rule) {
    if (from == kNoNode) return;
    graph.from.push_back(from);
    graph.rule.push_back(rule);
  };
  std::array<NodeId, 8> last{};
  last.fill(kNoNode);
  NodeId last_call = kNoNode;
  for (std::uint32_t i = 0; i < dispatches; ++i) {
    NodeId& in_stream = last.at(static_cast<std::size_t>(prng.below(8)));
    std::int64_t start = last_call == kNoNode ? 0 : graph.end[last_call] + 300, end = start + 2000;
    edge(last_call, EdgeRule::program_order);
    if (i % 100 == 99 && in_stream != kNoNode) {
      edge(in_stream, EdgeRule::stream_sync);
      end = std::max(end, graph.end[in_stream] + 500);
    }
    last_call = add(NodeKind::call, start, end);
    edge(last_call, EdgeRule::launch);
    edge(in_stream, EdgeRule::stream_order);
    start += 4000;
    if (in_stream != kNoNode) start = std::max(start, graph.end[in_stream] + 900);
    in_stream = add(NodeKind::dispatch, start, start + 5000 + prng.below(20'000));
  }
  measure_usual_lags(graph);
  return graph;
}

TEST(Simulator, MillionNodesTheSameOnAnyNumberOfThreads) {
  const Graph graph = big_graph(500'000);
  ASSERT_EQ(graph.size(), 1'000'000U);
  Prng prng(3);
  const std::vector<std::uint16_t> classes = random_classes(prng, graph);
  std::vector<Scenario> scenarios(19);
  for (std::size_t i = 1; i < scenarios.size(); ++i) scenarios[i] = random_scenario(prng, false);
  const Simulator simulator(graph);
  const std::vector<std::int64_t> one = simulator.makespans(classes, scenarios, 1);
  EXPECT_EQ(one[0], makespan(graph));
  EXPECT_EQ(simulator.makespans(classes, scenarios, 3), one);
  for (std::size_t i = 5; i < scenarios.size(); i += 6)  // alone as in company
    EXPECT_THAT(simulator.makespans(classes, std::span(scenarios).subspan(i, 1), 1),
                ElementsAre(one[i]));
  std::int64_t sum = 0;
  walk_critical_path(graph, [&](const PathStep& step) { sum += step.to - step.from; });
  EXPECT_EQ(sum, makespan(graph));
  EXPECT_EQ(std::ranges::min(slack(graph)), 0);
}

}  // namespace
}  // namespace perflab::analyze
