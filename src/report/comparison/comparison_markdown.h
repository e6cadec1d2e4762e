// A comparison as a Markdown table, for the comment on a pull request.
#pragma once

#include <string>

#include "compare/compare_sides.h"

namespace perflab::report {

/// Title, table, what only one side has, notes and warnings, in GitHub's dialect
/// (https://github.github.com/gfm). Names stand as code: nothing in them is markup or mentions
/// anyone.
std::string comparison_markdown(const compare::ComparisonResult& result,
                                const compare::CompareOptions& options);

/// A name as code within a table: pipes escaped, delimited by more backticks than it holds.
std::string markdown_code(const std::string& name);

}  // namespace perflab::report
