// How far a kernel's thread-trace figures can be trusted: what was lost, and how much was seen.
#pragma once

#include <cstdint>
#include <string>

#include "analyze/thread_trace/cycle_figures.h"

namespace perflab::analyze {

/// With fewer traced waves than this the figures are of single waves: low.
inline constexpr std::uint64_t kFewestWaves = 2;
/// From so many waves on (one or two per SIMD of a CU) a few odd ones no longer decide: below it
/// medium.
inline constexpr std::uint64_t kEnoughWaves = 8;
/// Of the dispatch's waves (where they are not known: of those that started on the traced engines),
/// below which the traced ones may not be typical: medium.
inline constexpr double kEnoughSeen = 0.02;
/// Of the executed instructions, above which missing code distorts the figures: low.
inline constexpr double kMostUnattributed = 0.05;
/// Of the waits on memory counters by their cycles, above which the attribution is doubtful:
/// medium.
inline constexpr double kMostUnexplained = 0.10;

/// What speaks against a kernel's figures and stands in none of them.
struct TraceDoubts {
  std::string several_dispatches;  ///< why it is taken to have run more than once; empty: it is not
  std::uint64_t unended = 0;       ///< of coverage.waves_started: without a recorded end
};

/// Fills `confidence` and `confidence_reasons` from everything else of the kernel. `instructions`:
/// executed, with and without a code row.
void judge_confidence(KernelThreadTrace& kernel, std::uint64_t instructions,
                      const TraceDoubts& doubts = {});

}  // namespace perflab::analyze
