// The code that samples lie in: one row per instruction of a kernel, from the texts of the samples
// and, where the code object is at hand, from its disassembly, which has also what was never
// sampled.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyze/pc_sampling/pc_figures.h"
#include "pc_sampling/model.h"

namespace perflab::analyze {

/// An instruction of a kernel's disassembly.
struct CodeInstruction {
  std::uint64_t in_kernel = 0;                 ///< bytes from the kernel's begin
  std::string text;                            ///< "s_waitcnt vmcnt(0)"
  std::optional<std::uint64_t> branch_target;  ///< bytes from the kernel's begin
};

/// A kernel's code as one file has it.
using CodeOfKernelFile = std::vector<CodeInstruction>;

/// A kernel's instructions in order, and which of them each sampled place is.
struct SampledCode {
  std::vector<PcInstruction> instructions;
  std::map<pc_sampling::Index, std::size_t> of_pc;  ///< index into `instructions`
  bool code_known = false;                          ///< the disassembly is in it
  std::string code_refused;  ///< why a disassembly was not taken; empty: it was, or there was none
};

/// `pcs`: decoded places that samples of the kernel have, of any number of runs: places of the same
/// distance from the kernel's begin and with the same text are one. Without offsets (CSV) those of
/// the same text and source line are. `kernel`: the one that ran. Of the files' codes the first is
/// taken that has the texts of the samples: others are of other builds. Waits are filled in.
SampledCode sampled_code(const pc_sampling::PcSamples& samples,
                         std::span<const pc_sampling::Index> pcs, pc_sampling::Index kernel,
                         std::span<const CodeOfKernelFile> codes);

/// Whether two texts are the same instruction: but for blanks and numbers of branch targets.
bool same_instruction(std::string_view a, std::string_view b);

/// Of "gfx942": 9; of an unknown one by the code: 12 where it has that generation's waits, else 9.
int generation_of(std::string_view architecture, std::span<const PcInstruction> code);

}  // namespace perflab::analyze
