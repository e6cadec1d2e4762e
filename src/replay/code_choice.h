// Which code object a replay loads, and whether the captured kernel arguments fit it. Facts:
// facts/codeobject.md sections 2 and 4.
#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"
#include "capture/reader.h"

namespace perflab::replay {

/// The bytes to load on a device of this ISA: the captured code object (`file` empty), or the one
/// in `file` (a code object, a bundle or a host file) that runs on it and has the kernel. The
/// arguments of the other one have to be those of the captured kernel: the same explicit ones at
/// the same offsets, hidden ones only where the captured kernel has them, and no more bytes.
/// Errors: isa_mismatch, kernel_not_found (what there is is named), kernel_mismatch (the first
/// difference), bad_input.
Result<std::string> choose_code_object(const capture::Capture& capture,
                                       const std::filesystem::path& file,
                                       const std::string& device_isa);

/// isa_mismatch unless what ran on `captured` runs on `device` (both as the runtime names ISAs):
/// the same processor, each feature equal or not named by one of them.
Result<void> check_isa(const std::string& captured, const std::string& device);

}  // namespace perflab::replay
