// Lags and own work of a recorded graph; formulas in graph.h.
#include "analyze/critical_path/bindings.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "base/random.h"
#include "stats/median.h"

namespace perflab::analyze {
namespace {

/// Which of so many values are drawn for a median: all of few, of many a fair share. The draw
/// hashes positions, since taking every n-th would fall in step with streams taken in turn.
class Draw {
 public:
  explicit Draw(std::uint64_t values) {
    while (values / (mask_ + 1) > kMost) mask_ = mask_ * 2 + 1;
  }
  [[nodiscard]] bool takes(std::uint64_t place) const {
    return mask_ == 0 || (SplitMix64(place).next() & mask_) == 0;
  }

 private:
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 19;
  std::uint64_t mask_ = 0;
};

constexpr std::size_t kRange = std::size_t{1} << 18;  ///< edges that one thread looks at

std::size_t ranges_of(std::size_t count) {
  return (count + kRange - 1) / kRange;
}

/// Rules that take about the same time, because the same mechanism is behind them: a rule that
/// never binds borrows from its kin.
enum class Kin : std::uint8_t { host, launch, behind_work, beside_work, wait, count };

Kin kin_of(EdgeRule rule) {
  if (rule == EdgeRule::program_order) return Kin::host;
  if (is_launch(rule)) return Kin::launch;
  if (info(rule).to == NodeEvent::end) return Kin::wait;
  return info(rule).from == NodeEvent::end ? Kin::behind_work : Kin::beside_work;
}

/// What medians are taken of: distances of the edges of a rule that bind, those of its kin, and
/// durations of waiting calls that did not wait. In this order, one place each.
constexpr std::size_t kKin = static_cast<std::size_t>(Kin::count);
constexpr std::size_t kSyncCalls = kEdgeRules + kKin, kFigures = kSyncCalls + 1;
using Counts = std::array<std::uint64_t, kFigures>;

/// What a range of edges gives.
struct Gathered {
  std::array<std::vector<std::int64_t>, kFigures> values;
  std::array<std::int64_t, kEdgeRules> least{};  ///< over the edges of a rule that never binds
};

/// The node that an edge goes into.
NodeId node_of(const Graph& graph, std::uint32_t edge) {
  const auto behind = std::ranges::upper_bound(graph.first_edge, edge);
  return static_cast<NodeId>(behind - graph.first_edge.begin() - 1);
}

/// Whether the edge is the first one into the end of its node, and none of those binds: a waiting
/// call did not wait.
bool is_idle_wait(const Graph& graph, const EdgeView& edges, NodeId node, std::uint32_t edge) {
  for (std::uint32_t other = edges.first(node); other < edges.last(node); ++other)
    if (edges.into_end(other) && (other < edge || graph.binds[other])) return false;
  return true;
}

/// Visits a range of edges: visit(node, edge, whether it binds), and the waiting calls of it that
/// did not wait: idle(node).
template <class Visit, class Idle>
void each_edge(const Graph& graph, std::uint32_t from, std::uint32_t to, const Visit& visit,
               const Idle& idle) {
  const EdgeView edges(graph);
  NodeId node = node_of(graph, from);
  for (std::uint32_t edge = from; edge < to; ++edge) {
    while (edges.last(node) <= edge) ++node;
    visit(node, edge, graph.binds[edge]);
    if (edges.into_end(edge) && is_idle_wait(graph, edges, node, edge)) idle(node);
  }
}

std::size_t figure_of(EdgeRule rule) {
  return static_cast<std::size_t>(rule);
}
std::size_t figure_of_kin(EdgeRule rule) {
  static const auto kFigureOfKin = [] {
    std::array<std::size_t, kEdgeRules> figures{};
    for (std::size_t one = 0; one < kEdgeRules; ++one)
      figures[one] = kEdgeRules + static_cast<std::size_t>(kin_of(static_cast<EdgeRule>(one)));
    return figures;
  }();
  return kFigureOfKin[static_cast<std::size_t>(rule)];
}

/// What a range of edges has.
struct Seen {
  Counts counts{};                       ///< values of each figure
  std::array<bool, kEdgeRules> rules{};  ///< that there are edges of
};

Seen count(const Graph& graph, std::uint32_t from, std::uint32_t to) {
  Seen seen;
  each_edge(
      graph, from, to,
      [&](NodeId, std::uint32_t edge, bool binds) {
        const std::size_t rule = figure_of(graph.rule[edge]);
        seen.rules[rule] = true;
        seen.counts[rule] += binds ? 1 : 0;
      },
      [&](NodeId) { ++seen.counts[kSyncCalls]; });
  for (std::size_t rule = 0; rule < kEdgeRules; ++rule)
    seen.counts[figure_of_kin(static_cast<EdgeRule>(rule))] += seen.counts[rule];
  return seen;
}

/// `before`: how many values of each figure the edges in front of `from` have; `all`: what all
/// edges have; `wanted`: figures that are.
Gathered gather(const Graph& graph, std::uint32_t from, std::uint32_t to, const Counts& all,
                const std::array<bool, kFigures>& wanted, Counts before) {
  Gathered gathered;
  gathered.least.fill(std::numeric_limits<std::int64_t>::max());
  const std::vector<Draw> draws(all.begin(), all.end());
  const EdgeView edges(graph);
  const auto add = [&](std::size_t figure, const auto& value) {
    if (wanted[figure] && draws[figure].takes(before[figure]++))
      gathered.values[figure].push_back(value());
  };
  each_edge(
      graph, from, to,
      [&](NodeId node, std::uint32_t edge, bool binds) {
        const EdgeRule rule = graph.rule[edge];
        const auto distance = [&] { return edges.distance(node, edge); };
        if (binds) {
          add(figure_of(rule), distance);
          add(figure_of_kin(rule), distance);
        } else if (all[figure_of(rule)] == 0) {
          std::int64_t& least = gathered.least[static_cast<std::size_t>(rule)];
          least = std::min(least, distance());
        }
      },
      [&](NodeId node) { add(kSyncCalls, [&] { return graph.end[node] - graph.start[node]; }); });
  return gathered;
}

/// Runs `body` for ranges of `count` things, side by side. Ranges begin at multiples of 64.
void each_range(
    std::size_t count, unsigned threads,
    const std::function<void(std::size_t range, std::uint32_t from, std::uint32_t to)>& body) {
  parallel_each(ranges_of(count), thread_count(threads), [&](std::size_t range) {
    body(range, static_cast<std::uint32_t>(range * kRange),
         static_cast<std::uint32_t>(std::min(count, (range + 1) * kRange)));
  });
}

/// Of kin the median is asked for where a rule never binds.
std::array<bool, kFigures> wanted_figures(const std::array<bool, kEdgeRules>& has_edges,
                                          const Counts& all) {
  std::array<bool, kFigures> wanted{};
  wanted[kSyncCalls] = true;
  for (std::size_t rule = 0; rule < kEdgeRules; ++rule) {
    wanted[rule] = true;
    if (has_edges[rule] && all[rule] == 0)
      wanted[figure_of_kin(static_cast<EdgeRule>(rule))] = true;
  }
  return wanted;
}

/// By figure; takes the values out of `gathered`.
std::array<std::optional<std::int64_t>, kFigures> medians_of(std::vector<Gathered>& gathered,
                                                             unsigned threads) {
  std::array<std::optional<std::int64_t>, kFigures> medians;
  parallel_each(kFigures, thread_count(threads), [&](std::size_t figure) {
    std::vector<std::int64_t> values;
    for (Gathered& range : gathered) {
      values.insert(values.end(), range.values[figure].begin(), range.values[figure].end());
      range.values[figure] = {};
    }
    if (!values.empty()) medians[figure] = stats::lower_median(values);
  });
  return medians;
}

}  // namespace

void find_bindings(Graph& graph, unsigned threads) {
  const EdgeView edges(graph);
  Bits binds(graph.from.size());
  // By ranges of edges: threads must not share a word. A node may be looked at twice.
  each_range(graph.from.size(), threads, [&](std::size_t, std::uint32_t from, std::uint32_t to) {
    for (NodeId node = node_of(graph, from); node < graph.size() && edges.first(node) < to;
         ++node) {
      const BoundEdges binding = edges.find_binding(node);
      for (const std::uint32_t edge : {binding.start, binding.end})
        if (edge != kNoEdge && edge >= from && edge < to) binds.set(edge);
    }
  });
  graph.binds = std::move(binds);
}

void measure_usual_lags(Graph& graph, unsigned threads) {
  if (graph.binds.empty()) find_bindings(graph, threads);
  // Counted first, so that what is drawn does not depend on the ranges.
  const std::size_t ranges = ranges_of(graph.from.size());
  std::vector<Seen> seen(ranges);
  each_range(graph.from.size(), threads,
             [&](std::size_t range, std::uint32_t from, std::uint32_t to) {
               seen[range] = count(graph, from, to);
             });
  Counts all{};
  std::array<bool, kEdgeRules> has_edges{};
  std::vector<Counts> before;
  for (const Seen& range : seen) {
    before.push_back(all);
    for (std::size_t figure = 0; figure < kFigures; ++figure) all[figure] += range.counts[figure];
    for (std::size_t rule = 0; rule < kEdgeRules; ++rule)
      has_edges[rule] = has_edges[rule] || range.rules[rule];
  }
  const std::array<bool, kFigures> wanted = wanted_figures(has_edges, all);
  std::vector<Gathered> gathered(ranges);
  each_range(graph.from.size(), threads,
             [&](std::size_t range, std::uint32_t from, std::uint32_t to) {
               gathered[range] = gather(graph, from, to, all, wanted, before[range]);
             });
  std::array<std::int64_t, kEdgeRules> least{};
  least.fill(std::numeric_limits<std::int64_t>::max());
  for (const Gathered& range : gathered)
    for (std::size_t rule = 0; rule < kEdgeRules; ++rule)
      least[rule] = std::min(least[rule], range.least[rule]);
  const auto medians = medians_of(gathered, threads);
  for (std::size_t rule = 0; rule < kEdgeRules; ++rule) {
    const std::size_t kin = figure_of_kin(static_cast<EdgeRule>(rule));
    graph.usual_lag[rule] = 0;
    if (medians[rule])
      graph.usual_lag[rule] = *medians[rule];
    else if (has_edges[rule] && medians[kin])
      graph.usual_lag[rule] = std::min(least[rule], *medians[kin]);
  }
  graph.usual_sync_call = medians[kSyncCalls].value_or(0);
}

}  // namespace perflab::analyze
