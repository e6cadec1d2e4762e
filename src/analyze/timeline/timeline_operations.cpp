// A call inside another call of its thread is told by time alone: rocprofiler-systems writes no
// parents.
#include "analyze/timeline/timeline_operations.h"

#include "trace/api_calls.h"

namespace perflab::analyze {

using trace::Index;
using trace::kNone;

TimelineOperations::TimelineOperations(const trace::Trace& trace, const TimingScope& scope,
                                       Index node)
    : trace_(trace),
      scope_(scope),
      node_(node),
      lane_of_track_(trace.tracks.size(), kNone),
      lane_of_thread_(trace.threads.size(), kNone) {
  for (std::uint32_t i = 0; i < trace.strings.size(); ++i)
    marker_.push_back(trace::is_marker_category(trace.strings.view(i)));
}

bool TimelineOperations::includes(Index process) const {
  return trace_.processes[process].node == node_;
}

Index TimelineOperations::number(const TimelinePlace& place) {
  const auto [found, added] = number_.try_emplace(place, static_cast<Index>(places_.size()));
  if (added) places_.push_back(place);
  return found->second;
}

Index TimelineOperations::lane_of_track(Index index) {
  Index& lane = lane_of_track_[index];
  const trace::Track& track = trace_.tracks[index];
  if (lane != kNone || !includes(track.process)) return lane;
  TimelinePlace place{.process = track.process};
  if (track.stream != kNone) {
    place.kind = Place::stream;
    place.place = track.stream;
    if (trace_.streams[track.stream].is_default()) place.agent = track.agent;
  } else if (track.queue != kNone) {
    place.kind = Place::queue;
    place.place = track.queue;
  }
  return lane = number(place);
}

/// On a default stream, of which every GPU has one: of the GPU that the copy goes to or comes from.
Index TimelineOperations::lane_of_copy(std::size_t row) {
  const Index track_index = trace_.copies.track[row];
  const trace::Track& track = trace_.tracks[track_index];
  if (track.stream == kNone || !trace_.streams[track.stream].is_default() ||
      !includes(track.process))
    return lane_of_track(track_index);
  const auto is_gpu = [&](Index agent) {
    return agent != kNone && trace_.agents[agent].type == "GPU";
  };
  const Index source = trace_.copies.source_agent[row];
  const Index agent = is_gpu(track.agent) ? track.agent : is_gpu(source) ? source : kNone;
  const auto [found, added] = lane_of_default_.try_emplace({track_index, agent}, kNone);
  if (added)
    found->second = number(
        {.kind = Place::stream, .process = track.process, .place = track.stream, .agent = agent});
  return found->second;
}

Index TimelineOperations::lane_of_thread(Index thread) {
  Index& lane = lane_of_thread_[thread];
  const Index process = trace_.threads[thread].process;
  if (lane != kNone || !includes(process)) return lane;
  return lane = number({.kind = Place::host_thread, .process = process, .place = thread});
}

TimelineOperation TimelineOperations::dispatch(std::size_t row) {
  const trace::DispatchColumns& all = trace_.dispatches;
  return {.lane = lane_of_track(all.track[row]),
          .name = {.kind = NodeKind::dispatch, .name = trace_.kernel_symbols[all.kernel[row]].name},
          .start = all.start[row],
          .end = all.end[row]};
}

TimelineOperation TimelineOperations::copy(std::size_t row) {
  const trace::CopyColumns& all = trace_.copies;
  return {.lane = lane_of_copy(row),
          .name = {.kind = NodeKind::copy, .name = all.kind[row]},
          .start = all.start[row],
          .end = all.end[row]};
}

/// Whether calls of a thread are of the scope.
bool TimelineOperations::counts_thread(Index thread) const {
  const Index process = trace_.threads[thread].process;
  return process != kNone && trace_.processes[process].source != kNone &&
         scope_.source_counts[trace_.processes[process].source];
}

TimelineOperation TimelineOperations::of_node(const Graph& graph, NodeId node) {
  const std::uint32_t row = graph.row(node);
  if (graph.kind(node) == NodeKind::dispatch) return dispatch(row);
  if (graph.kind(node) == NodeKind::copy) return copy(row);
  const trace::RegionColumns& regions = trace_.regions;
  const Index thread = regions.thread[row];
  return {.lane = thread == kNone ? kNone : lane_of_thread(thread),
          .name = {.kind = NodeKind::call, .name = regions.name[row]},
          .start = regions.start[row],
          .end = regions.end[row]};
}

}  // namespace perflab::analyze
