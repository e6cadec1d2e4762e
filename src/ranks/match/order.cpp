#include "ranks/match/order.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <optional>
#include <vector>

namespace perflab::ranks {
namespace {

// A group with so many operations in circles is matched wrongly as a whole.
constexpr std::size_t kMostInCircles = 16;

class Sweep {
 public:
  Sweep(std::span<const RankSummary> ranks, Matching& matching)
      : ranks_(ranks),
        matching_(matching),
        own_(ranks.size()),
        states_(matching.operations.size()),
        in_circles_(matching.groups.size(), 0) {
    for (RankIndex rank = 0; rank < ranks.size(); ++rank) {
      own_[rank].operation.assign(ranks[rank].collectives.size(), kNoOperation);
    }
    for (std::uint32_t k = 0; k < matching.operations.size(); ++k) {
      for (const Member& member : matching.operations[k].members) {
        own_[member.rank].operation[member.collective] = k;
      }
    }
    for (RankIndex rank = 0; rank < ranks.size(); ++rank) {
      Own& own = own_[rank];
      own.exits.resize(ranks[rank].collectives.size());
      std::iota(own.exits.begin(), own.exits.end(), 0U);
      const auto& collectives = ranks[rank].collectives;
      const auto before = [&](std::uint32_t l, std::uint32_t r) {
        return collectives[l].exit < collectives[r].exit;
      };
      if (!std::is_sorted(own.exits.begin(), own.exits.end(), before)) {
        std::stable_sort(own.exits.begin(), own.exits.end(), before);
      }
      todo_.push_back(rank);
    }
  }

  void run() {
    while (true) {
      while (!todo_.empty()) {
        const RankIndex rank = todo_.front();
        todo_.pop_front();
        advance(rank);
      }
      const auto stuck = std::find_if(
          own_.begin(), own_.end(), [](const Own& own) { return own.blocked_at != kNoOperation; });
      if (stuck == own_.end()) break;
      take_circle_out(static_cast<RankIndex>(stuck - own_.begin()));
    }
    rearrange();
  }

 private:
  struct Own {
    std::vector<std::uint32_t> operation;     // by collective
    std::vector<std::uint32_t> exits;         // collectives by exit
    std::uint32_t entered = 0, left = 0;      // so many of each
    std::uint32_t blocked_at = kNoOperation;  // operation
  };
  struct State {
    std::uint32_t arrived = 0;
    bool root_arrived = false;
    bool out = false;
    std::vector<RankIndex> waiting = {};
  };

  // Whether a rank may leave an operation by now.
  [[nodiscard]] bool may_leave(std::uint32_t k, RankIndex rank) const {
    const Matched& of = matching_.operations[k];
    const State& state = states_[k];
    if (state.out) return true;
    switch (info(of.kind).waits) {
      case Waits::everyone:
        return state.arrived == of.members.size();
      case Waits::for_root:
      case Waits::for_peer:
        return !of.root || state.root_arrived || !has(of, *of.root);
      case Waits::root_waits:
        return of.root != rank || state.arrived == of.members.size();
      case Waits::unknown:
        break;
    }
    return true;
  }

  static bool has(const Matched& of, RankIndex rank) {
    return std::any_of(of.members.begin(), of.members.end(),
                       [&](const Member& member) { return member.rank == rank; });
  }

  void enter(std::uint32_t k, RankIndex rank) {
    State& state = states_[k];
    const Matched& of = matching_.operations[k];
    ++state.arrived;
    if (of.root == rank) state.root_arrived = true;
    if (state.arrived == of.members.size() && !state.out) order_.push_back(k);
    wake(state);
  }

  void wake(State& state) {
    if (state.waiting.empty()) return;
    std::vector<RankIndex> waiting;
    waiting.swap(state.waiting);
    for (const RankIndex rank : waiting) {
      const std::uint32_t at = own_[rank].blocked_at;
      if (may_leave(at, rank)) {
        own_[rank].blocked_at = kNoOperation;
        todo_.push_back(rank);
      } else {
        state.waiting.push_back(rank);
      }
    }
  }

  // Goes on in a rank's own order of time until it waits for another.
  void advance(RankIndex rank) {
    Own& own = own_[rank];
    const auto& collectives = ranks_[rank].collectives;
    while (own.entered < collectives.size()) {
      // Never past the last: an operation that is still to be entered has its exit to come.
      const std::uint32_t leaving =
          own.exits[std::min<std::size_t>(own.left, own.exits.size() - 1)];
      if (own.left < own.exits.size() &&
          collectives[leaving].exit < collectives[own.entered].entry) {
        const std::uint32_t k = own.operation[leaving];
        if (k != kNoOperation && !may_leave(k, rank)) {
          own.blocked_at = k;
          states_[k].waiting.push_back(rank);
          return;
        }
        ++own.left;
        continue;
      }
      const std::uint32_t k = own.operation[own.entered++];
      if (k != kNoOperation) enter(k, rank);
    }
  }

  // A rank that has not come to an operation and is awaited there.
  [[nodiscard]] RankIndex awaited(std::uint32_t k) const {
    const Matched& of = matching_.operations[k];
    const Waits waits = info(of.kind).waits;
    const bool of_root = waits == Waits::for_root || waits == Waits::for_peer;
    for (const Member& member : of.members) {
      if (of_root && of.root != member.rank) continue;
      if (own_[member.rank].entered <= member.collective) return member.rank;
    }
    return of.members.front().rank;
  }

  void take_circle_out(RankIndex from) {
    // Following who waits for whom from any stuck rank ends in a circle: all others are done.
    std::vector<bool> seen(own_.size(), false);
    RankIndex rank = from;
    while (!seen[rank]) {
      seen[rank] = true;
      rank = awaited(own_[rank].blocked_at);
    }
    const RankIndex first = rank;
    std::vector<std::uint32_t> circle;
    do {
      circle.push_back(own_[rank].blocked_at);
      rank = awaited(own_[rank].blocked_at);
    } while (rank != first);
    std::sort(circle.begin(), circle.end());
    circle.erase(std::unique(circle.begin(), circle.end()), circle.end());
    // Where communicators of several keys meet, the one tied by the least knowledge is wrong.
    KeySource worst = KeySource::arguments;
    for (const std::uint32_t k : circle) worst = std::max(worst, key_of(k));
    for (const std::uint32_t k : circle) {
      if (key_of(k) != worst) continue;
      take_out(k);
      const std::uint32_t group = matching_.operations[k].group;
      if (++in_circles_[group] == kMostInCircles) take_group_out(group);
    }
  }

  [[nodiscard]] KeySource key_of(std::uint32_t k) const {
    return matching_.groups[matching_.operations[k].group].key;
  }

  void take_out(std::uint32_t k) {
    if (states_[k].out) return;
    states_[k].out = true;
    wake(states_[k]);
  }

  void take_group_out(std::uint32_t group) {
    for (std::uint32_t k = 0; k < states_.size(); ++k) {
      if (matching_.operations[k].group == group) take_out(k);
    }
  }

  void rearrange() {
    std::vector<Matched> ordered;
    ordered.reserve(order_.size());
    for (const std::uint32_t k : order_) {
      if (!states_[k].out) ordered.push_back(std::move(matching_.operations[k]));
    }
    for (std::uint32_t k = 0; k < states_.size(); ++k) {
      if (!states_[k].out) continue;
      for (const Member& member : matching_.operations[k].members) {
        matching_.unmatched.push_back({member, Unmatched::denied_by_times});
      }
    }
    matching_.operations = std::move(ordered);
  }

  std::span<const RankSummary> ranks_;
  Matching& matching_;
  std::vector<Own> own_;
  std::vector<State> states_;
  std::vector<std::size_t> in_circles_;
  std::deque<RankIndex> todo_;
  std::vector<std::uint32_t> order_;
};

}  // namespace

void order_operations(std::span<const RankSummary> ranks, Matching& matching) {
  Sweep(ranks, matching).run();
}

}  // namespace perflab::ranks
