// A summary that is too long, for a file or for a page, gets shorter.
#pragma once

#include <cstddef>
#include <functional>

#include "base/text/json.h"

namespace perflab::report {

/// Rows of a table that come before all warnings but one.
inline constexpr std::size_t kLeastTableRows = 3;

/// Takes out, until it fits, what is the least loss, and counts it: rows beyond the third, the last
/// of the longest part first (of parts with `details`), warnings but one, rows but one (of parts
/// without `details` at last), the last warning. What was recorded stays.
void shorten(Json& summary, const std::function<bool(const Json&)>& fits);

/// Makes summary.json of at most `most` bytes of a summary with all its texts, and says in `cut`
/// what that cost. Names are cut to kMostNameColumns and sentences to kMostSentenceColumns, around
/// a "…" in the middle, whatever their number; then rows and warnings go, then texts get shorter
/// still, then parts and next steps go, the last first. Precondition: `most` has room for a summary
/// without parts, warnings and steps, which takes less than 1 KB.
void fit_in_bytes(Json& summary, std::size_t most);

}  // namespace perflab::report
