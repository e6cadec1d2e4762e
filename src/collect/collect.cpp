// The loop over runs, and the sentences for everything that can go wrong in one.
#include "collect/collect.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "base/interrupt.h"

namespace perflab::collect {
namespace {

namespace fs = std::filesystem;

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

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

Result<void> check_plan(const CollectPlan& plan) {
  PERFLAB_TRY_VOID(check_target(plan.target));
  if (plan.runs < 1)
    return fail(ErrorCode::usage, fmt::format("{} runs: at least one is needed", plan.runs));
  return check_extra_options(plan.extra_options);
}

/// A regular file on our standard input, so that every run can read it from the same place.
class RewindableInput {
 public:
  RewindableInput() {
    struct stat info{};
    if (::fstat(STDIN_FILENO, &info) == 0 && S_ISREG(info.st_mode))
      start_ = ::lseek(STDIN_FILENO, 0, SEEK_CUR);
  }
  void rewind() const {
    if (start_ >= 0) ::lseek(STDIN_FILENO, start_, SEEK_SET);
  }

 private:
  off_t start_ = -1;
};

/// A log line of rocprofv3's own (glog: level letter, date, time).
bool is_profiler_log(std::string_view line) {
  constexpr std::string_view kLevels = "IWEF";
  return line.size() > 5 && kLevels.find(line[0]) != std::string_view::npos &&
         std::all_of(line.begin() + 1, line.begin() + 5,
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// The last line of the target's output that says something.
std::string_view last_line(std::string_view output) {
  while (!output.empty()) {
    const std::size_t end = output.find_last_not_of(" \t\r\n");
    if (end == std::string_view::npos) return {};
    output = output.substr(0, end + 1);
    const std::size_t newline = output.rfind('\n');
    const std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
    if (!is_profiler_log(output.substr(start))) return output.substr(start);
    output = output.substr(0, start);
  }
  return {};
}

/// Runs one plan.
class Collector {
 public:
  explicit Collector(const CollectPlan& plan) : plan_(plan) {
    collection_.traced = !plan.no_rocprof;
    collection_.runs_wanted = plan.runs;
  }

  Result<Collection> run() {
    PERFLAB_TRY_VOID(check_plan(plan_));
    if (collection_.traced) PERFLAB_TRY_VOID(prepare_tracing());
    for (int number = 1; number <= plan_.runs && !collection_.problem; ++number) {
      Result<void> done = run_once(number);
      if (done) continue;
      if (collection_.runs.empty()) return std::unexpected(std::move(done).error());
      collection_.problem = done.error().code == ErrorCode::interrupted
                                ? interruption()
                                : with_salvage(std::move(done).error());
    }
    if (plan_.progress != nullptr) plan_.progress->erase();
    return std::move(collection_);
  }

 private:
  Result<void> prepare_tracing() {
    std::error_code error;
    PERFLAB_TRY_VOID(check_output_folder(fs::absolute(plan_.root, error)));
    PERFLAB_TRY(tool_, find_rocprofv3());
    collection_.rocprofv3 = tool_;
    PERFLAB_TRY(collection_.folder, make_collection_folder(plan_.root));
    return {};
  }

  Result<void> run_once(int number) {
    TargetRun run;
    run.number = number;
    if (collection_.traced) {
      PERFLAB_TRY(run.folder, make_run_folder(collection_.folder, number));
    }
    input_.rewind();
    Result<ProcessResult> process = run_program(command(run), options(number));
    if (!process) {
      take_back_folders(run);
      return std::unexpected(cannot_start(std::move(process).error()));
    }
    run.process = *std::move(process);
    if (collection_.traced) {
      FoundDatabases found = find_databases(run.folder);
      run.databases = std::move(found.databases);
      run.rejected = std::move(found.rejected);
      PERFLAB_TRY_VOID(check_refusal(run));
    }
    add_notes(run);
    collection_.runs.push_back(std::move(run));
    collection_.problem = problem_of(collection_.runs.back());
    return {};
  }

  [[nodiscard]] std::vector<std::string> command(const TargetRun& run) const {
    if (!collection_.traced) return plan_.target;
    std::vector<std::string> words = plan_.trace_options;
    words.insert(words.end(), plan_.extra_options.begin(), plan_.extra_options.end());
    return rocprofv3_command(tool_, run.folder, words, plan_.target);
  }

  [[nodiscard]] ProcessOptions options(int number) const {
    ProcessOptions options;
    options.standard_output = StreamMode::to_stderr;
    options.standard_error = StreamMode::capture;
    options.timeout = plan_.timeout;
    options.grace = plan_.grace;
    options.linger = plan_.linger;
    if (collection_.traced) options.unset_environment = rocprofv3_leaking_variables();
    if (plan_.progress == nullptr) return options;
    ProgressLine& progress = *plan_.progress;
    options.on_output = [&progress](std::string_view text) { progress.pass_through(text); };
    options.on_tick = [this, &progress, number](Nanos elapsed) {
      const std::string program = fs::path(plan_.target.front()).filename().string();
      if (interrupted())
        progress.update(fmt::format("stopping {} (Ctrl-C again: at once)", program));
      else
        progress.update(fmt::format("run {} of {}: {}", number, plan_.runs, program),
                        done_fraction(elapsed));
    };
    return options;
  }

  /// Share of all runs that is done, by the mean time of the earlier ones; unknown in the first.
  [[nodiscard]] std::optional<double> done_fraction(Nanos elapsed) const {
    const auto done = static_cast<double>(collection_.runs.size());
    if (done == 0) return std::nullopt;
    Nanos total;
    for (const TargetRun& run : collection_.runs) total += run.process.wall_time;
    const double mean = std::max(static_cast<double>(total.value) / done, 1.0);
    const double of_this = std::min(static_cast<double>(elapsed.value) / mean, 0.99);
    return (done + of_this) / static_cast<double>(plan_.runs);
  }

  [[nodiscard]] Error cannot_start(Error error) const {
    if (error.code != ErrorCode::missing_tool) return error;
    if (collection_.traced) return std::move(error).with_remedy(how_to_get_rocprofv3());
    error.code = ErrorCode::usage;  // the target itself: the command line names it
    return error;
  }

  /// Nothing was run: folders that are empty do not stay.
  void take_back_folders(const TargetRun& run) const {
    if (!collection_.traced) return;
    std::error_code ignored;
    fs::remove(run.folder, ignored);
    fs::remove(collection_.folder, ignored);
  }

  /// An option that this rocprofv3 does not know: nothing was run.
  [[nodiscard]] Result<void> check_refusal(const TargetRun& run) const {
    if (run.process.exit_code == 0 || !run.databases.empty()) return {};
    const std::optional<std::string> line = refused_option(run.process.error.tail);
    if (!line) return {};
    take_back_folders(run);
    for (const std::string& option : plan_.extra_options)
      if (line->find(option) != std::string::npos && line->find("rocpd") == std::string::npos)
        return fail(ErrorCode::usage, fmt::format("{}: rocprofv3 refuses it: {}", option, *line));
    return fail(ErrorCode::missing_tool,
                fmt::format("{} ({}) cannot do what is needed: {}", tool_.path.string(),
                            tool_.rocm_version.empty() ? "version unknown, older than ROCm 7.0"
                                                       : "of ROCm " + tool_.rocm_version,
                            *line),
                how_to_get_rocprofv3());
  }

  void add_notes(const TargetRun& run) {
    const auto note = [&](std::string text) {
      collection_.notes.push_back(fmt::format("run {}: {}", run.number, text));
    };
    if (run.process.stragglers_stopped)
      note(fmt::format("processes of the target still ran {} after its end and were stopped",
                       duration_text(plan_.linger)));
    for (const DatabaseFile& database : run.databases)
      if (database.unfinished)
        note(fmt::format("{}: its writer was ended before it was done", database.path.string()));
  }

  [[nodiscard]] std::optional<Error> problem_of(const TargetRun& run) const {
    if (run.process.interrupted) return interruption();
    if (!run.process.succeeded()) return failure_of(run);
    if (!run.complete()) return missing_output_of(run);
    return std::nullopt;
  }

  [[nodiscard]] std::string heading(const TargetRun& run) const {
    return fmt::format("{}: run {} of {}", plan_.target.front(), run.number, plan_.runs);
  }

  /// What there is in spite of the problem.
  [[nodiscard]] std::vector<std::string> salvage() const {
    const int complete = collection_.complete_runs();
    std::vector<std::string> notes;
    notes.push_back(fmt::format("{} of {} runs are complete", complete, plan_.runs));
    if (collection_.traced && !collection_.runs.empty() && !collection_.runs.back().complete()) {
      const TargetRun& run = collection_.runs.back();
      notes.push_back(run.databases.empty()
                          ? fmt::format("run {} left no database", run.number)
                          : fmt::format("run {} left {} with what was recorded until then",
                                        run.number, counted(run.databases.size(), "database")));
    }
    return notes;
  }

  /// Our own failure after runs that went well: they are not thrown away for it.
  [[nodiscard]] Error with_salvage(Error error) const {
    for (std::string& note : salvage()) error.notes.push_back(std::move(note));
    return error;
  }

  [[nodiscard]] Error interruption() const {
    Error error{.code = ErrorCode::interrupted,
                .message = fmt::format("{}: interrupted", plan_.target.front()),
                .notes = salvage(),
                .remedy = {}};
    const std::size_t left = static_cast<std::size_t>(plan_.runs) - collection_.runs.size();
    if (left > 0) error.notes.push_back(counted(left, "run") + " not started");
    return error;
  }

  [[nodiscard]] Error failure_of(const TargetRun& run) const {
    Error error{.code = ErrorCode::target_failed,
                .message = fmt::format("{} {}", heading(run), describe_end(run.process)),
                .notes = salvage(),
                .remedy = {}};
    if (run.process.timed_out) {
      error.message =
          fmt::format("{} took longer than {} and was stopped{}", heading(run),
                      duration_text(plan_.timeout.value_or(std::chrono::milliseconds(0))),
                      run.process.stuck ? ", in vain: it hangs in the kernel" : "");
      error.remedy = "give it more time with --timeout, or see why it hangs";
    }
    if (const std::string_view line = last_line(run.process.error.tail); !line.empty())
      error.notes.push_back(fmt::format("the last line of its output: {}", line));
    return error;
  }

  [[nodiscard]] Error missing_output_of(const TargetRun& run) const {
    Error error{.code = ErrorCode::bad_input,
                .message = fmt::format("{} ended well, but rocprofv3 left no database in {}",
                                       heading(run), run.folder.string()),
                .notes = run.rejected,
                .remedy =
                    "see that the program launches GPU kernels, is not statically linked or "
                    "setuid (rocprofv3 preloads a library), ends its worker processes without "
                    "killing them, and that rocprofv3 is of ROCm 7.0 or newer"};
    if (!run.rejected.empty())
      error.message = fmt::format("{} ended well, but rocprofv3 left nothing usable in {}",
                                  heading(run), run.folder.string());
    return error;
  }

  const CollectPlan& plan_;
  Collection collection_;
  Rocprofv3 tool_;  // when traced
  RewindableInput input_;
};

}  // namespace

int Collection::complete_runs() const {
  return static_cast<int>(std::ranges::count_if(runs, &TargetRun::complete));
}

bool Collection::has_databases() const {
  return std::ranges::any_of(runs, [](const TargetRun& run) { return !run.databases.empty(); });
}

Result<Collection> collect(const CollectPlan& plan) {
  return Collector(plan).run();
}

}  // namespace perflab::collect
