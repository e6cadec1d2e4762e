// Tolerances as they stand in keys and documents and travel to workers.
#pragma once

#include "base/text/json.h"
#include "base/text/json_fields.h"
#include "replay/elements/element_diff.h"

namespace perflab::measure {

/// An object; what is not given is null.
Json tolerance_json(const replay::DiffOptions& compare);
/// What it wrote; faults are `in`'s.
replay::DiffOptions tolerance_from(JsonFields in);

}  // namespace perflab::measure
