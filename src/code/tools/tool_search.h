// What the searches for a compiler and for a disassembler share: candidates on this machine, a
// distribution's device libraries, asking a tool, and reading LLVM's lists of processors.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/system/subprocess.h"

namespace perflab::code::detail {

/// The first line, trimmed.
std::string_view first_line(std::string_view text);

/// Programs called NAME-<number> on PATH, newest first, then NAME itself; each once.
std::vector<std::filesystem::path> versions_on_path(std::string_view name);

/// Compilers of this machine in the order of find_compiler(), each once, $ROCM_PERF_CLANG left out.
std::vector<std::filesystem::path> compiler_candidates();

/// The folder of device libraries of a distribution, where one is: `rocm_path`/lib*/amdgcn/bitcode
/// and the like. Missing: none found.
std::optional<std::filesystem::path> stock_device_libraries(const std::filesystem::path& rocm_path);

/// gfx processors in what LLVM tools print for `-mcpu=help` and `--print-supported-cpus`.
std::vector<std::string> processors_in(std::string_view listing);

/// "gfx900, gfx906, ... (51)": a list that fits a message.
std::string abbreviated(const std::vector<std::string>& names);

/// Runs a tool that answers at once, with its output captured. Errors: those of run_program, and
/// interrupted.
Result<ProcessResult> ask(const std::vector<std::string>& command);

}  // namespace perflab::code::detail
