#include "tune/table/dispatch_table.h"

#include <cmath>

#include "base/parallel.h"

namespace perflab::tune {
namespace {

Choice choice_of(const MeasuredProblems& measured, std::size_t problem, const Rule& rule) {
  const TunedProblem& one = measured.problems[problem];
  const std::size_t configuration = rule.leaf_of(one.size).configuration;
  Choice choice{.configuration = configuration, .state = one.states[configuration]};
  if (choice.state == Measured::worked) {
    choice.value = one.values[configuration];
    choice.loss = std::expm1(one.regrets[configuration]);
  }
  return choice;
}

/// The problems but one; all of them for a place behind the last.
ProblemSet all_but(const MeasuredProblems& measured, std::size_t unseen) {
  ProblemSet set;
  for (std::size_t p = 0; p < measured.problems.size(); ++p)
    if (p != unseen) set.push_back(static_cast<std::uint16_t>(p));
  return set;
}

Chooser chooser_of(const MeasuredProblems& measured, const Rule& rule, const RuleOptions& options) {
  const std::size_t count = measured.problems.size();
  Chooser out{
      .choices = {}, .unseen = std::vector<Choice>(count), .losses = {}, .unseen_losses = {}};
  for (std::size_t p = 0; p < count; ++p) out.choices.push_back(choice_of(measured, p, rule));
  const Result<void> done = parallel_for(count, 0, [&](unsigned, std::size_t p) -> Result<void> {
    out.unseen[p] =
        choice_of(measured, p, learn_rule(measured, all_but(measured, p), options).rule);
    return {};
  });
  PERFLAB_CHECK(done.has_value());
  out.losses = loss_figures(out.choices);
  out.unseen_losses = loss_figures(out.unseen);
  return out;
}

}  // namespace

LossFigures loss_figures(const std::vector<Choice>& choices) {
  LossFigures out;
  double logarithms = 0;
  for (std::size_t p = 0; p < choices.size(); ++p) {
    const Choice& one = choices[p];
    out.not_measured += one.state == Measured::not_measured ? 1U : 0U;
    out.failed += one.state == Measured::failed ? 1U : 0U;
    if (!one.loss) continue;
    ++out.known;
    logarithms += std::log1p(*one.loss);
    if (out.worst && *one.loss <= *out.worst) continue;
    out.worst = one.loss;
    out.worst_problem = p;
  }
  if (out.known > 0) out.mean = std::expm1(logarithms / static_cast<double>(out.known));
  return out;
}

DispatchTable make_dispatch_table(const MeasuredProblems& measured, const RuleOptions& options) {
  const ProblemSet all = all_but(measured, measured.problems.size());
  Learned learned = learn_rule(measured, all, options);
  RuleOptions again = options;
  again.exact = learned.exact;  // what was too much for all is hardly less for all but one
  const RuleOptions one_leaf{.leaves = 1};
  DispatchTable table{.rule = std::move(learned.rule), .by_rule = {}, .single = {}};
  table.by_rule = chooser_of(measured, table.rule, again);
  table.single = chooser_of(measured, learn_rule(measured, all, one_leaf).rule, one_leaf);
  return table;
}

}  // namespace perflab::tune
