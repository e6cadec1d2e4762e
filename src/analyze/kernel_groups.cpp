// Patterns are asked once for each name; a group's time is changed by the what-if's simulator, as
// one class of nodes.
#include "analyze/kernel_groups.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "analyze/critical_path/graph_input.h"
#include "base/text/pattern.h"

namespace perflab::analyze {
namespace {

/// Of a group's time that worth() takes away: enough that durations of microseconds, which are
/// whole ns, show it.
constexpr double kOnePercent = 0.01;

/// By name of a kernel: its group from 1, or 0. Error (usage): two patterns match it.
Result<std::uint16_t> group_of(std::string_view name, std::span<const Pattern> compiled,
                               std::span<const std::string> patterns) {
  std::uint16_t group = 0;
  for (std::size_t i = 0; i < compiled.size(); ++i) {
    if (!compiled[i].found_in(name)) continue;
    if (group > 0)
      return fail(ErrorCode::usage,
                  fmt::format("'{}' and '{}' both match kernel {}",
                              patterns[group - std::size_t{1}], patterns[i], name),
                  "let each kernel match one pattern only");
    group = static_cast<std::uint16_t>(i + 1);
  }
  return group;
}

}  // namespace

KernelGroups::KernelGroups(std::shared_ptr<const Graph> graph)
    : graph_(std::move(graph)), simulator_(*graph_), node_class_(graph_->size(), 0) {}

Result<KernelGroups> KernelGroups::make(const trace::Trace& trace, const CriticalPath& path,
                                        std::span<const std::string> patterns) {
  std::vector<Pattern> compiled;
  for (const std::string& pattern : patterns) {
    PERFLAB_TRY(Pattern one, Pattern::compile(pattern));
    compiled.push_back(std::move(one));
  }
  PERFLAB_CHECK(path.graph != nullptr);
  KernelGroups made(path.graph);
  made.groups_.resize(patterns.size());
  made.recorded_ = path.run_length;
  std::vector<std::optional<std::uint16_t>> of_name(trace.strings.size());
  const auto of = [&](trace::Index name) -> Result<std::uint16_t> {
    if (!of_name[name]) {
      PERFLAB_TRY(of_name[name], group_of(trace.strings.view(name), compiled, patterns));
    }
    return *of_name[name];
  };
  for (const KernelCriticality& kernel : path.kernels) {
    PERFLAB_TRY(const std::uint16_t group, of(kernel.name));
    if (group == 0) continue;
    GroupTimes& times = made.groups_[group - std::size_t{1}];
    times.dispatches += kernel.dispatches;
    times.total += kernel.total;
    times.path_time += kernel.path_time;
  }
  for (std::size_t i = 0; i < patterns.size(); ++i)
    if (made.groups_[i].dispatches == 0)
      return fail(ErrorCode::usage,
                  fmt::format("'{}': no kernel of the recording has such a name", patterns[i]),
                  "rocm-perf critical-path shows their names");
  for (NodeId node = 0; node < made.graph_->size(); ++node) {
    if (made.graph_->kind(node) != NodeKind::dispatch) continue;
    PERFLAB_TRY(made.node_class_[node], of(node_name(trace, *made.graph_, node)));
  }
  return made;
}

std::vector<std::int64_t> KernelGroups::makespans(std::span<const GroupFactors> factors) const {
  std::vector<Scenario> scenarios;
  for (const GroupFactors& row : factors) {
    Scenario& scenario = scenarios.emplace_back();
    scenario.changes.emplace_back();
    for (const double factor : row) scenario.changes.push_back({.factor = factor, .plus = 0});
  }
  return simulator_.makespans(node_class_, scenarios);
}

std::vector<GroupWorth> KernelGroups::worth(const GroupFactors& at) const {
  std::vector<GroupFactors> rows = {at};
  for (std::size_t i = 0; i < at.size(); ++i)
    for (const double share : {1 - kOnePercent, 0.0}) rows.emplace_back(at)[i] *= share;
  const std::vector<std::int64_t> all = makespans(rows);
  std::vector<GroupWorth> worth;
  for (std::size_t i = 0; i < at.size(); ++i)
    worth.push_back({.per_percent = static_cast<double>(all[0] - all[1 + 2 * i]),
                     .bound = all[0] - all[2 + 2 * i]});
  return worth;
}

}  // namespace perflab::analyze
