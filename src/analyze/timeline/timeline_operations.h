// The operations of a timeline one by one, each with the lane it ran on: making one walks over them
// twice instead of keeping anything per operation.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/critical_path/graph.h"
#include "analyze/scope/place.h"
#include "analyze/scope/timing_scope.h"
#include "trace/trace.h"

namespace perflab::analyze {

/// What slices are called: a kernel, a kind of copy, an API call.
struct TimelineName {
  NodeKind kind = NodeKind::dispatch;  ///< dispatch, copy or call
  trace::Index name = 0;               ///< strings
  friend bool operator==(const TimelineName&, const TimelineName&) = default;
};

/// A lane without what is on it.
struct TimelinePlace {
  Place kind = Place::nowhere;
  trace::Index process = trace::kNone, place = trace::kNone, agent = trace::kNone;
  friend auto operator<=>(const TimelinePlace&, const TimelinePlace&) = default;
};

/// A dispatch, a copy or an API call.
struct TimelineOperation {
  trace::Index lane = trace::kNone;  ///< TimelineOperations::places; kNone: of another machine
  TimelineName name;
  std::int64_t start = 0, end = 0;  ///< ns, trace clock
  bool nested = false;              ///< a call inside the last call of its lane that was not
};

class TimelineOperations {
 public:
  TimelineOperations(const trace::Trace& trace, const TimingScope& scope, trace::Index node);

  /// All operations of the scope; those of a lane by start. Ranges of the user are none.
  template <class Visit>
  void each(const Visit& visit) {
    each_operation(visit);
    each_call(visit);
  }

  /// What a node of the graph stands for.
  [[nodiscard]] TimelineOperation of_node(const Graph& graph, NodeId node);

  /// Lanes in the order in which they were met.
  [[nodiscard]] const std::vector<TimelinePlace>& places() const { return places_; }

 private:
  [[nodiscard]] trace::Index number(const TimelinePlace& place);
  [[nodiscard]] trace::Index lane_of_track(trace::Index track);
  [[nodiscard]] trace::Index lane_of_copy(std::size_t row);
  [[nodiscard]] trace::Index lane_of_thread(trace::Index thread);
  [[nodiscard]] bool includes(trace::Index process) const;
  [[nodiscard]] TimelineOperation dispatch(std::size_t row);
  [[nodiscard]] TimelineOperation copy(std::size_t row);
  [[nodiscard]] bool counts_thread(trace::Index thread) const;
  template <class Visit>
  void each_operation(const Visit& visit);
  template <class Visit>
  void each_call(const Visit& visit);

  const trace::Trace& trace_;
  const TimingScope& scope_;
  trace::Index node_;
  std::vector<bool> marker_;  ///< by string: the category of user ranges
  std::vector<TimelinePlace> places_;
  std::map<TimelinePlace, trace::Index> number_;
  std::vector<trace::Index> lane_of_track_, lane_of_thread_;  ///< kNone: not asked for yet
  std::map<std::pair<trace::Index, trace::Index>, trace::Index>
      lane_of_default_;  ///< by track and GPU
};

template <class Visit>
void TimelineOperations::each_operation(const Visit& visit) {
  const trace::DispatchColumns& dispatches = trace_.dispatches;
  const trace::CopyColumns& copies = trace_.copies;
  std::size_t d = 0, c = 0;
  while (true) {
    while (d < dispatches.size() && !scope_.track_counts[dispatches.track[d]]) ++d;
    while (c < copies.size() && !scope_.track_counts[copies.track[c]]) ++c;
    if (d == dispatches.size() && c == copies.size()) return;
    const bool first =
        c == copies.size() || (d < dispatches.size() && dispatches.start[d] <= copies.start[c]);
    visit(first ? dispatch(d++) : copy(c++));
  }
}

template <class Visit>
void TimelineOperations::each_call(const Visit& visit) {
  const trace::RegionColumns& regions = trace_.regions;
  std::vector<std::int64_t> open_end(trace_.threads.size(), INT64_MIN);
  std::vector<bool> counts;  // by thread
  for (trace::Index thread = 0; thread < trace_.threads.size(); ++thread)
    counts.push_back(counts_thread(thread));
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const trace::Index thread = regions.thread[i];
    if (thread == trace::kNone || marker_[regions.category[i]] || !counts[thread]) continue;
    TimelineOperation call{.lane = lane_of_thread(thread),
                           .name = {.kind = NodeKind::call, .name = regions.name[i]},
                           .start = regions.start[i],
                           .end = regions.end[i]};
    call.nested = call.start < open_end[thread] && call.end <= open_end[thread];
    if (!call.nested) open_end[thread] = call.end;
    visit(call);
  }
}

}  // namespace perflab::analyze
