// The closed loop: proposals are guarded, built, proven and timed against the best so far; what
// gains is kept, everything else rolled back; at its end the best is proven and timed against the
// original once more. The user's file is only read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text/json.h"
#include "llm/proposer.h"
#include "optimize/model/source_model.h"
#include "optimize/rounds/candidate.h"
#include "optimize/rounds/ledger.h"
#include "optimize/rounds/loop_options.h"
#include "optimize/sandboxing.h"
#include "optimize/workshop/workshop.h"

namespace perflab::optimize {

enum class Ended : std::uint8_t { no_more_proposals, max_candidates, patience, time_budget };
std::string_view to_string(Ended ended);

/// What an optimisation did and found.
struct Optimization {
  std::filesystem::path source, folder;
  std::string source_name, source_hash;
  std::string kernel, signature;
  ParseOptions parse;
  std::optional<std::int64_t> workgroup_size;  ///< as the workshop knows it
  JudgeOptions judge;
  std::optional<unsigned> max_candidates, patience;
  std::string proposer;
  SandboxRecord sandbox;
  Json workshop;  ///< its identity
  std::string libclang, libclang_path;
  Candidate original;  ///< number 0; its object: the resources
  std::vector<Candidate> candidates;
  std::vector<std::string> warnings;
  std::optional<unsigned> best;  ///< accepted in its round; missing: none was
  std::optional<FinalProof> final_proof;
  std::optional<unsigned> accepted;  ///< also by the final proof
  Decision decision;                 ///< of the whole; refused: why nothing was accepted
  std::string original_text, accepted_text;
  llm::Usage usage;
  Ended ended = Ended::no_more_proposals;
  std::string ended_sentence;
  bool resumed = false, torn = false;
};

/// Runs the loop on a source that was read with `options.parse`. Errors: bad_input (a ledger of
/// another key), usage (the folder; no such kernel), refused (the original does not compile, or
/// cannot be proven against itself), missing_tool, interrupted (what was finished is in the
/// ledger).
Result<Optimization> run_loop(SourceModel original, const LoopOptions& options,
                              const LoopTools& tools);

}  // namespace perflab::optimize
