// rocprofv3 as collect/ knows it, but for one quick run: empty input, nothing shown, only the
// kernel trace, and a folder that does not stay.
#include "measure/gpu_timer.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "analyze/kernels/kernel_table.h"
#include "base/system/files.h"
#include "base/system/subprocess.h"
#include "base/text/pattern.h"
#include "base/units.h"
#include "collect/rocprofv3.h"
#include "collect/run_folder.h"
#include "collect/target_process.h"
#include "trace/read/read_trace.h"
#include "tune/evaluate/process_step.h"

namespace perflab::measure {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr milliseconds kTimerGrace{2'000};    // rocprofv3 has nothing to save of a cut run
constexpr milliseconds kTimerLinger{10'000};  // children that still write their databases
constexpr double kLongestTimerLimit = 1e9;    // seconds

/// A folder that is removed with everything in it.
class ScratchFolder {
 public:
  static Result<ScratchFolder> make(const fs::path& root) {
    std::error_code error;
    const fs::path base = root.empty() ? fs::temp_directory_path(error) : fs::absolute(root, error);
    std::string path = (base / "rocm-perf-XXXXXX").string();
    if (error || ::mkdtemp(path.data()) == nullptr)
      return fail(ErrorCode::usage,
                  fmt::format("{}: no temporary folder can be made there: {}", base.string(),
                              error ? error.message() : errno_text(errno)));
    return ScratchFolder(path);
  }
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  explicit ScratchFolder(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

/// Which kernel symbols are measured.
std::vector<bool> wanted_symbols(const trace::Trace& trace, const std::optional<Pattern>& pattern) {
  const auto& symbols = trace.kernel_symbols;
  std::vector<bool> wanted(symbols.size());
  if (pattern) {
    for (std::size_t i = 0; i < symbols.size(); ++i)
      wanted[i] = pattern->found_in(trace.strings.view(symbols[i].name)) ||
                  pattern->found_in(trace.strings.view(symbols[i].mangled_name));
    return wanted;
  }
  // The user's own kernels first, then most time; a map by name makes ties fall the same way
  // always.
  std::vector<bool> own(symbols.size());
  for (std::size_t i = 0; i < symbols.size(); ++i)
    own[i] = !analyze::is_runtime_helper(trace, symbols[i]);
  std::map<std::string_view, std::pair<bool, std::int64_t>> by_name;
  const trace::DispatchColumns& dispatches = trace.dispatches;
  for (std::size_t i = 0; i < dispatches.size(); ++i) {
    const trace::Index symbol = dispatches.kernel[i];
    auto& [is_own, time] = by_name[trace.strings.view(symbols[symbol].name)];
    is_own = is_own || own[symbol];
    time = add_saturating(time, dispatches.end[i] - dispatches.start[i]);
  }
  if (by_name.empty()) return wanted;
  const auto best =
      std::ranges::max_element(by_name, {}, [](const auto& one) { return one.second; });
  for (std::size_t i = 0; i < symbols.size(); ++i)
    wanted[i] = trace.strings.view(symbols[i].name) == best->first;
  return wanted;
}

class Timer {
 public:
  Timer(collect::Rocprofv3 tool, fs::path scratch)
      : tool_(std::move(tool)), scratch_(std::move(scratch)) {}

  Result<tune::ProfiledRun> time(const std::vector<std::string>& argv, const tune::Job& job) const {
    std::optional<Pattern> pattern;
    if (!job.objective.kernel_pattern.empty()) {
      PERFLAB_TRY(pattern, Pattern::compile(job.objective.kernel_pattern));
    }
    tune::ProfiledRun run;
    // rocprofv3's own words about a program that is not there are a Python traceback.
    if (argv.empty() || !find_program(argv.front())) {
      run.problem = fmt::format("cannot be started: {}: no such program",
                                argv.empty() ? std::string("(none)") : argv.front());
      return run;
    }
    PERFLAB_TRY(const ScratchFolder folder, ScratchFolder::make(scratch_));
    PERFLAB_TRY_VOID(collect::check_output_folder(folder.path()));
    Result<ProcessResult> process =
        run_program(collect::rocprofv3_command(tool_, folder.path(), {"--kernel-trace"}, argv),
                    options_for(job, folder.path()));
    if (!process) return std::unexpected(collect::cannot_start(process.error(), true));
    if (process->interrupted)
      return fail(ErrorCode::interrupted, fmt::format("{}: interrupted", argv.front()));
    run.wall_seconds = static_cast<double>(process->wall_time.value) / 1e9;
    run.timed_out = process->timed_out;
    if (process->timed_out) {
      run.problem = fmt::format("was stopped after {:.3g} s, the time limit",
                                job.run_limit_seconds.value_or(0));
      return run;
    }
    const std::vector<collect::DatabaseFile> databases =
        collect::find_databases(folder.path()).databases;
    if (!process->succeeded()) {
      if (databases.empty()) PERFLAB_TRY_VOID(collect::check_refusal(tool_, *process, {}));
      run.problem = failure_text(*process);
      return run;
    }
    read(databases, pattern, job, run);
    return run;
  }

 private:
  static ProcessOptions options_for(const tune::Job& job, const fs::path& folder) {
    ProcessOptions options;
    options.confinement = job.confinement;
    options.confinement.writable.push_back(folder);
    options.set_environment = job.environment;
    collect::set_rocprofv3_environment(folder, options);
    for (std::string& name : tune::device_variables_to_remove(job.environment))
      options.unset_environment.push_back(std::move(name));
    options.empty_input = true;
    options.standard_output = StreamMode::to_stderr;
    options.standard_error = StreamMode::capture;
    options.grace = kTimerGrace;
    options.linger = kTimerLinger;
    if (job.run_limit_seconds)
      options.timeout = milliseconds(std::max<std::int64_t>(
          std::llround(std::min(*job.run_limit_seconds, kLongestTimerLimit) * 1000), 1));
    return options;
  }

  /// How the target ended, and the last line that is its own.
  static std::string failure_text(const ProcessResult& process) {
    std::string_view rest = process.error.tail;
    std::string own;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = rest.substr(0, end);
      if (!collect::is_profiler_line(line)) (own += line) += '\n';
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    const std::string line = tune::telling_line(own);
    return line.empty() ? describe_end(process)
                        : fmt::format("{}: {}", describe_end(process), line);
  }

  static void read(const std::vector<collect::DatabaseFile>& databases,
                   const std::optional<Pattern>& pattern, const tune::Job& job,
                   tune::ProfiledRun& run) {
    if (databases.empty()) {
      run.problem = "ended well, but rocprofv3 left no database: no kernel was launched?";
      return;
    }
    std::vector<fs::path> files;
    for (const collect::DatabaseFile& database : databases) files.push_back(database.path);
    const Result<trace::Trace> trace = trace::read(files, {.threads = 1});
    if (!trace) {
      run.problem = trace.error().message;
      return;
    }
    const std::vector<bool> wanted = wanted_symbols(*trace, pattern);
    const trace::DispatchColumns& dispatches = trace->dispatches;
    for (std::size_t i = 0; i < dispatches.size(); ++i)
      if (wanted[dispatches.kernel[i]])
        run.samples.push_back(static_cast<double>(dispatches.end[i] - dispatches.start[i]));
    if (!run.samples.empty()) return;
    run.problem = dispatches.size() == 0
                      ? std::string("rocprofv3 recorded no dispatch of a kernel")
                      : fmt::format(
                            "rocprofv3 recorded {} dispatches, but none of a kernel that "
                            "'{}' finds",
                            dispatches.size(), job.objective.kernel_pattern);
  }

  collect::Rocprofv3 tool_;
  fs::path scratch_;
};

}  // namespace

bool rocprofv3_available() {
  return collect::rocprofv3_is_there();
}

Result<tune::GpuTimer> make_gpu_timer(fs::path scratch) {
  Result<collect::Rocprofv3> tool = collect::find_rocprofv3();
  if (!tool) {
    Error error = std::move(tool).error();
    if (error.code == ErrorCode::missing_tool)
      error.remedy = fmt::format(
          "tune for what the command prints (--metric-regex) or for its wall time (--objective "
          "wall), or get rocprofv3: {}",
          error.remedy);
    return std::unexpected(std::move(error));
  }
  return [timer = Timer(*std::move(tool), std::move(scratch))](const std::vector<std::string>& argv,
                                                               const tune::Job& job) {
    return timer.time(argv, job);
  };
}

}  // namespace perflab::measure
