// Records to JSON and back.
#include "optimize/rounds/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/enum_names.h"
#include "base/text/json_fields.h"

namespace perflab::optimize {
namespace {

Json health_json(const stats::SampleHealth& health) {
  return {{"outliers", health.outliers},
          {"drift", or_null(health.drift)},
          {"drifting", health.drifting}};
}

// --- reading

std::optional<Reason> reason_of(JsonFields& in) {
  const std::string name = in.text_or_null("reason");
  if (name.empty()) return std::nullopt;
  const std::optional<Reason> reason = from_name<Reason>(name);
  if (!reason) in.wrong("reason", fmt::format("is \"{}\", which is not a reason", name));
  return reason;
}

GuardResults guards_of(JsonFields& in) {
  GuardResults guards;
  in.each("guards", [&](JsonFields& one) {
    guards.push_back({.name = one.get<std::string>("name"),
                      .passed = one.get<bool>("passed"),
                      .reason = reason_of(one),
                      .detail = one.text_or_null("detail")});
  });
  return guards;
}

BuildRecord build_of(JsonFields&& in) {
  return {.compiled = in.get<bool>("compiled"),
          .reproducible = in.get<bool>("reproducible"),
          .hash = in.text_or_null("hash"),
          .compiler_text = in.text_or_null("compiler_text"),
          .command = in.has("command") ? in.get<std::vector<std::string>>("command")
                                       : std::vector<std::string>()};
}

ObjectGuards object_of(JsonFields&& in) {
  ObjectGuards object;
  object.results = guards_of(in);
  in.each("changes", [&](JsonFields& one) {
    object.changes.push_back({.figure = one.get<std::string>("figure"),
                              .before = one.get<std::optional<double>>("before"),
                              .after = one.get<std::optional<double>>("after"),
                              .regression = one.get<bool>("regression")});
  });
  return object;
}

Correctness proof_of(JsonFields&& in) {
  Correctness proof;
  in.each("checks", [&](JsonFields& one) {
    proof.checks.push_back({.name = one.get<std::string>("name"),
                            .passed = one.get<bool>("passed"),
                            .detail = one.text_or_null("detail"),
                            .evidence = one.get<Json>("evidence")});
  });
  proof.reason = reason_of(in);
  proof.sentence = in.text_or_null("sentence");
  return proof;
}

stats::SampleHealth health_of(JsonFields&& in) {
  return {.outliers = in.get<std::size_t>("outliers"),
          .drift = in.get<std::optional<double>>("drift"),
          .drifting = in.get<bool>("drifting")};
}

stats::Comparison comparison_of(JsonFields&& in) {
  stats::Comparison out;
  in.read("samples_before", out.samples_a);
  in.read("samples_after", out.samples_b);
  in.read("rejected", out.rejected);
  in.read("median_before", out.median_a);
  in.read("median_after", out.median_b);
  in.read("ratio", out.ratio);
  const auto low = in.get<std::optional<double>>("low");
  const auto high = in.get<std::optional<double>>("high");
  if (low && high) out.interval = stats::Interval{.low = *low, .high = *high};
  in.read("effect", out.effect);
  const std::string verdict = in.text_or_null("verdict");
  if (const auto known = from_name<stats::SpeedVerdict>(verdict))
    out.verdict = *known;
  else
    in.wrong("verdict", fmt::format("is \"{}\", which is not a verdict", verdict));
  in.read("samples_to_decide", out.samples_to_decide);
  out.health_a = health_of(in.object("health_before"));
  out.health_b = health_of(in.object("health_after"));
  return out;
}

/// A sample that is no number is null in JSON.
std::vector<double> samples_of(JsonFields& in, std::string_view key) {
  std::vector<double> samples;
  for (const std::optional<double> one : in.get<std::vector<std::optional<double>>>(key))
    samples.push_back(one.value_or(std::nan("")));
  return samples;
}

Measurement measurement_of(JsonFields&& in) {
  JsonFields samples = in.object("samples");
  return {.backend = in.text_or_null("backend"),
          .unit = in.text_or_null("unit"),
          .larger_is_better = in.get<bool>("larger_is_better"),
          .before = samples_of(samples, "before"),
          .after = samples_of(samples, "after"),
          .order = in.text_or_null("order"),
          .confidence = in.get<double>("confidence"),
          .out_of_time = in.get<bool>("out_of_time"),
          .failure_before = in.text_or_null("failure_before"),
          .failure_after = in.text_or_null("failure_after"),
          .changed_file = in.text_or_null("changed_file"),
          .conditions = in.has("conditions") ? in.get<Json>("conditions") : Json(nullptr),
          .comparison = comparison_of(in.object("comparison"))};
}

Decision decision_from(JsonFields&& in) {
  const std::string name = in.text_or_null("outcome");
  const auto outcome = from_name<Outcome>(name);
  if (!outcome) in.wrong("outcome", fmt::format("is \"{}\", which is not an outcome", name));
  return {.outcome = outcome.value_or(Outcome::open),
          .reason = reason_of(in),
          .sentence = in.text_or_null("sentence")};
}

void read_steps(JsonFields& in, Candidate& candidate) {
  const auto has = [&](std::string_view key) { return in.has(key) && !in.is_null(key); };
  if (has("guards")) candidate.guards = guards_of(in);
  if (has("build")) candidate.build = build_of(in.object("build"));
  if (has("object")) candidate.object = object_of(in.object("object"));
  if (has("proof")) candidate.proof = proof_of(in.object("proof"));
  if (has("measurement")) candidate.measurement = measurement_of(in.object("measurement"));
  if (has("decision")) candidate.decision = decision_from(in.object("decision"));
}

std::string damaged(std::string_view what) {
  return fmt::format("{}: damaged record", what);
}

}  // namespace

Json to_json(const GuardResults& guards) {
  Json out = Json::array();
  for (const GuardResult& guard : guards)
    out.push_back({{"name", guard.name},
                   {"passed", guard.passed},
                   {"reason", or_null(guard.reason)},
                   {"detail", or_null(guard.detail)}});
  return out;
}

Json to_json(const BuildRecord& build) {
  return {{"compiled", build.compiled},
          {"reproducible", build.reproducible},
          {"hash", or_null(build.hash)},
          {"compiler_text", or_null(build.compiler_text)}};
}

Json to_json(const ObjectGuards& object) {
  Json changes = Json::array();
  for (const ResourceChange& change : object.changes)
    changes.push_back({{"figure", change.figure},
                       {"before", or_null(change.before)},
                       {"after", or_null(change.after)},
                       {"regression", change.regression}});
  return {{"guards", to_json(object.results)}, {"changes", std::move(changes)}};
}

Json to_json(const Correctness& proof) {
  Json checks = Json::array();
  for (const Check& check : proof.checks)
    checks.push_back({{"name", check.name},
                      {"passed", check.passed},
                      {"detail", or_null(check.detail)},
                      {"evidence", check.evidence.is_object() ? check.evidence : Json::object()}});
  return {{"checks", std::move(checks)},
          {"reason", or_null(proof.reason)},
          {"sentence", or_null(proof.sentence)}};
}

Json to_json(const stats::Comparison& comparison) {
  const auto bound = [&](double stats::Interval::* member) {
    return comparison.interval ? Json((*comparison.interval).*member) : Json(nullptr);
  };
  return {{"samples_before", comparison.samples_a},
          {"samples_after", comparison.samples_b},
          {"rejected", comparison.rejected},
          {"median_before", or_null(comparison.median_a)},
          {"median_after", or_null(comparison.median_b)},
          {"ratio", or_null(comparison.ratio)},
          {"low", bound(&stats::Interval::low)},
          {"high", bound(&stats::Interval::high)},
          {"effect", or_null(comparison.effect)},
          {"verdict", to_string(comparison.verdict)},
          {"samples_to_decide", or_null(comparison.samples_to_decide)},
          {"health_before", health_json(comparison.health_a)},
          {"health_after", health_json(comparison.health_b)}};
}

Json to_json(const Measurement& measurement) {
  const auto samples = [](const std::vector<double>& values) {
    Json out = Json::array();
    for (const double value : values)
      out.push_back(std::isfinite(value) ? Json(value) : Json(nullptr));
    return out;
  };
  return {
      {"backend", measurement.backend},
      {"unit", or_null(measurement.unit)},
      {"larger_is_better", measurement.larger_is_better},
      {"order", measurement.order},
      {"samples", {{"before", samples(measurement.before)}, {"after", samples(measurement.after)}}},
      {"confidence", measurement.confidence},
      {"out_of_time", measurement.out_of_time},
      {"failure_before", or_null(measurement.failure_before)},
      {"failure_after", or_null(measurement.failure_after)},
      {"changed_file", or_null(measurement.changed_file)},
      {"conditions", measurement.conditions},
      {"comparison", to_json(measurement.comparison)}};
}

Json to_json(const Decision& decision) {
  return {{"outcome", to_string(decision.outcome)},
          {"reason", or_null(decision.reason)},
          {"sentence", or_null(decision.sentence)}};
}

Json to_json(const Candidate& candidate) {
  const auto step = [](const auto& value) { return value ? to_json(*value) : Json(nullptr); };
  Json problem = nullptr;
  if (!candidate.problem.empty())
    problem = {{"name", candidate.problem}, {"detail", or_null(candidate.problem_detail)}};
  return {{"number", candidate.number},
          {"round", candidate.round},
          {"repairs", or_null(candidate.repairs)},
          {"against", candidate.against},
          {"summary", or_null(candidate.summary)},
          {"problem", std::move(problem)},
          {"hash", or_null(candidate.hash)},
          {"file", or_null(candidate.file)},
          {"same_as", or_null(candidate.same_as)},
          {"guards", step(candidate.guards)},
          {"build", step(candidate.build)},
          {"object", step(candidate.object)},
          {"proof", step(candidate.proof)},
          {"measurement", step(candidate.measurement)},
          {"decision", to_json(candidate.decision)}};
}

Json to_json(const FinalProof& proof) {
  return {{"hash", proof.hash},
          {"proof", to_json(proof.proof)},
          {"measurement", proof.measurement ? to_json(*proof.measurement) : Json(nullptr)},
          {"as_captured", proof.as_captured ? to_json(*proof.as_captured) : Json(nullptr)}};
}

Result<Candidate> candidate_from_json(const Json& json, std::string_view what) {
  JsonFields in(json, damaged(what));
  Candidate candidate;
  in.read("number", candidate.number);
  in.read("round", candidate.round);
  in.read("repairs", candidate.repairs);
  in.read("against", candidate.against);
  candidate.summary = in.text_or_null("summary");
  if (!in.is_null("problem")) {
    JsonFields problem = in.object("problem");
    candidate.problem = problem.text_or_null("name");
    candidate.problem_detail = problem.text_or_null("detail");
  }
  candidate.hash = in.text_or_null("hash");
  candidate.file = in.text_or_null("file");
  in.read("same_as", candidate.same_as);
  read_steps(in, candidate);
  PERFLAB_TRY_VOID(in.result());
  return candidate;
}

Result<FinalProof> final_proof_from_json(const Json& json, std::string_view what) {
  JsonFields in(json, damaged(what));
  Candidate steps;
  read_steps(in, steps);
  if (!steps.proof) in.wrong("proof", "is missing");
  FinalProof proof{.hash = in.get<std::string>("hash"),
                   .proof = std::move(steps.proof).value_or(Correctness()),
                   .measurement = std::move(steps.measurement),
                   .as_captured = {}};
  // Not in those of versions before 1.3.0.
  if (in.has("as_captured") && !in.is_null("as_captured"))
    proof.as_captured = measurement_of(in.object("as_captured"));
  PERFLAB_TRY_VOID(in.result());
  return proof;
}

Result<void> add_steps(const Json& json, std::string_view what, Candidate& candidate) {
  JsonFields in(json, damaged(what));
  read_steps(in, candidate);
  return in.result();
}

}  // namespace perflab::optimize
