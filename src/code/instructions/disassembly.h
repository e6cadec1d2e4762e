// Disassembly of code objects through LLVM's own disassembler (llvm-objdump, run as a program: it
// knows exactly the architectures of its compiler, and cannot take us down with it).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace perflab::code {

/// A disassembler program and what it is.
struct Disassembler {
  std::filesystem::path program;
  std::string version;                  ///< "LLVM 19.1.7"
  std::vector<std::string> processors;  ///< gfx names that it knows
};

/// Finds llvm-objdump: $ROCM_PERF_LLVM_OBJDUMP (when set, only that), beside each compiler that
/// find_compiler() would try, PATH with and without a version (newest first); the first that knows
/// AMDGPU. `wanted`: prefer one that knows this processor. Errors: missing_tool (what was tried,
/// what to install), interrupted.
Result<Disassembler> find_disassembler(std::string_view wanted = {});

/// One instruction.
struct Instruction {
  std::uint64_t address = 0;  ///< Vaddr
  int bytes = 0;
  std::string mnemonic;  ///< "v_fma_f32", encoding suffixes (_e32, _e64, _dpp, _sdwa) kept
  std::string operands;  ///< of a dual-issue pair with the second half: "v0, v1 :: v_dual_... "
  /// Vaddr that a branch goes to; missing for other instructions and computed branches.
  std::optional<std::uint64_t> branch_target;
};

/// One function of a code object: its symbol and instructions in address order, without the padding
/// after its last one (s_code_end, s_nop after an end or jump before the next function). LLVM
/// begins a new function at every symbol of .text, labels included: function_at() puts those
/// together.
struct Function {
  std::string symbol;
  std::uint64_t address = 0;
  std::vector<Instruction> instructions;
};

/// The instructions in [address, address + bytes) of a code object, whatever symbols lie in between
/// (assembly kernels have labels inside). `functions` in address order, of all symbols.
Function function_at(std::span<const Function> functions, std::string_view symbol,
                     std::uint64_t address, std::uint64_t bytes);

/// A code object to disassemble.
struct ToDisassemble {
  std::string_view bytes;
  std::string processor;             ///< gfx name: must be among Disassembler::processors
  std::vector<std::string> symbols;  ///< only these functions; empty: all
};

/// Disassembles code objects, in one run of the program per processor. Results in the order given;
/// an object whose processor is not known is an error entry (missing_tool: "LLVM 19.1.7 does not
/// know gfx950"), one that the program refuses likewise (bad_input), not a failure of the others; a
/// symbol that is not there is left out. Errors of the whole: the program cannot be run, no
/// temporary folder, interrupted.
Result<std::vector<Result<std::vector<Function>>>> disassemble(
    const Disassembler& disassembler, std::span<const ToDisassemble> objects);

}  // namespace perflab::code
