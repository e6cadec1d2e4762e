// The steps that are made with one candidate, each recorded in the ledger as soon as it is known.
// Candidates are programs that run as the user and may write to files of ours: before something is
// proven or timed, and after it, sources and builds are compared with what they were.
#pragma once

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>

#include "base/error.h"
#include "optimize/rounds/candidate.h"
#include "optimize/rounds/ledger.h"
#include "optimize/rounds/loop_options.h"

namespace perflab::optimize {

class Steps {
 public:
  Steps(const LoopOptions& options, const LoopTools& tools, Ledger& ledger,
        const SourceModel& original, std::function<bool()> out_of_time,
        std::function<void(std::string)> warn)
      : options_(options),
        tools_(tools),
        ledger_(ledger),
        original_model_(original),
        out_of_time_(std::move(out_of_time)),
        warn_(std::move(warn)) {}

  /// Stores the text as candidates/NNN.ext (NNN_hash.ext when another text has that name) and
  /// fills hash and file.
  Result<void> store(const std::string& text, Candidate& candidate);

  /// Builds the original and proves it against itself, unless the ledger has that. Errors: refused,
  /// bad_input (the ledger's record of it).
  Result<void> judge_original(Candidate& original);

  /// Looks again at what an earlier process recorded, before it is used: the guards on the text,
  /// figures by their samples, the decision by the records; what was accepted has to build to the
  /// same. Error (bad_input): the ledger does not say what is recorded.
  Result<void> verify(const std::string& text, const std::string& kernel, const Candidate& original,
                      const Candidate& recorded);

  /// Makes the steps until decision_of() has an answer, which is put into the candidate. `best`:
  /// what it is timed against; `kernel`: qualified name.
  Result<void> judge(const std::string& text, const std::string& kernel, const Candidate& original,
                     const Candidate& best, Candidate& candidate);

  /// Builds both anew, and proves and times `best` against the original. When the ledger has that,
  /// both have to build to the same. Errors also: those of verify().
  Result<FinalProof> prove_final(const Candidate& original, const Candidate& best);

 private:
  Result<BuildOutcome> build(const Candidate& candidate);
  /// Built, and not changed since. Errors: bad_input (it builds to something else now), refused (it
  /// was changed, and another build would not be the same).
  Result<const Built*> built(const Candidate& candidate);
  enum class Turns : std::uint8_t {
    candidate,    ///< within the time of the search
    final_proof,  ///< however long it takes
    as_captured,  ///< likewise, on the captured input
  };
  Result<void> restore_text(const Candidate& candidate);
  /// The first file of a candidate that is not what it was; empty: none.
  [[nodiscard]] std::string changed_file_of(const Candidate& candidate) const;
  /// Likewise of several, its name in the folder. What was changed is built anew before it is used
  /// again.
  std::string find_changed(std::initializer_list<const Candidate*> candidates);
  Result<void> next_step(const std::string& text, const std::string& kernel,
                         const Candidate& original, const Candidate& best, Candidate& candidate);
  Result<GuardResults> run_guards(const std::string& text, const std::string& kernel) const;
  Result<void> guard(const std::string& text, const std::string& kernel, Candidate& candidate);
  Result<void> compile(Candidate& candidate);
  Result<void> check_objects(const Candidate& original, Candidate& candidate);
  Result<Correctness> prove_original(const Candidate& original);
  /// Proven against itself in this process, and in every build of it: what is expected of a
  /// candidate must not come from runs after its own.
  Result<const Built*> built_and_proven(const Candidate& original);
  Result<Correctness> prove(const Candidate& original, const Candidate& best,
                            const Candidate& candidate);
  Result<measure::Interleaved> take_turns(const Built& original, const Built& before,
                                          const Built& after, const Candidate& candidate,
                                          Turns turns);
  Result<Measurement> measure(const Candidate& original, const Candidate& before,
                              const Candidate& after, Turns turns);
  Result<void> record(const Candidate& candidate, std::string_view event, const char* key,
                      Json value);
  void say(const Candidate& candidate, std::string_view step, std::size_t turns = 0) const;

  const LoopOptions& options_;
  const LoopTools& tools_;
  Ledger& ledger_;
  const SourceModel& original_model_;
  std::function<bool()> out_of_time_;
  std::function<void(std::string)> warn_;
  std::map<unsigned, std::string> texts_;  ///< of candidates that are built
  std::map<unsigned, Built> built_;
  bool original_repeats_ = false;  ///< the original was proven against itself in this process
};

}  // namespace perflab::optimize
