// A kernel source as libclang sees it: where the kernel's definition, parameters, loops and shared
// arrays stand in the text, and what its body calls and touches. Templates, namespaces, macros,
// comments and strings are clang's business, not ours. Works on HIP sources and on host builds of
// them (a __global__ that is an annotation, or any function that is named).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "optimize/ast/parse_options.h"
#include "optimize/ast/text_range.h"
#include "optimize/model/kernel_text.h"

namespace perflab::optimize {

/// The compiler that a build command starts: its first word that is the name of a program called
/// hipcc, amdclang..., clang... or nvcc; empty: none.
std::filesystem::path compiler_of_command(std::string_view command);

/// Parses a source held in memory. `function`: also a plain function of that name counts as a
/// kernel. Errors: bad_input (it does not parse: clang's first messages are notes), missing_tool
/// (no libclang on this machine: says what to install).
Result<SourceModel> parse_source(std::string text, const ParseOptions& options,
                                 std::string_view function = {});

/// The kernel of that name (qualified, or its last part when that is unique); empty: the only one.
/// Errors (usage): none or several; those that there are are named.
Result<std::size_t> find_kernel(const SourceModel& model, std::string_view name);

/// The text with `replacement` in place of a range.
std::string replaced(std::string_view text, const TextRange& range, std::string_view replacement);

}  // namespace perflab::optimize
