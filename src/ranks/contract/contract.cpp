// One pass over the graph in its order: every event becomes an expression over few earlier ones
// (labels.h). An event that several others need and that waits for several becomes a vertex of its
// own (kept_graph.h). Semantics: analyze/critical_path/graph.h; docs/models/ranks.md "A rank
// between its collectives".
#include "ranks/contract/contract.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "analyze/critical_path/bindings.h"
#include "analyze/critical_path/solve.h"
#include "base/error.h"
#include "ranks/contract/kept_graph.h"
#include "ranks/contract/labels.h"

namespace perflab::ranks {
namespace {

using analyze::BoundEdges;
using analyze::EdgeRule;
using analyze::Graph;
using analyze::kNoEdge;
using analyze::NodeId;
using analyze::Spent;

/// An event with more labels becomes a vertex even where only one other needs it.
constexpr std::size_t kMostLabels = 16;
/// An event that others share becomes a vertex where so many kernels lie behind it.
constexpr std::uint32_t kMostKernels = 256;

/// Recorded times of a collective, and its vertices once they are there.
struct Terminals {
  std::int64_t entry = std::numeric_limits<std::int64_t>::max();
  std::int64_t exit = std::numeric_limits<std::int64_t>::min();
  KeptId exit_vertex = analyze::kNoNode;
};

class Contraction {
 public:
  explicit Contraction(const ContractInput& input)
      : in_(input),
        graph_(input.graph),
        edges_(input.graph),
        lanes_(1 + input.scenarios.size()),
        most_(analyze::most_changed(std::max<std::size_t>(1, input.graph.size()))),
        terminals_(input.collectives),
        kept_(lanes_),
        lag_(lanes_) {
    for (const analyze::Scenario& scenario : input.scenarios)
      if (scenario.drop_syncs) drops_ = true;
  }

  LocalGraph run() {
    const LabelSet nothing(lanes_);
    begin_ = kept_.add(0, nothing);
    if (graph_.size() == 0) {
      LabelSet at_begin(lanes_);
      at_begin.set_alias(begin_, 0, Spent::idle);
      kept_.raise_end(at_begin);
      PERFLAB_CHECK(in_.collectives == 0);
      return kept_.finish(0, pieces_);
    }
    start_of_run_ = graph_.start.min();
    find_terminals();
    count_uses();
    const auto nodes = static_cast<NodeId>(graph_.size());
    for (NodeId node = 0; node < nodes; ++node) {
      slot_[node] = take_slot();
      compute(node);
      give_slots(node);
    }
    return kept_.finish(in_.collectives, pieces_);
  }

 private:
  struct Times {
    LabelSet start, end;
  };

  [[nodiscard]] bool is_collective(NodeId node) const {
    return in_.collective_of[node] != kNoCollective;
  }

  void find_terminals() {
    PERFLAB_CHECK(in_.collective_of.size() == graph_.size());
    PERFLAB_CHECK(in_.kernel_of.size() == graph_.size());
    PERFLAB_CHECK(in_.scenarios.empty() || in_.node_class.size() == graph_.size());
    std::vector<NodeId> first(in_.collectives, analyze::kNoNode);
    for (NodeId node = 0; node < graph_.size(); ++node) {
      if (!is_collective(node)) continue;
      PERFLAB_CHECK(in_.collective_of[node] < in_.collectives);
      Terminals& terminal = terminals_[in_.collective_of[node]];
      terminal.entry = std::min(terminal.entry, graph_.start[node]);
      terminal.exit = std::max(terminal.exit, graph_.end[node]);
      NodeId& lowest = first[in_.collective_of[node]];
      lowest = std::min(lowest, node);
    }
    leads_.assign(graph_.size(), false);
    for (const NodeId node : first) {
      PERFLAB_CHECK(node != analyze::kNoNode);
      leads_[node] = true;
    }
  }

  /// Whether the edge goes into an event that nothing but the exit decides.
  [[nodiscard]] bool into_bound_event(NodeId node, bool into_end) const {
    return is_collective(node) && (into_end || !leads_[node]);
  }

  /// How many different events need each event, when each node is needed last, and which ends need
  /// not be known to the end of the run, because another event comes no earlier.
  void count_uses() {
    const auto nodes = static_cast<NodeId>(graph_.size());
    fan_.assign(2 * std::size_t{nodes}, 0);
    last_use_.assign(nodes, analyze::kNoNode);
    slot_.resize(nodes);
    covered_.assign(nodes, false);
    std::vector<NodeId> last_target(4 * std::size_t{nodes}, analyze::kNoNode);
    for (NodeId node = 0; node < nodes; ++node) {
      if (!is_collective(node)) fan_[2 * std::size_t{node}] = 1;
    }
    for (NodeId node = 0; node < nodes; ++node) {
      const BoundEdges binding = edges_.binding(node);
      for (std::uint32_t edge = edges_.first(node); edge < edges_.last(node); ++edge) {
        const NodeId from = graph_.from[edge];
        PERFLAB_CHECK(from < node);
        const bool into_end = edges_.into_end(edge), from_end = edges_.from_end(edge);
        if (into_bound_event(node, into_end)) continue;
        last_use_[from] = node;
        const std::size_t origin = 2 * std::size_t{from} + (from_end ? 1 : 0);
        NodeId& target = last_target[2 * origin + (into_end ? 1 : 0)];
        if (target != node && fan_[origin] < 2) ++fan_[origin];
        target = node;
        if (!from_end || is_collective(node) || (into_end && drops_)) continue;
        if (edges_.lag(node, edge, into_end ? binding.end : binding.start) >= 0)
          covered_[from] = true;
      }
    }
  }

  std::uint32_t take_slot() {
    if (free_.empty()) {
      times_.push_back({.start = LabelSet(lanes_), .end = LabelSet(lanes_)});
      return static_cast<std::uint32_t>(times_.size() - 1);
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    return slot;
  }

  void give_slots(NodeId node) {
    for (std::uint32_t edge = edges_.first(node); edge < edges_.last(node); ++edge) {
      const NodeId from = graph_.from[edge];
      if (last_use_[from] != node) continue;
      last_use_[from] = analyze::kNoNode;
      free_.push_back(slot_[from]);
    }
    if (last_use_[node] == analyze::kNoNode) free_.push_back(slot_[node]);
  }

  /// Appends a kernel to every label.
  void add_kernel(LabelSet& labels, std::size_t first, NodeId node, std::int64_t time) {
    const Name kernel = in_.kernel_of[node];
    if (time <= 0 || kernel == kNoName) return;
    for (std::size_t i = first; i < labels.size(); ++i) {
      PathFacts& facts = labels.facts(i);
      facts.piece = pieces_.add(facts.piece, kernel, time);
      ++facts.kernels;
    }
  }

  void follow(NodeId node, std::uint32_t edge, std::uint32_t binding, LabelSet& into) {
    const EdgeRule rule = graph_.rule[edge];
    const NodeId from = graph_.from[edge];
    const Times& times = times_[slot_[from]];
    const LabelSet& origin = edges_.from_end(edge) ? times.end : times.start;
    std::ranges::fill(lag_, edges_.lag(node, edge, binding));
    if (edges_.into_end(edge))
      for (std::size_t s = 0; s < in_.scenarios.size(); ++s)
        if (in_.scenarios[s].drop_syncs) lag_[1 + s] = kNoPath;
    if (rule != EdgeRule::submission_order) {
      into.raise_all(origin, lag_, analyze::spent_behind(rule));
      return;
    }
    // The time between two begins is the earlier one's own.
    LabelSet later = origin;
    later.delay(lag_, analyze::spent_inside(graph_.kind(from)));
    add_kernel(later, 0, from, lag_[0]);
    std::ranges::fill(lag_, 0);
    into.raise_all(later, lag_, Spent::idle);
  }

  void start_of(NodeId node, const BoundEdges& binding, LabelSet& start) {
    start.clear();
    if (binding.start == kNoEdge) {
      start.set_alias(begin_, graph_.start[node] - start_of_run_, Spent::idle);
      return;
    }
    for (std::uint32_t edge = edges_.first(node); edge < edges_.last(node); ++edge)
      if (!edges_.into_end(edge)) follow(node, edge, binding.start, start);
  }

  /// Makes the event a vertex where that keeps labels few.
  void settle(LabelSet& labels, std::uint8_t fan) {
    const bool too_far = fan > 1 && labels.most_kernels() > kMostKernels;
    if (!too_far && (labels.size() < 2 || (fan < 2 && labels.size() <= kMostLabels))) return;
    kept_.drop_dominated(labels);
    if (!too_far && (labels.size() < 2 || (fan < 2 && labels.size() <= kMostLabels))) return;
    labels.set_alias(kept_.add(kInnerVertex, labels), 0, Spent::idle);
  }

  void compute(NodeId node) {
    Times& times = times_[slot_[node]];
    const BoundEdges binding = edges_.binding(node);
    if (is_collective(node))
      compute_collective(node, binding, times);
    else
      compute_other(node, binding, times);
    if (!covered_[node]) kept_.raise_end(times.end);
  }

  void compute_collective(NodeId node, const BoundEdges& binding, Times& times) {
    const std::uint32_t collective = in_.collective_of[node];
    Terminals& terminal = terminals_[collective];
    const std::int64_t start = graph_.start[node];
    if (leads_[node]) {
      start_of(node, binding, times.start);
      std::ranges::fill(lag_, terminal.entry - start);
      times.start.delay(lag_, Spent::idle);
      kept_.drop_dominated(times.start);
      const KeptId entry = kept_.add(1 + 2 * collective, times.start);
      const LabelSet nothing(lanes_);
      terminal.exit_vertex = kept_.add(2 + 2 * collective, nothing);
      times.start.set_alias(entry, start - terminal.entry, Spent::idle);
    } else {
      times.start.set_alias(terminal.exit_vertex, start - terminal.exit, Spent::idle);
    }
    times.end.set_alias(terminal.exit_vertex, graph_.end[node] - terminal.exit, Spent::idle);
  }

  void compute_other(NodeId node, const BoundEdges& binding, Times& times) {
    const std::size_t event = 2 * std::size_t{node};
    start_of(node, binding, times.start);
    settle(times.start, fan_[event]);
    const std::int64_t own = edges_.own_work(node, binding.end);
    work_.assign(lanes_, own);
    const std::uint16_t change_class = in_.scenarios.empty() ? 0 : in_.node_class[node];
    for (std::size_t s = 0; change_class != 0 && s < in_.scenarios.size(); ++s)
      if (const auto& changes = in_.scenarios[s].changes; change_class < changes.size())
        work_[1 + s] = analyze::changed(own, changes[change_class], most_);
    times.end.clear();
    times.end.raise_all(times.start, work_, analyze::spent_inside(graph_.kind(node)));
    if (graph_.kind(node) == analyze::NodeKind::dispatch) add_kernel(times.end, 0, node, own);
    for (std::uint32_t edge = edges_.first(node); edge < edges_.last(node); ++edge)
      if (edges_.into_end(edge)) follow(node, edge, binding.end, times.end);
    settle(times.end, fan_[event + 1]);
  }

  const ContractInput& in_;
  const Graph& graph_;
  analyze::EdgeView edges_;
  std::size_t lanes_;
  std::int64_t most_, start_of_run_ = 0;
  bool drops_ = false;
  std::vector<Terminals> terminals_;
  std::vector<bool> leads_;        ///< by node: decides its collective's entry
  std::vector<std::uint8_t> fan_;  ///< by event: events that need it, at most 2
  std::vector<NodeId> last_use_;
  std::vector<bool> covered_;
  std::vector<std::uint32_t> slot_, free_;
  std::vector<Times> times_;
  Pieces pieces_;
  KeptGraph kept_;
  KeptId begin_ = 0;
  std::vector<std::int64_t> lag_, work_;  ///< scratch
};

}  // namespace

LocalGraph contract(const ContractInput& input) {
  return Contraction(input).run();
}

}  // namespace perflab::ranks
