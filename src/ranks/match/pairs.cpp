// Sends and receives: first in, first out, of a sender, a receiver and a communicator.
#include <algorithm>
#include <map>
#include <utility>

#include "ranks/match/assemble.h"

namespace perflab::ranks {
namespace {

// The sends of one rank to another, and the receives there.
struct Queue {
  std::vector<std::uint32_t> sends, receives;
};

// Each as a sequence of sizes, to find where recordings started apart.
struct Sized {
  std::vector<std::uint32_t> tokens;
};

std::pair<Sized, Sized> sizes_of(const RankSummary& sender, const RankSummary& receiver,
                                 const Queue& queue) {
  std::map<std::int64_t, std::uint32_t> known;
  const auto bytes = [](const Collective& of) {
    return of.kind == CollectiveKind::send ? of.send_bytes : of.receive_bytes;
  };
  bool all = true;
  for (const std::uint32_t at : queue.sends) all = all && bytes(sender.collectives[at]);
  for (const std::uint32_t at : queue.receives) all = all && bytes(receiver.collectives[at]);
  const auto tokens = [&](const RankSummary& rank, const std::vector<std::uint32_t>& operations) {
    Sized sized;
    for (const std::uint32_t at : operations) {
      const std::int64_t size = all ? *bytes(rank.collectives[at]) : 0;
      sized.tokens.push_back(
          known.try_emplace(size, static_cast<std::uint32_t>(known.size())).first->second);
    }
    return sized;
  };
  Sized sends = tokens(sender, queue.sends);
  return {std::move(sends), tokens(receiver, queue.receives)};
}

// How many of the receiver's operations come before the sender's first; null: not known.
Place place_of_queue(const Judge& judge, RankIndex sender, RankIndex receiver, const Queue& queue) {
  const auto ranks = judge.ranks();
  const auto [sends, receives] = sizes_of(ranks[sender], ranks[receiver], queue);
  Pair pair;
  pair.reference = &ranks[sender];
  pair.other = &ranks[receiver];
  pair.reference_operations = queue.sends;
  pair.other_operations = queue.receives;
  pair.reference_tokens = sends.tokens;
  pair.other_tokens = receives.tokens;
  judge.clocks_of_pair(sender, receiver, pair);
  return place_of(pair, agreeing_shifts(sends.tokens, receives.tokens, judge.farthest()), 0);
}

void leave(RankIndex rank, std::span<const std::uint32_t> operations, Unmatched why, Matching& to) {
  for (const std::uint32_t at : operations) to.unmatched.push_back({{rank, at}, why});
}

void add_queue(const Judge& judge, RankIndex sender, RankIndex receiver, const Queue& queue,
               std::uint32_t group, Matching& to) {
  if (queue.sends.empty() || queue.receives.empty()) {
    leave(sender, queue.sends, Unmatched::no_partner, to);
    leave(receiver, queue.receives, Unmatched::no_partner, to);
    return;
  }
  const Place place = place_of_queue(judge, sender, receiver, queue);
  if (!place.by) {
    leave(sender, queue.sends, place.why, to);
    leave(receiver, queue.receives, place.why, to);
    return;
  }
  const auto sent = static_cast<std::int64_t>(queue.sends.size());
  const auto received = static_cast<std::int64_t>(queue.receives.size());
  for (std::int64_t at = std::min<std::int64_t>(0, *place.by);
       at < std::max(sent, received + *place.by); ++at) {
    const std::int64_t there = at - *place.by;
    const bool has_send = at >= 0 && at < sent;
    const bool has_receive = there >= 0 && there < received;
    if (has_send && has_receive) {
      Matched matched;
      matched.group = group;
      matched.kind = CollectiveKind::send;
      matched.members = {{sender, queue.sends[static_cast<std::size_t>(at)]},
                         {receiver, queue.receives[static_cast<std::size_t>(there)]}};
      std::sort(matched.members.begin(), matched.members.end());
      matched.complete = true;
      matched.root = sender;
      to.operations.push_back(std::move(matched));
    } else if (has_send) {
      to.unmatched.push_back(
          {{sender, queue.sends[static_cast<std::size_t>(at)]}, Unmatched::no_partner});
    } else if (has_receive) {
      to.unmatched.push_back(
          {{receiver, queue.receives[static_cast<std::size_t>(there)]}, Unmatched::no_partner});
    }
  }
}

}  // namespace

void add_pairs(const Judge& judge, const Team& team, std::uint32_t group, Matching& to) {
  const auto ranks = judge.ranks();
  std::map<std::pair<RankIndex, RankIndex>, Queue> queues;
  for (const Player& player : team.players) {
    const RankIndex rank = player.unit->rank;
    for (const std::uint32_t at : player.unit->pairs) {
      const Collective& operation = ranks[rank].collectives[at];
      const auto peer = operation.peer ? rank_of(ranks, team, *operation.peer) : std::nullopt;
      if (!peer || *peer == rank || team.unknown) {
        to.unmatched.push_back({{rank, at}, Unmatched::no_key});
      } else if (operation.kind == CollectiveKind::send) {
        queues[{rank, *peer}].sends.push_back(at);
      } else {
        queues[{*peer, rank}].receives.push_back(at);
      }
    }
  }
  for (const auto& [ends, queue] : queues) {
    add_queue(judge, ends.first, ends.second, queue, group, to);
  }
}

}  // namespace perflab::ranks
