// Rows and figures of that run, each written down.
#include "report/dag_samples.h"

#include <memory>

#include "analyze/critical_path/bindings.h"
#include "analyze/critical_path/solve.h"

namespace perflab::report {
namespace {

using analyze::EdgeRule;
using analyze::NodeKind;
using trace::Index;
using trace::kNone;

void add_tables(trace::Trace& trace) {
  trace::Source source;
  source.file = "run.db";
  source.guid = "guid";
  source.schema_version = "3.0.1";
  source.collector = "rocprofv3";
  trace.sources.push_back(source);
  trace.nodes.push_back({.machine_id = "machine-1", .hash = 1});
  trace.nodes.push_back({.machine_id = "machine-2", .hash = 2});
  trace.processes.push_back(
      {.source = 0, .node = 0, .pid = 10, .command = "./app \"1\"", .start = {}, .end = {}});
  trace.threads.push_back({.process = 0, .tid = 11});
  trace::Agent agent;
  agent.node = 0;
  agent.absolute_index = 4;
  agent.type = "GPU";
  agent.name = "gfx942";
  trace.agents.push_back(agent);
  trace.queues.push_back({.source = 0, .id = 7, .name = "queue"});
  for (const std::int64_t id : {1, 2})
    trace.streams.push_back({.source = 0, .id = id, .name = "stream"});
  for (const Index stream : {0U, 1U})
    trace.tracks.push_back({.process = 0, .thread = 0, .agent = 0, .queue = 0, .stream = stream});
  trace.launch_configs.push_back({.workgroup = {256, 1, 1}, .grid = {1024, 2, 1}});
  for (const char* name : {"gemm<float>", "axpy"}) {
    trace::KernelSymbol symbol;
    symbol.source = 0;
    symbol.name = trace.strings.intern(name);
    trace.kernel_symbols.push_back(symbol);
  }
}

void add_region(trace::Trace& trace, const char* category, const char* name, std::int64_t start,
                std::int64_t end) {
  trace.regions.start.push_back(start);
  trace.regions.end.push_back(end);
  trace.regions.name.push_back(trace.strings.intern(name));
  trace.regions.category.push_back(trace.strings.intern(category));
  trace.regions.thread.push_back(0);
  trace.regions.parent.push_back(kNone);
}

void add_dispatch(trace::Trace& trace, Index kernel, Index track, std::int64_t start,
                  std::int64_t end) {
  trace.dispatches.start.push_back(start);
  trace.dispatches.end.push_back(end);
  trace.dispatches.dispatch_id.push_back(100 + static_cast<std::int64_t>(trace.dispatches.size()));
  trace.dispatches.kernel.push_back(kernel);
  trace.dispatches.config.push_back(0);
  trace.dispatches.track.push_back(track);
  trace.dispatches.launch.push_back(1);
}

/// Adds nodes and edges in order.
class GraphMaker {
 public:
  void node(NodeKind kind, std::uint32_t row, std::int64_t start, std::int64_t end,
            std::initializer_list<std::pair<analyze::NodeId, EdgeRule>> edges) {
    graph.start.push_back(start);
    graph.end.push_back(end);
    graph.kind_row.push_back((static_cast<std::uint32_t>(kind) << analyze::Graph::kRowBits) | row);
    graph.first_edge.push_back(static_cast<std::uint32_t>(graph.from.size()));
    for (const auto& [from, rule] : edges) {
      graph.from.push_back(from);
      graph.rule.push_back(rule);
    }
  }
  analyze::Graph take() && {
    graph.first_edge.push_back(static_cast<std::uint32_t>(graph.from.size()));
    analyze::measure_usual_lags(graph);
    return std::move(graph);
  }

 private:
  analyze::Graph graph;
};

analyze::Graph sample_graph() {
  GraphMaker maker;
  maker.node(NodeKind::call, 1, 1000, 1010, {});
  maker.node(NodeKind::call, 2, 1012, 1020, {{0, EdgeRule::program_order}});
  maker.node(NodeKind::dispatch, 0, 1030, 1130, {{0, EdgeRule::launch}});
  maker.node(NodeKind::dispatch, 1, 1050, 1150, {{0, EdgeRule::launch}});
  maker.node(NodeKind::dispatch, 2, 1120, 1160, {{2, EdgeRule::submission_order}});
  maker.node(NodeKind::copy, 0, 1155, 1200, {{1, EdgeRule::launch}, {3, EdgeRule::stream_order}});
  maker.node(NodeKind::call, 3, 1022, 1205,
             {{1, EdgeRule::program_order}, {5, EdgeRule::stream_sync}});
  return std::move(maker).take();
}

std::vector<analyze::PathSegment> sample_segments(const trace::Trace& trace) {
  const auto segment = [&](analyze::Place place, std::int64_t id, std::int64_t from,
                           std::int64_t to) {
    analyze::PathSegment out;
    out.place = place;
    out.process = 0;
    out.place_id = id;
    out.from = from;
    out.to = to;
    return out;
  };
  std::vector<analyze::PathSegment> out = {segment(analyze::Place::stream, 2, 0, 200),
                                           segment(analyze::Place::host_thread, 11, 200, 205)};
  out[0].spent = {100, 45, 40, 10, 0, 0, 5};
  out[0].nodes = 2;
  out[0].folded = 1;
  out[0].names = {{trace.kernel_symbols[1].name, 100}, {trace.copies.kind[0], 45}};
  out[1].spent = {0, 0, 0, 0, 5, 0, 0};
  out[1].nodes = 1;
  out[1].entered = EdgeRule::stream_sync;
  return out;
}

std::vector<analyze::KernelCriticality> sample_kernels(const trace::Trace& trace) {
  analyze::KernelCriticality axpy;
  axpy.name = trace.kernel_symbols[1].name;
  axpy.dispatches = axpy.on_path = axpy.without_slack = 1;
  axpy.total = axpy.path_time = 100;
  axpy.gains = {{.factor = 1.5, .makespan = 172, .gain = 33},
                {.factor = 2, .makespan = 165, .gain = 40},
                {.factor = 0, .makespan = 165, .gain = 40}};
  analyze::KernelCriticality gemm;
  gemm.name = trace.kernel_symbols[0].name;
  gemm.dispatches = 2;
  gemm.total = 140;
  gemm.least_slack = gemm.median_slack = 45;
  return {axpy, gemm};
}

analyze::Segments sample_repetition(const trace::Trace& trace) {
  analyze::Segments segments;
  segments.source = analyze::Segments::Source::ranges;
  segments.pattern = "step #";
  segments.regularity = 0.5;
  segments.warm_up = 1;
  for (int i = 0; i < 3; ++i) {
    analyze::Segment segment;
    segment.label = "step " + std::to_string(i + 1);
    segment.start = 1030 + 40 * i;
    segment.end = segment.start + 60;  // they overlap: the next one begins before the end
    segment.period = 40;
    segment.dispatches = 1;
    segment.kernel_time = 50;
    segment.busy = 50;
    segment.warm_up = i == 0;
    segments.segments.push_back(segment);
  }
  segments.spread = {.count = 2, .min = 40, .max = 60, .median = 50, .mean = 50, .cv = 0.25};
  segments.slowest = 2;
  segments.differences = {{.kernel = trace.kernel_symbols[0].name,
                           .time = 40,
                           .usual_time = 20,
                           .count = 2,
                           .usual_count = 1},
                          {.kernel = trace.kernel_symbols[1].name,
                           .time = 1'000'200,
                           .usual_time = 1'000'100,
                           .count = 1,
                           .usual_count = 1},
                          {.kernel = kNone, .time = 10, .usual_time = 5}};
  segments.dispatches_outside = 1;
  return segments;
}

}  // namespace

trace::Trace sample_dag_trace() {
  trace::Trace trace;
  add_tables(trace);
  add_region(trace, "MARKER_CORE_RANGE_API", "roctxRangePushA", 990, 1210);
  add_region(trace, "HIP_RUNTIME_API", "hipLaunchKernel", 1000, 1010);
  add_region(trace, "HIP_RUNTIME_API", "hipMemcpyAsync", 1012, 1020);
  add_region(trace, "HIP_RUNTIME_API", "hipStreamSynchronize", 1022, 1205);
  trace.ranges.region = {0};
  trace.ranges.message = {trace.strings.intern("step 1")};
  add_dispatch(trace, 0, 0, 1030, 1130);
  add_dispatch(trace, 1, 1, 1050, 1150);
  add_dispatch(trace, 0, 0, 1120, 1160);
  trace.copies.start = {1155};
  trace.copies.end = {1200};
  trace.copies.bytes = {4096};
  trace.copies.kind = {trace.strings.intern("MEMORY_COPY_HOST_TO_DEVICE")};
  trace.copies.source_agent = {kNone};
  trace.copies.track = {1};
  trace.copies.launch = {2};
  return trace;
}

analyze::Analysis sample_dag() {
  const trace::Trace trace = sample_dag_trace();
  analyze::Analysis analysis;
  analyze::CriticalPath& path = analysis.critical_path.emplace();
  path.graph = std::make_shared<const analyze::Graph>(sample_graph());
  path.slack = analyze::slack(*path.graph);
  path.on_path = Bits(path.graph->size());
  for (const std::size_t node : {0U, 3U, 5U, 6U}) path.on_path.set(node);
  path.node = 0;
  path.other_nodes = {{.node = 1, .processes = 2, .dispatches = 5, .span = 77}};
  path.processes = 1;
  path.begin = 1000;
  path.length = 205;
  path.spent = {100, 45, 40, 10, 5, 0, 5};
  path.kernels = sample_kernels(trace);
  path.segments = sample_segments(trace);
  path.stretches = 3;
  path.concurrency = {{.running = 0, .time = 40},
                      {.running = 1, .time = 75},
                      {.running = 2, .time = 80},
                      {.running = 3, .time = 10}};
  path.parallelism = {{.dispatches = 1.25, .copies = 0, .busy = 0.75},
                      {.dispatches = 0.5, .copies = 0.5, .busy = 1}};
  analyze::Bubble bubble;
  bubble.from = 20;
  bubble.to = 30;
  bubble.before = 2;
  bubble.after = 3;
  bubble.before_row = {.kind = NodeKind::dispatch, .row = 0};
  bubble.after_row = {.kind = NodeKind::dispatch, .row = 1};
  bubble.spent = {0, 0, 2, 8, 0, 0, 0};
  bubble.cause = analyze::Spent::host_call;
  bubble.call = 2;
  bubble.call_time = 8;
  analyze::Bubble unknown;
  unknown.from = 5;
  unknown.to = 8;
  path.bubbles = {bubble, unknown};
  path.bubble_count = 3;
  path.bubble_time = 14;
  path.most_slack = {{.node = 4, .slack = 45, .row = {.kind = NodeKind::dispatch, .row = 2}},
                     {.node = 5, .slack = 0, .row = {.kind = NodeKind::copy, .row = 0}}};
  path.what_if.emplace();
  path.what_if->changes.resize(2);
  path.what_if->changes[0].text = "axpy=2x";
  path.what_if->changes[1].text = "sync=drop";
  path.what_if->changes[1].drop = true;
  path.what_if->matched = {1, 1};
  path.what_if->makespan = 160;
  path.what_if->gain = 45;
  path.report.edges = {2, 3, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 4};
  path.report.contradicted[static_cast<std::size_t>(EdgeRule::stream_order)] = 1;
  path.report.dispatches = 3;
  path.report.copies = 1;
  path.report.calls = 3;
  path.report.graph_launches = 2;
  path.report.blind_graph_launches = 1;
  path.warnings = {"1 graph launch shows no work: this profiler does not see it"};
  analysis.segments.segments = sample_repetition(trace);
  return analysis;
}

analyze::Analysis sample_timeline(const analyze::TimelineLimits& limits) {
  const trace::Trace trace = sample_dag_trace();
  analyze::Analysis analysis = sample_dag();
  const analyze::CriticalPath& path = *analysis.critical_path;
  analysis.timeline = analyze::make_timeline(
      trace,
      {.source_counts = std::vector<bool>(trace.sources.size(), true),
       .track_counts = std::vector<bool>(trace.tracks.size(), true)},
      {.node = path.node, .begin = path.begin, .span = path.length}, path.graph.get(), limits);
  return analysis;
}

}  // namespace perflab::report
