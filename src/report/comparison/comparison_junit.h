// A comparison as JUnit XML, which CI systems show as tests: one per kernel and one for the total.
// Format: https://github.com/testmoapp/junitxml (what Jenkins, GitLab and GitHub actions read).
#pragma once

#include <string>
#include <string_view>

#include "compare/compare_sides.h"

namespace perflab::report {

/// The whole file. A regression is a failure; an undecided comparison is skipped, and a failure
/// with CompareOptions::fail_undecided; what cannot fail the gate is skipped.
std::string comparison_junit(const compare::ComparisonResult& result,
                             const compare::CompareOptions& options);

/// Text for XML 1.0, in attributes too: what the format forbids (control characters, bytes that are
/// no UTF-8, U+FFFE, U+FFFF) is '?'.
std::string xml_text(std::string_view text);

}  // namespace perflab::report
