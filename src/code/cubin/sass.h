// Instructions of NVIDIA's GPUs from sm_70 to sm_120 (16 bytes each), as far as counting them needs
// it: which operation, how wide an access, where a branch goes. No tool of the CUDA toolkit is
// needed. Facts: docs/facts/cuda_code.md "Instructions".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "code/instructions/disassembly.h"
#include "code/instructions/instruction_info.h"

namespace perflab::code {

/// Bytes of one instruction.
inline constexpr int kSassBytes = 16;

/// What the operands of an instruction say: not every thread executes it; it is an HFMA2 that loads
/// a constant, which profilers count as arithmetic all the same. Both may stand one behind the
/// other.
inline constexpr std::string_view kSassPredicated = "predicated", kSassConstant = " constant";

/// The instructions of one kernel (CubinKernel::code), addresses from 0, without the padding behind
/// its last one. Mnemonics are those of NVIDIA's disassembler where they are known ("FFMA",
/// "LDG.128", "BRA"), else "op_" and nine bits in hexadecimal. `operands` holds kSassPredicated and
/// kSassConstant where they apply. Error (bad_input): no whole instructions, no end.
Result<std::vector<Instruction>> read_sass(std::string_view code, std::string_view what);

/// What an instruction of read_sass() is. Those that only move and address data are `valu` with
/// the precision "b32"; `known` is false where the name is not.
InstructionInfo classify_sass(const Instruction& instruction);

}  // namespace perflab::code
