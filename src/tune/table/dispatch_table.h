// A dispatch table: which configuration for which problem size, by a small rule, and what that
// loses. docs/AUTOTUNE.md "Dispatch tables".
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/error.h"
#include "tune/table/measured.h"
#include "tune/table/rule.h"

namespace perflab::tune {

/// What a rule chose for a problem.
struct Choice {
  std::size_t configuration = 0;
  Measured state = Measured::not_measured;  ///< for this problem
  std::optional<double> value{}, loss{};    ///< of those that worked; 0.02: 2 % worse than the best
};

/// What the choices for all problems lose.
struct LossFigures {
  std::optional<double> mean, worst;  ///< geometric mean; of the problems with a loss
  std::size_t worst_problem = 0;      ///< the first with that loss
  std::size_t known = 0;              ///< problems with a loss
  std::size_t not_measured = 0, failed = 0;
};
LossFigures loss_figures(const std::vector<Choice>& choices);

/// One way to choose: per problem what it chose, and what it would have chosen had it been learned
/// without that problem, which is what to expect of sizes that nobody tuned.
struct Chooser {
  std::vector<Choice> choices, unseen;
  LossFigures losses, unseen_losses;
};

struct DispatchTable {
  Rule rule;
  Chooser by_rule;
  Chooser single;  ///< one configuration for all problems
};

/// Learns the rule, and again without each problem, on all cores.
DispatchTable make_dispatch_table(const MeasuredProblems& measured, const RuleOptions& options);

}  // namespace perflab::tune
