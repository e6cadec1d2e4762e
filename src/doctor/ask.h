// Asks a process of ours about a runtime or a driver: what hangs or crashes there does so there.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text/json.h"
#include "doctor/examination.h"

namespace perflab::doctor {

struct Question {
  std::vector<std::string> command;
  std::chrono::seconds timeout;
  std::string_view answer;  ///< "the driver's answer", for messages
  std::string_view remedy;  ///< when there is none
};

/// The object that the process prints as its last line. Null, and the part says why, when it is
/// none. Error: interrupted.
Result<Json> ask(const Question& question, Part& part);

}  // namespace perflab::doctor
