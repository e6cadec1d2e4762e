// Formulas over counters as text: which names stand in one, whether it can be evaluated at all.
// muParser does the arithmetic.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace perflab::hal {

/// One way to compute a figure.
struct FormulaText {
  std::string text;                    ///< "100*TCC_HIT_sum/(TCC_HIT_sum+TCC_MISS_sum)"
  std::vector<std::string> counters;   ///< those in it, in order of appearance, each once
  std::vector<std::string> constants;  ///< names in it that are no counters: see kConstants
};

/// Names that a formula may use besides counters; whoever evaluates gives their values.
/// CU: compute units that can work for the dispatch; XCC: dies (sums run over all of them);
/// SE: shader engines; SIMD_PER_CU; MAX_WAVES_PER_CU; LANES: of a wave.
inline constexpr std::array<std::string_view, 6> kConstants = {
    "CU", "XCC", "SE", "SIMD_PER_CU", "MAX_WAVES_PER_CU", "LANES"};

/// Reads one formula. Names that are not among kConstants are taken for counters. Error
/// (bad_input): it is no arithmetic expression of names, numbers and functions of muParser.
Result<FormulaText> read_formula(std::string_view text);

/// The value of a formula. `value_of` gives counters and constants by name. nullopt: not a finite
/// number (a division by 0). Precondition: the text is of a table.
std::optional<double> evaluate(const FormulaText& formula,
                               const std::function<double(std::string_view)>& value_of);

}  // namespace perflab::hal
