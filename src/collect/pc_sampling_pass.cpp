// The one start on each platform, what the profiler says while it runs, and how it ended.
#include "collect/pc_sampling_pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <utility>

#include "base/system/files.h"
#include "base/text/text.h"
#include "collect/log_sentences.h"
#include "collect/recorder.h"
#include "collect/target_process.h"
#include "pc_sampling/read_pc_samples.h"

namespace perflab::collect {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr std::size_t kLongestPcLine = 1 << 12;
constexpr milliseconds kLeastLimit{60'000};  // to start, and to write millions of samples
constexpr int kSlowdown = 5;  // a sampled run of more than twice the plain time is refused anyway

/// What rocprofv3 or its library says when it does not sample (rocprofv3.py, tool.cpp; status codes
/// of rocprofiler-sdk), and what a person can do.
struct PcRefusal {
  std::string_view text;
  std::string_view means, remedy;
};
constexpr std::array kPcRefusals = {
    PcRefusal{"PC sampling unavailable", "this rocprofv3 did not take its beta option",
              "update ROCm: rocprofv3 has PC sampling from 6.4 on"},
    PcRefusal{"All three PC sampling configurations need to be set",
              "this rocprofv3 did not take method, unit and interval",
              "leave out --pc-sampling-interval"},
    PcRefusal{"PC sampling configuration is not supported on any of the agents",
              "no GPU of this machine takes that method, unit and interval",
              "rocprofv3 -L lists what it takes; leave out --pc-sampling-method and "
              "--pc-sampling-interval"},
    PcRefusal{"ROCPROFILER_STATUS_ERROR_INCOMPATIBLE_KERNEL",
              "the kernel driver is too old for PC sampling",
              "install AMD's own driver (amdgpu-dkms) of this ROCm: Linux's has no PC sampling"},
    PcRefusal{"ROCPROFILER_STATUS_ERROR_NOT_AVAILABLE", "the driver or the GPU has no PC sampling",
              "install AMD's own driver (amdgpu-dkms) of this ROCm, and recent firmware"},
    PcRefusal{"ROCPROFILER_STATUS_ERROR_CONTEXT_CONFLICT",
              "counters or another profiler use the GPU", "stop it, then take the samples again"},
    PcRefusal{"ROCPROFILER_STATUS_ERROR_SERVICE_ALREADY_CONFIGURED",
              "another tool samples this GPU already", "stop it, then take the samples again"}};

/// Finds the profiler's refusal in the output as it comes.
class PcLog {
 public:
  void read(std::string_view text) {
    lines_.read(text, [this](std::string_view line) { look_at(trimmed(line)); });
  }
  void finish() {
    lines_.finish([this](std::string_view line) { look_at(trimmed(line)); });
  }
  [[nodiscard]] const PcRefusal* refusal() const { return refusal_; }

 private:
  void look_at(std::string_view line) {
    if (refusal_ != nullptr) return;
    for (const PcRefusal& refusal : kPcRefusals)
      if (line.find(refusal.text) != std::string_view::npos) refusal_ = &refusal;
  }

  LogLines lines_{kLongestPcLine};
  const PcRefusal* refusal_ = nullptr;
};

/// What the environment could set behind our back.
std::vector<std::string> pc_sampling_variables() {
  return {"HSA_DISABLE_PC_SAMPLING", "ROCPROF_PC_SAMPLING_INTERVAL", "ROCPROF_PC_SAMPLING_METHOD",
          "ROCPROF_PC_SAMPLING_UNIT"};
}

constexpr std::array<std::string_view, 3> kPcOptions{"--pc-sampling", "--pmc", "--att"};

Result<fs::path> make_pc_folder(const fs::path& collection) {
  fs::path folder = collection / "pc_sampling";
  std::error_code error;
  for (int number = 2; fs::exists(folder, error); ++number)
    folder = collection / fmt::format("pc_sampling_{}", number);
  PERFLAB_TRY_VOID(make_directories(folder));
  return folder;
}

std::vector<std::string> pc_command(const CollectPlan& plan, const Rocprofv3& tool,
                                    const PcSamplingRun& run) {
  const PcSamplingChoice& choice = run.request.choice;
  const bool stochastic = choice.method == pc_sampling::Method::stochastic;
  std::vector<std::string> words{"--pc-sampling-beta-enabled",
                                 "--pc-sampling-method",
                                 std::string(pc_sampling::to_string(choice.method)),
                                 "--pc-sampling-unit",
                                 stochastic ? "cycles" : "time",
                                 "--pc-sampling-interval",
                                 std::to_string(choice.interval),
                                 "--kernel-trace"};
  words.insert(words.end(), plan.extra_options.begin(), plan.extra_options.end());
  return rocprofv3_command(tool, run.folder, words, plan.target, {"csv", "json"});
}

Error with_faults(Error error, PcSamplingSymptom symptom, const PcSamplingRun& run,
                  const Rocprofv3& tool) {
  for (std::string& fault : known_pc_sampling_faults(symptom, run.request.architecture,
                                                     run.request.choice.method, tool.version))
    error.notes.push_back("known: " + std::move(fault));
  return error;
}

Error sampling_interrupted(const CollectPlan& plan) {
  return {.code = ErrorCode::interrupted,
          .message = fmt::format("{}: interrupted", plan.target.front()),
          .notes = {"the PC samples are not complete"},
          .remedy = {}};
}

std::optional<Error> problem_of_pc(const CollectPlan& plan, const Rocprofv3& tool,
                                   const PcSamplingRun& run, const PcLog& log) {
  const std::string heading = fmt::format("{}: PC sampling", plan.target.front());
  if (run.process.interrupted) return sampling_interrupted(plan);
  if (run.process.timed_out)
    return with_faults(failure_of(run.process, heading, run.request.limit, {}),
                       PcSamplingSymptom::hang, run, tool);
  if (log.refusal() != nullptr && run.files.empty())
    return Error{.code = ErrorCode::missing_tool,
                 .message = fmt::format("{}: {}", heading, log.refusal()->means),
                 .notes = {fmt::format("rocprofv3 said: {}", log.refusal()->text)},
                 .remedy = std::string(log.refusal()->remedy)};
  if (!run.process.succeeded()) return failure_of(run.process, heading, run.request.limit, {});
  if (!run.files.empty()) return std::nullopt;
  return with_faults(
      Error{.code = ErrorCode::missing_tool,
            .message = fmt::format("{}: it ended well and left no sample", heading),
            .notes = {},
            .remedy = "let the kernel run longer, or sample more often: --pc-sampling-interval"},
      PcSamplingSymptom::no_samples, run, tool);
}

/// Files that hold samples. Without any sample rocprofv3 writes no CSV of them, whatever its JSON
/// is.
std::vector<fs::path> files_of(const fs::path& folder) {
  Result<std::vector<fs::path>> found = pc_sampling::find(folder);
  return found ? *std::move(found) : std::vector<fs::path>();
}

bool has_samples(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error))
    if (entry.path().filename().string().find("_pc_sampling_") != std::string::npos) return true;
  return false;
}

ProcessOptions sampling_options(const CollectPlan& plan, const fs::path& traced,
                                milliseconds limit) {
  return process_options(plan, traced, limit, [&plan](Nanos) {
    return Shown{.text = fmt::format("PC sampling: {}", program_name(plan)),
                 .fraction = std::nullopt};
  });
}

/// What went wrong with a CUDA program. Databases without any sample are taken out of its files.
std::optional<Error> problem_of_cuda(const CollectPlan& plan, const Recorder& recorder,
                                     std::vector<std::string> rejected, PcSamplingRun& run) {
  const std::string heading = fmt::format("{}: PC sampling", plan.target.front());
  if (run.process.interrupted) return sampling_interrupted(plan);
  if (!run.process.succeeded()) return failure_of(run.process, heading, run.request.limit, {});
  if (run.files.empty()) return recorder.nothing_recorded(heading, run.folder, std::move(rejected));
  const Result<pc_sampling::PcSamples> samples = pc_sampling::read(run.files);
  if (!samples || samples->size() > 0) return std::nullopt;  // who analyses them says the error
  run.files.clear();
  Error error{.code = ErrorCode::missing_tool,
              .message = fmt::format("{}: it ended well and left no sample", heading),
              .notes = {},
              .remedy =
                  "let the kernels run longer, or sample more often: "
                  "--pc-sampling-interval; rocm-perf doctor says whether this user may "
                  "read counters"};
  for (const pc_sampling::Source& source : samples->sources)
    if (!source.problem.empty()) error.notes.push_back(source.problem);
  return error;
}

Result<PcSamplingRun> collect_cuda_pc_samples(const CollectPlan& plan, PcSamplingRun run) {
  CollectPlan sampled = plan;
  const std::uint64_t cycles = run.request.choice.interval;
  sampled.cuda_pc_sampling = cycles == 0 ? "default" : std::to_string(std::countr_zero(cycles));
  PERFLAB_TRY(const std::unique_ptr<Recorder> recorder, make_recorder(sampled));
  ProcessOptions options = sampling_options(plan, {}, run.request.limit);
  recorder->set_environment(run.folder, {}, options);
  const RewindableInput input;  // put back for the next start
  Result<ProcessResult> process = run_program(recorder->command(run.folder, plan), options);
  if (plan.progress != nullptr) plan.progress->erase();
  if (!process) {
    std::error_code ignored;
    fs::remove(run.folder, ignored);
    return std::unexpected(cannot_start(std::move(process).error(), recorder->wraps_target()));
  }
  run.process = *std::move(process);
  run.notes = recorder->salvage(run.folder);
  FoundDatabases found = find_databases(run.folder);
  for (std::string& odd : oddities_of(run.process, found.databases, plan.linger))
    run.notes.push_back(std::move(odd));
  run.files = files_of(run.folder);
  run.problem = problem_of_cuda(plan, *recorder, std::move(found.rejected), run);
  return run;
}

}  // namespace

milliseconds pc_sampling_limit(Nanos plain_wall, std::optional<milliseconds> timeout) {
  const milliseconds plain(plain_wall.value / 1'000'000);
  const milliseconds limit = kSlowdown * plain + kLeastLimit;
  return timeout ? std::min(limit, *timeout) : limit;
}

Result<PcSamplingRun> collect_pc_samples(const CollectPlan& plan, const Collection& base,
                                         const PcSamplingRequest& request) {
  const bool cuda = base.platform == trace::Platform::cuda;
  PERFLAB_CHECK(cuda || base.rocprofv3.has_value());
  if (!cuda) PERFLAB_TRY_VOID(check_own_options(plan.extra_options, kPcOptions));
  PcSamplingRun run{.request = request,
                    .folder = {},
                    .process = {},
                    .files = {},
                    .notes = {},
                    .problem = std::nullopt};
  PERFLAB_TRY(run.folder, make_pc_folder(base.folder));
  if (cuda) return collect_cuda_pc_samples(plan, std::move(run));
  const Rocprofv3& tool = *base.rocprofv3;
  PcLog log;
  Result<ProcessResult> process = run_extra_pass(
      plan, tool,
      {.command = pc_command(plan, tool, run),
       .options = sampling_options(plan, run.folder, request.limit),
       .unset = pc_sampling_variables(),
       .read = [&](std::string_view text) { log.read(text); },
       .needs = "PC sampling needs rocprofv3 of ROCm 6.4 or newer; leave out --pc-sampling"});
  if (!process) {
    std::error_code ignored;
    fs::remove(run.folder, ignored);
    return std::unexpected(std::move(process).error());
  }
  log.finish();
  run.process = *std::move(process);
  if (has_samples(run.folder)) run.files = files_of(run.folder);
  run.notes = oddities_of(run.process, {}, plan.linger);
  run.problem = problem_of_pc(plan, tool, run, log);
  return run;
}

}  // namespace perflab::collect
