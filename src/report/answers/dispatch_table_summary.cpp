// The answer of dispatch-table: the rule, what it loses and what to expect of other sizes, where it
// loses most, what it was made of, what to do with it.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text/command_line.h"
#include "report/answers/answers.h"
#include "report/excerpt/parts.h"
#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"
#include "report/tuning/autotune_chart.h"
#include "report/tuning/dispatch_table_text.h"

namespace perflab::report {
namespace {

Part rule_part(const DocumentPlace& table) {
  constexpr std::size_t kMostRuleLines = 24;  // the rest of the page has room
  const DocumentPlace words = table["rule"]["words"];
  Part part{.part = "rule",
            .title = table["rule"]["leaves"].number() <= 1 ? "One configuration for all sizes"
                                                           : "Which configuration for which size",
            .details = "rule"};
  for (std::size_t i = 0; i < std::min(words.size(), kMostRuleLines); ++i)
    part.rows.push_back(words[i].excerpt({"depth", "text"}));
  part.left_out = words.size() - part.rows.size();
  return part;
}

Json size_excerpt(const DocumentPlace& problem) {
  return whole_configuration(problem["size"]);
}

Part losses_part(const DocumentPlace& table) {
  Part part{.part = "losses",
            .title = "What is lost against the best of each problem",
            .details = "rule"};
  for (const auto& [name, what] : kDispatchLosses) {
    const DocumentPlace one = table["losses"][name], worst = one["worst_problem"];
    Json row = one.excerpt({"mean", "worst", "known", "not_measured", "failed"}, what);
    if (worst)
      row["size"] = size_excerpt(table["problems"][static_cast<std::size_t>(worst.number())]);
    part.rows.push_back(std::move(row));
  }
  return part;
}

/// Problems by what is lost, most first; those without a configuration that works before them.
Part problems_part(const DocumentPlace& table) {
  const DocumentPlace problems = table["problems"];
  std::vector<DocumentPlace> order;
  for (std::size_t i = 0; i < problems.size(); ++i) order.push_back(problems[i]);
  const auto loss = [](const DocumentPlace& problem) {
    constexpr double kUncovered = 1e300;
    return problem["chosen"]["loss"].number(kUncovered);
  };
  std::ranges::stable_sort(order, std::ranges::greater(), loss);
  std::erase_if(order, [&](const DocumentPlace& problem) { return loss(problem) <= 0; });
  constexpr std::size_t kMostShown = 3;  // the rule needs the room
  Part part{.part = "problems", .title = "Where the rule loses most", .details = "problems"};
  for (const DocumentPlace& problem : order) {
    if (part.rows.size() == kMostShown) break;
    Json row = problem.excerpt({});
    row["size"] = size_excerpt(problem);
    row["best"] = problem["best"].excerpt({"value"});
    row["chosen"] = problem["chosen"].excerpt({"value", "loss", "state"});
    row["single"] = problem["single"].excerpt({"loss", "state"});
    part.rows.push_back(std::move(row));
  }
  part.left_out = order.size() - part.rows.size();
  return part;
}

Part made_of_part(const DocumentPlace& table) {
  Json row = table["configurations"].excerpt({"worked", "worked_for_all"});
  row["problems"] = table["problems"].count();
  row["sizes"] = table.excerpt({"sizes"});
  row["objective"] = table["objective"].excerpt({"maximize", "unit"});
  row["rule"] = table["rule"].excerpt({"leaves", "exact"});
  return {.part = "made_of", .title = "Made of", .rows = {std::move(row)}, .details = "problems"};
}

std::string text_in(const Json& row, const char* excerpt, const char* field) {
  const auto found = row.find(excerpt);
  return found == row.end() ? std::string() : row_text(*found, field);
}

/// The unit of all values; empty: it is not said.
std::string unit_in(const Json& summary) {
  for (const Json& part : summary["parts"])
    if (part["part"] == "made_of") return text_in(part["rows"][0], "objective", "unit");
  return {};
}

std::string problems_lines(const Json& part, const std::string& unit, std::size_t width) {
  TextTable table({{.title = "best"},
                   {.title = "chosen"},
                   {.title = "loses"},
                   {.title = "one for all"},
                   {.title = "problem", .align = TextTable::Align::left, .flexible = true}});
  for (const Json& row : part["rows"]) {
    const auto value = [&](const char* way) {
      return has_row_number(row[way], "value") ? objective_text(row_number(row[way], "value"), unit)
                                               : kDash;
    };
    table.add({value("best"), value("chosen"), dispatch_loss_text(row["chosen"]),
               dispatch_loss_text(row["single"]), dispatch_size_text(row["size"])});
  }
  return table.text(width);
}

std::string made_of_text(const Json& row, std::size_t width) {
  const auto worked = static_cast<std::size_t>(row_number(row, "worked"));
  const std::string unit = text_in(row, "objective", "unit");
  return indented(
      fmt::format("{}, {} that worked for one of them, {} for all; {} values are better{}",
                  counted(row["problems"]["elements"].get<std::size_t>(), "problem"),
                  counted(worked, "configuration"), row_number(row, "worked_for_all"),
                  row["objective"]["maximize"] == true ? "larger" : "smaller",
                  unit.empty() ? "" : fmt::format(" ({})", unit)) +
          (row["rule"]["exact"] == true
               ? ""
               : "; there were too many trees to try all: the rule was grown question by question"),
      width);
}

}  // namespace

void summarise_dispatch_table(std::span<const NamedDocument> documents, Json& summary) {
  const DocumentPlace table = document_of(documents, "dispatch_table");
  add_part(summary, rule_part(table));
  add_part(summary, losses_part(table));
  add_part(summary, problems_part(table));
  add_part(summary, made_of_part(table));
  const DocumentPlace unseen = table["losses"]["unseen"];
  const std::string header = table["environment"]["header"].text();
  if (!header.empty())
    add_next(summary, {"", fmt::format("include {} and call choose()", header)});
  else
    add_next(summary, {"", "the same with --header table.h writes the rule as a C++ header"});
  if (!table["rule"]["within_loss"].holds())
    add_next(summary, {"", "more leaves lose less: a larger --leaves, or none"});
  if (unseen["not_measured"].number() > 0)
    add_next(summary,
             {"",
              "for a figure of each problem that is left out, measure the same configurations for "
              "all: autotune --warm-start with the recording of another size"});
}

std::optional<std::string> dispatch_table_part_text(const Json& summary, const Json& part,
                                                    std::size_t width, const Paint& /*paint*/) {
  const std::string name = part["part"];
  if (name == "rule") return dispatch_rule_text(part["rows"], width);
  if (name == "losses") return dispatch_losses_text(part["rows"], width);
  if (name == "problems") return problems_lines(part, unit_in(summary), width);
  return made_of_text(part["rows"][0], width);
}

}  // namespace perflab::report
