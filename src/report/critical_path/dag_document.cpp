// Builder of dag.json. Times are relative to the earliest start; a share of a run of no length does
// not apply and is null.
#include "report/critical_path/dag_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyze/critical_path/bindings.h"
#include "report/critical_path/dag_parts.h"
#include "report/kit/document.h"

namespace perflab::report {
namespace {

using analyze::CriticalPath;
using analyze::EdgeRule;
using analyze::NodeKind;
using analyze::Spent;
using analyze::SpentTimes;

/// Segments that `segments.list` has at most when not all nodes were asked for.
constexpr std::size_t kMostSegments = 1000;
/// Kernels of the summary in analysis.json.
constexpr std::size_t kSummaryKernels = 5;

Json index_or_null(trace::Index index) {
  return index == trace::kNone ? Json(nullptr) : Json(index);
}

Json share_of(std::int64_t time, std::int64_t length) {
  if (length <= 0) return nullptr;
  return static_cast<double>(time) / static_cast<double>(length);
}

/// {time_ns, share} of a part of the path.
Json part_json(std::int64_t time, std::int64_t length) {
  return {{"time_ns", time}, {"share", share_of(time, length)}};
}

Json attribution_json(const CriticalPath& path) {
  const auto time = [&](Spent spent) { return path.spent[static_cast<std::size_t>(spent)]; };
  const auto part = [&](Spent spent) { return part_json(time(spent), path.length); };
  Json host = part_json(time(Spent::host_call) + time(Spent::sync_return) + time(Spent::host_code),
                        path.length);
  host["calls"] = part(Spent::host_call);
  host["sync_return"] = part(Spent::sync_return);
  host["code"] = part(Spent::host_code);
  return {{"kernel", part(Spent::kernel)},
          {"copy", part(Spent::copy)},
          {"launch_latency", part(Spent::launch_latency)},
          {"host", std::move(host)},
          {"idle", part(Spent::idle)}};
}

Json spent_json(const SpentTimes& spent) {
  Json out = object_with_room(spent.size());
  for (const Spent one : all_spent())
    out[fmt::format("{}_ns", name_of(one))] = spent[static_cast<std::size_t>(one)];
  return out;
}

/// Why a rule orders, in the words of the path's platform.
std::string_view reason_of(EdgeRule rule, const CriticalPath& path) {
  if (rule == EdgeRule::null_stream && path.platform == trace::Platform::cuda)
    return "the default stream orders itself with blocking streams";
  return analyze::info(rule).reason;
}

Json graph_json(const CriticalPath& path) {
  const analyze::GraphReport& report = path.report;
  std::uint64_t edges = 0;
  Json rules = Json::array();
  for (std::size_t i = 0; i < analyze::kEdgeRules; ++i) {
    const analyze::EdgeRuleInfo& rule = analyze::info(static_cast<EdgeRule>(i));
    edges += report.edges[i];
    if (static_cast<EdgeRule>(i) == EdgeRule::graph_order && report.edges[i] == 0)
      continue;  // of CUDA graphs alone
    rules.push_back({{"rule", rule.name},
                     {"from", name_of(rule.from)},
                     {"to", name_of(rule.to)},
                     {"proven", rule.proven},
                     {"reason", reason_of(static_cast<EdgeRule>(i), path)},
                     {"edges", report.edges[i]},
                     {"contradicted", report.contradicted[i]}});
  }
  return {{"dispatches", report.dispatches},
          {"copies", report.copies},
          {"calls", report.calls},
          {"edges", edges},
          {"rules", std::move(rules)},
          {"without_launch", report.without_launch},
          {"unknown_events", report.unknown_events},
          {"graph_launches", report.graph_launches},
          {"blind_graph_launches", report.blind_graph_launches},
          {"options", {{"noise_ns", path.options.noise}, {"handover_ns", path.options.handover}}}};
}

Json gains_json(const std::vector<analyze::Gain>& gains, std::int64_t length) {
  if (gains.empty()) return nullptr;
  Json out = Json::array();
  for (const analyze::Gain& gain : gains)
    out.push_back({{"factor", gain.factor > 0 ? Json(gain.factor) : Json(nullptr)},
                   {"makespan_ns", gain.makespan},
                   {"gain_ns", gain.gain},
                   {"gain_share", share_of(gain.gain, length)}});
  return out;
}

Json kernels_json(const trace::Trace& trace, const CriticalPath& path) {
  Json out = Json::array();
  for (const analyze::KernelCriticality& kernel : path.kernels) {
    Json row = object_with_room(11);
    row["name"] = trace.strings.view(kernel.name);
    row["dispatches"] = kernel.dispatches;
    row["total_ns"] = kernel.total;
    row["path_ns"] = kernel.path_time;
    row["path_share"] = share_of(kernel.path_time, path.length);
    row["on_path"] = kernel.on_path;
    row["on_path_share"] = static_cast<double>(kernel.on_path) /
                           static_cast<double>(std::max<std::uint64_t>(kernel.dispatches, 1));
    row["without_slack"] = kernel.without_slack;
    row["least_slack_ns"] = kernel.least_slack;
    row["median_slack_ns"] = kernel.median_slack;
    row["gains"] = gains_json(kernel.gains, path.length);
    out.push_back(std::move(row));
  }
  return out;
}

/// place, process and id of something, put into an object.
void put_place(Json& out, analyze::Place place, trace::Index process, trace::Index thread,
               std::int64_t id) {
  const bool named = place != analyze::Place::nowhere && place != analyze::Place::several;
  out["place"] = name_of(place);
  out["process"] = index_or_null(place == analyze::Place::several ? trace::kNone : process);
  if (!named)
    out["id"] = nullptr;
  else if (place == analyze::Place::host_thread)
    out["id"] = index_or_null(thread);
  else
    out["id"] = id;
}

/// The thread of a process with that id.
trace::Index find_thread(const trace::Trace& trace, trace::Index process, std::int64_t tid) {
  for (std::size_t i = 0; i < trace.threads.size(); ++i)
    if (trace.threads[i].process == process && trace.threads[i].tid == tid)
      return static_cast<trace::Index>(i);
  return trace::kNone;
}

Json path_json(const trace::Trace& trace, const CriticalPath& path) {
  Json segments = Json::array();
  for (const analyze::PathSegment& segment : path.segments) {
    Json names = Json::array();
    for (const auto& [name, time] : segment.names)
      names.push_back({{"name", trace.strings.view(name)}, {"time_ns", time}});
    Json row = object_with_room(9);
    row["from_ns"] = segment.from;
    row["to_ns"] = segment.to;
    put_place(row, segment.place, segment.process,
              segment.place == analyze::Place::host_thread
                  ? find_thread(trace, segment.process, segment.place_id)
                  : trace::kNone,
              segment.place_id);
    row["entered_by"] =
        segment.entered ? Json(analyze::info(*segment.entered).name) : Json(nullptr);
    row["folded"] = segment.folded;
    row["nodes"] = segment.nodes;
    row["spent"] = spent_json(segment.spent);
    row["names"] = std::move(names);
    segments.push_back(std::move(row));
  }
  return {{"segments", std::move(segments)}, {"stretches", path.stretches}};
}

Json parallelism_json(const CriticalPath& path) {
  Json levels = Json::array();
  for (const analyze::ConcurrencyLevel& level : path.concurrency)
    levels.push_back({{"running", level.running},
                      {"time_ns", level.time},
                      {"share", share_of(level.time, path.length)}});
  Json bins = Json::array();
  for (const analyze::ParallelismBin& bin : path.parallelism)
    bins.push_back({{"dispatches", bin.dispatches}, {"copies", bin.copies}, {"busy", bin.busy}});
  const double bin = path.parallelism.empty() ? 0.0
                                              : static_cast<double>(path.length) /
                                                    static_cast<double>(path.parallelism.size());
  return {{"levels", std::move(levels)}, {"bin_ns", bin}, {"bins", std::move(bins)}};
}

Json operation_json(const trace::Trace& trace, const analyze::NodeRow& node) {
  if (node.row == trace::kNone) return nullptr;
  return {{"kind", name_of(node.kind)}, {"name", trace.strings.view(name_of_row(trace, node))}};
}

Json bubbles_json(const trace::Trace& trace, const CriticalPath& path) {
  Json longest = Json::array();
  for (const analyze::Bubble& bubble : path.bubbles) {
    Json row = object_with_room(7);
    row["from_ns"] = bubble.from;
    row["to_ns"] = bubble.to;
    row["before"] = operation_json(trace, bubble.before_row);
    row["after"] = operation_json(trace, bubble.after_row);
    row["cause"] = name_of(bubble.cause);
    row["spent"] = spent_json(bubble.spent);
    row["call"] = nullptr;
    if (bubble.call != trace::kNone)
      row["call"] = {{"name", trace.strings.view(trace.regions.name[bubble.call])},
                     {"time_ns", bubble.call_time}};
    if (bubble.first_launch) row["call"]["first_launch"] = true;
    longest.push_back(std::move(row));
  }
  return {{"count", path.bubble_count},
          {"total_ns", path.bubble_time},
          {"longest", std::move(longest)}};
}

Json top_slack_json(const trace::Trace& trace, const CriticalPath& path) {
  Json out = Json::array();
  for (const analyze::SlackRow& slack : path.most_slack) {
    if (slack.row.row == trace::kNone) continue;
    const NodePlace place = place_of_row(trace, slack.row);
    const auto [start, end] = times_of_row(trace, slack.row);
    Json row = object_with_room(8);
    row["kind"] = name_of(slack.row.kind);
    row["name"] = trace.strings.view(name_of_row(trace, slack.row));
    row["start_ns"] = start - path.begin;
    row["duration_ns"] = end - start;
    row["slack_ns"] = slack.slack;
    put_place(row, place.place, place.process, place.thread, place.id);
    out.push_back(std::move(row));
  }
  return out;
}

Json what_if_json(const CriticalPath& path) {
  if (!path.what_if) return nullptr;
  const analyze::WhatIfAnswer& answer = *path.what_if;
  Json changes = Json::array();
  for (std::size_t i = 0; i < answer.changes.size(); ++i)
    changes.push_back({{"text", answer.changes[i].text}, {"matched", answer.matched[i]}});
  return {{"changes", std::move(changes)},
          {"makespan_ns", answer.makespan},
          {"gain_ns", answer.gain},
          {"gain_share", share_of(answer.gain, path.length)},
          {"bound", std::ranges::any_of(answer.changes, &analyze::WhatIf::drop)}};
}

Json period_json(const analyze::SegmentSpread& spread) {
  return {{"count", spread.count},  {"min_ns", spread.min}, {"median_ns", spread.median},
          {"mean_ns", spread.mean}, {"max_ns", spread.max}, {"cv", or_null(spread.cv)}};
}

Json slowest_json(const trace::Trace& trace, const analyze::Segments& segments) {
  if (!segments.slowest) return nullptr;
  Json differences = Json::array();
  for (const analyze::SegmentDifference& difference : segments.differences)
    differences.push_back(
        {{"kind", difference.kernel == trace::kNone ? "idle"
                  : difference.copy                 ? "copy"
                                                    : "kernel"},
         {"name", difference.kernel == trace::kNone ? Json(nullptr)
                                                    : Json(trace.strings.view(difference.kernel))},
         {"time_ns", difference.time},
         {"usual_time_ns", difference.usual_time},
         {"count", difference.count},
         {"usual_count", difference.usual_count}});
  return {{"segment", *segments.slowest}, {"differences", std::move(differences)}};
}

/// `segments` without slowest and list: what analysis.json has too.
Json segments_head(const analyze::Segments& segments) {
  Json out = object_with_room(9);
  out["source"] = segments.source == analyze::Segments::Source::ranges ? "ranges" : "dispatches";
  out["pattern"] = segments.pattern;
  out["regularity"] = segments.regularity;
  out["count"] = segments.segments.size();
  out["warm_up"] = segments.warm_up;
  out["dispatches_outside"] = segments.dispatches_outside;
  out["period"] = period_json(segments.spread);
  return out;
}

Json segments_json(const trace::Trace& trace, const analyze::Segments& segments, std::int64_t begin,
                   bool full) {
  Json out = segments_head(segments);
  out["slowest"] = slowest_json(trace, segments);
  out["list"] = nullptr;
  if (!full && segments.segments.size() > kMostSegments) return out;
  Json list = Json::array();
  for (const analyze::Segment& segment : segments.segments) {
    Json row = object_with_room(8);
    row["label"] = or_null(segment.label);
    row["start_ns"] = segment.start - begin;
    row["end_ns"] = segment.end - begin;
    row["period_ns"] = segment.period;
    row["dispatches"] = segment.dispatches;
    row["kernel_time_ns"] = segment.kernel_time;
    row["busy_ns"] = segment.busy;
    row["warm_up"] = segment.warm_up;
    list.push_back(std::move(row));
  }
  out["list"] = std::move(list);
  return out;
}

/// One node of the graph with what it waits for.
Json node_json(const trace::Trace& trace, const CriticalPath& path, analyze::NodeId node) {
  const analyze::Graph& graph = *path.graph;
  const analyze::NodeRow what{.kind = graph.kind(node), .row = graph.row(node)};
  const NodePlace place = place_of_row(trace, what);
  const trace::Track* const track = track_of_row(trace, what);
  const analyze::EdgeView view(graph);
  const analyze::BoundEdges bound = view.binding(node);
  Json edges = Json::array();
  for (std::uint32_t edge = view.first(node); edge < view.last(node); ++edge) {
    const std::uint32_t binding = view.into_end(edge) ? bound.end : bound.start;
    edges.push_back({{"from", graph.from[edge]},
                     {"rule", analyze::info(graph.rule[edge]).name},
                     {"lag_ns", view.lag(node, edge, binding)},
                     {"binds", edge == binding}});
  }
  Json row = object_with_room(15);
  row["id"] = node;
  row["kind"] = name_of(what.kind);
  row["name"] = trace.strings.view(name_of_row(trace, what));
  row["start_ns"] = graph.start[node] - path.begin;
  row["duration_ns"] = graph.end[node] - graph.start[node];
  row["own_ns"] = view.own_work(node, bound.end);
  row["slack_ns"] = path.slack[node];
  row["on_path"] = path.on_path[node];
  row["place"] = name_of(place.place);
  row["process"] = index_or_null(place.process);
  row["thread"] = index_or_null(place.thread);
  const bool streamed = track != nullptr && track->stream != trace::kNone;
  const bool queued = track != nullptr && track->queue != trace::kNone;
  row["stream"] = streamed ? Json(trace.streams[track->stream].id) : Json(nullptr);
  row["queue"] = queued ? Json(trace.queues[track->queue].id) : Json(nullptr);
  row["dispatch_id"] = what.kind == NodeKind::dispatch
                           ? Json(trace.dispatches.dispatch_id[what.row])
                           : Json(nullptr);
  row["edges"] = std::move(edges);
  return row;
}

Json nodes_json(const trace::Trace& trace, const CriticalPath& path, const DagRequest& request,
                std::vector<Missing>& missing) {
  if (!request.full && !request.nodes) return nullptr;
  const auto too_many_for_a_page = [&]() -> Json {
    missing.push_back(
        {.field = "nodes",
         .reason = fmt::format("the graph has more nodes than the {} of a page", kMostPageNodes),
         .remedy = "--full --out DIR lists more of them in dag.json"});
    return nullptr;
  };
  if (!path.graph) return request.full ? Json(nullptr) : too_many_for_a_page();
  const analyze::Graph& graph = *path.graph;
  std::vector<analyze::NodeId> nodes;
  for (analyze::NodeId node = 0; node < graph.size(); ++node)
    if (path.shows(graph.start[node], graph.end[node])) nodes.push_back(node);
  const std::size_t many = nodes.size();
  if (!request.full && many > kMostPageNodes) return too_many_for_a_page();
  if (many > kMostListedNodes) {
    missing.push_back({.field = "nodes",
                       .reason = fmt::format("the graph has {} nodes, and at most {} are listed",
                                             many, kMostListedNodes),
                       .remedy = "restrict it to one segment with --segment N"});
    return nullptr;
  }
  Json out = Json::array();
  out.get_ref<Json::array_t&>().reserve(many);
  for (const analyze::NodeId node : nodes) out.push_back(node_json(trace, path, node));
  return out;
}

Json other_machines_json(const CriticalPath& path) {
  Json out = Json::array();
  for (const analyze::OtherNode& other : path.other_nodes)
    out.push_back({{"machine", index_or_null(other.node)},
                   {"processes", other.processes},
                   {"dispatches", other.dispatches},
                   {"span_ns", other.span}});
  return out;
}

}  // namespace

Json trace_environment_json(const trace::Trace& trace) {
  std::set<std::string> files;
  for (const trace::Source& source : trace.sources) files.insert(source.file);
  Json machines = Json::array();
  for (const trace::Node& node : trace.nodes) machines.push_back(node.machine_id);
  Json processes = Json::array();
  for (const trace::Process& process : trace.processes)
    processes.push_back({{"machine", index_or_null(process.node)},
                         {"pid", process.pid},
                         {"command", process.command}});
  Json threads = Json::array();
  for (const trace::Thread& thread : trace.threads)
    threads.push_back({{"process", index_or_null(thread.process)}, {"tid", thread.tid}});
  return {{"files", files},
          {"machines", std::move(machines)},
          {"processes", std::move(processes)},
          {"threads", std::move(threads)}};
}

Json dag_document(const trace::Trace& trace, const analyze::Analysis& analysis,
                  const DagRequest& request) {
  const CriticalPath& path = *analysis.critical_path;
  const analyze::FoundSegments& segments = analysis.segments;
  std::vector<Missing> missing;
  Json document = object_with_room(22);
  document["schema_version"] = "1.0.0";
  document["document"] = "dag";
  document["generator"] = generator_json();
  document["synthetic"] = or_null(trace::synthetic_note(trace));
  document["segment"] = or_null(analysis.segment);
  document["machine"] = index_or_null(path.node);
  document["other_machines"] = other_machines_json(path);
  document["processes"] = path.processes;
  document["critical_path_ns"] = path.length;
  document["attribution"] = attribution_json(path);
  document["graph"] = graph_json(path);
  document["kernels"] = kernels_json(trace, path);
  document["path"] = path_json(trace, path);
  document["parallelism"] = parallelism_json(path);
  document["bubbles"] = bubbles_json(trace, path);
  document["top_slack"] = top_slack_json(trace, path);
  document["what_if"] = what_if_json(path);
  document["segments"] = nullptr;
  if (segments.segments)
    document["segments"] = segments_json(trace, *segments.segments, path.begin, request.full);
  else
    missing.push_back({.field = "segments",
                       .reason = segments.missing.reason,
                       .remedy = segments.missing.remedy});
  document["nodes"] = nodes_json(trace, path, request, missing);
  document["warnings"] = path.warnings;
  document["missing"] = missing_json(missing);
  document["environment"] = trace_environment_json(trace);
  document["environment"]["platform"] = to_string(path.platform);
  return document;
}

Json critical_path_summary(const trace::Trace& trace, const CriticalPath& path) {
  Json kernels = Json::array();
  for (std::size_t i = 0; i < std::min(kSummaryKernels, path.kernels.size()); ++i) {
    const analyze::KernelCriticality& kernel = path.kernels[i];
    const auto infinite = std::ranges::find(kernel.gains, 0.0, &analyze::Gain::factor);
    const bool known = infinite != kernel.gains.end();
    kernels.push_back({{"name", trace.strings.view(kernel.name)},
                       {"path_ns", kernel.path_time},
                       {"path_share", share_of(kernel.path_time, path.length)},
                       {"gain_if_infinitely_fast_ns", known ? Json(infinite->gain) : Json(nullptr)},
                       {"gain_if_infinitely_fast_share",
                        known ? share_of(infinite->gain, path.length) : Json(nullptr)}});
  }
  return {{"critical_path_ns", path.length},
          {"attribution", attribution_json(path)},
          {"kernels", std::move(kernels)}};
}

Json segments_summary(const analyze::Segments& segments) {
  Json out = segments_head(segments);
  out["slowest"] = or_null(segments.slowest);
  return out;
}

}  // namespace perflab::report
