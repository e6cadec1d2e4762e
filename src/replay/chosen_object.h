// The code object that a replay loads, as code_choice.h and cubin_choice.h choose it.
#pragma once

#include <map>
#include <string>

namespace perflab::replay {

/// What a replay loads.
struct ChosenObject {
  std::string bytes;
  std::string kernel;  ///< without ".kd"
  /// Variables of the capture that have another name here: by their captured one.
  std::map<std::string, std::string> renamed;
};

}  // namespace perflab::replay
