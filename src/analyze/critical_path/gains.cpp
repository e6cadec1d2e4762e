// A node's class is what changes about it; nodes of one class change alike. Gains give each kernel
// a class of its own, --what-if each distinct combination of changes.
#include "analyze/critical_path/gains.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "analyze/critical_path/graph_input.h"
#include "trace/api_calls.h"

namespace perflab::analyze {
namespace {

using trace::Index;

/// The HIP runtime copies with kernels of its own where no copy engine does.
constexpr std::string_view kCopyKernels = "__amd_rocclr_copy";

/// Nothing lasts longer; keeps sums of changes within their type. 31 years in ns.
constexpr double kMostChange = 1e18;

/// 0: infinitely fast.
constexpr std::array<double, 3> kGainFactors = {1.5, 2, 0};

/// Numbers of the nodes' classes for the simulator, from those of names (of kernels).
std::vector<std::uint16_t> classes_by_kernel(const trace::Trace& trace, const Graph& graph,
                                             const std::vector<std::uint16_t>& of,
                                             const PathPart* part) {
  std::vector<std::uint16_t> classes(graph.size(), 0);
  for (NodeId node = 0; node < graph.size(); ++node) {
    if (graph.kind(node) != NodeKind::dispatch) continue;
    if (part != nullptr && !part->includes(graph, node)) continue;
    classes[node] = of[node_name(trace, graph, node)];
  }
  return classes;
}

/// Changes of one node by all that apply to it, in the order given.
class ChangeTable {
 public:
  static Result<ChangeTable> make(const std::vector<WhatIf>& changes) {
    ChangeTable table(changes);
    for (const WhatIf& change : changes) {
      std::optional<Pattern> pattern;
      if (change.target == WhatIf::Target::kernels) {
        PERFLAB_TRY(pattern, Pattern::compile(change.pattern));
      }
      table.patterns_.push_back(std::move(pattern));
    }
    return table;
  }

  /// Class of a node of that kind and name; counts it for every change that applies.
  std::uint16_t class_of(const trace::Trace& trace, NodeKind kind, Index name) {
    return entry_of(trace, kind, name).number;
  }
  /// The changes that apply to it, ascending; counts it for each.
  const std::vector<std::size_t>& applying(const trace::Trace& trace, NodeKind kind, Index name) {
    return entry_of(trace, kind, name).applies;
  }
  [[nodiscard]] const std::vector<std::uint64_t>& matched() const { return matched_; }
  [[nodiscard]] const Scenario& scenario() const { return scenario_; }

 private:
  struct Entry {
    std::vector<std::size_t> applies;
    std::uint16_t number = 0;
  };

  explicit ChangeTable(const std::vector<WhatIf>& changes)
      : changes_(changes), matched_(changes.size(), 0) {
    scenario_.changes.emplace_back();
  }

  const Entry& entry_of(const trace::Trace& trace, NodeKind kind, Index name) {
    const auto [found, added] =
        known_.try_emplace({is_call(kind) ? 2 : static_cast<int>(kind), name});
    if (added) found->second = find(kind, trace.strings.view(name));
    for (const std::size_t i : found->second.applies) ++matched_[i];
    return found->second;
  }

  [[nodiscard]] bool applies(std::size_t i, NodeKind kind, std::string_view name) const {
    switch (changes_[i].target) {
      case WhatIf::Target::kernels:
        return kind == NodeKind::dispatch && patterns_[i]->found_in(name);
      case WhatIf::Target::copies:
        return kind == NodeKind::copy ||
               (kind == NodeKind::dispatch && name.starts_with(kCopyKernels));
      case WhatIf::Target::launches:
        return is_call(kind) && trace::call_kind(name) == trace::CallKind::launch;
      case WhatIf::Target::syncs:
        return false;  // edges, not nodes
    }
    return false;
  }

  Entry find(NodeKind kind, std::string_view name) {
    Entry entry;
    Change all;
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      if (!applies(i, kind, name)) continue;
      entry.applies.push_back(i);
      all.factor *= changes_[i].change.factor;
      const double plus = static_cast<double>(all.plus) * changes_[i].change.factor +
                          static_cast<double>(changes_[i].change.plus);
      all.plus = static_cast<std::int64_t>(std::clamp(plus, -kMostChange, kMostChange));
    }
    if (entry.applies.empty()) return entry;
    entry.number = number_of(all);
    return entry;
  }

  std::uint16_t number_of(const Change& change) {
    for (std::size_t i = 1; i < scenario_.changes.size(); ++i)
      if (scenario_.changes[i].factor == change.factor && scenario_.changes[i].plus == change.plus)
        return static_cast<std::uint16_t>(i);
    scenario_.changes.push_back(change);
    return static_cast<std::uint16_t>(scenario_.changes.size() - 1);
  }

  std::vector<WhatIf> changes_;
  std::vector<std::optional<Pattern>> patterns_;
  std::vector<std::uint64_t> matched_;
  Scenario scenario_;
  std::map<std::pair<int, Index>, Entry> known_;
};

/// Edges into the end of a call: what sync=drop takes away.
std::uint64_t count_waits(const Graph& graph) {
  std::uint64_t waits = 0;
  for (const EdgeRule rule : graph.rule)
    if (info(rule).to == NodeEvent::end) ++waits;
  return waits;
}

/// What to do about a change that applies to nothing.
std::string advice_for(WhatIf::Target target, trace::Platform platform) {
  const bool cuda = platform == trace::Platform::cuda;
  switch (target) {
    case WhatIf::Target::kernels:
      return "the table of kernels shows their names";
    case WhatIf::Target::copies:
      return cuda ? "this recording has none"
                  : "copies are recorded with rocprofv3 --memory-copy-trace";
    case WhatIf::Target::launches:
      return cuda ? "rocm-perf profile --platform cuda records launch calls"
                  : "launch calls are recorded with rocprofv3 --hip-trace";
    case WhatIf::Target::syncs:
      return fmt::format("{}; without any, there is nothing to drop",
                         cuda ? "rocm-perf profile --platform cuda records calls that wait"
                              : "calls that wait are recorded with rocprofv3 --hip-trace");
  }
  return {};
}

}  // namespace

void add_gains(const trace::Trace& trace, const Graph& graph, const Simulator& simulator,
               const CriticalPathOptions& options, const PathPart* part, CriticalPath& result) {
  std::vector<std::uint16_t> class_of(trace.strings.size(), 0);
  std::vector<Scenario> scenarios;
  std::uint16_t number = 0;
  for (const KernelCriticality& kernel : result.kernels) {
    if (number == options.gains || kernel.path_time == 0) break;
    class_of[kernel.name] = ++number;
    for (const double factor : kGainFactors) {
      Scenario scenario;
      scenario.changes.resize(number + std::size_t{1});
      scenario.changes[number].factor = factor == 0 ? 0 : 1 / factor;
      scenarios.push_back(std::move(scenario));
    }
  }
  const std::vector<std::int64_t> makespans = simulator.makespans(
      classes_by_kernel(trace, graph, class_of, part), scenarios, options.threads);
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    const std::int64_t gain = result.run_length - makespans[i];
    result.kernels[i / kGainFactors.size()].gains.push_back(
        {.factor = kGainFactors[i % kGainFactors.size()],
         .makespan = result.length - gain,
         .gain = gain});
  }
}

Result<WhatIfAnswer> answer_what_if(const trace::Trace& trace, const Graph& graph,
                                    const Simulator& simulator, const CriticalPathOptions& options,
                                    const PathPart* part, const CriticalPath& result) {
  PERFLAB_TRY(ChangeTable table, ChangeTable::make(options.what_if));
  std::vector<std::uint16_t> classes(graph.size());
  for (NodeId node = 0; node < graph.size(); ++node)
    if (part == nullptr || part->includes(graph, node))
      classes[node] = table.class_of(trace, graph.kind(node), node_name(trace, graph, node));
  WhatIfAnswer answer{.changes = options.what_if, .matched = table.matched()};
  Scenario scenario = table.scenario();
  for (std::size_t i = 0; i < options.what_if.size(); ++i) {
    if (options.what_if[i].target != WhatIf::Target::syncs) continue;
    if (part != nullptr)
      return fail(ErrorCode::usage, "--what-if sync=drop is of a whole run", "leave out --segment");
    scenario.drop_syncs = true;
    answer.matched[i] = count_waits(graph);
  }
  for (std::size_t i = 0; i < answer.matched.size(); ++i)
    if (answer.matched[i] == 0)
      return fail(
          ErrorCode::usage,
          fmt::format("--what-if {}: nothing in the trace is meant by it", options.what_if[i].text),
          advice_for(options.what_if[i].target, result.platform));
  answer.gain = result.run_length -
                simulator.makespans(classes, std::span(&scenario, 1), options.threads).front();
  answer.makespan = result.length - answer.gain;
  return answer;
}

Result<WhatIfScenarios> scenarios_of(const trace::Trace& trace, const Graph& graph,
                                     const std::vector<WhatIf>& changes) {
  WhatIfScenarios result;
  PERFLAB_TRY(ChangeTable table, ChangeTable::make(changes));
  result.node_class.resize(graph.size());
  result.scenarios.resize(changes.size());
  // A class is a set of changes: each scenario changes the classes that its change is in.
  std::map<std::vector<std::size_t>, std::size_t> classes = {{{}, 0}};
  for (NodeId node = 0; node < graph.size(); ++node) {
    const std::vector<std::size_t>& applies =
        table.applying(trace, graph.kind(node), node_name(trace, graph, node));
    if (applies.empty()) continue;
    const auto [found, added] = classes.try_emplace(applies, classes.size());
    if (found->second > std::numeric_limits<std::uint16_t>::max())
      return fail(ErrorCode::usage, "--what-if: too many changes overlap", "give fewer of them");
    result.node_class[node] = static_cast<std::uint16_t>(found->second);
    if (!added) continue;
    for (const std::size_t i : applies) {
      result.scenarios[i].changes.resize(found->second + 1);
      result.scenarios[i].changes[found->second] = changes[i].change;
    }
  }
  result.matched = table.matched();
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (changes[i].target != WhatIf::Target::syncs) continue;
    result.scenarios[i].drop_syncs = true;
    result.matched[i] = count_waits(graph);
  }
  return result;
}

}  // namespace perflab::analyze
