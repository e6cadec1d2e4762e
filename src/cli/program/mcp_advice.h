// What an agent is told to call instead of a call that failed: by the kind of the error, by the
// tool, and by what the files are that it named. Never by the text of a message.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/text/json.h"
#include "mcp/offer.h"

namespace perflab::cli {

/// Calls that do better; none where nothing is known. Looks at the beginning of files that the
/// arguments name, and into their folders. `allow_run`: tools that run something may be named.
std::vector<mcp::Advice> mcp_advice(const std::string& tool, const Json& arguments, ErrorCode kind,
                                    bool allow_run);

}  // namespace perflab::cli
