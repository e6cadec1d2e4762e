// The command's side: environment, the run, and the verdict over both.
#include "isolate/launch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/system/environment.h"
#include "base/system/files.h"
#include "base/text/pattern.h"
#include "isolate/protocol/settings.h"

namespace perflab::isolate {
namespace {

constexpr const char* kLibraryVariable = "PERFLAB_ISOLATE_LIBRARY";
constexpr const char* kToolsVariable = "HSA_TOOLS_LIB";
constexpr const char* kInjectionVariable = "CUDA_INJECTION64_PATH";
constexpr const char* kLibraryPlace = "../lib/rocm-perf-lab/librocm_perf_isolate.so";
// Kernels that a sentence lists.
constexpr std::size_t kMostListed = 12;

// The folder in which the library says how it goes; gone with its object.
class StatusFolder {
 public:
  static Result<StatusFolder> make() {
    std::error_code error;
    const std::filesystem::path where = std::filesystem::temp_directory_path(error);
    std::string name = (where / "rocm-perf-isolate-XXXXXX").string();
    if (error || ::mkdtemp(name.data()) == nullptr)
      return fail(ErrorCode::usage, "no temporary folder can be made: " +
                                        (error ? error.message() : errno_text(errno)));
    return StatusFolder(std::move(name));
  }
  StatusFolder(StatusFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  StatusFolder(const StatusFolder&) = delete;
  StatusFolder& operator=(const StatusFolder&) = delete;
  StatusFolder& operator=(StatusFolder&&) = delete;
  ~StatusFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit StatusFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

// A sentence of ours, in the words of the program's platform: CUDA's programs launch into streams.
class Words {
 public:
  explicit Words(std::optional<capture::Platform> platform)
      : is_cuda_(platform == capture::Platform::cuda) {}
  std::string operator()(std::string text) const {
    if (!is_cuda_) return text;
    for (const auto& [from, to] : {std::pair("dispatch", "launch"), std::pair("queue", "stream")})
      for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at))
        text.replace(at, std::string_view(from).size(), to);
    return text;
  }

 private:
  bool is_cuda_;
};

std::string with_our_library(const std::filesystem::path& library) {
  const std::string there = environment(kToolsVariable);
  return there.empty() ? library.string() : there + " " + library.string();
}

ProcessOptions options_of(const LaunchPlan& plan, const std::filesystem::path& folder,
                          const std::filesystem::path& library,
                          const std::filesystem::path& status) {
  ProcessOptions options;
  options.standard_output = StreamMode::to_stderr;
  options.set_environment = {{kKernelVariable, plan.kernel},
                             {kDispatchVariable, std::to_string(plan.dispatch)},
                             {kFolderVariable, folder.string()},
                             {kStatusVariable, status.string()}};
  if (plan.platform != capture::Platform::cuda)
    options.set_environment.emplace_back(kToolsVariable, with_our_library(library));
  if (plan.platform != capture::Platform::hip)
    options.set_environment.emplace_back(kInjectionVariable, library.string());
  if (!plan.stop) return options;
  options.tick = std::chrono::milliseconds(50);
  options.grace = std::chrono::milliseconds(2'000);
  options.give_up = [status] {
    const auto events = read_events(status);
    return events && events->captured;
  };
  return options;
}

// What the library could not count, at the end of a sentence.
std::string noted(const Events& events) {
  std::string text;
  for (const std::string& note : events.notes) text += "; " + note;
  return text;
}

std::string listed(const std::vector<SeenKernel>& kernels, const Words& words) {
  if (kernels.empty()) return words("it launched no kernel through a queue that could be watched");
  std::vector<SeenKernel> most = kernels;
  std::ranges::stable_sort(most, std::ranges::greater{}, &SeenKernel::dispatches);
  std::string text = "it launched ";
  for (std::size_t i = 0; i < std::min(most.size(), kMostListed); ++i)
    text += fmt::format("{}{} ({} {})", i == 0 ? "" : ", ", most[i].demangled, most[i].dispatches,
                        most[i].dispatches == 1 ? "time" : "times");
  if (most.size() > kMostListed)
    text += fmt::format(" and {} other kernels", most.size() - kMostListed);
  return text;
}

std::unexpected<Error> never_loaded(std::optional<capture::Platform> platform) {
  if (platform == capture::Platform::cuda)
    return fail(ErrorCode::missing_tool,
                "the program ended without loading the capture library: it does not use the CUDA "
                "driver, or the driver could not load it",
                "see whether CUDA_INJECTION64_PATH reaches the program, and whether ldd finds all "
                "libraries of the capture library");
  return fail(ErrorCode::missing_tool,
              "the program ended without loading the capture library: it uses neither the HSA "
              "runtime nor the CUDA driver, or they passed the library over",
              "run it without a profiler (rocprofiler-register makes the runtime ignore "
              "HSA_TOOLS_LIB), or set HSA_TOOLS_DISABLE_REGISTER=1");
}

}  // namespace

Result<std::filesystem::path> find_library() {
  std::filesystem::path path = environment(kLibraryVariable);
  std::error_code error;
  if (path.empty()) {
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
    path = self.parent_path() / kLibraryPlace;
  }
  const std::filesystem::path whole = std::filesystem::canonical(path, error);
  if (error || !std::filesystem::is_regular_file(whole, error))
    return fail(ErrorCode::missing_tool, "the capture library is not at " + path.string(),
                std::string("install it, or name it in ") + kLibraryVariable);
  if (whole.string().find(' ') != std::string::npos)
    return fail(ErrorCode::usage,
                "the path of the capture library has a space, at which the runtime splits it: " +
                    whole.string(),
                std::string("put a copy elsewhere and name it in ") + kLibraryVariable);
  return whole;
}

Result<LaunchOutcome> launch(const LaunchPlan& plan) {
  PERFLAB_TRY(const Pattern pattern, Pattern::compile(plan.kernel));
  std::filesystem::path library;
  if (plan.library) {
    library = *plan.library;
  } else {
    PERFLAB_TRY(library, find_library());
  }
  LaunchOutcome outcome;
  std::error_code error;
  outcome.folder = std::filesystem::absolute(plan.folder, error).lexically_normal();
  if (!outcome.folder.has_filename()) outcome.folder = outcome.folder.parent_path();
  if (std::filesystem::exists(std::filesystem::symlink_status(outcome.folder, error)))
    return fail(ErrorCode::usage, outcome.folder.string() + ": exists already",
                "name another folder with --out, or remove it");
  PERFLAB_TRY_VOID(make_directories(outcome.folder.parent_path()));
  PERFLAB_TRY(const StatusFolder status, StatusFolder::make());
  PERFLAB_TRY(outcome.process,
              run_program(plan.command, options_of(plan, outcome.folder, library, status.path())));
  PERFLAB_TRY(outcome.events, read_events(status.path()));
  return outcome;
}

Result<void> judge(const LaunchOutcome& outcome, const LaunchPlan& plan) {
  const Events& events = outcome.events;
  const Words words(events.platform ? events.platform : plan.platform);
  if (events.captured) return {};
  if (outcome.process.interrupted)
    return fail(ErrorCode::interrupted, words("interrupted before the dispatch was captured"));
  if (!outcome.process.succeeded()) {
    std::string message = "the program " + describe_end(outcome.process);
    if (events.refused)
      message += words("; before, the dispatch was not captured: ") + *events.refused;
    return fail(ErrorCode::target_failed, std::move(message),
                "run the program without rocm-perf, and see whether it ends well");
  }
  if (events.refused)
    return fail(
        ErrorCode::refused, words("the dispatch was not captured: ") + *events.refused,
        words("run it again; when it repeats, take another dispatch") + " with --dispatch N");
  if (events.loaded == 0) return never_loaded(plan.platform);
  if (events.hooked == 0) {
    std::string reasons;
    for (const std::string& reason : events.unusable) reasons += "; " + reason;
    return fail(
        ErrorCode::missing_tool, "the capture library could not work" + reasons,
        "rocm-perf doctor isolate says what is missing; ROCm 6.0 or later is needed, or CUDA "
        "12.8 or later with CUPTI");
  }
  return fail(ErrorCode::refused,
              words("no dispatch number ") +
                  fmt::format("{} of a kernel that matches \"{}\": {}{}", plan.dispatch,
                              plan.kernel, listed(events.kernels, words), noted(events)),
              "give --kernel a pattern of one of these names, and --dispatch a number it reaches");
}

}  // namespace perflab::isolate
