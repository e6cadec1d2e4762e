// From what was counted to verdicts, and from times to ceilings.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/plan.h"
#include "calibrate/samples.h"
#include "hal/calibration.h"
#include "hal/counter_table.h"
#include "hal/peaks.h"

namespace perflab::calibrate {

/// What the passes gave: by pass, then as samples_of() has it. A counter may be in several passes.
using Passes = std::vector<std::vector<LaunchSamples>>;

/// Values of hal::kConstants.
using FormulaConstants = std::map<std::string, double, std::less<>>;

/// Every counter of the table's sets and formulas.
std::set<std::string> counters_of(const hal::CounterTable& table);

/// The verdict over proofs with measurements: zero where all are 0; noisy where the repetitions of
/// one differ by more than 5 % and than its tolerance; confirmed where every median is within its
/// tolerance; wrong_by_factor where at least two proofs are off by one factor (to 1 %, or their
/// tolerance); else wrong. Without a measurement: not_measured, with `why_not`.
hal::CalibratedFigure judged(std::string name, std::vector<hal::CalibrationProof> proofs,
                             std::string why_not);

/// Verdicts about every counter of the table's sets and formulas, by name, and about every formula,
/// in its order.
struct Judgement {
  std::vector<hal::CalibratedFigure> counters, formulas;
};
Judgement judge(const hal::CounterTable& table, std::span<const CheckedWork> checked,
                std::span<const Launch> launches, const Passes& passes,
                const FormulaConstants& constants);

/// The most that launches reached by their own times, one per level and rate, with the tables'
/// peak beside it. `times`: of a run without counters.
std::vector<hal::CalibratedCeiling> ceilings_of(std::span<const CheckedWork> checked,
                                                std::span<const Launch> launches,
                                                std::span<const LaunchSamples> times,
                                                const hal::Peaks& peaks);

}  // namespace perflab::calibrate
