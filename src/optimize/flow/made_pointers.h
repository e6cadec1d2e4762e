// Pointers that a body makes out of something else than pointers that it was given: out of numbers,
// of bytes, of a null pointer, of the distance between two objects. For the guards.
#pragma once

#include <string>
#include <vector>

#include "optimize/ast/syntax_tree.h"

namespace perflab::optimize {

/// Texts of the expressions and declarations that do so, sorted, once each. How far a pointer is
/// moved by numbers within or beyond its object is not looked at.
std::vector<std::string> made_pointers(const ParsedSource& source, const SyntaxTree& tree);

}  // namespace perflab::optimize
