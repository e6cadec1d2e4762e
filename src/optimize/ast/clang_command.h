// The command line that a source is read with, and the libclang that reads it. What is parsed is
// what is compiled: for AMD's GPUs the options are those of code::compile(), for NVIDIA's clang
// reads CUDA.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "optimize/ast/clang_library.h"
#include "optimize/ast/parse_options.h"

namespace perflab::optimize {

/// A file that clang is given under a path where there is none.
struct VirtualFile {
  std::string path;
  std::string_view text;  ///< static
};

struct ClangCommand {
  std::vector<std::string> words;
  std::vector<VirtualFile> files;
};

/// The libclang of the compiler that builds, as far as one of them is known. Errors: missing_tool,
/// interrupted.
Result<const ClangApi*> clang_for(const ParseOptions& options);

/// Errors: interrupted; missing_tool: a source for an NVIDIA GPU, and no CUDA toolkit whose headers
/// it includes.
Result<ClangCommand> clang_command(const ParseOptions& options, const ClangApi& api);

/// The compiler that builds for an AMD GPU and its version, in words, when this libclang is not its
/// own; empty: it is, or none is known. Error: interrupted.
Result<std::string> other_compiler(const ParseOptions& options, const ClangApi& api);

}  // namespace perflab::optimize
