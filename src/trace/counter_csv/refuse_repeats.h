// Recordings that were given twice: by their id, by their content, or as a pass of a merged table
// beside the table that the pass itself was written to.
#pragma once

#include <span>

#include "base/error.h"
#include "trace/counter_csv/csv_recording.h"
#include "trace/load_state.h"

namespace perflab::trace::counter_csv {

/// Adds the ids of the recordings to the state's. `sorted` as sort_recordings() leaves them.
/// Error (bad_input) when one is given twice; it names the file, and where known the other one.
Result<void> refuse_repeats(LoadState& state, std::span<const Recording> sorted);

}  // namespace perflab::trace::counter_csv
