// Random small jobs: ranks with contracted graphs whose recorded times are their schedule, matched
// operations of all kinds; and a slow model of them, written from docs/models/ranks_path.md alone:
// every exit looks at every rank.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "ranks/path/job_path.h"
#include "support/prng.h"

namespace perflab::test {

struct RandomJob {
  std::vector<ranks::RankSummary> ranks;
  std::vector<ranks::LocalGraph> graphs;
  ranks::Matching matching;
  ranks::Clocks clocks;
  std::int64_t begin = 0, end = 0;  ///< of the schedule, common time

  [[nodiscard]] ranks::PathInput input() const {
    return {.ranks = ranks,
            .matching = matching,
            .clocks = clocks,
            .load_graph = [this](ranks::RankIndex rank) -> Result<ranks::LocalGraph> {
              return graphs[rank];
            },
            .what_if = {}};
  }
};

/// Every rank has two scenarios, "a=2x" and "b=2x", in which edges have other weights or are gone.
RandomJob random_job(Prng& prng, std::int64_t most_ranks, std::int64_t most_operations);

/// What the slow model may change.
struct JobModelChanges {
  std::optional<std::size_t> scenario;
  std::optional<ranks::RankIndex> scenario_rank;
  std::optional<ranks::RankIndex> median;
  bool balance = false, no_wait = false;
  std::optional<ranks::CollectiveKind> kind;  ///< of transfer and no_wait
  double transfer = 1;
  std::optional<ranks::Member> late;  ///< enters so much later
  std::int64_t late_by = 0;
};

class SlowJob {
 public:
  explicit SlowJob(const RandomJob& job);
  /// Latest end minus earliest begin.
  std::int64_t makespan(const JobModelChanges& changes);

 private:
  std::int64_t time(ranks::RankIndex rank, std::uint32_t vertex);
  std::int64_t exit_time(ranks::RankIndex rank, std::uint32_t collective);
  std::int64_t recorded(ranks::RankIndex rank, std::int64_t own) const;
  std::int64_t gap(ranks::RankIndex rank, std::uint32_t collective) const;
  std::int64_t tail(ranks::RankIndex rank) const;
  std::optional<std::uint32_t> previous(ranks::RankIndex rank, std::uint32_t collective) const;
  std::int64_t expected(ranks::RankIndex rank, std::optional<std::uint32_t> collective) const;

  const RandomJob& job_;
  std::map<ranks::Member, const ranks::Matched*> operation_;
  JobModelChanges changes_;
  std::map<std::pair<ranks::RankIndex, std::uint32_t>, std::int64_t> known_;
};

}  // namespace perflab::test
