// What sensors said around a measurement, as a worker process tells it.
#pragma once

#include <string_view>

#include "base/error.h"
#include "base/text/json.h"
#include "measure/backend.h"

namespace perflab::measure {

Json sensed_json(const Sensed& sensed);
/// Error (bad_input) naming `what`.
Result<Sensed> sensed_from_json(const Json& json, std::string_view what);

}  // namespace perflab::measure
