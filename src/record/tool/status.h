// What the library says when a process cannot be recorded: a file for the command that started it,
// a line on stderr for a person.
#pragma once

#include <string>

#include "base/error.h"

namespace perflab::record {

/// <folder>/<hostname>/<pid><suffix>.
std::string file_of_process(const std::string& folder, std::string_view suffix);

/// Writes the status file and one line on stderr. Never fails: there is nobody to tell.
void say_not_recorded(const std::string& folder, const Error& why,
                      const std::string& second_client);

}  // namespace perflab::record
