// The code of a kernel of known work as counts: what stands outside of its one loop, and what a
// round of the loop has. With the number of rounds these are all instructions that a wave runs.
#pragma once

#include <expected>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "code/instructions/disassembly.h"
#include "code/instructions/instruction_info.h"

namespace perflab::calibrate {

/// An instruction and what the tables say of it.
struct KnownInstruction {
  code::Instruction instruction;
  code::InstructionInfo info;
};

/// Counts of one wave by name: "all", "valu", "salu", "smem", "vmem", "vmem_load", "vmem_store",
/// "vmem_atomic", "lds", "branch", "matrix"; arithmetic by what it does and its precision:
/// "fma_f32", "add_f32", "mul_f32", "trans_f32", "op_i32"; "flops_f32" of a lane, "matrix_flops" of
/// the wave. A name that is not there is 0.
using CodeCounts = std::map<std::string, double, std::less<>>;

/// The count of that name.
double count_of(const CodeCounts& counts, std::string_view name);

/// A kernel's code.
struct CodeShape {
  CodeCounts outside, loop;
  std::vector<KnownInstruction> body;  ///< of the loop
  std::string stream;                  ///< the loop for people: "64 v_fma_f32, 2 salu, 1 branch"

  /// Outside and so many rounds together.
  [[nodiscard]] CodeCounts of_wave(double rounds) const;
};

/// The shape of a kernel; else why it has none, a clause: the compiler made several loops or none,
/// a branch that is none of the loop's, a call, instructions that not all lanes run or that no
/// table knows.
std::expected<CodeShape, std::string> shape_of(std::span<const KnownInstruction> code);

}  // namespace perflab::calibrate
