// A job made up for tests of matching and clocks: every rank computes, enters collectives of its
// communicators, leaves when they let it, and writes times of its own clock. Truth is kept.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ranks/values/rank_summary.h"

namespace perflab::ranks::made_job {

struct Clock {
  double offset = 0, drift = 0;  ///< common time = t + offset + drift * t
  [[nodiscard]] std::int64_t own(std::int64_t common) const;
};

/// Operations that every rank of the job meets in one order.
struct Operation {
  std::uint32_t communicator = 0;
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::int64_t bytes = 1 << 20;
  std::int64_t transfer = 20'000;  ///< ns
  std::uint32_t root = 0;          ///< place in the communicator; the sender of a pair
  std::uint32_t peer = 1;          ///< the receiver
};

struct Settings {
  std::uint64_t seed = 1;
  std::vector<std::vector<std::uint32_t>> communicators;  ///< ranks of each
  std::vector<std::string> ids = {};                      ///< of each; default: its number
  KeySource key = KeySource::arguments;
  bool with_members = true, with_size = true, with_sizes = true, with_peers = true;
  std::vector<Clock> clocks;              ///< by rank
  std::vector<std::uint32_t> nodes = {};  ///< by rank; empty: no rank says its machine
  std::vector<Operation> operations;
  std::int64_t work = 500'000;       ///< ns between operations, on average
  std::int64_t jitter = 300'000;     ///< ns that it varies
  std::int64_t exit_spread = 5'000;  ///< ns that exits are apart
};

struct Job {
  std::vector<RankSummary> ranks;
  std::vector<Clock> clocks;
};

Job made(const Settings& settings);

/// Deletes the first `count` operations of a communicator of a rank.
void delete_first(RankSummary& rank, std::uint32_t communicator, std::size_t count);

/// Several iterations of layers: all_gather, reduce_scatter with sizes by `sizes`.
std::vector<Operation> periodic(std::uint32_t communicator, std::size_t iterations,
                                std::size_t layers);

/// Operations of different kinds and sizes, in no pattern.
std::vector<Operation> irregular(std::uint64_t seed, std::uint32_t communicators,
                                 std::size_t count);

}  // namespace perflab::ranks::made_job
