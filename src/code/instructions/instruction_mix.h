// What a kernel's instructions are: counts by class and precision, operations and bytes of one
// pass through the code, from mnemonics. Facts: LLVM's AMDGPU instruction names (AMDGPUAsmGFX9 to
// GFX12) and AMD's ISA documents for CDNA 1 to 4 and RDNA 1 to 4. FLOPs as AMD's counters take them
// (docs/facts/counters.md "Operations"): add, subtract, multiply and a transcendental are one, a
// fused or unfused multiply-add two, a dot product of n pairs 2n; minimum, compare, convert and
// round are none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "code/instructions/disassembly.h"
#include "code/instructions/instruction_info.h"

namespace perflab::code {

/// Classifies one instruction. `operands` matter for dual issue (the second half), image masks and
/// scratch: a buffer instruction whose resource is `scratch_resource` ("s[0:3]") is scratch; empty:
/// none is.
InstructionInfo classify(std::string_view mnemonic, std::string_view operands,
                         std::string_view scratch_resource = {});

/// Counts of one function's instructions, each instruction once (loops are not unrolled).
struct InstructionMix {
  std::int64_t instructions = 0;
  std::int64_t code_bytes = 0;
  std::map<InstructionClass, std::int64_t> by_class;
  std::map<std::string, std::int64_t> valu_by_precision;    ///< "f32", "i32", ...
  std::map<std::string, std::int64_t> matrix_by_precision;  ///< of the inputs: "f16", "f8", ...
  std::int64_t packed = 0, dual_issue = 0, transcendental = 0;
  std::int64_t calls = 0;              ///< s_swappc, s_call: other functions' code is not counted
  std::int64_t backward_branches = 0;  ///< loops
  std::vector<std::string> unknown;    ///< mnemonics that were not understood, sorted, once each

  /// Of one wave through the code once, all lanes active.
  double vector_flops = 0, matrix_flops = 0;
  double global_bytes = 0;   ///< VMEM loads, stores and atomics
  double scalar_bytes = 0;   ///< SMEM
  double scratch_bytes = 0;  ///< scratch
  double lds_bytes = 0;
  /// Floating-point operations per byte of VMEM of the straight-line code: an estimate (every
  /// instruction once, all lanes, no cache). Missing without VMEM.
  [[nodiscard]] std::optional<double> static_intensity() const;
};

/// Registers of the scratch buffer that a function uses, as operands spell them; empty: none.
/// Before flat scratch (gfx908, gfx90a, gfx10) the stack and spills go through buffer instructions
/// on the descriptor that the wave starts with, s[0:3], or on a copy that the prologue makes (two
/// s_mov_b64). Limits: a function with scratch that builds another descriptor in s[0:3] has its
/// accesses counted as scratch; a copy made otherwise is not found and counts as VMEM. A function
/// with scratch_* instructions has no such buffer.
std::string scratch_resource_of(std::span<const Instruction> instructions);

/// Mix of one function for waves of `wave_size`. `may_use_scratch`: false when the kernel is known
/// to have no scratch (size 0, no dynamic stack): then no buffer instruction is one.
InstructionMix instruction_mix(std::span<const Instruction> instructions, int wave_size,
                               bool may_use_scratch = true);

}  // namespace perflab::code
