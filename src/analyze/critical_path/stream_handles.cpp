// Handles are learned from the sampled launches, process by process.
#include "analyze/critical_path/stream_handles.h"

#include <algorithm>

namespace perflab::analyze {

using trace::CallKind;
using trace::Index;
using trace::kNone;

namespace {
/// hipStreamPerThread of hip_runtime_api.h.
constexpr std::uint64_t kPerThread = 2;
}  // namespace

StreamHandles::StreamHandles(const trace::Trace& trace, const GraphInput& input)
    : trace_(trace),
      made_(trace.processes.size()),
      destroyed_(trace.processes.size()),
      default_stream_(trace.processes.size(), kNone) {
  for (Index region = 0; region < trace.regions.size(); ++region) {
    const CallKind kind = input.call_kind(region);
    const Index thread = trace.regions.thread[region];
    if (thread == kNone) continue;
    if (kind == CallKind::make_blocking_stream || kind == CallKind::make_stream)
      made_[trace.threads[thread].process].push_back(region);
    if (kind == CallKind::destroy_stream)
      destroyed_[trace.threads[thread].process].push_back(region);
  }
  for (std::size_t process = 0; process < trace.processes.size(); ++process)
    for (std::size_t i = 0; i < trace.streams.size(); ++i)
      if (trace.streams[i].source == trace.processes[process].source &&
          trace.streams[i].is_default())
        default_stream_[process] = static_cast<Index>(i);

  for (std::size_t i = 0; i < trace.streams.size(); ++i)
    stream_of_id_.try_emplace(
        {trace.streams[i].source, static_cast<std::uint64_t>(trace.streams[i].id)},
        static_cast<Index>(i));

  const trace::CallArgumentColumns& arguments = trace.call_arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::uint64_t handle = handle_of(arguments.region[i], arguments.stream[i]);
    if ((arguments.has[i] & trace::CallArgumentColumns::kStream) == 0 || is_default(handle))
      continue;
    const Index call = input.owner(arguments.region[i]);
    if (call == kNone) continue;
    for (auto op = input.begin_of(call); op != input.end_of(call); ++op) {
      const trace::Track& track = trace.tracks[input.track(*op)];
      if (input.submitter(*op) != call || track.stream == kNone) continue;
      uses_[key(track.process, handle, arguments.region[i])].push_back(
          {arguments.region[i], track.stream});
      break;
    }
  }
}

std::uint64_t StreamHandles::handle_of(Index region, std::uint64_t stream) const {
  const bool per_thread =
      stream == 0 && trace_.strings.view(trace_.regions.name[region]).ends_with("_spt");
  return per_thread ? kPerThread : stream;
}

Index StreamHandles::stream_of_id(Index process, std::uint64_t id) const {
  const auto found = stream_of_id_.find({trace_.processes[process].source, id});
  return found == stream_of_id_.end() ? kNone : found->second;
}

StreamHandles::Key StreamHandles::key(Index process, std::uint64_t handle, Index region) const {
  return {handle == kPerThread ? trace_.regions.thread[region] : process, handle};
}

bool StreamHandles::replaced(Index process, Index after, Index before) const {
  const auto destroyed = std::ranges::upper_bound(destroyed_[process], after);
  if (destroyed == destroyed_[process].end() || *destroyed > before) return false;
  const auto made = std::ranges::upper_bound(made_[process], *destroyed);
  return made != made_[process].end() && *made < before;
}

Index StreamHandles::stream(Index process, std::uint64_t handle, Index region) const {
  if (is_default(handle)) return default_stream_[process];
  const auto found = uses_.find(key(process, handle, region));
  if (found == uses_.end()) return kNone;
  const auto after = std::ranges::upper_bound(found->second, region, {}, &Use::region);
  if (after == found->second.begin()) return after->stream;
  const Use& before = *std::prev(after);
  const bool is_next = after != found->second.end() && after->stream != before.stream &&
                       replaced(process, before.region, region);
  return is_next ? after->stream : before.stream;
}

}  // namespace perflab::analyze
