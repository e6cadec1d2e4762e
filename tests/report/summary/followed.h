// A summary against the documents that it is made of: each figure stands where it says.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "report/kit/document.h"
#include "report/summary/summary.h"

namespace perflab::report {

/// Follows every excerpt of a summary; the number of figures that stand where they say. Others are
/// reported to GoogleTest.
std::size_t figures_followed(const std::vector<NamedDocument>& documents, const Json& summary);

/// Fails for a summary of more than 8 KB, and for text of more than 40 lines, or lines wider than
/// 80, 100 and 120 columns, that are no command.
void expect_short(const Json& summary);

/// The part of that name; null, and a failed test: there is none.
Json part_named(const Json& summary, std::string_view name);

}  // namespace perflab::report
