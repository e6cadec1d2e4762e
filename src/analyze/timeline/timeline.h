// What ran when, small enough to be drawn: every operation of a run on the lane it ran on, single
// ones while there are few, neighbours merged when there are many; and the critical path over them.
// Nothing is lost by merging: counts, busy time and time on the path add up exactly. Times are ns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "analyze/critical_path/graph.h"
#include "analyze/critical_path/solve.h"
#include "analyze/scope/place.h"
#include "analyze/scope/timing_scope.h"
#include "analyze/timeline/timeline_operations.h"
#include "trace/trace.h"

namespace perflab::analyze {

/// One operation, or several that begin close to each other.
struct TimelineSlice {
  std::int64_t start = 0, duration = 0;  ///< first start, relative to `begin`, to last end
  std::uint32_t name = 0;                ///< Timeline::names; of several the one with most time
  std::uint64_t count = 0;               ///< operations, with the calls inside a call
  std::int64_t busy = 0;                 ///< sum of durations, without the calls inside a call
  std::int64_t path = 0;                 ///< of the critical path inside them
};

struct TimelineLane {
  Place kind = Place::nowhere;
  trace::Index process = trace::kNone;
  trace::Index place = trace::kNone;  ///< threads, streams or queues
  trace::Index agent = trace::kNone;  ///< of a default stream, which every GPU has: its GPU
  std::uint64_t operations = 0;
  std::int64_t busy = 0, path = 0;    ///< sums over slices
  std::vector<TimelineSlice> slices;  ///< by start
};

/// A stretch of the critical path. Without gaps, in time order.
struct TimelineStretch {
  std::int64_t from = 0, to = 0;  ///< relative to `begin`
  Spent spent = Spent::idle;
  std::uint32_t lane = trace::kNone;  ///< Timeline::lanes; kNone: none of them
  std::int64_t spent_time = 0;        ///< of it of that kind and lane; less than all: merged
};

/// What is not on any lane.
struct TimelineRest {
  std::uint64_t lanes = 0, operations = 0;
  std::int64_t busy = 0, path = 0;
};

struct Timeline {
  trace::Index node = trace::kNone;  ///< the machine this is of
  std::int64_t begin = 0;            ///< ns, trace clock: 0 of all other times
  std::int64_t span = 0;
  std::int64_t resolution = 0;       ///< 0: every slice is one operation
  std::int64_t path_resolution = 0;  ///< 0: the path is exact
  std::vector<TimelineName> names;
  std::vector<TimelineLane> lanes;  ///< by kind, process and number
  TimelineRest left_out;            ///< lanes beyond the most
  TimelineRest elsewhere;           ///< operations of other machines
  TimelineRest outside;             ///< before `begin` or after the end; cut ends count as time
  std::optional<std::vector<TimelineStretch>> path;  ///< nullopt: there is no critical path
};

/// How much a timeline may hold.
struct TimelineLimits {
  std::size_t slices = 60'000, stretches = 20'000, lanes = 64;
};

/// The part of a run that a timeline shows.
struct TimelineWindow {
  trace::Index node = trace::kNone;  ///< machine
  std::int64_t begin = 0, span = 0;  ///< ns, trace clock
};

/// First start to last end of what the machine's recordings in the scope hold.
TimelineWindow whole_window(const trace::Trace& trace, const TimingScope& scope, trace::Index node);

/// Makes the lanes and slices of a timeline, and returns what puts the path over them, to be called
/// once: so that they can be made while there is no graph yet. The trace and the scope must outlive
/// it.
std::function<Timeline(const Graph*)> begin_timeline(const trace::Trace& trace,
                                                     const TimingScope& scope,
                                                     const TimelineWindow& window,
                                                     const TimelineLimits& limits = {});

/// The timeline of the recordings in the scope. `graph`: its critical path is put over it; nullptr:
/// there is none. Memory: per lane and slice, not per operation.
Timeline make_timeline(const trace::Trace& trace, const TimingScope& scope,
                       const TimelineWindow& window, const Graph* graph,
                       const TimelineLimits& limits = {});

}  // namespace perflab::analyze
