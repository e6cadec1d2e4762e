// From summaries to one graph. Weights inside a rank are of its own clock; with its drift they are
// corrected so that the recorded schedule, aligned, is the graph's.
#include "ranks/path/job_graph.h"

#include "stats/median.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace perflab::ranks {
namespace {

/// Hubs follow the vertices of all ranks, of which the number is not known before.
constexpr VertexId kHubPlaceholder = 0x8000'0000;

std::unexpected<Error> contradiction(const RankSummary& summary, std::string_view what) {
  return fail(ErrorCode::bad_input,
              fmt::format("the summary of '{}' contradicts itself: {}", summary.file, what),
              "make it anew with rocm-perf rank-summary");
}

/// Recorded times of all vertices of a rank, on its own clock.
Result<std::vector<std::int64_t>> recorded_times(const RankSummary& summary,
                                                 const LocalGraph& graph) {
  const auto collectives = static_cast<std::uint32_t>(summary.collectives.size());
  std::vector<std::int64_t> time(summary.end_vertex() + std::size_t{1} + graph.inner, kNever);
  time[0] = summary.begin;
  for (std::uint32_t k = 0; k < collectives; ++k)
    time[summary.exit_vertex(k)] = summary.collectives[k].exit;
  for (const LocalGraph::Edge& edge : graph.edges) {
    if (edge.from >= time.size() || edge.to >= time.size() || time[edge.from] == kNever)
      return contradiction(summary, "an edge of its graph leads from nowhere");
    if (edge.to == 0 || (edge.to < summary.end_vertex() && edge.to % 2 == 0))
      return contradiction(summary, "its graph leads to its begin, or to an exit");
    time[edge.to] = std::max(time[edge.to], time[edge.from] + edge.weight);
  }
  for (std::uint32_t k = 0; k < collectives; ++k)
    if (time[summary.entry_vertex(k)] != summary.collectives[k].entry)
      return contradiction(summary, fmt::format("its graph denies the entry of collective {}", k));
  if (time[summary.end_vertex()] != summary.end)
    return contradiction(summary, "its graph denies its end");
  return time;
}

std::int64_t scaled(std::int64_t time, double factor) {
  return factor == 1 ? time : std::llround(static_cast<double>(time) * factor);
}

}  // namespace

Result<JobGraph> JobGraph::make(const Joints& joints, const JobChanges& changes) {
  JobGraph graph(joints);
  const PathInput& input = joints.input();
  graph.base_.assign(input.ranks.size(), kNoVertex);
  graph.begin_ = std::numeric_limits<std::int64_t>::max();
  graph.find_expected(changes);
  std::size_t collectives = 0;
  for (const RankSummary& rank : input.ranks) collectives += rank.collectives.size();
  graph.dag_.reserve(2 * input.ranks.size() + 3 * collectives + input.matching.operations.size(),
                     2 * input.ranks.size() + 8 * collectives);
  for (RankIndex rank = 0; rank < input.ranks.size(); ++rank) {
    if (!joints.taken()[rank]) continue;
    graph.base_[rank] = static_cast<VertexId>(graph.dag_.vertices());
    graph.starts_.push_back({.vertex = graph.base_[rank], .rank = rank});
    graph.begin_ = std::min(graph.begin_, input.clocks.aligned(rank, input.ranks[rank].begin));
    if (changes.balance || changes.median == rank)
      graph.add_simple_rank(rank, changes);
    else
      PERFLAB_TRY_VOID(graph.add_rank(rank, changes));
  }
  graph.add_hubs();
  return graph;
}

void JobGraph::find_expected(const JobChanges& changes) {
  if (!changes.balance && !changes.median) return;
  std::vector<std::int64_t> tails;
  std::int64_t sum = 0;
  for (RankIndex rank = 0; rank < base_.size(); ++rank) {
    if (!joints_->taken()[rank] || changes.median == rank) continue;
    tails.push_back(joints_->tail(rank));
    sum += tails.back();
  }
  if (changes.median) {
    tail_ = tails.empty() ? joints_->tail(*changes.median) : stats::middle_of(tails);
    return;
  }
  tail_ = tails.empty() ? 0 : rounded_mean(sum, tails.size());
  const auto operations = static_cast<std::uint32_t>(joints_->input().matching.operations.size());
  for (std::uint32_t i = 0; i < operations; ++i) mean_gap_.push_back(joints_->mean_gap(i));
}

void JobGraph::add_exit(RankIndex rank, std::uint32_t collective, const JobChanges& changes) {
  const Joint joint = joints_->joint(rank, collective);
  std::int64_t time = joints_->transfer(rank, collective);
  bool waits = joint.waits;
  if (joint.comes || joint.waits) {  // others' times may hold waiting
    const Matched& matched = joints_->input().matching.operations[joint.operation];
    const auto kind = static_cast<std::size_t>(matched.kind);
    // So may these, for a rank that was not recorded.
    if (matched.complete) time = scaled(time, changes.transfer[kind]);
    waits = waits && !changes.no_wait[kind];
  }
  dag_.add_vertex();
  if (waits) dag_.add_edge(kHubPlaceholder + joint.operation, time);
  if (!waits || !joint.comes)
    dag_.add_edge(base_[rank] + joints_->input().ranks[rank].entry_vertex(collective), time);
}

Result<void> JobGraph::add_rank(RankIndex rank, const JobChanges& changes) {
  const PathInput& input = joints_->input();
  const RankSummary& summary = input.ranks[rank];
  PERFLAB_TRY(const LocalGraph graph, input.load_graph(rank));
  PERFLAB_TRY(const std::vector<std::int64_t> time, recorded_times(summary, graph));
  std::size_t lane = summary.scenarios.size();
  if (changes.scenario && changes.scenario_rank.value_or(rank) == rank)
    lane = static_cast<std::size_t>(std::ranges::find(summary.scenarios, *changes.scenario) -
                                    summary.scenarios.begin());
  const bool as_recorded = lane == summary.scenarios.size();
  // Edges by the vertex that they go into.
  std::vector<std::uint32_t> first(time.size() + 1, 0);
  for (const LocalGraph::Edge& edge : graph.edges) ++first[edge.to + std::size_t{1}];
  for (std::size_t v = 0; v < time.size(); ++v) first[v + 1] += first[v];
  std::vector<std::uint32_t> by_target(graph.edges.size());
  for (std::uint32_t i = 0; i < graph.edges.size(); ++i) by_target[first[graph.edges[i].to]++] = i;
  const auto drift = [&](const LocalGraph::Edge& edge) {
    const std::int64_t from = time[edge.from], to = time[edge.to];
    return input.clocks.aligned(rank, to) - input.clocks.aligned(rank, from) - (to - from);
  };
  for (std::uint32_t v = 0, next = 0; v < time.size(); ++v) {
    if (v != 0 && v % 2 == 0 && v < summary.end_vertex()) {
      add_exit(rank, (v - 2) / 2, changes);
      continue;
    }
    dag_.add_vertex(v == 0 ? input.clocks.aligned(rank, summary.begin) : kNever);
    for (; next < first[v]; ++next) {  // `first` has moved to the vertex's last edge
      const LocalGraph::Edge& edge = graph.edges[by_target[next]];
      if (!as_recorded && edge.scenarios.size() != summary.scenarios.size())
        return contradiction(summary, "its graph lacks scenarios");
      const std::int64_t weight = as_recorded ? edge.weight : edge.scenarios[lane];
      if (weight != kNoPath) dag_.add_edge(base_[rank] + edge.from, weight + drift(edge));
    }
  }
  return {};
}

std::int64_t JobGraph::expected_gap(RankIndex rank, std::uint32_t collective,
                                    const JobChanges& changes) const {
  const std::uint32_t operation = joints_->joint(rank, collective).operation;
  const std::int64_t own = joints_->gap(rank, collective);
  if (operation == kNoOperation) return own;
  if (!changes.median) return mean_gap_[operation];
  std::vector<std::int64_t> others;
  for (const Member& member : joints_->input().matching.operations[operation].members)
    if (member.rank != rank) others.push_back(joints_->gap(member.rank, member.collective));
  return others.empty() ? own : stats::middle_of(others);
}

void JobGraph::add_simple_rank(RankIndex rank, const JobChanges& changes) {
  const PathInput& input = joints_->input();
  const RankSummary& summary = input.ranks[rank];
  const VertexId base = base_[rank];
  const auto after = [&](std::uint32_t previous, std::int64_t gap) {
    dag_.add_edge(previous == kNoOperation ? base : base + summary.exit_vertex(previous), gap);
  };
  dag_.add_vertex(input.clocks.aligned(rank, summary.begin));
  for (std::uint32_t k = 0; k < summary.collectives.size(); ++k) {
    dag_.add_vertex();
    after(joints_->previous(rank, k), expected_gap(rank, k, changes));
    add_exit(rank, k, changes);
  }
  dag_.add_vertex();
  const std::uint32_t last = joints_->last(rank);
  after(last, tail_);
  for (std::uint32_t k = 0; k < summary.collectives.size(); ++k)
    if (k != last) after(k, 0);
}

void JobGraph::add_hubs() {
  const PathInput& input = joints_->input();
  hubs_ = static_cast<VertexId>(dag_.vertices());
  for (const Matched& matched : input.matching.operations) {
    dag_.add_vertex();
    for (const Member& member : matched.members)
      if (joints_->taken()[member.rank] && joints_->joint(member.rank, member.collective).comes)
        dag_.add_edge(vertex(member.rank, input.ranks[member.rank].entry_vertex(member.collective)),
                      0);
  }
  dag_.resolve(kHubPlaceholder, hubs_);
}

bool JobGraph::solve() {
  circle_ = dag_.sort();
  if (circle_ != kNoVertex) return false;
  dag_.run_forward();
  return true;
}

JobGraph::Place JobGraph::place(VertexId vertex) const {
  if (vertex >= hubs_) return {.hub = true, .rank = 0, .local = vertex - hubs_};
  const auto next = std::ranges::upper_bound(starts_, vertex, {}, &Start::vertex);
  const RankIndex rank = std::prev(next)->rank;
  return {.hub = false, .rank = rank, .local = vertex - base_[rank]};
}

Member JobGraph::circle() const {
  const Place at = place(circle_);
  if (at.hub) return joints_->input().matching.operations[at.local].members.front();
  const auto collectives =
      static_cast<std::uint32_t>(joints_->input().ranks[at.rank].collectives.size());
  const std::uint32_t collective = at.local == 0 ? 0 : (at.local - 1) / 2;
  return {.rank = at.rank, .collective = std::min(collective, collectives - 1)};
}

std::vector<VertexId> JobGraph::ends() const {
  std::vector<VertexId> ends;
  for (RankIndex rank = 0; rank < base_.size(); ++rank)
    if (base_[rank] != kNoVertex)
      ends.push_back(vertex(rank, joints_->input().ranks[rank].end_vertex()));
  return ends;
}

std::int64_t JobGraph::end() const {
  std::int64_t end = kNever;
  for (const VertexId vertex : ends()) end = std::max(end, dag_.time(vertex));
  return end;
}

}  // namespace perflab::ranks
