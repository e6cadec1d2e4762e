// What the ways to find segments share: the work of a process in order, before anything is
// measured; and the way by user ranges. Private to src/analyze/segments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/segments/segment_figures.h"
#include "trace/trace.h"

namespace perflab::analyze {

/// The dispatches of one process in the order in which it asked for them: by the start of their
/// launch; without a recorded launch by that of the last launch on their queue, else by their own
/// start. Work on streams that run side by side stays in order that way.
struct OrderedWork {
  PackedColumn<trace::Index> dispatch;  ///< of the trace
  PackedColumn<std::int64_t> key;       ///< ns, ascending
};

OrderedWork order_work(const trace::Trace& trace, trace::Index process);

/// Copies of one process, by start.
std::vector<trace::Index> copies_of(const trace::Trace& trace, trace::Index process);

/// Start of the launch, or of the work itself when no launch is recorded; ns.
std::int64_t host_time(const trace::Trace& trace, trace::Index launch, std::int64_t start);

/// Segments from user ranges of the process: labels, host windows and whose work is whose are set.
/// `most`: only ranges that hold more than half of the dispatch time.
std::optional<Segments> segments_of_ranges(const trace::Trace& trace, trace::Index process,
                                           const OrderedWork& work, bool most);

/// A range's text with its numbers as '#': "iter=3 loss=-1e-5" -> "iter=# loss=#".
std::string without_numbers(std::string_view text);

}  // namespace perflab::analyze
