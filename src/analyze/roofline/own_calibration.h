// The calibration that `calibrate` left on this machine for the GPUs of a recording.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hal/calibration.h"
#include "trace/trace.h"

namespace perflab::analyze {

/// That of the only GPU architecture of the recording, where hal::calibration_place() has one;
/// `warnings` gets a sentence when there is a file that cannot be read. Whether it is of the very
/// product is left to make_roofline().
std::optional<hal::Calibration> own_calibration(const trace::Trace& trace,
                                                std::vector<std::string>& warnings);

}  // namespace perflab::analyze
