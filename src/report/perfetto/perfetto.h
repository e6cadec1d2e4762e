// A run as a file that ui.perfetto.dev (or chrome://tracing) opens: host threads, user ranges,
// streams, copies, counters; the critical path, slack and segments as tracks of their own.
// Format: report/perfetto/trace_events.h.
#pragma once

#include <filesystem>

#include "analyze/analysis.h"
#include "base/error.h"
#include "trace/trace.h"

namespace perflab::report {

/// Writes the file. Times are microseconds, with three decimals, since the earliest thing shown;
/// otherData.origin_ns is that on the trace clock. Arrows lead from launching calls to their work
/// along the critical path. Memory: about 30 bytes per dispatch beside the trace. Precondition:
/// analysis.critical_path, with its nodes kept.
/// Error (usage): the place cannot be written.
Result<void> write_perfetto(const std::filesystem::path& file, const trace::Trace& trace,
                            const analyze::Analysis& analysis);

}  // namespace perflab::report
