// What host API calls do, by name: which submit work, which wait and for what, which order streams.
// The only such list. Facts: HIP, HSA and CUDA API references; names as rocprofv3 and CUPTI write
// them.
#pragma once

#include <cstdint>
#include <string_view>

namespace perflab::trace {

enum class CallKind : std::uint8_t {
  other,          ///< no node of its own: its time is host code
  launch,         ///< submits kernels: hipLaunchKernel, cudaGraphLaunch
  copy,           ///< submits a copy or fill and returns: hipMemcpyAsync, hipMemset
  blocking_copy,  ///< submits and waits: hipMemcpy
  stream_sync,
  device_sync,
  event_sync,
  event_record,
  stream_wait_event,
  set_device,
  begin_capture,  ///< until end_capture, the thread's calls on streams are recorded, not done
  end_capture,
  make_blocking_stream,  ///< a stream that the default stream waits for, and that waits for it
  make_stream,           ///< one of which only its flags say whether it does
  destroy_stream,
  implicit_sync,  ///< waits for the device without saying so: hipFree
  signal_wait,    ///< hsa_signal_wait_*
  resource,       ///< allocations, events, modules: takes time, orders nothing
};

/// What the call of that name does.
CallKind call_kind(std::string_view name);

/// Whether the call launches a graph: all kernels and copies in it name this one call.
bool is_graph_launch(std::string_view name);

/// Whether regions of that category are ranges of the user (roctx). rocprofiler-systems writes
/// every HIP call twice, once as such a range (docs/facts/rocpd.md "What a reader survives").
bool is_marker_category(std::string_view category);

/// Calls whose arguments the graph needs for every call (streams and events); launches and copies
/// only teach which stream a handle is.
constexpr bool needs_arguments(CallKind kind) {
  return kind == CallKind::stream_sync || kind == CallKind::event_sync ||
         kind == CallKind::event_record || kind == CallKind::stream_wait_event ||
         kind == CallKind::set_device;
}

}  // namespace perflab::trace
