// The one command line, what the profiler says while it runs, and how it ended.
#include "collect/att_pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/system/files.h"
#include "base/text/text.h"
#include "collect/decoder.h"
#include "collect/log_sentences.h"
#include "collect/target_process.h"

namespace perflab::collect {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostLosses = 8;            // every shader engine says it again
constexpr std::size_t kLongestLogLine = 1 << 12;  // none of the lines looked for is longer

/// Words of the decoder and the profiler about a trace that is not whole, in lower case
/// (rocprof_trace_decoder.cpp: info strings; tool.cpp, aql_profile.cpp: the buffer).
constexpr std::array<std::string_view, 4> kLossWords{"data lost", "stitch incomplete",
                                                     "wave incomplete", "buffer full"};

/// What it says when the decoder cannot be used (rocprofv3.py, tool.cpp, att_lib_wrapper.cpp).
constexpr std::array<std::string_view, 3> kDecoderFaults{
    "rocprof-trace-decoder library path not found", "Error loading decoder",
    "Decoder library not found"};

bool tells_of_loss(std::string_view line) {
  std::string low(line.size(), ' ');
  std::ranges::transform(line, low.begin(), lower);
  return std::ranges::any_of(kLossWords, [&](std::string_view words) {
    const std::size_t at = low.find(words);
    return at == 0 || (at != std::string::npos && is_profiler_line(line));
  });
}

/// A log line without its time and place.
std::string_view said(std::string_view line) {
  const std::size_t end = line.find("] ");
  return is_profiler_line(line) && end != std::string_view::npos ? trimmed(line.substr(end + 1))
                                                                 : line;
}

/// Finds the profiler's sentences about the trace in the output as it comes.
class AttLog {
 public:
  void read(std::string_view text) {
    lines_.read(text, [this](std::string_view line) { look_at(trimmed(line)); });
  }
  void finish() {
    lines_.finish([this](std::string_view line) { look_at(trimmed(line)); });
  }

  [[nodiscard]] const std::optional<std::string>& decoder_fault() const { return decoder_fault_; }
  [[nodiscard]] std::vector<std::string> losses() const { return losses_.all(); }

 private:
  void look_at(std::string_view line) {
    if (tells_of_loss(line)) losses_.add(std::string(said(line)));
    if (decoder_fault_ || !(is_profiler_line(line) || line.starts_with("Fatal error: "))) return;
    for (const std::string_view fault : kDecoderFaults)
      if (line.find(fault) != std::string_view::npos) decoder_fault_ = std::string(said(line));
  }

  LogLines lines_{kLongestLogLine};
  Sentences losses_{kMostLosses};
  std::optional<std::string> decoder_fault_;
};

constexpr std::array<std::string_view, 4> kAttOptions{"--att", "--advanced-thread-trace",
                                                      "--kernel-", "--pmc"};

/// What the environment could set behind our back: rocprofv3 takes these where no option does.
std::vector<std::string> att_variables() {
  return {"ROCPROF_ATT_CONSECUTIVE_KERNELS",     "ROCPROF_ATT_LIBRARY_PATH",
          "ROCPROF_ATT_PARAM_BUFFER_SIZE",       "ROCPROF_ATT_PARAM_GPU_INDEX",
          "ROCPROF_ATT_PARAM_PERFCOUNTERS",      "ROCPROF_ATT_PARAM_PERFCOUNTER_CTRL",
          "ROCPROF_ATT_PARAM_SERIALIZE_ALL",     "ROCPROF_ATT_PARAM_SHADER_ENGINE_MASK",
          "ROCPROF_ATT_PARAM_SIMD_SELECT",       "ROCPROF_ATT_PARAM_TARGET_CU",
          "ROCPROF_ATT_PARAM_TARGET_ONLY",       "ROCPROF_KERNEL_FILTER_EXCLUDE_REGEX",
          "ROCPROF_KERNEL_FILTER_INCLUDE_REGEX", "ROCPROF_KERNEL_FILTER_RANGE"};
}

/// The folder of this CU's trace; a further one of the same collection gets another name.
Result<fs::path> make_att_folder(const fs::path& collection, int target_cu) {
  const fs::path att = collection / "att";
  fs::path folder = att / fmt::format("cu_{}", target_cu);
  std::error_code error;
  for (int number = 2; fs::exists(folder, error); ++number)
    folder = att / fmt::format("cu_{}_{}", target_cu, number);
  PERFLAB_TRY_VOID(make_directories(folder));
  return folder;
}

std::vector<std::string> att_command(const CollectPlan& plan, const Rocprofv3& tool,
                                     const AttRun& run) {
  const AttRequest& request = run.request;
  std::vector<std::string> words{"--att", "--att-library-path", request.decoder.string(),
                                 "--att-target-cu", std::to_string(request.target_cu)};
  const auto add = [&](const char* option, std::string value) {
    words.emplace_back(option);
    words.push_back(std::move(value));
  };
  if (request.shader_engines)
    add("--att-shader-engine-mask", fmt::format("0x{:x}", *request.shader_engines));
  if (request.buffer_bytes) add("--att-buffer-size", std::to_string(*request.buffer_bytes));
  add("--kernel-include-regex", exact_kernel_pattern(request.kernel));
  add("--kernel-iteration-range", fmt::format("[{}]", request.iteration));
  words.insert(words.end(), plan.extra_options.begin(), plan.extra_options.end());
  return rocprofv3_command(tool, run.folder, words, plan.target);
}

/// Nothing was run: no folder stays that holds nothing.
void take_back_att_folder(const AttRun& run) {
  std::error_code ignored;
  fs::remove(run.folder, ignored);
  fs::remove(run.folder.parent_path(), ignored);
}

std::optional<Error> problem_of_att(const CollectPlan& plan, const AttRun& run, const AttLog& log) {
  if (run.process.interrupted)
    return Error{.code = ErrorCode::interrupted,
                 .message = fmt::format("{}: interrupted", plan.target.front()),
                 .notes = {"the thread trace is not complete"},
                 .remedy = {}};
  if (run.process.succeeded()) return std::nullopt;
  if (!run.process.timed_out && log.decoder_fault())
    return Error{.code = ErrorCode::missing_tool,
                 .message = fmt::format("{}: rocprofv3 cannot use the decoder in {}: {}",
                                        plan.target.front(), run.request.decoder.string(),
                                        *log.decoder_fault()),
                 .notes = {},
                 .remedy = how_to_get_decoder()};
  return failure_of(run.process, fmt::format("{}: thread trace", plan.target.front()), plan.timeout,
                    {});
}

}  // namespace

std::string exact_kernel_pattern(std::string_view name) {
  constexpr std::string_view kSpecial = R"(^$\.*+?()[]{}|)";
  std::string pattern = "^";
  for (const char c : name) {
    if (kSpecial.find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern + R"(( \[clone \.kd\]|\.kd)?$)";
}

Result<AttRun> collect_thread_trace(const CollectPlan& plan, const Collection& base,
                                    const AttRequest& request) {
  PERFLAB_CHECK(base.rocprofv3.has_value());
  const Rocprofv3& tool = *base.rocprofv3;
  PERFLAB_TRY_VOID(check_own_options(plan.extra_options, kAttOptions));
  AttRun run{.request = request,
             .folder = {},
             .process = {},
             .losses = {},
             .notes = {},
             .problem = std::nullopt};
  PERFLAB_TRY(run.folder, make_att_folder(base.folder, request.target_cu));
  AttLog log;
  const auto shown = [&](Nanos) {
    return Shown{
        .text = fmt::format("thread trace on CU {}: {}", request.target_cu, program_name(plan)),
        .fraction = std::nullopt};
  };
  Result<ProcessResult> process = run_extra_pass(
      plan, tool,
      {.command = att_command(plan, tool, run),
       .options = process_options(plan, run.folder, plan.timeout, shown),
       .unset = att_variables(),
       .read = [&](std::string_view text) { log.read(text); },
       .needs = "a thread trace needs rocprofv3 of ROCm 7.0 or newer; leave out --att"});
  if (!process) {
    take_back_att_folder(run);
    return std::unexpected(std::move(process).error());
  }
  log.finish();
  run.process = *std::move(process);
  run.losses = log.losses();
  run.notes = oddities_of(run.process, {}, plan.linger);
  run.problem = problem_of_att(plan, run, log);
  return run;
}

}  // namespace perflab::collect
