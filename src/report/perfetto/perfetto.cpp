// What is shown where. Every track is written in time order; lanes keep slices of a track from
// overlapping, which the format does not allow.
#include "report/perfetto/perfetto.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/counters/counter_join.h"
#include "analyze/critical_path/solve.h"
#include "analyze/scope/timing_scope.h"
#include "base/version.h"
#include "report/critical_path/dag_parts.h"
#include "report/kit/document.h"
#include "report/perfetto/trace_events.h"

namespace perflab::report {
namespace {

using analyze::CriticalPath;
using analyze::EdgeRule;
using analyze::NodeId;
using analyze::NodeKind;
using analyze::NodeRow;
using analyze::PathStep;
using analyze::Spent;
using trace::Index;
using trace::kNone;

/// The process of the file that holds what belongs to no process of the run.
constexpr std::uint32_t kRun = 1;

/// Order of tracks within a process.
enum class Order : std::uint8_t { path, segments, calls, ranges, work };

/// Names of chrome://tracing's palette, by Spent.
constexpr std::array<std::string_view, analyze::kSpentKinds> kColours = {
    "good", "rail_animation", "yellow", "bad", "terrible", "grey", "white"};

/// A stretch of the critical path inside or before one node.
struct Stretch {
  NodeId node;
  std::int64_t from, to;
  Spent spent;
  std::uint32_t via;
};

/// A counter of one dispatch.
struct CounterValue {
  std::uint32_t process;  ///< of the file
  Index counter;          ///< string
  std::int64_t start, end;
  Index dispatch;
  double value;
};

class Exporter {
 public:
  Exporter(AtomicFile& file, const trace::Trace& trace, const analyze::Analysis& analysis)
      : trace_(trace),
        path_(*analysis.critical_path),
        graph_(*path_.graph),
        names_(trace.strings.size()),
        only_(analysis.segment) {
    if (analysis.segments.segments) segments_ = &*analysis.segments.segments;
    find_nodes();
    find_path();
    origin_ = earliest();
    writer_.emplace(file, origin_);
  }

  void run() {
    write_processes();
    write_path();
    write_segments();
    write_running();
    write_calls();
    write_work(NodeKind::dispatch);
    write_work(NodeKind::copy);
    write_counters();
    write_flows();
    std::string other = fmt::format(
        R"("generator":"rocm-perf {}","origin_ns":{},"critical_path_ns":{},"left_out_calls":{})",
        kProgramVersion, origin_, path_.length, left_out_);
    if (const std::string note = trace::synthetic_note(trace_); !note.empty())
      other += fmt::format(R"(,"synthetic":{})", json_string(note));
    if (only_) other += fmt::format(R"(,"segment":{})", *only_);
    writer_->finish(other);
  }

 private:
  /// A track of a process in the file: its number, and what it is called.
  using LaneKey = std::pair<Index, std::size_t>;  ///< group of the caller's, lane

  void find_nodes();
  void find_path();
  [[nodiscard]] std::int64_t earliest() const;
  [[nodiscard]] bool shown(Index process) const {
    return process != kNone && file_process_[process] != 0;
  }
  [[nodiscard]] bool segment_shown(std::size_t i) const { return !only_ || *only_ == i; }
  const std::string& name(Index string);
  [[nodiscard]] Index process_of_region(std::size_t region) const {
    const Index thread = trace_.regions.thread[region];
    return thread == kNone ? kNone : trace_.threads[thread].process;
  }
  /// The track of a lane; made and named at its first use.
  EventTrack lane(std::map<LaneKey, EventTrack>& lanes, LaneKey key, Index process,
                  const std::string& title, Order order);
  void write_processes();
  void write_path();
  void write_segments();
  void write_running();
  void write_calls();
  void write_work(NodeKind kind);
  void write_operation(NodeKind kind, std::size_t row, EventTrack track, const std::string& slack);
  void write_counters();
  void write_counter(std::span<const CounterValue> values);
  void write_flows();

  const trace::Trace& trace_;
  const CriticalPath& path_;
  const analyze::Graph& graph_;
  const analyze::Segments* segments_ = nullptr;
  std::vector<std::string> names_;                      ///< by string: quoted, empty until used
  std::unordered_map<Index, Index> range_text_;         ///< by region
  std::vector<NodeId> dispatch_node_, copy_node_;       ///< by row
  std::vector<std::uint32_t> file_process_;             ///< by process; 0: not shown
  std::vector<Stretch> steps_;                          ///< in time order
  std::unordered_map<Index, EventTrack> launch_track_;  ///< by region that launches on the path
  std::unordered_map<NodeId, EventTrack> work_track_;   ///< of work launched on the path
  std::optional<std::size_t> only_;
  std::int64_t origin_ = 0;
  std::optional<TraceEventWriter> writer_;
  std::uint32_t threads_ = 0;  ///< numbers of tracks given out
  std::uint64_t left_out_ = 0;
};

void Exporter::find_nodes() {
  dispatch_node_.assign(trace_.dispatches.size(), analyze::kNoNode);
  copy_node_.assign(trace_.copies.size(), analyze::kNoNode);
  std::vector<bool> used(trace_.processes.size(), false);
  for (NodeId node = 0; node < graph_.size(); ++node) {
    if (!path_.shows(graph_.start[node], graph_.end[node])) continue;
    const NodeRow what{.kind = graph_.kind(node), .row = graph_.row(node)};
    if (what.kind == NodeKind::dispatch) dispatch_node_[what.row] = node;
    if (what.kind == NodeKind::copy) copy_node_[what.row] = node;
    if (const Index process = place_of_row(trace_, what).process; process != kNone)
      used[process] = true;
  }
  file_process_.assign(trace_.processes.size(), 0);
  std::uint32_t number = kRun;
  for (std::size_t i = 0; i < used.size(); ++i)
    if (used[i]) file_process_[i] = ++number;
  // Perfetto takes a thread with the number of its process for the main thread: none is.
  threads_ = number;
  for (std::size_t i = 0; i < trace_.ranges.size(); ++i)
    range_text_[trace_.ranges.region[i]] = trace_.ranges.message[i];
}

void Exporter::find_path() {
  const std::int64_t begin = path_.begin, end = path_.begin + path_.length;
  analyze::walk_critical_path(graph_, [&](const PathStep& whole) {
    if (!path_.shows(whole.from, whole.to)) return;
    PathStep step = whole;  // as much of it as lies in the segment
    step.from = std::max(step.from, begin);
    step.to = std::min(step.to, end);
    if (!steps_.empty() && steps_.back().node == step.node && steps_.back().spent == step.spent &&
        steps_.back().via == step.via) {
      steps_.back().from = step.from;
      return;
    }
    steps_.push_back({step.node, step.from, step.to, step.spent, step.via});
  });
  std::ranges::reverse(steps_);
  for (const Stretch& step : steps_) {
    if (step.via == analyze::kNoEdge || !analyze::is_launch(graph_.rule[step.via])) continue;
    work_track_[step.node] = {};
    launch_track_[graph_.row(graph_.from[step.via])] = {};
  }
}

std::int64_t Exporter::earliest() const {
  std::int64_t first = path_.begin;
  for (std::size_t i = 0; i < trace_.regions.size(); ++i)
    if (shown(process_of_region(i)) &&
        path_.shows(trace_.regions.start[i], trace_.regions.end[i])) {
      first = std::min(first, trace_.regions.start[i]);
      break;  // they are ordered by start
    }
  if (segments_ != nullptr)
    for (std::size_t i = 0; i < segments_->segments.size(); ++i)
      if (segment_shown(i)) first = std::min(first, segments_->segments[i].start);
  return first;
}

const std::string& Exporter::name(Index string) {
  std::string& text = names_[string];
  if (text.empty()) text = json_string(trace_.strings.view(string));
  return text;
}

EventTrack Exporter::lane(std::map<LaneKey, EventTrack>& lanes, LaneKey key, Index process,
                          const std::string& title, Order order) {
  const auto [at, added] = lanes.try_emplace(key);
  if (!added) return at->second;
  at->second = {.process = process == kNone ? kRun : file_process_[process], .thread = ++threads_};
  const std::string suffix = key.second == 0 ? "" : fmt::format(" ({})", key.second + 1);
  writer_->thread_name(at->second, json_string(title + suffix), std::to_underlying(order));
  return at->second;
}

void Exporter::write_processes() {
  writer_->process_name(kRun, json_string("critical path"), 0);
  for (std::size_t i = 0; i < file_process_.size(); ++i)
    if (file_process_[i] != 0)
      writer_->process_name(file_process_[i],
                            json_string(fmt::format("process {} {}", trace_.processes[i].pid,
                                                    trace_.processes[i].command)),
                            static_cast<int>(file_process_[i]));
}

void Exporter::write_path() {
  std::map<LaneKey, EventTrack> lanes;
  const EventTrack track = lane(lanes, {0, 0}, kNone, "critical path", Order::path);
  for (const Stretch& step : steps_) {
    const NodeRow what{.kind = graph_.kind(step.node), .row = graph_.row(step.node)};
    const std::string& of = name(name_of_row(trace_, what));
    std::string args = fmt::format(R"("node":{},"slack_ns":{})", of, path_.slack[step.node]);
    if (step.via != analyze::kNoEdge)
      args += fmt::format(R"(,"edge":"{}")", analyze::info(graph_.rule[step.via]).name);
    writer_->slice(track, step.from, step.to, json_string(words_for(step.spent)), "critical_path",
                   args, kColours[static_cast<std::size_t>(step.spent)]);
    // Inside its slice, so that the outer one has the colour of what was spent.
    if (step.via == analyze::kNoEdge && step.spent != Spent::idle)
      writer_->slice(track, step.from, step.to, of, "critical_path", {});
  }
}

void Exporter::write_segments() {
  if (segments_ == nullptr) return;
  std::map<LaneKey, EventTrack> lanes;
  OverlapLanes overlap;
  for (std::size_t i = 0; i < segments_->segments.size(); ++i) {
    if (!segment_shown(i)) continue;
    const analyze::Segment& segment = segments_->segments[i];
    const EventTrack track = lane(lanes, {0, overlap.lane(segment.start, segment.end)}, kNone,
                                  "segments", Order::segments);
    const std::string title = segment.label.empty() ? fmt::format("segment {}", i) : segment.label;
    writer_->slice(
        track, segment.start, segment.end, json_string(title), "segment",
        fmt::format(
            R"("segment":{},"warm_up":{},"period_ns":{},"dispatches":{},"kernel_time_ns":{},"busy_ns":{})",
            i, segment.warm_up, segment.period, segment.dispatches, segment.kernel_time,
            segment.busy));
  }
}

/// How many dispatches run, from time to time.
void Exporter::write_running() {
  std::vector<std::int64_t> starts, ends;
  for (std::size_t row = 0; row < dispatch_node_.size(); ++row)
    if (dispatch_node_[row] != analyze::kNoNode) {
      starts.push_back(trace_.dispatches.start[row]);
      ends.push_back(trace_.dispatches.end[row]);
    }
  std::ranges::sort(starts);
  std::ranges::sort(ends);
  std::size_t began = 0;
  std::size_t ended = 0;
  std::size_t before = 0;
  while (ended < ends.size()) {
    const std::int64_t now =
        began < starts.size() ? std::min(starts[began], ends[ended]) : ends[ended];
    while (began < starts.size() && starts[began] <= now) ++began;
    while (ended < ends.size() && ends[ended] <= now) ++ended;
    if (began - ended != before)
      writer_->counter(kRun, json_string("running dispatches"), now,
                       fmt::format("{}", began - ended));
    before = began - ended;
  }
}

void Exporter::write_calls() {
  std::map<LaneKey, EventTrack> calls, ranges;
  std::unordered_map<Index, NestedLanes> call_lanes, range_lanes;
  const trace::RegionColumns& regions = trace_.regions;
  for (std::size_t row = 0; row < regions.size(); ++row) {
    const Index process = process_of_region(row);
    if (!shown(process) || !path_.shows(regions.start[row], regions.end[row])) continue;
    const auto text = range_text_.find(static_cast<Index>(row));
    const bool range = text != range_text_.end() ||
                       trace_.strings.view(regions.category[row]).starts_with("MARKER");
    const Index thread = regions.thread[row];
    const std::size_t at =
        (range ? range_lanes : call_lanes)[thread].lane(regions.start[row], regions.end[row]);
    if (at == NestedLanes::kMost) {
      ++left_out_;
      continue;
    }
    const std::int64_t tid = trace_.threads[thread].tid;
    const EventTrack track =
        range ? lane(ranges, {thread, at}, process, fmt::format("ranges of thread {}", tid),
                     Order::ranges)
              : lane(calls, {thread, at}, process, fmt::format("thread {}", tid), Order::calls);
    writer_->slice(track, regions.start[row], regions.end[row],
                   name(text != range_text_.end() ? text->second : regions.name[row]),
                   range ? "range" : "call", {});
    if (const auto launch = launch_track_.find(static_cast<Index>(row));
        launch != launch_track_.end())
      launch->second = track;
  }
}

void Exporter::write_operation(NodeKind kind, std::size_t row, EventTrack track,
                               const std::string& slack) {
  const NodeRow what{.kind = kind, .row = static_cast<Index>(row)};
  const NodeId node = kind == NodeKind::dispatch ? dispatch_node_[row] : copy_node_[row];
  const auto [start, end] = times_of_row(trace_, what);
  std::string args = fmt::format(R"("slack_ns":{},"on_path":{})", path_.slack[node],
                                 path_.on_path[node]);
  if (kind == NodeKind::dispatch) {
    const trace::DispatchColumns& dispatches = trace_.dispatches;
    const trace::LaunchConfig& launch = trace_.launch_configs[dispatches.config[row]];
    args += fmt::format(R"(,"dispatch_id":{},"workgroup":"{}x{}x{}","grid":"{}x{}x{}")",
                        dispatches.dispatch_id[row], launch.workgroup[0], launch.workgroup[1],
                        launch.workgroup[2], launch.grid[0], launch.grid[1], launch.grid[2]);
  } else if (trace_.sources[trace_.source_of_track(trace_.copies.track[row])].copy_sizes_known) {
    args += fmt::format(R"(,"bytes":{})", trace_.copies.bytes[row]);
  }
  writer_->slice(track, start, end, name(name_of_row(trace_, what)), name_of(kind), args);
  writer_->counter(track.process, slack, start,
                   fmt::format("{}.{:03}", path_.slack[node] / 1000, path_.slack[node] % 1000));
  if (const auto work = work_track_.find(node); work != work_track_.end()) work->second = track;
}

/// Dispatches or copies: by process, GPU, and stream (or queue, where the recording has no stream).
void Exporter::write_work(NodeKind kind) {
  struct Group {
    OverlapLanes lanes;
    std::string title, slack;
  };
  using Where = std::tuple<Index, Index, analyze::Place, std::int64_t>;
  std::map<Where, Index> numbers;
  std::vector<Group> groups;
  std::map<LaneKey, EventTrack> lanes;
  const bool dispatch = kind == NodeKind::dispatch;
  const std::vector<NodeId>& nodes = dispatch ? dispatch_node_ : copy_node_;
  std::vector<Index> group_of_track(trace_.tracks.size(), kNone);
  for (std::size_t row = 0; row < nodes.size(); ++row) {
    if (nodes[row] == analyze::kNoNode) continue;
    const Index track = dispatch ? trace_.dispatches.track[row] : trace_.copies.track[row];
    const Index process = trace_.tracks[track].process;
    if (group_of_track[track] == kNone) {
      const NodePlace place = place_of_track(trace_, track);
      const auto [at, added] = numbers.try_emplace({process, place.agent, place.place, place.id},
                                                   static_cast<Index>(groups.size()));
      if (added) {
        std::string where =
            place.agent == kNone
                ? std::string("unknown agent")
                : fmt::format("agent {} {}", trace_.agents[place.agent].absolute_index,
                              trace_.agents[place.agent].name);
        if (place.place != analyze::Place::nowhere)
          where += ", " + place_text(place.place, place.id);
        groups.push_back(
            {.lanes = {},
             .title = (dispatch ? "" : "copies to ") + where,
             .slack = json_string((dispatch ? "slack us, " : "slack us, copies to ") + where)});
      }
      group_of_track[track] = at->second;
    }
    Group& group = groups[group_of_track[track]];
    const auto [start, end] = times_of_row(trace_, {.kind = kind, .row = static_cast<Index>(row)});
    write_operation(kind, row,
                    lane(lanes, {group_of_track[track], group.lanes.lane(start, end)}, process,
                         group.title, Order::work),
                    group.slack);
  }
}

/// Counters at the dispatches that the graph has; those of other passes at the dispatch that they
/// are of. A track of a counter is 0 where none of its dispatches runs.
void Exporter::write_counters() {
  if (trace_.counters.size() == 0) return;
  const analyze::Passes passes = analyze::find_passes(trace_);
  const analyze::TimingScope scope = analyze::find_timing_scope(trace_, passes);
  const analyze::CounterIndex index(trace_);
  std::vector<CounterValue> values;
  const analyze::CounterJoin join = analyze::join_counters(trace_, passes, scope);
  for (const analyze::JoinedKernel& kernel : join.kernels)
    for (const analyze::ShapeGroup& shape : kernel.shapes)
      for (const std::vector<Index>& pass : shape.in_pass)
        for (std::size_t i = 0; i < std::min(pass.size(), shape.timed.size()); ++i) {
          const Index dispatch = shape.timed[i];
          if (dispatch_node_[dispatch] == analyze::kNoNode) continue;
          const auto [first, last] = index.rows(pass[i]);
          for (std::size_t row = first; row < last; ++row)
            if (std::isfinite(trace_.counters.sum[row]))
              values.push_back(
                  {.process =
                       file_process_[trace_.tracks[trace_.dispatches.track[dispatch]].process],
                   .counter = trace_.counter_infos[trace_.counters.counter[row]].name,
                   .start = trace_.dispatches.start[dispatch],
                   .end = trace_.dispatches.end[dispatch],
                   .dispatch = dispatch,
                   .value = trace_.counters.sum[row]});
        }
  const auto text = [&](const CounterValue& value) { return trace_.strings.view(value.counter); };
  std::ranges::stable_sort(values, [&](const CounterValue& a, const CounterValue& b) {
    return std::tuple(a.process, text(a), a.start, a.dispatch) <
           std::tuple(b.process, text(b), b.start, b.dispatch);
  });
  for (std::size_t first = 0; first < values.size();) {
    std::size_t past = first;
    while (past < values.size() && values[past].process == values[first].process &&
           values[past].counter == values[first].counter)
      ++past;
    write_counter(std::span(values).subspan(first, past - first));
    first = past;
  }
}

/// The values of one counter of one process, by start. Dispatches that overlap have tracks of their
/// own: a sum of them would say nothing for counters that are shares.
void Exporter::write_counter(std::span<const CounterValue> values) {
  OverlapLanes lanes;
  std::vector<std::int64_t> until;  // by lane: end of its last value
  std::vector<std::string> titles;  // by lane
  Index last = kNone;
  for (const CounterValue& value : values) {
    // A counter that several passes have is shown once.
    if (value.dispatch == last) continue;
    last = value.dispatch;
    const std::size_t lane = lanes.lane(value.start, value.end);
    if (lane == until.size()) {
      const std::string suffix = lane == 0 ? "" : fmt::format(" ({})", lane + 1);
      titles.push_back(
          json_string(fmt::format("{}{}", trace_.strings.view(value.counter), suffix)));
      until.push_back(value.start);
    } else if (until[lane] < value.start) {
      writer_->counter(value.process, titles[lane], until[lane], "0");
    }
    writer_->counter(value.process, titles[lane], value.start, fmt::format("{}", value.value));
    until[lane] = value.end;
  }
  for (std::size_t lane = 0; lane < until.size(); ++lane)
    writer_->counter(values.front().process, titles[lane], until[lane], "0");
}

void Exporter::write_flows() {
  for (const Stretch& step : steps_) {
    if (step.via == analyze::kNoEdge || !analyze::is_launch(graph_.rule[step.via])) continue;
    const Index call = graph_.row(graph_.from[step.via]);
    const EventTrack from = launch_track_[call];
    const EventTrack to = work_track_[step.node];
    if (from.thread == 0 || to.thread == 0) continue;
    writer_->flow("launch", from, trace_.regions.start[call], to, graph_.start[step.node]);
  }
}

}  // namespace

Result<void> write_perfetto(const std::filesystem::path& file, const trace::Trace& trace,
                            const analyze::Analysis& analysis) {
  PERFLAB_CHECK(analysis.critical_path && analysis.critical_path->graph);
  PERFLAB_TRY(AtomicFile output, AtomicFile::create(file));
  Exporter(output, trace, analysis).run();
  return output.commit();
}

}  // namespace perflab::report
