// What a code object offers to the runtime beside its kernels: variables and functions of its
// dynamic symbol table, compared between two builds. Inside src/optimize/objects only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace perflab::optimize {

/// What the candidate's object offers otherwise than the original's, a clause each; empty: nothing.
/// Not a difference: the marker of a translation unit (unit_names.h), when it is what clang makes
/// of it, one exported byte of zero that no relocation and no code of the object leads to; and
/// symbols whose names differ in their translation unit only, when kind, size and contents are
/// the same. What stays inside of an object is the compiler's business, and so are weak functions,
/// which come and go with their calls. Error (bad_input): an object cannot be read.
Result<std::vector<std::string>> changed_exports(std::string_view original,
                                                 std::string_view candidate);

}  // namespace perflab::optimize
