// Compiling the programs of the self test with the compiler of this machine.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "doctor/self_test/test_outcome.h"

namespace perflab::doctor {

/// Writes program_files() into the folder and compiles the programs named, several at a time. One
/// that does not compile has a complaint. Errors: usage (the folder cannot be written),
/// missing_tool (the compiler cannot be started), interrupted.
Result<std::vector<ProgramBuild>> build_programs(const std::vector<std::string>& compile,
                                                 const std::vector<TestProgram>& programs,
                                                 const std::filesystem::path& folder);

}  // namespace perflab::doctor
