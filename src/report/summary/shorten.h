// A summary that is too long, for a file or for a page, gets shorter.
#pragma once

#include <functional>

#include "base/text/json.h"

namespace perflab::report {

/// Takes rows out, the last of the longest part first (of parts without `details` at last), and
/// then warnings, until it fits; what was taken out is counted. What was recorded stays.
void shorten(Json& summary, const std::function<bool(const Json&)>& fits);

}  // namespace perflab::report
