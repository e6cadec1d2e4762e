// Guards, build, proof and timing of one candidate. What is decided follows from the records alone
// (candidate.h), so a step is made exactly when they give no answer yet.
#include "optimize/rounds/steps.h"

#include <fmt/format.h>

#include <utility>

#include "base/hash.h"
#include "base/system/files.h"
#include "base/system/interrupt.h"
#include "measure/backend.h"
#include "optimize/rounds/record_checks.h"
#include "optimize/rounds/records.h"
#include "optimize/workshop/workshop_build.h"
#include "sensors/conditions.h"

namespace perflab::optimize {
namespace {

/// The text without the folder's name: it is another one on every machine.
std::string without_folder(std::string text, const std::filesystem::path& folder) {
  std::error_code ignored;
  const std::filesystem::path absolute = std::filesystem::absolute(folder, ignored);
  for (const std::filesystem::path& one : {absolute, absolute.lexically_normal(), folder}) {
    const std::string prefix = (one / "").string();
    if (prefix.size() < 2) continue;
    for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at))
      text.erase(at, prefix.size());
  }
  return text;
}

BuildRecord record_of(const BuildOutcome& outcome, const std::filesystem::path& folder) {
  BuildRecord record;
  record.compiler_text = without_folder(outcome.compiler_text, folder);
  record.compiled = outcome.built.has_value();
  if (!outcome.built) return record;
  record.reproducible = outcome.built->reproducible;
  record.hash = outcome.built->hash;
  record.command = outcome.built->command;
  return record;
}

constexpr const char* kAnotherFolder = "begin again in another --out";

std::string name_of(const Candidate& candidate) {
  return candidate.number == 0 ? std::string("the original")
                               : fmt::format("candidate {}", candidate.number);
}

/// A ledger whose record of something contradicts itself, or what is found now.
std::unexpected<Error> unsound(const std::filesystem::path& folder, const std::string& what,
                               const std::string& why) {
  return fail(ErrorCode::bad_input,
              fmt::format("{}: what it says of {} cannot be right: {}",
                          (folder / kLedgerName).string(), what, why),
              kAnotherFolder);
}

}  // namespace

void Steps::say(const Candidate& candidate, std::string_view step, std::size_t turns) const {
  if (tools_.on_step) tools_.on_step(candidate, step, turns);
}

Result<void> Steps::record(const Candidate& candidate, std::string_view event, const char* key,
                           Json value) {
  return ledger_.append(event, {{"number", candidate.number}, {key, std::move(value)}});
}

Result<void> Steps::store(const std::string& text, Candidate& candidate) {
  candidate.hash = content_hash_text(text);
  texts_[candidate.number] = text;
  const std::string extension = options_.source.extension().string();
  const std::filesystem::path folder(kCandidatesName);
  std::filesystem::path file = folder / fmt::format("{:03}{}", candidate.number, extension);
  std::error_code ignored;
  if (std::filesystem::exists(options_.folder / file, ignored)) {
    const Result<std::string> there = read_file(options_.folder / file);
    if (there && *there == text) {
      candidate.file = file.string();
      return {};
    }
    // Another text of this number that an earlier process left: its records name it.
    const std::string digits = candidate.hash.substr(candidate.hash.find(':') + 1);
    file = folder / fmt::format("{:03}_{}{}", candidate.number, digits, extension);
  }
  candidate.file = file.string();
  return write_file_atomically(options_.folder / file, text);
}

Result<void> Steps::restore_text(const Candidate& candidate) {
  const std::filesystem::path file = options_.folder / candidate.file;
  const std::string& text = texts_.at(candidate.number);
  if (const Result<std::string> there = read_file(file); there && *there == text) return {};
  std::error_code ignored;
  std::filesystem::remove_all(file, ignored);  // it may be a link now, to anywhere
  return write_file_atomically(file, text);
}

Result<BuildOutcome> Steps::build(const Candidate& candidate) {
  say(candidate, "build");
  PERFLAB_TRY_VOID(restore_text(candidate));
  const std::filesystem::path folder =
      options_.folder / kBuildsName / std::filesystem::path(candidate.file).stem();
  // Nothing that an earlier process or a run left in it is a part of this build.
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  if (error)
    return fail(ErrorCode::usage, fmt::format("{}: cannot be emptied: {}", folder.string(),
                                              errno_text(error.value())));
  PERFLAB_TRY_VOID(make_directories(folder));
  PERFLAB_TRY(BuildOutcome outcome,
              tools_.workshop->build(options_.folder / candidate.file, folder));
  if (!outcome.built) return outcome;
  // Another build of the original is another oracle.
  if (candidate.number == 0 && !outcome.built->reproducible) original_repeats_ = false;
  built_.insert_or_assign(candidate.number, *outcome.built);
  return outcome;
}

std::string Steps::changed_file_of(const Candidate& candidate) const {
  const std::filesystem::path source = options_.folder / candidate.file;
  const Result<std::string> text = read_file(source);
  if (!text || *text != texts_.at(candidate.number)) return source.string();
  const auto found = built_.find(candidate.number);
  return found == built_.end() ? std::string() : changed_file(found->second);
}

std::string Steps::find_changed(std::initializer_list<const Candidate*> candidates) {
  std::string first;
  for (const Candidate* const candidate : candidates) {
    const std::string changed = changed_file_of(*candidate);
    if (changed.empty()) continue;
    built_.erase(candidate->number);
    if (first.empty()) first = without_folder(changed, options_.folder);
  }
  return first;
}

Result<const Built*> Steps::built(const Candidate& candidate) {
  if (const auto found = built_.find(candidate.number); found != built_.end()) {
    const std::string changed = changed_file_of(candidate);
    if (changed.empty()) return &found->second;
    const std::string sentence =
        fmt::format("{} was changed by something else since it was built", changed);
    if (!found->second.reproducible) return fail(ErrorCode::refused, sentence, kAnotherFolder);
    warn_(sentence + ": it is built again");
  }
  // Decided by an earlier process, or changed: what was built is built again, and has to be the
  // same.
  PERFLAB_TRY(const BuildOutcome outcome, build(candidate));
  const std::string name = options_.source.filename().string();
  if (!outcome.built) {
    std::unexpected<Error> error =
        fail(ErrorCode::target_failed,
             fmt::format("{}: {} was built before, and now it does not compile", name,
                         name_of(candidate)));
    if (!outcome.compiler_text.empty()) error.error().notes.push_back(outcome.compiler_text);
    return error;
  }
  if (candidate.build && candidate.build->reproducible &&
      candidate.build->hash != outcome.built->hash)
    return fail(
        ErrorCode::bad_input,
        fmt::format("{}: {} builds to {} now, and built to {} before", name, name_of(candidate),
                    outcome.built->hash, candidate.build->hash),
        "the compiler or a file that is included has changed, or --out was moved: start again "
        "in another --out");
  return &built_.at(candidate.number);
}

Result<const Built*> Steps::built_and_proven(const Candidate& original) {
  PERFLAB_TRY(const Built* const now, built(original));
  if (original_repeats_) return now;
  PERFLAB_TRY_VOID(prove_original(original));
  return built(original);
}

Result<Correctness> Steps::prove_original(const Candidate& original) {
  PERFLAB_TRY(Correctness proof, prove(original, original, original));
  const std::optional<Decision> refused = refused_proof(proof);
  if (refused)
    return fail(ErrorCode::refused,
                fmt::format("{} cannot be proven against itself ({}): {}",
                            options_.source.filename().string(), to_string(*refused->reason),
                            refused->sentence),
                "without that no candidate can be: see docs/OPTIMIZER.md");
  original_repeats_ = true;
  return proof;
}

Result<void> Steps::judge_original(Candidate& original) {
  const std::string name = options_.source.filename().string();
  if (ledger_.earlier().original) {
    Candidate earlier = *ledger_.earlier().original;
    if (earlier.hash != original.hash)
      return unsound(options_.folder, "the original", "its hash is not that of the source");
    if (!earlier.build || !earlier.build->compiled || !earlier.object || !earlier.proof)
      return unsound(options_.folder, "the original", "a step is missing");
    if (const auto refused = refused_proof(*earlier.proof))
      return unsound(options_.folder, "the original",
                     "its proof does not hold: " + refused->sentence);
    earlier.file = original.file;
    earlier.decision = original.decision;
    original = std::move(earlier);
    return {};
  }
  PERFLAB_TRY_VOID(compile(original));
  if (!original.build->compiled) {
    std::unexpected<Error> error =
        fail(ErrorCode::refused, fmt::format("{} does not compile as it is", name),
             "the words after -- are compiler arguments; --build is a build command of your own");
    if (!original.build->compiler_text.empty())
      error.error().notes.push_back(original.build->compiler_text);
    return error;
  }
  const Built& built = built_.at(0);
  PERFLAB_TRY(original.object, tools_.workshop->check_object(built, built));
  PERFLAB_TRY(original.proof, prove_original(original));
  Json line = to_json(original);
  line["build"]["command"] = original.build->command;
  return ledger_.append("original", line);
}

Result<void> Steps::verify(const std::string& text, const std::string& kernel,
                           const Candidate& original, const Candidate& recorded) {
  if (recorded.guards) {
    PERFLAB_TRY(const GuardResults now, run_guards(text, kernel));
    if (const std::string other = guard_difference(*recorded.guards, now); !other.empty())
      return unsound(options_.folder, name_of(recorded), other);
  }
  if (recorded.measurement)
    if (const std::string other = altered_figure(options_.judge, *recorded.measurement);
        !other.empty())
      return unsound(options_.folder, name_of(recorded), other);
  if (recorded.decision.outcome == Outcome::open) return {};
  const bool must_reproduce = original.build && original.build->reproducible;
  if (const std::string other = altered_decision(recorded, options_.judge, must_reproduce);
      !other.empty())
    return unsound(options_.folder, name_of(recorded), other);
  if (recorded.decision.outcome != Outcome::accepted) return {};
  PERFLAB_TRY_VOID(built(original));
  PERFLAB_TRY_VOID(built(recorded));
  return {};
}

Result<GuardResults> Steps::run_guards(const std::string& text, const std::string& kernel) const {
  const SourceGuardOptions guard_options{.kernel = kernel,
                                         .workgroup_size = tools_.workshop->workgroup_size()};
  return tools_.check ? tools_.check(original_model_, text, guard_options)
                      : check_source(original_model_, text, guard_options);
}

Result<void> Steps::guard(const std::string& text, const std::string& kernel,
                          Candidate& candidate) {
  say(candidate, "guards");
  PERFLAB_TRY(candidate.guards, run_guards(text, kernel));
  return record(candidate, "guards", "guards", to_json(*candidate.guards));
}

Result<void> Steps::compile(Candidate& candidate) {
  PERFLAB_TRY(const BuildOutcome outcome, build(candidate));
  candidate.build = record_of(outcome, options_.folder);
  if (candidate.number == 0) return {};  // a line of its own, when it is proven
  Json json = to_json(*candidate.build);
  json["command"] = candidate.build->command;
  return record(candidate, "build", "build", std::move(json));
}

Result<void> Steps::check_objects(const Candidate& original, Candidate& candidate) {
  PERFLAB_TRY(const Built* before, built(original));
  PERFLAB_TRY(const Built* after, built(candidate));
  Result<ObjectGuards> object = tools_.workshop->check_object(*before, *after);
  // The original's was read before: what cannot be read is the candidate's.
  if (!object && object.error().code == ErrorCode::bad_input)
    object = ObjectGuards{.results = {{.name = "code object",
                                       .passed = false,
                                       .reason = Reason::other_code_changed,
                                       .detail = object.error().message}},
                          .changes = {}};
  if (!object) return std::unexpected(object.error());
  candidate.object = std::move(*object);
  return record(candidate, "object", "object", to_json(*candidate.object));
}

Result<Correctness> Steps::prove(const Candidate& original, const Candidate& best,
                                 const Candidate& candidate) {
  PERFLAB_TRY(const Built* before,
              candidate.number == 0 ? built(original) : built_and_proven(original));
  PERFLAB_TRY(const Built* after, built(candidate));
  say(candidate, "proof");
  Result<Correctness> proof = tools_.workshop->prove(*before, *after);
  if (!proof && proof.error().code == ErrorCode::interrupted) return proof;
  const std::string changed = find_changed({&original, &best, &candidate});
  if (changed.empty()) return proof;
  // Whatever came of it, an error too, came of other files.
  Correctness refused = proof ? std::move(*proof) : Correctness();
  refused.reason = Reason::files_changed;
  refused.sentence = changed + " was a different file after it had been proven";
  refused.checks.push_back({.name = "files",
                            .passed = false,
                            .detail = refused.sentence,
                            .evidence = {{"file", changed}}});
  return refused;
}

Result<measure::Interleaved> Steps::take_turns(const Built& original, const Built& before,
                                               const Built& after, const Candidate& candidate,
                                               Turns turns) {
  if (turns != Turns::as_captured)
    PERFLAB_TRY_VOID(tools_.workshop->prepare_timing(original, before, after));
  measure::Backend& backend = tools_.workshop->backend();
  const JudgeOptions& judge = options_.judge;
  const bool larger_is_better = backend.larger_is_better();
  measure::InterleaveOptions options;
  options.stopping = judge.stopping;
  options.warmup = judge.warmup;
  options.comparison = judge.comparison(larger_is_better);
  if (turns == Turns::candidate) options.out_of_time = out_of_time_;
  options.decided = [&](const stats::Comparison& comparison) {
    return times_are_clear(comparison, judge, larger_is_better);
  };
  say(candidate, "timing");
  return interleave(backend, before.variant, after.variant, options,
                    [&](const measure::Interleaved& now) {
                      say(candidate, "timing", now.a.size() + now.b.size());
                    });
}

Result<Measurement> Steps::measure(const Candidate& original, const Candidate& before,
                                   const Candidate& after, Turns turns) {
  PERFLAB_TRY(const Built* built_original, built_and_proven(original));
  PERFLAB_TRY(const Built* built_before, built(before));
  PERFLAB_TRY(const Built* built_after, built(after));
  Result<measure::Interleaved> timed =
      take_turns(*built_original, *built_before, *built_after, after, turns);
  if (!timed && timed.error().code == ErrorCode::interrupted)
    return std::unexpected(std::move(timed).error());
  Measurement out;
  out.changed_file = find_changed({&original, &before, &after});
  if (!timed && out.changed_file.empty()) return std::unexpected(std::move(timed).error());
  const measure::Backend& backend = tools_.workshop->backend();
  out.backend = backend.name();
  out.unit = backend.unit();
  out.larger_is_better = backend.larger_is_better();
  if (timed) {
    if (!timed->failure_a.empty() && out.changed_file.empty())
      return fail(ErrorCode::target_failed, fmt::format("{} failed while it was timed: {}",
                                                        name_of(before), timed->failure_a));
    out.unit = timed->unit;
    out.before = std::move(timed->a);
    out.after = std::move(timed->b);
    out.order = std::move(timed->order);
    out.out_of_time = timed->out_of_time;
    out.conditions = sensors::conditions_json(timed->conditions);
    out.failure_before = std::move(timed->failure_a);
    out.failure_after = std::move(timed->failure_b);
  }
  // From the recorded samples alone, so that it can be done again.
  recompute(options_.judge, out);
  return out;
}

Result<void> Steps::next_step(const std::string& text, const std::string& kernel,
                              const Candidate& original, const Candidate& best,
                              Candidate& candidate) {
  if (!candidate.guards) return guard(text, kernel, candidate);
  if (!candidate.build) return compile(candidate);
  if (!candidate.object) return check_objects(original, candidate);
  if (!candidate.proof) {
    PERFLAB_TRY(candidate.proof, prove(original, best, candidate));
    return record(candidate, "proof", "proof", to_json(*candidate.proof));
  }
  PERFLAB_TRY(candidate.measurement, measure(original, best, candidate, Turns::candidate));
  return record(candidate, "measured", "measurement", to_json(*candidate.measurement));
}

Result<void> Steps::judge(const std::string& text, const std::string& kernel,
                          const Candidate& original, const Candidate& best, Candidate& candidate) {
  const bool must_reproduce = original.build && original.build->reproducible;
  Json proposal = to_json(candidate);
  proposal["against_hash"] = best.hash;
  PERFLAB_TRY_VOID(ledger_.append("proposal", proposal));
  while (true) {
    if (const auto decision = decision_of(candidate, options_.judge, must_reproduce)) {
      candidate.decision = *decision;
      if (decision->outcome != Outcome::accepted) {  // it is not built again
        texts_.erase(candidate.number);
        built_.erase(candidate.number);
      }
      return record(candidate, "decision", "decision", to_json(candidate.decision));
    }
    if (interrupted()) return fail(ErrorCode::interrupted, "the optimisation was interrupted");
    PERFLAB_TRY_VOID(next_step(text, kernel, original, best, candidate));
  }
}

Result<FinalProof> Steps::prove_final(const Candidate& original, const Candidate& best) {
  for (const FinalProof& proof : ledger_.earlier().finals) {
    if (proof.hash != best.hash) continue;
    for (const auto* const times : {&proof.measurement, &proof.as_captured})
      if (const std::string other =
              *times ? altered_figure(options_.judge, **times) : std::string();
          !other.empty())
        return unsound(options_.folder, "the final proof", other);
    PERFLAB_TRY_VOID(built(original));
    PERFLAB_TRY_VOID(built(best));
    return proof;
  }
  // Much has run since the two were built: once more from their sources, to the same bytes.
  built_.erase(original.number);
  built_.erase(best.number);
  FinalProof out;
  out.hash = best.hash;
  PERFLAB_TRY(out.proof, prove(original, original, best));
  if (!refused_proof(out.proof)) {
    PERFLAB_TRY(out.measurement, measure(original, original, best, Turns::final_proof));
  }
  if (decision_of_final(out, options_.judge).outcome == Outcome::accepted &&
      tools_.workshop->time_as_captured()) {
    PERFLAB_TRY(out.as_captured, measure(original, original, best, Turns::as_captured));
  }
  PERFLAB_TRY_VOID(ledger_.append("final", to_json(out)));
  return out;
}

}  // namespace perflab::optimize
