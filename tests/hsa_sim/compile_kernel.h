// What sim_hipcc and sim_nvcc share: one kernel of a source as a library of this machine, for the
// stand-ins that run it (host_kernel.h).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "support/code_writer.h"

namespace perflab::test {

struct KernelCompilation {
  std::filesystem::path source;
  std::string kernel;                          ///< its name in the source
  std::vector<std::string> flags;              ///< of g++
  std::vector<std::string> include_folders{};  ///< besides examples/host
};

struct CompiledKernel {
  std::string library;                     ///< the file's bytes
  std::vector<WrittenArgument> arguments;  ///< as the kernel really takes them
};

/// Missing: the source does not compile; g++ has said why.
Result<std::optional<CompiledKernel>> compile_kernel(const KernelCompilation& what);

}  // namespace perflab::test
