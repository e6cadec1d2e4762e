// The document `calibration` (schemas/calibration.schema.json), and that of a plan.
#pragma once

#include "base/text/json.h"
#include "hal/calibration.h"

namespace perflab::report {

/// The document of a calibration.
Json calibration_document(const hal::Calibration& calibration);

}  // namespace perflab::report
