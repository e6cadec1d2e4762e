// thread_trace.json: every traced kernel instruction by instruction, with its sources and what its
// waves were doing over time (schemas/thread_trace.schema.json). Bounded in size whatever was
// traced; what there is no room for is counted in the document.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyze/analysis.h"
#include "base/text/json.h"

namespace perflab::report {

/// Room of the whole document; kernels share it, and what one does not need the others get.
struct ThreadTraceLimits {
  std::size_t rows = 20'000;
  std::size_t pairs = 4'000;
  std::size_t source_lines = 6'000;
  std::size_t waves = 200;
};

/// What each of several gets of `room`: all that it needs, or as much as any other that needs more.
std::vector<std::size_t> fair_shares(const std::vector<std::size_t>& needs, std::size_t room);

/// Whether the document can be made: there are thread traces, and their detail was kept
/// (analyze::AnalyzeOptions::keep_trace_detail).
bool has_thread_trace_detail(const analyze::Analysis& analysis);

/// Precondition: has_thread_trace_detail().
Json thread_trace_document(const analyze::Analysis& analysis, const ThreadTraceLimits& limits = {});

}  // namespace perflab::report
