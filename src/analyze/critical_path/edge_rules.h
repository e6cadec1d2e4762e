// The kinds of order between two nodes of the graph: which events they join, whether the trace
// proves them, and why. The only list of them; graph building, attribution and documents read it.
// Facts: docs/facts/rocpd.md "Links", HIP's stream and event semantics.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace perflab::analyze {

/// Why one node cannot go on before another.
enum class EdgeRule : std::uint8_t {
  program_order,     ///< call of a thread -> its next call
  launch,            ///< call -> the dispatch or copy that it submitted: return -> begin
  launch_inside,     ///< the same for work that began before the call returned: begin -> begin
  stream_order,      ///< operation -> the next one of its stream
  queue_order,       ///< dispatch -> the next one of its hardware queue
  submission_order,  ///< of operations that overlap in one stream or queue: begin -> begin
  event_wait,        ///< operation before an event's record -> operation behind a wait for it
  null_stream,       ///< legacy default stream: before and after every blocking stream's work
  stream_sync,       ///< last operation of a stream -> return of hipStreamSynchronize
  device_sync,       ///< last operations of a device -> return of hipDeviceSynchronize
  event_sync,        ///< operation before an event's record -> return of hipEventSynchronize
  blocking_call,     ///< copy or fill -> return of the call that waits for it (hipMemcpy)
  implicit_sync,     ///< operation -> return of a call that waits without saying so (hipFree)
  signal_wait,       ///< operation -> return of an HSA wait during which it ended
  handover,          ///< across queues, from timestamps alone (GraphOptions::handover)
  graph_order,       ///< of one graph launch: operation -> one that began behind it, from
                     ///< timestamps alone: recordings do not say what depends on what in a graph
};
inline constexpr std::size_t kEdgeRules = 16;

/// Whether the rule joins a call and the work that it submitted.
constexpr bool is_launch(EdgeRule rule) {
  return rule == EdgeRule::launch || rule == EdgeRule::launch_inside;
}

/// The two events of a node.
enum class NodeEvent : std::uint8_t { start, end };

struct EdgeRuleInfo {
  std::string_view name;  ///< as documents have it: "stream_order"
  NodeEvent from, to;     ///< the events that it joins
  bool proven;            ///< false: inferred
  std::string_view reason;
};

/// Facts of a rule.
const EdgeRuleInfo& info(EdgeRule rule);

}  // namespace perflab::analyze
