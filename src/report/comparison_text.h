// What people see of a comparison: the table on a terminal, and the words that JUnit and Markdown
// share with it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analyze/comparison.h"
#include "report/terminal.h"

namespace perflab::report {

/// The whole comparison: a line per kernel, the total, what only one side has, notes, warnings and
/// what the gate says.
std::string comparison_text(const analyze::ComparisonResult& result,
                            const analyze::CompareOptions& options, const TerminalStyle& style);

/// A sample's value in the unit of the comparison: "10.92 us", "812.4 GB/s"; a dash without one.
std::string sample_text(const std::optional<double>& value, std::string_view unit);

/// "1.034"; a dash without one.
std::string ratio_text(const std::optional<double>& ratio);
/// "1.021 to 1.048"; a dash without one.
std::string interval_text(const std::optional<stats::Interval>& interval);

/// The name of a kernel, "(samples)" where it has none.
std::string compared_name(const std::string& name);

/// One sentence on a comparison: "SLOWER by 3.4 % (2.1 % to 4.8 %): 10.92 us, was 10.56 us".
std::string comparison_words(const stats::Comparison& found, std::string_view unit);

/// What the gate says, in one sentence: "regression: 2 of 5 comparisons are slower by more than 2
/// %".
std::string gate_sentence(const analyze::ComparisonResult& result,
                          const analyze::CompareOptions& options);

}  // namespace perflab::report
