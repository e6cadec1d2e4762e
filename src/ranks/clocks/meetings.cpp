#include "ranks/clocks/meetings.h"

#include <algorithm>
#include <cmath>

namespace perflab::ranks {
namespace {

void take_latest(std::optional<std::int64_t>& kept, RankIndex& whose, std::int64_t time,
                 RankIndex rank) {
  if (kept && *kept >= time) return;
  kept = time;
  whose = rank;
}

void take_earliest(std::optional<std::int64_t>& kept, RankIndex& whose, std::int64_t time,
                   RankIndex rank) {
  if (kept && *kept <= time) return;
  kept = time;
  whose = rank;
}

}  // namespace

Meetings::Meetings(std::span<const RankSummary> ranks, const Matching& matching)
    : ranks_(ranks), matching_(matching), by_rank_(ranks.size()) {
  for (std::uint32_t k = 0; k < matching.operations.size(); ++k) {
    for (const Member& member : matching.operations[k].members) {
      by_rank_[member.rank].push_back({k, member.collective});
    }
  }
}

void Meetings::add(const Met& met, const InNode& rank, Meeting& to) const {
  const Matched& matched = matching_.operations[met.operation];
  const Collective& own = ranks_[rank.rank].collectives[met.collective];
  // Certified: an entry counts as early, an exit as late as the node's clock may have them.
  const std::int64_t entry = own.entry + std::llround(std::floor(rank.offset - rank.near));
  const std::int64_t exit = own.exit + std::llround(std::ceil(rank.offset + rank.near));
  const bool root = matched.root == rank.rank;
  const auto comes = [&] { take_latest(to.come, to.comes, entry, rank.rank); };
  const auto leaves = [&] { take_earliest(to.leave, to.leaves, exit, rank.rank); };
  switch (info(matched.kind).waits) {
    case Waits::everyone:
      comes();
      leaves();
      break;
    case Waits::for_root:
    case Waits::for_peer:
      if (!matched.root) break;
      if (root) {
        comes();
      } else {
        leaves();
      }
      break;
    case Waits::root_waits:
      if (!matched.root) break;
      if (root) {
        leaves();
      } else {
        comes();
      }
      break;
    case Waits::unknown:
      break;
  }
  const std::int64_t seen = own.exit + std::llround(rank.offset);
  const std::int64_t stay = own.exit - own.entry;
  const bool first = to.shortest < 0;
  to.exit = first ? seen : std::min(to.exit, seen);
  to.shortest = first ? stay : std::min(to.shortest, stay);
}

std::vector<Meeting> Meetings::of(std::span<const InNode> node) const {
  std::vector<Meeting> meetings;
  const auto fresh = [](std::uint32_t operation) {
    Meeting meeting;
    meeting.operation = operation;
    meeting.shortest = -1;
    return meeting;
  };
  for (const InNode& rank : node) {
    std::vector<Meeting> merged;
    merged.reserve(std::max(meetings.size(), by_rank_[rank.rank].size()));
    auto before = meetings.begin();
    for (const Met& met : by_rank_[rank.rank]) {
      while (before != meetings.end() && before->operation < met.operation) {
        merged.push_back(*before++);
      }
      const bool known = before != meetings.end() && before->operation == met.operation;
      merged.push_back(known ? *before++ : fresh(met.operation));
      add(met, rank, merged.back());
    }
    merged.insert(merged.end(), before, meetings.end());
    meetings = std::move(merged);
  }
  return meetings;
}

std::vector<Common> common_of(const Matching& matching, std::span<const Meeting> first,
                              std::span<const Meeting> second) {
  std::vector<Common> common;
  auto there = second.begin();
  for (const Meeting& here : first) {
    while (there != second.end() && there->operation < here.operation) ++there;
    if (there == second.end()) break;
    if (there->operation != here.operation) continue;
    Common of;
    of.operation = here.operation;
    of.t = here.exit;
    of.difference = there->exit - here.exit;
    of.shortest = std::min(here.shortest, there->shortest);
    of.together = info(matching.operations[here.operation].kind).waits == Waits::everyone;
    if (there->leave && here.come) of.high = *there->leave - *here.come;
    if (there->come && here.leave) of.low = *there->come - *here.leave;
    common.push_back(of);
  }
  std::stable_sort(common.begin(), common.end(),
                   [](const Common& l, const Common& r) { return l.t < r.t; });
  return common;
}

}  // namespace perflab::ranks
