// What is said about a command line that CLI11 refuses, in the style of every other error.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "base/error.h"

namespace perflab::cli {

/// The error (usage) for words that the parser of `app` refused with `refusal`: a command that does
/// not exist is named as one, anything else is said in CLI11's words.
Error wrong_command_line(const CLI::App& app, const CLI::ParseError& refusal,
                         const std::vector<std::string>& words);

}  // namespace perflab::cli
