// What the flags and the ABI version of an AMDGPU ELF header mean: processor, features, code object
// version. Facts: docs/facts/code_object.md "ELF header"; LLVM AMDGPUUsage, "ELF Code Object", and
// LLVM's test elf-header-flags-mach.ll. The one place for machine numbers: a new processor is a
// line here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "code/elf/target_id.h"

namespace perflab::code {

/// One processor number of e_flags.
struct Processor {
  std::uint32_t number = 0;    ///< e_flags[7:0]
  std::string_view processor;  ///< "gfx942"
  /// Features that it has; they matter for version 3 only, whose flags cannot tell "off" from
  /// "unsupported".
  bool has_sramecc = false;
  bool has_xnack = false;
};

/// Every processor number that is known, by number.
std::span<const Processor> machines();

/// The code object version (2 to 6) of e_ident[EI_ABIVERSION]; missing when it is not known.
std::optional<int> version_of_abi(std::uint8_t abi_version);

/// The target of e_flags under a code object version of 3 or later. A processor number that is not
/// known gives "mach 0x7f".
TargetId target_of_flags(std::uint32_t flags, int version);

/// The generic version of e_flags (version 6): flags[31:24]; 0 before.
int generic_version_of_flags(std::uint32_t flags, int version);

}  // namespace perflab::code
