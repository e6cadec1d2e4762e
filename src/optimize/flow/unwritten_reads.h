// Memory that a body may find as an earlier launch left it: shared and local variables that are
// read before anything was written to them. For the guards.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "optimize/ast/syntax_tree.h"

namespace perflab::optimize {

using WaitsForLanes = std::function<bool(const SyntaxTree& tree, std::uint32_t call)>;

/// Names of such variables with their elements' types, sorted, once each. Local variables have to
/// be written on every way to a read (conditions of the same text are one; an element at any index
/// counts for all; a loop that writes elements counts as run). Of shared variables a write has to
/// come before in the text, under whatever condition, and a barrier between them unless the very
/// same element is read. `waits`: whether a node that is a call waits for other lanes; its tree is
/// the body's, or that of a function that such a variable is handed to.
std::vector<std::string> unwritten_reads(const ParsedSource& source, const SyntaxTree& tree,
                                         const WaitsForLanes& waits);

}  // namespace perflab::optimize
