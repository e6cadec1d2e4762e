// Which parts of a variable were written: elements of arrays, members of records. For
// source_unwritten.cpp.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "optimize/ast/syntax_tree.h"

namespace perflab::optimize {

/// From a variable to a part of it: "[3]", ".x"; "[*]" is an element whose index is not constant.
/// Empty: all of the variable.
using PartPath = std::vector<std::string>;
using WrittenParts = std::set<PartPath>;

inline constexpr std::string_view kAnyElement = "[*]";

/// Whether what was written makes up the part at `path` of a variable of the type. An element at
/// any index stands for all of them: where loops begin and end is not followed. A read at any index
/// is content with one that was written when the elements are arrays, or with `any_tile`.
bool is_written(const ParsedSource& source, const WrittenParts& written, const PartPath& path,
                CXType type, bool any_tile);

/// What is written whichever of two ways was taken.
WrittenParts written_in_both(const WrittenParts& a, const WrittenParts& b);

bool has_any_element(const PartPath& path);

/// The path up to its first element, whatever its index: where pointers into arrays lead.
PartPath up_to_any_element(PartPath path);

/// Whether a variable of the type holds nothing unless its members say what: for those that are
/// declared without an initialiser.
bool begins_unwritten(const ParsedSource& source, CXType type);

/// Whether a constructor that somebody wrote gives every member a value, in its list or its body;
/// one whose body is not in sight is taken to.
bool constructor_writes_all(const ParsedSource& source, CXCursor constructor);

}  // namespace perflab::optimize
