// A made-up job while it runs in common time, before anybody recorded it (support/rank_jobs.h):
// what each rank's operations came after. Of rank_job_run.cpp, for rank_jobs.cpp alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "support/prng.h"
#include "support/rank_jobs.h"

namespace perflab::test::rank_job {

/// What comes before a collective of a rank, or before its end: from the exit of an earlier one of
/// the rank (by the order of operations), or from its begin.
struct Behind {
  std::optional<std::size_t> exit_of;
  std::int64_t work = 0, kernels = 0;
  std::uint32_t kernel = 0;
};

struct Entered {
  std::size_t operation = 0, member = 0;
  std::vector<Behind> behind;
};

struct Drawn {
  std::uint32_t communicator = 0;
  ranks::CollectiveKind kind = ranks::CollectiveKind::unknown;
  std::int64_t bytes = 0;            ///< count x size of the call
  std::uint32_t root = 0, peer = 0;  ///< places in the group
};

/// A rank while the job runs.
struct Running {
  std::int64_t begin = 0;
  std::vector<Entered> entered;
  std::vector<std::int64_t> exits;                 ///< common time
  std::map<std::uint32_t, std::size_t> on_stream;  ///< last one of each communicator
  std::vector<Behind> at_end;
};

struct Job {
  explicit Job(const RankJobOptions& wanted) : options(wanted), random(wanted.seed) {}

  const RankJobOptions& options;
  Prng random;
  RankJobTruth truth;
  std::vector<Drawn> drawn;
  std::vector<Running> running;
};

/// When a rank is done with what comes before: exits that were so far.
std::int64_t ready(const Running& rank, const std::vector<Behind>& behind);

/// Draws communicators, clocks and operations, then runs them. Deterministic for a seed.
void run(Job& job);

}  // namespace perflab::test::rank_job
