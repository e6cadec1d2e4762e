#include "support/rank_job_run.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace perflab::test::rank_job {

namespace {

using ranks::CollectiveKind;
using ranks::Waits;

std::size_t as_size(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

void draw_groups(Job& job) {
  const std::uint32_t n = job.options.ranks;
  std::vector<std::uint32_t> all(n);
  std::iota(all.begin(), all.end(), 0U);
  job.truth.groups.push_back(all);
  while (job.truth.groups.size() < job.options.communicators) {
    std::vector<std::uint32_t> mixed = all;
    for (std::size_t i = mixed.size(); i > 1; --i) {
      std::swap(mixed[i - 1], mixed[as_size(job.random.below(static_cast<std::int64_t>(i)))]);
    }
    const auto size = n <= 2 ? n : 2 + static_cast<std::uint32_t>(job.random.below(n - 1));
    mixed.resize(std::min(size, n));
    std::sort(mixed.begin(), mixed.end());
    job.truth.groups.push_back(std::move(mixed));
  }
}

void draw_clocks(Job& job) {
  const RankJobOptions& options = job.options;
  const auto around = [&](std::int64_t range) {
    return range == 0 ? 0 : job.random.below(2 * range + 1) - range;
  };
  RankJobTruth::Clock node;
  for (std::uint32_t rank = 0; rank < options.ranks; ++rank) {
    if (rank % options.ranks_per_node == 0) {
      const double part = static_cast<double>(job.random.below(2001) - 1000) / 1000.0;
      node = {.offset = around(options.offset_range), .drift = options.drift_ppm * 1e-6 * part};
    }
    job.truth.clocks.push_back(
        {.offset = node.offset + around(options.within_node), .drift = node.drift});
  }
}

Drawn draw_operation(Job& job, const std::vector<CollectiveKind>& kinds) {
  Drawn drawn;
  drawn.communicator = static_cast<std::uint32_t>(
      job.random.below(static_cast<std::int64_t>(job.truth.groups.size())));
  drawn.kind = kinds[as_size(job.random.below(static_cast<std::int64_t>(kinds.size())))];
  drawn.bytes = drawn.kind == CollectiveKind::barrier ? 4 : std::int64_t{4} << job.random.below(24);
  const auto n = static_cast<std::int64_t>(job.truth.groups[drawn.communicator].size());
  drawn.root = static_cast<std::uint32_t>(job.random.below(n));
  drawn.peer = static_cast<std::uint32_t>(
      (drawn.root + 1 + job.random.below(std::max<std::int64_t>(n - 1, 1))) % n);
  return drawn;
}

void draw_operations(Job& job) {
  std::vector<CollectiveKind> kinds = job.options.kinds;
  if (kinds.empty()) {
    kinds = {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather,
             CollectiveKind::all_to_all, CollectiveKind::barrier};
  }
  for (std::size_t k = 0; k < job.options.operations; ++k) {
    const std::size_t period = job.options.period;
    job.drawn.push_back(period != 0 && k >= period ? job.drawn[k - period]
                                                   : draw_operation(job, kinds));
  }
}

/// The work of a rank before its next collective, or its end.
Behind draw_work(Job& job, std::uint32_t rank) {
  Behind behind;
  behind.work =
      std::max<std::int64_t>(job.random.spread(job.options.work, job.options.work_spread), 0);
  for (const auto& [late, by] : job.options.late) {
    if (late == rank) behind.work += by;
  }
  behind.kernels = behind.work * (500 + job.random.below(401)) / 1000;
  behind.kernel = static_cast<std::uint32_t>(job.random.below(3));
  return behind;
}

std::vector<Behind> draw_behind(Job& job, std::uint32_t rank, std::uint32_t communicator) {
  const Running& state = job.running[rank];
  Behind work = draw_work(job, rank);
  if (state.entered.empty()) return {work};
  const auto count = static_cast<std::int64_t>(state.entered.size());
  if (!job.options.overlap) {
    work.exit_of = state.entered.size() - 1;
    return {work};
  }
  work.exit_of = as_size(std::max<std::int64_t>(count - 1 - job.random.below(3), 0));
  std::vector<Behind> behind = {work};
  if (const auto at = state.on_stream.find(communicator);
      at != state.on_stream.end() && at->second != *work.exit_of) {
    behind.push_back({.exit_of = at->second});
  }
  return behind;
}

/// When a member leaves, jitter aside.
std::int64_t leaves(const RankJobTruth::Operation& operation, std::size_t member) {
  const RankJobTruth::Member& own = operation.members[member];
  std::int64_t from = own.entry;
  switch (ranks::info(operation.kind).waits) {
    case Waits::everyone:
      from = operation.arrival();
      break;
    case Waits::for_root:
    case Waits::for_peer:  // a pair: its root is the sender
      for (const auto& other : operation.members) {
        if (other.rank == operation.root) from = std::max(from, other.entry);
      }
      break;
    case Waits::root_waits:
      if (own.rank == operation.root) from = operation.arrival();
      break;
    case Waits::unknown:
      from = std::max(from, operation.members[(member + 1) % operation.members.size()].entry);
      break;
  }
  return from + operation.transfer;
}

void run_operation(Job& job, const Drawn& drawn) {
  const std::vector<std::uint32_t>& group = job.truth.groups[drawn.communicator];
  const bool pair = drawn.kind == CollectiveKind::send;
  RankJobTruth::Operation operation;
  operation.kind = drawn.kind;
  operation.communicator = drawn.communicator;
  operation.transfer = job.options.transfer + drawn.bytes / 50;
  const Waits waits = ranks::info(drawn.kind).waits;
  if (pair || waits == Waits::for_root || waits == Waits::root_waits) {
    operation.root = group[drawn.root];
  }
  std::vector<std::uint32_t> taking = group;
  if (pair) {
    taking = {group[drawn.root], group[drawn.peer]};
    std::sort(taking.begin(), taking.end());
  }
  for (const std::uint32_t rank : taking) {
    Running& state = job.running[rank];
    Entered entered{.operation = job.truth.operations.size(),
                    .member = operation.members.size(),
                    .behind = draw_behind(job, rank, drawn.communicator)};
    RankJobTruth::Member member;
    member.rank = rank;
    member.kind = pair && rank != operation.root ? CollectiveKind::receive : drawn.kind;
    member.entry = ready(state, entered.behind);
    state.entered.push_back(std::move(entered));
    operation.members.push_back(member);
  }
  for (std::size_t i = 0; i < operation.members.size(); ++i) {
    RankJobTruth::Member& member = operation.members[i];
    const std::int64_t jitter = job.options.jitter;
    member.exit = leaves(operation, i) + (jitter == 0 ? 0 : job.random.below(jitter + 1));
    Running& state = job.running[member.rank];
    state.on_stream[drawn.communicator] = state.exits.size();
    state.exits.push_back(member.exit);
  }
  job.truth.operations.push_back(std::move(operation));
}

void run_job(Job& job) {
  for (std::uint32_t rank = 0; rank < job.options.ranks; ++rank) {
    Running state;
    state.begin = job.random.below(job.options.work + 1);
    job.running.push_back(std::move(state));
  }
  for (const Drawn& drawn : job.drawn) run_operation(job, drawn);
  for (std::uint32_t rank = 0; rank < job.options.ranks; ++rank) {
    Running& state = job.running[rank];
    Behind last = draw_work(job, rank);
    if (!state.exits.empty()) {
      last.exit_of = static_cast<std::size_t>(
          std::max_element(state.exits.begin(), state.exits.end()) - state.exits.begin());
    }
    state.at_end = {last};
    job.truth.begin.push_back(state.begin);
    job.truth.end.push_back(ready(state, state.at_end));
  }
}

}  // namespace

std::int64_t ready(const Running& rank, const std::vector<Behind>& behind) {
  std::int64_t at = rank.begin;
  for (const Behind& one : behind) {
    at = std::max(at, (one.exit_of ? rank.exits[*one.exit_of] : rank.begin) + one.work);
  }
  return at;
}

void run(Job& job) {
  draw_groups(job);
  draw_clocks(job);
  draw_operations(job);
  run_job(job);
}

}  // namespace perflab::test::rank_job
