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
  bool host = false;                   ///< a C++ source for this machine; else HIP for the device
  std::string arch = "gfx942";         ///< HIP only
  std::filesystem::path compiler{};  ///< of the user's build command; empty: the one that is found
};

}  // namespace perflab::optimize
