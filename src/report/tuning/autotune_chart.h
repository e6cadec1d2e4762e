// How a search came to its best value, drawn with characters: evaluations to the right, values
// upwards.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/text/json.h"
#include "report/kit/style.h"

namespace perflab::report {

/// One evaluation, in the order of the search.
struct ConvergencePoint {
  std::optional<double> value;        ///< missing: it failed
  std::optional<double> best_so_far;  ///< missing: none had worked yet
};

/// A value with its unit: times in the unit that suits ("1.234 ms"), others with four digits and
/// their unit ("812.5 GFLOP/s").
std::string objective_text(double value, const std::string& unit);

/// "BM=16 BN=64", of an excerpt too; each value in a few columns.
std::string configuration_words(const Json& configuration);

/// The lines of the chart, 13 high, with its signs below: the best so far as a line, improvements
/// as '*', other evaluations as '.', failed ones as 'x' on the axis. Logarithmic when the values
/// are positive and span more than a factor of ten. Empty with fewer than two evaluations, or when
/// none worked.
std::string convergence_chart(const std::vector<ConvergencePoint>& points, const std::string& unit,
                              const TerminalStyle& style);

}  // namespace perflab::report
