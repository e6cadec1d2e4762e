// How a process ended, as documents have it.
#pragma once

#include <string>

#include "base/system/subprocess.h"

namespace perflab::report {

/// How a run ended, in the words of the document: "ok", "exit 3", "signal 9", "timed out",
/// "interrupted".
std::string outcome_of(const ProcessResult& process);

}  // namespace perflab::report
