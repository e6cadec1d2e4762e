// The answer of the process that checks a source, as the text that comes through its pipe.
#pragma once

#include <string>

#include "optimize/guards/guards.h"

namespace perflab::optimize {

std::string check_answer(const Result<GuardResults>& results);

/// The other way. Errors: what the process said; internal when it said nothing that counts: clang
/// read a hostile source in there, and a damaged answer must not be a guard that passed.
Result<GuardResults> answered_check(const std::string& text);

}  // namespace perflab::optimize
