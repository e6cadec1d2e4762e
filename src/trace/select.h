// A part of a Trace as a Trace of its own: what a segment (one step, one token) of a run holds, for
// the analyses that look at one.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace perflab::trace {

/// Rows to keep, by index into the Trace's columns.
struct Selection {
  std::vector<bool> dispatches, copies, regions, allocations;
};

/// The Trace with only these rows; tables (strings, kernels, tracks, ...) stay as they are, so
/// indices into them do too. Indices between rows are adapted: what pointed to a row that is gone
/// is kNone. Counters stay with their dispatches, arguments and range texts with their regions; the
/// report stays that of the whole. Precondition: sizes match.
Trace select(const Trace& trace, const Selection& rows);

}  // namespace perflab::trace
