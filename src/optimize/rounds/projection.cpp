// One class of nodes, three scenarios: the median of the speed-up and both ends of its interval.
#include "optimize/rounds/projection.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <vector>

#include "analyze/critical_path/graph_input.h"
#include "analyze/critical_path/what_if.h"
#include "optimize/kernel_names.h"

namespace perflab::optimize {
namespace {

std::string milliseconds(std::int64_t nanoseconds) {
  return fmt::format("{:.3f} ms", static_cast<double>(nanoseconds) / 1e6);
}

std::string projection_sentence(const Projection& out) {
  if (out.makespan <= 0) return "the recorded run has no length";
  const double share =
      static_cast<double>(out.makespan - out.projected) / static_cast<double>(out.makespan) * 100;
  if (!out.on_critical_path)
    return fmt::format(
        "the kernel is off the critical path: the run of {} would gain {:.2f} %, whatever the "
        "kernel gains",
        milliseconds(out.makespan), share);
  return fmt::format("the run would take {} instead of {}: {:.2f} % less",
                     milliseconds(out.projected), milliseconds(out.makespan), share);
}

}  // namespace

Result<Projection> project(const analyze::AnalyzedTrace& analyzed, const std::string& kernel,
                           const SpeedUp& speed) {
  const std::optional<analyze::CriticalPath>& path = analyzed.analysis.critical_path;
  if (!path || !path->graph)
    return fail(ErrorCode::bad_input, "the recording has no critical path: " +
                                          analyzed.analysis.critical_path_missing.reason);
  const analyze::Graph& graph = *path->graph;
  const trace::Trace& trace = analyzed.trace;
  Projection out{.kernel = kernel, .makespan = path->run_length, .sentence = {}};
  const std::string wanted = bare_kernel_name(kernel);
  std::map<trace::Index, bool> is_kernel;
  std::vector<std::uint16_t> classes(graph.size(), 0);
  for (analyze::NodeId node = 0; node < graph.size(); ++node) {
    if (graph.kind(node) != analyze::NodeKind::dispatch) continue;
    const trace::Index name = analyze::node_name(trace, graph, node);
    const auto [found, fresh] = is_kernel.try_emplace(name, false);
    if (fresh) found->second = bare_kernel_name(trace.strings.view(name)) == wanted;
    if (!found->second) continue;
    classes[node] = 1;
    out.kernel = trace.strings.view(name);
    ++out.dispatches;
    out.kernel_time += graph.end[node] - graph.start[node];
  }
  if (out.dispatches == 0)
    return fail(ErrorCode::bad_input, fmt::format("the recording has no dispatch of {}", kernel));
  for (const analyze::KernelCriticality& row : path->kernels)
    if (const auto found = is_kernel.find(row.name); found != is_kernel.end() && found->second)
      out.path_time += row.path_time;
  out.on_critical_path = out.path_time > 0;
  std::vector<analyze::Scenario> scenarios;
  for (const double factor : {1.0, speed.value, speed.low, speed.high})
    scenarios.push_back({.changes = {{}, {.factor = 1 / factor, .plus = 0}}});
  const std::vector<std::int64_t> makespans =
      analyze::Simulator(graph).makespans(classes, scenarios, 1);
  out.makespan = makespans[0];
  out.projected = makespans[1];
  out.projected_at_low = makespans[2];
  out.projected_at_high = makespans[3];
  out.sentence = projection_sentence(out);
  return out;
}

Json to_json(const Projection& out) {
  const auto ratio = [&](std::int64_t projected) -> Json {
    if (out.makespan <= 0) return nullptr;
    return static_cast<double>(projected) / static_cast<double>(out.makespan);
  };
  return {{"kernel", out.kernel},
          {"dispatches", out.dispatches},
          {"kernel_ns", out.kernel_time},
          {"critical_path_ns", out.path_time},
          {"on_critical_path", out.on_critical_path},
          {"makespan_ns", out.makespan},
          {"projected_ns", out.projected},
          {"projected_low_ns", out.projected_at_high},
          {"projected_high_ns", out.projected_at_low},
          {"end_to_end_ratio", ratio(out.projected)},
          {"sentence", out.sentence}};
}

}  // namespace perflab::optimize
