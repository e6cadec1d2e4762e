// Waves of the kernels over time, from the starts and ends on all CUs of the traced shader engines.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "analyze/thread_trace/cycle_figures.h"
#include "att/thread_trace.h"

namespace perflab::analyze {

/// A wave that started on a traced engine. Cycles of the engine's clock.
struct Lifetime {
  int engine = 0, cu = 0;
  std::int64_t begin = 0;
  /// Where the end was not recorded, the latest that it can have been: the next start in its slot,
  /// or the engine's last row.
  std::int64_t end = 0;
  bool ended = true;  ///< its end was recorded
};

/// All waves of one kernel.
struct KernelLifetimes {
  std::vector<Lifetime> waves;  ///< by engine, begin, end; one for each recorded start
  std::set<std::int64_t> ids;   ///< under which they started; without 0 (not known)
  std::uint64_t unended = 0;    ///< waves without a recorded end
};

/// Starts and ends of all engines, paired by CU, SIMD and slot, by kernel: `kernel_of` gives the
/// kernel of an id, below `kernels`. An end without a start is left out.
std::vector<KernelLifetimes> pair_lifetimes(
    const std::vector<att::ShaderEngine>& engines, std::size_t kernels,
    const std::function<std::size_t(std::int64_t id)>& kernel_of);

/// A pause between the waves of an engine that is shorter than this (about half a microsecond) can
/// be the dispatcher's: between two dispatches of one queue there are several microseconds. A
/// judgement, no documented number.
inline constexpr std::int64_t kShortestPause = 1000;

/// Whether the waves tell of more than one dispatch: they started under several ids, or on one
/// engine none was left for longer than any wave of the kernel lived (and than kShortestPause)
/// before others started. Dispatches that overlap or follow at once are not told apart by this.
bool several_dispatches(const KernelLifetimes& kernel);

/// Of the waves that started, without a recorded end: above it there is no occupancy, and low.
inline constexpr double kMostUnended = 0.05;

/// Whether more than kMostUnended of the waves have no recorded end.
bool too_many_unended(std::uint64_t unended, std::uint64_t started);

/// Waves of one dispatch; those without an end are left out. Engines have clocks of their own: they
/// are laid over each other at their first start. nullopt: no wave that took any time started and
/// ended, or too_many_unended().
std::optional<OccupancyOverTime> occupancy_over_time(const KernelLifetimes& kernel);

}  // namespace perflab::analyze
