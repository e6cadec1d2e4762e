// The commands of the program as tools of the Model Context Protocol, from CLI11's own objects
// (cli/kit/program_info.h), and the table that says which of them run or write something.
#pragma once

#include <vector>

#include "base/error.h"
#include "cli/kit/program_info.h"
#include "mcp/tool.h"

namespace perflab::cli {

/// One tool per command, in the order of the commands. Without `allow_run`, commands that run what
/// they are given or write files are withheld, and so are such options of the others. Error
/// (internal): the table does not say it of a command or an option: then nothing is offered.
Result<std::vector<mcp::Tool>> tools_of(const std::vector<CommandInfo>& commands, bool allow_run);

}  // namespace perflab::cli
