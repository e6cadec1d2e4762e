// State of a stream or hardware queue while its operations are placed one after the other: what the
// next one has to follow; and what the latest records of an event stand for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "analyze/critical_path/graph.h"
#include "trace/trace.h"

namespace perflab::analyze {

/// Key of two indices.
constexpr std::uint64_t pair_key(std::uint32_t high, std::uint32_t low) {
  return std::uint64_t{high} << 32U | low;
}

/// Work to wait for, with the lane that it ran on. Later work of a lane stands for earlier work.
struct PendingWork {
  std::uint32_t lane = 0;
  NodeId node = kNoNode;
};

/// Adds work to a list, by lane, that holds at most one of each.
inline void add_work(std::vector<PendingWork>& all, const PendingWork& work) {
  const auto found = std::ranges::lower_bound(all, work.lane, {}, &PendingWork::lane);
  if (found == all.end() || found->lane != work.lane)
    all.insert(found, work);
  else
    found->node = std::max(found->node, work.node);
}

struct Lane {
  NodeId last = kNoNode;           ///< the operation placed last
  NodeId longest = kNoNode;        ///< of all placed, the one that ends last
  std::vector<PendingWork> waits;  ///< what events the next operation has to wait for
  /// While operations of one graph launch are placed: its call, what ended last before it, and the
  /// ends of those placed so far.
  trace::Index graph_launch = trace::kNone;
  NodeId before_graph = kNoNode;
  std::set<std::pair<std::int64_t, NodeId>> graph_ends;

  /// Begins the operations of another graph launch; kNone: of none.
  void enter_graph(trace::Index launch) {
    if (graph_launch == launch) return;
    graph_launch = launch;
    before_graph = longest;
    graph_ends.clear();
  }

  /// Takes an operation in.
  void placed(const Graph& graph, NodeId node) {
    last = node;
    if (longest == kNoNode || graph.end[node] >= graph.end[longest]) longest = node;
  }
};

/// Whether `node` begins after `before` ended, but for the noise of clocks: at most `noise` ns, and
/// at most half of the shorter one of the two.
inline bool follows(const Graph& graph, NodeId before, NodeId node, std::int64_t noise) {
  if (graph.end[before] <= graph.start[node]) return true;
  const std::int64_t shorter =
      std::min(graph.end[before] - graph.start[before], graph.end[node] - graph.start[node]);
  return graph.end[before] <= graph.start[node] + std::min(noise, shorter / 2);
}

/// Of the operations of a lane's graph launch, the one that ended last before `node` began, but for
/// noise; kNoNode: none had ended.
inline NodeId ended_before(const Graph& graph, const Lane& lane, NodeId node, std::int64_t noise) {
  // Noise moves a begin by little: what has to be looked at is a handful.
  for (auto at = lane.graph_ends.upper_bound({graph.start[node] + noise, kNoNode});
       at != lane.graph_ends.begin();)
    if (--at; follows(graph, at->second, node, noise)) return at->second;
  return kNoNode;
}

/// What must be done before an event counts as recorded, by process and event. A wait that names
/// the record gets that one; others the latest.
class EventRecords {
 public:
  using Key = std::pair<trace::Index, std::uint64_t>;

  /// `record`: the number of this record; nullopt where recordings have none.
  void record(const Key& event, std::optional<std::uint64_t> record,
              std::vector<PendingWork> work) {
    std::vector<Entry>& all = events_[event];
    if (!record) all.clear();
    // Threads cross by little: a wait names one of the latest records.
    if (all.size() == kMostRecords) all.erase(all.begin());
    all.push_back({.number = record, .work = std::move(work)});
  }

  /// Null: it was not recorded in the trace.
  [[nodiscard]] const std::vector<PendingWork>* find(const Key& event,
                                                     std::optional<std::uint64_t> record) const {
    const auto found = events_.find(event);
    if (found == events_.end()) return nullptr;
    if (!record) return &found->second.back().work;
    for (const Entry& entry : found->second)
      if (entry.number == record) return &entry.work;
    return nullptr;
  }

 private:
  static constexpr std::size_t kMostRecords = 16;
  struct Entry {
    std::optional<std::uint64_t> number;
    std::vector<PendingWork> work;
  };
  std::map<Key, std::vector<Entry>> events_;
};

}  // namespace perflab::analyze
