// The answer of compare: a person asks whether it is a regression, of which kernels, how sure that
// is, what it means for the whole run, what was not looked at, and what to do next.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/text/command_line.h"
#include "base/text/number_text.h"
#include "report/answers/answers.h"
#include "report/excerpt/parts.h"
#include "report/kit/quantities.h"
#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"
#include "stats/few_samples.h"

namespace perflab::report {
namespace {

/// What reads before what: that fails, that is decided, that is open, that is the same, that is
/// open and cannot fail.
int change_rank(const DocumentPlace& kernel) {
  if (kernel["regression"].holds()) return 0;
  const std::string verdict = kernel["verdict"].text();
  if (verdict == "UNDECIDED") return kernel["gated"].holds() ? 2 : 4;
  return verdict == "SAME" ? 3 : 1;
}

/// How much of the run's time changed, as far as the shares are known.
double change_weight(const DocumentPlace& kernel) {
  const double ratio = kernel["ratio"].number(1);
  if (!(ratio > 0)) return 0;
  const DocumentPlace a = kernel["share_a"], b = kernel["share_b"];
  const double share = a && b ? std::max(a.number(), b.number()) : 1;
  return share * std::abs(std::log(ratio));
}

/// Places of the kernels, what changed most first.
std::vector<DocumentPlace> by_change(const DocumentPlace& kernels) {
  std::vector<DocumentPlace> out;
  for (std::size_t i = 0; i < kernels.size(); ++i) out.push_back(kernels[i]);
  std::ranges::stable_sort(out, [](const DocumentPlace& left, const DocumentPlace& right) {
    const int of_left = change_rank(left), of_right = change_rank(right);
    return of_left != of_right ? of_left < of_right : change_weight(left) > change_weight(right);
  });
  return out;
}

/// The figures of a kernel, or of the total.
Json compared_row(const DocumentPlace& place) {
  Json row = place.excerpt(
      {"name", "verdict", "regression", "gated", "estimate", "ratio", "samples_to_decide"});
  if (place["name"] && place["name"].text().empty()) {
    row.erase("name");
    row["what"] = "(samples)";
  }
  if (const DocumentPlace interval = place["interval"])
    row["interval"] = interval.excerpt({"low", "high"});
  for (const char* const side : {"a", "b"}) row[side] = place[side].excerpt({"median", "samples"});
  return row;
}

/// A side's name for people: its first file, and how many more there are.
std::string side_name(const DocumentPlace& files) {
  if (files.size() == 0) return "no file";
  const std::string first = fit(files[0].text(), kMostNameColumns);
  return files.size() == 1 ? first : fmt::format("{} and {} more", first, files.size() - 1);
}

/// Both sides in one row: neither is left out. `title`: of the part that they stand under.
void add_sides(const DocumentPlace& comparison, const std::string& title, Json& summary) {
  const auto side = [&](const char* name, const char* letter) {
    return comparison[name].excerpt(
        {"kind", "runs", "kernels", "samples_are"},
        fmt::format("{}: {}", letter, side_name(comparison["environment"][name])));
  };
  Json row = side("a", "A");
  row["b"] = side("b", "B");
  add_part(summary, {.part = "compared", .title = title, .rows = {std::move(row)}});
}

/// How much slower it became: of the run's time, or (not `weighed`) of its own; below 0: faster.
double worseness(const DocumentPlace& comparison, const DocumentPlace& kernel, bool weighed) {
  const double ratio = kernel["ratio"].number(1);
  if (!(ratio > 0)) return 0;
  const double size = weighed ? change_weight(kernel) : std::abs(std::log(ratio));
  return (ratio > 1) == comparison["larger_is_better"].holds() ? -size : size;
}

/// The kernel whose figures decide the verdict: the worst change among the regressions, or among
/// the undecided ones; of a pass the one that is nearest to a regression. Nothing: only the total
/// does.
std::optional<DocumentPlace> deciding(const DocumentPlace& comparison,
                                      const std::vector<DocumentPlace>& kernels) {
  const std::string verdict = comparison["verdict"].text();
  const bool pass = verdict == "pass";
  std::optional<DocumentPlace> worst;
  for (const DocumentPlace& kernel : kernels) {
    const int rank = change_rank(kernel);
    if (!kernel["gated"].holds() || (!pass && rank != (verdict == "regression" ? 0 : 2))) continue;
    if (!worst || worseness(comparison, kernel, !pass) > worseness(comparison, *worst, !pass))
      worst = kernel;
  }
  return worst;
}

void add_deciding(const DocumentPlace& comparison, const std::optional<DocumentPlace>& kernel,
                  Json& summary) {
  const DocumentPlace total = comparison["total"];
  if (!kernel && !total["verdict"]) return;
  Json row = compared_row(kernel.value_or(total));
  row["all"] = comparison.excerpt({"confidence_each", "larger_is_better"});
  row["options"] = comparison["options"].excerpt({"threshold"});
  const bool open = comparison["verdict"].text() == "undecided";
  add_part(summary, {.part = "decides",
                     .title = open ? "What keeps it open" : "What decides it",
                     .rows = {std::move(row)},
                     .details = "kernels"});
}

void add_total(const DocumentPlace& comparison, Json& summary) {
  Part part{.part = "total", .title = "The whole run", .details = "kernels"};
  if (const DocumentPlace total = comparison["total"]) {
    part.rows.push_back(compared_row(total));
    part.rows.back()["options"] = comparison["options"].excerpt({"kernel"});
  } else if (comparison["kernels"].size() > 1 || comparison["not_compared"].size() > 0) {
    part.missing = missing_of(comparison, "total")["reason"].text();
  }
  add_part(summary, part);
}

void add_not_compared(const DocumentPlace& comparison, Json& summary) {
  Part part{.part = "not_compared", .title = "Not compared", .details = "notes"};
  add_part(summary,
           rows_of(std::move(part), comparison["not_compared"], [&](const DocumentPlace& one) {
             Json row = one.excerpt({"side", "kernels", "share", "reason", "text"});
             const std::string only = one["side"].text() == "a" ? "only_in_a" : "only_in_b";
             if (one["reason"].text() == "only_in_side" && comparison[only].size() > 0)
               row["first"] = comparison[only][0].excerpt({"name"});
             return row;
           }));
}

/// Whether the side can be recorded anew with the profiler.
bool is_recording(const DocumentPlace& side) {
  static constexpr std::array<std::string_view, 5> kRecordings = {"rocpd", "rocprofv3", "kineto",
                                                                  "profile", "analysis"};
  return std::ranges::find(kRecordings, side["kind"].text()) != kRecordings.end();
}

/// What would make it surer. `worst`: the kernel that decides.
void add_next_measurement(const DocumentPlace& comparison,
                          const std::vector<DocumentPlace>& kernels,
                          const std::optional<DocumentPlace>& worst, Json& summary) {
  constexpr double kFewestRuns = 7;
  const auto with_number = std::ranges::find_if(kernels, [](const DocumentPlace& kernel) {
    return kernel["samples_to_decide"] && change_rank(kernel) == 2;
  });
  const std::optional<DocumentPlace> open = worst && (*worst)["samples_to_decide"] ? worst
                                            : with_number != kernels.end()
                                                ? std::optional(*with_number)
                                                : std::nullopt;
  const double samples = open ? (*open)["samples_to_decide"].number() : 0;
  const std::string what =
      samples > 0 ? fmt::format("about {} samples of each side would decide {}", samples,
                                (*open)["name"].text().empty() ? "it" : (*open)["name"].text())
                  : std::string();
  const bool dispatches = comparison["a"]["samples_are"].text() == "dispatch";
  if (is_recording(comparison["a"]) && is_recording(comparison["b"]) &&
      (dispatches || samples > 0)) {
    const double runs = dispatches ? kFewestRuns : std::max(samples, kFewestRuns);
    add_next(
        summary,
        {fmt::format("rocm-perf profile --runs {} --out new -- ./app", runs),
         dispatches ? "record both sides like this: dispatches of one run do not show how runs "
                      "differ"
                    : "record both sides like this: " + what});
  } else if (!what.empty()) {
    add_next(summary, {"", what + ", at the spread seen"});
  }
}

/// What a regression calls for.
void add_next_look(const DocumentPlace& comparison, Json& summary) {
  const bool has_code = is_recording(comparison["b"]) || comparison["b"]["kind"].text() == "replay";
  if (comparison["verdict"].text() != "regression" || !has_code) return;
  // Of several runs the first.
  if (const DocumentPlace files = comparison["environment"]["recordings_b"]; files.size() > 0)
    add_next(summary, {join_command_line({"rocm-perf", "analyze", files[0].text()}),
                       "what limits the kernel that became slower"});
  add_next(summary, {"",
                     "rocm-perf inspect NEW.hsaco --against BASE.hsaco says whether its code "
                     "spills more, or has less occupancy, than before"});
}

/// The part of that name; null: there is none.
const Json* part_named(const Json& summary, std::string_view name) {
  for (const Json& part : summary["parts"])
    if (part["part"] == name) return &part;
  return nullptr;
}

/// The unit of the comparison's medians; empty: the inputs did not say.
std::string unit_of(const Json& summary) {
  const Json* const verdict = part_named(summary, "verdict");
  return row_text((*verdict)["rows"][0], "unit");
}

std::optional<double> number_in(const Json& row, const char* field) {
  return has_row_number(row, field) ? std::optional(row_number(row, field)) : std::nullopt;
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
  std::string text = indented(row["sentence"].get<std::string>(), width);
  if (verdict == "undecided" && row_number(row, "comparisons") > 0)
    text += indented("This is no pass: the samples are too few to rule a regression out.", width);
  return fmt::format("{}{}{}", colour, text, paint.end);
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
  constexpr std::size_t kFewestSamples = 3;
  if (!row.contains("interval"))
    return std::min(a, b) >= kFewestSamples
               ? fmt::format("there is no interval, with {} and {} samples", a, b)
               : fmt::format(
                     "there is no interval: it takes three samples of each side, and there are {} "
                     "and {}",
                     a, b);
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

/// What samples that leave it open could have shown: from which change on, or nothing at all.
/// Empty: they decide, or there is no interval, which position_words() says.
std::string sensitivity_words(const Json& row, double threshold, bool larger) {
  const auto ratio = number_in(row, "ratio"), each = number_in(row["all"], "confidence_each");
  if (row["verdict"] != "UNDECIDED" || !row.contains("interval") || !ratio || !each) return {};
  const auto a = row["a"]["samples"].get<std::size_t>(), b = row["b"]["samples"].get<std::size_t>();
  if (*each > 0 && *each < 1 && !stats::can_decide(a, b, *each))
    return fmt::format("it takes {} samples of each side: fewer show no change, however large",
                       stats::fewest_to_decide(*each));
  const double low = *number_in(row["interval"], "low"), high = *number_in(row["interval"], "high");
  if (!(low > 0)) return {};
  // With the same spread an interval around this ratio would just leave 1 out.
  const double least = std::max(threshold, (larger ? high / *ratio : *ratio / low) - 1);
  return fmt::format("at this spread, {} and {} samples show a regression only from {} on", a, b,
                     percent(least));
}

std::string decides_text(const Json& summary, const Json& part, std::size_t width) {
  const Json& row = part["rows"][0];
  const double threshold = number_in(row["options"], "threshold").value_or(0);
  const bool larger = row["all"].value("larger_is_better", false);
  const std::string_view worse = larger ? "below" : "above";
  const std::string limit = ratio_words(larger ? 1 / (1 + threshold) : 1 + threshold);
  const std::string ratio = ratio_words(number_in(row, "ratio"));
  const std::string sensitivity = sensitivity_words(row, threshold, larger);
  return fmt::format("  {}\n", fit(row_name(row), std::max<std::size_t>(width, 4) - 2)) +
         indented(
             row.value("regression", false)
                 ? fmt::format("- B / A is {}, {} {}: a regression", ratio, worse, limit)
                 : fmt::format("- B / A is {}; a regression would be {} {}", ratio, worse, limit),
             width) +
         indented("- " + position_words(row, interval_name(summary), threshold), width) +
         (sensitivity.empty() ? "" : indented("- " + sensitivity, width));
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

void summarise_comparison(std::span<const NamedDocument> documents, Json& summary) {
  const DocumentPlace comparison = document_of(documents, "comparison");
  for (const char* const side : {"b", "a"})
    if (const DocumentPlace note = comparison[side]["synthetic"]) summary["synthetic"] = *note;
  const int code = comparison["fails"].holds() ? 1 : 0;
  Part verdict{.part = "verdict", .title = fmt::format("Verdict (exit code {})", code)};
  verdict.rows.push_back(comparison.excerpt(
      {"verdict", "sentence", "fails", "regressions", "undecided", "comparisons", "unit"}));
  add_part(summary, verdict);
  add_sides(comparison, verdict.title, summary);
  const std::vector<DocumentPlace> kernels = by_change(comparison["kernels"]);
  Part changed{.part = "changed", .title = "Kernels that changed most", .details = "kernels"};
  for (const DocumentPlace& kernel : kernels)
    if (changed.rows.size() < kMostSummaryRows)
      changed.rows.push_back(compared_row(kernel));
    else
      ++changed.left_out;
  add_part(summary, changed);
  const std::optional<DocumentPlace> worst = deciding(comparison, kernels);
  add_deciding(comparison, worst, summary);
  add_total(comparison, summary);
  add_not_compared(comparison, summary);
  add_next_look(comparison, summary);
  add_next_measurement(comparison, kernels, worst, summary);
}

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
