// Records of candidates as JSON: what stands in a line of the ledger stands in the document, and is
// read back from both.
#pragma once

#include <string_view>

#include "base/error.h"
#include "base/text/json.h"
#include "optimize/rounds/candidate.h"

namespace perflab::optimize {

Json to_json(const GuardResults& guards);
/// Without the command: paths are not the same everywhere.
Json to_json(const BuildRecord& build);
Json to_json(const ObjectGuards& object);
Json to_json(const Correctness& proof);
Json to_json(const Measurement& measurement);
Json to_json(const stats::Comparison& comparison);
Json to_json(const Decision& decision);
Json to_json(const FinalProof& proof);
/// The whole record; steps that were not made are null.
Json to_json(const Candidate& candidate);

/// Reads what to_json(Candidate) wrote. Fields of steps may be missing. Error (bad_input) naming
/// `what`.
Result<Candidate> candidate_from_json(const Json& json, std::string_view what);
/// Reads what to_json(FinalProof) wrote. Error as above.
Result<FinalProof> final_proof_from_json(const Json& json, std::string_view what);
/// Adds the fields of one step ("guards", "build", ...) that stand in `json`. Error as above.
Result<void> add_steps(const Json& json, std::string_view what, Candidate& candidate);

}  // namespace perflab::optimize
