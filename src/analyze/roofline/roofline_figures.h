// Formulas over the counters of one kernel. A figure that depends on time (CounterRule::time) takes
// all its counters from one pass: passes differ in clock, cache state and launch overhead. Counts
// of the work itself may meet from several passes, when those ran the same dispatches.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/counters/counter_checks.h"
#include "analyze/counters/counter_sums.h"
#include "analyze/roofline/roofline.h"
#include "hal/calibration.h"
#include "hal/counter_catalogue.h"

namespace perflab::analyze {

/// The formula of lanes at work per vector instruction.
inline constexpr std::string_view kLanesFormula = "lanes";

/// Values of hal::kConstants for the GPU that the kernel ran on; nullopt: not known.
struct FormulaConstants {
  std::optional<double> cus, xccs, shader_engines, simds_per_cu, max_waves_per_cu, lanes;

  [[nodiscard]] std::optional<double> of(std::string_view name) const;
};

/// Everything that figures of one kernel are computed from. Pointers outlive the object.
struct KernelCounters {
  const trace::Trace* trace = nullptr;
  const Passes* passes = nullptr;
  const JoinedKernel* kernel = nullptr;
  const CounterNames* names = nullptr;
  const hal::CounterTable* table = nullptr;
  KernelSums sums;
  CounterDoubts doubts;
  FormulaConstants constants;
  const hal::Calibration* calibration = nullptr;  ///< of this GPU; what it disproved is not used

  /// What the calibration says of the formula, or of a counter of it, that it disproved; nullptr:
  /// nothing.
  [[nodiscard]] const hal::CalibratedFigure* disproved(const hal::CounterFormula& formula) const;
  [[nodiscard]] const hal::CalibratedFigure* disproved(const hal::FormulaText& text) const;

  /// The recorded counters that can stand for a name of a formula, under any of its names.
  [[nodiscard]] std::vector<trace::Index> candidates(std::string_view name) const;
};

/// A formula's figure over all dispatches of the kernel: a total for counts (FLOP, bytes, cycles),
/// a ratio of totals for ratios. Never throws a value away silently: `reason` says why there is
/// none.
Figure compute_figure(const KernelCounters& counters, const hal::CounterFormula& formula);

/// The figure of a formula by name; `unsupported` where the architecture has no such formula.
Figure compute_figure(const KernelCounters& counters, std::string_view formula);

/// Which passes the counters of one dispatch's figure may be of.
enum class PassChoice { one, any };

/// What a formula gives for one joined dispatch; nullopt: its counters are not all there, or in
/// doubt.
std::optional<double> dispatch_figure(const KernelCounters& counters, const CounterIndex& index,
                                      const hal::CounterFormula& formula, const ShapeGroup& shape,
                                      std::size_t ordinal, PassChoice choice = PassChoice::any);

/// Whether all passes that hold counters of the kernel ran the same number of its dispatches with
/// each launch geometry; otherwise a sentence that says where they differ.
std::string difference_of_passes(const KernelCounters& counters,
                                 std::span<const trace::Index> passes, bool with_timed);

}  // namespace perflab::analyze
