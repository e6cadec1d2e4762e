// The answer of compare: a person asks whether it is a regression, of which kernels, how sure that
// is, what it means for the whole run, what was not looked at, and what to do next.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/text/command_line.h"
#include "report/kit/text_table.h"
#include "report/summary/parts.h"
#include "report/summary/summary.h"

namespace perflab::report {
namespace {

/// What reads before what: that fails, that is decided, that is open, that is the same, that is
/// open and cannot fail.
int change_rank(const DocumentPlace& kernel) {
  const DocumentPlace regression = kernel["regression"];
  if (regression && (*regression).get<bool>()) return 0;
  const std::string verdict = kernel["verdict"].text();
  const DocumentPlace gated = kernel["gated"];
  if (verdict == "UNDECIDED") return gated && (*gated).get<bool>() ? 2 : 4;
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

/// The kernel whose figures decide the verdict: of a regression or an undecided one the first of
/// that kind, of a pass the one that is nearest to a regression. Nothing: only the total does.
std::optional<DocumentPlace> deciding(const DocumentPlace& comparison,
                                      const std::vector<DocumentPlace>& kernels) {
  const std::string verdict = comparison["verdict"].text();
  const DocumentPlace larger = comparison["larger_is_better"];
  const bool larger_is_better = larger && (*larger).get<bool>();
  std::optional<DocumentPlace> best;
  for (const DocumentPlace& kernel : kernels) {
    const DocumentPlace gated = kernel["gated"];
    if (!gated || !(*gated).get<bool>()) continue;
    const int rank = change_rank(kernel);
    if (verdict == "regression" ? rank == 0 : verdict == "undecided" && rank == 2) return kernel;
    if (verdict != "pass") continue;
    const auto slowness = [&](const DocumentPlace& one) {
      const double ratio = one["ratio"].number(1);
      return larger_is_better ? -ratio : ratio;
    };
    if (!best || slowness(kernel) > slowness(*best)) best = kernel;
  }
  return best;
}

void add_deciding(const DocumentPlace& comparison, const std::vector<DocumentPlace>& kernels,
                  Json& summary) {
  const DocumentPlace total = comparison["total"];
  const std::optional<DocumentPlace> kernel = deciding(comparison, kernels);
  if (!kernel && !total["verdict"]) return;
  Json row = compared_row(kernel.value_or(total));
  row["all"] = comparison.excerpt({"confidence_each", "larger_is_better"});
  row["options"] = comparison["options"].excerpt({"threshold"});
  add_part(summary, {.part = "decides",
                     .title = "What decides it",
                     .rows = {std::move(row)},
                     .details = "kernels"});
}

/// The reason that `missing` has for a field; empty: none.
std::string missing_reason(const DocumentPlace& document, std::string_view field) {
  const DocumentPlace missing = document["missing"];
  for (std::size_t i = 0; i < missing.size(); ++i)
    if (missing[i]["field"].text() == field) return missing[i]["reason"].text();
  return {};
}

void add_total(const DocumentPlace& comparison, Json& summary) {
  Part part{.part = "total", .title = "The whole run", .details = "kernels"};
  if (const DocumentPlace total = comparison["total"]) {
    part.rows.push_back(compared_row(total));
    part.rows.back()["options"] = comparison["options"].excerpt({"kernel"});
  } else if (comparison["kernels"].size() > 1 || comparison["not_compared"].size() > 0) {
    part.missing = missing_reason(comparison, "total");
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
  static constexpr std::array<std::string_view, 3> kKinds = {"rocpd", "profile", "analysis"};
  return std::ranges::find(kKinds, side["kind"].text()) != kKinds.end();
}

/// What would make it surer.
void add_next_measurement(const DocumentPlace& comparison,
                          const std::vector<DocumentPlace>& kernels, Json& summary) {
  constexpr double kFewestRuns = 7;
  const auto undecided = std::ranges::find_if(kernels, [](const DocumentPlace& kernel) {
    return kernel["samples_to_decide"] && change_rank(kernel) == 2;
  });
  const double samples =
      undecided == kernels.end() ? 0 : (*undecided)["samples_to_decide"].number();
  const std::string what =
      samples > 0
          ? fmt::format("about {} samples of each side would decide {}", samples,
                        (*undecided)["name"].text().empty() ? "it" : (*undecided)["name"].text())
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
  const DocumentPlace files = comparison["environment"]["b"];
  // Of a folder the database is not known here.
  if (files.size() > 0 && files[0].text().ends_with(".db"))
    add_next(summary, {join_command_line({"rocm-perf", "analyze", files[0].text()}),
                       "what limits the kernel that became slower"});
  add_next(summary, {"",
                     "rocm-perf inspect NEW.hsaco --against BASE.hsaco says whether its code "
                     "spills more, or has less occupancy, than before"});
}

}  // namespace

void summarise_comparison(std::span<const NamedDocument> documents, Json& summary) {
  const DocumentPlace comparison = document_of(documents, "comparison");
  for (const char* const side : {"b", "a"})
    if (const DocumentPlace note = comparison[side]["synthetic"]) summary["synthetic"] = *note;
  const DocumentPlace fails = comparison["fails"];
  const int code = fails && (*fails).get<bool>() ? 1 : 0;
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
  add_deciding(comparison, kernels, summary);
  add_total(comparison, summary);
  add_not_compared(comparison, summary);
  add_next_look(comparison, summary);
  add_next_measurement(comparison, kernels, summary);
}

}  // namespace perflab::report
