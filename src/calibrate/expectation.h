// What must be counted: for formulas of the counter tables, and for raw counters, the value that
// each row of work.h has to give, as a formula of its launch and of its checked code.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "hal/terms.h"

namespace perflab::calibrate {

/// Numbers of a launch by the names that formulas use: those of CodeCounts (of one wave, all
/// rounds) and waves, threads, block, rounds, read, written (bytes), stride, conflicts, LANES, CU,
/// LINE (bytes of a request from L1 to L2), L2 (bytes).
using LaunchNumbers = std::map<std::string, double, std::less<>>;

/// One thing that some rows prove.
struct Expectation {
  std::string_view figure;   ///< "SQ_WAVES", "vector.fp32"
  bool is_formula = false;   ///< of the counter table, else a counter
  std::string_view rows;     ///< names of rows, or beginnings with '*', separated by spaces
  std::string_view formula;  ///< of LaunchNumbers
  double tolerance = 0;      ///< share
  std::string_view why;      ///< where the formula is from, a clause
  std::optional<hal::Platform> only = {};
};

/// All of them.
std::span<const Expectation> all_expectations();

/// Whether the expectation is one of that row.
bool is_for(const Expectation& expectation, std::string_view row);

/// The value; nullopt: it is not above 0, or no number.
std::optional<double> expected_value(const Expectation& expectation, const LaunchNumbers& numbers);

}  // namespace perflab::calibrate
