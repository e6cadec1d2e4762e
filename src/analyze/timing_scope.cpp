// Choice of the timing pass.
#include "analyze/timing_scope.h"

#include <algorithm>
#include <limits>

namespace perflab::analyze {

TimingScope find_timing_scope(const trace::Trace& trace) {
  const std::size_t sources = trace.sources.size();
  std::vector<bool> has_counters(sources, false);
  for (const trace::Index dispatch : trace.counters.dispatch)
    has_counters[trace.source_of_track(trace.dispatches.track[dispatch])] = true;

  TimingScope scope;
  const bool any_free = std::ranges::find(has_counters, false) != has_counters.end();
  scope.under_counters = sources > 0 && !any_free;
  constexpr int kNoPass =
      std::numeric_limits<int>::min();  // a recording outside pass folders comes first
  int chosen_pass = std::numeric_limits<int>::max();
  for (std::size_t i = 0; i < sources; ++i) {
    if (has_counters[i] && !trace.sources[i].pass) ++scope.unlabelled_counter_sources;
    if (any_free && has_counters[i]) continue;
    chosen_pass = std::min(chosen_pass, trace.sources[i].pass.value_or(kNoPass));
  }
  for (std::size_t i = 0; i < sources; ++i)
    scope.source_counts.push_back(trace.sources[i].pass.value_or(kNoPass) == chosen_pass &&
                                  !(any_free && has_counters[i]));
  for (std::size_t track = 0; track < trace.tracks.size(); ++track)
    scope.track_counts.push_back(
        scope.source_counts[trace.source_of_track(static_cast<trace::Index>(track))]);
  return scope;
}

}  // namespace perflab::analyze
