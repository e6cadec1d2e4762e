// The order of the work: one machine is chosen, its graph built, then everything that is reported
// is added up from the graph, side by side as far as one figure does not need another.
#include "analyze/critical_path/critical_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <future>
#include <initializer_list>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "analyze/critical_path/bindings.h"
#include "analyze/critical_path/gains.h"
#include "analyze/critical_path/graph_input.h"
#include "analyze/critical_path/parallelism.h"
#include "analyze/critical_path/path_segments.h"
#include "base/bits.h"
#include "base/parallel.h"
#include "stats/grouped.h"
#include "stats/median.h"
#include "trace/api_calls.h"

namespace perflab::analyze {
namespace {

using trace::Index;
using trace::kNone;

/// First start and last end of what a machine's processes recorded in the scope.
struct Machine {
  Index node = kNone;
  std::set<Index> processes;
  std::uint64_t dispatches = 0;
  std::int64_t start = std::numeric_limits<std::int64_t>::max();
  std::int64_t end = std::numeric_limits<std::int64_t>::min();

  [[nodiscard]] std::int64_t span() const { return end > start ? end - start : 0; }
};

std::vector<Machine> find_machines(const trace::Trace& trace, const TimingScope& scope) {
  std::vector<Machine> machines(trace.nodes.size() + 1);  // the last: processes of no known one
  for (std::size_t i = 0; i + 1 < machines.size(); ++i) machines[i].node = static_cast<Index>(i);
  std::vector<Machine*> of_track;
  for (std::size_t i = 0; i < trace.tracks.size(); ++i) {
    const trace::Process& process = trace.processes[trace.tracks[i].process];
    Machine& machine = process.node == kNone ? machines.back() : machines[process.node];
    of_track.push_back(scope.track_counts[i] ? &machine : nullptr);
  }
  const auto extend = [&](const auto& rows, std::uint64_t dispatches) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Machine* const machine = of_track[rows.track[i]];
      if (machine == nullptr) continue;
      machine->start = std::min(machine->start, rows.start[i]);
      machine->end = std::max(machine->end, rows.end[i]);
      machine->dispatches += dispatches;
    }
  };
  for (std::size_t i = 0; i < trace.tracks.size(); ++i)
    if (of_track[i] != nullptr) of_track[i]->processes.insert(trace.tracks[i].process);
  const auto is_seen = [](const Machine& machine) { return !machine.processes.empty(); };
  if (std::ranges::count_if(machines, is_seen) > 1) {  // what one alone has nobody asks
    extend(trace.dispatches, 1);
    extend(trace.copies, 0);
  }
  std::erase_if(machines, [](const Machine& machine) { return machine.processes.empty(); });
  const auto identity = [&](const Machine& machine) {
    return machine.node == kNone ? trace::Node{} : trace.nodes[machine.node];
  };
  std::ranges::stable_sort(machines, [&](const Machine& a, const Machine& b) {
    if (a.span() != b.span()) return a.span() > b.span();
    if (a.dispatches != b.dispatches) return a.dispatches > b.dispatches;
    return std::pair{identity(a).machine_id, identity(a).hash} <
           std::pair{identity(b).machine_id, identity(b).hash};
  });
  return machines;
}

/// What the walk along the path adds up.
struct PathTotals {
  SpentTimes spent{};
  Bits on_path;                              ///< by node
  std::vector<std::int64_t> time_of_kernel;  ///< by name
};

PathTotals walk(const trace::Trace& trace, const Graph& graph, std::int64_t from, std::int64_t to,
                const PathPart* part) {
  PathTotals totals;
  totals.on_path = Bits(graph.size());
  totals.time_of_kernel.assign(trace.strings.size(), 0);
  walk_critical_path(graph, from, to, [&](const PathStep& step) {
    const std::int64_t time = step.to - step.from;
    totals.spent[static_cast<std::size_t>(step.spent)] += time;
    totals.on_path.set(step.node);
    if (step.via != kNoEdge) totals.on_path.set(graph.from[step.via]);
    if (step.spent == Spent::kernel && (part == nullptr || part->includes(graph, step.node)))
      totals.time_of_kernel[node_name(trace, graph, step.node)] += time;
  });
  return totals;
}

/// Visits the dispatches that count: visit(node, name of the kernel).
template <class Visit>
void each_dispatch(const trace::Trace& trace, const Graph& graph, const PathPart* part,
                   const Visit& visit) {
  for (NodeId node = 0; node < graph.size(); ++node)
    if (graph.kind(node) == NodeKind::dispatch && (part == nullptr || part->includes(graph, node)))
      visit(node, node_name(trace, graph, node));
}

/// Kernels by path time, then by their own time, then by name; slacks are not in it.
std::vector<KernelCriticality> kernels_of(const trace::Trace& trace, const Graph& graph,
                                          const PathTotals& totals, const PathPart* part) {
  std::vector<Index> place(trace.strings.size(), kNone);  // by name
  std::vector<KernelCriticality> kernels;
  each_dispatch(trace, graph, part, [&](NodeId node, Index name) {
    if (place[name] == kNone) {
      place[name] = static_cast<Index>(kernels.size());
      KernelCriticality& added = kernels.emplace_back();
      added.name = name;
      added.path_time = totals.time_of_kernel[name];
    }
    KernelCriticality& kernel = kernels[place[name]];
    ++kernel.dispatches;
    kernel.total += graph.end[node] - graph.start[node];
    if (totals.on_path[node]) ++kernel.on_path;
  });
  std::ranges::sort(kernels, [&](const KernelCriticality& a, const KernelCriticality& b) {
    if (a.path_time != b.path_time) return a.path_time > b.path_time;
    if (a.total != b.total) return a.total > b.total;
    return trace.strings.view(a.name) < trace.strings.view(b.name);
  });
  return kernels;
}

/// Slacks of a kernel's dispatches: how many have none, the least one, the lower median; ns.
struct SlackFigures {
  std::uint64_t none = 0;
  std::int64_t least = 0, median = 0;
};

/// Figures of the kernels that are wanted, by name. `Value` holds slacks up to its largest number,
/// which stands for longer ones as well.
template <class Value, class Wanted>
void find_slacks(const trace::Trace& trace, const Graph& graph,
                 const PackedColumn<std::int64_t>& slack, const PathPart* part,
                 const Wanted& wanted, std::vector<SlackFigures>& figures) {
  const auto each = [&](const auto& visit) {
    each_dispatch(trace, graph, part, [&](NodeId node, Index name) {
      if (wanted(figures[name])) visit(node, name);
    });
  };
  std::vector<std::size_t> counts(figures.size(), 0);  // by name
  each([&](NodeId, Index name) { ++counts[name]; });
  stats::GroupedValues<Value> slacks(counts);
  each([&](NodeId node, Index name) {
    slacks.add(name, static_cast<Value>(
                         std::min(slack[node], std::int64_t{std::numeric_limits<Value>::max()})));
  });
  for (std::size_t name = 0; name < figures.size(); ++name) {
    const std::span own = slacks.of(name);
    if (own.empty()) continue;
    figures[name].none = static_cast<std::uint64_t>(std::ranges::count(own, Value{0}));
    figures[name].median = stats::lower_median(own);
    figures[name].least = std::ranges::min(own);
  }
}

/// By name of the kernel. In 4 bytes each, half of the memory; in 8 where half of a kernel's are
/// longer than 4.3 s.
std::vector<SlackFigures> slacks_of_kernels(const trace::Trace& trace, const Graph& graph,
                                            const PackedColumn<std::int64_t>& slack,
                                            const PathPart* part) {
  constexpr std::int64_t kLong = std::numeric_limits<std::uint32_t>::max();
  const auto is_long = [](const SlackFigures& kernel) { return kernel.median >= kLong; };
  std::vector<SlackFigures> figures(trace.strings.size());
  find_slacks<std::uint32_t>(
      trace, graph, slack, part, [](const SlackFigures&) { return true; }, figures);
  if (std::ranges::any_of(figures, is_long))
    find_slacks<std::int64_t>(trace, graph, slack, part, is_long, figures);
  return figures;
}

NodeRow row_of(const Graph& graph, NodeId node) {
  if (node == kNoNode) return {};
  return {.kind = graph.kind(node), .row = graph.row(node)};
}

/// Finds what each bubble waited for.
void explain_bubbles(const Graph& graph, CriticalPath& result) {
  for (Bubble& bubble : result.bubbles) {
    std::map<Index, std::int64_t> calls;
    walk_back(graph, bubble.after, bubble.from, [&](const PathStep& step) {
      const std::int64_t time = step.to - step.from;
      bubble.spent[static_cast<std::size_t>(step.spent)] += time;
      if (time == 0) return;
      if (step.spent == Spent::host_call || step.spent == Spent::sync_return)
        calls[graph.row(step.node)] += time;
      else if (step.spent == Spent::launch_latency)
        calls[graph.row(graph.from[step.via])] += time;
    });
    const auto largest = std::ranges::max_element(bubble.spent);
    bubble.cause = static_cast<Spent>(largest - bubble.spent.begin());
    for (const auto& [call, time] : calls)
      if (time > bubble.call_time) {
        bubble.call = call;
        bubble.call_time = time;
      }
    bubble.first_launch = bubble.call != kNone && result.first_launches.contains(bubble.call);
    bubble.before_row = row_of(graph, bubble.before);
    bubble.after_row = row_of(graph, bubble.after);
    bubble.from -= result.begin;
    bubble.to -= result.begin;
  }
}

std::vector<SlackRow> most_slack(const Graph& graph, const PackedColumn<std::int64_t>& slack,
                                 std::size_t most, const PathPart* part) {
  std::vector<SlackRow> rows;
  const auto more = [](const SlackRow& a, const SlackRow& b) {
    return std::pair{-a.slack, a.node} < std::pair{-b.slack, b.node};
  };
  for (NodeId node = 0; node < graph.size(); ++node) {
    if (is_call(graph.kind(node)) || slack[node] == 0) continue;
    if (part != nullptr && !part->includes(graph, node)) continue;
    const SlackRow row{.node = node, .slack = slack[node], .row = row_of(graph, node)};
    if (rows.size() == most && (most == 0 || !more(row, rows.back()))) continue;
    if (rows.size() == most) rows.pop_back();
    rows.insert(std::ranges::upper_bound(rows, row, more), row);
  }
  return rows;
}

/// The first launch of every kernel in a CUDA process, and the durations of the other launches.
FirstLaunches find_first_launches(const trace::Trace& trace, const TimingScope& scope,
                                  const CriticalPath& path) {
  constexpr std::int64_t kLong = 10;
  std::set<std::pair<Index, Index>> known;  // process, kernel's name
  std::vector<Index> first;
  std::vector<std::int64_t> others;
  Index last = kNone;  // a graph's dispatches name one call
  for (std::size_t i = 0; i < trace.dispatches.size(); ++i) {
    const Index track = trace.dispatches.track[i], call = trace.dispatches.launch[i];
    const Index process = trace.tracks[track].process;
    if (call == kNone || !scope.track_counts[track] || trace.processes[process].node != path.node ||
        trace.platform_of_process(process) != trace::Platform::cuda)
      continue;
    const Index name = trace.kernel_symbols[trace.dispatches.kernel[i]].name;
    const bool is_first = known.emplace(process, name).second;
    if (trace::is_graph_launch(trace.strings.view(trace.regions.name[call]))) continue;
    if (is_first)
      first.push_back(call);
    else if (call != last)
      others.push_back(trace.regions.end[call] - trace.regions.start[call]);
    last = call;
  }
  FirstLaunches found;
  if (others.empty()) return found;
  found.usual = stats::lower_median(others);
  std::ranges::sort(first);
  for (const Index call : first) {
    const std::int64_t start = trace.regions.start[call], end = trace.regions.end[call];
    if (end - start <= kLong * found.usual || !path.shows(start, end)) continue;
    found.calls.push_back(call);
    found.time += end - start;
  }
  return found;
}

/// The platform of the processes in the path's machine.
trace::Platform platform_of(const trace::Trace& trace, const TimingScope& scope, Index node) {
  bool cuda = false;
  for (std::size_t i = 0; i < trace.processes.size(); ++i) {
    const trace::Process& process = trace.processes[i];
    if (process.node != node || process.source == kNone || !scope.source_counts[process.source])
      continue;
    if (trace.sources[process.source].platform != trace::Platform::cuda)
      return trace::Platform::amd;
    cuda = true;
  }
  return cuda ? trace::Platform::cuda : trace::Platform::amd;
}

/// The machine that the path is of, and what else there is.
void choose_machine(const std::vector<Machine>& machines, const PathPart* part,
                    CriticalPath& result) {
  if (machines.empty()) return;
  std::size_t chosen = 0;
  for (std::size_t i = 0; i < machines.size() && part != nullptr; ++i)
    if (machines[i].node == part->node) chosen = i;
  result.node = machines[chosen].node;
  result.processes = machines[chosen].processes.size();
  for (std::size_t i = 0; i < machines.size(); ++i)
    if (i != chosen)
      result.other_nodes.push_back({.node = machines[i].node,
                                    .processes = machines[i].processes.size(),
                                    .dispatches = machines[i].dispatches,
                                    .span = machines[i].span()});
}

/// Begin and lengths: of the whole run, or of the part as far as the run goes.
void set_extent(const GraphInput& input, const PathPart* part, CriticalPath& result) {
  result.run_length = input.latest() - input.earliest();
  result.length = result.run_length;
  result.begin = input.earliest();
  if (part == nullptr) return;
  const std::int64_t run_end = result.begin + result.run_length;
  result.begin = std::clamp(part->from, result.begin, run_end);
  result.length = std::clamp(part->to, result.begin, run_end) - result.begin;
}

/// Nodes in the time that the path is of.
std::size_t shown_nodes(const Graph& graph, const CriticalPath& result) {
  std::size_t shown = 0;
  for (NodeId node = 0; node < graph.size(); ++node)
    if (result.shows(graph.start[node], graph.end[node])) ++shown;
  return shown;
}

/// Runs what needs nothing of each other.
void each_beside(std::initializer_list<std::function<void()>> figures, unsigned threads) {
  side_by_side(std::span(figures.begin(), figures.size()), thread_count(threads));
}

void add_segments(const trace::Trace& trace, const Graph& graph, std::size_t most,
                  CriticalPath& result) {
  PathSegments path = path_segments(trace, graph, result.begin, result.begin + result.length, most);
  result.segments = std::move(path.segments);
  result.stretches = path.stretches;
}

void add_parallelism(const Graph& graph, std::size_t most_bubbles, CriticalPath& result) {
  Parallelism parallelism = measure_parallelism(graph, result.begin, result.length, most_bubbles);
  result.concurrency = std::move(parallelism.levels);
  result.parallelism = std::move(parallelism.bins);
  result.bubbles = std::move(parallelism.bubbles);
  result.bubble_count = parallelism.bubble_count;
  result.bubble_time = parallelism.bubble_time;
  explain_bubbles(graph, result);
}

void add_warnings(CriticalPath& result) {
  const auto warn = [&](std::string text) { result.warnings.push_back(std::move(text)); };
  const GraphReport& report = result.report;
  if (report.blind_graph_launches > 0)
    warn(fmt::format(
        "{} of {} graph launches have no dispatch in the trace: what they ran is not seen, and its "
        "time counts as host or idle time",
        report.blind_graph_launches, report.graph_launches));
  std::uint64_t contradicted = 0;
  for (const std::uint64_t count : report.contradicted) contradicted += count;
  if (contradicted > 0)
    warn(fmt::format(
        "{} that launches, streams, events or synchronisation demand {} denied by the recorded "
        "times and left out",
        contradicted == 1 ? "1 order" : fmt::format("{} orders", contradicted),
        contradicted == 1 ? "is" : "are"));
  if (report.calls == 0)
    warn(
        "no host API call was recorded: launches and waits are unknown, time between dispatches "
        "counts as idle");
  else if (report.without_launch > 0)
    warn(fmt::format("{} of {} dispatches and copies have no launching call in the trace",
                     report.without_launch, report.dispatches + report.copies));
  if (report.unknown_events > 0)
    warn(fmt::format("{} waits for events whose record is not in the trace order nothing",
                     report.unknown_events));
  if (const FirstLaunches& first = result.first_launches; !first.calls.empty())
    warn(fmt::format(
        "{} took {:.1f} ms in all, where a launch usually takes {:.1f} us: CUDA loads a kernel's "
        "code inside its first launch, and CUDA_MODULE_LOADING=EAGER loads it at the start",
        first.calls.size() == 1 ? "1 first launch of a kernel"
                                : fmt::format("{} first launches of kernels", first.calls.size()),
        static_cast<double>(first.time) / 1e6, static_cast<double>(first.usual) / 1e3));
  if (!result.other_nodes.empty())
    warn(fmt::format(
        "the path is of one of {} machines: clocks of machines are not aligned, so they are kept "
        "apart; give the files of another one alone to see its path",
        result.other_nodes.size() + 1));
}

/// Keeps the graph where it is asked for, or small enough to be shown.
void keep_nodes(const std::shared_ptr<Graph>& graph, const CriticalPathOptions& options,
                PackedColumn<std::int64_t> slacks, Bits on_path, CriticalPath& result) {
  const bool few =
      options.keep_nodes_up_to > 0 && shown_nodes(*graph, result) <= options.keep_nodes_up_to;
  if (!options.keep_nodes && !few) return;
  result.slack = std::move(slacks);
  result.on_path = std::move(on_path);
  result.graph = graph;
}

/// Everything that is read off the graph; each figure writes members of its own.
Result<void> add_figures(const trace::Trace& trace, const std::shared_ptr<Graph>& graph,
                         const CriticalPathOptions& options, const PathPart* part,
                         CriticalPath& result) {
  if (options.progress) options.progress("walking the critical path", 0.4);
  std::optional<Simulator> simulator;
  std::promise<void> lags_are_known, can_simulate;
  PackedColumn<std::int64_t> slacks;
  std::vector<SlackFigures> slack_of_name;
  PathTotals totals;
  // A part waits for such alone as began before it: one thread is enough.
  each_beside({[&] {
                 measure_usual_lags(*graph, options.threads);
                 lags_are_known.set_value();
                 slacks = slack(*graph);
                 slack_of_name = slacks_of_kernels(trace, *graph, slacks, part);
                 result.most_slack = most_slack(*graph, slacks, options.most_slack, part);
               },
               [&] {
                 simulator.emplace(*graph);
                 can_simulate.set_value();
               },
               [&] {
                 totals = walk(trace, *graph, result.begin, result.begin + result.length, part);
                 result.spent = totals.spent;
                 result.kernels = kernels_of(trace, *graph, totals, part);
                 lags_are_known.get_future().wait();
                 can_simulate.get_future().wait();
                 if (options.progress) options.progress("simulating faster kernels", 0.75);
                 add_gains(trace, *graph, *simulator, options, part, result);
               },
               [&] { add_parallelism(*graph, options.most_bubbles, result); },
               [&] { add_segments(trace, *graph, options.most_segments, result); }},
              options.threads);
  for (KernelCriticality& kernel : result.kernels) {
    const SlackFigures& figures = slack_of_name[kernel.name];
    kernel.without_slack = figures.none;
    kernel.least_slack = figures.least;
    kernel.median_slack = figures.median;
  }
  if (!options.what_if.empty()) {
    PERFLAB_TRY(result.what_if, answer_what_if(trace, *graph, *simulator, options, part, result));
  }
  keep_nodes(graph, options, std::move(slacks), std::move(totals.on_path), result);
  return {};
}

}  // namespace

Index longest_machine(const trace::Trace& trace, const TimingScope& scope) {
  const std::vector<Machine> machines = find_machines(trace, scope);
  return machines.empty() ? kNone : machines.front().node;
}

Result<CriticalPath> find_critical_path(const trace::Trace& trace, const TimingScope& scope,
                                        const CriticalPathOptions& options, const PathPart* part) {
  CriticalPath result;
  result.options = options.graph;
  choose_machine(find_machines(trace, scope), part, result);
  if (options.progress) options.progress("building the graph", 0);
  GraphInput input(trace, scope, result.node, options.threads);
  set_extent(input, part, result);
  result.platform = platform_of(trace, scope, result.node);
  if (result.platform == trace::Platform::cuda)
    result.first_launches = find_first_launches(trace, scope, result);

  std::shared_ptr<Graph> graph;
  std::promise<void> is_built;
  Result<void> done;
  each_beside({[&] {
                 BuiltGraph built = build_graph(trace, std::move(input), options.graph);
                 graph = std::make_shared<Graph>(std::move(built.graph));
                 find_bindings(*graph, options.threads);
                 is_built.set_value();
                 result.report = built.report;
                 done = add_figures(trace, graph, options, part, result);
               },
               [&] {
                 if (options.see_extent) options.see_extent(result);
                 is_built.get_future().wait();
                 if (options.see_graph) options.see_graph(*graph);
               }},
              options.threads);
  PERFLAB_TRY_VOID(std::move(done));
  add_warnings(result);
  return result;
}

}  // namespace perflab::analyze
