#include "ranks/clocks/align.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/parallel.h"
#include "ranks/clocks/meetings.h"
#include "ranks/clocks/nodes.h"
#include "ranks/clocks/pair.h"

namespace perflab::ranks {
namespace {

// Matching and clocks settle within so many rounds, or what is still refuted stays out.
constexpr std::size_t kRounds = 6;
constexpr std::size_t kShownViolations = 20;

// Clocks of nodes by a tree: each against one that is known already.
class Tree {
 public:
  Tree(const Meetings& meetings, std::vector<Node> nodes)
      : meetings_(meetings), nodes_(std::move(nodes)), clocks_(nodes_.size()) {
    node_of_.assign(meetings.ranks().size(), 0);
    for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
      for (const InNode& rank : nodes_[node].ranks) node_of_[rank.rank] = node;
    }
    nodes_of_group_.resize(meetings.matching().groups.size());
    groups_of_node_.resize(nodes_.size());
    for (const Matched& matched : meetings.matching().operations) {
      for (const Member& member : matched.members) {
        std::vector<bool>& there = nodes_of_group_[matched.group];
        there.resize(nodes_.size(), false);
        there[node_of_[member.rank]] = true;
      }
    }
    for (std::uint32_t group = 0; group < nodes_of_group_.size(); ++group) {
      for (std::uint32_t node = 0; node < nodes_of_group_[group].size(); ++node) {
        if (nodes_of_group_[group][node]) groups_of_node_[node].push_back(group);
      }
    }
  }

  Clocks grow(std::vector<Denied>* refuted) {
    Clocks clocks;
    std::vector<bool> known(nodes_.size(), false);
    for (std::uint32_t first = 0; first < nodes_.size(); ++first) {
      if (known[first]) continue;
      known[first] = true;
      clocks_[first].zone = clocks.zones++;
      clocks_[first].low = clocks_[first].high = 0;
      clocks_[first].at = middle_of(first);
      clocks.reference.push_back(nodes_[first].ranks.front().rank);
      std::vector<std::uint32_t> todo = {first};
      for (std::size_t i = 0; i < todo.size(); ++i) {
        for (const std::uint32_t reached : reach(todo[i], known, refuted)) {
          known[reached] = true;
          todo.push_back(reached);
        }
      }
    }
    write(clocks);
    return clocks;
  }

 private:
  [[nodiscard]] std::int64_t middle_of(std::uint32_t node) const {
    const auto& collectives = meetings_.ranks()[nodes_[node].ranks.front().rank].collectives;
    if (collectives.empty()) return meetings_.ranks()[nodes_[node].ranks.front().rank].begin;
    const std::int64_t from = collectives.front().entry;
    return from + (collectives.back().entry - from) / 2;
  }

  // Nodes that have operations with a known one and get their clock from it.
  std::vector<std::uint32_t> reach(std::uint32_t parent, const std::vector<bool>& known,
                                   std::vector<Denied>* refuted) {
    std::set<std::uint32_t> candidates;
    for (const std::uint32_t group : groups_of_node_[parent]) {
      for (std::uint32_t node = 0; node < nodes_of_group_[group].size(); ++node) {
        if (nodes_of_group_[group][node] && !known[node]) candidates.insert(node);
      }
    }
    const std::vector<std::uint32_t> order(candidates.begin(), candidates.end());
    if (order.empty()) return {};
    const std::vector<Meeting> there = meetings_.of(nodes_[parent].ranks);
    std::vector<std::optional<PairClock>> found(order.size());
    parallel_each(order.size(), thread_count(0), [&](std::size_t i) {
      found[i] =
          pair_clock(common_of(meetings_.matching(), meetings_.of(nodes_[order[i]].ranks), there));
    });
    std::vector<std::uint32_t> reached;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (!found[i]) continue;
      if (found[i]->refuted) {
        if (refuted != nullptr) refute(order[i], *found[i], *refuted);
        // What was left out to find this line would deny it: it certifies nothing.
        found[i]->low.reset();
        found[i]->high.reset();
      }
      set(order[i], parent, *found[i]);
      reached.push_back(order[i]);
    }
    return reached;
  }

  // Which communicator of which rank of a node has most of the operations that no line allows: of
  // the weakest key, where several have some.
  void refute(std::uint32_t node, const PairClock& clock, std::vector<Denied>& refuted) const {
    const Matching& matching = meetings_.matching();
    std::map<std::pair<RankIndex, std::uint32_t>, std::pair<KeySource, std::size_t>> counts;
    for (const std::uint32_t k : clock.against) {
      for (const Member& member : matching.operations[k].members) {
        if (node_of_[member.rank] != node) continue;
        const std::uint32_t communicator =
            meetings_.ranks()[member.rank].collectives[member.collective].communicator;
        auto& [key, count] = counts[{member.rank, communicator}];
        key = matching.groups[matching.operations[k].group].key;
        ++count;
      }
    }
    if (counts.empty()) return;
    const auto worst =
        std::max_element(counts.begin(), counts.end(),
                         [](const auto& l, const auto& r) { return l.second < r.second; });
    refuted.push_back({worst->first.first, worst->first.second, 1});
  }

  // The clock of a node from that of its parent.
  void set(std::uint32_t node, std::uint32_t parent, const PairClock& pair) {
    const RankClock& above = clocks_[parent];
    RankClock& clock = clocks_[node];
    const std::int64_t there = pair.at + std::llround(pair.offset);
    const auto away = static_cast<double>(there - above.at);
    clock.zone = above.zone;
    clock.at = pair.at;
    clock.offset = pair.offset + above.offset + above.drift * away;
    clock.drift = (1 + pair.drift) * (1 + above.drift) - 1;
    clock.drift_error = (pair.drift_error + above.drift_error) * (1 + kSteepestRate);
    const double grown = std::abs(away) * above.drift_error;
    // A rounding of a sum of two offsets.
    constexpr double kRounding = 1;
    if (pair.low && above.low) {
      clock.low = clock.offset - (pair.offset - *pair.low) - (above.offset - *above.low) - grown -
                  kRounding;
    }
    if (pair.high && above.high) {
      clock.high = clock.offset + (*pair.high - pair.offset) + (*above.high - above.offset) +
                   grown + kRounding;
    }
    if (pair.likely) clock.likely = std::hypot(*pair.likely, above.likely.value_or(0));
  }

  void write(Clocks& clocks) const {
    clocks.ranks.resize(meetings_.ranks().size());
    for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
      for (std::size_t i = 0; i < nodes_[node].ranks.size(); ++i) {
        const InNode& in = nodes_[node].ranks[i];
        RankClock& clock = clocks.ranks[in.rank];
        clock = clocks_[node];
        clock.node = node;
        clock.near = in.near;
        clock.offset += in.offset;
        if (clock.low) *clock.low += in.offset - in.near;
        if (clock.high) *clock.high += in.offset + in.near;
        if (i > 0) {
          const auto& own = nodes_[node].likely[i];
          if (own) clock.likely = std::hypot(*own, clock.likely.value_or(0));
        }
      }
    }
  }

  // An error in rate is itself read on a clock whose rate is off by at most this.
  static constexpr double kSteepestRate = 1e-3;
  const Meetings& meetings_;
  std::vector<Node> nodes_;
  std::vector<RankClock> clocks_;  // of nodes, against their zone's reference
  std::vector<std::uint32_t> node_of_;
  std::vector<std::vector<bool>> nodes_of_group_;
  std::vector<std::vector<std::uint32_t>> groups_of_node_;
};

// Exits that come before entries that they must follow, by more than the clocks may be wrong.
void list_violations(std::span<const RankSummary> ranks, const Matching& matching, Clocks& clocks) {
  for (std::uint32_t k = 0; k < matching.operations.size(); ++k) {
    const Matched& matched = matching.operations[k];
    const Waits waits = info(matched.kind).waits;
    if (waits == Waits::unknown || (waits != Waits::everyone && !matched.root)) continue;
    struct End {
      RankIndex rank = 0;
      std::int64_t time = 0, own = 0;
    };
    std::optional<End> comes, leaves;
    const std::uint32_t zone = clocks.ranks[matched.members.front().rank].zone;
    for (const Member& member : matched.members) {
      if (clocks.ranks[member.rank].zone != zone) continue;
      const Collective& own = ranks[member.rank].collectives[member.collective];
      const bool root = matched.root == member.rank;
      const bool waits_for_root = waits == Waits::for_root || waits == Waits::for_peer;
      const std::int64_t entry = clocks.aligned(member.rank, own.entry);
      const std::int64_t exit = clocks.aligned(member.rank, own.exit);
      if ((waits == Waits::everyone || root == waits_for_root) && (!comes || entry > comes->time)) {
        comes = {member.rank, entry, own.entry};
      }
      if ((waits == Waits::everyone || root != waits_for_root) &&
          (!leaves || exit < leaves->time)) {
        leaves = {member.rank, exit, own.exit};
      }
    }
    if (!comes || !leaves || comes->time <= leaves->time) continue;
    const std::int64_t by = comes->time - leaves->time;
    if (by <= std::llround(kTranslationNs)) {
      ++clocks.noise_count;
      clocks.largest_noise = std::max(clocks.largest_noise, by);
      continue;
    }
    const auto error = clocks.error(leaves->rank, comes->rank, leaves->own);
    if (!error || by <= *error) continue;
    ++clocks.violation_count;
    clocks.violations.push_back({k, leaves->rank, comes->rank, by});
    if (clocks.violations.size() < 4 * kShownViolations) continue;
    std::stable_sort(clocks.violations.begin(), clocks.violations.end(),
                     [](const auto& l, const auto& r) { return l.by > r.by; });
    clocks.violations.resize(kShownViolations);
  }
  std::stable_sort(clocks.violations.begin(), clocks.violations.end(),
                   [](const auto& l, const auto& r) { return l.by > r.by; });
  if (clocks.violations.size() > kShownViolations) clocks.violations.resize(kShownViolations);
}

// Adds to what is denied: another place of the same communicator, or a new one.
void add_denied(std::vector<Denied>& denied, std::span<const Denied> fresh) {
  for (const Denied& of : fresh) {
    const auto known = std::find_if(denied.begin(), denied.end(), [&](const Denied& one) {
      return one.rank == of.rank && one.communicator == of.communicator;
    });
    if (known == denied.end()) {
      denied.push_back(of);
    } else {
      known->places += of.places;
    }
  }
}

bool has_open_starts(const Matching& matching) {
  return std::any_of(matching.unmatched.begin(), matching.unmatched.end(),
                     [](const NotMatched& of) { return of.why == Unmatched::start_ambiguous; });
}

}  // namespace

Clocks clocks_of(std::span<const RankSummary> ranks, const Matching& matching,
                 std::vector<Denied>* refuted) {
  Clocks clocks;
  {
    const Meetings meetings(ranks, matching);
    clocks = Tree(meetings, nodes_of(meetings)).grow(refuted);
  }
  list_violations(ranks, matching, clocks);
  return clocks;
}

Aligned match_and_align(std::span<const RankSummary> ranks, const MatchOptions& options) {
  MatchOptions own = options;
  Aligned aligned;
  for (std::size_t round = 0; round < kRounds; ++round) {
    std::vector<Denied> refuted;
    aligned.matching = match(ranks, own);
    aligned.clocks = clocks_of(ranks, aligned.matching, &refuted);
    if (refuted.empty()) break;
    // In the last round no other place is tried: what is refuted is left out.
    if (round + 2 == kRounds) {
      for (Denied& of : refuted) of.places = static_cast<std::uint32_t>(ranks.size() << 16U);
    }
    add_denied(own.denied, refuted);
  }
  if (!has_open_starts(aligned.matching)) return aligned;
  // Starts that values and gaps left open, once more with clocks that other communicators gave.
  own.known = &aligned.clocks;
  std::vector<Denied> refuted;
  Aligned again;
  again.matching = match(ranks, own);
  again.clocks = clocks_of(ranks, again.matching, &refuted);
  return refuted.empty() ? std::move(again) : std::move(aligned);
}

}  // namespace perflab::ranks
