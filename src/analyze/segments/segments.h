// Segments: the repeated phases of a run (training steps, solver iterations, tokens). Taken from
// user ranges (roctx) when they name some, else found as repetitions in the sequence of dispatches
// (repetition.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/scope/timing_scope.h"
#include "analyze/segments/segment_figures.h"
#include "base/error.h"
#include "base/missing.h"
#include "trace/select.h"
#include "trace/trace.h"

namespace perflab::analyze {

/// What find_segments says: segments, or why there are none.
struct FoundSegments {
  std::optional<Segments> segments;
  Missing missing{.field = "segments", .reason = {}, .remedy = {}};
};

/// The repeated phases of the recordings in the scope; of several processes: those of the process
/// with the most dispatches. Deterministic; O(n log n) in the dispatches, linear but for a sort.
FoundSegments find_segments(const trace::Trace& trace, const TimingScope& scope);

/// The rows of one segment, for trace::select, with what other processes of the scope did on the
/// same node in the same time. Recordings of counter passes: the dispatches that the counter join
/// (counter_join.h) joins to the segment's. Error (usage): there is no such segment.
Result<trace::Selection> rows_of_segment(const trace::Trace& trace, const TimingScope& scope,
                                         const Segments& segments, std::size_t index);

}  // namespace perflab::analyze
