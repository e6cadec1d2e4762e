#include "ranks/figures/cause.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ranks/figures/rules.h"
#include "stats/median.h"

namespace perflab::ranks {
namespace {

/// When each vertex of a rank's graph was reached, with its terminals as recorded, and the edge
/// that reached it: what a stretch before an entry was spent on.
class Reached {
 public:
  explicit Reached(const RankSummary& summary) : summary_(summary) {
    const LocalGraph& graph = summary.graph;
    constexpr auto kNever = std::numeric_limits<std::int64_t>::min();
    std::vector<std::int64_t> times(graph.order.size(), kNever);
    binding_.assign(graph.order.size(), kNone);
    times[0] = summary.begin;
    for (std::size_t k = 0; k < summary.collectives.size(); ++k) {
      times[summary.entry_vertex(k)] = summary.collectives[k].entry;
      times[summary.exit_vertex(k)] = summary.collectives[k].exit;
    }
    std::vector<std::int64_t> best(graph.order.size(), kNever);
    for (std::size_t i = 0; i < graph.edges.size(); ++i) {
      const LocalGraph::Edge& edge = graph.edges[i];
      // Edges are ordered by their targets: whatever reaches `from` has been seen.
      const std::int64_t from = times[edge.from] == kNever ? best[edge.from] : times[edge.from];
      if (from == kNever || from + edge.weight <= best[edge.to]) continue;
      best[edge.to] = from + edge.weight;
      binding_[edge.to] = static_cast<std::uint32_t>(i);
    }
  }

  /// Adds what the way to a collective's entry was spent on, from the exit (or begin) before it.
  void add_spent(std::size_t collective,
                 std::array<std::int64_t, analyze::kSpentKinds>& spent) const {
    const std::uint32_t terminals = summary_.end_vertex();
    std::uint32_t at = summary_.entry_vertex(collective);
    while (at < binding_.size() && binding_[at] != kNone) {
      const LocalGraph::Edge& edge = summary_.graph.edges[binding_[at]];
      for (std::size_t kind = 0; kind < spent.size(); ++kind) spent[kind] += edge.spent[kind];
      at = edge.from;
      if (at <= terminals) return;
    }
  }

  /// Whether the summary has a graph at all.
  [[nodiscard]] static bool has_graph(const RankSummary& summary) {
    return summary.graph.order.size() > summary.end_vertex();
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;
  const RankSummary& summary_;
  std::vector<std::uint32_t> binding_;  ///< by vertex: index of an edge
};

/// Time per dispatch, ns; 0 without dispatches.
double each(std::int64_t time, std::uint64_t dispatches) {
  return dispatches == 0 ? 0 : static_cast<double>(time) / static_cast<double>(dispatches);
}

/// By how much kernels are slower per dispatch, where it is all of them alike; null otherwise.
std::optional<double> common_factor(const std::vector<KernelExcess>& kernels) {
  std::int64_t all = 0, covered = 0;
  for (const KernelExcess& one : kernels) all += one.time;
  double low = std::numeric_limits<double>::max(), high = 0, weighed = 0;
  std::size_t count = 0;
  for (const KernelExcess& one : kernels) {
    const double median = each(one.median_time, one.median_dispatches);
    if (!(median > 0) || one.dispatches == 0 ||
        static_cast<double>(one.time) < rules::kClockKernelShare * static_cast<double>(all))
      continue;
    const double factor = each(one.time, one.dispatches) / median;
    low = std::min(low, factor);
    high = std::max(high, factor);
    weighed += factor * static_cast<double>(one.time);
    covered += one.time;
    ++count;
  }
  if (count < rules::kClockKernels || low < rules::kClockFactor ||
      static_cast<double>(covered) < rules::kClockCovers * static_cast<double>(all) ||
      high - low > rules::kClockApart * (low - 1))
    return std::nullopt;
  return weighed / static_cast<double>(covered);
}

/// Which part of the excess in kernels it is.
void judge_kernels(const std::vector<KernelExcess>& kernels, std::int64_t excess, Cause& cause) {
  if (const auto factor = common_factor(kernels)) {
    cause.kind = CauseKind::clock;
    cause.clock_factor = factor;
    return;
  }
  const double own = static_cast<double>(cause.kernel->time - cause.kernel->median_at_most);
  if (own < rules::kCauseShare * static_cast<double>(excess)) {
    cause.kind = CauseKind::several_kernels;
    return;
  }
  const KernelExcess& top = *cause.kernel;
  const double slower =
      (each(top.time, top.dispatches) - each(top.median_time, top.median_dispatches)) *
      static_cast<double>(top.median_dispatches);
  if (slower >= own / 2)
    cause.kind = CauseKind::slow_kernel;
  else  // of dispatches that are not all named nobody can say that they are fewer
    cause.kind = top.median_whole() ? CauseKind::more_dispatches : CauseKind::several_kernels;
}

/// Decides the kind from the figures that are there.
void judge(const std::vector<KernelExcess>& kernels, Cause& cause) {
  const std::int64_t excess = cause.length.excess();
  if (static_cast<double>(excess) < rules::kLeastExplained * static_cast<double>(cause.lateness)) {
    cause.doubt = CauseDoubt::not_longer;
    return;
  }
  const double needed = rules::kCauseShare * static_cast<double>(excess);
  const auto enough = [&](std::int64_t part) { return static_cast<double>(part) >= needed; };
  const auto spent = [&](analyze::Spent kind) {
    return cause.spent[static_cast<std::size_t>(kind)].excess();
  };
  if (enough(cause.idle.excess())) {
    const std::int64_t launching =
        spent(analyze::Spent::launch_latency) + spent(analyze::Spent::host_call) +
        spent(analyze::Spent::host_code) + spent(analyze::Spent::sync_return);
    cause.kind = enough(launching) ? CauseKind::launches : CauseKind::idle;
  } else if (enough(cause.copies.excess()) && cause.copies.excess() >= cause.kernels.excess()) {
    cause.kind = CauseKind::copies;
  } else if (enough(cause.busy.excess()) && cause.kernels.excess() > 0 && cause.kernel) {
    judge_kernels(kernels, cause.kernels.excess(), cause);
  } else {
    cause.doubt = CauseDoubt::several_parts;
  }
}

}  // namespace

std::string_view name(CauseKind kind) {
  static constexpr std::array<std::string_view, 8> kNames = {
      "slow_kernel", "more_dispatches", "several_kernels", "clock", "copies", "launches",
      "idle",        "undecided"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name(CauseDoubt doubt) {
  static constexpr std::array<std::string_view, 4> kNames = {"none", "no_others", "not_longer",
                                                             "several_parts"};
  return kNames[static_cast<std::size_t>(doubt)];
}

CauseFinder::CauseFinder(std::span<const RankSummary> ranks, const Matching& matching,
                         const Clocks& clocks, const Figures& figures)
    : matching_(matching) {
  for (const RankIndex rank : figures.stragglers) {
    stragglers_.push_back({.rank = rank, .lateness = 0, .operations = {}, .ranks = {}});
    stragglers_.back().ranks.resize(ranks.size());
  }
  if (stragglers_.empty()) return;
  for (std::uint32_t i = 0; i < matching.operations.size(); ++i) {
    const OperationFigures one = operation_figures(ranks, matching, clocks, i);
    if (!one.last) continue;
    for (Straggler& straggler : stragglers_)
      if (straggler.rank == *one.last) {
        straggler.operations.push_back(i);
        straggler.lateness += one.last_margin->value;
      }
  }
}

void CauseFinder::add(RankIndex rank, const RankSummary& summary) {
  if (stragglers_.empty()) return;
  std::optional<Reached> reached;
  if (Reached::has_graph(summary)) reached.emplace(summary);
  for (Straggler& straggler : stragglers_) {
    Sums& sums = straggler.ranks[rank];
    for (const std::uint32_t operation : straggler.operations) {
      const auto& members = matching_.operations[operation].members;
      const auto own = std::ranges::lower_bound(members, rank, {}, &Member::rank);
      if (own == members.end() || own->rank != rank || own->collective >= summary.work.size())
        continue;
      add_work(summary, own->collective, sums);
      if (reached) reached->add_spent(own->collective, sums.spent);
    }
  }
}

void CauseFinder::add_work(const RankSummary& summary, std::uint32_t collective, Sums& sums) {
  const Work& work = summary.work[collective];
  ++sums.operations;
  sums.length += work.length;
  sums.busy += work.busy;
  sums.copies += work.copies;
  sums.kernels += work.other_kernels;
  const std::int64_t room =
      work.kernels.empty() ? 0 : std::min(work.kernels.back().time, work.other_kernels);
  sums.room += room;
  for (const KernelTime& kernel : work.kernels) {
    sums.kernels += kernel.time;
    if (kernel.kernel >= summary.names.size()) continue;
    Sums::OfKernel& all = sums.by_kernel[summary.names[kernel.kernel]];
    all.time.dispatches += kernel.dispatches;
    all.time.time += kernel.time;
    all.room += room;
  }
}

Cause CauseFinder::cause_of(const Straggler& straggler) {
  Cause cause;
  cause.rank = straggler.rank;
  cause.lateness = straggler.lateness;
  const Sums& own = straggler.ranks[straggler.rank];
  cause.operations = own.operations;
  std::vector<const Sums*> others;
  std::uint64_t most = 0;
  for (RankIndex rank = 0; rank < straggler.ranks.size(); ++rank)
    if (rank != straggler.rank) most = std::max(most, straggler.ranks[rank].operations);
  for (RankIndex rank = 0; rank < straggler.ranks.size(); ++rank)
    if (const Sums& other = straggler.ranks[rank];
        rank != straggler.rank && other.operations > 0 && 2 * other.operations >= most)
      others.push_back(&other);
  if (others.empty() || own.operations == 0) {
    cause.doubt = CauseDoubt::no_others;
    return cause;
  }
  // Of ranks that took part in fewer of the operations, as much as of all of them.
  const auto median = [&](const auto& value) {
    std::vector<std::int64_t> values;
    for (const Sums* other : others)
      values.push_back(
          std::llround(static_cast<double>(value(*other)) * static_cast<double>(own.operations) /
                       static_cast<double>(other->operations)));
    return stats::middle_of(values);
  };
  const auto against = [&](const auto& value) { return AgainstMedian{value(own), median(value)}; };
  cause.length = against([](const Sums& sums) { return sums.length; });
  cause.busy = against([](const Sums& sums) { return sums.busy; });
  cause.copies = against([](const Sums& sums) { return sums.copies; });
  cause.kernels = against([](const Sums& sums) { return sums.kernels; });
  cause.idle = against([](const Sums& sums) { return sums.length - sums.busy; });
  for (std::size_t kind = 0; kind < cause.spent.size(); ++kind)
    cause.spent[kind] = against([&](const Sums& sums) { return sums.spent[kind]; });
  std::vector<KernelExcess> kernels;
  for (const auto& [kernel, here] : own.by_kernel) {
    const auto of = [&](const Sums& sums) {
      const auto found = sums.by_kernel.find(kernel);
      return found == sums.by_kernel.end() ? Sums::OfKernel{} : found->second;
    };
    kernels.push_back(
        {.kernel = kernel,
         .dispatches = here.time.dispatches,
         .median_dispatches = static_cast<std::uint64_t>(median([&](const Sums& sums) {
           return static_cast<std::int64_t>(of(sums).time.dispatches);
         })),
         .time = here.time.time,
         .median_time = median([&](const Sums& sums) { return of(sums).time.time; }),
         .median_at_most = median(
             [&](const Sums& sums) { return of(sums).time.time + sums.room - of(sums).room; })});
  }
  const auto top = std::ranges::max_element(
      kernels, {}, [](const KernelExcess& one) { return one.time - one.median_at_most; });
  if (top != kernels.end()) cause.kernel = *top;
  judge(kernels, cause);
  return cause;
}

std::vector<Cause> CauseFinder::causes() const {
  std::vector<Cause> out;
  for (const Straggler& straggler : stragglers_) out.push_back(cause_of(straggler));
  return out;
}

}  // namespace perflab::ranks
