// The kinds of host API calls; which call is of which kind: api_calls.h.
#pragma once

#include <cstdint>

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

}  // namespace perflab::trace
