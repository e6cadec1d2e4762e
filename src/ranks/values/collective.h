// The kinds of communication between ranks: who waits for whom in each, and what of its size
// counts for a bandwidth. Facts: docs/facts/ranks.md "Which collectives wait how", "Bandwidth".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace perflab::ranks {

enum class CollectiveKind : std::uint8_t {
  all_reduce,
  reduce_scatter,
  all_gather,
  all_to_all,
  all_to_all_v,
  barrier,
  broadcast,
  scatter,
  reduce,
  gather,
  send,
  receive,
  group,    ///< several operations in one kernel, of which not all are known
  unknown,  ///< communication, of a kind that the recording does not say
};
inline constexpr std::size_t kCollectiveKinds = 14;

/// Which exits cannot come before which entries, for a count above 0.
enum class Waits : std::uint8_t {
  everyone,    ///< no rank leaves before every rank came
  for_root,    ///< nobody leaves before the root came
  root_waits,  ///< the root leaves after everyone came; the others may leave early
  for_peer,    ///< the receiver leaves after the sender came
  unknown,     ///< nothing may be concluded
};

struct CollectiveFacts {
  std::string_view name;  ///< as documents have it: "all_reduce"
  Waits waits;
  /// Bus bandwidth = algorithm bandwidth x (factor_times * (n - 1) / n), or x 1 for
  /// `factor_times` 0; n: ranks of the group.
  int factor_times;
  /// The bytes of algorithm bandwidth are those of one rank times n.
  bool bytes_of_all_ranks;
};

/// Facts of a kind.
const CollectiveFacts& info(CollectiveKind kind);

/// Which knowledge ties a rank's operation to those of others, best first.
enum class KeySource : std::uint8_t {
  arguments,  ///< arguments of the calls, or the profiler's own group and sequence number
  text,       ///< roctx texts of RCCL: communicator and function
  calls,      ///< the sequence of calls on a thread and stream
  kernels,    ///< communication kernels on their stream alone
};
inline constexpr std::size_t kKeySources = 4;

/// As documents have it.
std::string_view name(KeySource source);

}  // namespace perflab::ranks
