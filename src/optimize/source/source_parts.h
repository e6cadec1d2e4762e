// The source model while clang's cursors are still at hand: for the guards, which look closer at a
// candidate than the model tells.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "optimize/source/source_facts.h"
#include "optimize/source/syntax_tree.h"

namespace perflab::optimize {

struct ModelledSource {
  std::unique_ptr<ParsedSource> source;
  SourceModel model;
  std::vector<CXCursor> kernels;  ///< by index of model.kernels
};
/// What parse_source() does. `tolerant`: a source with errors is modelled as far as clang
/// understood it; source->errors() has them.
Result<ModelledSource> model_source(std::string text, const ParseOptions& options,
                                    std::string_view function, bool tolerant = false);

/// A token whose lines are joined: a backslash at the end of a line does not count.
std::string without_splices(std::string_view token);

/// Lines that begin a preprocessor directive, '#' to the last character of the logical line.
std::vector<TextRange> directives_of(const ParsedSource& source);

/// Tokens of a range without comments, as written, one blank between them.
std::string token_text(const ParsedSource& source, const TextRange& range);

/// Index of the directive around a byte.
std::optional<std::size_t> directive_at(const std::vector<TextRange>& directives,
                                        std::uint32_t offset);

/// Attributes in front of a kernel that matter for its launch.
std::vector<KernelAttribute> kernel_attributes(const ParsedSource& source, CXCursor kernel,
                                               const TextRange& header);

}  // namespace perflab::optimize
