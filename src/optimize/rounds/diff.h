// A unified diff of two texts, by lines (Myers 1986, "An O(ND) Difference Algorithm").
#pragma once

#include <string>
#include <string_view>

namespace perflab::optimize {

/// `diff -u` with three lines of context; empty for equal texts. Texts that differ in more than
/// 4000 lines are shown as one block that is replaced.
std::string unified_diff(std::string_view before, std::string_view after,
                         std::string_view name_before, std::string_view name_after);

}  // namespace perflab::optimize
