// Nulls of this document say themselves why (the schema has it): `missing` stays empty.
#include "report/tuning/autotune_app_document.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "report/kit/document.h"

namespace perflab::report {
namespace {

using measure::ApplicationRun;
using measure::TunedKernel;

Json app_objective_json(const tune::Objective& objective) {
  return {{"kind", to_string(objective.kind)},
          {"unit", or_null(objective.unit)},
          {"maximize", objective.maximize}};
}

Json app_gain_json(const std::optional<tune::Gain>& gain) {
  if (!gain) return nullptr;
  return {{"ratio", gain->ratio}, {"low", or_null(gain->low)}, {"high", or_null(gain->high)}};
}

Json app_tuned_json(const measure::Configuration& configuration,
                    const std::optional<double>& value) {
  Json values = Json::object();
  for (const auto& [name, one] : configuration) values[name] = tune::to_json(one);
  return {{"configuration", std::move(values)}, {"value", or_null(value)}};
}

Json app_worth_json(const std::optional<analyze::GroupWorth>& worth, std::int64_t makespan) {
  if (!worth) return nullptr;
  return {{"per_percent_ns", worth->per_percent},
          {"per_percent_share",
           makespan > 0 ? Json(worth->per_percent / static_cast<double>(makespan)) : Json(nullptr)},
          {"bound_ns", worth->bound}};
}

std::string why_none(const TunedKernel& kernel) {
  if (kernel.worth && !(kernel.worth->per_percent > 0))
    return kernel.worth->bound > 0
               ? "it is worth nothing: the run waits for others while it is a little faster"
               : "it is worth nothing: the run would take as long without it";
  return "the budget was used up by kernels that are worth more";
}

Json app_kernel_json(const tune::ApplicationKernel& named, const TunedKernel& kernel,
                     std::int64_t makespan) {
  const tune::TuneResult* const result = kernel.run ? &kernel.run->result : nullptr;
  Json recorded, predicted;
  if (kernel.times)
    recorded = {{"dispatches", kernel.times->dispatches},
                {"total_ns", kernel.times->total},
                {"path_ns", kernel.times->path_time}};
  if (kernel.alone_makespan)
    predicted = {{"makespan_ns", *kernel.alone_makespan},
                 {"gain_ns", makespan - *kernel.alone_makespan}};
  return {{"name", named.name},
          {"pattern", named.pattern},
          {"source", to_string(named.source)},
          {"objective", app_objective_json(kernel.objective)},
          {"recorded", std::move(recorded)},
          {"worth", app_worth_json(kernel.worth, makespan)},
          {"evaluations", kernel.evaluations},
          {"failed", result == nullptr ? 0 : result->steps.size() - result->outcomes.correct},
          {"why_none", kernel.evaluations > 0 ? Json(nullptr) : Json(why_none(kernel))},
          {"stopped_because", result == nullptr ? Json(nullptr) : Json(result->stopped_because)},
          {"expected_gain_left",
           result == nullptr ? Json(nullptr) : or_null(result->expected_gain_left)},
          {"default", app_tuned_json(kernel.default_configuration, kernel.default_value)},
          {"best", app_tuned_json(kernel.configuration, kernel.value)},
          {"is_default", kernel.configuration == kernel.default_configuration},
          {"gain", app_gain_json(kernel.gain)},
          {"proven", kernel.gain && kernel.gain->low.value_or(0) > 1},
          {"factor", or_null(kernel.factor)},
          {"predicted", std::move(predicted)}};
}

/// Neighbours of one kernel together, as they were at the first of them.
Json app_shares_json(const ApplicationRun& run) {
  Json out = Json::array();
  for (std::size_t i = 0; i < run.shares.size();) {
    const measure::GivenShare& first = run.shares[i];
    std::size_t evaluations = 0;
    for (; i < run.shares.size() && run.shares[i].kernel == first.kernel; ++i)
      evaluations += run.shares[i].evaluations;
    out.push_back({{"kernel", first.kernel},
                   {"evaluations", evaluations},
                   {"promise", first.promise},
                   {"worth_ns", or_null(first.worth)}});
  }
  return out;
}

Json app_predicted_json(const ApplicationRun& run) {
  if (!run.predicted) return nullptr;
  const std::int64_t recorded = *run.recorded, predicted = *run.predicted;
  return {
      {"makespan_ns", predicted},
      {"gain_ns", recorded - predicted},
      {"ratio", predicted > 0 ? Json(static_cast<double>(recorded) / static_cast<double>(predicted))
                              : Json(nullptr)}};
}

Json app_proof_json(const std::optional<measure::ApplicationProof>& proof) {
  if (!proof) return nullptr;
  return {{"objective", app_objective_json(proof->objective)},
          {"default_value", or_null(proof->default_value)},
          {"value", or_null(proof->value)},
          {"gain", app_gain_json(proof->gain)},
          {"proven", proof->proven},
          {"rounds", proof->rounds}};
}

std::vector<std::string> app_warnings_of(const AutotuneAppData& data) {
  std::vector<std::string> out;
  const auto& kernels = data.run.kernels;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const std::string& name = data.request.application.kernels[i].name;
    if (kernels[i].evaluations > 0 && !kernels[i].factor && data.run.predicted)
      out.push_back(
          fmt::format("{}: its default or all that was tried did not work: the prediction leaves "
                      "it as recorded",
                      name));
    if (kernels[i].run)
      for (const std::string& warning : kernels[i].run->result.warnings)
        out.push_back(fmt::format("{}: {}", name, warning));
  }
  if (data.run.proof)
    for (const std::string& warning : data.run.proof->warnings)
      out.push_back("the application: " + warning);
  return out;
}

}  // namespace

Json autotune_app_document(const AutotuneAppData& data) {
  const auto& [request, run, file] = data;
  Json kernels = Json::array();
  for (std::size_t i = 0; i < run.kernels.size(); ++i)
    kernels.push_back(
        app_kernel_json(request.application.kernels[i], run.kernels[i], run.recorded.value_or(0)));
  Json recordings = Json::array();
  for (const auto& recording : request.recordings) recordings.push_back(recording.string());
  return {{"schema_version", "1.0.0"},
          {"document", "autotune_app"},
          {"generator", generator_json()},
          {"options",
           {{"budget", request.options.budget},
            {"split", to_string(request.split)},
            {"seed", request.options.search.seed},
            {"effort", to_string(request.options.search.effort)}}},
          {"evaluations", run.used},
          {"stopped_because", run.stopped_because},
          {"recorded_ns", or_null(run.recorded)},
          {"predicted", app_predicted_json(run)},
          {"no_prediction", or_null(run.no_prediction)},
          {"application", app_proof_json(run.proof)},
          {"no_application", or_null(run.no_proof)},
          {"kernels", std::move(kernels)},
          {"shares", app_shares_json(run)},
          {"warnings", app_warnings_of(data)},
          {"environment",
           {{"application", file},
            {"recordings", std::move(recordings)},
            {"command", or_null(request.application.command)},
            {"configurations", (request.folder / measure::kConfigurationsFile).string()},
            {"default_configurations",
             (request.folder / measure::kDefaultConfigurationsFile).string()}}},
          {"missing", missing_json({})}};
}

}  // namespace perflab::report
