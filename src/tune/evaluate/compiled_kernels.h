// What the compiler gave a configuration: kernels of the code object that its build made, and
// whether the device can launch them at all.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "tune/evaluate/job.h"
#include "tune/values/outcome.h"

namespace perflab::tune {

struct BuiltKernels {
  std::vector<CompiledKernel> kernels;  ///< in the file's order
  std::string not_launchable;           ///< a sentence; empty: every kernel can be launched
};

/// Reads job.code_object: the kernels that its pattern finds (mangled or demangled name), of
/// job.architecture where that is known. Errors: bad_input (no such file, no device code in it),
/// usage (the pattern).
Result<BuiltKernels> read_compiled_kernels(const Job& job);

}  // namespace perflab::tune
