// The path: solve the graph of all ranks, walk back from the latest end, ask the ranks on the path
// for what their stretches were spent on. What-if: the graph again, with its changes.
#include "ranks/path/path.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "ranks/path/job_graph.h"
#include "ranks/path/joints.h"
#include "ranks/values/numbering.h"

namespace perflab::ranks {
namespace {

/// The zone with the most ranks, the first of several.
std::uint32_t largest_zone(const Clocks& clocks) {
  std::vector<std::size_t> ranks(clocks.zones, 0);
  for (const RankClock& clock : clocks.ranks) ++ranks.at(clock.zone);
  return ranks.empty()
             ? 0
             : static_cast<std::uint32_t>(std::ranges::max_element(ranks) - ranks.begin());
}

/// A rank as people write it: its number, or its place where not each has one of its own.
std::int64_t number_of(const PathInput& input, RankIndex rank) {
  return number_each(input.ranks) ? *input.ranks[rank].identity.facts.rank : std::int64_t{rank};
}

std::string rank_text(const PathInput& input, RankIndex rank) {
  return fmt::format("rank {}", number_of(input, rank));
}

Result<RankIndex> rank_numbered(const PathInput& input, const RankWhatIf& what_if) {
  const bool numbered = number_each(input.ranks);
  for (RankIndex rank = 0; rank < input.ranks.size(); ++rank)
    if ((numbered ? *input.ranks[rank].identity.facts.rank : std::int64_t{rank}) == *what_if.rank)
      return rank;
  return fail(ErrorCode::usage,
              fmt::format("what-if '{}': there is no rank {}", what_if.text, *what_if.rank),
              "the table of ranks shows their numbers");
}

Result<JobChanges> changes_of(const PathInput& input, const RankWhatIf& what_if) {
  JobChanges changes;
  std::optional<RankIndex> rank;
  if (what_if.rank) {
    PERFLAB_TRY(rank, rank_numbered(input, what_if));
  }
  const auto is_meant = [&](std::size_t kind) {
    return !what_if.kind || static_cast<std::size_t>(*what_if.kind) == kind;
  };
  switch (what_if.target) {
    case RankWhatIf::Target::scenario:
      for (const RankSummary& summary : input.ranks)
        if (std::ranges::find(summary.scenarios, what_if.scenario) == summary.scenarios.end())
          return fail(
              ErrorCode::usage,
              fmt::format("what-if '{}': the summary of '{}' does not have it", what_if.text,
                          summary.file),
              fmt::format("rocm-perf rank-summary FILES -o DIR --what-if '{}'", what_if.scenario));
      changes.scenario = what_if.scenario;
      changes.scenario_rank = rank;
      break;
    case RankWhatIf::Target::balance:
      changes.balance = true;
      break;
    case RankWhatIf::Target::median:
      changes.median = rank;
      break;
    case RankWhatIf::Target::transfer:
      for (std::size_t kind = 0; kind < kCollectiveKinds; ++kind)
        if (is_meant(kind)) changes.transfer[kind] = what_if.factor;
      break;
    case RankWhatIf::Target::no_wait:
      for (std::size_t kind = 0; kind < kCollectiveKinds; ++kind)
        if (is_meant(kind)) changes.no_wait[kind] = true;
      break;
  }
  return changes;
}

/// Edges of a rank's graph that a hop goes over, last first.
struct PathStretch {
  std::size_t hop = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;  ///< from, to
};

/// Walks from the latest end back to the begin.
class JobWalk {
 public:
  JobWalk(const PathInput& input, const JobGraph& graph, JobPath& path)
      : input_(input), graph_(graph), dag_(graph.dag()), path_(path) {}

  /// Hops from the begin to the end, without what they were spent on; stretches by rank.
  std::map<RankIndex, std::vector<PathStretch>> run() {
    const std::vector<VertexId> ends = graph_.ends();
    VertexId at =
        *std::ranges::max_element(ends, {}, [this](VertexId vertex) { return dag_.time(vertex); });
    while (at != kNoVertex) at = collective(work(at));
    std::ranges::reverse(path_.hops);
    for (auto& [rank, stretches] : stretches_)
      for (PathStretch& stretch : stretches) stretch.hop = path_.hops.size() - 1 - stretch.hop;
    return std::move(stretches_);
  }

 private:
  /// Back over a rank's own edges: to the exit that it came from, or kNoVertex at its begin.
  VertexId work(VertexId at) {
    const JobGraph::Place place = graph_.place(at);
    const std::uint32_t end = input_.ranks[place.rank].end_vertex();
    Hop hop;
    hop.rank = hop.from_rank = place.rank;
    hop.to = dag_.time(at);
    if (place.local < end) {
      hop.member = (place.local - 1) / 2;
      hop.operation = graph_.joint(place.rank, *hop.member).operation;
    }
    PathStretch stretch{.hop = path_.hops.size(), .edges = {}};
    std::uint32_t local = place.local;
    const auto is_exit = [&] { return local != 0 && local < end && local % 2 == 0; };
    while (!is_exit()) {
      const std::uint32_t edge = dag_.binding(at);
      if (edge == Dag::kNoEdgeInto) break;
      at = dag_.from(edge);
      const std::uint32_t before = graph_.place(at).local;
      stretch.edges.emplace_back(before, local);
      local = before;
    }
    // Before the begin of a rank's recording there is nothing but time.
    hop.from = is_exit() ? dag_.time(at) : graph_.begin();
    hop.spent[static_cast<std::size_t>(analyze::Spent::idle)] =
        is_exit() ? 0 : dag_.time(at) - hop.from;
    path_.hops.push_back(hop);
    stretches_[place.rank].push_back(std::move(stretch));
    return is_exit() ? at : kNoVertex;
  }

  /// Back over a collective: from an exit to the entry that it waited for.
  VertexId collective(VertexId exit) {
    if (exit == kNoVertex) return kNoVertex;
    const JobGraph::Place place = graph_.place(exit);
    Hop hop;
    hop.rank = hop.from_rank = place.rank;
    hop.collective = true;
    hop.member = (place.local - 2) / 2;
    hop.operation = graph_.joint(place.rank, *hop.member).operation;
    VertexId entry = dag_.from(dag_.binding(exit));
    if (graph_.place(entry).hub) {
      entry = dag_.from(dag_.binding(entry));
      hop.from_rank = graph_.place(entry).rank;
    }
    hop.from = dag_.time(entry);
    hop.to = dag_.time(exit);
    path_.hops.push_back(hop);
    return entry;
  }

  const PathInput& input_;
  const JobGraph& graph_;
  const Dag& dag_;
  JobPath& path_;
  std::map<RankIndex, std::vector<PathStretch>> stretches_;
};

/// Fills what the hops of one rank were spent on.
Result<void> explain_hops(const PathInput& input, RankIndex rank,
                          const std::vector<PathStretch>& stretches, JobPath& path) {
  PERFLAB_TRY(const LocalGraph graph, input.load_graph(rank));
  std::vector<std::uint32_t> by_ends(graph.edges.size());
  for (std::uint32_t i = 0; i < by_ends.size(); ++i) by_ends[i] = i;
  const auto ends = [&](std::uint32_t edge) {
    return std::pair{graph.edges[edge].from, graph.edges[edge].to};
  };
  std::ranges::sort(by_ends, {}, ends);
  for (const PathStretch& stretch : stretches) {
    Hop& hop = path.hops[stretch.hop];
    std::map<Name, std::int64_t> kernels;
    std::int64_t sum = hop.spent[static_cast<std::size_t>(analyze::Spent::idle)];
    for (const auto& wanted : stretch.edges) {
      const auto found = std::ranges::lower_bound(by_ends, wanted, {}, ends);
      if (found == by_ends.end() || ends(*found) != wanted)
        return fail(
            ErrorCode::bad_input,
            fmt::format("the summary of '{}' changed while it was read", input.ranks[rank].file),
            "run the command again");
      const LocalGraph::Edge& edge = graph.edges[*found];
      for (std::size_t i = 0; i < edge.spent.size(); ++i) hop.spent[i] += edge.spent[i];
      sum += edge.weight;
      if (edge.kernel != kNoName) kernels[edge.kernel] += edge.kernel_time;
    }
    // The rank's clock runs a little faster or slower than the reference's.
    *std::ranges::max_element(hop.spent) += hop.to - hop.from - sum;
    for (const auto& [kernel, time] : kernels)
      if (time > hop.kernel_time) {
        hop.kernel = kernel;
        hop.kernel_time = time;
      }
  }
  return {};
}

void add_ranks(JobPath& path) {
  std::map<RankIndex, RankOnPath> ranks;
  for (const Hop& hop : path.hops) {
    RankOnPath& rank = ranks[hop.rank];
    rank.rank = hop.rank;
    if (hop.collective) {
      rank.transfer += hop.to - hop.from;
      continue;
    }
    ++rank.hops;
    rank.work += hop.to - hop.from;
    for (std::size_t i = 0; i < hop.spent.size(); ++i) rank.spent[i] += hop.spent[i];
  }
  for (const auto& [number, rank] : ranks) path.ranks.push_back(rank);
  std::ranges::stable_sort(path.ranks, std::ranges::greater{}, &RankOnPath::work);
}

void add_slack(const PathInput& input, const JobGraph& graph, JobPath& path) {
  const std::vector<VertexId> ends = graph.ends();
  const std::vector<std::int64_t> latest = graph.dag().latest(ends);
  path.slack.resize(input.ranks.size());
  for (RankIndex rank = 0; rank < input.ranks.size(); ++rank) {
    if (!graph.is_taken(rank)) continue;
    const RankSummary& summary = input.ranks[rank];
    path.slack[rank].resize(summary.collectives.size());
    for (std::size_t k = 0; k < summary.collectives.size(); ++k) {
      const VertexId entry = graph.vertex(rank, summary.entry_vertex(k));
      path.slack[rank][k] = latest[entry] - graph.dag().time(entry);
    }
  }
}

/// What lies between the clocks at both ends of the path.
void add_error(const PathInput& input, const JobGraph& graph, JobPath& path) {
  RankIndex first = 0, last = path.hops.back().rank;
  for (RankIndex rank = 0; rank < input.ranks.size(); ++rank)
    if (graph.is_taken(rank) &&
        input.clocks.aligned(rank, input.ranks[rank].begin) == graph.begin()) {
      first = rank;
      break;
    }
  path.error = input.clocks.error(last, first, input.ranks[last].end);
}

Result<void> answer(const PathInput& input, const Joints& joints, JobPath& path) {
  for (const RankWhatIf& what_if : input.what_if) {
    RankWhatIfAnswer answer{.text = what_if.text, .makespan = {}, .gain = {}, .missing = {}};
    PERFLAB_TRY(const JobChanges changes, changes_of(input, what_if));
    if (changes.median && !joints.taken()[*changes.median]) {
      answer.missing = fmt::format("the clock of {} cannot be compared with the others'",
                                   rank_text(input, *changes.median));
    } else {
      PERFLAB_TRY(JobGraph graph, JobGraph::make(joints, changes));
      if (graph.solve()) {
        answer.makespan = graph.end() - graph.begin();
        answer.gain = path.makespan() - *answer.makespan;
      } else {
        answer.missing = "collectives of no length leave no order between them";
      }
    }
    path.what_if.push_back(std::move(answer));
  }
  return {};
}

/// The path itself, with slack; its graph is gone afterwards.
Result<void> find_path(const PathInput& input, const Joints& joints, JobPath& path) {
  PERFLAB_TRY(JobGraph graph, JobGraph::make(joints));
  if (!graph.solve()) {
    const Member member = graph.circle();
    return fail(ErrorCode::bad_input,
                fmt::format("the matched collectives would wait for each other in a circle, at "
                            "collective {} of {}",
                            member.collective, rank_text(input, member.rank)),
                "recordings of different runs, or one that starts elsewhere, match wrongly");
  }
  path.begin = graph.begin();
  path.end = graph.end();
  std::int64_t recorded = kNever;
  for (RankIndex rank = 0; rank < input.ranks.size(); ++rank)
    if (joints.taken()[rank])
      recorded = std::max(recorded, input.clocks.aligned(rank, input.ranks[rank].end));
  path.shifted = path.end - recorded;
  const std::map<RankIndex, std::vector<PathStretch>> stretches = JobWalk(input, graph, path).run();
  add_error(input, graph, path);
  add_slack(input, graph, path);
  for (const auto& [rank, of_rank] : stretches)
    PERFLAB_TRY_VOID(explain_hops(input, rank, of_rank, path));
  return {};
}

}  // namespace

Result<JobPath> find_job_path(const PathInput& input) {
  JobPath path;
  if (input.ranks.empty()) return path;
  path.zone = largest_zone(input.clocks);
  std::vector<bool> taken(input.ranks.size(), false);
  for (RankIndex rank = 0; rank < input.ranks.size(); ++rank) {
    taken[rank] = input.clocks.ranks.at(rank).zone == path.zone;
    if (!taken[rank]) path.left_out.push_back(rank);
  }
  Joints joints(input, taken);
  path.residuals = joints.residuals;
  path.residual_count = joints.residual_count;
  PERFLAB_TRY_VOID(find_path(input, joints, path));
  add_ranks(path);
  const bool stretches_change = std::ranges::any_of(input.what_if, [](const RankWhatIf& what_if) {
    return what_if.target == RankWhatIf::Target::balance ||
           what_if.target == RankWhatIf::Target::median;
  });
  if (stretches_change) joints.find_previous();
  PERFLAB_TRY_VOID(answer(input, joints, path));
  return path;
}

}  // namespace perflab::ranks
