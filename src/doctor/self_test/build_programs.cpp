// The programs' files, and one run of the compiler for each program.
#include "doctor/self_test/build_programs.h"

#include <fmt/format.h>

#include <chrono>

#include "base/parallel.h"
#include "base/system/files.h"
#include "base/system/subprocess.h"
#include "base/text/text.h"

namespace perflab::doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kCompileTimeout{180};

/// The first line with an error, else the first line.
std::string first_error(std::string_view messages) {
  std::size_t at = messages.find("error: ");
  if (at == std::string_view::npos) at = 0;
  const std::size_t begin =
      messages.rfind('\n', at) == std::string_view::npos ? 0 : messages.rfind('\n', at) + 1;
  return std::string(trimmed(messages.substr(begin, messages.find('\n', at) - begin)));
}

Result<ProgramBuild> build_one(const TestProgram& program, std::vector<std::string> command,
                               const fs::path& folder) {
  ProgramBuild build{.id = program.id, .file = folder / program.id, .command = {}};
  if (program.sources.size() > 1) build.file += ".so";
  command.insert(command.end(), program.arguments.begin(), program.arguments.end());
  for (const std::string& source : program.sources) command.push_back((folder / source).string());
  command.insert(command.end(), {"-o", build.file.string()});
  ProcessOptions options;
  options.working_directory = folder;
  options.empty_input = true;
  options.standard_output = options.standard_error = StreamMode::capture;
  options.timeout = kCompileTimeout;
  const auto begin = std::chrono::steady_clock::now();
  PERFLAB_TRY(const ProcessResult result, run_program(command, options));
  if (result.interrupted) return fail(ErrorCode::interrupted, "interrupted");
  build.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  build.command = std::move(command);
  if (!result.succeeded()) {
    const std::string error = first_error(result.error.tail);
    build.complaint = error.empty() ? "the compiler " + describe_end(result) : error;
  }
  return build;
}

}  // namespace

Result<std::vector<ProgramBuild>> build_programs(const std::vector<std::string>& compile,
                                                 const std::vector<TestProgram>& programs,
                                                 const fs::path& folder) {
  for (const auto& [name, text] : program_files()) {
    PERFLAB_TRY_VOID(make_directories((folder / name).parent_path()));
    PERFLAB_TRY_VOID(write_file_atomically(folder / name, text));
  }
  std::vector<ProgramBuild> builds(programs.size());
  PERFLAB_TRY_VOID(parallel_for(
      programs.size(), thread_count(0), [&](unsigned, std::size_t index) -> Result<void> {
        PERFLAB_TRY(builds[index], build_one(programs[index], compile, folder));
        return {};
      }));
  return builds;
}

}  // namespace perflab::doctor
