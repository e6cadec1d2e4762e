// The answer of autotune: what was searched, the best configuration and whether its gain over the
// default is proven, the best five, which parameters matter, what more there is to gain.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "base/text/command_line.h"
#include "measure/autotune.h"
#include "report/kit/text_table.h"
#include "report/summary/parts.h"
#include "report/summary/summary.h"

namespace perflab::report {
namespace {

/// Bytes of the values of one configuration in a summary: spaces can have hundreds of parameters.
constexpr std::size_t kMostConfigurationBytes = 500;
/// Bytes of a command in a summary.
constexpr std::size_t kMostCommandBytes = 1600;

/// The values of a configuration, the first ones when there are very many. A parameter whose name
/// means something in every excerpt is left out: the document has it.
Json configuration_excerpt(const DocumentPlace& place) {
  Json out = place.excerpt({});
  if (!place || !(*place).is_object()) return out;
  std::size_t bytes = 0;
  for (const auto& [name, value] : (*place).items()) {
    const Json one = place.excerpt({name});
    bytes += one.dump(-1, ' ', false, Json::error_handler_t::replace).size() - out["from"].size();
    if (bytes > kMostConfigurationBytes) break;
    if (name != "from" && name != "what") out[name] = one[name];
  }
  return out;
}

/// A value with its unit and its configuration; the best one, the default, one of the best.
Json configured(const DocumentPlace& autotune, const DocumentPlace& place,
                std::initializer_list<std::string_view> fields, std::string_view what = {}) {
  Json row = place.excerpt(fields, what);
  row["objective"] = autotune["objective"].excerpt({"unit"});
  row["configuration"] = configuration_excerpt(place["configuration"]);
  return row;
}

/// Why a figure is missing; a place without anything when it is not.
DocumentPlace reason_missing(const DocumentPlace& document, std::string_view field) {
  const DocumentPlace missing = document["missing"];
  for (std::size_t i = 0; i < missing.size(); ++i)
    if (missing[i]["field"].text() == field) return missing[i];
  return DocumentPlace(nullptr);
}

Part searched_part(const DocumentPlace& autotune) {
  Part part{.part = "searched", .title = "Searched", .details = "configurations"};
  Json space = autotune["space"].excerpt({"listed", "product", "sampled"}, "space");
  space["parameters"] = autotune["space"]["parameters"].count();
  space["files"] = autotune["environment"].excerpt({"space_file", "simulated"});
  part.rows.push_back(std::move(space));
  Json tried = autotune.excerpt({"budget", "stopped_because"}, "search");
  tried["tried"] = autotune["history"].count();
  tried["outcomes"] = autotune["outcomes"].excerpt(
      {"correct", "unstable", "compile", "runtime", "timeout", "correctness", "device_limit"});
  tried["never_run"] =
      autotune["phases"]["prune"].excerpt({"not_recorded", "model_slow", "model_failing",
                                           "built_not_run", "not_launchable", "never_reached"});
  part.rows.push_back(std::move(tried));
  Json objective = autotune["objective"].excerpt({"kind", "unit", "maximize", "kernel"}, "value");
  objective["on"] = autotune.excerpt({"gpu"});
  part.rows.push_back(std::move(objective));
  return part;
}

/// Nothing worked: how evaluations ended, and what the first one said.
Part failed_part(const DocumentPlace& autotune) {
  Part part{.part = "failed",
            .title = "Nothing is better: no configuration worked",
            .details = "configurations"};
  part.rows = autotune["history"].tally("/outcome");
  const DocumentPlace history = autotune["history"];
  for (std::size_t i = 0; i < history.size(); ++i) {
    if (!history[i]["detail"]) continue;
    Json first = history[i].excerpt({"order", "outcome", "detail"}, "the first");
    first["configuration"] = configuration_excerpt(history[i]["configuration"]);
    part.rows.push_back(std::move(first));
    break;
  }
  return part;
}

/// How sure it is that the best configuration is better than the default.
enum class Gained { proven, not_proven, no_interval, not_known, is_default };

Gained gained(const DocumentPlace& autotune) {
  const DocumentPlace best = autotune["best"];
  if (best["configuration"] && autotune["default"]["configuration"] &&
      *best["configuration"] == *autotune["default"]["configuration"])
    return Gained::is_default;
  const DocumentPlace gain = best["gain"];
  if (!gain) return Gained::not_known;
  if (!gain["low"]) return Gained::no_interval;
  return gain["low"].number() > 1 ? Gained::proven : Gained::not_proven;
}

std::string best_title(Gained how) {
  switch (how) {
    case Gained::is_default:
      return "Best: the default, nothing better was found";
    case Gained::not_proven:
      return "Best, and no proof that it is better than the default";
    case Gained::no_interval:
      return "Best, of values without enough repeats for a proof";
    case Gained::not_known:
    case Gained::proven:
      break;
  }
  return "Best";
}

Part best_part(const DocumentPlace& autotune) {
  const Gained how = gained(autotune);
  Part part{.part = "best", .title = best_title(how), .details = "best"};
  const DocumentPlace best = autotune["best"];
  Json row = configured(autotune, best, {"value", "samples", "cv", "unstable"});
  row["parameters"] = autotune["space"]["parameters"].count();
  if (best["gain"]) row["gain"] = best["gain"].excerpt({"ratio", "low", "high"});
  if (const DocumentPlace why = reason_missing(autotune, "best.gain.low"))
    row["no_interval"] = why.excerpt({"reason"});
  part.rows.push_back(std::move(row));
  if (how != Gained::is_default)
    part.rows.push_back(
        configured(autotune, autotune["default"], {"value", "outcome", "declared"}, "default"));
  const DocumentPlace last = autotune["phases"]["confirm"]["final"];
  Json rivals = last.excerpt({"decision"}, "runner-up");
  rivals["tied"] = last["tied"].count();
  if (last["over_runner_up"])
    rivals["better"] = last["over_runner_up"].excerpt({"ratio", "low", "high"});
  part.rows.push_back(std::move(rivals));
  return part;
}

Part top_part(const DocumentPlace& autotune) {
  Part part{.part = "top", .title = "The best ones", .details = "best"};
  if (autotune["top"].size() < 2) return part;
  return rows_of(std::move(part), autotune["top"], [&](const DocumentPlace& one) {
    Json row = configured(autotune, one, {"value", "cv", "unstable"});
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
  if (part.rows.empty()) part.missing = "there was no model";
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
    part.missing = "what the whole program gains: only this value was measured";
  return part;
}

std::vector<std::string> words_at(const DocumentPlace& array) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < array.size(); ++i) words.push_back(array[i].text());
  return words;
}

/// The command that uses the best configuration; what is too long for a page is in the document.
void add_use(const DocumentPlace& environment, Gained how, const std::string& kind, Json& summary) {
  const std::vector<std::string> run = words_at(environment["best_command"]);
  if (run.empty()) return;
  std::string command = join_command_line(run);
  if (const auto build = words_at(environment["best_build"]); !build.empty())
    command =
        fmt::format("{} && {} && {}", join_command_line({"mkdir", "-p", measure::kBestBuildFolder}),
                    join_command_line(build), command);
  if (command.size() > kMostCommandBytes) {
    add_next(summary, {"", fmt::format("use it: the command is too long for a page, {} has it",
                                       environment["best_command"].name())});
    return;
  }
  const bool is_default = how == Gained::is_default;
  add_next(summary,
           {command, is_default ? "runs the default, which is the best" : "uses the best one"});
  if (kind == "gpu_time" && !is_default)
    add_next(summary, {"rocm-perf profile -- " + join_command_line(run),
                       "says what the whole program gains by it"});
}

/// A recording was searched: nothing can be run.
void add_search_on(const DocumentPlace& autotune, Json& summary) {
  const DocumentPlace environment = autotune["environment"];
  if (autotune["simulation"]["ratio"].number() <= 1)
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
    add_part(summary, failed_part(autotune));
    add_part(summary, searched_part(autotune));
    return add_next(summary, {"",
                              "run the command by hand with the values of the first one, and "
                              "look at what it prints"});
  }
  add_part(summary, searched_part(autotune));
  add_part(summary, best_part(autotune));
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
