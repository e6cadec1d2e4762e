// rocprofv3 on this machine: search, version, arguments, refusals.
#include "collect/rocprofv3.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>

#include "base/system/environment.h"
#include "base/system/subprocess.h"
#include "base/text/numbers.h"
#include "base/text/text.h"

namespace perflab::collect {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kVersionTimeout{20'000};
constexpr int kExitNotExecutable = 126;  // sh, env: found, but cannot be run
constexpr int kExitNotFound = 127;       // sh, env: the interpreter is not there

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(trimmed(text.substr(0, end)));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

Result<fs::path> locate() {
  if (const std::string named = environment("ROCPROFV3"); !named.empty()) {
    if (auto found = find_program(named)) return *std::move(found);
    return fail(ErrorCode::missing_tool,
                fmt::format("{}: $ROCPROFV3 names it, but it is not a program", named),
                "unset ROCPROFV3, or let it name rocprofv3; " + how_to_get_rocprofv3());
  }
  std::vector<fs::path> elsewhere;
  if (const std::string rocm = environment("ROCM_PATH"); !rocm.empty())
    elsewhere.push_back(fs::path(rocm) / "bin");
  elsewhere.emplace_back("/opt/rocm/bin");
  if (auto found = find_program("rocprofv3", elsewhere)) return *std::move(found);
  return fail(ErrorCode::missing_tool,
              "rocprofv3 is not on PATH, in $ROCM_PATH/bin or in /opt/rocm/bin",
              how_to_get_rocprofv3());
}

/// What rocprofiler-sdk says about counters (tool.cpp: construct_counter_collection_profile;
/// rocprofiler.cpp: status strings), and whether it then ends the process.
struct Complaint {
  std::string_view text;
  bool fatal;
};
constexpr std::array<Complaint, 6> kComplaints{{
    {"Unable to find all counters for agent ", false},
    {"). Unable to find counter: ", true},
    {"Could not construct profile cfg failed", true},
    {"Request exceeds the capabilities of the hardware to collect", true},
    {"Agent HW architecture is not supported, no counter metrics found", true},
    {"Required permission (CAP_PERFMON) is not set", true},
}};

/// A log line of the profiler's library (glog, abseil: level letter and date, "file.cpp:12] ").
bool is_log_line(std::string_view line) {
  constexpr std::string_view kLevels = "IWEF";
  return line.size() > 5 && kLevels.find(line[0]) != std::string_view::npos &&
         std::all_of(line.begin() + 1, line.begin() + 5,
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// The number that stands before `end`.
std::optional<int> number_before(std::string_view text, std::string_view end) {
  const auto number = take_number<int>(text);
  return text.starts_with(end) ? number : std::nullopt;
}

/// What follows `part` in the text.
std::optional<std::string_view> text_after(std::string_view text, std::string_view part) {
  const std::size_t at = text.rfind(part);
  if (at == std::string_view::npos) return std::nullopt;
  return text.substr(at + part.size());
}

/// The value of a line "   key: value" of `rocprofv3 --version`.
std::string value_of(std::string_view answer, std::string_view key) {
  for (std::string_view line : lines_of(answer)) {
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    if (line.starts_with(':')) return std::string(trimmed(line.substr(1)));
  }
  return {};
}

}  // namespace

std::string how_to_get_rocprofv3() {
  return "install ROCm 7.0 or newer with its package rocprofiler-sdk (amdrocm-profiler-base in the "
         "ROCm Core SDK), or time the program without GPU figures: --no-rocprof";
}

bool rocprofv3_is_there() {
  return locate().has_value();
}

Result<Rocprofv3> find_rocprofv3() {
  PERFLAB_TRY(fs::path path, locate());
  ProcessOptions options;
  options.empty_input = true;
  options.standard_output = StreamMode::capture;
  options.standard_error = StreamMode::capture;
  options.timeout = kVersionTimeout;
  Result<ProcessResult> asked = run_program({path.string(), "--version"}, options);
  if (!asked) {
    Error error = std::move(asked).error();
    if (error.code != ErrorCode::missing_tool) return std::unexpected(std::move(error));
    return std::unexpected(std::move(error).with_remedy(how_to_get_rocprofv3()));
  }
  if (asked->interrupted)
    return fail(ErrorCode::interrupted, fmt::format("{}: interrupted", path.string()));
  if (asked->exit_code == kExitNotExecutable || asked->exit_code == kExitNotFound)
    return fail(ErrorCode::missing_tool,
                fmt::format("{}: cannot be started: {}", path.string(), trimmed(asked->error.tail)),
                "rocprofv3 needs python3 on PATH; " + how_to_get_rocprofv3());
  Rocprofv3 tool;
  tool.path = std::move(path);
  if (asked->succeeded()) {
    tool.version = value_of(asked->output.tail, "version");
    tool.rocm_version = value_of(asked->output.tail, "rocm_version");
  }
  return tool;
}

std::vector<std::string> rocprofv3_command(const Rocprofv3& tool, const fs::path& folder,
                                           const std::vector<std::string>& options,
                                           const std::vector<std::string>& target,
                                           const std::vector<std::string>& formats) {
  std::vector<std::string> command{tool.path.string()};
  command.insert(command.end(), options.begin(), options.end());
  // -f takes several values: it must not come last before a word without a dash.
  command.emplace_back("-f");
  command.insert(command.end(), formats.begin(), formats.end());
  for (std::string word : {std::string("-d"), folder.string(), std::string("--")})
    command.push_back(std::move(word));
  command.insert(command.end(), target.begin(), target.end());
  return command;
}

void set_rocprofv3_environment(const fs::path& folder, ProcessOptions& options) {
  for (const char* leaking :
       {"ROCPROF_OUTPUT_FILE_NAME", "ROCPROF_OUTPUT_PATH", "ROCPROF_OUTPUT_FORMAT",
        "ROCPROF_MINIMUM_OUTPUT_BYTES", "ROCPROF_COUNTERS", "ROCPROF_COUNTER_GROUPS",
        "ROCPROF_COUNTER_COLLECTION", "ROCPROF_ADVANCED_THREAD_TRACE"})
    options.unset_environment.emplace_back(leaking);
  options.set_environment.emplace_back("ROCPROF_TMPDIR", folder.string());
}

std::unexpected<Error> set_by_us(std::string_view option) {
  return fail(ErrorCode::usage,
              fmt::format("{}: rocm-perf sets this option of rocprofv3 itself", option),
              "leave it out; rocm-perf profile --help says what can be recorded");
}

Result<void> check_extra_options(const std::vector<std::string>& options) {
  static constexpr std::array<std::string_view, 5> kLong{"--output-directory", "--output-file",
                                                         "--output-format", "--input", "--pid"};
  static constexpr std::array<std::string_view, 5> kShort{"-d", "-o", "-f", "-i", "-p"};
  for (const std::string& option : options) {
    const auto is_long = [&](std::string_view name) {
      return option == name || (option.starts_with(name) && option[name.size()] == '=');
    };
    // argparse also takes "-dFOLDER".
    const auto is_short = [&](std::string_view name) { return option.starts_with(name); };
    if (option == "--" || std::ranges::any_of(kLong, is_long) ||
        std::ranges::any_of(kShort, is_short))
      return set_by_us(option);
  }
  return {};
}

Result<void> check_output_folder(const fs::path& folder) {
  if (folder.string().find_first_of("%{$") == std::string::npos) return {};
  return fail(ErrorCode::usage,
              fmt::format("{}: rocprofv3 would replace parts of this path (it holds %, {{ or $)",
                          folder.string()),
              "run from another folder, or choose one with --out");
}

std::optional<std::string> refused_option(std::string_view output) {
  for (const std::string_view line : lines_of(output)) {
    const bool argparse = line.starts_with("rocprofv3") &&
                          line.find(": error: ") != std::string_view::npos;  // ROCm 6.2 and later
    const bool script = line.starts_with("Wrong option \"");                 // ROCm 6.0, 6.1
    if (argparse || script) return std::string(line);
  }
  return std::nullopt;
}

bool is_profiler_line(std::string_view line) {
  return is_log_line(line) || line.starts_with("[rocprofv3] ") ||
         line.starts_with("Fatal error: Command '");
}

std::optional<CounterRefusal> counter_refusal(std::string_view line) {
  line = trimmed(line);
  for (const Complaint& complaint : kComplaints) {
    if (line.find(complaint.text) == std::string_view::npos) continue;
    if (const std::size_t end = line.find("] "); is_log_line(line) && end != std::string_view::npos)
      line = trimmed(line.substr(end + 1));
    return CounterRefusal{.text = std::string(line), .fatal = complaint.fatal};
  }
  return std::nullopt;
}

std::optional<TargetEnd> reported_end(std::string_view output) {
  std::optional<TargetEnd> end;
  for (const std::string_view line : lines_of(output)) {
    if (!is_profiler_line(line) || line.find("Fatal error: Command '") == std::string_view::npos)
      continue;
    if (const auto code = text_after(line, "' returned non-zero exit status "))
      end = {.exit_code = number_before(*code, "."), .signal = std::nullopt};
    else if (const auto named = text_after(line, "' died with <Signals."))
      end = {.exit_code = std::nullopt,
             .signal = number_before(text_after(*named, ": ").value_or(""), ">.")};
    else if (const auto unnamed = text_after(line, "' died with unknown signal "))
      end = {.exit_code = std::nullopt, .signal = number_before(*unnamed, ".")};
  }
  if (end && !end->exit_code && !end->signal) return std::nullopt;
  return end;
}

}  // namespace perflab::collect
