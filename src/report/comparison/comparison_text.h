// What people see of a comparison: the table on a terminal, and the words that JUnit and Markdown
// share with it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compare/compare_sides.h"
#include "report/kit/quantities.h"
#include "report/kit/style.h"

namespace perflab::report {

/// A line per kernel, the total, and what only one side has.
std::string comparison_kernels_text(const compare::ComparisonResult& result,
                                    const TerminalStyle& style);
/// Notes and warnings.
std::string comparison_notes_text(const compare::ComparisonResult& result,
                                  const TerminalStyle& style);
/// What the gate says, in a line of its own.
std::string comparison_verdict_text(const compare::ComparisonResult& result,
                                    const compare::CompareOptions& options,
                                    const TerminalStyle& style);
/// All three.
std::string comparison_text(const compare::ComparisonResult& result,
                            const compare::CompareOptions& options, const TerminalStyle& style);

/// A sample's value in the unit of the comparison: "10.92 us", "812.4 GB/s"; a dash without one.
std::string sample_text(const std::optional<double>& value, std::string_view unit);

/// "1.034"; a dash without one.
std::string ratio_text(const std::optional<double>& ratio);
/// "1.021 to 1.048"; a dash without one.
std::string interval_text(const std::optional<stats::Interval>& interval);

/// "12.5 %"; a dash without one.
std::string share_text(const std::optional<double>& share);

/// The name of a kernel, "(samples)" where it has none.
std::string compared_name(const std::string& name);

/// One sentence on a comparison: "SLOWER: 10.92 us, 3.4 % more than 10.56 us (B / A, 95 % interval:
/// 1.021 to 1.048), samples: 12 of A, 12 of B".
std::string comparison_words(const stats::Comparison& found,
                             const compare::ComparisonResult& result);

/// What the gate says, in one sentence: "regression: 2 of 5 comparisons slower by more than 2.0 %",
/// "no regression shown: 1 of 5 comparisons is undecided".
std::string gate_sentence(const compare::ComparisonResult& result,
                          const compare::CompareOptions& options);

}  // namespace perflab::report
