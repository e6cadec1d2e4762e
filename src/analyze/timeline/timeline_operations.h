// The operations of a timeline one by one, each with the lane it ran on: making one walks over them
// twice instead of keeping anything per operation.
#pragma once

#include <functional>
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
  void each(const std::function<void(const TimelineOperation&)>& visit);

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
  void each_operation(const std::function<void(const TimelineOperation&)>& visit);
  void each_call(const std::function<void(const TimelineOperation&)>& visit);

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

}  // namespace perflab::analyze
