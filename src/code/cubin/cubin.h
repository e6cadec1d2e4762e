// Cubins: the ELF files that ptxas makes for one NVIDIA architecture. Kernels with what they need,
// their parameters, variables. Facts: docs/facts/cuda_code.md "Cubins", "Attributes of kernels".
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace perflab::code {

/// One parameter of a kernel, as it lies in the parameter buffer.
struct CubinParameter {
  std::uint32_t ordinal = 0;  ///< from 0, in the order of the declaration
  std::uint32_t offset = 0;   ///< bytes
  std::uint32_t size = 0;     ///< bytes

  friend bool operator==(const CubinParameter&, const CubinParameter&) = default;
};

/// One kernel. What the file does not say is missing, never 0.
struct CubinKernel {
  std::string name;  ///< the mangled function name
  /// Registers of a thread, before the hardware rounds them up.
  std::optional<std::uint32_t> registers;
  /// Static shared memory of a block in bytes, without what the system reserves.
  std::uint64_t shared_bytes = 0;
  /// Local memory of a thread in bytes: its own frame, and with those of the functions it calls.
  std::optional<std::uint64_t> frame_bytes, stack_bytes;
  /// Instructions that move registers to local memory and back because there are too few; missing:
  /// the compiler is older than the first that was seen to list them (CUDA 13.0).
  std::optional<std::uint64_t> spill_instructions;
  std::vector<CubinParameter> parameters;  ///< by ordinal
  std::uint64_t parameter_bytes = 0;       ///< of the parameter buffer: the end of the last one
  std::optional<std::array<std::uint32_t, 3>> max_threads;       ///< of a block: launch bounds
  std::optional<std::array<std::uint32_t, 3>> required_threads;  ///< of a block
  std::optional<std::array<std::uint32_t, 3>> cluster;           ///< blocks of a cluster
  std::optional<std::uint32_t> cuda_version;  ///< of the compiler: 130 for CUDA 13.0
  std::string_view code;                      ///< its instructions, into the file
  /// Relocations of its code as text: offset, type, symbol and addend.
  std::string relocations;

  /// Local memory of a thread that a launch needs, bytes; missing: not recorded.
  [[nodiscard]] std::optional<std::uint64_t> local_bytes() const;
};

/// Where a variable lives.
enum class CubinSpace : std::uint8_t { global, constant, managed };
/// "global", "constant", "managed".
std::string_view to_string(CubinSpace space);

/// One variable of the source (`__device__`, `__constant__`, `__managed__`). Texts and tables that
/// the compiler adds for itself (names with '$' or '.') are left out.
struct CubinVariable {
  std::string name;
  CubinSpace space = CubinSpace::global;
  std::uint64_t size = 0;     ///< bytes
  std::string_view contents;  ///< into the file; empty: zeros that the file does not hold
};

struct Cubin {
  int architecture = 0;  ///< 90 for sm_90 and sm_90a, which the file does not tell apart
  int abi_version = 0;   ///< e_ident[EI_ABIVERSION]: 7 or 8
  std::vector<CubinKernel> kernels;      ///< in the order of the symbol table
  std::vector<CubinVariable> variables;  ///< likewise
  /// Device functions that are not kernels, by their symbols.
  std::vector<std::string> functions;
};

/// ELF machine of cubins (EM_CUDA).
inline constexpr std::uint16_t kCubinMachine = 190;
/// Shared memory of a block that CUDA keeps for itself from sm_90 on, bytes.
inline constexpr std::uint64_t kReservedSharedBytes = 1024;

/// Whether the bytes begin like a cubin (any version).
bool is_cubin(std::string_view bytes);
/// The architecture in a cubin's header, 90 for sm_90; missing when the bytes are none, or of an
/// ABI version that is not known.
std::optional<int> cubin_architecture(std::string_view bytes);

/// Reads a cubin. `what` names the file (and the place in it) in errors; views point into `bytes`.
/// Errors (bad_input): no cubin, not linked (-rdc=true), an ABI version that is not known, damaged
/// headers, symbols or attributes.
Result<Cubin> read_cubin(std::string_view bytes, std::string_view what);

/// The kernel of this name; else the only one that has it but for the name of the translation unit
/// (unit_names.h); nullptr: there is none.
const CubinKernel* kernel_named(const Cubin& cubin, std::string_view name);

}  // namespace perflab::code
