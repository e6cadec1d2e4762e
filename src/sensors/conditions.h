// Readings and conditions as documents have them, and as two processes tell each other.
#pragma once

#include <string_view>

#include "base/error.h"
#include "base/text/json.h"
#include "sensors/turn.h"

namespace perflab::sensors {

/// The field `conditions` of a document. Reasons of what is null are in it.
Json conditions_json(const Conditions& conditions);

/// A span in full, to be read back by span_from_json().
Json span_json(const Span& span);
/// Error (bad_input) naming `what`.
Result<Span> span_from_json(const Json& json, std::string_view what);

}  // namespace perflab::sensors
