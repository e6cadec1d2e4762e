// The steps that are made with one candidate, each recorded in the ledger as soon as it is known.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/error.h"
#include "optimize/loop/candidate.h"
#include "optimize/loop/ledger.h"
#include "optimize/loop/loop.h"

namespace perflab::optimize {

class Steps {
 public:
  Steps(const LoopOptions& options, const LoopTools& tools, Ledger& ledger,
        const SourceModel& original, std::function<bool()> out_of_time)
      : options_(options),
        tools_(tools),
        ledger_(ledger),
        original_model_(original),
        out_of_time_(std::move(out_of_time)) {}

  /// Stores the text as candidates/NNN.ext (NNN_hash.ext when another text has that name) and
  /// fills hash and file.
  Result<void> store(const std::string& text, Candidate& candidate);

  /// Builds the original and proves it against itself, unless the ledger has that. Errors: refused.
  Result<void> judge_original(Candidate& original);

  /// Makes the steps until decision_of() has an answer, which is put into the candidate. `best`:
  /// what it is timed against; `kernel`: qualified name.
  Result<void> judge(const std::string& text, const std::string& kernel, const Candidate& original,
                     const Candidate& best, Candidate& candidate);

  /// Proves and times `best` against the original, unless the ledger has that.
  Result<FinalProof> prove_final(const Candidate& original, const Candidate& best);

 private:
  Result<BuildOutcome> build(const Candidate& candidate);
  Result<const Built*> built(const Candidate& candidate);
  Result<void> next_step(const std::string& text, const std::string& kernel,
                         const Candidate& original, const Candidate& best, Candidate& candidate);
  Result<void> guard(const std::string& text, const std::string& kernel, Candidate& candidate);
  Result<void> compile(Candidate& candidate);
  Result<void> check_objects(const Candidate& original, Candidate& candidate);
  Result<Measurement> measure(const Candidate& before, const Candidate& after, bool limited);
  Result<void> record(const Candidate& candidate, std::string_view event, const char* key,
                      Json value);
  void say(const Candidate& candidate, std::string_view step, std::size_t turns = 0) const;

  const LoopOptions& options_;
  const LoopTools& tools_;
  Ledger& ledger_;
  const SourceModel& original_model_;
  std::function<bool()> out_of_time_;
  std::map<unsigned, Built> built_;
};

}  // namespace perflab::optimize
