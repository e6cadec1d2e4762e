// Which module of CUDA a replay loads, and whether the captured parameters fit it: code_choice.h
// for cubins. Facts: docs/facts/cuda_code.md.
#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"
#include "capture/capture_reader.h"
#include "replay/chosen_object.h"

namespace perflab::replay {

/// choose_code_object() for a capture of CUDA. `file`: a cubin, a fat binary, or a host file that
/// holds some. Parameters have to be those of the captured launch: the same offsets and sizes.
Result<ChosenObject> choose_cubin(const capture::Capture& capture,
                                  const std::filesystem::path& file, const std::string& device_isa);

/// check_isa() for architectures of NVIDIA: the same one, "sm_90".
Result<void> check_architecture(const std::string& captured, const std::string& device);

}  // namespace perflab::replay
