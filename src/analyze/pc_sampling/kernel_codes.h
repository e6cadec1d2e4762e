// The machine code of sampled kernels: from files that were given, and from those that the samples
// name.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analyze/pc_sampling/sampled_code.h"
#include "base/error.h"
#include "pc_sampling/model.h"

namespace perflab::analyze {

/// What was found by mangled name, and what could not be read.
struct KernelCodes {
  std::map<std::string, std::vector<CodeOfKernelFile>, std::less<>> by_name;
  std::vector<std::string> warnings;
};

/// Disassembles the kernels that samples name. `files` first, then with `search` those in the URIs
/// of the code objects. What is not of the samples' architecture is passed over. Error (bad_input):
/// one of `files` cannot be used. A missing disassembler is a warning.
Result<KernelCodes> find_kernel_codes(const pc_sampling::PcSamples& samples,
                                      const std::vector<std::filesystem::path>& files, bool search);

}  // namespace perflab::analyze
