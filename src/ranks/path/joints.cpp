// Roles in operations, their transfers and residuals, and the stretches of work between them.
#include "ranks/path/joints.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace perflab::ranks {
namespace {

constexpr std::size_t kMostResiduals = 20;

/// What a member is in its operation.
Joint role(const Matched& matched, std::uint32_t operation, RankIndex rank) {
  const bool is_root = matched.root == rank;
  const Joint alone{.operation = operation, .comes = false, .waits = false};
  if (matched.members.size() < 2) return alone;
  switch (info(matched.kind).waits) {
    case Waits::everyone:
      return {.operation = operation, .comes = true, .waits = true};
    case Waits::for_root:
    case Waits::for_peer:
      return {.operation = operation, .comes = is_root, .waits = !is_root};
    case Waits::root_waits:
      return {.operation = operation, .comes = true, .waits = is_root};
    case Waits::unknown:
      break;
  }
  return alone;
}

}  // namespace

std::int64_t rounded_mean(std::int64_t sum, std::size_t count) {
  return std::llround(std::floor(static_cast<double>(sum) / static_cast<double>(count) + 0.5));
}

Joints::Joints(const PathInput& input, const std::vector<bool>& taken)
    : input_(input),
      taken_(taken),
      joined_(input.matching.operations.size(), false),
      operation_(input.ranks.size()),
      transfer_(input.ranks.size()),
      arrival_(input.matching.operations.size(), kNoPath) {
  for (RankIndex rank = 0; rank < input.ranks.size(); ++rank)
    if (taken_[rank]) operation_[rank].assign(input.ranks[rank].collectives.size(), kNoOperation);
  for (std::uint32_t i = 0; i < input.matching.operations.size(); ++i) {
    const Matched& matched = input.matching.operations[i];
    const bool here = taken_all(matched.members);
    const bool rooted = info(matched.kind).waits == Waits::everyone ||
                        std::ranges::any_of(matched.members, [&](const Member& member) {
                          return matched.root == member.rank;
                        });
    if (!here) continue;
    joined_[i] = rooted;
    for (const Member& member : matched.members) {
      operation_[member.rank][member.collective] = i;
      if (!joint(member.rank, member.collective).comes) continue;
      const std::int64_t entry = input.clocks.aligned(
          member.rank, input.ranks[member.rank].collectives[member.collective].entry);
      arrival_[i] = std::max(arrival_[i], entry);
    }
  }
  for (RankIndex rank = 0; rank < input.ranks.size(); ++rank)
    if (taken_[rank]) measure(rank);
  std::ranges::sort(residuals, [](const PathResidual& a, const PathResidual& b) {
    return a.by != b.by ? a.by > b.by : a.member < b.member;
  });
  if (residuals.size() > kMostResiduals) residuals.resize(kMostResiduals);
}

bool Joints::taken_all(const std::vector<Member>& members) const {
  return std::ranges::all_of(members,
                             [this](const Member& member) { return bool{taken_[member.rank]}; });
}

Joint Joints::joint(RankIndex rank, std::size_t collective) const {
  const std::uint32_t operation = operation_[rank][collective];
  if (operation == kNoOperation) return {};
  if (!joined_[operation]) return {.operation = operation};
  return role(input_.matching.operations[operation], operation, rank);
}

void Joints::measure(RankIndex rank) {
  const std::vector<Collective>& collectives = input_.ranks[rank].collectives;
  transfer_[rank].resize(collectives.size());
  for (std::uint32_t k = 0; k < collectives.size(); ++k) {
    std::int64_t from = input_.clocks.aligned(rank, collectives[k].entry);
    const Joint here = joint(rank, k);
    if (here.waits) from = std::max(from, arrival_[here.operation]);
    const std::int64_t time = input_.clocks.aligned(rank, collectives[k].exit) - from;
    transfer_[rank][k] = std::max<std::int64_t>(0, time);
    if (time >= 0) continue;
    ++residual_count;
    residuals.push_back({.member = {.rank = rank, .collective = k}, .by = -time});
    if (residuals.size() < 64 * kMostResiduals) continue;
    std::ranges::nth_element(residuals, residuals.begin() + kMostResiduals,
                             [](const PathResidual& a, const PathResidual& b) {
                               return a.by != b.by ? a.by > b.by : a.member < b.member;
                             });
    residuals.resize(kMostResiduals);
  }
}

void Joints::find_previous() {
  if (!previous_.empty()) return;
  previous_.resize(input_.ranks.size());
  last_.assign(input_.ranks.size(), kNoOperation);
  for (RankIndex rank = 0; rank < input_.ranks.size(); ++rank) {
    if (!taken_[rank]) continue;
    const std::vector<Collective>& all = input_.ranks[rank].collectives;
    std::vector<std::uint32_t> by_exit(all.size());
    std::iota(by_exit.begin(), by_exit.end(), 0U);
    std::ranges::sort(by_exit, [&](std::uint32_t a, std::uint32_t b) {
      return all[a].exit != all[b].exit ? all[a].exit < all[b].exit : a < b;
    });
    if (!all.empty()) last_[rank] = by_exit.back();
    previous_[rank].assign(all.size(), kNoOperation);
    std::size_t ended = 0;
    for (std::uint32_t k = 0; k < all.size(); ++k) {
      while (ended < all.size() && all[by_exit[ended]].exit <= all[k].entry) ++ended;
      std::size_t i = ended;
      while (i > 0 && by_exit[i - 1] >= k) --i;  // of no length, at this very moment
      if (i > 0) previous_[rank][k] = by_exit[i - 1];
    }
  }
}

std::int64_t Joints::gap(RankIndex rank, std::size_t collective) const {
  const RankSummary& summary = input_.ranks[rank];
  const std::uint32_t before = previous(rank, collective);
  const std::int64_t from =
      before == kNoOperation ? summary.begin : summary.collectives[before].exit;
  return input_.clocks.aligned(rank, summary.collectives[collective].entry) -
         input_.clocks.aligned(rank, from);
}

std::int64_t Joints::mean_gap(std::uint32_t operation) const {
  const std::vector<Member>& members = input_.matching.operations[operation].members;
  if (members.empty() || !taken_all(members)) return 0;  // nobody asks
  std::int64_t sum = 0;
  for (const Member& member : members) sum += gap(member.rank, member.collective);
  return rounded_mean(sum, members.size());
}

std::int64_t Joints::tail(RankIndex rank) const {
  const RankSummary& summary = input_.ranks[rank];
  const std::uint32_t before = last(rank);
  const std::int64_t from =
      before == kNoOperation ? summary.begin : summary.collectives[before].exit;
  return input_.clocks.aligned(rank, summary.end) - input_.clocks.aligned(rank, from);
}

}  // namespace perflab::ranks
