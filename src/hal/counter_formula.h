// Formulas over counters as text: which names stand in one, whether it can be evaluated at all.
// muParser does the arithmetic. evaluate() is declared in counter_tables.h.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "hal/counter_tables.h"

namespace perflab::hal {

/// Reads one formula. Names that are not among kConstants are taken for counters. Error
/// (bad_input): it is no arithmetic expression of names, numbers and functions of muParser.
Result<FormulaText> read_formula(std::string_view text);

}  // namespace perflab::hal
