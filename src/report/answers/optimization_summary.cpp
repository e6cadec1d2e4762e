// The answer of optimize: which kernel, what was tried and what became of it, the accepted gain
// with its interval and what it had to be, what it is worth in the whole run, how to apply it.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/text/command_line.h"
#include "report/answers/answers.h"
#include "report/excerpt/parts.h"
#include "report/kit/text_parts.h"

namespace perflab::report {
namespace {

/// How many times as fast a candidate is than what it was timed against; nothing: not timed.
std::optional<double> times_as_fast(const DocumentPlace& candidate) {
  const DocumentPlace measurement = candidate["measurement"];
  const double ratio = measurement["comparison"]["ratio"].number();
  if (ratio <= 0) return std::nullopt;
  return measurement["larger_is_better"].holds() ? ratio : 1 / ratio;
}

/// The candidate's times against another variant's.
void add_times(const DocumentPlace& measurement, Json& row) {
  if (!measurement) return;
  row["timing"] = measurement.excerpt({"backend", "unit", "larger_is_better", "confidence"});
  row["comparison"] = measurement["comparison"].excerpt(
      {"median_before", "median_after", "ratio", "low", "high", "samples_after", "verdict"});
}

Part kernel_part(const DocumentPlace& document) {
  Part part{.part = "kernel", .title = "Optimised", .details = "candidates"};
  Json row = document["source"].excerpt({"kernel", "name", "architecture"}, "kernel");
  row["by"] = document.excerpt({"proposer"});
  row["workshop"] = document["workshop"].excerpt({"kind"});
  row["inputs"] = document["environment"].excerpt({"capture", "trace"});
  part.rows.push_back(std::move(row));
  return part;
}

/// How many were tried, and what became of them.
Part tried_part(const DocumentPlace& document) {
  Part part{.part = "tried", .title = "Tried", .details = "candidates"};
  const DocumentPlace candidates = document["candidates"];
  part.rows.push_back(candidates.count("candidates"));
  for (Json& outcome : candidates.tally("/decision/outcome"))
    part.rows.push_back(std::move(outcome));
  std::vector<Json> reasons = candidates.tally("/decision/reason");
  for (std::size_t i = 0; i < std::min(reasons.size(), kMostSummaryRows); ++i)
    part.rows.push_back(std::move(reasons[i]));
  part.left_out = reasons.size() - std::min(reasons.size(), kMostSummaryRows);
  part.rows.push_back(document["ended"].excerpt({"because", "sentence"}, "ended"));
  return part;
}

/// The proof of what was accepted: the figures that decide it.
Part accepted_part(const DocumentPlace& document) {
  Part part{.part = "accepted", .title = "Accepted", .details = "proof"};
  const DocumentPlace accepted = document["accepted"];
  Json row = accepted.excerpt({"number", "file"}, "candidate");
  row["speed_up"] = accepted["speed_up"].excerpt({"value", "low", "high"});
  row["asked"] = document["options"].excerpt({"min_gain"});
  row["place"] = document["environment"].excerpt({"folder", "source", "original_kept"});
  const auto number = static_cast<std::size_t>(accepted["number"].number(1));
  row["idea"] = document["candidates"][number - 1].excerpt({"summary"});
  part.rows.push_back(std::move(row));
  const DocumentPlace last = document["final"];
  Json times = last.excerpt({}, "against the original, once more");
  add_times(last["measurement"], times);
  part.rows.push_back(std::move(times));
  if (const DocumentPlace captured = last["as_captured"]; captured) {
    Json on_that = last.excerpt({}, kOnCaptured);
    add_times(captured, on_that);
    part.rows.push_back(std::move(on_that));
  }
  part.rows.push_back(last["proof"]["checks"].count("checks of its results, all passed"));
  return part;
}

/// Nothing was: why, and the candidate that came nearest.
Part nothing_part(const DocumentPlace& document) {
  Part part{.part = "accepted", .title = "Nothing is accepted", .details = "candidates"};
  // Without a last proof the candidates say it.
  const bool says_more = document["final"] || document["candidates"].size() == 0;
  part.rows.push_back(says_more ? document["decision"].excerpt({"outcome", "reason", "sentence"})
                                : document["decision"].excerpt({"outcome"}));
  const auto add = [&](const DocumentPlace& one, const DocumentPlace& measurement) {
    Json row = one.excerpt({"number", "against"}, "came nearest");
    add_times(measurement, row);
    row["asked"] = document["options"].excerpt({"min_gain"});
    part.rows.push_back(std::move(row));
  };
  if (const DocumentPlace last = document["final"]; last["measurement"]) {
    add(last, last["measurement"]);
    return part;
  }
  const DocumentPlace candidates = document["candidates"];
  std::optional<std::size_t> nearest;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (const auto speed = times_as_fast(candidates[i]);
        speed && (!nearest || *speed > *times_as_fast(candidates[*nearest])))
      nearest = i;
  if (nearest) add(candidates[*nearest], candidates[*nearest]["measurement"]);
  return part;
}

/// Accepted ones first, then by speed-up, then those that were not timed.
std::vector<std::size_t> most_interesting_first(const DocumentPlace& candidates) {
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) {
    return std::pair(candidates[i]["decision"]["outcome"].text() == "accepted",
                     times_as_fast(candidates[i]).value_or(0));
  });
  return order;
}

Part candidates_part(const DocumentPlace& document) {
  Part part{.part = "candidates", .title = "Candidates", .details = "candidates"};
  const DocumentPlace candidates = document["candidates"];
  for (const std::size_t i : most_interesting_first(candidates)) {
    if (part.rows.size() == kMostSummaryRows) break;
    Json row = candidates[i].excerpt({"number", "against", "summary"});
    row["decision"] = candidates[i]["decision"].excerpt({"outcome", "reason", "sentence"});
    if (const DocumentPlace measurement = candidates[i]["measurement"]) {
      row["timing"] = measurement.excerpt({"larger_is_better"});
      row["comparison"] = measurement["comparison"].excerpt({"ratio", "low", "high"});
    }
    part.rows.push_back(std::move(row));
  }
  part.left_out = candidates.size() - part.rows.size();
  return part;
}

/// What the whole run gains.
Part run_part(const DocumentPlace& document) {
  Part part{.part = "run", .title = "What it is worth", .details = "proof"};
  if (const DocumentPlace projection = document["projection"]) {
    part.rows.push_back(
        projection.excerpt({"kernel", "on_critical_path", "makespan_ns", "projected_ns",
                            "projected_low_ns", "projected_high_ns", "end_to_end_ratio"},
                           "the whole run"));
    return part;
  }
  if (const DocumentPlace why = missing_of(document, "projection")) {
    const std::string remedy = why["remedy"].text();
    part.missing = why["reason"].text() + (remedy.empty() ? "" : fmt::format("; add {}", remedy));
  }
  return part;
}

std::size_t with_value(const std::vector<Json>& tally, std::string_view value) {
  const auto found =
      std::ranges::find_if(tally, [&](const Json& one) { return one["is"] == value; });
  return found == tally.end() ? 0 : (*found)["elements"].get<std::size_t>();
}

/// What else can be tried, by why the candidates were refused.
void add_other_ways(const DocumentPlace& document, Json& summary) {
  const DocumentPlace candidates = document["candidates"];
  const std::vector<Json> reasons = candidates.tally("/decision/reason");
  const std::size_t open =
      with_value(reasons, "undecided") + with_value(candidates.tally("/decision/outcome"), "open");
  if (open > 0)
    add_next(summary,
             {"", fmt::format("{} not decided: try again with another --out where nothing else "
                              "runs, and with more time",
                              counted(open, "candidate"))});
  const DocumentPlace tolerance = document["workshop"]["tolerance"];
  const bool exact = tolerance && !tolerance["max_ulp"] && !tolerance["max_relative"] &&
                     !tolerance["max_absolute"];
  if (exact && with_value(reasons, "wrong_output") > 0)
    add_next(summary, {"",
                       "sums in another order need a budget for rounding: --rtol and --atol, "
                       "or --max-ulp"});
  if (document["proposer"].text() == "rules")
    add_next(summary, {"", "other ideas: --proposer llm --model NAME, or --proposer exec:COMMAND"});
}

void add_steps(const DocumentPlace& document, Json& summary) {
  const DocumentPlace environment = document["environment"];
  const std::string folder = environment["folder"].text();
  if (document["accepted"]) {
    const std::string source = environment["source"].text();
    if (const DocumentPlace original = environment["original_kept"])
      add_next(summary, {join_command_line({"mv", original.text(), source}),
                         "undoes it: puts the original back"});
    else
      add_next(
          summary,
          {join_command_line({"patch", "--forward", "--backup", source, folder + "/accepted.diff"}),
           "puts the accepted source in place, as --apply does"});
    add_next(
        summary,
        {join_command_line({"rocm-perf", "optimize", "--recheck", folder + "/optimization.json"}),
         "verifies every decision again, and runs nothing"});
    return;
  }
  if (document["candidates"].size() > 0)
    add_next(summary, {join_command_line({"rocm-perf", "report", folder, "--html",
                                          folder + "/optimization.html"}),
                       "shows each candidate with its guards, proof and samples"});
  add_other_ways(document, summary);
}

}  // namespace

void summarise_optimization(std::span<const NamedDocument> documents, Json& summary) {
  const DocumentPlace document = document_of(documents, "optimization");
  const bool accepted = static_cast<bool>(document["accepted"]);
  if (!accepted) add_part(summary, nothing_part(document));
  add_part(summary, kernel_part(document));
  add_part(summary, tried_part(document));
  if (accepted) add_part(summary, accepted_part(document));
  if (document["candidates"].size() > 0) add_part(summary, candidates_part(document));
  if (accepted) add_part(summary, run_part(document));
  add_steps(document, summary);
}

}  // namespace perflab::report
