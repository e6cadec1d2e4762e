// What in a capture will not survive into another process, or will not be the same there: found by
// looking at the capture alone. `capture check` prints it; replay refuses on an error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "capture/capture_reader.h"

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

/// What the metadata lists and no instruction uses is a note; what the code does not tell is a
/// warning, and a replay under its time limit has to show it. Findings in a fixed order: errors
/// first, then by rule. Errors (bad_input): the code object of the capture cannot be read.
Result<std::vector<Finding>> lint(const capture::Capture& capture);

}  // namespace perflab::replay
