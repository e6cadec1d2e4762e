#include "ranks/match/units.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "base/hash.h"
#include "base/random.h"

namespace perflab::ranks {
namespace {

// Whether the kind has a size that every rank of it shares.
bool has_common_bytes(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_reduce:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_gather:
    case CollectiveKind::all_to_all:
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
    case CollectiveKind::scatter:
    case CollectiveKind::gather:
      return true;
    default:
      return false;
  }
}

bool has_root(CollectiveKind kind) {
  return info(kind).waits == Waits::for_root || info(kind).waits == Waits::root_waits;
}

bool is_named_kind(CollectiveKind kind) {
  return kind != CollectiveKind::unknown && kind != CollectiveKind::group;
}

// What every operation of a bucket says.
struct SaidSizes {
  bool sizes = true, any_size = false, types = true, roots = true;
};

SaidSizes sizes_said_by(std::span<const RankSummary> ranks, std::span<Unit* const> units) {
  SaidSizes said;
  for (const Unit* unit : units) {
    for (const std::uint32_t index : unit->operations) {
      const Collective& operation = ranks[unit->rank].collectives[index];
      if (has_common_bytes(operation.kind)) {
        if (common_bytes(operation) < 0) {
          said.sizes = false;
        } else {
          said.any_size = true;
        }
      }
      if (is_named_kind(operation.kind) && operation.data_type == kNoName) said.types = false;
      if (has_root(operation.kind) && !operation.root) said.roots = false;
    }
  }
  said.any_size = said.any_size && said.sizes;
  return said;
}

struct Fingerprint {
  std::array<std::int64_t, 5> parts{};
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

struct FingerprintHash {
  std::size_t operator()(const Fingerprint& of) const {
    std::uint64_t hash = 0;
    for (const std::int64_t part : of.parts) {
      hash = mixed_bits(hash ^ static_cast<std::uint64_t>(part)) + 0x9e3779b97f4a7c15U;
    }
    return static_cast<std::size_t>(hash);
  }
};

}  // namespace

std::vector<Unit> units_of(std::span<const RankSummary> ranks) {
  std::vector<Unit> units;
  for (RankIndex rank = 0; rank < ranks.size(); ++rank) {
    const RankSummary& summary = ranks[rank];
    std::vector<Unit> own(summary.communicators.size());
    for (std::uint32_t index = 0; index < summary.collectives.size(); ++index) {
      const Collective& operation = summary.collectives[index];
      Unit& unit = own.at(operation.communicator);
      const bool pair =
          operation.kind == CollectiveKind::send || operation.kind == CollectiveKind::receive;
      (pair ? unit.pairs : unit.operations).push_back(index);
    }
    for (std::uint32_t number = 0; number < own.size(); ++number) {
      if (own[number].operations.empty() && own[number].pairs.empty()) continue;
      own[number].rank = rank;
      own[number].communicator = number;
      units.push_back(std::move(own[number]));
    }
  }
  return units;
}

CommonNames::CommonNames(std::span<const RankSummary> ranks) {
  std::unordered_map<std::string_view, std::uint32_t> known;
  for (const RankSummary& rank : ranks) {
    std::vector<std::uint32_t>& numbers = numbers_.emplace_back();
    numbers.reserve(rank.names.size());
    for (const std::string& name : rank.names) {
      numbers.push_back(
          known.try_emplace(name, static_cast<std::uint32_t>(known.size())).first->second);
    }
  }
}

std::int64_t common_bytes(const Collective& operation) {
  const auto send = operation.send_bytes, receive = operation.receive_bytes;
  switch (operation.kind) {
    case CollectiveKind::all_to_all:
      if (operation.part_bytes) return *operation.part_bytes;
      [[fallthrough]];
    case CollectiveKind::all_reduce:
    case CollectiveKind::all_gather:
      return send ? *send : receive.value_or(-1);
    case CollectiveKind::reduce_scatter:
      return receive ? *receive : send.value_or(-1);
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
      return std::max(send.value_or(-1), receive.value_or(-1));
    // The root gives the whole and takes a part (scatter), or the other way round.
    case CollectiveKind::scatter:
      return receive.value_or(-1);
    case CollectiveKind::gather:
      return send.value_or(-1);
    default:
      return -1;
  }
}

void give_tokens(std::span<const RankSummary> ranks, const CommonNames& names,
                 std::span<Unit* const> units) {
  const SaidSizes said = sizes_said_by(ranks, units);
  std::unordered_map<Fingerprint, std::uint32_t, FingerprintHash> known;
  for (Unit* unit : units) {
    unit->tokens.clear();
    unit->tokens.reserve(unit->operations.size());
    for (const std::uint32_t index : unit->operations) {
      const Collective& operation = ranks[unit->rank].collectives[index];
      Fingerprint of;
      of.parts[0] =
          2 * static_cast<std::int64_t>(operation.kind) + (operation.inside_graph ? 1 : 0);
      if (!is_named_kind(operation.kind)) {
        of.parts[1] = names.of(
            unit->rank, operation.function != kNoName ? operation.function : operation.kernel);
      }
      if (has_common_bytes(operation.kind)) {
        of.parts[2] = said.sizes ? common_bytes(operation) : -1;
      }
      if (is_named_kind(operation.kind) && said.types) {
        of.parts[3] = names.of(unit->rank, operation.data_type);
      }
      of.parts[4] = has_root(operation.kind) && said.roots ? operation.root.value_or(-1)
                    : said.any_size                        ? -1
                                                           : std::int64_t{operation.channels};
      unit->tokens.push_back(
          known.try_emplace(of, static_cast<std::uint32_t>(known.size())).first->second);
    }
    unit->token_hash = content_hash(
        {reinterpret_cast<const char*>(unit->tokens.data()),  // NOLINT(*reinterpret-cast)
         unit->tokens.size() * sizeof(std::uint32_t)});
  }
}

}  // namespace perflab::ranks
