// Which code object a replay loads, and whether the captured kernel arguments fit it. Facts:
// docs/facts/code_object.md "Metadata", "Offload bundles".
#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"
#include "capture/capture_reader.h"
#include "replay/chosen_object.h"

namespace perflab::replay {

/// On CUDA: cubin_choice.h. What to load on a device of this ISA: the captured code object (`file`
/// empty), or the one in `file` (a code object, a bundle or a host file) that runs on it and has
/// the kernel, under the same name or one that differs in its translation unit only
/// (code/object/unit_names.h). The arguments of the other one have to be those of the captured
/// kernel: the same explicit ones at the same offsets, hidden ones only where the captured kernel
/// has them, and no more bytes. Errors: isa_mismatch, kernel_not_found (what there is is named),
/// kernel_mismatch (the first difference), bad_input.
Result<ChosenObject> choose_code_object(const capture::Capture& capture,
                                        const std::filesystem::path& file,
                                        const std::string& device_isa);

/// Whether a captured variable is the marker of a translation unit (code/object/unit_names.h), of
/// which nothing has to come back: one byte that the dispatch did not change.
bool is_unit_marker(const capture::MemoryRegion& region);

/// isa_mismatch unless what ran on `captured` runs on `device` (both as the runtime names ISAs):
/// the same processor, each feature equal or not named by one of them.
Result<void> check_isa(const std::string& captured, const std::string& device);

}  // namespace perflab::replay
