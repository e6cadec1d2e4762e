// The answers about several tunings. dispatch-table: the rule, what it loses and what to expect of
// other sizes, where it loses most, what it was made of, what to do with it. autotune-app: what the
// application gains, measured and predicted, what each kernel was worth and became, what differs
// from the defaults, and the file to use.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text/command_line.h"
#include "report/answers/answers.h"
#include "report/excerpt/parts.h"
#include "report/kit/quantities.h"
#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"
#include "report/tuning/autotune_app_text.h"
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

namespace {

std::string gains_title(const DocumentPlace& app) {
  const DocumentPlace proof = app["application"];
  if (!proof) return app["predicted"] ? "The application, as predicted" : "The application";
  if (proof["proven"].holds()) return "The application is faster";
  return proof["gain"] ? "The application (its gain is not proven)"
                       : "The application was not compared: one of the two did not work";
}

Part gains_part(const DocumentPlace& app) {
  Part part{.part = "gains", .title = gains_title(app), .details = "kernels"};
  Json row = app.excerpt(
      {"evaluations", "stopped_because", "recorded_ns", "no_prediction", "no_application"});
  row["options"] = app["options"].excerpt({"budget", "split"});
  if (app["predicted"]) row["predicted"] = app["predicted"].excerpt({"makespan_ns", "ratio"});
  if (const DocumentPlace proof = app["application"]) {
    row["application"] = proof.excerpt({"default_value", "value", "proven", "rounds"});
    row["objective"] = proof["objective"].excerpt({"unit"});
    if (proof["gain"]) row["gain"] = proof["gain"].excerpt({"ratio", "low", "high"});
  }
  part.rows.push_back(std::move(row));
  return part;
}

/// Most worth first; those of equal worth as in the document.
std::vector<DocumentPlace> kernels_by_worth(const DocumentPlace& app) {
  std::vector<DocumentPlace> order;
  for (std::size_t i = 0; i < app["kernels"].size(); ++i) order.push_back(app["kernels"][i]);
  std::ranges::stable_sort(order, std::ranges::greater(), [](const DocumentPlace& kernel) {
    return kernel["worth"]["per_percent_ns"].number();
  });
  return order;
}

Part app_kernels_part(const DocumentPlace& app) {
  Part part{.part = "kernels", .title = "What each kernel is worth", .details = "kernels"};
  const std::vector<DocumentPlace> order = kernels_by_worth(app);
  for (const DocumentPlace& kernel : order) {
    if (part.rows.size() == kMostSummaryRows) break;
    Json row = kernel.excerpt({"name", "evaluations", "is_default", "proven", "why_none"});
    row["objective"] = kernel["objective"].excerpt({"unit"});
    if (kernel["worth"]) row["worth"] = kernel["worth"].excerpt({"per_percent_ns", "bound_ns"});
    row["default"] = kernel["default"].excerpt({"value"});
    row["best"] = kernel["best"].excerpt({"value"});
    if (kernel["gain"]) row["gain"] = kernel["gain"].excerpt({"ratio", "low", "high"});
    if (kernel["predicted"]) row["predicted"] = kernel["predicted"].excerpt({"gain_ns"});
    part.rows.push_back(std::move(row));
  }
  part.left_out = order.size() - part.rows.size();
  return part;
}

Part changes_part(const DocumentPlace& app) {
  Part part{
      .part = "changes", .title = "What differs from the defaults", .details = "configurations"};
  std::vector<DocumentPlace> order = kernels_by_worth(app);
  std::erase_if(order, [](const DocumentPlace& kernel) { return kernel["is_default"].holds(); });
  for (const DocumentPlace& kernel : order) {
    if (part.rows.size() == kMostSummaryRows) break;
    const DocumentPlace usual = kernel["default"]["configuration"];
    Json row = kernel.excerpt({"name"});
    row["configuration"] =
        configuration_excerpt(kernel["best"]["configuration"], [&](const std::string& name) {
          return !usual[name] || *usual[name] != *kernel["best"]["configuration"][name];
        });
    part.rows.push_back(std::move(row));
  }
  part.left_out = order.size() - part.rows.size();
  return part;
}

std::string measured_text(const Json& row) {
  const Json& proof = row["application"];
  const std::string unit = row_text(row["objective"], "unit");
  const auto value = [&](const char* which) {
    return has_row_number(proof, which) ? objective_text(row_number(proof, which), unit)
                                        : std::string("failed");
  };
  std::string out =
      fmt::format("measured in {}: {} with the defaults, {} with what was found",
                  counted(static_cast<std::size_t>(row_number(proof, "rounds")), "turn"),
                  value("default_value"), value("value"));
  if (!row.contains("gain")) return out;
  const Json& gain = row["gain"];
  out += fmt::format(", {:.3f}x as good", row_number(gain, "ratio"));
  if (has_row_number(gain, "low"))
    out +=
        fmt::format(" (95 %: {:.3f} to {:.3f})", row_number(gain, "low"), row_number(gain, "high"));
  return out + (proof["proven"] == true ? "" : "; that is not proven");
}

std::string gains_text(const Json& row, std::size_t width) {
  std::string out;
  if (row.contains("application"))
    out += indented(measured_text(row), width);
  else
    out += indented("not measured: " + row_text(row, "no_application"), width);
  if (row.contains("predicted"))
    out +=
        indented(fmt::format("predicted by the what-if: {} instead of {}{}",
                             duration_text(row_number(row["predicted"], "makespan_ns")),
                             duration_text(row_number(row, "recorded_ns")),
                             has_row_number(row["predicted"], "ratio")
                                 ? fmt::format(" ({:.3f}x)", row_number(row["predicted"], "ratio"))
                                 : ""),
                 width);
  else
    out += indented("no prediction: " + row_text(row, "no_prediction"), width);
  return out + indented(fmt::format(
                            "{} of {}, shared {}: {}", row_number(row, "evaluations"),
                            counted(static_cast<std::size_t>(row_number(row["options"], "budget")),
                                    "evaluation"),
                            row["options"]["split"] == "equal"   ? "equally"
                            : row["options"]["split"] == "worth" ? "by worth"
                                                                 : "by worth and promise",
                            row_text(row, "stopped_because")),
                        width);
}

std::string app_kernel_lines(const Json& rows, std::size_t width) {
  std::string out = app_kernels_text(rows, width);
  for (const Json& row : rows)
    if (const std::string why = row_text(row, "why_none"); !why.empty())
      out += indented(row_text(row, "name") + ": " + why, width);
  return out;
}

}  // namespace

void summarise_autotune_app(std::span<const NamedDocument> documents, Json& summary) {
  const DocumentPlace app = document_of(documents, "autotune_app");
  add_part(summary, gains_part(app));
  add_part(summary, app_kernels_part(app));
  add_part(summary, changes_part(app));
  const DocumentPlace files = app["environment"];
  add_next(summary,
           {"", fmt::format("{} has the values of every kernel", files["configurations"].text())});
  if (!app["application"] && !files["command"])
    add_next(summary, {"",
                       "to prove it on the whole application, give the application file a "
                       "\"command\" with {config}, and --resume"});
  if (files["recordings"].size() == 0)
    add_next(summary, {"",
                       "with --recording of a run the budget goes where the run's critical path "
                       "gains by it"});
}

std::optional<std::string> autotune_app_part_text(const Json& /*summary*/, const Json& part,
                                                  std::size_t width, const Paint& /*paint*/) {
  const std::string name = part["part"];
  if (name == "gains") return gains_text(part["rows"][0], width);
  if (name == "kernels") return app_kernel_lines(part["rows"], width);
  std::string out;
  for (const Json& row : part["rows"])
    out +=
        indented(row_text(row, "name") + ": " + configuration_words(row["configuration"]), width);
  return out;
}

}  // namespace perflab::report
