#include "ranks/rank/message_bytes.h"

namespace perflab::ranks {

namespace {

using Number = std::optional<std::int64_t>;

Number times(Number a, Number b) {
  std::int64_t product = 0;
  if (!a || !b || *a < 0 || *b < 0 || __builtin_mul_overflow(*a, *b, &product)) return std::nullopt;
  return product;
}

/// Of one size that the call names: a rank's count times the type's size (of AllToAll, Gather and
/// Scatter that for one other rank).
MessageBytes by_one_size(CollectiveKind kind, Number size, Number ranks) {
  const Number of_all = times(size, ranks);
  switch (kind) {
    case CollectiveKind::all_gather:
      return {.send = size, .receive = of_all, .part = {}};
    case CollectiveKind::reduce_scatter:
      return {.send = of_all, .receive = size, .part = {}};
    case CollectiveKind::all_to_all:
      return {.send = of_all, .receive = of_all, .part = of_all ? std::nullopt : size};
    case CollectiveKind::gather:
      return {.send = size, .receive = std::nullopt, .part = {}};
    case CollectiveKind::scatter:
      return {.send = std::nullopt, .receive = size, .part = {}};
    case CollectiveKind::send:
      return {.send = size, .receive = 0, .part = {}};
    case CollectiveKind::receive:
      return {.send = 0, .receive = size, .part = {}};
    case CollectiveKind::all_reduce:
    case CollectiveKind::barrier:
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
      return {.send = size, .receive = size, .part = {}};
    case CollectiveKind::all_to_all_v:
    case CollectiveKind::group:
    case CollectiveKind::unknown:
      break;
  }
  return {};
}

}  // namespace

MessageBytes message_bytes(CollectiveKind kind, const Said& said) {
  const Number ranks = said.group_size ? said.group_size
                       : said.members.empty()
                           ? std::nullopt
                           : Number(static_cast<std::int64_t>(said.members.size()));
  const Number type = said.data_type.empty() ? std::nullopt : type_size(said.data_type);
  const Number in = times(said.in_count, type);
  const Number out = times(said.out_count, type);
  if (in && out) {
    if (kind == CollectiveKind::send) return {.send = in, .receive = 0, .part = {}};
    if (kind == CollectiveKind::receive) return {.send = 0, .receive = out, .part = {}};
    return {.send = in, .receive = out, .part = {}};
  }
  const Number counted = times(said.count, type);
  return by_one_size(kind, counted ? counted : said.bytes ? said.bytes : in ? in : out, ranks);
}

}  // namespace perflab::ranks
