// Checks, options and sentences of one start of the target.
#include "collect/target_process.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/system/interrupt.h"

namespace perflab::collect {
namespace {

namespace fs = std::filesystem;

/// The program exists, is a file and may be executed; otherwise the command line is wrong (usage).
Result<void> check_target(const std::vector<std::string>& target) {
  const auto wrong = [&](std::string_view why, std::string remedy = {}) {
    return fail(ErrorCode::usage, fmt::format("{}: {}", target.front(), why), std::move(remedy));
  };
  if (target.empty() || target.front().empty())
    return fail(ErrorCode::usage, "no program to profile is named", "add: -- ./app args");
  if (find_program(target.front())) return {};
  if (target.front().find('/') == std::string::npos) {
    std::error_code error;
    const bool is_here = fs::is_regular_file(target.front(), error);
    return wrong("there is no such program on PATH",
                 is_here ? fmt::format("name the one in this folder: ./{}", target.front()) : "");
  }
  std::error_code error;
  const fs::file_status status = fs::status(target.front(), error);
  if (status.type() == fs::file_type::not_found) return wrong("there is no such program");
  if (error) return wrong(error.message());
  if (fs::is_directory(status)) return wrong("is a folder, not a program");
  return wrong("is not executable", fmt::format("chmod +x {}", target.front()));
}

/// The last line of the target's output that says something.
std::string_view last_line(std::string_view output) {
  while (!output.empty()) {
    const std::size_t end = output.find_last_not_of(" \t\r\n");
    if (end == std::string_view::npos) return {};
    output = output.substr(0, end + 1);
    const std::size_t newline = output.rfind('\n');
    const std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
    if (!is_profiler_line(output.substr(start))) return output.substr(start);
    output = output.substr(0, start);
  }
  return {};
}

}  // namespace

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : noun.ends_with("ss") ? "es" : "s");
}

std::string program_name(const CollectPlan& plan) {
  return fs::path(plan.target.front()).filename().string();
}

Result<void> check_plan(const CollectPlan& plan) {
  PERFLAB_TRY_VOID(check_target(plan.target));
  if (plan.runs < 1)
    return fail(ErrorCode::usage, fmt::format("{} runs: at least one is needed", plan.runs));
  return check_extra_options(plan.extra_options);
}

RewindableInput::RewindableInput() {
  struct stat info{};
  if (::fstat(STDIN_FILENO, &info) == 0 && S_ISREG(info.st_mode))
    start_ = ::lseek(STDIN_FILENO, 0, SEEK_CUR);
}

void RewindableInput::rewind() const {
  if (start_ >= 0) ::lseek(STDIN_FILENO, start_, SEEK_SET);
}

ProcessOptions process_options(const CollectPlan& plan, const std::filesystem::path& traced,
                               std::optional<std::chrono::milliseconds> timeout,
                               std::function<Shown(Nanos elapsed)> shown) {
  ProcessOptions options;
  options.standard_output = StreamMode::to_stderr;
  options.standard_error = StreamMode::capture;
  options.set_environment = plan.environment;
  options.timeout = timeout;
  options.grace = plan.grace;
  options.linger = plan.linger;
  if (!traced.empty()) set_rocprofv3_environment(traced, options);
  if (plan.progress == nullptr) return options;
  ProgressLine& progress = *plan.progress;
  options.on_output = [&progress](std::string_view text) { progress.pass_through(text); };
  options.on_tick = [&plan, &progress, shown = std::move(shown)](Nanos elapsed) {
    if (interrupted()) {
      progress.update(fmt::format("stopping {} (Ctrl-C again: at once)", program_name(plan)));
      return;
    }
    const Shown now = shown(elapsed);
    progress.update(now.text, now.fraction);
  };
  return options;
}

Error cannot_start(Error error, bool traced) {
  if (error.code != ErrorCode::missing_tool) return error;
  if (traced) return std::move(error).with_remedy(how_to_get_rocprofv3());
  error.code = ErrorCode::usage;  // the target itself: the command line names it
  return error;
}

Result<void> check_refusal(const Rocprofv3& tool, const ProcessResult& process,
                           const std::vector<std::string>& extra_options) {
  const std::optional<std::string> line = refused_option(process.error.tail);
  if (!line) return {};
  for (const std::string& option : extra_options)
    if (line->find(option) != std::string::npos && line->find("rocpd") == std::string::npos)
      return fail(ErrorCode::usage, fmt::format("{}: rocprofv3 refuses it: {}", option, *line),
                  "rocprofv3 --help lists the options of this version");
  return fail(ErrorCode::missing_tool,
              fmt::format("{} ({}) cannot do what is needed: {}", tool.path.string(),
                          tool.rocm_version.empty() ? "version unknown, older than ROCm 7.0"
                                                    : "of ROCm " + tool.rocm_version,
                          *line),
              how_to_get_rocprofv3());
}

Result<void> check_own_options(const std::vector<std::string>& options,
                               std::span<const std::string_view> ours) {
  for (const std::string& option : options)
    if (std::ranges::any_of(ours, [&](std::string_view one) { return option.starts_with(one); }))
      return set_by_us(option);
  return {};
}

Result<ProcessResult> run_extra_pass(const CollectPlan& plan, const Rocprofv3& tool,
                                     ExtraPass pass) {
  std::ranges::move(pass.unset, std::back_inserter(pass.options.unset_environment));
  pass.options.on_output = [&pass, show = pass.options.on_output](std::string_view text) {
    pass.read(text);
    if (show) show(text);
  };
  const RewindableInput input;  // put back for the next start
  Result<ProcessResult> process = run_program(pass.command, pass.options);
  if (plan.progress != nullptr) plan.progress->erase();
  if (!process) return std::unexpected(cannot_start(std::move(process).error(), true));
  if (process->succeeded()) return process;
  if (Result<void> accepted = check_refusal(tool, *process, plan.extra_options); !accepted) {
    if (accepted.error().code == ErrorCode::missing_tool) accepted.error().remedy = pass.needs;
    return std::unexpected(std::move(accepted).error());
  }
  return process;
}

Error failure_of(const ProcessResult& process, std::string_view heading,
                 std::optional<std::chrono::milliseconds> timeout, std::vector<std::string> notes) {
  Error error = process.timed_out
                    ? Error{.code = ErrorCode::target_failed,
                            .message = fmt::format(
                                "{} took longer than {} and was stopped{}", heading,
                                duration_text(timeout.value_or(std::chrono::milliseconds(0))),
                                process.stuck ? ", in vain: it hangs in the kernel" : ""),
                            .notes = std::move(notes),
                            .remedy = "give it more time with --timeout, or see why it hangs"}
                    : Error{.code = ErrorCode::target_failed,
                            .message = fmt::format("{} {}", heading, describe_end(process)),
                            .notes = std::move(notes),
                            .remedy = {}};
  if (const std::string_view line = last_line(process.error.tail); !line.empty())
    error.notes.push_back(fmt::format("the last line of its output: {}", line));
  return error;
}

std::vector<std::string> oddities_of(const ProcessResult& process,
                                     const std::vector<DatabaseFile>& databases,
                                     std::chrono::milliseconds linger) {
  std::vector<std::string> notes;
  if (process.stragglers_stopped)
    notes.push_back(
        fmt::format("processes of the target still ran {} after its end and were stopped",
                    duration_text(linger)));
  for (const DatabaseFile& database : databases)
    if (database.unfinished)
      notes.push_back(
          fmt::format("{}: its writer was ended before it was done", database.path.string()));
  return notes;
}

}  // namespace perflab::collect
