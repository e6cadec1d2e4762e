// One use of a variable, part by part: which element or member is read or written, or to what it is
// handed on. For source_unwritten.cpp.
#pragma once

#include <optional>
#include <string>

#include "optimize/flow/source_access.h"
#include "optimize/flow/written_parts.h"

namespace perflab::optimize {

/// Where in a variable an expression leads.
struct UsedPlace {
  PartPath path;
  bool pointer = false;   ///< it points there, and is not the part itself
  bool in_array = false;  ///< with pointer: to an element of the array at `path`
  bool frozen = false;    ///< what stands behind it says nothing: a pointer of another type
};

struct VariableUse {
  bool read = false, written = false;
  UsedPlace place;
  std::uint32_t node = 0;         ///< the outermost expression that is the part
  std::optional<CXCursor> alias;  ///< a variable that leads to `place` from now on
  /// A function that gets the part to write, as the argument of that index.
  std::optional<CXCursor> callee;
  std::size_t argument = 0;
};

/// What happens to the expression at `node`, which leads to `start`. What is not understood is a
/// read.
VariableUse use_of(const ParsedSource& source, const SyntaxTree& tree, std::uint32_t node,
                   const UsedPlace& start);

/// "operator=" of a call, also where a template leaves open which one; empty: it is none.
std::string operator_name(const ParsedSource& source, const SyntaxTree& tree, std::uint32_t call);

}  // namespace perflab::optimize
