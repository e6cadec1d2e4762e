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

namespace perflab::analyze {
namespace {

/// Which of so many values are drawn for a median: all of few, of many a fair share. The draw
/// hashes positions, since taking every n-th would fall in step with streams taken in turn.
class Draw {
 public:
  explicit Draw(std::uint64_t values) {
    while ((values & ~mask_) / (mask_ + 1) > kMost) mask_ = mask_ * 2 + 1;
  }
  [[nodiscard]] bool takes(std::uint64_t place) const {
    return mask_ == 0 || (SplitMix64(place).next() & mask_) == 0;
  }

 private:
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 19;
  std::uint64_t mask_ = 0;
};

constexpr std::size_t kRange = std::size_t{1} << 18;  ///< nodes or edges that one thread looks at

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

/// What a range of nodes gives.
struct Gathered {
  std::array<std::vector<std::int64_t>, kFigures> values;
  std::array<std::int64_t, kEdgeRules> least{};  ///< over the edges of a rule that never binds
};

/// Visits the edges into a range of nodes: visit(node, edge, whether it binds), and the waiting
/// calls of it that did not wait: idle(node).
template <class Visit, class Idle>
void each_edge(const Graph& graph, NodeId from, NodeId to, const Visit& visit, const Idle& idle) {
  const EdgeView edges(graph);
  for (NodeId node = from; node < to; ++node) {
    const BoundEdges binding = edges.binding(node);
    bool can_wait = false;
    for (std::uint32_t edge = edges.first(node); edge < edges.last(node); ++edge) {
      visit(node, edge, edge == binding.start || edge == binding.end);
      can_wait = can_wait || edges.into_end(edge);
    }
    if (can_wait && binding.end == kNoEdge) idle(node);
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

Counts count(const Graph& graph, NodeId from, NodeId to) {
  Counts counts{};
  each_edge(
      graph, from, to,
      [&](NodeId, std::uint32_t edge, bool binds) {
        counts[figure_of(graph.rule[edge])] += binds ? 1 : 0;
      },
      [&](NodeId) { ++counts[kSyncCalls]; });
  for (std::size_t rule = 0; rule < kEdgeRules; ++rule)
    counts[figure_of_kin(static_cast<EdgeRule>(rule))] += counts[rule];
  return counts;
}

/// `before`: how many values of each figure the nodes in front of `from` have; `all`: how many all
/// have.
Gathered gather(const Graph& graph, NodeId from, NodeId to, const Counts& all, Counts before) {
  Gathered gathered;
  gathered.least.fill(std::numeric_limits<std::int64_t>::max());
  const std::vector<Draw> draws(all.begin(), all.end());
  const EdgeView edges(graph);
  const auto add = [&](std::size_t figure, const auto& value) {
    if (draws[figure].takes(before[figure]++)) gathered.values[figure].push_back(value());
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

/// The lower median; nothing of no values. Reorders them.
std::optional<std::int64_t> lower_median(std::vector<std::int64_t>& values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Runs `body` for ranges of `count` things, side by side. Ranges begin at multiples of 64.
void each_range(
    std::size_t count, unsigned threads,
    const std::function<void(std::size_t range, std::uint32_t from, std::uint32_t to)>& body) {
  const Result<void> done = parallel_for(
      ranges_of(count), thread_count(threads), [&](unsigned, std::size_t range) -> Result<void> {
        body(range, static_cast<std::uint32_t>(range * kRange),
             static_cast<std::uint32_t>(std::min(count, (range + 1) * kRange)));
        return {};
      });
  PERFLAB_CHECK(done.has_value());
}

}  // namespace

void find_bindings(Graph& graph, unsigned threads) {
  const EdgeView edges(graph);
  std::vector<std::uint64_t> binds((graph.from.size() + 63) / 64, 0);
  // By ranges of edges: threads must not share a word. A node may be looked at twice.
  each_range(graph.from.size(), threads, [&](std::size_t, std::uint32_t from, std::uint32_t to) {
    const auto behind = std::ranges::upper_bound(graph.first_edge, from);
    for (auto node = static_cast<NodeId>(behind - graph.first_edge.begin() - 1);
         node < graph.size() && edges.first(node) < to; ++node) {
      const BoundEdges binding = edges.find_binding(node);
      for (const std::uint32_t edge : {binding.start, binding.end})
        if (edge != kNoEdge && edge >= from && edge < to)
          binds[edge / 64] |= std::uint64_t{1} << (edge % 64);
    }
  });
  graph.binds = std::move(binds);
}

void measure_usual_lags(Graph& graph, unsigned threads) {
  // Counted first, so that what is drawn does not depend on the ranges.
  std::vector<Counts> before(ranges_of(graph.size()) + 1);
  each_range(graph.size(), threads, [&](std::size_t range, NodeId from, NodeId to) {
    before[range + 1] = count(graph, from, to);
  });
  for (std::size_t range = 1; range < before.size(); ++range)
    for (std::size_t figure = 0; figure < kFigures; ++figure)
      before[range][figure] += before[range - 1][figure];
  std::vector<Gathered> gathered(ranges_of(graph.size()));
  each_range(graph.size(), threads, [&](std::size_t range, NodeId from, NodeId to) {
    gathered[range] = gather(graph, from, to, before.back(), before[range]);
  });
  std::array<std::int64_t, kEdgeRules> least{};
  least.fill(std::numeric_limits<std::int64_t>::max());
  std::array<std::optional<std::int64_t>, kFigures> medians;
  for (const Gathered& range : gathered)
    for (std::size_t rule = 0; rule < kEdgeRules; ++rule)
      least[rule] = std::min(least[rule], range.least[rule]);
  for (std::size_t figure = 0; figure < kFigures; ++figure) {
    std::vector<std::int64_t> values;
    for (Gathered& range : gathered) {
      values.insert(values.end(), range.values[figure].begin(), range.values[figure].end());
      range.values[figure] = {};
    }
    medians[figure] = lower_median(values);
  }
  for (std::size_t rule = 0; rule < kEdgeRules; ++rule) {
    const std::size_t kin = figure_of_kin(static_cast<EdgeRule>(rule));
    if (medians[rule])
      graph.usual_lag[rule] = *medians[rule];
    else if (medians[kin])
      graph.usual_lag[rule] = std::min(least[rule], *medians[kin]);  // unused rules: kin's
    else
      graph.usual_lag[rule] = 0;
  }
  graph.usual_sync_call = medians[kSyncCalls].value_or(0);
}

}  // namespace perflab::analyze
