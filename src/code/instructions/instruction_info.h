// What the tables of instructions (instruction_alu.cpp, instruction_memory.cpp) say of one: its
// class, precision, operations and bytes.
#pragma once

#include <string>
#include <string_view>

namespace perflab::code {

/// Class of an instruction, by the unit that runs it.
enum class InstructionClass {
  valu,        ///< vector ALU, also packed and dual-issue
  matrix,      ///< MFMA, SMFMAC, WMMA, SWMMAC
  salu,        ///< scalar ALU
  smem,        ///< scalar memory
  vmem_load,   ///< vector memory (global, flat, buffer), reads
  vmem_store,  ///< and writes
  vmem_atomic,
  scratch_load,  ///< scratch: spills and stack objects
  scratch_store,
  lds,      ///< ds_* (also GDS, swizzles and permutes through LDS)
  branch,   ///< branches and calls
  waitcnt,  ///< s_waitcnt*, s_wait_*
  barrier,
  export_,
  other,  ///< s_endpgm, s_nop, s_sleep, s_setprio, hints
};
std::string_view to_string(InstructionClass instruction_class);

/// One instruction as the table understands it.
struct InstructionInfo {
  InstructionClass instruction_class = InstructionClass::other;
  /// VALU and matrix: "f64", "f32", "xf32", "f16", "bf16", "f8" (fp8 and bf8), "f6", "f4",
  /// "f8f6f4", "i64" to "i4" (signed or not), "b64" to "b16" (moves, logic), "none" (v_nop). Of
  /// the inputs for matrix and dot products, of the result for everything else (conversions).
  std::string precision;
  bool packed = false;      ///< v_pk_*: two operations per lane
  bool dual_issue = false;  ///< v_dual_* (both halves count)
  bool transcendental = false;
  bool call = false;          ///< goes to another function and comes back
  double flops_per_lane = 0;  ///< vector arithmetic
  double flops_per_wave = 0;  ///< of the whole wave: matrix arithmetic (really done: a sparse one
                              ///< does half of what its shape says), v_s_* (one value)
  /// VMEM, scratch, LDS: data of one lane; an atomic's operand once. For image and typed buffer
  /// instructions what the registers hold, not what the format takes in memory.
  int memory_bytes_per_lane = 0;
  int memory_bytes_per_wave = 0;  ///< SMEM, and LDS instructions that serve the wave as a whole
  bool known = true;              ///< false: the mnemonic is not understood; counted as `other`
};

}  // namespace perflab::code
