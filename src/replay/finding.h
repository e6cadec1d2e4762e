// What the lint of a capture finds (lint.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "capture/model.h"

namespace perflab::replay {

enum class Severity : std::uint8_t { note, warning, error };
std::string_view to_string(Severity severity);

/// One finding.
struct Finding {
  Severity severity = Severity::note;
  std::string rule;      ///< stable name: "hidden_hostcall", "host_pointer", ...
  std::string sentence;  ///< what was found, with its address or offset
  std::string remedy;    ///< what to do; may be empty
};

/// The warning that a dispatch changed no byte of the captured memory (nothing_written): whatever
/// writes nothing would replay it. Empty: it changed something.
std::vector<Finding> nothing_written(const capture::Description& description);

}  // namespace perflab::replay
