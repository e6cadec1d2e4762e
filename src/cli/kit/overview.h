// What `rocm-perf` alone prints: the commands, by what a person wants to do.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <memory>
#include <string>

namespace perflab::cli {

/// The formatter of the program's own help and of the overview: a line for each command in 80
/// columns.
std::shared_ptr<CLI::Formatter> overview_formatter(std::size_t width);

/// The commands with a line each as the formatter has it, 30 lines at most.
std::string overview(const CLI::App& app, const CLI::Formatter& formatter);

}  // namespace perflab::cli
