// JSON of a search. Every null has an entry in `missing`, but for what its schema calls ordinary:
// values of failed configurations, predictions of those that no model picked.
#include "report/tuning/autotune_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "report/kit/document.h"
#include "sensors/conditions.h"

namespace perflab::report {
namespace {

using tune::ConfigId;
using tune::Step;

class AutotuneWriter {
 public:
  explicit AutotuneWriter(const AutotuneData& data)
      : data_(data), space_(*data.space), result_(*data.result) {}

  Json document() {
    Json out = {{"schema_version", "1.6.0"},
                {"document", "autotune"},
                {"generator", generator_json()},
                {"objective", objective()}};
    out["gpu"] = text("gpu", data_.gpu,
                      result_.simulation ? "nothing was run: a recording was searched"
                                         : "no GPU is known where the commands ran");
    out["capture"] = capture();
    out["space"] = space();
    out["phases"] = phases();
    out["priors"] = priors();
    out["metrics"] = metrics();
    out["limits"] = limits();
    out["front"] = front();
    out["default"] = default_json();
    out["best"] = best();
    out["top"] = Json::array();
    for (const tune::Finalist& candidate : result_.finalists)
      out["top"].push_back(candidate_json(candidate, fmt::format("top[{}]", out["top"].size())));
    out["history"] = history();
    out["outcomes"] = outcomes();
    out["importance"] = importance();
    out["simulation"] = simulation();
    out["stopped_because"] = result_.stopped_because;
    out["expected_gain_left"] = value("expected_gain_left", result_.expected_gain_left,
                                      "the search ended before the model picked a configuration");
    out["budget"] = result_.budget;
    out["effort"] = tune::to_string(result_.effort);
    out["seed"] = result_.seed;
    out["warnings"] = result_.warnings;
    out["environment"] = environment();
    out["missing"] = missing_json(missing_);
    return out;
  }

 private:
  Json null(std::string field, std::string reason, std::string remedy = {}) {
    missing_.push_back(
        {.field = std::move(field), .reason = std::move(reason), .remedy = std::move(remedy)});
    return nullptr;
  }
  Json value(std::string field, const std::optional<double>& number, std::string reason) {
    return number ? Json(*number) : null(std::move(field), std::move(reason));
  }
  Json text(std::string field, const std::string& words, std::string reason) {
    return words.empty() ? null(std::move(field), std::move(reason)) : Json(words);
  }
  /// A count of combinations, which can be beyond what a number holds.
  Json combinations(std::string field, double count) {
    return std::isfinite(count) ? Json(count)
                                : null(std::move(field), "more than a number can hold");
  }

  [[nodiscard]] Json configuration(ConfigId id) const {
    Json out = object_with_room(space_.width());
    for (std::size_t i = 0; i < space_.width(); ++i)
      out[space_.parameters()[i].name] = tune::to_json(space_.value(id, i));
    return out;
  }

  Json gain(const std::optional<tune::Gain>& gain, const std::string& field, std::string reason) {
    if (!gain) return null(field, std::move(reason));
    const std::string few = "an interval takes three samples or more of both";
    Json out = {{"ratio", gain->ratio}};
    out["low"] = value(field + ".low", gain->low, few);
    out["high"] = value(field + ".high", gain->high, few);
    return out;
  }

  Json objective() {
    const tune::Objective& objective = result_.objective;
    const bool recorded = result_.simulation.has_value();
    Json out = {{"kind", recorded ? "recorded" : tune::to_string(objective.kind)}};
    out["unit"] = objective.unit.empty()
                      ? null("objective.unit",
                             recorded ? "the recording does not say it" : "it was not given",
                             recorded ? "" : "--metric-unit")
                      : Json(objective.unit);
    out["maximize"] = objective.maximize;
    out["pattern"] = or_null(objective.metric_pattern);
    out["kernel"] = or_null(objective.kernel_pattern);
    return out;
  }

  static Json proof(const std::optional<tune::Proof>& proof) {
    if (!proof) return nullptr;
    return {{"verdict", proof->verdict},
            {"sentence", proof->sentence},
            {"compared_bytes", proof->compared_bytes},
            {"code_object_hash", proof->code_object_hash},
            {"grid", proof->grid},
            {"workgroup", proof->workgroup},
            {"dynamic_lds_bytes", proof->dynamic_lds_bytes}};
  }

  Json capture() {
    if (!data_.capture || !result_.captured) return nullptr;
    const AutotuneCaptureData& capture = *data_.capture;
    const tune::Captured& code = *result_.captured;
    Json out = {{"hash", capture.hash},
                {"kernel", capture.kernel},
                {"demangled", capture.demangled},
                {"platform", capture.platform},
                {"isa", capture.isa},
                {"launch",
                 {{"workgroup", or_null(capture.workgroup)},
                  {"grid", or_null(capture.grid)},
                  {"blocks", or_null(capture.blocks)},
                  {"dynamic_lds", or_null(capture.dynamic_lds)}}},
                {"tolerance", capture.tolerance},
                {"iterations", capture.iterations},
                {"caches", capture.caches},
                {"proof", proof(code.evaluation.proof)},
                {"value", code.value},
                {"samples", code.samples}};
    out["cv"] = value("capture.cv", code.cv, "a spread takes two samples or more");
    out["gain"] =
        gain(code.winners, "capture.gain",
             result_.winner ? "it failed in the last comparison" : "no configuration worked");
    return out;
  }

  Json space() {
    const tune::SpaceDescription& description = space_.description();
    Json parameters = Json::array();
    for (const tune::Parameter& parameter : description.parameters) {
      Json values = Json::array();
      for (const tune::Value& one : parameter.values) values.push_back(tune::to_json(one));
      parameters.push_back(
          {{"name", parameter.name},
           {"values", std::move(values)},
           {"default", parameter.default_level
                           ? tune::to_json(parameter.values[*parameter.default_level])
                           : Json(nullptr)}});
    }
    Json derived = Json::array();
    for (const auto& [name, expression] : description.derived)
      derived.push_back({{"name", name}, {"expression", expression}});
    return {{"product", combinations("space.product", result_.pruned.product)},
            {"listed", result_.pruned.listed},
            {"sampled", result_.pruned.sampled},
            {"parameters", std::move(parameters)},
            {"restrictions", description.restrictions},
            {"derived", std::move(derived)}};
  }

  Json rules(bool device_limits, const std::string& field) {
    Json out = Json::array();
    for (const tune::Removed& removed : result_.pruned.removed)
      if (removed.device_limit == device_limits)
        out.push_back(
            {{"rule", removed.rule},
             {"combinations", combinations(fmt::format("{}[{}].combinations", field, out.size()),
                                           removed.combinations)}});
    return out;
  }

  [[nodiscard]] std::size_t steps_of(tune::Phase phase) const {
    return static_cast<std::size_t>(std::ranges::count(result_.steps, phase, &Step::phase));
  }

  Json priors() {
    Json out = Json::array();
    for (const auto& [description, figures] : result_.priors) {
      const std::string at = fmt::format("priors[{}].", out.size());
      const Json device = text(at + "device", description.device, "the file does not say it");
      const Json weight = value(at + "weight", figures.weight, "the model was never fitted");
      const Json rank = value(at + "rank_correlation", figures.rank_correlation,
                              "it takes four results that worked and differ");
      out.push_back({{"digest", description.digest},
                     {"format", description.format},
                     {"device", device},
                     {"evaluations", description.evaluations},
                     {"worked", description.worked},
                     {"shared", description.shared},
                     {"only_in_prior", description.only_in_prior},
                     {"only_in_space", description.only_in_space},
                     {"covered", description.covered},
                     {"weight", weight},
                     {"rank_correlation", rank},
                     {"ranked", figures.ranked}});
    }
    return out;
  }

  /// Null without priors is ordinary: there is nothing to weigh.
  Json prior_odds() {
    if (result_.priors.empty()) return nullptr;
    return value("phases.predict.prior_odds", result_.prior_odds, "the model was never fitted");
  }

  /// Null is ordinary where nothing was built and looked at.
  Json build_ahead() const {
    const bool looked = std::ranges::any_of(
        result_.steps, [](const Step& step) { return !step.evaluation.compiled.empty(); });
    if (!looked) return nullptr;
    const tune::BuiltAhead& built = result_.built_ahead;
    return {{"per_run", built.per_run},
            {"unused_build_seconds", built.unused_build_seconds},
            {"compared", built.compared},
            {"error_without", or_null(built.error_without)},
            {"error_without_mix", or_null(built.error_without_mix)},
            {"error_with", or_null(built.error_with)}};
  }

  /// Null is ordinary: no race was asked for.
  Json race() {
    if (!result_.race) return nullptr;
    const tune::Race& race = *result_.race;
    return {{"runs", race.runs},
            {"again", race.again},
            {"raced", race.raced},
            {"best", race.best},
            {"without_at_least", race.without_at_least},
            {"spread", value("phases.race.spread", race.spread, "nothing ran more than once")},
            {"failed", race.failed}};
  }

  Json phases() {
    const std::size_t baseline = steps_of(tune::Phase::baseline);
    const std::size_t warm = steps_of(tune::Phase::warm_start);
    const std::size_t filling = steps_of(tune::Phase::seed);
    const tune::PruneCounts& pruned = result_.pruned;
    const Json r2 = value("phases.predict.r2", result_.quality.r2,
                          "it takes four different values and a model");
    Json tied = Json::array();
    for (const ConfigId id : result_.tied) tied.push_back(configuration(id));
    const auto local = std::ranges::count_if(result_.steps, &Step::local);
    return {
        {"seed",
         {{"evaluations", baseline + warm + filling},
          {"default", baseline},
          {"warm_start", warm},
          {"space_filling", filling}}},
        {"predict",
         {{"model", tune::to_string(result_.model)},
          {"fits", result_.quality.fits},
          {"r2", r2},
          {"r2_samples", result_.quality.samples},
          {"prior_odds", prior_odds()}}},
        {"prune",
         {{"by_restriction", rules(false, "phases.prune.by_restriction")},
          {"by_device_limit", rules(true, "phases.prune.by_device_limit")},
          {"not_recorded", pruned.not_recorded},
          {"model_slow", pruned.model.slow},
          {"model_failing", pruned.model.failing},
          {"built_not_run", pruned.built_not_run},
          {"not_launchable", pruned.not_launchable},
          {"never_reached", pruned.never_reached},
          {"prune_factor", result_.prune_factor}}},
        {"build_ahead", build_ahead()},
        {"race", race()},
        {"confirm",
         {{"evaluations", steps_of(tune::Phase::confirm)},
          {"local_steps", local},
          {"final",
           {{"decision", tune::to_string(result_.decision)},
            {"over_runner_up", gain(result_.over_runner_up, "phases.confirm.final.over_runner_up",
                                    "there was no comparison of two configurations")},
            {"tied", std::move(tied)}}}}}};
  }

  /// The further numbers of an evaluation; none where it failed.
  static Json numbers(const std::vector<std::optional<double>>& values) {
    Json out = Json::array();
    for (const std::optional<double>& value : values) out.push_back(or_null(value));
    return out;
  }
  [[nodiscard]] Json metrics_of(const tune::Evaluation& evaluation) const {
    if (!evaluation.value) return Json::array();
    return numbers(tune::values_of(evaluation.metrics, result_.objective.metrics));
  }

  Json metrics() {
    Json out = Json::array();
    for (const tune::Metric& metric : result_.objective.metrics) {
      Json reason;  // the first one
      for (const Step& step : result_.steps)
        for (const tune::MetricValue& one : step.evaluation.metrics)
          if (one.name == metric.name && !one.value && reason.is_null()) reason = one.detail;
      const auto& of_best = result_.finalists.empty() ? std::vector<std::optional<double>>()
                                                      : result_.finalists.front().metrics;
      const Json best = out.size() < of_best.size() ? or_null(of_best[out.size()]) : Json(nullptr);
      const Json unit =
          text(fmt::format("metrics[{}].unit", out.size()), metric.unit, "it was not given");
      out.push_back({{"name", metric.name},
                     {"unit", unit},
                     {"source", tune::to_string(metric.source)},
                     {"pattern", or_null(metric.pattern)},
                     {"at_least", or_null(metric.at_least)},
                     {"at_most", or_null(metric.at_most)},
                     {"best", best},
                     {"why_missing", reason}});
    }
    return out;
  }

  /// Null without limits is ordinary.
  Json limits() {
    if (!tune::any_limit(result_.objective.metrics)) return nullptr;
    Json outside;  // null is ordinary: there is none
    if (const Step* const best = tune::best_outside(result_))
      outside = {{"configuration", configuration(best->id)},
                 {"value", *best->evaluation.value},
                 {"metrics", metrics_of(best->evaluation)}};
    return {{"outside", result_.outcomes.outside}, {"best_outside", std::move(outside)}};
  }

  /// Null with one objective is ordinary.
  Json front() {
    const auto& metrics = result_.objective.metrics;
    const std::size_t at = tune::second_objective(metrics);
    if (at == metrics.size()) return nullptr;
    const tune::Metric& second = metrics[at];
    if (!result_.front) return null("front", "no configuration worked");
    const tune::Front& front = *result_.front;
    const auto values = [&](const tune::Losses& losses) {
      return Json::array({result_.objective.maximize ? -losses[0] : losses[0],
                          second.maximize ? -losses[1] : losses[1]});
    };
    Json points = Json::array();
    for (const std::size_t i : front.steps) {
      const Step& step = result_.steps[i];
      points.push_back({{"order", i + 1},
                        {"configuration", configuration(step.id)},
                        {"value", *step.evaluation.value},
                        {"metric", *tune::values_of(step.evaluation.metrics, metrics)[at]}});
    }
    return {{"metric", second.name},
            {"maximize", second.maximize},
            {"ideal", values(front.ideal)},
            {"reference", values(front.reference)},
            {"points", std::move(points)},
            {"hypervolume", front.hypervolume},
            {"recorded", front.recorded ? Json{{"points", front.recorded->points},
                                               {"hypervolume", front.recorded->hypervolume}}
                                        : Json(nullptr)}};
  }

  Json default_json() {
    const auto step = std::ranges::find(result_.steps, result_.default_id, &Step::id);
    const bool run = step != result_.steps.end();
    Json out = {{"configuration", configuration(result_.default_id)},
                {"declared", result_.default_declared},
                {"outcome", run ? tune::to_string(step->evaluation.outcome) : "not_run"},
                {"within_limits", !run || step->within_limits || !step->evaluation.value}};
    out["value"] = value("default.value", result_.default_value,
                         !run ? "the default configuration was not evaluated"
                         : step->evaluation.detail.empty()
                             ? "the default configuration failed"
                             : "the default configuration failed: " + step->evaluation.detail);
    return out;
  }

  Json candidate_json(const tune::Finalist& candidate, const std::string& field) {
    Json out = {{"configuration", configuration(candidate.id)},
                {"value", candidate.value},
                {"samples", candidate.samples}};
    out["cv"] = value(field + ".cv", candidate.cv, "a spread takes two samples or more");
    out["unstable"] = candidate.unstable;
    out["over_default"] =
        gain(candidate.over_default, field + ".over_default", "the default has no value");
    out["metrics"] = numbers(candidate.metrics);
    return out;
  }

  Json best() {
    if (!result_.winner || result_.finalists.empty())
      return result_.outcomes.outside > 0
                 ? null("best", "no configuration that worked is within the limits",
                        "give other limits, or a larger budget")
                 : null("best", "no configuration worked", "look at the details in history");
    Json out = candidate_json(result_.finalists.front(), "best");
    out["unit"] = or_null(result_.objective.unit);
    out["gain"] = std::move(out["over_default"]);
    out.erase("over_default");
    for (Missing& entry : missing_)
      if (entry.field.starts_with("best.over_default"))
        entry.field.replace(0, std::string_view("best.over_default").size(), "best.gain");
    if (out["unit"].is_null()) null("best.unit", "see objective.unit");
    return out;
  }

  static Json mix(const tune::CompiledKernel& kernel) {
    if (!kernel.mix) return nullptr;
    return {{"instructions", kernel.mix->instructions},
            {"valu", kernel.mix->valu},
            {"matrix", kernel.mix->matrix},
            {"memory", kernel.mix->memory},
            {"lds", kernel.mix->lds},
            {"branches", kernel.mix->branches}};
  }

  [[nodiscard]] Json history() const {
    Json out = Json::array();
    for (const Step& step : result_.steps) {
      const tune::Evaluation& evaluation = step.evaluation;
      Json compiled = Json::array();
      for (const tune::CompiledKernel& kernel : evaluation.compiled)
        compiled.push_back({{"kernel", kernel.kernel},
                            {"target", kernel.target},
                            {"vgprs", kernel.vgprs},
                            {"sgprs", kernel.sgprs},
                            {"lds_bytes", kernel.lds_bytes},
                            {"scratch_bytes", kernel.scratch_bytes},
                            {"spills", kernel.spills},
                            {"occupancy", or_null(kernel.occupancy)},
                            {"mix", mix(kernel)},
                            {"why_no_mix", or_null(kernel.why_no_mix)}});
      out.push_back({{"order", out.size() + 1},
                     {"phase", tune::to_string(step.phase)},
                     {"local", step.local},
                     {"configuration", configuration(step.id)},
                     {"outcome", tune::to_string(evaluation.outcome)},
                     {"detail", or_null(evaluation.detail)},
                     {"value", or_null(evaluation.value)},
                     {"metrics", metrics_of(evaluation)},
                     {"within_limits", step.within_limits || !evaluation.value},
                     {"samples", evaluation.samples.size()},
                     {"cv", or_null(evaluation.cv)},
                     {"unstable", evaluation.unstable},
                     {"predicted", or_null(step.predicted)},
                     {"expected_gain", or_null(step.expected_gain)},
                     {"best_so_far", or_null(step.best_so_far)},
                     {"compiled", std::move(compiled)},
                     {"proof", proof(evaluation.proof)}});
    }
    return out;
  }

  [[nodiscard]] Json outcomes() const {
    const tune::OutcomeCounts& counts = result_.outcomes;
    return {{"correct", counts.correct},   {"compile", counts.compile},
            {"runtime", counts.runtime},   {"timeout", counts.timeout},
            {"correctness", counts.wrong}, {"device_limit", counts.device_limit},
            {"unstable", counts.unstable}};
  }

  [[nodiscard]] Json importance() const {
    Json out = Json::array();
    for (const tune::Importance& one : result_.importance)
      out.push_back({{"parameter", space_.parameters()[one.parameter].name},
                     {"share", one.share},
                     {"best_to_worst", one.best_to_worst}});
    return out;
  }

  Json simulation() {
    if (!result_.simulation) return nullptr;
    const tune::Simulation& simulation = *result_.simulation;
    Json out = {{"optimum", simulation.optimum},
                {"optimum_configuration", configuration(simulation.optimum_id)}};
    out["best"] = value("simulation.best", simulation.best, "no configuration worked");
    const bool known = simulation.best && *simulation.best > 0 && simulation.optimum > 0;
    out["ratio"] = !known
                       ? null("simulation.ratio", simulation.best ? "a ratio takes positive values"
                                                                  : "no configuration worked")
                       : Json(result_.objective.maximize ? simulation.optimum / *simulation.best
                                                         : *simulation.best / simulation.optimum);
    return out;
  }

  [[nodiscard]] Json environment() const {
    const AutotuneEnvironment& environment = data_.environment;
    std::map<std::string, std::size_t> workers;
    for (const Step& step : result_.steps)
      if (!step.worker.empty()) ++workers[step.worker];
    Json by_name = Json::array();
    for (const auto& [name, evaluations] : workers)
      by_name.push_back({{"name", name}, {"evaluations", evaluations}});
    return {
        {"command", or_null(environment.command)},
        {"build", or_null(environment.build)},
        {"check", or_null(environment.check)},
        {"code_object", or_null(environment.code_object)},
        {"best_command", environment.best_command},
        {"best_build", environment.best_build},
        {"space_file", or_null(environment.space_file)},
        {"simulated", or_null(environment.simulated)},
        {"warm_start", or_null(environment.warm_start)},
        {"priors", environment.priors},
        {"journal", or_null(environment.journal)},
        {"resumed", result_.resumed},
        {"journal_torn", result_.journal_torn},
        {"executor", or_null(environment.executor)},
        {"capture", or_null(environment.capture)},
        {"conditions", environment.conditions ? sensors::conditions_json(*environment.conditions)
                                              : Json(nullptr)},
        {"workers", std::move(by_name)}};
  }

  const AutotuneData& data_;
  const tune::Space& space_;
  const tune::TuneResult& result_;
  std::vector<Missing> missing_;
};

}  // namespace

Json autotune_document(const AutotuneData& data) {
  return AutotuneWriter(data).document();
}

}  // namespace perflab::report
