// Contraction and the path across ranks at scale. `contract DISPATCHES SCENARIOS`: a made-up
// training step on one rank, contracted, against solving its graph once (slack of every node).
// `path RANKS COLLECTIVES`: made-up summaries joined and solved. A JSON line with seconds, peak
// memory and sizes. Seconds are those of the processor.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include "analyze/critical_path/bindings.h"
#include "analyze/critical_path/solve.h"
#include "base/random.h"
#include "ranks/contract/contract.h"
#include "ranks/path/path.h"

namespace {

using namespace perflab;

/// Of the processor: what else the machine does hardly counts.
double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}
double seconds_since(double begin) {
  return processor_seconds() - begin;
}

std::int64_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

/// A rank that launches ahead: two streams, a collective behind every 33rd kernel, work that waits
/// for the collective before the last, a synchronisation every 3300 kernels.
class MadeUpRank {
 public:
  explicit MadeUpRank(std::uint32_t dispatches) {
    graph.first_edge.push_back(0);
    for (std::uint32_t i = 0; i < dispatches; ++i) {
      launch(i);
      if (i % 33 == 32) communicate();
      if (i % 3300 == 3299) synchronise();
    }
    analyze::measure_usual_lags(graph);
  }

  analyze::Graph graph;
  std::vector<std::uint32_t> collective_of;
  std::vector<ranks::Name> kernel_of;
  std::uint32_t collectives = 0;

 private:
  using Edge = std::pair<analyze::NodeId, analyze::EdgeRule>;

  analyze::NodeId add(analyze::NodeKind kind, std::int64_t start, std::int64_t length,
                      const std::vector<Edge>& edges) {
    const auto node = static_cast<analyze::NodeId>(graph.size());
    graph.start.push_back(start);
    graph.end.push_back(start + length);
    graph.kind_row.push_back(static_cast<std::uint32_t>(kind) << analyze::Graph::kRowBits);
    for (const auto& [from, rule] : edges) {
      if (from == analyze::kNoNode) continue;
      graph.from.push_back(from);
      graph.rule.push_back(rule);
    }
    graph.first_edge.push_back(static_cast<std::uint32_t>(graph.from.size()));
    collective_of.push_back(ranks::kNoCollective);
    kernel_of.push_back(ranks::kNoName);
    return node;
  }
  [[nodiscard]] std::int64_t end_of(analyze::NodeId node) const {
    return node == analyze::kNoNode ? 0 : graph.end[node];
  }
  std::int64_t draw(std::uint64_t most) { return static_cast<std::int64_t>(random_.next() % most); }

  void call(std::int64_t length) {
    host_ = add(analyze::NodeKind::call, end_of(host_) + 300 + draw(500), length,
                {{host_, analyze::EdgeRule::program_order}});
  }
  void launch(std::uint32_t i) {
    call(3000 + draw(1000));
    const std::int64_t ready = std::max({end_of(host_), end_of(compute_), end_of(awaited_)});
    std::vector<Edge> edges = {{host_, analyze::EdgeRule::launch},
                               {compute_, analyze::EdgeRule::stream_order},
                               {compute_, analyze::EdgeRule::queue_order}};
    if (awaited_ != analyze::kNoNode) edges.emplace_back(awaited_, analyze::EdgeRule::event_wait);
    awaited_ = analyze::kNoNode;
    compute_ = add(analyze::NodeKind::dispatch, ready + 1000 + draw(800), 4000 + draw(9000), edges);
    kernel_of[compute_] = i % 40;
  }
  void communicate() {
    call(4000);
    const std::int64_t ready = std::max({end_of(host_), end_of(compute_), end_of(last_)});
    awaited_ = last_;
    last_ = add(analyze::NodeKind::dispatch, ready + 2000, 60000 + draw(60000),
                {{host_, analyze::EdgeRule::launch},
                 {last_, analyze::EdgeRule::stream_order},
                 {compute_, analyze::EdgeRule::event_wait}});
    collective_of[last_] = collectives++;
  }
  void synchronise() {
    const std::int64_t start = end_of(host_) + 500;
    const std::int64_t end = std::max({start, end_of(compute_), end_of(last_)}) + 5000;
    host_ = add(analyze::NodeKind::call, start, end - start,
                {{host_, analyze::EdgeRule::program_order},
                 {compute_, analyze::EdgeRule::device_sync},
                 {last_, analyze::EdgeRule::device_sync}});
  }

  SplitMix64 random_{7};
  analyze::NodeId host_ = analyze::kNoNode, compute_ = analyze::kNoNode, last_ = analyze::kNoNode,
                  awaited_ = analyze::kNoNode;
};

int run_contract(std::uint32_t dispatches, std::size_t scenarios) {
  const MadeUpRank rank(dispatches);
  const std::int64_t before = peak_bytes();
  auto begin = processor_seconds();
  const std::int64_t slack = analyze::slack(rank.graph).back();
  const double solve = seconds_since(begin);
  std::vector<std::uint16_t> node_class(rank.graph.size(), 0);
  for (std::size_t node = 0; node < node_class.size(); ++node)
    if (rank.kernel_of[node] != ranks::kNoName) node_class[node] = rank.kernel_of[node] % 4;
  std::vector<analyze::Scenario> all(scenarios);
  for (analyze::Scenario& scenario : all) scenario.changes = {{}, {.factor = 0.5, .plus = 0}};
  begin = processor_seconds();
  const ranks::LocalGraph local = ranks::contract({.graph = rank.graph,
                                                   .collective_of = rank.collective_of,
                                                   .collectives = rank.collectives,
                                                   .kernel_of = rank.kernel_of,
                                                   .node_class = node_class,
                                                   .scenarios = all});
  const double contract = seconds_since(begin);
  fmt::print(
      "{{\"dispatches\": {}, \"nodes\": {}, \"edges\": {}, \"collectives\": {}, \"kept_edges\": "
      "{}, "
      "\"inner\": {}, \"solve_s\": {:.4f}, \"contract_s\": {:.4f}, \"ratio\": {:.2f}, "
      "\"graph_peak\": {}, \"peak\": {}, \"last_slack\": {}}}\n",
      dispatches, rank.graph.size(), rank.graph.from.size(), rank.collectives, local.edges.size(),
      local.inner, solve, contract, contract / solve, before, peak_bytes(), slack);
  return 0;
}

/// Work of a rank before a collective, the same at every asking.
std::int64_t work(std::uint32_t rank, std::uint32_t collective) {
  return 400'000 + static_cast<std::int64_t>(
                       SplitMix64((std::uint64_t{rank} << 32) | collective).next() % 100'000);
}

int run_path(std::uint32_t count, std::uint32_t collectives) {
  std::vector<ranks::RankSummary> all(count);
  ranks::Matching matching;
  std::vector<std::int64_t> at(count, 0);
  for (ranks::RankSummary& rank : all) rank.collectives.resize(collectives);
  for (std::uint32_t k = 0; k < collectives; ++k) {
    ranks::Matched matched{.group = 0, .kind = ranks::CollectiveKind::all_reduce};
    std::int64_t arrival = 0;
    for (std::uint32_t r = 0; r < count; ++r) {
      all[r].collectives[k].entry = at[r] + work(r, k);
      arrival = std::max(arrival, all[r].collectives[k].entry);
      matched.members.push_back({.rank = r, .collective = k});
    }
    for (std::uint32_t r = 0; r < count; ++r)
      at[r] = all[r].collectives[k].exit = arrival + 30'000 + (r * 7 + k) % 2000;
    matching.operations.push_back(std::move(matched));
  }
  ranks::Clocks clocks;
  clocks.zones = 1;
  clocks.ranks.resize(count);
  for (std::uint32_t r = 0; r < count; ++r) all[r].end = at[r] + 1000;
  const auto load = [&](ranks::RankIndex rank) -> Result<ranks::LocalGraph> {
    // Six edges a collective (a contracted training step has 5.7): five that do not bind.
    ranks::LocalGraph graph;
    const std::uint32_t end = all[rank].end_vertex();
    graph.order.push_back(0);
    for (std::uint32_t k = 0; k < collectives; ++k) {
      const std::uint32_t entry = 1 + 2 * k, before = 2 * k;
      const std::int64_t from = k == 0 ? 0 : all[rank].collectives[k - 1].exit;
      graph.edges.push_back(
          {.from = before, .to = entry, .weight = all[rank].collectives[k].entry - from});
      for (std::uint32_t back = 1; back <= 5 && k > back; ++back)
        graph.edges.push_back({.from = before - 2 * back, .to = entry, .weight = 1000});
      graph.order.push_back(entry);
      graph.order.push_back(entry + 1);
    }
    graph.edges.push_back({.from = end - 1, .to = end, .weight = 1000});
    graph.order.push_back(end);
    return graph;
  };
  const std::int64_t before = peak_bytes();
  const auto begin = processor_seconds();
  const auto path = ranks::find_job_path({.ranks = all,
                                          .matching = matching,
                                          .clocks = clocks,
                                          .load_graph = load,
                                          .what_if = {*ranks::parse_rank_what_if("transfer=2x")}});
  if (!path) {
    fmt::print(stderr, "{}\n", path.error().message);
    return 1;
  }
  const std::int64_t peak = peak_bytes();
  fmt::print(
      "{{\"ranks\": {}, \"collectives\": {}, \"seconds\": {:.3f}, \"input_peak\": {}, \"peak\": "
      "{}, "
      "\"bytes_a_member\": {:.1f}, \"hops\": {}, \"makespan_ns\": {}, \"gain_ns\": {}}}\n",
      count, collectives, seconds_since(begin), before, peak,
      static_cast<double>(peak - before) / (static_cast<double>(count) * collectives),
      path->hops.size(), path->makespan(), *path->what_if[0].gain);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc == 4 ? argv[1] : "";
  const auto number = [&](int i) { return static_cast<std::uint32_t>(std::atoi(argv[i])); };
  if (mode == "contract") return run_contract(number(2), number(3));
  if (mode == "path") return run_path(number(2), number(3));
  std::fputs("usage: bench_ranks_path contract DISPATCHES SCENARIOS | path RANKS COLLECTIVES\n",
             stderr);
  return 2;
}
