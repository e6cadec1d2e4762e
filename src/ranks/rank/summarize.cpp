#include "ranks/rank/summarize.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "analyze/critical_path/bindings.h"
#include "analyze/critical_path/build_graph.h"
#include "analyze/critical_path/gains.h"
#include "analyze/scope/timing_scope.h"
#include "base/text/json.h"
#include "base/version.h"
#include "ranks/contract/contract.h"
#include "ranks/rank/find_collectives.h"
#include "ranks/rank/work.h"

namespace perflab::ranks {

namespace {

using trace::Index;
using trace::kNone;
using trace::Trace;

/// Which GPU of its node it is, by the profiler's order.
std::int64_t ordinal_of(const Trace& trace, Index agent) {
  std::int64_t before = 0;
  for (const trace::Agent& other : trace.agents) {
    const trace::Agent& own = trace.agents[agent];
    if (other.node == own.node && other.type == own.type &&
        std::pair(other.absolute_index, other.id) < std::pair(own.absolute_index, own.id)) {
      ++before;
    }
  }
  return before;
}

/// What the ranks of one process share.
struct ProcessWork {
  const Trace& trace;
  const SummarizeOptions& options;
  Index process;
  analyze::Graph graph;
  analyze::WhatIfScenarios scenarios;
  ProcessCalls calls;
};

RankIdentity identify(const Trace& trace, Index process, Index agent) {
  const trace::Process& of = trace.processes[process];
  RankIdentity identity;
  identity.facts = of.rank;
  if (of.node != kNone) {
    identity.hostname = trace.nodes[of.node].hostname;
    identity.machine_id = trace.nodes[of.node].machine_id;
  }
  identity.pid = of.pid;
  if (agent != kNone) {
    identity.gpu = ordinal_of(trace, agent);
    identity.gpu_name = trace.agents[agent].name;
  }
  identity.platform = trace.platform_of_process(process);
  return identity;
}

void contract_graph(const ProcessWork& work, const FoundCollectives& found, KernelNames& kernels,
                    RankSummary& summary) {
  const analyze::Graph& graph = work.graph;
  std::vector<std::uint32_t> collective_of(graph.size(), kNoCollective);
  std::vector<Name> kernel_of(graph.size(), kNoName);
  for (analyze::NodeId node = 0; node < graph.size(); ++node) {
    if (graph.kind(node) != analyze::NodeKind::dispatch) continue;
    const Index row = graph.row(node);
    kernel_of[node] = kernels.of(work.trace.dispatches.kernel[row]);
    const auto at = std::ranges::lower_bound(found.dispatches, row, {},
                                             &std::pair<Index, std::uint32_t>::first);
    if (at != found.dispatches.end() && at->first == row) collective_of[node] = at->second;
  }
  summary.graph = contract({.graph = graph,
                            .collective_of = collective_of,
                            .collectives = static_cast<std::uint32_t>(found.collectives.size()),
                            .kernel_of = kernel_of,
                            .node_class = work.scenarios.node_class,
                            .scenarios = work.scenarios.scenarios});
}

void note_missing(const FoundCollectives& found, bool several, RankSummary& summary) {
  const auto missing = [&](std::string field, std::string why) {
    summary.missing.emplace_back(std::move(field), std::move(why));
  };
  if (several) {
    missing("identity.facts.rank",
            "the process drives several GPUs: a number in its environment is not that of one "
            "of them");
  } else if (!summary.identity.facts.rank) {
    missing("identity.facts.rank", "the recording does not say which rank the process is");
  }
  if (summary.identity.hostname.empty())
    missing("identity.hostname", "the recording does not name its host");
  if (found.collectives.empty()) {
    missing("collectives", "no communication kernels were recorded");
    return;
  }
  if (found.inside_graphs > 0) {
    missing("collectives.function",
            fmt::format("{} communication kernels were launched by graphs: which call each is of "
                        "was decided when the graph was captured",
                        found.inside_graphs));
  }
  if (found.without_call > 0) {
    missing("collectives.function",
            fmt::format("of {} communication kernels no call of the library was recorded",
                        found.without_call));
  }
  if (found.by_annotation > 0) {
    missing(
        "collectives.kind",
        fmt::format("no call of the library was recorded: what {} of {} collectives are is from "
                    "the annotations around their launches, which do not say whether the parts "
                    "of an all_to_all are of one size: they are taken to be",
                    found.by_annotation, found.collectives.size()));
  }
  if (found.by_order > 0) {
    missing("collectives.launch",
            fmt::format("{} communication kernels were launched by another thread than called: "
                        "tied to the calls by their order",
                        found.by_order));
  }
  if (found.without_bytes > 0) {
    missing("collectives.bytes",
            fmt::format("the recording does not say the size of {} of {} collectives",
                        found.without_bytes, found.collectives.size()));
  }
}

RankSummary summarize_one(ProcessWork& work, Index agent, bool several) {
  const Trace& trace = work.trace;
  Names names;
  KernelNames kernels(trace, names);
  RankSummary summary;
  const trace::Source& source = trace.sources[trace.processes[work.process].source];
  summary.tool_version = kProgramVersion;
  summary.options = options_text(work.options);
  summary.file = source.file;
  summary.guid = source.guid;
  summary.synthetic = source.synthetic;
  summary.identity = identify(trace, work.process, agent);
  if (several) summary.identity.facts.rank.reset();
  FoundCollectives found =
      find_collectives(trace, work.process, agent, work.calls, !several, names, kernels);
  if (work.graph.size() > 0) {
    summary.begin = work.graph.start.min();
    summary.end = work.graph.end.max();
  }
  for (const analyze::WhatIf& one : work.options.what_if) summary.scenarios.push_back(one.text);
  FoundWork found_work =
      find_work(trace, work.process, agent, found, summary.begin, summary.end, kernels);
  contract_graph(work, found, kernels, summary);
  note_missing(found, several, summary);
  summary.work = std::move(found_work.work);
  summary.kernels = std::move(found_work.kernels);
  summary.communicators = std::move(found.communicators);
  summary.collectives = std::move(found.collectives);
  summary.names = names.take();
  return summary;
}

/// GPUs of a process that dispatched, and those that communicate among them.
std::vector<Index> agents_of(const Trace& trace, Index process, const ProcessCalls& calls) {
  std::map<Index, std::uint64_t> dispatches;
  std::map<Index, bool> communicate;
  std::vector<bool> told(trace.dispatches.size());
  for (const trace::Communication& one : trace.communications) {
    if (!one.of_region && one.row < told.size()) told[one.row] = true;
  }
  std::vector<std::optional<bool>> by_symbol(trace.kernel_symbols.size());
  for (Index i = 0; i < trace.dispatches.size(); ++i) {
    const trace::Track& track = trace.tracks[trace.dispatches.track[i]];
    if (track.process != process) continue;
    ++dispatches[track.agent];
    auto& known = by_symbol[trace.dispatches.kernel[i]];
    if (!known) {
      const Index name = trace.kernel_symbols[trace.dispatches.kernel[i]].name;
      known = kernel_facts(trace.strings.view(name)).role == KernelRole::communicates;
    }
    if (*known || told[i]) {
      communicate[track.agent] = true;
    } else if (const LibraryCall* const call =
                   calls.own_all() ? calls.behind(trace, trace.dispatches.launch[i]) : nullptr;
               call != nullptr && call->unit != kNoUnit) {
      communicate[track.agent] = true;
    }
  }
  std::vector<Index> agents;
  for (const auto& [agent, yes] : communicate) agents.push_back(agent);
  if (agents.empty() && !dispatches.empty()) {
    agents.push_back(std::ranges::max_element(dispatches, {}, [](const auto& one) {
                       return one.second;
                     })->first);
  }
  return agents;
}

Result<void> summarize_process(const Trace& trace, const SummarizeOptions& options,
                               const analyze::TimingScope& scope, Index process,
                               std::vector<RankSummary>& summaries) {
  ProcessCalls calls = find_calls(trace, process);
  std::vector<Index> agents = agents_of(trace, process, calls);
  if (agents.empty()) return {};
  const Index source = trace.processes[process].source;
  if (!trace.sources[source].times_known)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: its times have lost digits, so that no wait can be known",
                            trace.sources[source].file),
                "record with rocprofv3's default output format");
  std::ranges::sort(agents, {}, [&](Index agent) {
    return std::pair(agent == kNone ? -1 : ordinal_of(trace, agent), agent);
  });
  // A graph of this process alone: other ranks of the machine are other summaries.
  analyze::TimingScope own = scope;
  for (std::size_t i = 0; i < own.source_counts.size(); ++i) {
    own.source_counts[i] = own.source_counts[i] && i == source;
  }
  for (std::size_t i = 0; i < own.track_counts.size(); ++i) {
    own.track_counts[i] = own.track_counts[i] && trace.tracks[i].process == process;
  }
  analyze::Graph graph = build_graph(trace, own, trace.processes[process].node).graph;
  analyze::measure_usual_lags(graph);
  ProcessWork work{.trace = trace,
                   .options = options,
                   .process = process,
                   .graph = std::move(graph),
                   .scenarios = {},
                   .calls = std::move(calls)};
  if (!options.what_if.empty()) {
    PERFLAB_TRY(work.scenarios, analyze::scenarios_of(trace, work.graph, options.what_if));
  }
  for (const Index agent : agents) {
    summaries.push_back(summarize_one(work, agent, agents.size() > 1));
  }
  return {};
}

}  // namespace

std::string options_text(const SummarizeOptions& options) {
  Json changes = Json::array();
  for (const analyze::WhatIf& one : options.what_if) changes.push_back(one.text);
  return Json({{"what_if", changes}}).dump();
}

Result<std::vector<RankSummary>> summarize_ranks(const Trace& trace,
                                                 const SummarizeOptions& options) {
  const analyze::Passes passes = analyze::find_passes(trace);
  const analyze::TimingScope scope = analyze::find_timing_scope(trace, passes);
  std::vector<Index> processes;
  for (Index i = 0; i < trace.processes.size(); ++i) {
    const Index source = trace.processes[i].source;
    if (source != kNone && scope.source_counts[source]) processes.push_back(i);
  }
  std::ranges::stable_sort(processes, {}, [&](Index i) {
    const trace::Process& process = trace.processes[i];
    return std::pair(std::string_view(trace.sources[process.source].guid), process.pid);
  });
  std::vector<RankSummary> summaries;
  for (const Index process : processes) {
    PERFLAB_TRY_VOID(summarize_process(trace, options, scope, process, summaries));
  }
  return summaries;
}

}  // namespace perflab::ranks
