// Host calls are told from what they are part of (by the profiler's parent, or by time within a
// thread: rocprofiler-systems writes no parents); operations are sorted by the call behind them.
#include "analyze/critical_path/graph_input.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <tuple>

#include "base/error.h"
#include "base/parallel.h"

namespace perflab::analyze {
namespace {

using trace::CallKind;
using trace::Index;
using trace::kNone;

/// Dispatches and copies in the order of their start, then of their end; of equal ones dispatches
/// first.
template <class Visit>
void each_by_start(const trace::Trace& trace, const Visit& visit) {
  const auto& dispatches = trace.dispatches;
  const auto& copies = trace.copies;
  std::size_t d = 0, c = 0;
  for (; c < copies.size(); ++c) {
    const std::pair copy(copies.start[c], copies.end[c]);
    for (; d < dispatches.size() && dispatches.start[d] <= copy.first; ++d) {
      if (dispatches.start[d] == copy.first && dispatches.end[d] > copy.second) break;
      visit(operation(NodeKind::dispatch, d));
    }
    visit(operation(NodeKind::copy, c));
  }
  for (; d < dispatches.size(); ++d) visit(operation(NodeKind::dispatch, d));
}

}  // namespace

GraphInput::GraphInput(const trace::Trace& trace, const TimingScope& scope, Index node,
                       unsigned threads)
    : trace_(trace) {
  for (const std::size_t rows :
       {trace.dispatches.size(), trace.copies.size(), trace.regions.size()})
    PERFLAB_CHECK(rows < (std::size_t{1} << Graph::kRowBits));
  choose_processes(scope, node);
  const auto parts =
      std::to_array<std::function<void()>>({[&] { find_calls(); }, [&] { find_lanes(); }});
  side_by_side(parts, thread_count(threads));
  order_operations();
  if (operations() + calls_ == 0) earliest_ = latest_ = 0;
}

void GraphInput::extend(std::int64_t start, std::int64_t end) {
  earliest_ = std::min(earliest_, start);
  latest_ = std::max(latest_, end);
}

void GraphInput::choose_processes(const TimingScope& scope, Index node) {
  for (const trace::Process& process : trace_.processes)
    includes_.push_back(process.node == node && process.source != kNone &&
                        scope.source_counts[process.source]);
}

bool GraphInput::does_something(Index region, const Bits& marker) const {
  const CallKind kind = call_kind(region);
  return kind != CallKind::other && kind != CallKind::set_device &&
         !marker[trace_.regions.category[region]];
}

/// By thread. NCCL has such a thread: it sleeps between the begin and the end of the program until
/// another one, which no record says, wants memory. As host code that would be as long in every
/// what-if. A process whose threads are all alike keeps them.
std::vector<bool> GraphInput::threads_that_only_keep_resources(const Bits& submits,
                                                               const Bits& marker) const {
  std::vector<bool> keeps(trace_.threads.size(), true), works(trace_.processes.size(), false);
  for (Index region = 0; region < trace_.regions.size(); ++region) {
    const Index thread = trace_.regions.thread[region];
    if (thread == kNone || !keeps[thread]) continue;
    if (!submits[region] &&
        (call_kind(region) == CallKind::resource || !does_something(region, marker)))
      continue;
    keeps[thread] = false;
    works[trace_.threads[thread].process] = true;
  }
  for (std::size_t i = 0; i < keeps.size(); ++i)
    keeps[i] = keeps[i] && works[trace_.threads[i].process];
  return keeps;
}

void GraphInput::find_calls() {
  const trace::RegionColumns& regions = trace_.regions;
  kind_of_name_.reserve(trace_.strings.size());
  Bits marker(trace_.strings.size());
  for (std::uint32_t i = 0; i < trace_.strings.size(); ++i) {
    kind_of_name_.push_back(trace::call_kind(trace_.strings.view(i)));
    launches_graph_.push_back(trace::is_graph_launch(trace_.strings.view(i)));
    if (trace::is_marker_category(trace_.strings.view(i))) marker.set(i);
  }
  Bits submits(regions.size());
  for (const auto* launches : {&trace_.dispatches.launch, &trace_.copies.launch})
    for (const Index region : *launches)
      if (region != kNone) submits.set(region);

  const std::vector<bool> keeps = threads_that_only_keep_resources(submits, marker);
  owner_.assign(regions.size(), kNone);
  std::vector<Index> open(trace_.threads.size(), kNone);  // the last call of each thread
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const auto region = static_cast<Index>(i);
    const Index thread = regions.thread[i];
    if (thread == kNone || !includes_process(trace_.threads[thread].process) || keeps[thread])
      continue;
    if (const Index parent = regions.parent[i]; parent < region && owner_[parent] != kNone) {
      owner_[i] = owner_[parent];
      continue;
    }
    if (!submits[i] && !does_something(region, marker)) continue;
    const std::int64_t start = regions.start[i], end = regions.end[i];
    if (const Index outer = open[thread];
        outer != kNone && start < regions.end[outer] && end <= regions.end[outer]) {
      owner_[i] = outer;
      continue;
    }
    owner_[i] = region;
    open[thread] = region;
    extend(start, end);
    ++calls_;
  }
}

std::vector<bool> GraphInput::default_streams_that_order() const {
  // rocprofv3 writes stream 0 for what no HIP stream is known of: programs on bare HSA have no
  // streams, and one default stream runs on one queue of a GPU.
  // Of other calls only HSA's tell: ranges are the user's, libraries such as RCCL run on HIP.
  std::vector<bool> hsa(trace_.processes.size(), false), hip(trace_.processes.size(), false);
  std::vector<bool> is_hip(trace_.strings.size()), is_hsa(trace_.strings.size());
  std::vector<bool> is_marker(trace_.strings.size());
  bool any_hsa = false;
  for (std::uint32_t i = 0; i < trace_.strings.size(); ++i) {
    is_hip[i] = trace_.strings.view(i).starts_with("hip");
    is_hsa[i] = trace_.strings.view(i).starts_with("hsa");
    any_hsa = any_hsa || is_hsa[i];
    is_marker[i] = trace_.strings.view(i).starts_with("MARKER_");
  }
  for (std::size_t i = 0; i < trace_.regions.size(); ++i) {
    if (trace_.regions.thread[i] == kNone) continue;
    const Index process = trace_.threads[trace_.regions.thread[i]].process;
    if (hip[process] && (hsa[process] || !any_hsa)) continue;  // all that there is to know
    if (is_marker[trace_.regions.category[i]]) continue;
    if (is_hip[trace_.regions.name[i]]) hip[process] = true;
    if (is_hsa[trace_.regions.name[i]]) hsa[process] = true;
  }
  std::vector<bool> orders(trace_.processes.size());
  for (std::size_t i = 0; i < orders.size(); ++i) orders[i] = hip[i] || !hsa[i];
  std::map<std::pair<Index, Index>, Index> queue_of;  // (process, GPU)
  for (const trace::Track& track : trace_.tracks) {
    if (track.stream == kNone || track.queue == kNone || !trace_.streams[track.stream].is_default())
      continue;
    const auto [found, added] = queue_of.try_emplace({track.process, track.agent}, track.queue);
    if (!added && found->second != track.queue && !hip[track.process])
      orders[track.process] = false;
  }
  return orders;
}

/// By track: its GPU; kNone where copies between GPUs or to the host leave it open.
std::vector<Index> GraphInput::gpu_of_tracks() const {
  const auto is_gpu = [&](Index agent) {
    return agent != kNone && trace_.agents[agent].type == "GPU";
  };
  std::vector<Index> gpu(trace_.tracks.size(), kNone);
  std::vector<bool> several(trace_.tracks.size(), false);
  const auto add = [&](Index track, Index agent) {
    if (!is_gpu(agent)) return;
    if (gpu[track] != kNone && gpu[track] != agent) several[track] = true;
    gpu[track] = agent;
  };
  for (std::size_t i = 0; i < gpu.size(); ++i)
    if (is_gpu(trace_.tracks[i].agent)) gpu[i] = trace_.tracks[i].agent;
  for (std::size_t i = 0; i < trace_.copies.size(); ++i)
    add(trace_.copies.track[i], trace_.copies.source_agent[i]);
  for (std::size_t i = 0; i < gpu.size(); ++i)
    if (several[i]) gpu[i] = kNone;
  return gpu;
}

/// CUDA numbers streams within a context, so that those of two GPUs can have one id.
std::vector<bool> GraphInput::streams_of_several_gpus() const {
  std::vector<Index> gpu(trace_.streams.size(), kNone);
  std::vector<bool> several(trace_.streams.size(), false), seen(trace_.tracks.size(), false);
  for (const Index index : trace_.dispatches.track) {
    if (seen[index]) continue;
    seen[index] = true;
    const trace::Track& track = trace_.tracks[index];
    if (track.stream == kNone) continue;
    Index& known = gpu[track.stream];
    if (known != kNone && known != track.agent) several[track.stream] = true;
    known = track.agent;
  }
  return several;
}

void GraphInput::find_lanes() {
  const std::size_t tracks = trace_.tracks.size();
  const std::vector<bool> shared = streams_of_several_gpus();
  const std::vector<Index> gpu = gpu_of_tracks();
  const std::vector<bool> default_orders = default_streams_that_order();
  lane_of_stream_.assign(trace_.streams.size(), kNone);
  std::map<std::tuple<Index, Index, Index>, Index> known;  // stream, queue, agent
  const auto lane = [&](Index stream, Index queue, Index agent, const LaneInfo& info) {
    const auto [found, added] =
        known.try_emplace({stream, queue, agent}, static_cast<Index>(lanes_.size()));
    if (added) lanes_.push_back(info);
    if (added && info.is_default_stream) default_lanes_.push_back(found->second);
    if (added && stream != kNone && !info.is_default_stream)
      lane_of_stream_[stream] = found->second;
    LaneInfo& same = lanes_[found->second];
    if (same.agent == kNone) same.agent = info.agent;
    return found->second;
  };
  stream_lane_of_track_.assign(tracks, kNone);
  queue_lane_of_track_.assign(tracks, kNone);
  for (std::size_t i = 0; i < tracks; ++i) {
    const trace::Track& track = trace_.tracks[i];
    if (!includes_process(track.process)) continue;
    const bool is_default = track.stream != kNone && trace_.streams[track.stream].is_default();
    const bool cuda = trace_.platform_of_process(track.process) == trace::Platform::cuda;
    const bool by_gpu = cuda ? track.stream != kNone && shared[track.stream] : is_default;
    // Nobody knows which GPU's default stream a copy between two of them was on.
    const bool orders = track.stream != kNone &&
                        (!by_gpu || (gpu[i] != kNone && (cuda || default_orders[track.process])));
    if (orders) {
      stream_lane_of_track_[i] = lane(track.stream, kNone, by_gpu ? gpu[i] : kNone,
                                      {.process = track.process,
                                       .agent = gpu[i],
                                       .stream = track.stream,
                                       .is_default_stream = is_default});
    }
    if (track.queue != kNone && !cuda)  // of CUDA they are the streams once more
      queue_lane_of_track_[i] = lane(
          kNone, track.queue, gpu[i],
          {.process = track.process, .agent = gpu[i], .stream = kNone, .is_default_stream = false});
  }
}

void GraphInput::order_operations() {
  const std::size_t keys = trace_.regions.size() + 1;
  first_of_key_.assign(keys + 1, 0);
  std::vector<std::uint32_t> key_of_lane(lanes_.size(), 0);
  std::vector<std::uint32_t> key_of_dispatch(trace_.dispatches.size());
  std::vector<std::uint32_t> key_of_copy(trace_.copies.size());
  const auto key_of = [&](Operation op) -> std::uint32_t& {
    return kind_of(op) == NodeKind::dispatch ? key_of_dispatch[row_of(op)]
                                             : key_of_copy[row_of(op)];
  };
  constexpr std::uint32_t kLeftOut = std::numeric_limits<std::uint32_t>::max();
  std::size_t total = 0;
  each_by_start(trace_, [&](Operation op) {
    const Index track = this->track(op);
    if (!includes_process(trace_.tracks[track].process)) {
      key_of(op) = kLeftOut;
      return;
    }
    const Index call = submitter(op);
    const std::uint32_t own = call == kNone ? 0 : call + 1;
    std::uint32_t key = own;
    const std::array lanes = {stream_lane_of_track_[track], queue_lane_of_track_[track]};
    for (const Index lane : lanes)
      if (lane != kNone) key = std::max(key, key_of_lane[lane]);
    for (const Index lane : lanes)
      if (lane != kNone) key_of_lane[lane] = key;
    if (key != own && call != kNone) {
      if (overtaken_by_.empty()) overtaken_by_.assign(trace_.regions.size(), kNone);
      Index& last = overtaken_by_[call];
      last = last == kNone ? key - 1 : std::max(last, key - 1);
    }
    extend(start(op), end(op));
    key_of(op) = key;
    ++first_of_key_[key + 1];
    ++total;
  });
  for (std::size_t key = 1; key <= keys; ++key) first_of_key_[key] += first_of_key_[key - 1];
  order_.resize(total);
  // Places are taken from first_of_key_ itself, which is put right again afterwards.
  each_by_start(trace_, [&](Operation op) {
    if (const std::uint32_t key = key_of(op); key != kLeftOut) order_[first_of_key_[key]++] = op;
  });
  for (std::size_t key = keys; key > 0; --key) first_of_key_[key] = first_of_key_[key - 1];
  first_of_key_[0] = 0;
}

std::vector<Operation>::const_iterator GraphInput::begin_of(Index region) const {
  return order_.begin() + first_of_key_[region == kNone ? 0 : region + 1];
}

std::vector<Operation>::const_iterator GraphInput::end_of(Index region) const {
  return order_.begin() + first_of_key_[(region == kNone ? 0 : region + 1) + std::size_t{1}];
}

std::int64_t GraphInput::start(Operation op) const {
  return kind_of(op) == NodeKind::dispatch ? trace_.dispatches.start[row_of(op)]
                                           : trace_.copies.start[row_of(op)];
}

std::int64_t GraphInput::end(Operation op) const {
  return kind_of(op) == NodeKind::dispatch ? trace_.dispatches.end[row_of(op)]
                                           : trace_.copies.end[row_of(op)];
}

Index GraphInput::track(Operation op) const {
  return kind_of(op) == NodeKind::dispatch ? trace_.dispatches.track[row_of(op)]
                                           : trace_.copies.track[row_of(op)];
}

Index GraphInput::lane_of_stream(Index stream, Index agent) const {
  if (stream == kNone) return kNone;
  if (!trace_.streams[stream].is_default()) return lane_of_stream_[stream];
  Index found = kNone;
  for (const Index lane : default_lanes_) {
    if (lanes_[lane].stream != stream) continue;
    if (lanes_[lane].agent == agent) return lane;
    if (agent != kNone) continue;
    if (found != kNone) return kNone;  // of several GPUs: unknown
    found = lane;
  }
  return found;
}

Index GraphInput::submitter(Operation op) const {
  const Index region = kind_of(op) == NodeKind::dispatch ? trace_.dispatches.launch[row_of(op)]
                                                         : trace_.copies.launch[row_of(op)];
  return region == kNone ? kNone : owner_[region];
}

Index node_name(const trace::Trace& trace, const Graph& graph, NodeId node) {
  const std::uint32_t row = graph.row(node);
  switch (graph.kind(node)) {
    case NodeKind::dispatch:
      return trace.kernel_symbols[trace.dispatches.kernel[row]].name;
    case NodeKind::copy:
      return trace.copies.kind[row];
    case NodeKind::call:
    case NodeKind::call_wait:
      return trace.regions.name[row];
  }
  return 0;
}

}  // namespace perflab::analyze
