// The kernels of programs/ compiled by the user's compiler, and what their code is: one pass from
// source text to checked rows of work.h.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "calibrate/code_shape.h"
#include "calibrate/work.h"
#include "hal/calibration.h"

namespace perflab::calibrate {

/// The kernels as compiled for one architecture.
struct CompiledKernels {
  std::string compiler;  ///< first line of its version
  std::string object;    ///< code object or cubin
  std::map<std::string, std::vector<KnownInstruction>, std::less<>> code;  ///< by function
  /// Why the matrix kernels are not there: the compiler's first error; empty: they are.
  std::string matrix_missing;
};

/// A row of the table and what its code is.
struct CheckedWork {
  const Work* work = nullptr;
  hal::KernelCheck check = hal::KernelCheck::not_here;
  CodeShape shape{};     ///< of those that agree
  std::string reason{};  ///< of the others
};

/// Writes the sources into the folder and compiles the kernels for an architecture ("gfx942",
/// "sm_90") with the HIP compiler or nvcc of this machine. Errors: missing_tool (none that knows
/// it, no disassembler), bad_input (the compiler refuses them), usage (the folder), interrupted.
Result<CompiledKernels> compile_kernels(const std::string& architecture,
                                        const std::filesystem::path& folder);

/// Compiles the program that runs them (programs/host.cpp), into the folder. Errors: as above.
Result<std::filesystem::path> compile_host(const std::string& architecture,
                                           const std::filesystem::path& folder);

/// Every row held against the code, in the table's order.
std::vector<CheckedWork> check_work(const CompiledKernels& kernels, hal::Platform platform);

}  // namespace perflab::calibrate
