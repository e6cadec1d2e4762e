// The metadata note of a code object: a MessagePack map that describes its kernels. Facts:
// docs/facts/code_object.md "Metadata" (LLVM AMDGPUUsage, "Code Object V3/V4/V5 Metadata").
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "code/object/kernel_metadata.h"

namespace perflab::code {

/// What the note says. Descriptors and addresses of the kernels are not in it.
struct Metadata {
  std::array<std::int64_t, 2> version{};  ///< "amdhsa.version"
  std::string target;                     ///< "amdhsa.target"; empty: not recorded
  std::vector<KernelMetadata> kernels;
  std::vector<std::string> printf_formats;
};

/// Reads the note's bytes. `what` names the file in errors (bad_input): not MessagePack, nested too
/// deeply, a known key with a wrong type or value, a required key missing (kernel and key are
/// named). Keys that are not known are skipped.
Result<Metadata> read_metadata(std::string_view note, std::string_view what);

}  // namespace perflab::code
