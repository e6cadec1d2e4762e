// Whether records say what is recorded beside them: --recheck asks it of a document, --resume of a
// ledger before anything of it is used.
#pragma once

#include <string>

#include "base/text/json.h"
#include "optimize/rounds/candidate.h"

namespace perflab::optimize {

/// The same values; figures of two builds of this program may differ in their last bits.
bool same_figures(const Json& a, const Json& b);

/// What of a measurement does not follow from its samples, as a sentence; empty: all of it does.
std::string altered_figure(const JudgeOptions& options, const Measurement& recorded);

/// How a decision differs from what the records say, as a sentence; empty: it follows from them.
std::string altered_decision(const Candidate& candidate, const JudgeOptions& options,
                             bool must_reproduce);

/// The first guard whose name, result or reason is another one, as a sentence; empty: none.
std::string guard_difference(const GuardResults& recorded, const GuardResults& now);

}  // namespace perflab::optimize
