// Which dispatch a thread trace is taken of: the kernel that the run waits for the longest, and of
// its dispatches the longest that lies on the critical path. And how rocprofv3 will count to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/pipeline.h"
#include "base/error.h"
#include "base/text/pattern.h"

namespace perflab::measure {

/// The dispatch that was chosen.
struct AttChoice {
  std::string kernel;           ///< as in Analysis::kernels
  std::string mangled_name;     ///< likewise
  std::uint64_t iteration = 1;  ///< its place among the dispatches that rocprofv3 counts together:
                                ///< those of one kernel symbol (one code object in one process)
  std::uint64_t of = 1;         ///< how many of those there are
  std::int64_t duration = 0;    ///< ns, in the run that it was chosen from
  bool on_critical_path = false;
  std::vector<std::string> notes;  ///< what else will be traced, and other doubts
};

/// What the user asked for; the rest is chosen.
struct AttWish {
  std::optional<Pattern> kernel;           ///< of kernels whose name it is found in
  std::optional<std::uint64_t> iteration;  ///< from 1
};

/// Chooses from a run without counters. The kernel: with the most time on the critical path;
/// without one that with the longest dispatch; never one of the HIP runtime's own unless there is
/// nothing else or the wish names it. Errors: usage (no kernel of that name, no such iteration).
Result<AttChoice> choose_dispatch(const analyze::AnalyzedTrace& analyzed, const AttWish& wish,
                                  unsigned threads);

}  // namespace perflab::measure
