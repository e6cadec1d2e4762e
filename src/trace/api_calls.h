// What host API calls do, by name: which submit work, which wait and for what, which order streams.
// The only such list. Facts: HIP, HSA and CUDA API references; names as rocprofv3 and CUPTI write
// them.
#pragma once

#include <string_view>

#include "trace/call_kind.h"

namespace perflab::trace {

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
