// What `rocm-perf calibrate` prints: verdicts and ceilings, and one counter explained.
#pragma once

#include <string>
#include <string_view>

#include "calibrate/calibrate.h"
#include "hal/calibration.h"
#include "hal/counter_table.h"
#include "report/kit/style.h"

namespace perflab::report {

/// The answer: how many counters and formulas hold, those that do not, ceilings against the
/// tables' peaks, kernels that prove nothing.
std::string calibration_text(const hal::Calibration& calibration, const TerminalStyle& style);

/// One counter or formula: what it is in the table, which kernels prove it with what they must
/// give, what was measured (nothing where `figure` is null), and the formulas that use it.
std::string explained_text(const hal::CounterTable& table, std::string_view name,
                           const hal::CalibratedFigure* figure, const TerminalStyle& style);

/// What would be run: each kernel with its loop and its launches, and the counter passes.
std::string calibration_plan_text(const calibrate::CalibrationPlan& plan,
                                  const TerminalStyle& style);

}  // namespace perflab::report
