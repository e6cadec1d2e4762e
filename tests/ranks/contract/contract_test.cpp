// A contracted rank against its whole graph: random graphs, any times of exits, scenarios.
#include "ranks/contract/contract.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "analyze/critical_path/bindings.h"
#include "analyze/critical_path/random_graph.h"
#include "support/prng.h"

namespace perflab::ranks {
namespace {

using analyze::Graph;
using analyze::NodeId;
using analyze::NodeKind;
using test::Prng;

/// Input of a contraction, owned.
struct Rank {
  Graph graph;
  std::vector<std::uint32_t> collective_of;
  std::uint32_t collectives = 0;
  std::vector<Name> kernel_of;
  std::vector<std::uint16_t> node_class;
  std::vector<analyze::Scenario> scenarios;
  std::vector<std::int64_t> entry, exit;  ///< recorded
  std::int64_t begin = 0;

  [[nodiscard]] ContractInput input() const {
    return {.graph = graph,
            .collective_of = collective_of,
            .collectives = collectives,
            .kernel_of = kernel_of,
            .node_class = node_class,
            .scenarios = scenarios};
  }
};

void find_times(Rank& rank) {
  rank.entry.assign(rank.collectives, std::numeric_limits<std::int64_t>::max());
  rank.exit.assign(rank.collectives, std::numeric_limits<std::int64_t>::min());
  for (NodeId node = 0; node < rank.graph.size(); ++node) {
    const std::uint32_t k = rank.collective_of[node];
    if (k == kNoCollective) continue;
    rank.entry[k] = std::min(rank.entry[k], rank.graph.start[node]);
    rank.exit[k] = std::max(rank.exit[k], rank.graph.end[node]);
  }
  rank.begin = std::ranges::min(rank.graph.start);
}

Rank random_rank(Prng& prng, std::int64_t most, std::int64_t scenarios) {
  Rank rank;
  rank.graph = test::random_graph(prng, most);
  const std::size_t nodes = rank.graph.size();
  rank.collective_of.assign(nodes, kNoCollective);
  rank.kernel_of.assign(nodes, kNoName);
  const std::int64_t share = 2 + prng.below(6);
  for (NodeId node = 0; node < nodes; ++node) {
    if (rank.graph.kind(node) != NodeKind::dispatch) continue;
    rank.kernel_of[node] = static_cast<Name>(prng.below(4));
    if (prng.below(share) != 0) continue;
    const bool joins = rank.collectives > 0 && prng.below(3) == 0;
    rank.collective_of[node] =
        joins ? static_cast<std::uint32_t>(prng.below(rank.collectives)) : rank.collectives++;
  }
  rank.node_class.resize(nodes);
  for (std::uint16_t& number : rank.node_class) number = static_cast<std::uint16_t>(prng.below(4));
  constexpr std::array<double, 4> kFactors = {0, 0.5, 1, 3};
  for (std::int64_t s = 0; s < scenarios; ++s) {
    analyze::Scenario scenario{.changes = {}, .drop_syncs = prng.below(3) == 0};
    for (std::int64_t c = prng.below(5); c > 0; --c)
      scenario.changes.push_back({.factor = kFactors[static_cast<std::size_t>(prng.below(4))],
                                  .plus = prng.below(2) == 0 ? 0 : prng.below(40) - 20});
    rank.scenarios.push_back(scenario);
  }
  find_times(rank);
  return rank;
}

/// What the outputs are for some exits.
struct Outputs {
  std::vector<std::int64_t> entries;
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
  friend bool operator==(const Outputs&, const Outputs&) = default;
};

/// The whole graph, event by event; `lane` 0 as recorded, else a scenario.
Outputs whole(const Rank& rank, const std::vector<std::int64_t>& exits, std::size_t lane) {
  const Graph& graph = rank.graph;
  const analyze::EdgeView edges(graph);
  const analyze::Scenario* scenario = lane == 0 ? nullptr : &rank.scenarios[lane - 1];
  Outputs out{.entries = std::vector<std::int64_t>(rank.collectives, kNoPath)};
  std::vector<std::int64_t> start(graph.size()), end(graph.size());
  for (NodeId node = 0; node < graph.size(); ++node) {
    const analyze::BoundEdges binding = edges.binding(node);
    start[node] = binding.start == analyze::kNoEdge ? graph.start[node] : kNoPath;
    const auto origin = [&](std::uint32_t e) {
      return edges.from_end(e) ? end[graph.from[e]] : start[graph.from[e]];
    };
    for (std::uint32_t e = edges.first(node); e < edges.last(node); ++e)
      if (!edges.into_end(e))
        start[node] = std::max(start[node], origin(e) + edges.lag(node, e, binding.start));
    if (const std::uint32_t k = rank.collective_of[node]; k != kNoCollective) {
      if (out.entries[k] == kNoPath)
        out.entries[k] = start[node] + rank.entry[k] - graph.start[node];
      else
        start[node] = exits[k] + graph.start[node] - rank.exit[k];
      end[node] = exits[k] + graph.end[node] - rank.exit[k];
    } else {
      std::int64_t own = edges.own_work(node, binding.end);
      const std::uint16_t number = rank.node_class[node];
      if (scenario != nullptr && number != 0 && number < scenario->changes.size())
        own = analyze::changed(own, scenario->changes[number], analyze::most_changed(graph.size()));
      end[node] = start[node] + own;
      for (std::uint32_t e = edges.first(node); e < edges.last(node); ++e)
        if (edges.into_end(e) && (scenario == nullptr || !scenario->drop_syncs))
          end[node] = std::max(end[node], origin(e) + edges.lag(node, e, binding.end));
    }
    out.end = std::max(out.end, end[node]);
  }
  return out;
}

/// The contraction, evaluated.
Outputs contracted(const Rank& rank, const LocalGraph& graph,
                   const std::vector<std::int64_t>& exits, std::size_t lane) {
  const std::uint32_t end = 1 + 2 * rank.collectives;
  std::vector<std::int64_t> time(end + 1 + graph.inner, kNoPath);
  time[0] = rank.begin;
  for (std::uint32_t k = 0; k < rank.collectives; ++k) time[2 + 2 * k] = exits[k];
  for (const LocalGraph::Edge& edge : graph.edges) {
    const std::int64_t weight = lane == 0 ? edge.weight : edge.scenarios[lane - 1];
    if (weight != kNoPath) time[edge.to] = std::max(time[edge.to], time[edge.from] + weight);
  }
  Outputs out{.entries = {}, .end = time[end]};
  for (std::uint32_t k = 0; k < rank.collectives; ++k) out.entries.push_back(time[1 + 2 * k]);
  return out;
}

/// Order, numbering and decomposition are what rank_summary.h says.
void expect_well_formed(const Rank& rank, const LocalGraph& graph) {
  const std::size_t vertices = 2 + 2 * std::size_t{rank.collectives} + graph.inner;
  ASSERT_EQ(graph.order.size(), vertices);
  std::vector<std::size_t> place(vertices, vertices);
  for (std::size_t i = 0; i < vertices; ++i) {
    ASSERT_LT(graph.order[i], vertices);
    ASSERT_EQ(place[graph.order[i]], vertices);
    place[graph.order[i]] = i;
  }
  std::pair<std::size_t, std::size_t> last = {0, 0};
  for (const LocalGraph::Edge& edge : graph.edges) {
    ASSERT_LT(place[edge.from], place[edge.to]);
    const std::pair<std::size_t, std::size_t> now = {place[edge.to], place[edge.from]};
    ASSERT_LT(last, now);
    last = now;
    std::int64_t sum = 0;
    for (const std::int64_t spent : edge.spent) sum += spent;
    ASSERT_EQ(sum, edge.weight);
    ASSERT_EQ(edge.scenarios.size(), rank.scenarios.size());
    ASSERT_EQ(edge.kernel == kNoName, edge.kernel_time == 0);
    const bool exit = edge.to >= 2 && edge.to < 2 + 2 * rank.collectives && edge.to % 2 == 0;
    ASSERT_FALSE(exit || edge.to == 0);
  }
}

void expect_equal(const Rank& rank, const LocalGraph& graph, Prng& prng) {
  for (int trial = 0; trial < 6; ++trial) {
    std::vector<std::int64_t> exits = rank.exit;
    if (trial > 0)
      for (std::int64_t& exit : exits) exit += prng.below(trial < 3 ? 20 : 400) - (trial % 2 * 100);
    for (std::size_t lane = 0; lane <= rank.scenarios.size(); ++lane) {
      const Outputs all = whole(rank, exits, lane);
      const Outputs few = contracted(rank, graph, exits, lane);
      ASSERT_EQ(few.entries, all.entries) << "lane " << lane;
      ASSERT_EQ(few.end, all.end) << "lane " << lane;
      if (trial == 0 && lane == 0) {
        ASSERT_EQ(all.entries, rank.entry);
        ASSERT_EQ(all.end, std::ranges::max(rank.graph.end));
      }
    }
  }
}

TEST(Contract, equals_the_whole_graph_for_any_exits) {
  Prng prng(20271123);
  for (int i = 0; i < 6000; ++i) {
    const Rank rank = random_rank(prng, i % 100 == 0 ? 400 : 40, i % 4);
    const LocalGraph graph = contract(rank.input());
    SCOPED_TRACE(i);
    expect_well_formed(rank, graph);
    expect_equal(rank, graph, prng);
    if (HasFatalFailure()) return;
  }
}

TEST(Contract, nothing_recorded_ends_where_it_begins) {
  Rank rank;
  rank.graph.first_edge = {0};
  const LocalGraph graph = contract(rank.input());
  EXPECT_EQ(graph.order, (std::vector<std::uint32_t>{0, 1}));
  ASSERT_EQ(graph.edges.size(), 1U);
  EXPECT_EQ(graph.edges[0].weight, 0);
}

}  // namespace
}  // namespace perflab::ranks
