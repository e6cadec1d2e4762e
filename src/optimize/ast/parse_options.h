// How a source is read.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace perflab::optimize {

/// How the source is read; what compiles it says the same.
struct ParseOptions {
  std::filesystem::path path;          ///< the name it has: its folder resolves "..." includes
  std::vector<std::string> arguments;  ///< -D, -I, -std=..., -x; as for the compiler
  bool host = false;                   ///< a C++ source for this machine; else for the device
  std::string arch = "gfx942";       ///< HIP for AMD's GPUs, or CUDA: "sm_90"; not of host sources
  std::filesystem::path compiler{};  ///< of the user's build command; empty: the one that is found

  /// Whether it is read as CUDA for an NVIDIA GPU.
  [[nodiscard]] bool cuda() const { return !host && arch.starts_with("sm_"); }
};

}  // namespace perflab::optimize
