// How the answer of compare is drawn: values in the unit of the comparison, intervals, sentences.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text/number_text.h"
#include "report/kit/quantities.h"
#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"
#include "report/summary/parts.h"

namespace perflab::report {
namespace {

/// The part of that name; null: there is none.
const Json* part_named(const Json& summary, std::string_view name) {
  for (const Json& part : summary["parts"])
    if (part["part"] == name) return &part;
  return nullptr;
}

/// The unit of the comparison's medians; empty: the inputs did not say.
std::string unit_of(const Json& summary) {
  const Json* const verdict = part_named(summary, "verdict");
  const Json& row = (*verdict)["rows"][0];
  return row.contains("unit") && row["unit"].is_string() ? row["unit"].get<std::string>() : "";
}

std::optional<double> number_in(const Json& row, const char* field) {
  return row.contains(field) && row[field].is_number() ? std::optional(row[field].get<double>())
                                                       : std::nullopt;
}

std::string median_in(const Json& row, const char* side, const std::string& unit) {
  const auto value = number_in(row[side], "median");
  if (!value) return kDash;
  if (unit == "ns") return duration_text(*value);
  return unit.empty() ? number_text(*value, 5)
                      : fmt::format("{} {}", number_text(*value, 5), printable(unit));
}

std::string ratio_words(const std::optional<double>& ratio) {
  if (!ratio) return kDash;
  return *ratio >= 0.1 && *ratio < 100 ? fmt::format("{:.3f}", *ratio)
                                       : fmt::format("{:.4g}", *ratio);
}

std::string interval_words(const Json& row) {
  if (!row.contains("interval")) return kDash;
  return fmt::format("{} to {}", ratio_words(number_in(row["interval"], "low")),
                     ratio_words(number_in(row["interval"], "high")));
}

std::string verdict_words(const Json& row) {
  std::string out = row["verdict"].is_string() ? row["verdict"].get<std::string>() : kDash;
  if (row.value("regression", false)) out += " (fails)";
  if (!row.value("gated", true)) out += " (not gated)";
  return out;
}

/// The name, or what stands for one; the total has neither.
std::string row_name(const Json& row) {
  return row.value("name", row.value("what", std::string("total of a run")));
}

/// "98.3 % interval": of the comparison's intervals.
std::string interval_name(const Json& summary) {
  const Json* const decides = part_named(summary, "decides");
  const auto each = decides == nullptr ? std::nullopt
                                       : number_in((*decides)["rows"][0]["all"], "confidence_each");
  return each ? interval_title(*each) : "interval";
}

std::string gate_text(const Json& part, std::size_t width, const Paint& paint) {
  const Json& row = part["rows"][0];
  const std::string verdict = row["verdict"];
  const std::string_view colour = verdict == "pass"         ? paint.good
                                  : verdict == "regression" ? paint.bad
                                                            : paint.warning;
  return fmt::format("{}{}{}", colour, indented(row["sentence"].get<std::string>(), width),
                     paint.end);
}

/// "A: base.db (rocpd, 7 runs, 12 kernels)" in one line: the path is cut.
std::string side_text(const Json& row, std::size_t width) {
  constexpr std::size_t kMargin = 2;
  std::string facts = fmt::format(" ({}", row["kind"].get<std::string>());
  if (row["runs"].is_number())
    facts += fmt::format(", {}, {}", counted(row["runs"].get<std::size_t>(), "run"),
                         counted(row["kernels"].get<std::size_t>(), "kernel"));
  facts += ")";
  const std::size_t room = std::max(width, facts.size() + 2 * kMargin) - facts.size() - kMargin;
  return fmt::format("  {}{}\n", fit(row["what"].get<std::string>(), room), facts);
}

/// "One sample is one run."
std::string samples_text(const Json& a, std::size_t width) {
  const std::string of_a = a["samples_are"], of_b = a["b"]["samples_are"];
  return indented(of_a == of_b ? fmt::format("One sample is one {}.", of_a)
                               : fmt::format("One sample of A is one {}, of B one {}.", of_a, of_b),
                  width);
}

std::string changed_text(const Json& summary, const Json& part, std::size_t width) {
  using enum TextTable::Align;
  const std::string unit = unit_of(summary);
  TextTable table({{.title = "A"},
                   {.title = "B"},
                   {.title = "B / A"},
                   {.title = interval_name(summary), .expendable = 1},
                   {.title = "verdict", .align = left},
                   {.title = "kernel", .align = left, .flexible = true}});
  for (const Json& row : part["rows"])
    table.add({median_in(row, "a", unit), median_in(row, "b", unit),
               ratio_words(number_in(row, "ratio")), interval_words(row), verdict_words(row),
               row_name(row)});
  return table.text(width);
}

/// Where the interval lies, and what follows.
std::string position_words(const Json& row, const std::string& interval, double threshold) {
  const std::string verdict = row["verdict"];
  const auto a = row["a"]["samples"].get<std::size_t>(), b = row["b"]["samples"].get<std::size_t>();
  if (!row.contains("interval"))
    return fmt::format(
        "there is no interval: it takes three samples of each side, and there are {} and {}", a, b);
  const std::string begin = fmt::format("its {}, {}, ", interval, interval_words(row));
  const std::string same =
      fmt::format("{} to {}", ratio_words(1 / (1 + threshold)), ratio_words(1 + threshold));
  if (verdict == "SAME") return begin + fmt::format("lies within {}: SAME", same);
  const double low = *number_in(row["interval"], "low"), high = *number_in(row["interval"], "high");
  const std::string side = low > 1 ? "above 1" : high < 1 ? "below 1" : "within " + same;
  if (verdict != "UNDECIDED") return begin + fmt::format("lies {}: {}", side, verdict);
  if (low > 1 || high < 1 || (low >= 1 / (1 + threshold) && high <= 1 + threshold))
    return begin + fmt::format("lies {}, but {} and {} samples are too few to be sure", side, a, b);
  return begin + fmt::format("holds 1 and reaches beyond {}: undecided, with {} and {} samples",
                             same, a, b);
}

std::string decides_text(const Json& summary, const Json& part, std::size_t width) {
  const Json& row = part["rows"][0];
  const double threshold = number_in(row["options"], "threshold").value_or(0);
  const bool larger = row["all"].value("larger_is_better", false);
  const std::string_view worse = larger ? "below" : "above";
  const std::string limit = ratio_words(larger ? 1 / (1 + threshold) : 1 + threshold);
  const std::string ratio = ratio_words(number_in(row, "ratio"));
  return fmt::format("  {}\n", fit(row_name(row), std::max<std::size_t>(width, 4) - 2)) +
         indented(
             row.value("regression", false)
                 ? fmt::format("- B / A is {}, {} {}: a regression", ratio, worse, limit)
                 : fmt::format("- B / A is {}; a regression would be {} {}", ratio, worse, limit),
             width) +
         indented("- " + position_words(row, interval_name(summary), threshold), width);
}

std::string total_text(const Json& summary, const Json& part, std::size_t width) {
  if (part["rows"].empty()) return {};
  const Json& row = part["rows"][0];
  const std::string unit = unit_of(summary);
  std::string text = fmt::format(
      "{}: {} in A, {} in B: B / A is {}",
      row["options"]["kernel"].is_string() ? "the chosen kernels" : "all kernels",
      median_in(row, "a", unit), median_in(row, "b", unit), ratio_words(number_in(row, "ratio")));
  if (row.contains("interval"))
    text += fmt::format(" ({}: {})", interval_name(summary), interval_words(row));
  text += row.value("estimate", false) ? "; estimated from medians, without a verdict"
                                       : ", " + verdict_words(row);
  return indented(text, width);
}

std::string left_out_text(const Json& part, std::size_t width) {
  std::string out;
  for (const Json& row : part["rows"]) {
    const std::string side = row["side"] == "a" ? "A" : "B";
    std::string text =
        row["kernels"].is_number()
            ? fmt::format("{} of {}", counted(row["kernels"].get<std::size_t>(), "kernel"), side)
            : fmt::format("an unknown number of kernels of {}", side);
    if (const auto share = number_in(row, "share"))
      text += fmt::format(", {} of its time", percent(*share));
    if (row.contains("first") && row["first"]["name"].is_string())
      text += fmt::format(" ({}{})", row["first"]["name"].get<std::string>(),
                          row["kernels"] == 1 ? "" : ", ...");
    out += indented(fmt::format("{}: {}", text, row["text"].get<std::string>()), width);
  }
  return out;
}

}  // namespace

std::optional<std::string> comparison_part_text(const Json& summary, const Json& part,
                                                std::size_t width, const Paint& paint) {
  const std::string name = part["part"];
  if (name == "verdict") return gate_text(part, width, paint);
  // Under the verdict.
  if (name == "compared")
    return side_text(part["rows"][0], width) + side_text(part["rows"][0]["b"], width) +
           samples_text(part["rows"][0], width);
  if (name == "changed") return changed_text(summary, part, width);
  if (name == "decides") return decides_text(summary, part, width);
  if (name == "total") return total_text(summary, part, width);
  if (name == "not_compared") return left_out_text(part, width);
  return std::nullopt;
}

}  // namespace perflab::report
