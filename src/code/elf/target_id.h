// Names of AMDGPU targets: "gfx942:sramecc+:xnack-". Facts: docs/facts/code_object.md "ELF header",
// "Offload bundles" (LLVM AMDGPUUsage, "Target ID").
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace perflab::code {

/// State of one target feature of a code object.
enum class Feature {
  any,  ///< not named in a target id: the code runs with the feature on or off
  off,
  on,
  unsupported,  ///< the processor does not have it (known from ELF flags only)
};

/// One target: a processor and its two switchable features.
struct TargetId {
  std::string processor;  ///< "gfx942", "gfx11-generic"; "mach 0x7f" when the number is not known
  Feature sramecc = Feature::any;
  Feature xnack = Feature::any;

  friend bool operator==(const TargetId&, const TargetId&) = default;
};

/// "gfx942:sramecc+:xnack-": features that are on or off only, as compilers spell it.
std::string to_string(const TargetId& target);

/// Reads the target out of a bundle entry's id or of a metadata target, whatever the spelling:
/// "hipv4-amdgcn-amd-amdhsa--gfx942:xnack-", "hip-amdgcn-amd-amdhsa-unknown-gfx90a",
/// "...--gfx950-", "gfx1030". Missing when the text names no gfx processor (a host entry).
std::optional<TargetId> parse_target_id(std::string_view text);

/// Whether code for `code` may be loaded on a device of target `device`: same processor, each
/// feature equal or `any` in the code.
bool runs_on(const TargetId& code, const TargetId& device);

}  // namespace perflab::code
