// Nulls of this document say themselves why (the schema has it): `missing` stays empty.
#include "report/tuning/dispatch_table_document.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <string_view>
#include <vector>

#include "report/kit/document.h"
#include "report/kit/text_parts.h"
#include "report/tuning/dispatch_table_text.h"

namespace perflab::report {
namespace {

using tune::Choice;
using tune::Feature;
using tune::Measured;
using tune::MeasuredProblems;
using tune::Rule;

Json configuration_json(const MeasuredProblems& measured, std::size_t configuration) {
  Json out = Json::object();
  for (std::size_t i = 0; i < measured.parameters.size(); ++i)
    out[measured.parameters[i]] = tune::to_json(measured.configurations[configuration][i]);
  return out;
}

Json feature_json(const MeasuredProblems& measured, const Feature& feature) {
  static constexpr std::array<std::string_view, 3> kKinds = {"size", "product", "ratio"};
  Json names = Json::array({measured.sizes[feature.first]});
  if (feature.kind != Feature::Kind::size) names.push_back(measured.sizes[feature.second]);
  return {{"kind", kKinds.at(static_cast<std::size_t>(feature.kind))}, {"of", std::move(names)}};
}

Json rule_json(const DispatchTableData& data) {
  const MeasuredProblems& measured = data.measured;
  const Rule& rule = data.table.rule;
  Json nodes = Json::array();
  for (const tune::RuleNode& node : rule.nodes) {
    Json one = {{"feature", nullptr}, {"below", nullptr},         {"yes", nullptr},
                {"no", nullptr},      {"configuration", nullptr}, {"problems", node.problems}};
    if (const auto& question = node.question) {
      one["feature"] = feature_json(measured, question->feature);
      one["below"] = question->below;
      one["yes"] = question->yes;
      one["no"] = question->no;
    } else {
      one["configuration"] = configuration_json(measured, node.configuration);
    }
    nodes.push_back(std::move(one));
  }
  return {{"leaves", rule.leaves()},
          {"exact", rule.exact},
          {"within_loss", rule.within(data.options.loss)},
          {"words", dispatch_rule_words(nodes)},
          {"nodes", std::move(nodes)}};
}

Json choice_json(const MeasuredProblems& measured, const Choice& choice) {
  return {{"configuration", configuration_json(measured, choice.configuration)},
          {"state", to_string(choice.state)},
          {"value", or_null(choice.value)},
          {"loss", or_null(choice.loss)}};
}

Json losses_json(const tune::LossFigures& losses) {
  return {{"mean", or_null(losses.mean)},
          {"worst", or_null(losses.worst)},
          {"worst_problem", losses.worst ? Json(losses.worst_problem) : Json(nullptr)},
          {"known", losses.known},
          {"not_measured", losses.not_measured},
          {"failed", losses.failed}};
}

Json problems_json(const DispatchTableData& data) {
  const MeasuredProblems& measured = data.measured;
  const tune::DispatchTable& table = data.table;
  Json out = Json::array();
  for (std::size_t p = 0; p < measured.problems.size(); ++p) {
    const tune::TunedProblem& problem = measured.problems[p];
    Json size = Json::object();
    for (std::size_t i = 0; i < measured.sizes.size(); ++i)
      size[measured.sizes[i]] = problem.size[i];
    const auto leaf = &table.rule.leaf_of(problem.size) - table.rule.nodes.data();
    out.push_back({{"size", std::move(size)},
                   {"format", problem.format},
                   {"evaluations", problem.evaluations},
                   {"worked", problem.worked},
                   {"best",
                    {{"configuration", configuration_json(measured, problem.best)},
                     {"value", problem.values[problem.best]}}},
                   {"node", leaf},
                   {"chosen", choice_json(measured, table.by_rule.choices[p])},
                   {"single", choice_json(measured, table.single.choices[p])},
                   {"unseen", choice_json(measured, table.by_rule.unseen[p])},
                   {"single_unseen", choice_json(measured, table.single.unseen[p])}});
  }
  return out;
}

/// Whether the rule loses more than one configuration for all where neither had seen the problem:
/// over the problems for which both are known.
std::optional<std::pair<double, double>> worse_than_single(const tune::DispatchTable& table) {
  std::vector<Choice> rule, single;
  for (std::size_t p = 0; p < table.by_rule.unseen.size(); ++p) {
    if (!table.by_rule.unseen[p].loss || !table.single.unseen[p].loss) continue;
    rule.push_back(table.by_rule.unseen[p]);
    single.push_back(table.single.unseen[p]);
  }
  const auto of_rule = loss_figures(rule).mean, of_single = loss_figures(single).mean;
  constexpr double kRounding = 1e-9;
  if (!of_rule || *of_rule <= *of_single + kRounding) return std::nullopt;
  return std::pair(*of_rule, *of_single);
}

std::vector<std::string> warnings_of(const DispatchTableData& data) {
  const tune::DispatchTable& table = data.table;
  std::vector<std::string> out;
  const tune::LossFigures& own = table.by_rule.losses;
  if (const std::size_t uncovered = own.not_measured + own.failed; uncovered > 0)
    out.push_back(
        fmt::format("for {} of {} problems the rule has no configuration that worked: no "
                    "configuration worked for all problems of their leaf",
                    uncovered, table.by_rule.choices.size()));
  if (const auto means = worse_than_single(table))
    out.push_back(
        fmt::format("on problems that were left out, rules lose {} and one configuration "
                    "for all loses {}: between the tuned sizes this rule is no better",
                    percent(means->first), percent(means->second)));
  if (const std::size_t failed = table.by_rule.unseen_losses.failed; failed > 0)
    out.push_back(
        fmt::format("of {} problems that were left out, the configuration that rules "
                    "chose fails for {}",
                    table.by_rule.unseen.size(), failed));
  if (const std::size_t none = data.measured.not_positive; none > 0)
    out.push_back(fmt::format("values that are not above 0 count as failed: {}", none));
  std::set<std::string> units;
  for (const tune::TunedProblem& problem : data.measured.problems)
    if (!problem.unit.empty()) units.insert(problem.unit);
  if (units.size() > 1)
    out.push_back(
        fmt::format("the recordings are in {}: whether larger or smaller is better has to "
                    "be the same for all",
                    fmt::join(units, ", ")));
  for (const tune::TunedProblem& problem : data.measured.problems)
    if (problem.dropped > 0)
      out.push_back(
          fmt::format("{}: {} could not be used", problem.file, counted(problem.dropped, "row")));
  return out;
}

}  // namespace

Json dispatch_table_document(const DispatchTableData& data) {
  const MeasuredProblems& measured = data.measured;
  const tune::DispatchTable& table = data.table;
  const std::string& unit = measured.problems.front().unit;
  const bool one_unit = std::ranges::all_of(
      measured.problems, [&](const tune::TunedProblem& problem) { return problem.unit == unit; });
  const std::size_t leaves = data.options.leaves;
  Json recordings = Json::array();
  for (const tune::TunedProblem& problem : measured.problems) recordings.push_back(problem.file);
  return {
      {"schema_version", "1.0.0"},
      {"document", "dispatch_table"},
      {"generator", generator_json()},
      {"objective",
       {{"maximize", measured.maximize}, {"unit", one_unit ? or_null(unit) : Json(nullptr)}}},
      {"sizes", measured.sizes},
      {"parameters", measured.parameters},
      {"options",
       {{"leaves",
         leaves == std::numeric_limits<std::size_t>::max() ? Json(nullptr) : Json(leaves)},
        {"loss", data.options.loss}}},
      {"configurations",
       {{"worked", measured.configurations.size()}, {"worked_for_all", measured.for_all}}},
      {"rule", rule_json(data)},
      {"single",
       {{"configuration",
         configuration_json(measured, table.single.choices.front().configuration)}}},
      {"losses",
       {{"rule", losses_json(table.by_rule.losses)},
        {"single", losses_json(table.single.losses)},
        {"unseen", losses_json(table.by_rule.unseen_losses)},
        {"single_unseen", losses_json(table.single.unseen_losses)}}},
      {"problems", problems_json(data)},
      {"warnings", warnings_of(data)},
      {"environment", {{"recordings", std::move(recordings)}, {"header", or_null(data.header)}}},
      {"missing", missing_json({})}};
}

}  // namespace perflab::report
