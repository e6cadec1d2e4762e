// Random jobs and the slow model.
#include "ranks/path/random_job.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace perflab::test {

using ranks::Collective;
using ranks::CollectiveKind;
using ranks::kNoPath;
using ranks::LocalGraph;
using ranks::Matched;
using ranks::Member;
using ranks::RankIndex;
using ranks::RankSummary;
using ranks::Waits;

namespace {

/// A rank while it is simulated. Vertices by number in LocalGraph, collectives by operation order.
struct Simulated {
  LocalGraph graph;
  std::vector<std::int64_t> time;
  std::vector<std::uint32_t> inner;  ///< before each entry, and before the end: inner vertices
  std::vector<Collective> collectives;
};

void add_edge(Prng& prng, Simulated& rank, std::uint32_t to) {
  const auto place = static_cast<std::size_t>(
      prng.below(std::min<std::int64_t>(3, static_cast<std::int64_t>(rank.graph.order.size()))));
  const std::uint32_t from = rank.graph.order[rank.graph.order.size() - 1 - place];
  for (const LocalGraph::Edge& edge : rank.graph.edges)
    if (edge.from == from && edge.to == to) return;
  LocalGraph::Edge edge{.from = from, .to = to, .weight = prng.below(40) - 2};
  edge.spent[static_cast<std::size_t>(prng.below(7))] = edge.weight;
  if (prng.below(2) == 0) {
    edge.kernel = static_cast<ranks::Name>(prng.below(3));
    edge.kernel_time = 1 + prng.below(20);
  }
  const bool first = rank.graph.edges.empty() || rank.graph.edges.back().to != to;
  for (int s = 0; s < 2; ++s)
    edge.scenarios.push_back(!first && prng.below(5) == 0 ? kNoPath
                                                          : edge.weight + s - prng.below(20));
  rank.time[to] = std::max(rank.time[to], rank.time[from] + edge.weight);
  rank.graph.edges.push_back(edge);
}

void add_vertex(Prng& prng, Simulated& rank, std::uint32_t vertex) {
  for (std::int64_t edges = 1 + prng.below(3); edges > 0; --edges) add_edge(prng, rank, vertex);
  rank.graph.order.push_back(vertex);
}

/// Numbers collectives by entry, then exit; vertices and edges with them.
std::vector<std::uint32_t> renumber(Simulated& rank) {
  std::vector<std::uint32_t> order(rank.collectives.size()), place(order.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t k) {
    return std::pair{rank.collectives[k].entry, rank.collectives[k].exit};
  });
  std::vector<Collective> sorted;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    sorted.push_back(rank.collectives[order[i]]);
  }
  rank.collectives = sorted;
  const auto end = static_cast<std::uint32_t>(1 + 2 * order.size());
  const auto moved = [&](std::uint32_t vertex) {
    return vertex == 0 || vertex >= end ? vertex
                                        : 1 + 2 * place[(vertex - 1) / 2] + (vertex - 1) % 2;
  };
  for (std::uint32_t& vertex : rank.graph.order) vertex = moved(vertex);
  for (LocalGraph::Edge& edge : rank.graph.edges) {
    edge.from = moved(edge.from);
    edge.to = moved(edge.to);
  }
  return place;
}

/// Exits of an operation whose members have entered, by the rules of its kind.
void leave(Prng& prng, const Matched& operation, std::vector<Simulated>& ranks) {
  const auto entry = [&](const Member& member) {
    return ranks[member.rank].time[1 + 2 * member.collective];
  };
  std::int64_t all = kNoPath, root = kNoPath;
  for (const Member& member : operation.members) {
    all = std::max(all, entry(member));
    if (member.rank == operation.root) root = entry(member);
  }
  for (const Member& member : operation.members) {
    std::int64_t from = entry(member);
    const Waits waits = info(operation.kind).waits;
    if (waits == Waits::everyone) from = all;
    if (waits == Waits::for_root || waits == Waits::for_peer) from = std::max(from, root);
    if (waits == Waits::root_waits && member.rank == operation.root) from = all;
    ranks[member.rank].time[2 + 2 * member.collective] = from + prng.below(25);
  }
}

Matched random_operation(Prng& prng, std::size_t ranks) {
  Matched operation;
  operation.kind = prng.below(2) == 0 ? CollectiveKind::all_reduce
                                      : static_cast<CollectiveKind>(prng.below(
                                            static_cast<std::int64_t>(ranks::kCollectiveKinds)));
  const std::int64_t share = 1 + prng.below(3);
  for (RankIndex rank = 0; rank < ranks; ++rank)
    if (prng.below(share) == 0) operation.members.push_back({.rank = rank, .collective = 0});
  if (operation.members.empty()) operation.members.push_back({.rank = 0, .collective = 0});
  if (prng.below(6) != 0)
    operation.root = operation
                         .members[static_cast<std::size_t>(
                             prng.below(static_cast<std::int64_t>(operation.members.size())))]
                         .rank;
  operation.complete = prng.below(4) != 0;
  return operation;
}

}  // namespace

RandomJob random_job(Prng& prng, std::int64_t most_ranks, std::int64_t most_operations) {
  RandomJob job;
  const auto count = static_cast<std::size_t>(2 + prng.below(most_ranks - 1));
  std::vector<Simulated> ranks(count);
  std::vector<std::vector<bool>> matched(count);
  std::vector<Matched> operations;
  for (std::int64_t i = prng.below(most_operations + 1); i > 0; --i) {
    Matched operation = random_operation(prng, count);
    const bool seen = prng.below(8) != 0;  // else the matching does not know it
    for (Member& member : operation.members) {
      member.collective = static_cast<std::uint32_t>(matched[member.rank].size());
      matched[member.rank].push_back(seen);
      ranks[member.rank].collectives.push_back({.entry = 0, .exit = 0, .kind = operation.kind});
    }
    operations.push_back(operation);
  }
  job.clocks.zones = 1;
  job.begin = 1'000'000;
  for (std::size_t r = 0; r < count; ++r) {
    Simulated& rank = ranks[r];
    const std::size_t vertices = 2 + 2 * rank.collectives.size();
    std::uint32_t inner = 0;
    for (std::size_t i = 0; i <= rank.collectives.size(); ++i) {
      rank.inner.push_back(static_cast<std::uint32_t>(prng.below(2)));
      inner += rank.inner.back();
    }
    rank.graph.inner = inner;
    rank.time.assign(vertices + inner, kNoPath);
    rank.time[0] = 1000 + prng.below(60);
    rank.graph.order.push_back(0);
    job.begin = std::min(job.begin, rank.time[0]);
  }
  std::vector<std::uint32_t> next_inner(count);
  for (std::size_t r = 0; r < count; ++r)
    next_inner[r] = static_cast<std::uint32_t>(2 + 2 * ranks[r].collectives.size());
  for (const Matched& operation : operations) {
    for (const Member& member : operation.members) {
      Simulated& rank = ranks[member.rank];
      if (rank.inner[member.collective] != 0) add_vertex(prng, rank, next_inner[member.rank]++);
      add_vertex(prng, rank, 1 + 2 * member.collective);
    }
    const bool rootless = !operation.root && info(operation.kind).waits != Waits::everyone;
    Matched as_known = operation;
    if (rootless || operation.members.size() < 2 ||
        !matched[operation.members[0].rank][operation.members[0].collective])
      as_known.kind = CollectiveKind::unknown;  // everybody for himself: that is all that is said
    leave(prng, as_known, ranks);
    for (const Member& member : operation.members)
      ranks[member.rank].graph.order.push_back(2 + 2 * member.collective);
  }
  for (std::size_t r = 0; r < count; ++r) {
    Simulated& rank = ranks[r];
    const auto end = static_cast<std::uint32_t>(1 + 2 * rank.collectives.size());
    if (rank.inner.back() != 0) add_vertex(prng, rank, next_inner[r]++);
    for (std::uint32_t exit = 2; exit < end; exit += 2) {  // the end is the latest of all
      rank.graph.edges.push_back({.from = exit, .to = end, .weight = 0, .scenarios = {0, 0}});
      rank.time[end] = std::max(rank.time[end], rank.time[exit]);
    }
    add_vertex(prng, rank, end);
    job.end = std::max(job.end, rank.time[end]);
    const std::int64_t offset = prng.below(2000) - 1000;
    for (std::uint32_t k = 0; k < rank.collectives.size(); ++k) {
      rank.collectives[k].entry = rank.time[1 + 2 * k] - offset;
      rank.collectives[k].exit = rank.time[2 + 2 * k] - offset;
    }
    RankSummary summary;
    summary.file = "rank";
    summary.begin = rank.time[0] - offset;
    summary.end = rank.time[end] - offset;
    summary.scenarios = {"a=2x", "b=2x"};
    const std::vector<std::uint32_t> place = renumber(rank);
    for (Matched& operation : operations)
      for (Member& member : operation.members)
        if (member.rank == r) member.collective = place[member.collective];
    summary.collectives = rank.collectives;
    std::vector<bool> known(place.size());
    for (std::size_t k = 0; k < place.size(); ++k) known[place[k]] = matched[r][k];
    matched[r] = known;
    job.ranks.push_back(summary);
    job.graphs.push_back(rank.graph);
    job.clocks.ranks.push_back({});
    job.clocks.ranks.back().offset = static_cast<double>(offset);
  }
  for (const Matched& operation : operations)
    if (matched[operation.members[0].rank][operation.members[0].collective])
      job.matching.operations.push_back(operation);
  return job;
}

SlowJob::SlowJob(const RandomJob& job) : job_(job) {
  for (const Matched& operation : job.matching.operations)
    for (const Member& member : operation.members) operation_[member] = &operation;
}

std::int64_t SlowJob::recorded(RankIndex rank, std::int64_t own) const {
  return job_.clocks.aligned(rank, own);
}

std::optional<std::uint32_t> SlowJob::previous(RankIndex rank, std::uint32_t collective) const {
  const std::vector<Collective>& all = job_.ranks[rank].collectives;
  std::optional<std::uint32_t> best;
  for (std::uint32_t k = 0; k < collective; ++k)
    if (all[k].exit <= all[collective].entry && (!best || all[k].exit >= all[*best].exit)) best = k;
  return best;
}

std::int64_t SlowJob::gap(RankIndex rank, std::uint32_t collective) const {
  const RankSummary& summary = job_.ranks[rank];
  const auto before = previous(rank, collective);
  return summary.collectives[collective].entry -
         (before ? summary.collectives[*before].exit : summary.begin);
}

std::int64_t SlowJob::tail(RankIndex rank) const {
  const RankSummary& summary = job_.ranks[rank];
  std::int64_t last = summary.begin;
  for (std::size_t k = 0; k < summary.collectives.size(); ++k)
    last = k == 0 ? summary.collectives[k].exit : std::max(last, summary.collectives[k].exit);
  return summary.end - last;
}

std::int64_t SlowJob::expected(RankIndex rank, std::optional<std::uint32_t> collective) const {
  std::vector<std::int64_t> gaps;
  if (!collective) {
    for (RankIndex other = 0; other < job_.ranks.size(); ++other)
      if (!changes_.median || other != rank) gaps.push_back(tail(other));
  } else if (const auto found = operation_.find({.rank = rank, .collective = *collective});
             found != operation_.end()) {
    for (const Member& member : found->second->members)
      if (!changes_.median || member.rank != rank)
        gaps.push_back(gap(member.rank, member.collective));
  }
  if (gaps.empty()) return collective ? gap(rank, *collective) : tail(rank);
  std::ranges::sort(gaps);
  if (changes_.median) {
    const std::int64_t sum = gaps[(gaps.size() - 1) / 2] + gaps[gaps.size() / 2];
    return static_cast<std::int64_t>(std::floor(static_cast<double>(sum) / 2));
  }
  const double sum = static_cast<double>(std::accumulate(gaps.begin(), gaps.end(), 0LL));
  return static_cast<std::int64_t>(std::floor(sum / static_cast<double>(gaps.size()) + 0.5));
}

std::int64_t SlowJob::exit_time(RankIndex rank, std::uint32_t collective) {
  const auto entry = [&](const Member& member) {
    return time(member.rank, 1 + 2 * member.collective);
  };
  const auto was = [&](const Member& member) {
    return recorded(member.rank, job_.ranks[member.rank].collectives[member.collective].entry);
  };
  const Member self{.rank = rank, .collective = collective};
  const std::int64_t exit = recorded(rank, job_.ranks[rank].collectives[collective].exit);
  const auto found = operation_.find(self);
  if (found == operation_.end()) return entry(self) + exit - was(self);
  const Matched& operation = *found->second;
  const Waits waits = info(operation.kind).waits;
  std::vector<Member> awaited = {self};
  bool root_is_there = false;
  for (const Member& other : operation.members) {
    root_is_there = root_is_there || operation.root == other.rank;
    const bool needs =
        waits == Waits::everyone ||
        ((waits == Waits::for_root || waits == Waits::for_peer) && other.rank == operation.root) ||
        (waits == Waits::root_waits && rank == operation.root);
    if (needs) awaited.push_back(other);
  }
  const bool joined = operation.members.size() > 1 && waits != Waits::unknown &&
                      (waits == Waits::everyone || root_is_there);
  if (!joined) awaited = {self};
  std::int64_t now = kNoPath, then = kNoPath;
  const bool meant = !changes_.kind || changes_.kind == operation.kind;
  for (const Member& other : awaited) {
    then = std::max(then, was(other));
    if (other == self || !(changes_.no_wait && meant)) now = std::max(now, entry(other));
  }
  const double factor = joined && meant && operation.complete ? changes_.transfer : 1;
  const auto transfer = std::max<std::int64_t>(0, exit - then);
  return now + std::llround(static_cast<double>(transfer) * factor);
}

std::int64_t SlowJob::time(RankIndex rank, std::uint32_t vertex) {
  const std::pair key{rank, vertex};
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  const RankSummary& summary = job_.ranks[rank];
  const auto collectives = static_cast<std::uint32_t>(summary.collectives.size());
  const std::uint32_t end = 1 + 2 * collectives;
  std::int64_t result = kNoPath;
  if (vertex == 0) {
    result = recorded(rank, summary.begin);
  } else if (vertex < end && vertex % 2 == 0) {
    result = exit_time(rank, (vertex - 2) / 2);
  } else if (changes_.balance || changes_.median == rank) {
    if (vertex < end) {
      const std::uint32_t k = (vertex - 1) / 2;
      const auto before = previous(rank, k);
      result = time(rank, before ? 2 + 2 * *before : 0) + expected(rank, k);
    } else {
      std::optional<std::uint32_t> last;
      for (std::uint32_t k = 0; k < collectives; ++k)
        if (!last || summary.collectives[k].exit >= summary.collectives[*last].exit) last = k;
      result = time(rank, last ? 2 + 2 * *last : 0) + expected(rank, std::nullopt);
      for (std::uint32_t k = 0; k < collectives; ++k)
        if (k != last) result = std::max(result, time(rank, 2 + 2 * k));
    }
  } else {
    for (const LocalGraph::Edge& edge : job_.graphs[rank].edges) {
      if (edge.to != vertex) continue;
      const bool other = changes_.scenario && changes_.scenario_rank.value_or(rank) == rank;
      const std::int64_t weight = other ? edge.scenarios[*changes_.scenario] : edge.weight;
      if (weight != kNoPath) result = std::max(result, time(rank, edge.from) + weight);
    }
  }
  if (changes_.late && changes_.late->rank == rank && vertex == 1 + 2 * changes_.late->collective)
    result += changes_.late_by;
  return known_[key] = result;
}

std::int64_t SlowJob::makespan(const JobModelChanges& changes) {
  changes_ = changes;
  known_.clear();
  std::int64_t begin = std::numeric_limits<std::int64_t>::max(), end = kNoPath;
  for (RankIndex rank = 0; rank < job_.ranks.size(); ++rank) {
    begin = std::min(begin, time(rank, 0));
    end = std::max(end, time(rank, job_.ranks[rank].end_vertex()));
  }
  return end - begin;
}

}  // namespace perflab::test
