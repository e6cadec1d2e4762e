// One proof: the capture against itself (once), then the candidate on the captured input, on
// poisoned memory and on perturbed inputs. Verdicts of replay become checks and reasons here.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/enum_names.h"
#include "base/hash.h"
#include "base/system/files.h"
#include "measure/backend_replay.h"
#include "measure/sensed_json.h"
#include "optimize/workshop/replay_bench.h"
#include "replay/failures.h"
#include "replay/inputs/perturb.h"
#include "replay/verify/verify_captured.h"

namespace perflab::optimize {
namespace {

using replay::Certificate;
using replay::ElementDiff;
using replay::ProofVerdict;

constexpr const char* kGoldenName = "golden output";
constexpr const char* kPoisonName = "poisoned output";
constexpr const char* kPerturbedName = "perturbed inputs";
constexpr const char* kTimedName = "timed inputs";

/// How a run that did not end well is called.
Reason reason_of_failure(const std::optional<replay::Failure>& failure) {
  if (failure == replay::Failure::timed_out) return Reason::timed_out;
  // A variable is gone that the captured dispatch writes.
  if (failure == replay::Failure::kernel_mismatch) return Reason::other_code_changed;
  return Reason::faulted;
}

/// Sums over regions, for a check's evidence.
struct Figures {
  std::uint64_t elements = 0, different = 0, beyond = 0, compared = 0, unexpected = 0, excluded = 0;
  std::optional<std::uint64_t> largest_ulp;
  std::optional<double> largest_relative, largest_absolute;

  void add(const ElementDiff& comparison) {
    elements += comparison.elements;
    different += comparison.different;
    beyond += comparison.beyond_tolerance;
    const auto raise = [](auto& most, const auto& value) {
      if (value && (!most || *most < *value)) most = value;
    };
    raise(largest_ulp, comparison.largest_ulp);
    raise(largest_relative, comparison.largest_relative);
    raise(largest_absolute, comparison.largest_absolute);
  }
  [[nodiscard]] Json json() const {
    return {{"elements", elements},
            {"different", different},
            {"beyond_tolerance", beyond},
            {"compared_bytes", compared},
            {"unexpected_bytes", unexpected},
            {"not_deterministic_bytes", excluded},
            {"largest_ulp", or_null(largest_ulp)},
            {"largest_relative", or_null(largest_relative)},
            {"largest_absolute", or_null(largest_absolute)}};
  }
};

/// The first element that is wrong, in words; empty: there is none.
std::string first_example(const ElementDiff& comparison, std::uint64_t base) {
  if (comparison.examples.empty()) return {};
  const ElementDiff::Example& example = comparison.examples.front();
  return fmt::format(" (at {:#x}+{:#x}: {} instead of {})", base, example.offset, example.found,
                     example.expected);
}

/// A candidate's certificate, summed up.
struct CapturedRun {
  Figures figures;
  std::uint64_t pure = 0, kept = 0, wrong = 0;  ///< bytes, of poisoned outputs
  std::string example;
  bool failed = false, failed_on_poison = false;  ///< it did not end well
  std::optional<replay::Failure> failure;
  bool seen_on_poison = false;  ///< outputs show there only

  CapturedRun(const Certificate& certificate, const capture::Description& description)
      : failed(!certificate.run_failure.empty()),
        failed_on_poison(certificate.failed_on_poison),
        failure(certificate.failure),
        seen_on_poison(certificate.write_set == replay::WriteSet::poisoned) {
    for (const replay::RegionVerdict& region : certificate.regions) {
      figures.add(region.comparison);
      figures.compared += region.compared_bytes;
      figures.unexpected += region.unexpected_bytes;
      figures.excluded += region.not_deterministic_bytes;
      pure += region.pure_output_bytes;
      kept += region.not_rewritten_bytes;
      wrong += region.wrong_on_poison_bytes;
      if (example.empty())
        example = first_example(region.comparison, description.regions[region.region].base);
    }
  }
  /// Why its run on the captured input refuses it.
  [[nodiscard]] std::optional<Reason> wrong_as_captured(ProofVerdict verdict) const {
    if (failed && !failed_on_poison) return reason_of_failure(failure);
    // An element that should not be written is a wrong one too, and has at least one byte.
    if (figures.unexpected > 0 && figures.beyond <= figures.unexpected)
      return Reason::unexpected_writes;
    if (figures.beyond > 0 && !(seen_on_poison && kept > 0)) return Reason::wrong_output;
    const bool poison_says_more = failed_on_poison || kept > 0 || wrong > 0;
    if (verdict == ProofVerdict::proves_nothing && !poison_says_more) return Reason::proves_nothing;
    return std::nullopt;
  }
  [[nodiscard]] std::optional<Reason> wrong_on_poison() const {
    if (failed_on_poison) return reason_of_failure(failure);
    if (kept > 0) return Reason::not_rewritten;
    if (wrong > 0) return Reason::wrong_output;
    return std::nullopt;
  }
  [[nodiscard]] Json poison_evidence() const {
    return {{"pure_output_bytes", pure},
            {"not_rewritten_bytes", kept},
            {"wrong_on_poison_bytes", wrong}};
  }
};

Json evidence_of(const replay::PerturbedInput& input) {
  Figures figures;
  for (const replay::PerturbedRegion& region : input.regions) {
    figures.add(region.comparison);
    figures.compared += region.compared_bytes;
    figures.unexpected += region.unexpected_bytes;
    figures.excluded += region.excluded_bytes;
  }
  Json evidence = figures.json();
  evidence["changed_inputs"] = input.elements;
  evidence["changed_output_bytes"] = input.changed_output_bytes;
  return evidence;
}

/// A sentence each, behind another one.
std::string note_words(const std::vector<std::string>& notes) {
  std::string out;
  for (const std::string& note : notes) out += fmt::format(" Note: {}.", note);
  return out;
}

std::string poison_words(std::uint64_t pure) {
  if (pure == 0)
    return "Every output of the original depends on what was there before: poison shows nothing "
           "more.";
  return fmt::format("{} bytes that the original always writes are written by the candidate too.",
                     pure);
}

}  // namespace

/// One request to prove, and what is known so far.
struct ReplayBench::Proof {
  std::filesystem::path original, candidate;
  replay::Poison poison = replay::Poison::written;
  Json inputs;
  std::optional<replay::PerturbScope> scope;
  std::string no_scope_because;
  Correctness result;
  Json retry;  ///< an answer that asks for another request; null: none

  [[nodiscard]] bool ended() const { return result.reason.has_value() || !retry.is_null(); }
  void pass(std::string name, std::string detail, Json evidence = Json::object()) {
    result.checks.push_back({.name = std::move(name),
                             .passed = true,
                             .detail = std::move(detail),
                             .evidence = std::move(evidence)});
  }
  void refuse(std::string name, Reason reason, std::string detail, Json evidence = Json::object()) {
    result.reason = reason;
    result.sentence = detail;
    result.checks.push_back({.name = std::move(name),
                             .passed = false,
                             .detail = std::move(detail),
                             .evidence = std::move(evidence)});
  }
};

ReplayBench::ReplayBench(replay::Session session, const BenchSetup& setup, OnStep on_step)
    : session_(std::move(session)),
      setup_(setup),
      on_step_(std::move(on_step)),
      sensed_(sensors::open_sensors(session_.device().facts().pci_address)),
      timed_(session_,
             [this](std::string_view who) {
               return on_step_(who == "captured" ? bench_step::kOracle
                                                 : bench_step::kOriginalPerturbed);
             }),
      backend_(measure::make_replay_backend(
          session_, {.iterations = setup.iterations,
                     .inputs = measure::ReplayInputs{
                         .bring = [this](std::uint64_t number) { return timed_.bring(number); },
                         .bring_written =
                             [this](std::uint64_t number) { return timed_.bring_written(number); },
                         .is_new =
                             [this](const measure::Variant& variant, std::uint64_t number) {
                               return timed_.is_new(variant.code_object.string(), number);
                             },
                         .check =
                             [this](const measure::Variant& variant, std::uint64_t number) {
                               return timed_.check(variant.code_object.string(), number);
                             }},
                     .caches = setup.caches,
                     .sensors = sensed_.sensors.get(),
                     .no_sensors_because = sensed_.missing_because})) {}

Result<std::unique_ptr<ReplayBench>> ReplayBench::open(const capture::Capture& capture,
                                                       replay::Device& device,
                                                       const BenchSetup& setup, OnStep on_step) {
  const Nanos limit{std::chrono::nanoseconds(setup.time_limit).count()};
  PERFLAB_TRY(
      replay::Session session,
      replay::Session::open(
          capture, device,
          {.code_object = {}, .time_limit = limit, .ignore_findings = setup.ignore_findings}));
  return std::unique_ptr<ReplayBench>(
      new ReplayBench(std::move(session), setup, std::move(on_step)));
}

Result<Json> ReplayBench::answer(const Json& request) {
  if (lost_) return fail(ErrorCode::internal, "the device was lost in an earlier request");
  if (request.contains("prove")) return prove(request["prove"]);
  if (request.contains("measure")) return measure(request["measure"]);
  return fail(ErrorCode::bad_input, "the replay worker was asked for neither a proof nor a time");
}

replay::VerifyOptions ReplayBench::verify_options(const Proof& proof,
                                                  const std::filesystem::path& object) const {
  return {.code_object = object, .poison = proof.poison, .runs = 3, .compare = setup_.compare};
}

Result<void> ReplayBench::prove_capture(Proof& proof) {
  if (capture_proven_) return {};
  PERFLAB_TRY_VOID(on_step_(bench_step::kOriginal));
  PERFLAB_TRY(const Certificate certificate, verify_captured(session_, verify_options(proof, {})));
  capture_proven_ = certificate.poison_note.empty();
  if (capture_proven_) return {};
  lost_ = true;
  proof.retry = {{"poison_failed", certificate.poison_note}};
  return {};
}

/// A code object that does not fit the captured dispatch never runs.
Result<void> ReplayBench::check_loads(Proof& proof) {
  const auto loaded = session_.load(proof.candidate);
  if (loaded) return {};
  const Error& error = loaded.error();
  const std::optional<replay::Failure> failure = replay::failure_of(error);
  if (failure == replay::Failure::kernel_mismatch)
    proof.refuse(kGoldenName, Reason::kernarg_changed, error.message);
  else if (failure == replay::Failure::kernel_not_found)
    proof.refuse(kGoldenName, Reason::kernel_missing, error.message);
  else
    return loaded;
  return session_.load({});
}

Result<void> ReplayBench::check_captured_input(Proof& proof) {
  PERFLAB_TRY_VOID(on_step_(bench_step::kCandidate));
  PERFLAB_TRY(const Certificate certificate,
              verify(session_, verify_options(proof, proof.candidate)));
  if (!certificate.reproduces)
    return fail(ErrorCode::refused, certificate.sentence,
                "the captured dispatch has to repeat itself: a tolerance may cover how it varies "
                "(--max-ulp, --rtol, --atol)");
  const CapturedRun run(certificate, session_.capture().description());
  const std::string notes = note_words(certificate.notes);
  lost_ = (run.failed && run.failure != replay::Failure::kernel_mismatch) ||
          !certificate.poison_note.empty();
  if (const auto reason = run.wrong_as_captured(certificate.verdict)) {
    proof.refuse(kGoldenName, *reason, certificate.sentence + run.example, run.figures.json());
    proof.result.checks.back().detail += notes;
    return {};
  }
  proof.pass(
      kGoldenName,
      (run.wrong_on_poison() ? "Right as far as the captured input shows." : certificate.sentence) +
          notes,
      run.figures.json());
  if (const auto reason = run.wrong_on_poison())
    proof.refuse(kPoisonName, *reason, certificate.sentence, run.poison_evidence());
  else if (!certificate.poison_note.empty())
    proof.retry = {{"poison_failed", certificate.poison_note}};
  else if (proof.poison == replay::Poison::none)
    proof.pass(kPoisonName, "not tried: the original itself does not end well on poisoned memory");
  else
    proof.pass(kPoisonName, poison_words(run.pure), run.poison_evidence());
  return {};
}

Result<void> ReplayBench::check_perturbed(Proof& proof) {
  if (setup_.perturbations == 0) {
    proof.pass(kPerturbedName, "none were asked for");
    return {};
  }
  if (!proof.scope) {
    proof.pass(kPerturbedName, fmt::format("none possible: {}", proof.no_scope_because));
    return {};
  }
  const auto step = [&](std::string_view who) {
    return on_step_(who == "original" ? bench_step::kOriginalPerturbed
                                      : bench_step::kCandidatePerturbed);
  };
  PERFLAB_TRY(const replay::PerturbedResult result,
              verify_perturbed(session_, {.code_object = proof.candidate,
                                          .inputs = setup_.perturbations,
                                          .seed = setup_.seed,
                                          .runs = 2,
                                          .compare = setup_.compare,
                                          .scope = *proof.scope,
                                          .on_step = step}));
  lost_ = result.device_lost;
  if (!result.original_failed.empty()) {
    proof.retry = {{"perturbation_failed", result.original_failed}};
    return {};
  }
  const std::string notes = note_words(result.notes);
  if (!result.none_because.empty()) {
    proof.pass(kPerturbedName, fmt::format("none possible: {}.{}", result.none_because, notes));
    return {};
  }
  for (const replay::PerturbedInput& input : result.inputs) {
    Json evidence = evidence_of(input);
    evidence["scope"] = to_string(*proof.scope);
    const std::string name = fmt::format("perturbed input {}", input.number);
    const std::string detail =
        input.sentence + (&input == &result.inputs.back() ? notes : std::string());
    if (input.verdict != ProofVerdict::differs)
      proof.pass(name, detail, std::move(evidence));
    else
      proof.refuse(name,
                   input.run_failure.empty() ? Reason::wrong_on_perturbed_input
                                             : reason_of_failure(input.failure),
                   detail, std::move(evidence));
  }
  return {};
}

/// What times are taken on: nothing is timed here, but the original has to end well on it.
Result<void> ReplayBench::check_timed(Proof& proof) {
  PERFLAB_TRY_VOID(prepare_inputs(proof.inputs));
  if (!timed_.original_failed().empty())
    proof.retry = {{"perturbation_failed", timed_.original_failed()}};
  else if (timed_.count() > 0)
    proof.pass(kTimedName,
               fmt::format("times are taken on {} inputs made from the captured one, which differ "
                           "from candidate to candidate",
                           timed_.count()),
               {{"inputs", timed_.count()}});
  else
    proof.pass(kTimedName,
               fmt::format("times are taken on the captured input only: {}",
                           timed_.captured_only_because()),
               {{"inputs", 0}});
  return {};
}

Result<void> ReplayBench::prepare_inputs(const Json& request) {
  replay::TimedInputOptions options{.compare = setup_.compare, .scope = {}};
  options.no_scope_because = request.value("no_scope_because", "");
  if (setup_.perturbations == 0) options.no_scope_because = "no others were asked for";
  options.seed = request.value("seed", std::uint64_t{0});
  if (const auto scope = request.find("scope");
      setup_.perturbations > 0 && scope != request.end() && scope->is_string())
    options.scope = from_name<replay::PerturbScope>(scope->get<std::string>());
  const auto prepared = timed_.prepare(options);
  // After a dispatch that failed, the device is of no use.
  lost_ = lost_ || !timed_.original_failed().empty() ||
          (!prepared && prepared.error().code == ErrorCode::target_failed);
  return prepared;
}

std::uint64_t seed_of_timed_inputs(std::uint64_t seed, std::string_view code_object) {
  return content_hash(fmt::format("{} {:x}", seed, content_hash(code_object)));
}

Result<Json> ReplayBench::prove(const Json& request) {
  Proof proof;
  proof.original = request.value("original", "");
  proof.candidate = request.value("candidate", "");
  const auto poison = from_name<replay::Poison>(request.value("poison", "written"));
  if (proof.original.empty() || proof.candidate.empty() || !poison)
    return fail(ErrorCode::bad_input, "a request for a proof lacks a code object or its poison");
  proof.poison = *poison;
  proof.inputs = request.value("inputs", Json::object());
  if (const auto scope = proof.inputs.find("scope");
      scope != proof.inputs.end() && scope->is_string())
    proof.scope = from_name<replay::PerturbScope>(scope->get<std::string>());
  proof.no_scope_because = proof.inputs.value("no_scope_because", "");
  PERFLAB_TRY(const std::string original, read_file(proof.original));
  PERFLAB_TRY(const std::string candidate, read_file(proof.candidate));
  if (measured_) {  // and left its last outputs behind
    PERFLAB_TRY_VOID(session_.load({}));
    PERFLAB_TRY([[maybe_unused]] const replay::Restored restored, session_.restore_all());
    measured_ = false;
  }
  using Step = Result<void> (ReplayBench::*)(Proof&);
  for (const Step step :
       {&ReplayBench::prove_capture, &ReplayBench::check_loads, &ReplayBench::check_captured_input,
        &ReplayBench::check_perturbed, &ReplayBench::check_timed}) {
    PERFLAB_TRY_VOID((this->*step)(proof));
    if (proof.ended()) break;
  }
  if (!proof.retry.is_null()) return std::move(proof.retry);
  if (proof.result.reason && original == candidate)
    return fail(ErrorCode::refused,
                fmt::format("the source as it is does not compute what was captured: {}",
                            proof.result.sentence),
                "build it as the application does (the words after --, or --build), capture the "
                "application anew, or allow for rounding with --max-ulp, --rtol or --atol");
  if (!proof.result.reason)
    proof.result.sentence =
        fmt::format("It computes what the original does in {} checks.",
                    proof.result.checks.size() - 1);  // the last says what is timed
  return Json{{"correctness", correctness_json(proof.result)}};
}

Result<Json> ReplayBench::measure(const Json& request) {
  measure::Variant variant;
  variant.name = request.value("name", "");
  variant.code_object = request.value("code_object", "");
  PERFLAB_TRY_VOID(prepare_inputs(
      request.value("inputs", Json{{"no_scope_because", "nobody said which others"}})));
  if (!timed_.original_failed().empty())
    return Json{{"perturbation_failed", timed_.original_failed()}};
  PERFLAB_TRY_VOID(
      on_step_(variant.code_object.empty() ? bench_step::kOriginal : bench_step::kCandidate));
  measured_ = true;
  PERFLAB_TRY(const measure::Measured measured, backend_->measure(variant));
  // Which failures leave the device behind is not told: a fresh one costs a second.
  lost_ = !measured.failure.empty();
  return Json{{"samples", measured.samples},
              {"failure", measured.failure},
              {"sensed", measure::sensed_json(measured.sensed)}};
}

}  // namespace perflab::optimize
