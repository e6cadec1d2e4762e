// Guards, build, proof and timing of one candidate. What is decided follows from the records alone
// (candidate.h), so a step is made exactly when they give no answer yet.
#include "optimize/loop/steps.h"

#include <fmt/format.h>

#include <utility>

#include "base/files.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "measure/backend.h"
#include "optimize/loop/records.h"

namespace perflab::optimize {
namespace {

/// The text without the folder's name: it is another one on every machine.
std::string without_folder(std::string text, const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const std::filesystem::path& one : {std::filesystem::absolute(folder, ignored), folder}) {
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

Result<BuildOutcome> Steps::build(const Candidate& candidate) {
  say(candidate, "build");
  const std::filesystem::path folder =
      options_.folder / "builds" / fmt::format("{:03}", candidate.number);
  PERFLAB_TRY_VOID(make_directories(folder));
  PERFLAB_TRY(BuildOutcome outcome,
              tools_.workshop->build(options_.folder / candidate.file, folder));
  if (outcome.built) built_.insert_or_assign(candidate.number, *outcome.built);
  return outcome;
}

Result<const Built*> Steps::built(const Candidate& candidate) {
  if (const auto found = built_.find(candidate.number); found != built_.end())
    return &found->second;
  // Decided by an earlier process: what it built is built again, and has to be the same.
  PERFLAB_TRY(const BuildOutcome outcome, build(candidate));
  const std::string name = options_.source.filename().string();
  if (!outcome.built)
    return fail(ErrorCode::target_failed,
                fmt::format("{}: candidate {} was built before, and now it does not compile", name,
                            candidate.number),
                outcome.compiler_text);
  if (candidate.build && candidate.build->reproducible &&
      candidate.build->hash != outcome.built->hash)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: candidate {} builds to {} now, and built to {} before", name,
                            candidate.number, outcome.built->hash, candidate.build->hash),
                "the compiler or a file that is included has changed: begin anew in another --out");
  return &built_.at(candidate.number);
}

Result<void> Steps::judge_original(Candidate& original) {
  const std::string name = options_.source.filename().string();
  if (ledger_.earlier().original) {
    const std::string file = original.file;
    original = *ledger_.earlier().original;
    original.file = file;
    return {};
  }
  PERFLAB_TRY_VOID(compile(original));
  if (!original.build->compiled) {
    std::unexpected<Error> error =
        fail(ErrorCode::refused, fmt::format("{} does not compile as it stands", name),
             "the words behind -- are compiler arguments; --build is a build command of your own");
    if (!original.build->compiler_text.empty())
      error.error().notes.push_back(original.build->compiler_text);
    return error;
  }
  const Built& built = built_.at(0);
  PERFLAB_TRY(original.object, tools_.workshop->check_object(built, built));
  say(original, "proof");
  PERFLAB_TRY(original.proof, tools_.workshop->prove(built, built));
  if (original.proof->reason)
    return fail(ErrorCode::refused,
                fmt::format("{} cannot be proven against itself ({}): {}", name,
                            to_string(*original.proof->reason), original.proof->sentence),
                "without that no candidate can be: see docs/OPTIMIZER.md");
  Json line = to_json(original);
  line["build"]["command"] = original.build->command;
  return ledger_.append("original", line);
}

Result<void> Steps::guard(const std::string& text, const std::string& kernel,
                          Candidate& candidate) {
  say(candidate, "guards");
  const SourceGuardOptions guard_options{.kernel = kernel,
                                         .workgroup_size = tools_.workshop->workgroup_size()};
  PERFLAB_TRY(candidate.guards, tools_.check ? tools_.check(original_model_, text, guard_options)
                                             : check_source(original_model_, text, guard_options));
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

Result<Measurement> Steps::measure(const Candidate& before, const Candidate& after, bool limited) {
  PERFLAB_TRY(const Built* built_before, built(before));
  PERFLAB_TRY(const Built* built_after, built(after));
  measure::Backend& backend = tools_.workshop->backend();
  const JudgeOptions& judge = options_.judge;
  const bool larger_is_better = backend.larger_is_better();
  measure::InterleaveOptions options;
  options.stopping = judge.stopping;
  options.warmup = judge.warmup;
  options.comparison = judge.comparison(larger_is_better);
  if (limited) options.out_of_time = out_of_time_;
  options.decided = [&](const stats::Comparison& comparison) {
    return times_are_clear(comparison, judge, larger_is_better);
  };
  say(after, "timing");
  PERFLAB_TRY(measure::Interleaved timed,
              interleave(backend, built_before->variant, built_after->variant, options,
                         [&](const measure::Interleaved& now) {
                           say(after, "timing", now.a.size() + now.b.size());
                         }));
  if (!timed.failure_a.empty())
    return fail(ErrorCode::target_failed,
                fmt::format("{} failed while it was timed: {}",
                            before.number == 0 ? std::string("the original")
                                               : fmt::format("candidate {}", before.number),
                            timed.failure_a));
  Measurement out{.backend = backend.name(),
                  .unit = timed.unit,
                  .larger_is_better = larger_is_better,
                  .before = std::move(timed.a),
                  .after = std::move(timed.b),
                  .order = std::move(timed.order),
                  .out_of_time = timed.out_of_time,
                  .failure_before = {},
                  .failure_after = std::move(timed.failure_b),
                  .comparison = {}};
  // From the recorded samples alone, so that it can be done again.
  recompute(judge, out);
  return out;
}

Result<void> Steps::next_step(const std::string& text, const std::string& kernel,
                              const Candidate& original, const Candidate& best,
                              Candidate& candidate) {
  if (!candidate.guards) return guard(text, kernel, candidate);
  if (!candidate.build) return compile(candidate);
  if (!candidate.object) return check_objects(original, candidate);
  if (!candidate.proof) {
    PERFLAB_TRY(const Built* before, built(original));
    PERFLAB_TRY(const Built* after, built(candidate));
    say(candidate, "proof");
    PERFLAB_TRY(candidate.proof, tools_.workshop->prove(*before, *after));
    return record(candidate, "proof", "proof", to_json(*candidate.proof));
  }
  PERFLAB_TRY(candidate.measurement, measure(best, candidate, true));
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
      return record(candidate, "decision", "decision", to_json(candidate.decision));
    }
    if (interrupted()) return fail(ErrorCode::interrupted, "the optimisation was interrupted");
    PERFLAB_TRY_VOID(next_step(text, kernel, original, best, candidate));
  }
}

Result<FinalProof> Steps::prove_final(const Candidate& original, const Candidate& best) {
  for (const FinalProof& proof : ledger_.earlier().finals)
    if (proof.hash == best.hash) return proof;
  FinalProof out;
  out.hash = best.hash;
  PERFLAB_TRY(const Built* before, built(original));
  PERFLAB_TRY(const Built* after, built(best));
  say(best, "proof");
  PERFLAB_TRY(out.proof, tools_.workshop->prove(*before, *after));
  if (!out.proof.reason) {
    PERFLAB_TRY(out.measurement, measure(original, best, false));
  }
  PERFLAB_TRY_VOID(ledger_.append("final", to_json(out)));
  return out;
}

}  // namespace perflab::optimize
