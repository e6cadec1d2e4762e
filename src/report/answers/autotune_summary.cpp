// The answer of autotune: what was searched, the best configuration and whether its gain over the
// default is proven, the best five, which parameters matter, what more there is to gain.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text/command_line.h"
#include "measure/tuning/autotune.h"
#include "report/answers/answers.h"
#include "report/excerpt/parts.h"
#include "report/kit/text_table.h"

namespace perflab::report {
namespace {

Part searched_part(const DocumentPlace& autotune) {
  Part part{.part = "searched", .title = "Searched", .details = "configurations"};
  Json row = autotune["space"].excerpt({"listed", "product", "sampled"}, "space");
  row["parameters"] = autotune["space"]["parameters"].count();
  row["files"] = autotune["environment"].excerpt({"space_file", "simulated"});
  row["search"] = autotune.excerpt({"budget", "stopped_because", "gpu"});
  row["tried"] = autotune["history"].count();
  row["outcomes"] = autotune["outcomes"].excerpt(
      {"correct", "unstable", "compile", "runtime", "timeout", "correctness", "device_limit"});
  row["never_run"] =
      autotune["phases"]["prune"].excerpt({"not_recorded", "model_slow", "model_failing",
                                           "built_not_run", "not_launchable", "never_reached"});
  row["objective"] = autotune["objective"].excerpt({"kind", "unit", "maximize", "kernel"});
  if (const DocumentPlace priors = autotune["priors"]; priors.size() > 0) {
    row["learned"] = autotune["environment"].excerpt({"priors"});
    row["first_prior"] = priors[std::size_t{0}].excerpt({"weight"});
  }
  part.rows.push_back(std::move(row));
  return part;
}

/// The further numbers of the best configuration with their limits, and what those ruled out, as
/// rows of the part that says what is best. The last ones are left out first.
void add_metrics(const DocumentPlace& autotune, Part& part) {
  const DocumentPlace limits = autotune["limits"], best = limits["best_outside"];
  if (best) {
    Json row = limits.excerpt({"outside"});
    row["best_outside"] = best.excerpt({"value"});
    row["objective"] = autotune["objective"].excerpt({"unit"});
    row["configuration"] = whole_configuration(best["configuration"]);
    part.rows.push_back(std::move(row));
  }
  part = rows_of(std::move(part), autotune["metrics"], [](const DocumentPlace& one) {
    return one.excerpt({"name", "unit", "at_least", "at_most", "best"});
  });
}

/// Nothing worked: how evaluations ended, and what the first one said.
Part failed_part(const DocumentPlace& autotune, bool outside) {
  Part part{.part = "failed",
            .title = outside ? "Nothing is better: none that worked is within the limits"
                             : "Nothing is better: no configuration worked",
            .details = "configurations"};
  part.rows = autotune["history"].tally("/outcome");
  const DocumentPlace history = autotune["history"];
  for (std::size_t i = 0; i < history.size(); ++i) {
    if (!history[i]["detail"]) continue;
    Json first = history[i].excerpt({"order", "outcome", "detail"}, "the first");
    first["configuration"] = whole_configuration(history[i]["configuration"]);
    part.rows.push_back(std::move(first));
    break;
  }
  if (outside) add_metrics(autotune, part);
  return part;
}

/// How sure it is that the best configuration is better than the default.
enum class Gained { proven, not_proven, no_interval, not_known, is_default, default_outside };

Gained gained(const DocumentPlace& autotune) {
  const DocumentPlace best = autotune["best"];
  if (best["configuration"] && autotune["default"]["configuration"] &&
      *best["configuration"] == *autotune["default"]["configuration"])
    return Gained::is_default;
  const DocumentPlace gain = best["gain"], allowed = autotune["default"]["within_limits"];
  if (allowed && !allowed.holds()) return Gained::default_outside;
  if (!gain) return Gained::not_known;
  if (!gain["low"]) return Gained::no_interval;
  return gain["low"].number() > 1 ? Gained::proven : Gained::not_proven;
}

std::string best_title(Gained how) {
  switch (how) {
    case Gained::is_default:
      return "Best: the default; nothing better was found";
    case Gained::not_proven:
      return "Best (its gain is not proven)";
    case Gained::no_interval:
      return "Best (no interval proves its gain)";
    case Gained::default_outside:
      return "Best within the limits; the default is not";
    case Gained::not_known:
    case Gained::proven:
      break;
  }
  return "Best";
}

/// Adds the captured code object: what it takes, what the best configuration gains over it, and the
/// proof of that one.
void add_captured(const DocumentPlace& autotune, Json& row) {
  const DocumentPlace capture = autotune["capture"];
  if (!capture) return;
  row["captured"] = capture.excerpt({"kernel", "demangled", "value", "samples", "cv"});
  if (capture["gain"]) row["captured_gain"] = capture["gain"].excerpt({"ratio", "low", "high"});
  const DocumentPlace history = autotune["history"];
  for (std::size_t i = 0; i < history.size(); ++i)
    if (history[i]["proof"] && *history[i]["configuration"] == *autotune["best"]["configuration"])
      row["captured_proof"] =
          history[i]["proof"].excerpt({"verdict", "sentence", "compared_bytes"});
}

/// The best configuration, the default where it has other values, and the runner-up. In one row:
/// none of it is left out of a page that is too long.
Part best_part(const DocumentPlace& autotune) {
  const Gained how = gained(autotune);
  Part part{.part = "best", .title = best_title(how), .details = "best"};
  const DocumentPlace best = autotune["best"], usual = autotune["default"];
  Json row = best.excerpt({"value", "samples", "cv", "unstable"});
  row["objective"] = autotune["objective"].excerpt({"unit"});
  row["configuration"] = whole_configuration(best["configuration"]);
  row["parameters"] = autotune["space"]["parameters"].count();
  if (best["gain"]) row["gain"] = best["gain"].excerpt({"ratio", "low", "high"});
  if (const DocumentPlace why = missing_of(autotune, "best.gain.low"))
    row["no_interval"] = why.excerpt({"reason"});
  if (how != Gained::is_default) {
    row["default"] = usual.excerpt({"value", "outcome", "declared", "within_limits"});
    row["default_differs"] =
        configuration_excerpt(usual["configuration"], [&](const std::string& name) {
          const DocumentPlace one = usual["configuration"][name],
                              other = best["configuration"][name];
          return one && (!other || *one != *other);
        });
  }
  add_captured(autotune, row);
  const DocumentPlace last = autotune["phases"]["confirm"]["final"];
  row["last"] = last.excerpt({"decision"});
  row["tied"] = last["tied"].count();
  if (last["over_runner_up"])
    row["over_runner_up"] = last["over_runner_up"].excerpt({"ratio", "low", "high"});
  part.rows.push_back(std::move(row));
  add_metrics(autotune, part);
  return part;
}

/// Of two objectives: what nothing is better than in both.
Part front_part(const DocumentPlace& autotune) {
  Part part{.part = "front", .title = "The front: nothing is better in both", .details = "best"};
  const DocumentPlace metrics = autotune["metrics"], front = autotune["front"];
  std::size_t second = 0;
  while (second < metrics.size() && metrics[second]["name"].text() != front["metric"].text())
    ++second;
  return rows_of(std::move(part), front["points"], [&](const DocumentPlace& one) {
    Json row = one.excerpt({"value", "metric"});
    row["objective"] = autotune["objective"].excerpt({"unit"});
    row["second"] = metrics[second].excerpt({"name", "unit"});
    row["configuration"] = whole_configuration(one["configuration"]);
    return row;
  });
}

/// The best ones, with the values that are not the same in all of them.
Part top_part(const DocumentPlace& autotune) {
  Part part{.part = "top", .title = "The best ones", .details = "best"};
  const DocumentPlace top = autotune["top"];
  if (top.size() < 2) return part;
  const auto differs = [&](const std::string& name) {
    const DocumentPlace first = top[std::size_t{0}]["configuration"][name];
    for (std::size_t i = 1; i < top.size(); ++i)
      if (const DocumentPlace other = top[i]["configuration"][name];
          !first || !other || *first != *other)
        return true;
    return false;
  };
  return rows_of(std::move(part), top, [&](const DocumentPlace& one) {
    Json row = one.excerpt({"value", "cv", "unstable"});
    row["objective"] = autotune["objective"].excerpt({"unit"});
    row["configuration"] = configuration_excerpt(one["configuration"], differs);
    if (one["over_default"])
      row["over_default"] = one["over_default"].excerpt({"ratio", "low", "high"});
    return row;
  });
}

Part parameters_part(const DocumentPlace& autotune) {
  Part part{
      .part = "parameters", .title = "What matters, as the model sees it", .details = "parameters"};
  part = rows_of(std::move(part), autotune["importance"], [](const DocumentPlace& one) {
    return one.excerpt({"parameter", "share", "best_to_worst"});
  });
  if (part.rows.empty())
    part.missing = autotune["front"] ? "of two objectives the model predicts neither alone"
                                     : "there was no model";
  return part;
}

/// What going on would give, and for whom.
Part more_part(const DocumentPlace& autotune) {
  Part part{.part = "more", .title = "What it is worth", .details = "best"};
  if (const DocumentPlace simulation = autotune["simulation"]) {
    Json row = simulation.excerpt({"optimum", "best", "ratio"}, "all that was recorded");
    row["objective"] = autotune["objective"].excerpt({"unit"});
    part.rows.push_back(std::move(row));
  }
  if (autotune["expected_gain_left"])
    part.rows.push_back(autotune.excerpt({"expected_gain_left"}, "to search on"));
  // The wall time of the command is what there is to gain.
  const std::string kind = autotune["objective"]["kind"].text();
  if (kind == "gpu_time" || kind == "metric")
    part.missing = "the gain of the whole program; only this value was measured";
  return part;
}

/// The command that uses the best configuration; what is too long for a page is in the document.
void add_use(const DocumentPlace& environment, Gained how, const std::string& kind, Json& summary) {
  const std::vector<std::string> run = environment["best_command"].texts();
  const std::vector<std::string> build = environment["best_build"].texts();
  if (run.empty() && build.empty()) return;
  std::string command = run.empty() ? "" : join_command_line(run);
  if (!build.empty())
    command =
        fmt::format("{} && {}{}{}", join_command_line({"mkdir", "-p", measure::kBestBuildFolder}),
                    join_command_line(build), run.empty() ? "" : " && ", command);
  if (command.size() > kMostCommandBytes) {
    add_next(summary, {"", fmt::format("use it: the command is too long for a page, {} has it",
                                       environment["best_command"].name())});
    return;
  }
  const bool is_default = how == Gained::is_default;
  const char* const uses =
      run.empty() ? "builds the best one: measure the program with it" : "uses the best one";
  add_next(summary, {command, is_default ? "runs the default, which is the best" : uses});
  if (!run.empty() && kind == "gpu_time" && !is_default)
    add_next(summary, {"rocm-perf profile -- " + join_command_line(run),
                       "says what the whole program gains by it"});
}

/// A recording was searched: nothing can be run.
void add_search_on(const DocumentPlace& autotune, Json& summary) {
  const DocumentPlace environment = autotune["environment"];
  const DocumentPlace ratio = autotune["simulation"]["ratio"];
  if (!ratio) return;  // values that have none
  if (ratio.number() <= 1)
    return add_next(summary, {"", "use these values: the recording has no better ones"});
  std::vector<std::string> words = {"rocm-perf", "autotune", "--simulate",
                                    environment["simulated"].text()};
  if (const std::string space = environment["space_file"].text(); !space.empty())
    words.insert(words.end(), {"--space", space});
  const auto twice = static_cast<std::uint64_t>(2 * autotune["budget"].number());
  words.insert(words.end(), {"--effort", "full", "--budget", fmt::format("{}", twice)});
  add_next(summary, {join_command_line(words), "searches on: the recording has a better one"});
}

}  // namespace

void summarise_autotune(std::span<const NamedDocument> documents, Json& summary) {
  const DocumentPlace autotune = document_of(documents, "autotune");
  const DocumentPlace environment = autotune["environment"];
  if (!autotune["best"]) {
    const bool outside = autotune["limits"]["outside"].number() > 0;
    add_part(summary, failed_part(autotune, outside));
    add_part(summary, searched_part(autotune));
    if (outside)
      return add_next(summary, {"", "give other limits, or a larger budget with --resume"});
    return add_next(summary, {"",
                              "run the command by hand with the values of the first one, and "
                              "look at what it prints"});
  }
  add_part(summary, searched_part(autotune));
  add_part(summary, best_part(autotune));
  if (autotune["front"]) add_part(summary, front_part(autotune));
  add_part(summary, top_part(autotune));
  add_part(summary, parameters_part(autotune));
  add_part(summary, more_part(autotune));
  const Gained how = gained(autotune);
  add_use(environment, how, autotune["objective"]["kind"].text(), summary);
  if (autotune["simulation"]) return add_search_on(autotune, summary);
  if (how == Gained::not_proven || how == Gained::no_interval)
    add_next(summary, {"",
                       "for a proof: measure again with another --journal, and with nothing else "
                       "running on the machine"});
}

}  // namespace perflab::report
