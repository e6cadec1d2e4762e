// Records to JSON and back. nlohmann's exceptions end in reading_record().
#include "optimize/loop/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace perflab::optimize {
namespace {

template <class T>
Json record_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
Json record_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}
Json reason_json(const std::optional<Reason>& reason) {
  return reason ? Json(to_string(*reason)) : Json(nullptr);
}

Json health_json(const stats::SampleHealth& health) {
  return {{"outliers", health.outliers},
          {"drift", record_or_null(health.drift)},
          {"drifting", health.drifting}};
}

constexpr std::array kVerdicts = {stats::Verdict::same, stats::Verdict::faster,
                                  stats::Verdict::slower, stats::Verdict::undecided};

// --- reading

/// What is wrong with a record, on its way to reading_record().
struct RecordError {
  std::string text;
};

template <class T>
std::optional<T> optional_of(const Json& json, const char* key) {
  const Json& value = json.at(key);
  if (value.is_null()) return std::nullopt;
  return value.get<T>();
}
std::string text_of(const Json& json, const char* key) {
  return json.at(key).is_null() ? std::string() : json.at(key).get<std::string>();
}
std::optional<Reason> reason_of(const Json& json) {
  const std::string name = text_of(json, "reason");
  if (name.empty()) return std::nullopt;
  const std::optional<Reason> reason = reason_from(name);
  if (!reason) throw RecordError{fmt::format("\"{}\" is no reason", name)};
  return reason;
}

GuardResults guards_of(const Json& json) {
  GuardResults guards;
  for (const Json& one : json)
    guards.push_back({.name = one.at("name").get<std::string>(),
                      .passed = one.at("passed").get<bool>(),
                      .reason = reason_of(one),
                      .detail = text_of(one, "detail")});
  return guards;
}

BuildRecord build_of(const Json& json) {
  return {.compiled = json.at("compiled").get<bool>(),
          .reproducible = json.at("reproducible").get<bool>(),
          .hash = text_of(json, "hash"),
          .compiler_text = text_of(json, "compiler_text"),
          .command = json.contains("command") ? json.at("command").get<std::vector<std::string>>()
                                              : std::vector<std::string>()};
}

ObjectGuards object_of(const Json& json) {
  ObjectGuards object;
  object.results = guards_of(json.at("guards"));
  for (const Json& one : json.at("changes"))
    object.changes.push_back({.figure = one.at("figure").get<std::string>(),
                              .before = optional_of<double>(one, "before"),
                              .after = optional_of<double>(one, "after"),
                              .regression = one.at("regression").get<bool>()});
  return object;
}

Correctness proof_of(const Json& json) {
  Correctness proof;
  for (const Json& one : json.at("checks"))
    proof.checks.push_back({.name = one.at("name").get<std::string>(),
                            .passed = one.at("passed").get<bool>(),
                            .detail = text_of(one, "detail"),
                            .evidence = one.at("evidence")});
  proof.reason = reason_of(json);
  proof.sentence = text_of(json, "sentence");
  return proof;
}

stats::SampleHealth health_of(const Json& json) {
  return {.outliers = json.at("outliers").get<std::size_t>(),
          .drift = optional_of<double>(json, "drift"),
          .drifting = json.at("drifting").get<bool>()};
}

stats::Comparison comparison_of(const Json& json) {
  stats::Comparison out;
  out.samples_a = json.at("samples_before").get<std::size_t>();
  out.samples_b = json.at("samples_after").get<std::size_t>();
  out.rejected = json.at("rejected").get<std::size_t>();
  out.median_a = optional_of<double>(json, "median_before");
  out.median_b = optional_of<double>(json, "median_after");
  out.ratio = optional_of<double>(json, "ratio");
  const std::optional<double> low = optional_of<double>(json, "low");
  const std::optional<double> high = optional_of<double>(json, "high");
  if (low && high) out.interval = stats::Interval{.low = *low, .high = *high};
  out.effect = optional_of<double>(json, "effect");
  const std::string verdict = text_of(json, "verdict");
  const auto* const found =
      std::ranges::find(kVerdicts, verdict, [](stats::Verdict one) { return to_string(one); });
  if (found == kVerdicts.end()) throw RecordError{fmt::format("\"{}\" is no verdict", verdict)};
  out.verdict = *found;
  out.samples_to_decide = optional_of<std::size_t>(json, "samples_to_decide");
  out.health_a = health_of(json.at("health_before"));
  out.health_b = health_of(json.at("health_after"));
  return out;
}

/// A sample that is no number is null in JSON.
std::vector<double> samples_of(const Json& json) {
  std::vector<double> samples;
  for (const Json& one : json) samples.push_back(one.is_null() ? std::nan("") : one.get<double>());
  return samples;
}

Measurement measurement_of(const Json& json) {
  return {.backend = text_of(json, "backend"),
          .unit = text_of(json, "unit"),
          .larger_is_better = json.at("larger_is_better").get<bool>(),
          .before = samples_of(json.at("samples").at("before")),
          .after = samples_of(json.at("samples").at("after")),
          .order = text_of(json, "order"),
          .confidence = json.at("confidence").get<double>(),
          .out_of_time = json.at("out_of_time").get<bool>(),
          .failure_before = text_of(json, "failure_before"),
          .failure_after = text_of(json, "failure_after"),
          .changed_file = text_of(json, "changed_file"),
          .comparison = comparison_of(json.at("comparison"))};
}

Decision decision_from(const Json& json) {
  const std::string name = text_of(json, "outcome");
  Decision decision{
      .outcome = Outcome::open, .reason = reason_of(json), .sentence = text_of(json, "sentence")};
  for (const Outcome one : {Outcome::open, Outcome::accepted, Outcome::refused})
    if (name == to_string(one)) decision.outcome = one;
  if (name != to_string(decision.outcome))
    throw RecordError{fmt::format("\"{}\" is no outcome", name)};
  return decision;
}

void read_steps(const Json& json, Candidate& candidate) {
  const auto step = [&](const char* key) -> const Json* {
    const auto found = json.find(key);
    return found == json.end() || found->is_null() ? nullptr : &*found;
  };
  if (const Json* one = step("guards")) candidate.guards = guards_of(*one);
  if (const Json* one = step("build")) candidate.build = build_of(*one);
  if (const Json* one = step("object")) candidate.object = object_of(*one);
  if (const Json* one = step("proof")) candidate.proof = proof_of(*one);
  if (const Json* one = step("measurement")) candidate.measurement = measurement_of(*one);
  if (const Json* one = step("decision")) candidate.decision = decision_from(*one);
}

Candidate read_candidate(const Json& json) {
  Candidate candidate;
  candidate.number = json.at("number").get<unsigned>();
  candidate.round = json.at("round").get<unsigned>();
  candidate.repairs = optional_of<unsigned>(json, "repairs");
  candidate.against = json.at("against").get<unsigned>();
  candidate.summary = text_of(json, "summary");
  if (const Json& problem = json.at("problem"); !problem.is_null()) {
    candidate.problem = text_of(problem, "name");
    candidate.problem_detail = text_of(problem, "detail");
  }
  candidate.hash = text_of(json, "hash");
  candidate.file = text_of(json, "file");
  candidate.same_as = optional_of<unsigned>(json, "same_as");
  read_steps(json, candidate);
  return candidate;
}

/// Runs a reader; what it throws becomes an error.
template <class Read>
Result<void> reading_record(std::string_view what, const Read& read) {
  try {
    read();
    return {};
  } catch (const Json::exception& error) {
    return fail(ErrorCode::bad_input, fmt::format("{}: damaged record: {}", what, error.what()));
  } catch (const RecordError& error) {
    return fail(ErrorCode::bad_input, fmt::format("{}: damaged record: {}", what, error.text));
  }
}

}  // namespace

Json to_json(const GuardResults& guards) {
  Json out = Json::array();
  for (const GuardResult& guard : guards)
    out.push_back({{"name", guard.name},
                   {"passed", guard.passed},
                   {"reason", reason_json(guard.reason)},
                   {"detail", record_or_null(guard.detail)}});
  return out;
}

Json to_json(const BuildRecord& build) {
  return {{"compiled", build.compiled},
          {"reproducible", build.reproducible},
          {"hash", record_or_null(build.hash)},
          {"compiler_text", record_or_null(build.compiler_text)}};
}

Json to_json(const ObjectGuards& object) {
  Json changes = Json::array();
  for (const ResourceChange& change : object.changes)
    changes.push_back({{"figure", change.figure},
                       {"before", record_or_null(change.before)},
                       {"after", record_or_null(change.after)},
                       {"regression", change.regression}});
  return {{"guards", to_json(object.results)}, {"changes", std::move(changes)}};
}

Json to_json(const Correctness& proof) {
  Json checks = Json::array();
  for (const Check& check : proof.checks)
    checks.push_back({{"name", check.name},
                      {"passed", check.passed},
                      {"detail", record_or_null(check.detail)},
                      {"evidence", check.evidence.is_object() ? check.evidence : Json::object()}});
  return {{"checks", std::move(checks)},
          {"reason", reason_json(proof.reason)},
          {"sentence", record_or_null(proof.sentence)}};
}

Json to_json(const stats::Comparison& comparison) {
  const auto bound = [&](double stats::Interval::* member) {
    return comparison.interval ? Json((*comparison.interval).*member) : Json(nullptr);
  };
  return {{"samples_before", comparison.samples_a},
          {"samples_after", comparison.samples_b},
          {"rejected", comparison.rejected},
          {"median_before", record_or_null(comparison.median_a)},
          {"median_after", record_or_null(comparison.median_b)},
          {"ratio", record_or_null(comparison.ratio)},
          {"low", bound(&stats::Interval::low)},
          {"high", bound(&stats::Interval::high)},
          {"effect", record_or_null(comparison.effect)},
          {"verdict", to_string(comparison.verdict)},
          {"samples_to_decide", record_or_null(comparison.samples_to_decide)},
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
      {"unit", record_or_null(measurement.unit)},
      {"larger_is_better", measurement.larger_is_better},
      {"order", measurement.order},
      {"samples", {{"before", samples(measurement.before)}, {"after", samples(measurement.after)}}},
      {"confidence", measurement.confidence},
      {"out_of_time", measurement.out_of_time},
      {"failure_before", record_or_null(measurement.failure_before)},
      {"failure_after", record_or_null(measurement.failure_after)},
      {"changed_file", record_or_null(measurement.changed_file)},
      {"comparison", to_json(measurement.comparison)}};
}

Json to_json(const Decision& decision) {
  return {{"outcome", to_string(decision.outcome)},
          {"reason", reason_json(decision.reason)},
          {"sentence", record_or_null(decision.sentence)}};
}

Json to_json(const Candidate& candidate) {
  const auto step = [](const auto& value) { return value ? to_json(*value) : Json(nullptr); };
  Json problem = nullptr;
  if (!candidate.problem.empty())
    problem = {{"name", candidate.problem}, {"detail", record_or_null(candidate.problem_detail)}};
  return {{"number", candidate.number},
          {"round", candidate.round},
          {"repairs", record_or_null(candidate.repairs)},
          {"against", candidate.against},
          {"summary", record_or_null(candidate.summary)},
          {"problem", std::move(problem)},
          {"hash", record_or_null(candidate.hash)},
          {"file", record_or_null(candidate.file)},
          {"same_as", record_or_null(candidate.same_as)},
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
          {"measurement", proof.measurement ? to_json(*proof.measurement) : Json(nullptr)}};
}

Result<Candidate> candidate_from_json(const Json& json, std::string_view what) {
  Candidate candidate;
  PERFLAB_TRY_VOID(reading_record(what, [&] { candidate = read_candidate(json); }));
  return candidate;
}

Result<void> add_steps(const Json& json, std::string_view what, Candidate& candidate) {
  return reading_record(what, [&] { read_steps(json, candidate); });
}

}  // namespace perflab::optimize
