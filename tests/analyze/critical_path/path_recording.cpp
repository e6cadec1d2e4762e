// Writing, reading back, and the graph as text.
#include "analyze/critical_path/path_recording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "analyze/critical_path/graph_input.h"
#include "analyze/scope/passes.h"
#include "analyze/scope/timing_scope.h"
#include "support/cuda_rows.h"
#include "support/test_database.h"
#include "trace/read/read_trace.h"

namespace perflab::test {
namespace {

using namespace analyze;

constexpr std::int64_t kT0 = 5'000'000'000'000;

/// The folder of the running test, emptied when the test first asks.
std::filesystem::path folder() {
  static const testing::TestInfo* last = nullptr;
  static std::filesystem::path path;
  const testing::TestInfo* const now = testing::UnitTest::GetInstance()->current_test_info();
  if (now != last) path = test_folder();
  last = now;
  return path;
}

constexpr std::array<const char*, kSpentKinds> kSpentNames = {
    "kernel", "copy", "launch_latency", "host_call", "sync_return", "host_code", "idle"};

}  // namespace

Recording::Recording(std::string_view name, WriterOptions options, std::int64_t unit)
    : path_(folder() / fmt::format("{}.db", name)),
      writer_(path_, std::move(options)),
      unit_(unit) {
  writer_.agent(host_agent());
  for (int i = 0; i < 2; ++i) {
    AgentRow gpu = is_cuda(writer_.options()) ? h100_agent(i) : mi300x_agent();
    gpu.absolute_index = gpu.logical_index = i + 1;
    gpu.type_index = i;
    writer_.agent(gpu);
  }
  for (int i = 0; i < 5; ++i) {
    writer_.queue();
    writer_.stream();
  }
  writer_.code_object();
}

std::int64_t Recording::at(std::int64_t time) const {
  return kT0 + time * unit_;
}

RegionRow Recording::scaled(RegionRow row) const {
  row.start = at(row.start);
  row.end = at(row.end);
  return row;
}

Id Recording::kernel_id(std::string_view name) {
  const auto known = kernels_.find(name);
  if (known != kernels_.end()) return known->second;
  const Id id = writer_.kernel({.name = std::string(name)});
  kernels_.emplace(name, id);
  return id;
}

Id Recording::launch(RegionRow call, std::string_view kernel, std::int64_t start, std::int64_t end,
                     On on) {
  if (on.tid) call.tid = on.tid;
  return writer_
      .launch(scaled(std::move(call)), {.kernel = kernel_id(kernel),
                                        .start = at(start),
                                        .end = at(end),
                                        .agent = on.agent,
                                        .queue = on.queue,
                                        .stream = on.stream,
                                        .tid = on.tid})
      .stack_id;
}

Id Recording::launch_copy(RegionRow call, std::int64_t start, std::int64_t end, On on) {
  if (on.tid) call.tid = on.tid;
  return writer_
      .launch_copy(scaled(std::move(call)), {.start = at(start),
                                             .end = at(end),
                                             .size = 4096,
                                             .dst_agent = on.agent,
                                             .stream = on.stream,
                                             .tid = on.tid})
      .stack_id;
}

void Recording::dispatch(std::string_view kernel, std::int64_t start, std::int64_t end, On on,
                         Id stack_id) {
  writer_.dispatch({.kernel = kernel_id(kernel),
                    .start = at(start),
                    .end = at(end),
                    .agent = on.agent,
                    .queue = on.queue,
                    .stream = on.stream,
                    .tid = on.tid,
                    .event = {.stack_id = stack_id}});
}

void Recording::copy(CopyRow row) {
  row.start = at(row.start);
  row.end = at(row.end);
  writer_.copy(row);
}

void Recording::call(RegionRow row) {
  writer_.region(scaled(std::move(row)));
}

Id Recording::thread(Id tid) {
  return writer_.thread({.tid = tid});
}

std::filesystem::path Recording::write() {
  const Result<void> done = writer_.close();
  EXPECT_TRUE(done) << (done ? "" : describe(done.error()));
  return path_;
}

std::string Built::name(NodeId node) const {
  const std::uint32_t row = graph().row(node);
  const std::string text(trace.strings.view(node_name(trace, graph(), node)));
  const std::string time = fmt::format("@{}", (graph().start[node] - begin) / unit);
  switch (graph().kind(node)) {
    case NodeKind::dispatch: {
      const auto& kernels = trace.dispatches.kernel;
      return std::ranges::count(kernels, kernels[row]) > 1 ? text + time : text;
    }
    case NodeKind::copy:
      return "copy" + time;
    case NodeKind::call:
      return text + time;
    case NodeKind::call_wait:
      return text + time + "/wait";
  }
  return {};
}

std::vector<std::string> Built::edges() const {
  std::vector<std::string> result;
  for (NodeId node = 0; node < graph().size(); ++node)
    for (std::uint32_t e = graph().first_edge[node]; e < graph().first_edge[node + 1]; ++e)
      result.push_back(
          fmt::format("{} > {} {}", name(graph().from[e]), name(node), info(graph().rule[e]).name));
  return result;
}

std::vector<std::string> Built::into(std::string_view node) const {
  std::vector<std::string> result;
  const NodeId into = find(node);
  if (into == kNoNode) return result;
  for (std::uint32_t e = graph().first_edge[into]; e < graph().first_edge[into + 1]; ++e)
    result.push_back(fmt::format("{} {}", name(graph().from[e]), info(graph().rule[e]).name));
  std::ranges::sort(result);
  return result;
}

NodeId Built::find(std::string_view node) const {
  for (NodeId i = 0; i < graph().size(); ++i)
    if (name(i) == node) return i;
  ADD_FAILURE() << "no node " << node;
  return kNoNode;
}

std::int64_t Built::slack(std::string_view node) const {
  const NodeId found = find(node);
  return found == kNoNode ? -1 : path.slack[found] / unit;
}

std::uint64_t Built::count(EdgeRule rule) const {
  return path.report.edges[static_cast<std::size_t>(rule)];
}

std::string Built::spent(const SpentTimes& times) const {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < kSpentKinds; ++i)
    if (times[i] != 0) parts.push_back(fmt::format("{} {}", kSpentNames.at(i), times[i] / unit));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<std::string> Built::on_path() const {
  std::vector<std::string> result;
  for (NodeId node = 0; node < graph().size(); ++node)
    if (path.on_path[node]) result.push_back(name(node));
  return result;
}

std::int64_t Built::gain(std::string_view kernel, double factor) const {
  for (const KernelCriticality& row : path.kernels) {
    if (trace.strings.view(row.name) != kernel) continue;
    for (const Gain& gain : row.gains)
      if (gain.factor == factor) {
        EXPECT_EQ(gain.gain, path.length - gain.makespan);
        return gain.gain * 1000 / unit;
      }
  }
  ADD_FAILURE() << "no gain of " << kernel << " at " << factor;
  return -1;
}

std::string Built::summary() const {
  std::string out =
      fmt::format("length {} begin {} processes {} stretches {}\nspent {}\n", path.length,
                  path.begin, path.processes, path.stretches, path.spent);
  const auto text = [&](trace::Index index) { return trace.strings.view(index); };
  for (const KernelCriticality& k : path.kernels) {
    out += fmt::format("kernel {} {} {} {} {} {} {} {}", text(k.name), k.dispatches, k.on_path,
                       k.without_slack, k.total, k.path_time, k.least_slack, k.median_slack);
    for (const Gain& g : k.gains) out += fmt::format(" {}:{}", g.factor, g.makespan);
    out += '\n';
  }
  for (const PathSegment& s : path.segments) {
    out += fmt::format("segment {} {} {} {} {} {} {} {}", static_cast<int>(s.place),
                       s.process == trace::kNone ? -1 : trace.processes[s.process].pid, s.place_id,
                       s.from, s.to, s.spent, s.nodes, s.folded);
    for (const auto& [name, time] : s.names) out += fmt::format(" {}:{}", text(name), time);
    out += fmt::format(" {}\n", s.entered ? info(*s.entered).name : "-");
  }
  for (const ConcurrencyLevel& l : path.concurrency)
    out += fmt::format("level {} {}\n", l.running, l.time);
  for (const Bubble& b : path.bubbles)
    out += fmt::format(
        "bubble {}-{} {} > {} {} {} {} {}\n", b.from, b.to,
        b.before == kNoNode ? "-" : name(b.before), name(b.after), b.spent,
        static_cast<int>(b.cause),
        b.call == trace::kNone
            ? "-"
            : fmt::format("{}@{}", text(trace.regions.name[b.call]), trace.regions.start[b.call]),
        b.call_time);
  for (const SlackRow& row : path.most_slack)
    out += fmt::format("slack {} {}\n", name(row.node), row.slack);
  out += fmt::format("edges {} contradicted {} nodes {} {} {} {} {} {} {}\n", path.report.edges,
                     path.report.contradicted, path.report.dispatches, path.report.copies,
                     path.report.calls, path.report.without_launch, path.report.unknown_events,
                     path.report.graph_launches, path.report.blind_graph_launches);
  out += fmt::format("{}\n", fmt::join(path.warnings, "\n"));
  std::vector<std::string> all = edges();
  std::ranges::sort(all);
  return out + fmt::format("{}\n", fmt::join(all, "\n"));
}

Built build(trace::Trace trace, CriticalPathOptions options, std::int64_t unit) {
  Built built;
  built.trace = std::move(trace);
  built.unit = unit;
  built.begin = kT0;
  built.scope = find_timing_scope(built.trace, find_passes(built.trace));
  options.keep_nodes = true;
  options.threads = 1;
  Result<CriticalPath> path = find_critical_path(built.trace, built.scope, options);
  EXPECT_TRUE(path) << (path ? "" : describe(path.error()));
  if (!path) {
    Graph empty;
    empty.first_edge = {0};
    built.path.graph = std::make_shared<const Graph>(std::move(empty));
    return built;
  }
  built.path = std::move(*path);
  check(built);
  return built;
}

Built build(const std::vector<std::filesystem::path>& files, CriticalPathOptions options,
            std::int64_t unit) {
  Result<trace::Trace> trace = trace::read(files, {.threads = 1});
  EXPECT_TRUE(trace) << (trace ? "" : describe(trace.error()));
  return build(trace ? std::move(*trace) : trace::Trace{}, std::move(options), unit);
}

Built build(Recording& recording, CriticalPathOptions options) {
  return build({recording.write()}, std::move(options));
}

namespace {

void check_nodes(const Built& built) {
  const Graph& graph = built.graph();
  std::vector<int> dispatches(built.trace.dispatches.size(), 0);
  std::vector<int> copies(built.trace.copies.size(), 0);
  for (NodeId node = 0; node < graph.size(); ++node) {
    const std::uint32_t row = graph.row(node);
    std::int64_t start = 0, end = 0;
    switch (graph.kind(node)) {
      case NodeKind::dispatch:
        ++dispatches.at(row);
        start = built.trace.dispatches.start[row];
        end = built.trace.dispatches.end[row];
        break;
      case NodeKind::copy:
        ++copies.at(row);
        start = built.trace.copies.start[row];
        end = built.trace.copies.end[row];
        break;
      case NodeKind::call:
      case NodeKind::call_wait:
        start = built.trace.regions.start[row];
        end = built.trace.regions.end[row];
        // The first half of a waiting call has no length.
        if (graph.kind(node) == NodeKind::call && graph.end[node] == start) end = start;
        break;
    }
    EXPECT_EQ(graph.start[node], start) << built.name(node);
    EXPECT_EQ(graph.end[node], end) << built.name(node);
  }
  const auto wanted = [&](trace::Index track) {
    const trace::Process& process = built.trace.processes[built.trace.tracks[track].process];
    return built.scope.track_counts[track] && process.node == built.path.node ? 1 : 0;
  };
  for (std::size_t i = 0; i < dispatches.size(); ++i)
    EXPECT_EQ(dispatches[i], wanted(built.trace.dispatches.track[i])) << "dispatch " << i;
  for (std::size_t i = 0; i < copies.size(); ++i)
    EXPECT_EQ(copies[i], wanted(built.trace.copies.track[i])) << "copy " << i;
}

/// The earliest schedule, from the formulas of graph.h alone.
void check_schedule(const Built& built) {
  const Graph& graph = built.graph();
  std::vector<std::int64_t> start(graph.size()), end(graph.size());
  for (NodeId node = 0; node < graph.size(); ++node) {
    std::int64_t own = graph.end[node] - graph.start[node];
    for (const NodeEvent event : {NodeEvent::start, NodeEvent::end}) {
      std::vector<std::uint32_t> edges;
      for (std::uint32_t e = graph.first_edge[node]; e < graph.first_edge[node + 1]; ++e)
        if (info(graph.rule[e]).to == event) edges.push_back(e);
      const auto origin = [&](std::uint32_t e) {
        return graph.time(graph.from[e], info(graph.rule[e]).from);
      };
      const auto last = std::ranges::max_element(edges, {}, origin);
      const bool binds =
          last != edges.end() && (event == NodeEvent::start || origin(*last) > graph.start[node]);
      if (binds && event == NodeEvent::end) own = std::min(own, graph.usual_sync_call);
      std::int64_t time = event == NodeEvent::end ? start[node] + own
                          : edges.empty()         ? graph.start[node]
                                                  : std::numeric_limits<std::int64_t>::min();
      for (const std::uint32_t e : edges) {
        const auto rule = static_cast<std::size_t>(graph.rule[e]);
        const std::int64_t recorded = graph.time(node, event) - origin(e);
        const NodeId from = graph.from[e];
        time = std::max(
            time, (info(graph.rule[e]).from == NodeEvent::start ? start : end)[from] +
                      (binds && e == *last ? recorded : std::min(recorded, graph.usual_lag[rule])));
      }
      (event == NodeEvent::start ? start : end)[node] = time;
    }
  }
  EXPECT_EQ(start, graph.start);
  EXPECT_EQ(end, graph.end);
}

void check_edges(const Built& built) {
  const Graph& graph = built.graph();
  ASSERT_EQ(graph.first_edge.size(), graph.size() + 1);
  ASSERT_EQ(graph.first_edge.back(), graph.from.size());
  std::array<std::uint64_t, kEdgeRules> edges{};
  for (NodeId node = 0; node < graph.size(); ++node)
    for (std::uint32_t e = graph.first_edge[node]; e < graph.first_edge[node + 1]; ++e) {
      ASSERT_LT(graph.from[e], node);
      ++edges[static_cast<std::size_t>(graph.rule[e])];
    }
  EXPECT_EQ(edges, built.path.report.edges);
  check_schedule(built);
}

void check_path(const Built& built) {
  const Graph& graph = built.graph();
  if (graph.size() == 0) return;
  std::int64_t at = std::ranges::max(graph.end), total = 0;
  EXPECT_EQ(built.path.begin, std::ranges::min(graph.start));
  EXPECT_EQ(built.path.length, at - built.path.begin);
  walk_critical_path(graph, [&](const PathStep& step) {
    EXPECT_EQ(step.to, at);
    EXPECT_LE(step.from, step.to);
    at = step.from;
  });
  EXPECT_EQ(at, built.path.begin);
  for (const std::int64_t time : built.path.spent) total += time;
  EXPECT_EQ(total, built.path.length);
  for (NodeId node = 0; node < graph.size(); ++node)
    EXPECT_GE(built.path.slack[node], 0) << built.name(node);
  std::int64_t of_levels = 0, of_segments = 0;
  for (const ConcurrencyLevel& level : built.path.concurrency) of_levels += level.time;
  EXPECT_EQ(of_levels, built.path.length);
  for (const PathSegment& segment : built.path.segments) {
    EXPECT_EQ(segment.from, of_segments);
    of_segments = segment.to;
  }
  EXPECT_EQ(of_segments, built.path.length);
  for (const Bubble& bubble : built.path.bubbles) {
    std::int64_t sum = 0;
    for (const std::int64_t time : bubble.spent) sum += time;
    EXPECT_EQ(sum, bubble.to - bubble.from);
  }
}

}  // namespace

void check(const Built& built) {
  check_nodes(built);
  check_edges(built);
  check_path(built);
}

}  // namespace perflab::test
