#include "tune/table/dispatch_table.h"

#include <cmath>

#include "base/parallel.h"

namespace perflab::tune {
namespace {

Choice choice_of(const TunedProblem& one, std::size_t configuration) {
  Choice choice{.configuration = configuration, .state = one.states[configuration]};
  if (choice.state == Measured::worked) {
    choice.value = one.values[configuration];
    choice.loss = std::expm1(one.regrets[configuration]);
  }
  return choice;
}

Choice choice_of(const TunedProblem& one, const Rule& rule) {
  return choice_of(one, rule.leaf_of(one.size).configuration);
}

/// The problems but one; all of them for a place behind the last.
ProblemSet all_but(const MeasuredProblems& measured, std::size_t unseen) {
  ProblemSet set;
  for (std::size_t p = 0; p < measured.problems.size(); ++p)
    if (p != unseen) set.push_back(static_cast<std::uint16_t>(p));
  return set;
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
  const std::size_t count = measured.problems.size();
  Learned learned = learn_rule(measured, all_but(measured, count), options);
  RuleOptions again = options;
  again.exact = learned.exact;  // what was too much for all is hardly less for all but one
  DispatchTable table{.rule = std::move(learned.rule), .by_rule = {}, .single = {}};
  for (const TunedProblem& one : measured.problems) {
    table.by_rule.choices.push_back(choice_of(one, table.rule));
    table.single.choices.push_back(choice_of(one, learned.single));
  }
  table.by_rule.unseen.resize(count);
  table.single.unseen.resize(count);
  parallel_each(count, thread_count(0), [&](std::size_t p) {
    const Learned without = learn_rule(measured, all_but(measured, p), again);
    table.by_rule.unseen[p] = choice_of(measured.problems[p], without.rule);
    table.single.unseen[p] = choice_of(measured.problems[p], without.single);
  });
  for (Chooser* const chooser : {&table.by_rule, &table.single}) {
    chooser->losses = loss_figures(chooser->choices);
    chooser->unseen_losses = loss_figures(chooser->unseen);
  }
  return table;
}

}  // namespace perflab::tune
