// The table of edge rules. Sources: docs/facts/rocpd.md "Links" (correlation ids); HIP programming
// guide and API reference (streams, events, default stream, synchronisation).
#include "analyze/critical_path/edge_rules.h"

namespace perflab::analyze {
namespace {

constexpr auto kStart = NodeEvent::start;
constexpr auto kEnd = NodeEvent::end;

constexpr std::array<EdgeRuleInfo, kEdgeRules> kEdgeRuleTable = {{
    {"program_order", kEnd, kStart, true, "calls of one thread follow each other"},
    {"launch", kEnd, kStart, true, "the profiler's correlation id names the launching call"},
    {"launch_inside", kStart, kStart, true,
     "the profiler's correlation id names the launching call; the work began before it returned"},
    {"stream_order", kEnd, kStart, true, "operations of one stream run in order"},
    {"queue_order", kEnd, kStart, true,
     "packets of one hardware queue run in order; the times show no overlap"},
    {"submission_order", kStart, kStart, true,
     "packets of one queue begin in order; the times show that these overlap"},
    {"event_wait", kEnd, kStart, true,
     "the stream waits for an event recorded behind that operation"},
    {"null_stream", kEnd, kStart, true,
     "the default stream orders itself with streams made by hipStreamCreate"},
    {"stream_sync", kEnd, kEnd, true, "the call returns when the stream is empty"},
    {"device_sync", kEnd, kEnd, true, "the call returns when the device is idle"},
    {"event_sync", kEnd, kEnd, true, "the call returns when the event's work is done"},
    {"blocking_call", kEnd, kEnd, true, "the call returns when the work it submitted is done"},
    {"implicit_sync", kEnd, kEnd, false,
     "the call can wait for the device, and this ended while it ran"},
    {"signal_wait", kEnd, kEnd, false,
     "the wait does not say for what; this is what ended last while it ran"},
    {"handover", kEnd, kStart, false,
     "timestamps alone: it begins right after the other ends, nearly always"},
    {"graph_order", kEnd, kStart, false,
     "timestamps alone: of one graph launch, the last that had ended when it began"},
}};

}  // namespace

const EdgeRuleInfo& info(EdgeRule rule) {
  return kEdgeRuleTable[static_cast<std::size_t>(rule)];
}

}  // namespace perflab::analyze
