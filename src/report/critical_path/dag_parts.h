// What dag.json, its text view and the Perfetto export share: names of the kinds of the critical
// path, and where a node ran. Facts: analyze/critical_path/*.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/critical_path/critical_path.h"
#include "trace/trace.h"

namespace perflab::report {

/// As documents have it: "kernel", "launch_latency".
std::string_view name_of(analyze::Spent spent);
/// For people: "launch latency".
std::string_view words_for(analyze::Spent spent);
/// The same in at most fourteen columns.
std::string_view brief_words_for(analyze::Spent spent);
/// "dispatch", "copy", "call", "call_wait".
std::string_view name_of(analyze::NodeKind kind);
/// "host_thread", "stream", "queue", "several", "nowhere".
std::string_view name_of(analyze::Place place);

/// "start", "end".
std::string_view name_of(analyze::NodeEvent event);

/// All kinds of spending, in the order of SpentTimes.
std::vector<analyze::Spent> all_spent();

/// Where a node ran. An operation that has a stream is placed there, else in its queue; a call in
/// its thread.
struct NodePlace {
  analyze::Place place = analyze::Place::nowhere;
  trace::Index process = trace::kNone, thread = trace::kNone, agent = trace::kNone;
  std::int64_t id = 0;  ///< thread id, stream id or queue id of the recording
};

/// The place of a row of Trace::dispatches or Trace::copies, by its track.
NodePlace place_of_track(const trace::Trace& trace, trace::Index track);

/// The place of what a node stands for. Precondition, here and below: it stands for something.
NodePlace place_of_row(const trace::Trace& trace, const analyze::NodeRow& node);
/// Its track; nullptr: a call.
const trace::Track* track_of_row(const trace::Trace& trace, const analyze::NodeRow& node);
/// Its recorded start and end in ns.
std::pair<std::int64_t, std::int64_t> times_of_row(const trace::Trace& trace,
                                                   const analyze::NodeRow& node);
/// Its kernel, copy kind or call (strings).
trace::Index name_of_row(const trace::Trace& trace, const analyze::NodeRow& node);

/// What a place is called: "stream 3", "thread 4711".
std::string place_text(analyze::Place place, std::int64_t id);

}  // namespace perflab::report
