// What clang needs to read CUDA sources: the toolkit's headers, and what they lack for it. Facts:
// docs/facts/cuda_code.md "What clang reads".
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace perflab::optimize {

/// The folder of a CUDA toolkit (with include/cuda_runtime.h): of the compiler when it is one of
/// its programs, $CUDA_PATH, $CUDA_HOME, of nvcc on PATH, /usr/local/cuda. Missing: there is none.
std::optional<std::filesystem::path> find_cuda_toolkit(const std::filesystem::path& compiler);

/// The architecture that this clang is told for a GPU's: the newest that it knows when the GPU is
/// newer ("sm_120" is "sm_90" for clang 19).
std::string architecture_for_clang(const std::string& architecture, int clang_major);

/// A header that clang's CUDA wrapper includes and that CUDA 13 has not got any more: with what the
/// wrapper's launches need.
extern const std::string_view kTextureFetchHeader;

}  // namespace perflab::optimize
