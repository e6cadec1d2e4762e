// Operations are visited by start; those that run are kept in a heap by their end.
#include "analyze/critical_path/parallelism.h"

#include <algorithm>
#include <array>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "analyze/critical_path/graph_input.h"

namespace perflab::analyze {
namespace {

bool is_operation(NodeKind kind) {
  return kind == NodeKind::dispatch || kind == NodeKind::copy;
}

/// Operations by start, then by number. Rows of a Trace are ordered by start, nodes of the graph
/// only nearly: put at the places of their rows nothing is left to sort but what starts together.
class OperationsByStart {
 public:
  explicit OperationsByStart(const Graph& graph) : start_(graph.start) {
    const auto is_dispatch = [](std::uint32_t kind_row) {
      return kind_of(kind_row) == NodeKind::dispatch;
    };
    parts_[0].reserve(static_cast<std::size_t>(std::ranges::count_if(graph.kind_row, is_dispatch)));
    for (NodeId node = 0; node < graph.size(); ++node)
      if (is_operation(graph.kind(node))) place(graph, node);
  }

  [[nodiscard]] std::vector<NodeId> take() && {
    std::vector<NodeId> all;
    for (std::vector<NodeId>& part : parts_) {
      std::erase(part, kNoNode);
      put_in_order(part);
      if (all.empty()) {
        all = std::move(part);
        continue;
      }
      const auto middle = static_cast<std::ptrdiff_t>(all.size());
      all.insert(all.end(), part.begin(), part.end());
      std::ranges::inplace_merge(all, all.begin() + middle, before_);
    }
    return all;
  }

 private:
  void place(const Graph& graph, NodeId node) {
    std::vector<NodeId>& nodes = parts_[graph.kind(node) == NodeKind::dispatch ? 0 : 1];
    const std::size_t row = graph.row(node);
    if (row >= nodes.size()) nodes.resize(row + 1, kNoNode);
    if (nodes[row] == kNoNode)
      nodes[row] = node;
    else
      parts_[2].push_back(node);
  }

  void put_in_order(std::vector<NodeId>& nodes) const {
    for (std::size_t i = 0, past = 0; i < nodes.size(); i = past) {
      const std::int64_t start = start_[nodes[i]];
      while (past < nodes.size() && start_[nodes[past]] == start) ++past;
      if (past - i > 1) std::ranges::sort(std::span(nodes).subspan(i, past - i));
    }
    if (!std::ranges::is_sorted(nodes, before_)) std::ranges::sort(nodes, before_);
  }

  struct Before {
    const PackedColumn<std::int64_t>& start;
    bool operator()(NodeId a, NodeId b) const {
      return std::pair{start[a], a} < std::pair{start[b], b};
    }
  };

  const PackedColumn<std::int64_t>& start_;
  Before before_{.start = start_};
  std::array<std::vector<NodeId>, 3> parts_;  ///< dispatches, copies, more nodes of one row
};

/// Adds time to equally long bins of a run.
class Bins {
 public:
  Bins(std::int64_t begin, std::int64_t length)
      : begin_(static_cast<double>(begin)),
        width_(static_cast<double>(length) / static_cast<double>(kParallelismBins)),
        bins_(length > 0 ? kParallelismBins : 0) {}

  /// Adds the time between `from` and `to` to one figure of the bins, as a share of a bin.
  void add(std::int64_t from, std::int64_t to, double ParallelismBin::* figure) {
    if (bins_.empty() || to <= from) return;
    const double low = (static_cast<double>(from) - begin_) / width_;
    const double high = (static_cast<double>(to) - begin_) / width_;
    for (auto bin = static_cast<std::size_t>(std::max(0.0, low));
         bin < bins_.size() && static_cast<double>(bin) < high; ++bin) {
      const auto edge = static_cast<double>(bin);
      bins_[bin].*figure += std::max(0.0, std::min(high, edge + 1) - std::max(low, edge));
    }
  }

  std::vector<ParallelismBin> take() && {
    for (ParallelismBin& bin : bins_) bin.busy = std::min(1.0, bin.busy);
    return std::move(bins_);
  }

 private:
  double begin_, width_;
  std::vector<ParallelismBin> bins_;
};

/// The longest bubbles; of equal ones the earliest.
class LongestBubbles {
 public:
  explicit LongestBubbles(std::size_t most) : most_(most) {}

  void add(const Bubble& bubble) {
    if (most_ == 0) return;
    if (kept_.size() == most_ && !longer(bubble, kept_.back())) return;
    if (kept_.size() == most_) kept_.pop_back();
    kept_.insert(std::ranges::upper_bound(kept_, bubble, longer), bubble);
  }
  std::vector<Bubble> take() && { return std::move(kept_); }

 private:
  static bool longer(const Bubble& a, const Bubble& b) {
    return std::pair{a.from - a.to, a.from} < std::pair{b.from - b.to, b.from};
  }
  std::size_t most_;
  std::vector<Bubble> kept_;
};

}  // namespace

Parallelism measure_parallelism(const Graph& graph, std::int64_t begin, std::int64_t length,
                                std::size_t most_bubbles) {
  Parallelism result;
  std::vector<std::int64_t> levels;  // ns, by how many run
  std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> running;
  const std::int64_t stop = begin + length;
  std::int64_t now = begin;
  const auto add_level = [&](std::int64_t until) {
    if (levels.size() <= running.size()) levels.resize(running.size() + 1, 0);
    levels[running.size()] += until - now;
  };
  const auto pass_until = [&](std::int64_t time) {
    while (!running.empty() && running.top() <= time) {
      add_level(running.top());
      now = running.top();
      running.pop();
    }
    if (time > now) add_level(time);
    now = std::max(now, time);
  };

  Bins bins(begin, length);
  LongestBubbles longest(most_bubbles);
  std::int64_t busy_from = begin, busy_until = begin;
  NodeId last = kNoNode;  // ends at busy_until
  for (const NodeId node : OperationsByStart(graph).take()) {
    if (graph.start[node] > stop || graph.end[node] < begin) continue;
    const std::int64_t start = std::max(graph.start[node], begin);
    const std::int64_t end = std::min(graph.end[node], stop);
    pass_until(start);
    if (end > start) running.push(end);
    bins.add(start, end,
             graph.kind(node) == NodeKind::dispatch ? &ParallelismBin::dispatches
                                                    : &ParallelismBin::copies);
    if (start > busy_until) {
      bins.add(busy_from, busy_until, &ParallelismBin::busy);
      Bubble bubble;
      bubble.from = busy_until;
      bubble.to = start;
      bubble.before = last;
      bubble.after = node;
      longest.add(bubble);
      ++result.bubble_count;
      result.bubble_time += start - busy_until;
      busy_from = start;
    }
    if (end >= busy_until) {
      busy_until = end;
      last = node;
    }
  }
  bins.add(busy_from, busy_until, &ParallelismBin::busy);
  pass_until(stop);
  for (std::size_t count = 0; count < levels.size(); ++count)
    if (levels[count] > 0) result.levels.push_back({.running = count, .time = levels[count]});
  result.bins = std::move(bins).take();
  result.bubbles = std::move(longest).take();
  return result;
}

}  // namespace perflab::analyze
