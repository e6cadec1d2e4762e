// Errors on their way between two processes of this program.
#pragma once

#include <optional>

#include "base/error.h"
#include "base/text/json.h"

namespace perflab {

/// {"code", "message", "notes", "remedy", "kind"}; the code by its name.
Json error_json(const Error& error);

/// What error_json() wrote; missing: the value is no such object, or its code is unknown.
std::optional<Error> error_from_json(const Json& json);

}  // namespace perflab
