// Which recordings' times count. A counter pass runs the whole application again and one kernel at
// a time: its dispatches are the same work, so passes are never added up, and a run without
// counters is preferred (docs/models/times.md "Which recordings count").
#pragma once

#include <vector>

#include "analyze/scope/passes.h"
#include "trace/trace.h"

namespace perflab::analyze {

/// The recordings whose dispatch times are meant.
struct TimingScope {
  std::vector<bool> source_counts;             ///< by Trace::sources
  std::vector<bool> track_counts;              ///< by Trace::tracks
  bool under_counters = false;                 ///< no recording without counters was given
  std::size_t unlabelled_counter_sources = 0;  ///< of those, databases outside pass folders
  std::size_t sequential = 0;  ///< recordings that count, of one command, none beside another
  bool times_known = true;     ///< false: the recordings have lost the digits of their times
};

TimingScope find_timing_scope(const trace::Trace& trace, const Passes& passes);

}  // namespace perflab::analyze
