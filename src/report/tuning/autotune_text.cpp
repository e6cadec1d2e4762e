// Text of a search. Every figure here stands in autotune.json too.
#include "report/tuning/autotune_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text/command_line.h"
#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"
#include "report/tuning/autotune_chart.h"

namespace perflab::report {
namespace {

using Column = TextTable::Column;
using enum TextTable::Align;
using tune::ConfigId;
using tune::Finalist;
using tune::Step;

/// "1.043x (1.031 to 1.056)".
std::string gain_text(const std::optional<tune::Gain>& gain) {
  if (!gain) return kDash;
  if (!gain->low || !gain->high) return fmt::format("{:.4g}x", gain->ratio);
  return fmt::format("{:.4g}x ({:.4g} to {:.4g})", gain->ratio, *gain->low, *gain->high);
}

/// Whether its interval has values on both sides of 1.
bool not_established(const tune::Gain& gain) {
  return gain.low && gain.high && *gain.low <= 1 && *gain.high >= 1;
}

/// "4440000", "1.3e+12".
std::string count_text(double count) {
  return count < 1e12 ? fmt::format("{:.0f}", count) : fmt::format("{:.3g}", count);
}

std::string phases_line(const tune::TuneResult& result, std::size_t width) {
  const auto steps = [&](tune::Phase phase) {
    return std::ranges::count(result.steps, phase, &Step::phase);
  };
  std::string text = fmt::format("{} configuration{} evaluated: ", result.steps.size(),
                                 result.steps.size() == 1 ? "" : "s");
  std::string parts;
  const auto add = [&](auto count, std::string_view what) {
    if (count > 0) parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", count, what);
  };
  add(steps(tune::Phase::baseline), "default");
  add(steps(tune::Phase::warm_start), "from the warm start");
  add(steps(tune::Phase::seed), "to seed the model");
  add(steps(tune::Phase::confirm), "picked by it");
  text += fmt::format("{}; {}", parts, result.stopped_because);
  if (result.resumed > 0)
    text += fmt::format("; {} of them were in the journal already", result.resumed);
  return labelled("search", text, width);
}

/// What building ahead took, and what it told.
std::string built_line(const tune::TuneResult& result, std::size_t width) {
  const tune::BuiltAhead& built = result.built_ahead;
  if (built.compared == 0) return {};
  return labelled(
      "built",
      fmt::format("{} for each run; {} not run ({:.3g} s of building); predictions were off by "
                  "{} without what compilers said, by {} with it{} ({} evaluations)",
                  built.per_run, result.pruned.built_not_run, built.unused_build_seconds,
                  percent(std::expm1(*built.error_without)), percent(std::expm1(*built.error_with)),
                  built.error_without_mix
                      ? fmt::format(", by {} with it but for the instructions",
                                    percent(std::expm1(*built.error_without_mix)))
                      : "",
                  built.compared),
      width);
}

/// Where the runs of a race went.
std::string race_line(const tune::TuneResult& result, std::size_t width) {
  if (!result.race) return {};
  const tune::Race& race = *result.race;
  return labelled(
      "race",
      fmt::format(
          "{} runs, {} of them on {} configurations that had run before; {} on the best; "
          "without racing at least {}{}",
          race.runs, race.again, race.raced, race.best, race.without_at_least,
          race.spread ? fmt::format("; runs of the best spread by {}", percent(*race.spread)) : ""),
      width);
}

/// One line per prior: what it is worth.
std::string priors_lines(const tune::TuneResult& result, std::size_t width) {
  std::string text;
  for (const auto& [description, figures] : result.priors) {
    const std::string rank = figures.rank_correlation
                                 ? fmt::format("; its order agrees with {} results at {:.2f}",
                                               figures.ranked, *figures.rank_correlation)
                                 : "";
    text += labelled(
        "prior",
        fmt::format("{}: {} evaluation{}{}; {}", description.file, description.evaluations,
                    description.evaluations == 1 ? "" : "s", rank,
                    !figures.weight        ? "the model was never fitted"
                    : *figures.weight == 0 ? "not believed"
                                           : fmt::format("weight {:.2f}", *figures.weight)),
        width);
  }
  return text;
}

/// What stands between the winner and the runner-up.
std::string decision_text(const tune::Space& space, const tune::TuneResult& result) {
  switch (result.decision) {
    case tune::Decision::separated:
      return fmt::format("separated from the runner-up: {} better",
                         gain_text(result.over_runner_up));
    case tune::Decision::tie: {
      constexpr std::size_t kMostNamed = 3;
      std::string others;
      for (std::size_t i = 0; i < std::min(kMostNamed, result.tied.size()); ++i)
        others += fmt::format("{}{}{}", others.empty() ? "" : "; ",
                              result.tied[i] == result.default_id ? "the default, " : "",
                              space.text(result.tied[i]));
      if (result.tied.size() > kMostNamed)
        others += fmt::format("; and {} more", result.tied.size() - kMostNamed);
      return fmt::format("a tie: {}, it cannot be told apart from {}",
                         result.simulation ? "by the recorded repeats" : "measured again in turns",
                         others.empty() ? "the runner-up" : others);
    }
    case tune::Decision::only_one:
      return "the only configuration that worked: there is nothing to compare it with";
    case tune::Decision::not_compared:
      break;
  }
  return "the best ones were not compared again";
}

/// "power 312 W, at most 400 W; energy 2.1 J": the further numbers of one configuration.
std::string metrics_text(const tune::TuneResult& result,
                         const std::vector<std::optional<double>>& values) {
  std::string text;
  for (std::size_t i = 0; i < result.objective.metrics.size() && i < values.size(); ++i) {
    const tune::Metric& metric = result.objective.metrics[i];
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", metric.name,
                        values[i] ? objective_text(*values[i], metric.unit) : "not known");
    if (metric.at_least) text += ", at least " + objective_text(*metric.at_least, metric.unit);
    if (metric.at_most) text += ", at most " + objective_text(*metric.at_most, metric.unit);
  }
  return text;
}

/// What the limits cost: the best that does not keep them.
std::string limits_line(const AutotuneData& data, std::size_t width) {
  const tune::TuneResult& result = *data.result;
  const Step* const best = tune::best_outside(result);
  if (best == nullptr) return {};
  return labelled("outside",
                  fmt::format("{} of {} that worked; the best of them {}  {} ({})",
                              result.outcomes.outside, result.outcomes.correct,
                              objective_text(*best->evaluation.value, result.objective.unit),
                              data.space->text(best->id),
                              metrics_text(result, tune::values_of(best->evaluation.metrics,
                                                                   result.objective.metrics))),
                  width);
}

bool default_outside(const tune::TuneResult& result) {
  const auto step = std::ranges::find(result.steps, result.default_id, &Step::id);
  return step != result.steps.end() && step->evaluation.value && !step->within_limits;
}

std::string best_section(const AutotuneData& data, const TerminalStyle& style, const Paint& paint) {
  const tune::Space& space = *data.space;
  const tune::TuneResult& result = *data.result;
  const std::string& unit = result.objective.unit;
  std::string out = heading(paint, "Result");
  if (!result.winner || result.finalists.empty()) {
    out += labelled("best",
                    result.outcomes.outside > 0
                        ? "none: no configuration that worked is within the limits"
                        : "none: no configuration worked",
                    style.width);
  } else {
    const Finalist& best = result.finalists.front();
    const bool is_default = best.id == result.default_id;
    out += labelled("best",
                    fmt::format("{}  {}{}{}", objective_text(best.value, unit), space.text(best.id),
                                best.cv ? fmt::format(", cv {}", percent(*best.cv)) : "",
                                best.unstable ? ", UNSTABLE" : ""),
                    style.width);
    if (!best.metrics.empty())
      out += labelled("metrics", metrics_text(result, best.metrics), style.width);
    if (is_default)
      out += labelled("gain", "none: the default is the best that was found", style.width);
    else if (best.over_default)
      out += labelled(
          "gain",
          gain_text(best.over_default) +
              (default_outside(result) ? " as good as the default, which is not within the limits"
               : not_established(*best.over_default) ? " better than the default, not established"
                                                     : " better than the default"),
          style.width);
  }
  out += limits_line(data, style.width);
  if (result.captured) {
    const tune::Captured& code = *result.captured;
    std::string gained;
    if (code.winners)
      gained = fmt::format("; the best is {} as good{}", gain_text(code.winners),
                           not_established(*code.winners) ? ", not established" : "");
    out += labelled("captured", objective_text(code.value, unit) + gained, style.width);
  }
  out += labelled(
      "default",
      fmt::format("{}  {}{}",
                  result.default_value ? objective_text(*result.default_value, unit) : "no value",
                  space.text(result.default_id),
                  result.default_declared ? ""
                  : result.pruned.sampled ? " (one of the sample: the space declares none)"
                                          : " (the first one: the space declares none)"),
      style.width);
  if (result.winner) out += labelled("verdict", decision_text(space, result), style.width);
  if (result.simulation) {
    const tune::Simulation& simulation = *result.simulation;
    out += labelled(
        "optimum",
        fmt::format("{}  {}, of all that was recorded", objective_text(simulation.optimum, unit),
                    space.text(simulation.optimum_id)),
        style.width);
  }
  return out + phases_line(result, style.width) + race_line(result, style.width) +
         built_line(result, style.width) + priors_lines(result, style.width);
}

std::string top_section(const AutotuneData& data, const TerminalStyle& style, const Paint& paint) {
  const tune::TuneResult& result = *data.result;
  if (result.finalists.size() < 2) return {};
  constexpr std::size_t kRoomForSamples = 72;
  const bool samples = style.width >= kRoomForSamples;
  std::vector<Column> columns = {Column{"value"}, Column{"cv"}};
  if (samples) columns.push_back(Column{"samples"});
  columns.push_back(Column{"over default", left});
  columns.push_back(Column{"configuration", left, true});
  TextTable table(std::move(columns));
  for (const Finalist& one : result.finalists) {
    std::vector<std::string> cells = {
        objective_text(one.value, result.objective.unit),
        one.cv ? percent(*one.cv) + (one.unstable ? " !" : "") : kDash};
    if (samples) cells.push_back(fmt::format("{}", one.samples));
    cells.push_back(gain_text(one.over_default));
    cells.push_back(data.space->text(one.id));
    table.add(std::move(cells));
  }
  // Three samples or more of both have an interval, unless they do not belong to the value.
  const auto base = std::ranges::find(result.finalists, result.default_id, &Finalist::id);
  const bool other_median = result.simulation && base != result.finalists.end() &&
                            base->samples >= 3 &&
                            std::ranges::any_of(result.finalists, [](const Finalist& one) {
                              return one.samples >= 3 && one.over_default && !one.over_default->low;
                            });
  std::string note;
  if (other_median)
    for (const std::string& line :
         wrapped("no interval: the recorded repeats have another median than the recorded value",
                 style.width - 2))
      note += "  " + line + "\n";
  return heading(paint, "The best ones") + table.text(style.width) + note;
}

/// Of two objectives: the front, evenly chosen where it is long.
std::string front_section(const AutotuneData& data, const TerminalStyle& style,
                          const Paint& paint) {
  const tune::TuneResult& result = *data.result;
  if (!result.front) return {};
  const auto& metrics = result.objective.metrics;
  const std::size_t at = tune::second_objective(metrics);
  const tune::Metric& second = metrics[at];
  TextTable table({Column{"value"}, Column{second.name}, Column{"configuration", left, true}});
  const std::vector<std::size_t>& steps = result.front->steps;
  const std::size_t shown = std::min(style.most_rows, steps.size());
  for (std::size_t row = 0; row < shown; ++row) {
    const Step& step = result.steps[steps[row * steps.size() / shown]];
    table.add({objective_text(*step.evaluation.value, result.objective.unit),
               objective_text(*tune::values_of(step.evaluation.metrics, metrics)[at], second.unit),
               data.space->text(step.id)});
  }
  std::string volume = fmt::format("{:.4f} of what lies between its best values and the reference",
                                   result.front->hypervolume.back());
  if (result.front->recorded)
    volume += fmt::format("; the whole recording has {:.4f}", result.front->recorded->hypervolume);
  return heading(paint, "The front: nothing is better in both") + table.text(style.width) +
         cut_note(steps.size(), shown) + labelled("volume", volume, style.width);
}

std::string chart_section(const AutotuneData& data, const TerminalStyle& style) {
  std::vector<ConvergencePoint> points;
  for (const Step& step : data.result->steps)
    points.push_back({.value = step.evaluation.value, .best_so_far = step.best_so_far});
  return convergence_chart(points, data.result->objective.unit, style);
}

std::string importance_section(const AutotuneData& data, const TerminalStyle& style,
                               const Paint& paint) {
  const tune::TuneResult& result = *data.result;
  if (result.importance.empty()) return {};
  const std::size_t shown = std::min(style.most_rows, result.importance.size());
  constexpr std::size_t kWidestBar = 24;
  TextTable table(
      {Column{"share"}, Column{"worst/best"}, Column{"parameter", left}, Column{"", left}});
  for (std::size_t i = 0; i < shown; ++i) {
    const tune::Importance& one = result.importance[i];
    const auto bar = static_cast<std::size_t>(
        std::lround(std::clamp(one.share, 0.0, 1.0) * static_cast<double>(kWidestBar)));
    table.add({percent(one.share), fmt::format("{:.3g}x", one.best_to_worst),
               fit(data.space->parameters()[one.parameter].name, 32), std::string(bar, '#')});
  }
  std::string quality;
  if (result.quality.r2)
    quality = labelled(
        "model",
        fmt::format("{}, leave-one-out R2 {:.2f} over {} configurations",
                    tune::to_string(result.model), *result.quality.r2, result.quality.samples),
        style.width);
  return heading(paint, "What mattered, as the model sees it") + table.text(style.width) +
         cut_note(result.importance.size(), shown) + quality;
}

std::string pruned_section(const AutotuneData& data, const TerminalStyle& style,
                           const Paint& paint) {
  const tune::PruneCounts& pruned = data.result->pruned;
  TextTable table({Column{"count"}, Column{"never run, because", left, true}});
  const auto add = [&](double count, std::string why) {
    if (count > 0) table.add({count_text(count), std::move(why)});
  };
  std::size_t rules = 0;
  double further = 0;
  for (const tune::Removed& removed : pruned.removed) {
    if (removed.combinations <= 0) continue;
    if (++rules > style.most_rows) {
      further += removed.combinations;
      continue;
    }
    add(removed.combinations, fmt::format("{}: {}", removed.device_limit ? "device" : "restriction",
                                          printable(removed.rule)));
  }
  add(further, counted(rules > style.most_rows ? rules - style.most_rows : 0, "more rule"));
  const auto count = [](std::size_t n) { return static_cast<double>(n); };
  add(count(pruned.not_recorded), "the recording does not have them");
  add(count(pruned.model.slow),
      fmt::format("the model predicts: more than {:.4g} times slower, even at its lower bound",
                  data.result->prune_factor));
  add(count(pruned.model.failing), "the model expects them to fail");
  add(count(pruned.built_not_run), "built, and ruled out by registers, LDS, spills or occupancy");
  add(count(pruned.not_launchable), "built, and need more than the device has");
  add(count(pruned.never_reached), "the search ended before them");
  if (table.empty()) return {};
  return heading(paint, fmt::format("Of {} combinations{}", count_text(pruned.product),
                                    pruned.sampled ? fmt::format(" ({} drawn at random: too many "
                                                                 "to list)",
                                                                 pruned.listed)
                                                   : "")) +
         table.text(style.width);
}

std::string outcomes_line(const tune::TuneResult& result, std::size_t width) {
  const tune::OutcomeCounts& counts = result.outcomes;
  std::string text = fmt::format("{} worked", counts.correct);
  if (counts.unstable > 0) text += fmt::format(" ({} of them unstable)", counts.unstable);
  const auto add = [&](std::size_t count, std::string_view what) {
    if (count > 0) text += fmt::format(", {} {}", count, what);
  };
  add(counts.compile, "did not build");
  add(counts.runtime, "failed when run");
  add(counts.timeout, "cut at the time limit");
  add(counts.wrong, "gave a wrong result");
  add(counts.device_limit, "cannot be launched");
  return "\n" + labelled("outcomes", text, width);
}

/// The first reason that failing evaluations gave, when nothing worked.
std::string failure_line(const tune::TuneResult& result, std::size_t width) {
  if (result.winner) return {};
  const auto failed = std::ranges::find_if(
      result.steps, [](const Step& s) { return !s.evaluation.detail.empty(); });
  return failed == result.steps.end() ? ""
                                      : labelled("the first", failed->evaluation.detail, width);
}

/// Commands are to be copied: one line each, never broken.
std::string command_section(const AutotuneData& data, const Paint& paint) {
  const AutotuneEnvironment& environment = data.environment;
  if (environment.best_command.empty() && environment.best_build.empty()) return {};
  std::string out = heading(paint, "Next: use it");
  if (!environment.best_build.empty() && !environment.best_build_folder.empty())
    out +=
        "  " + printable(join_command_line({"mkdir", "-p", environment.best_build_folder})) + "\n";
  for (const std::vector<std::string>& words : {environment.best_build, environment.best_command})
    if (!words.empty()) out += "  " + printable(join_command_line(words)) + "\n";
  return out;
}

}  // namespace

std::string autotune_progress_text(const tune::TuneProgress& progress,
                                   const tune::Objective& objective) {
  std::string out = fmt::format("{}/{} evaluated", progress.evaluated, progress.budget);
  if (progress.best) {
    out += ", best " + objective_text(*progress.best, objective.unit);
    if (progress.default_value && *progress.default_value > 0 && *progress.best > 0) {
      const double ratio = objective.maximize ? *progress.best / *progress.default_value
                                              : *progress.default_value / *progress.best;
      const std::string shown = fmt::format("{:.3g}", ratio);
      if (ratio > 1 && shown != "1") out += fmt::format(" ({}x better than the default)", shown);
    }
  }
  if (progress.rounds > 0)
    out += fmt::format(", comparing the best, round {} of at most {}", progress.round,
                       progress.rounds);
  else if (progress.expected_gain)
    out += ", expected gain left " + percent(*progress.expected_gain);
  return out;
}

std::string autotune_section(const AutotuneData& data, std::string_view name,
                             const TerminalStyle& style) {
  const Paint paint(style.colour);
  const tune::TuneResult& result = *data.result;
  if (name == "best")
    return best_section(data, style, paint) + top_section(data, style, paint) +
           front_section(data, style, paint);
  if (name == "search") return chart_section(data, style);
  if (name == "parameters") return importance_section(data, style, paint);
  if (name == "configurations")
    return pruned_section(data, style, paint) + outcomes_line(result, style.width) +
           failure_line(result, style.width) +
           warnings_section(result.warnings, style.width, paint);
  PERFLAB_CHECK(name == "command");
  return command_section(data, paint);
}

std::string autotune_text(const AutotuneData& data, const TerminalStyle& style) {
  std::string text;
  for (const std::string_view name : kAutotuneSections) text += autotune_section(data, name, style);
  return text;
}

}  // namespace perflab::report
