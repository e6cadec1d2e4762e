// Sentences and tables of excerpts alone: what a row does not have is not said.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "report/answers/answers.h"
#include "report/excerpt/parts.h"
#include "report/kit/quantities.h"
#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"
#include "report/tuning/autotune_chart.h"

namespace perflab::report {
namespace {

using enum TextTable::Align;

/// The member, null where there is none.
const Json& member_at(const Json& row, const std::string& name) {
  static const Json kNothing;
  const auto found = row.is_object() ? row.find(name) : row.end();
  return row.is_object() && found != row.end() ? *found : kNothing;
}

bool true_at(const Json& row, const std::string& name) {
  const Json& value = member_at(row, name);
  return value.is_boolean() && value.get<bool>();
}

std::size_t elements_at(const Json& row, const std::string& name) {
  return static_cast<std::size_t>(row_number(member_at(row, name), "elements"));
}

/// The first row that has the field; null: there is none.
const Json& row_with(const Json& part, std::string_view field) {
  static const Json kNothing;
  for (const Json& row : part["rows"])
    if (row.contains(field)) return row;
  return kNothing;
}

/// Of the row that counts all elements of an array; 0: there is none.
std::size_t counted_elements(const Json& part) {
  for (const Json& row : part["rows"])
    if (row.contains("elements") && !row.contains("is")) return row["elements"].get<std::size_t>();
  return 0;
}

/// "4440000", "1.3e+12".
std::string count_words(double count) {
  return count < 1e12 ? fmt::format("{:.0f}", count) : fmt::format("{:.3g}", count);
}

/// "35 worked, 3 did not build": what there is none of is left out.
std::string counts_words(const Json& row,
                         const std::vector<std::pair<std::string, std::string>>& names) {
  std::vector<std::string> out;
  for (const auto& [field, said] : names)
    if (const double count = row_number(row, field); count > 0)
      out.push_back(fmt::format("{} {}", count_words(count), said));
  return fmt::format("{}", fmt::join(out, ", "));
}

std::string sentence_of_outcome(const std::string& outcome) {
  if (outcome == "correct") return "worked";
  if (outcome == "compile") return "did not build";
  if (outcome == "runtime") return "failed when run";
  if (outcome == "timeout") return "cut at the time limit";
  if (outcome == "correctness") return "gave a wrong result";
  if (outcome == "device_limit") return "cannot be launched";
  return outcome;
}

/// "1.043x (1.031 to 1.056)".
std::string gain_words(const Json& gain, const char* value) {
  if (gain.is_null()) return kDash;
  if (member_at(gain, "low").is_null() || member_at(gain, "high").is_null())
    return fmt::format("{:.4g}x", row_number(gain, value));
  return fmt::format("{:.4g}x ({:.4g} to {:.4g})", row_number(gain, value), row_number(gain, "low"),
                     row_number(gain, "high"));
}

std::string value_words(const Json& row, const std::string& field) {
  if (member_at(row, field).is_null()) return kDash;
  return objective_text(row_number(row, field), row_text(member_at(row, "objective"), "unit"));
}

// --- autotune -------------------------------------------------------------------------------

std::string space_words(const Json& row) {
  const std::string recording = row_text(member_at(row, "files"), "simulated");
  const std::string file = row_text(member_at(row, "files"), "space_file");
  std::string text = fmt::format("{} configurations of {}", count_words(row_number(row, "listed")),
                                 counted(elements_at(row, "parameters"), "parameter"));
  if (true_at(row, "sampled")) text += ", drawn at random";
  if (row_number(row, "product") > row_number(row, "listed"))
    text += fmt::format(", of {} combinations", count_words(row_number(row, "product")));
  if (!recording.empty()) return text + ", in the recording " + recording;
  return file.empty() ? text : text + ", in " + file;
}

std::string search_words(const Json& row) {
  const Json& search = member_at(row, "search");
  std::string text = fmt::format("{} tried ({} allowed): ", elements_at(row, "tried"),
                                 count_words(row_number(search, "budget")));
  const Json& outcomes = member_at(row, "outcomes");
  text += counts_words(outcomes, {{"correct", "worked"}});
  if (row_number(outcomes, "correct") <= 0) text += "none worked";
  if (row_number(outcomes, "unstable") > 0)
    text += fmt::format(" ({} of them unstable)", count_words(row_number(outcomes, "unstable")));
  for (const char* name : {"compile", "runtime", "timeout", "correctness", "device_limit"})
    if (const std::string one = counts_words(outcomes, {{name, sentence_of_outcome(name)}});
        !one.empty())
      text += ", " + one;
  text += "; " + row_text(search, "stopped_because");
  return text;
}

/// The objective as a person would say it.
std::string objective_words(const Json& objective) {
  const std::string kind = row_text(objective, "kind"), kernel = row_text(objective, "kernel");
  std::string text = kind == "gpu_time"    ? "GPU time"
                     : kind == "wall_time" ? "wall time of the command"
                     : kind == "metric"    ? "what the command prints"
                                           : "recorded values";
  if (!kernel.empty()) text += " of kernels " + kernel;
  if (const std::string unit = row_text(objective, "unit"); kind != "gpu_time" && !unit.empty())
    text += " in " + unit;
  return text + (true_at(objective, "maximize") ? ", more is better" : ", less is better");
}

/// Priors have a say together, or none has (docs/models/autotuning.md "Priors").
std::string learned_words(const Json& row) {
  const std::string files =
      fmt::format("{}", fmt::join(row["learned"]["priors"].get<std::vector<std::string>>(), ", "));
  const Json& weight = member_at(row["first_prior"], "weight");
  if (weight.is_null()) return files + " had no say: the model was never fitted";
  return weight.get<double>() != 0 ? "learned from " + files : files + " was not believed";
}

std::string searched_text(const Json& part, std::size_t width) {
  const Json& row = part["rows"][0];
  const std::string never = counts_words(member_at(row, "never_run"),
                                         {{"not_recorded", "not recorded"},
                                          {"model_slow", "predicted to be much slower"},
                                          {"model_failing", "predicted to fail"},
                                          {"built_not_run", "ruled out once they were built"},
                                          {"not_launchable", "not launchable"},
                                          {"never_reached", "not reached"}});
  std::string out = indented(space_words(row), width) + indented(search_words(row), width);
  if (!never.empty()) out += indented("never run: " + never, width);
  if (row.contains("learned")) out += indented(learned_words(row), width);
  const std::string gpu = row_text(member_at(row, "search"), "gpu");
  return out + indented("value: " + objective_words(member_at(row, "objective")) +
                            (gpu.empty() ? "" : ", on " + gpu),
                        width);
}

/// "power 380 W, limit at most 400 W; energy not known", and what the limits cost.
std::string metrics_text(const Json& part, std::size_t width) {
  std::vector<std::string> metrics;
  for (const Json& row : part["rows"]) {
    if (!row.contains("name")) continue;
    const std::string unit = row_text(row, "unit");
    const bool known = !member_at(row, "best").is_null();
    std::string text =
        fmt::format("{} {}", row_text(row, "name"),
                    known ? objective_text(row_number(row, "best"), unit) : "not known");
    for (const auto& [field, words] : {std::pair{"at_least", "at least"}, {"at_most", "at most"}})
      if (!member_at(row, field).is_null())
        text += fmt::format(", limit {} {}", words, objective_text(row_number(row, field), unit));
    metrics.push_back(std::move(text));
  }
  std::string out;
  if (!metrics.empty()) out += indented(fmt::format("{}", fmt::join(metrics, "; ")), width);
  const Json& limits = row_with(part, "outside");
  if (limits.is_null()) return out;
  const std::string unit = row_text(member_at(limits, "objective"), "unit");
  return out +
         indented(fmt::format(
                      "{} outside of the limits, the best of them {}  {}",
                      count_words(row_number(limits, "outside")),
                      objective_text(row_number(member_at(limits, "best_outside"), "value"), unit),
                      configuration_words(member_at(limits, "configuration"))),
                  width);
}

std::string failed_text(const Json& part, std::size_t width) {
  std::vector<std::string> outcomes;
  for (const Json& row : part["rows"])
    if (row.contains("is"))
      outcomes.push_back(fmt::format("{} {}", row["elements"].get<std::size_t>(),
                                     sentence_of_outcome(row_text(row, "is"))));
  std::string out = indented(fmt::format("{}", fmt::join(outcomes, ", ")), width);
  const Json& first = row_with(part, "detail");
  if (first.is_null()) return out + metrics_text(part, width);
  return out + metrics_text(part, width) +
         indented(fmt::format("the first, {}: {}",
                              configuration_words(member_at(first, "configuration")),
                              row_text(first, "detail")),
                  width);
}

/// What stands between the winner and the others.
std::string rivals_words(const Json& row) {
  const std::string decision = row_text(member_at(row, "last"), "decision");
  if (decision == "separated")
    return fmt::format("separated from the runner-up: {} better",
                       gain_words(member_at(row, "over_runner_up"), "ratio"));
  if (decision == "tie")
    return fmt::format("a tie: it cannot be told apart from {}",
                       counted(elements_at(row, "tied"), "other configuration"));
  if (decision == "only_one") return "the only one that worked: there is nothing to compare with";
  return "the best ones were not compared again";
}

/// "2x better than the default, 2.468 ms (95 % interval 1.96x to 2.04x)".
std::string gain_sentence(const Json& row, const Json& usual) {
  const Json& gain = member_at(row, "gain");
  if (gain.is_null())
    return fmt::format("the default {}", sentence_of_outcome(row_text(usual, "outcome")));
  const std::string value =
      objective_text(row_number(usual, "value"), row_text(member_at(row, "objective"), "unit"));
  if (usual.contains("within_limits") && !true_at(usual, "within_limits"))
    return fmt::format("{:.4g}x as good as the default, {}, which is not within the limits",
                       row_number(gain, "ratio"), value);
  std::string text =
      fmt::format("{:.4g}x better than the default, {}", row_number(gain, "ratio"), value);
  if (member_at(gain, "low").is_null()) return text;  // the title says so
  return text + fmt::format(" (95 % interval {:.4g}x to {:.4g}x)", row_number(gain, "low"),
                            row_number(gain, "high"));
}

/// What was captured against the best one, and its proof.
std::string against_captured_text(const Json& row, std::size_t width) {
  const Json& captured = member_at(row, "captured");
  const Json& gain = member_at(row, "captured_gain");
  std::string first = fmt::format(
      "{} takes {} as captured", row_text(captured, "demangled"),
      objective_text(row_number(captured, "value"), row_text(member_at(row, "objective"), "unit")));
  const bool better = row_number(gain, "ratio") > 1;
  if (!gain.is_null())
    first += fmt::format("; {} {}{}",
                         better ? "the best one is" : "no configuration is better, the best one is",
                         gain_words(gain, "ratio"),
                         !better                       ? ""
                         : row_number(gain, "low") > 1 ? " better"
                                                       : " better, which is not proven");
  std::string out = indented(first, width);
  if (const Json& proof = member_at(row, "captured_proof"); !proof.is_null())
    out += indented("its proof: " + row_text(proof, "sentence"), width);
  return out;
}

std::string best_text(const Json& part, std::size_t width) {
  const Json& row = part["rows"][0];
  const Json& configuration = member_at(row, "configuration");
  std::string first =
      fmt::format("{}  {}", value_words(row, "value"), configuration_words(configuration));
  const std::size_t parameters = elements_at(row, "parameters");
  const std::size_t shown = configuration.size() - 1;  // without "from"
  if (parameters > shown) first += fmt::format(" … and {} more", parameters - shown);
  if (true_at(row, "unstable"))
    first += member_at(row, "cv").is_null()
                 ? " (unstable)"
                 : fmt::format(" (unstable: cv {})", percent(row_number(row, "cv")));
  std::string out = indented(first, width);
  if (const Json& usual = member_at(row, "default"); !usual.is_null()) {
    out += indented(gain_sentence(row, usual), width);
    out += indented("the default has " + configuration_words(member_at(row, "default_differs")),
                    width);
  }
  if (row.contains("captured")) out += against_captured_text(row, width);
  return out + indented(rivals_words(row), width) + metrics_text(part, width);
}

std::string front_text(const Json& part, std::size_t width) {
  if (part["rows"].empty()) return {};
  TextTable table({{.title = "value"},
                   {.title = row_text(member_at(part["rows"][0], "second"), "name")},
                   {.title = "configuration", .align = left, .flexible = true}});
  for (const Json& row : part["rows"])
    table.add(
        {value_words(row, "value"),
         objective_text(row_number(row, "metric"), row_text(member_at(row, "second"), "unit")),
         configuration_words(member_at(row, "configuration"))});
  return table.text(width);
}

std::string top_text(const Json& part, std::size_t width) {
  TextTable table({{.title = "value"},
                   {.title = "cv", .expendable = 1},
                   {.title = "over default"},
                   {.title = "what differs between them", .align = left, .flexible = true}});
  for (const Json& row : part["rows"])
    table.add({value_words(row, "value"),
               (member_at(row, "cv").is_null() ? kDash : percent(row_number(row, "cv"))) +
                   (true_at(row, "unstable") ? " !" : ""),
               gain_words(member_at(row, "over_default"), "ratio"),
               configuration_words(member_at(row, "configuration"))});
  return table.text(width);
}

std::string parameters_text(const Json& part, std::size_t width) {
  if (part["rows"].empty()) return {};
  TextTable table({{.title = "share"},
                   {.title = "worst/best"},
                   {.title = "parameter", .align = left, .flexible = true}});
  for (const Json& row : part["rows"])
    table.add({percent(row_number(row, "share")), factor_text(row_number(row, "best_to_worst")),
               row_text(row, "parameter")});
  return table.text(width);
}

std::string more_text_of_search(const Json& part, std::size_t width) {
  std::string out;
  if (const Json& recorded = row_with(part, "optimum"); !recorded.is_null()) {
    const double ratio = row_number(recorded, "ratio");
    const std::string optimum = value_words(recorded, "optimum");
    out += indented(
        !has_row_number(recorded, "ratio") ? "the best of the recording: " + optimum
        : ratio > 1 ? fmt::format("the best of the recording is {:.4g}x better: {}", ratio, optimum)
                    : "no recorded configuration is better: " + optimum,
        width);
  }
  // Of a recording its best one says more than the model.
  if (const Json& on = row_with(part, "expected_gain_left"); !on.is_null() && out.empty())
    out += indented(fmt::format("searching on would gain {} by what the model expects",
                                percent(row_number(on, "expected_gain_left"))),
                    width);
  return out;
}

// --- optimize -------------------------------------------------------------------------------

/// Times as fast: of a ratio of times, or of a metric that grows.
struct Speed {
  double value, low, high;
};
Speed speed_of(const Json& row) {
  const Json& comparison = member_at(row, "comparison");
  const Speed ratio{.value = row_number(comparison, "ratio"),
                    .low = row_number(comparison, "low"),
                    .high = row_number(comparison, "high")};
  if (true_at(member_at(row, "timing"), "larger_is_better")) return ratio;
  const auto inverse = [](double one) { return one > 0 ? 1 / one : 0; };
  return {.value = inverse(ratio.value), .low = inverse(ratio.high), .high = inverse(ratio.low)};
}

/// "1.238 (1.201 to 1.270)".
std::string speed_words(const Speed& speed) {
  if (speed.value <= 0) return kDash;
  if (speed.low <= 0) return fmt::format("{:.3f}", speed.value);
  return fmt::format("{:.3f} ({:.3f} to {:.3f})", speed.value, speed.low, speed.high);
}

/// "original", "candidate 3".
std::string against_words(const Json& row) {
  const double number = row_number(row, "against");
  return number > 0 ? fmt::format("candidate {:.0f}", number) : "the original";
}

std::string kernel_text(const Json& part, std::size_t width) {
  const Json& row = part["rows"][0];
  const std::string capture = row_text(member_at(row, "inputs"), "capture");
  std::string text = fmt::format("{} of {}", row_text(row, "kernel"), row_text(row, "name"));
  const std::string architecture = row_text(row, "architecture");
  text += architecture.empty() ? " for this machine's processor" : " for " + architecture;
  text += capture.empty() ? ", proven and timed as a program"
                          : ", proven and timed on the capture " + capture;
  return indented(text + "; proposals by " + row_text(member_at(row, "by"), "proposer"), width);
}

std::string tried_text(const Json& part, std::size_t width) {
  std::vector<std::string> outcomes, reasons;
  for (const Json& row : part["rows"]) {
    if (!row.contains("is")) continue;
    const std::string is = row_text(row, "is");
    const std::string text = fmt::format("{} {}", row["elements"].get<std::size_t>(),
                                         is == "open" ? "not decided in time" : is);
    (row_text(row, "where") == "/decision/outcome" ? outcomes : reasons).push_back(text);
  }
  std::string text = counted(counted_elements(part), "candidate");
  if (!outcomes.empty()) text += fmt::format(": {}", fmt::join(outcomes, ", "));
  if (!reasons.empty()) text += fmt::format(" ({})", fmt::join(reasons, ", "));
  if (const std::string ended = row_text(row_with(part, "because"), "sentence"); !ended.empty())
    text += "; " + ended;
  return indented(text, width);
}

/// "1.02 ms before, 408 us after (replay, 15 samples of each in turns)".
std::string times_words(const Json& row) {
  const Json& comparison = member_at(row, "comparison");
  const Json& timing = member_at(row, "timing");
  const auto median = [&](const char* field) {
    return has_row_number(comparison, field)
               ? objective_text(row_number(comparison, field), row_text(timing, "unit"))
               : kDash;
  };
  return fmt::format(
      "{} before, {} after ({}, {} of each in turns)", median("median_before"),
      median("median_after"), row_text(timing, "backend"),
      counted(static_cast<std::size_t>(row_number(comparison, "samples_after")), "sample"));
}

std::string asked_words(const Json& row) {
  return fmt::format("at least {:.4g} was asked for",
                     1 + row_number(member_at(row, "asked"), "min_gain"));
}

std::string accepted_text(const Json& part, std::size_t width) {
  const Json& row = part["rows"][0];
  if (!row.contains("speed_up")) {
    const std::string why = row_text(row, "sentence");
    const std::string out = why.empty() ? "" : indented(why, width);
    const Json& nearest = row_with(part, "comparison");
    if (nearest.is_null()) return out.empty() ? indented("no candidate was timed", width) : out;
    return out +
           indented(fmt::format("candidate {:.0f} came nearest: {} times as fast as {}, and "
                                "{}; {}",
                                row_number(nearest, "number"), speed_words(speed_of(nearest)),
                                against_words(nearest), asked_words(nearest), times_words(nearest)),
                    width);
  }
  const Json& times = row_with(part, "comparison");
  const Json& speed = member_at(row, "speed_up");
  const Json& place = member_at(row, "place");
  // A page that was too long has no row of times.
  const std::string interval =
      times.is_null() ? "interval"
                      : interval_title(row_number(member_at(times, "timing"), "confidence"));
  std::string out = indented(
      fmt::format("candidate {:.0f} is {:.3f} times as fast as the original ({} {:.3f} to {:.3f}); "
                  "{}",
                  row_number(row, "number"), row_number(speed, "value"), interval,
                  row_number(speed, "low"), row_number(speed, "high"), asked_words(row)),
      width);
  if (!times.is_null()) out += indented(times_words(times), width);
  for (const Json& other : part["rows"])
    if (row_text(other, "what") == kOnCaptured)
      out += indented(
          fmt::format("{}: {} times as fast", kOnCaptured, speed_words(speed_of(other))), width);
  if (const std::size_t checks = counted_elements(part); checks > 0)
    out += indented(fmt::format("{} of its results passed", counted(checks, "check")), width);
  if (const std::string idea = row_text(member_at(row, "idea"), "summary"); !idea.empty())
    out += indented("what it does: " + idea, width);
  const std::string folder = row_text(place, "folder");
  if (const std::string original = row_text(place, "original_kept"); !original.empty())
    out += indented(fmt::format("applied: {} is the accepted source now, and {} the original",
                                row_text(place, "source"), original),
                    width);
  return out + indented(fmt::format("it is {}/{}, and {}/accepted.diff is what it changes", folder,
                                    row_text(row, "file"), folder),
                        width);
}

/// A line per candidate; below one that was refused before it was timed, why.
std::string candidates_lines(const Json& part, std::size_t width) {
  constexpr std::string_view kMargin = "       ";
  TextTable table({{.title = "#"},
                   {.title = "decision", .align = left},
                   {.title = "times as fast"},
                   {.title = "as", .align = left},
                   {.title = "what", .align = left, .flexible = true}});
  for (const Json& row : part["rows"]) {
    const Json& decision = member_at(row, "decision");
    const std::string reason = row_text(decision, "reason"), summary = row_text(row, "summary");
    table.add({fmt::format("{:.0f}", row_number(row, "number")),
               reason.empty() ? row_text(decision, "outcome") : reason, speed_words(speed_of(row)),
               row_number(row, "against") > 0 ? fmt::format("#{:.0f}", row_number(row, "against"))
                                              : "original",
               summary.empty() ? "(no words)" : printable(summary)});
  }
  const std::string lines = table.text(width);
  std::size_t at = lines.find('\n') + 1;
  std::string out = lines.substr(0, at);
  for (const Json& row : part["rows"]) {
    const std::size_t end = lines.find('\n', at) + 1;
    out += lines.substr(at, end - at);
    at = end;
    const std::string why = row_text(member_at(row, "decision"), "sentence");
    if (member_at(row, "comparison").is_null() && !why.empty())
      out += fmt::format("{}{}\n", kMargin, fit(why, std::max<std::size_t>(width, 40) - 7));
  }
  return out;
}

std::string run_text(const Json& part, std::size_t width) {
  if (part["rows"].empty()) return {};
  const Json& row = part["rows"][0];
  const std::string now = duration_text(row_number(row, "makespan_ns"));
  if (!true_at(row, "on_critical_path"))
    return indented(fmt::format("nothing: {} is off the critical path of the run of {}",
                                row_text(row, "kernel"), now),
                    width);
  std::string text = fmt::format("the run takes {} ({} to {}) instead of {}",
                                 duration_text(row_number(row, "projected_ns")),
                                 duration_text(row_number(row, "projected_low_ns")),
                                 duration_text(row_number(row, "projected_high_ns")), now);
  if (const double ratio = row_number(row, "end_to_end_ratio"); ratio > 0)
    text += fmt::format(": {} less", percent(1 - ratio));
  return indented(text, width);
}

}  // namespace

std::optional<std::string> autotune_part_text(const Json& /*summary*/, const Json& part,
                                              std::size_t width, const Paint& /*paint*/) {
  const std::string name = part["part"];
  if (name == "searched") return searched_text(part, width);
  if (name == "failed") return failed_text(part, width);
  if (name == "best") return best_text(part, width);
  if (name == "front") return front_text(part, width);
  if (name == "top") return top_text(part, width);
  if (name == "parameters") return parameters_text(part, width);
  return more_text_of_search(part, width);
}

std::optional<std::string> optimization_part_text(const Json& /*summary*/, const Json& part,
                                                  std::size_t width, const Paint& /*paint*/) {
  const std::string name = part["part"];
  if (name == "kernel") return kernel_text(part, width);
  if (name == "tried") return tried_text(part, width);
  if (name == "accepted") return accepted_text(part, width);
  if (name == "candidates") return candidates_lines(part, width);
  return run_text(part, width);
}

}  // namespace perflab::report
