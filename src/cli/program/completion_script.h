// Scripts that complete the program's command lines in a shell, generated from what CLI11 knows of
// it.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace perflab::cli {

/// Shells that there is a script for.
enum class Shell { bash, zsh, fish };

/// The script: commands, options and choices of the program, files for other values, programs and
/// files behind "--". It asks nothing of the program when it runs.
std::string completion_script(const CLI::App& app, Shell shell);

}  // namespace perflab::cli
