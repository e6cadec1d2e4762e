// Both ends are this program: the one that runs srun, and the hidden command that srun runs.
#include "cli/recordings/rank_summary_nodes.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/system/subprocess.h"
#include "cli/kit/command.h"
#include "ranks/open_ranks.h"
#include "slurm/file_tasks.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTask = "rank-summary-task";

std::vector<std::string> command_of_file(const fs::path& file,
                                         const std::vector<std::string>& options) {
  std::vector<std::string> command{own_program(), "rank-summary", file.string()};
  command.insert(command.end(), options.begin(), options.end());
  return command;
}

std::string line_of(const slurm::FileEnd& end) {
  if (end.node.empty()) return fmt::format("{}: {}", end.file, end.why_not);
  if (end.file.empty()) return fmt::format("{}: {}", end.node, end.why_not);
  return fmt::format("{} on {}: {}", end.file, end.node, end.why_not);
}

}  // namespace

Result<std::vector<fs::path>> recordings_in(const fs::path& input) {
  std::error_code error;
  if (!fs::is_directory(input, error)) return std::vector<fs::path>{input};
  return ranks::recordings_of_job(input);
}

Result<void> summarize_on_nodes(const std::vector<fs::path>& inputs, const fs::path& out,
                                const std::vector<std::string>& options) {
  slurm::FileTasks tasks{
      .task = {own_program(), kTask}, .inputs = inputs, .options = {"-o"}, .shared = out};
  tasks.options.push_back(fs::absolute(out).string());
  tasks.options.insert(tasks.options.end(), options.begin(), options.end());
  PERFLAB_TRY(const std::vector<slurm::FileEnd> ends, slurm::run_file_tasks(tasks));
  std::vector<std::string> failures;
  for (const slurm::FileEnd& end : ends)
    if (!end.why_not.empty()) failures.push_back(line_of(end));
  if (failures.empty()) return {};
  return std::unexpected(Error{
      .code = ErrorCode::bad_input,
      .message = fmt::format("{} of {} recordings have no summary", failures.size(), ends.size()),
      .notes = std::move(failures),
      .remedy = "run it again when that is mended: what was finished stays"});
}

void add_rank_summary_task(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(kTask, "")->group("");
  command->prefix_command();
  command->callback([command, &exit_code] {
    exit_code = slurm::file_task_main(command->remaining(),
                                      {.find = recordings_in, .command = command_of_file});
  });
}

}  // namespace perflab::cli
