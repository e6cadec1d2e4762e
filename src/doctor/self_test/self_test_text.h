// The self test as one table, and the reasons below it.
#pragma once

#include <string>

#include "doctor/self_test/test_outcome.h"
#include "report/kit/style.h"

namespace perflab::doctor {

std::string self_test_text(const SelfTest& test, const report::TerminalStyle& style);

/// "in_place: holds (2.1 s)": what is said as soon as a case is decided.
std::string decided_line(const CaseRun& run);

}  // namespace perflab::doctor
