// The source model while clang's cursors are still at hand: for the guards, which look closer at a
// candidate than the model tells.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "optimize/ast/syntax_tree.h"
#include "optimize/model/kernel_text.h"

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

/// Attributes in front of a kernel that matter for its launch.
std::vector<KernelAttribute> kernel_attributes(const ParsedSource& source, CXCursor kernel,
                                               const TextRange& header);

}  // namespace perflab::optimize
