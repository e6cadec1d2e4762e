// What a body does with a variable: read, written, or out of sight. Every use is followed upwards
// through the expression that it stands in; what is not understood counts as written and escaped.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "optimize/ast/syntax_tree.h"

namespace perflab::optimize {

/// What a use of a variable is when nothing around it is known.
enum class UseStart : std::uint8_t {
  object,  ///< a variable whose own value matters, or an element
  pointer  ///< a pointer or array: what it points to matters
};

struct Access {
  bool read = false, written = false;
  bool escaped = false;           ///< its address or a copy of the pointer is somewhere unknown
  std::optional<CXCursor> alias;  ///< a variable that is a copy of the pointer now
  void both() { read = written = escaped = true; }
  Access& operator|=(const Access& other) {
    read |= other.read;
    written |= other.written;
    escaped |= other.escaped;
    return *this;
  }
};

/// What happens to the expression at `node`.
Access access_of(const ParsedSource& source, const SyntaxTree& tree, std::uint32_t node,
                 UseStart start);

/// Which parameter of the function that is called gets the argument at `node`: of a method that is
/// an operator, libclang counts the object as the first argument. Missing: it is that object, or no
/// argument at all.
std::optional<std::size_t> parameter_index(const ParsedSource& source, const SyntaxTree& tree,
                                           std::uint32_t node);

/// Nodes that name the variable.
std::vector<std::uint32_t> uses_of(const ParsedSource& source, const SyntaxTree& tree,
                                   CXCursor variable);

/// What happens to what a pointer points to, through it and through all its copies, which are
/// appended to `variables` (the pointer itself is its first).
Access access_through(const ParsedSource& source, const SyntaxTree& tree,
                      std::vector<CXCursor>& variables);

/// Whether the list has the cursor.
bool is_one_of(const ParsedSource& source, CXCursor cursor, const std::vector<CXCursor>& list);

}  // namespace perflab::optimize
