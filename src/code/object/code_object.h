// AMDGPU code objects (ELF, versions 3 to 6): kernels with their metadata, descriptors and code.
// Facts: docs/facts/code_object.md (LLVM AMDGPUUsage, "Code Object"). Everything in the
// file is taken as hostile: offsets and sizes are checked before use.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "code/elf/target_id.h"
#include "code/object/kernel_metadata.h"

namespace perflab::code {

/// One code object.
struct CodeObject {
  int version = 0;                                 ///< code object version, 3 to 6
  TargetId target;                                 ///< from the ELF flags
  int generic_version = 0;                         ///< of a generic target (version 6); else 0
  std::string metadata_target;                     ///< "amdhsa.target"; empty before version 4
  std::array<std::int64_t, 2> metadata_version{};  ///< "amdhsa.version"; version 6 writes that of 5
  std::vector<KernelMetadata> kernels;             ///< in the metadata's order
  std::vector<std::string> printf_formats;
  /// What was odd, a sentence each: a kernel without descriptor, a symbol outside its segment.
  std::vector<std::string> problems;
};

/// Whether the bytes begin like an AMDGPU ELF file (any version).
bool is_code_object(std::string_view bytes);

/// The target in the flags of a code object's header; missing when the bytes are none, or of a
/// version that is not known.
std::optional<TargetId> code_object_target(std::string_view bytes);

/// Reads a code object. `what` names the file (and the place in it) in errors. Errors (bad_input):
/// not a linked AMDGPU HSA ELF, version 2 (named: too old) or unknown, damaged headers, no or
/// damaged metadata (the kernel and key are named).
Result<CodeObject> read_code_object(std::string_view bytes, std::string_view what);

/// The kernel of this name (without ".kd"); else the only one that has it but for the name of the
/// translation unit (unit_names.h); nullptr: there is none.
const KernelMetadata* kernel_named(const CodeObject& object, std::string_view name);

/// The bytes of a kernel's instructions inside the file; empty when its size is unknown or outside.
std::string_view kernel_code(std::string_view bytes, const KernelMetadata& kernel);

}  // namespace perflab::code
