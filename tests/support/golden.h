// Golden files: texts that a reviewer reads whole, and of documents one line per field. `make
// goldens` (PERFLAB_UPDATE_GOLDENS=1) writes both anew.
#pragma once

#include <string>
#include <string_view>

#include "base/text/json.h"

namespace perflab::test {

/// One line per field of a document, and one of its whole text: "kernels[].share 2 0.5, 0.25" has
/// the path without indices, how many values there are, and the values; where they are long, their
/// hash. Below the fourth name of a path a value stands as a whole. Any change changes a line.
std::string fields_of(std::string_view document);

/// The lines of a golden file that are gone ("- ") and the new ones ("+ "), the first ten of each.
std::string changed_lines(const std::string& golden, const std::string& now);

/// Compares with the file tests/NAME, byte by byte. A text that differs stays in
/// test-results/golden of the build, whole.
void expect_golden(const std::string& name, const std::string& text);

/// The same with fields_of() the document and the file tests/NAME.fields: for documents that nobody
/// reads whole.
void expect_fields(const std::string& name, const std::string& document);

}  // namespace perflab::test
