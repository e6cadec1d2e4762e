// The program runs once for the times and once per counter pass, each time the whole plan.
#include "calibrate/calibrate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

#include "base/system/files.h"
#include "calibrate/judge.h"
#include "calibrate/samples.h"
#include "collect/collect.h"
#include "collect/counter_passes.h"
#include "hal/counter_catalogue.h"
#include "hal/pass_plan.h"
#include "hal/peaks.h"
#include "trace/read/read_trace.h"

namespace perflab::calibrate {
namespace {

namespace fs = std::filesystem;

/// The program's files in the folder.
struct ProgramFiles {
  fs::path program, object, plan, results;
};

Result<ProgramFiles> prepare(const CalibrateRequest& request, const CalibrationPlan& plan) {
  ProgramFiles files;
  const fs::path folder = fs::absolute(request.folder);
  PERFLAB_TRY(files.program, compile_host(request.architecture, folder));
  files.object = folder / "kernels.object";
  files.plan = folder / "plan.txt";
  files.results = folder / "results.txt";
  PERFLAB_TRY_VOID(write_file_atomically(files.object, plan.kernels.object));
  PERFLAB_TRY_VOID(write_file_atomically(files.plan, plan_text(plan.launches)));
  return files;
}

/// Rows whose results were wrong prove nothing from here on. Error (bad_input): not the plan's.
Result<void> look_at_results(const fs::path& file, CalibrationPlan& plan) {
  PERFLAB_TRY(const std::string text, read_file(file));
  std::istringstream lines(text);
  std::size_t i = 0;
  for (std::string line; std::getline(lines, line); ++i) {
    const std::size_t space = std::min(line.find(' '), line.size());
    if (i >= plan.launches.size() || line.substr(0, space) != plan.launches[i].work->function)
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: line {} is not one of the plan", file.string(), i + 1));
    const std::string verdict = space < line.size() ? line.substr(space + 1) : "";
    if (verdict == "right") continue;
    const auto row = std::ranges::find(plan.checked, plan.launches[i].work, &CheckedWork::work);
    row->check = hal::KernelCheck::wrong_results;
    row->reason = fmt::format("what it computed is wrong: {}", verdict);
  }
  if (i != plan.launches.size())
    return fail(ErrorCode::bad_input, fmt::format("{}: has {} lines, the plan {}", file.string(), i,
                                                  plan.launches.size()));
  return {};
}

Result<trace::Trace> read_databases(const std::vector<collect::DatabaseFile>& databases) {
  std::vector<fs::path> files;
  for (const collect::DatabaseFile& one : databases) files.push_back(one.path);
  return trace::read(files);
}

FormulaConstants constants_of(const PlanGpu& gpu, const RecordedGpu& recorded) {
  return {{"CU", recorded.cus > 0 ? recorded.cus : gpu.cus},
          {"XCC", recorded.xccs > 0 ? recorded.xccs : 1},
          {"SIMD_PER_CU", gpu.arch->simds_per_cu},
          {"MAX_WAVES_PER_CU", gpu.arch->max_waves_per_cu},
          {"LANES", gpu.arch->default_wave_size}};
}

hal::Peaks peaks_of(const CalibrateRequest& request, const PlanGpu& gpu,
                    const RecordedGpu& recorded) {
  const hal::AgentFigures agent{.cus = gpu.cus, .clock_mhz = {}, .xcds = {}};
  for (const std::string& name : {request.product, recorded.product})
    if (const hal::Product* product = hal::find_product_by_name(name);
        product != nullptr && product->gfx == gpu.arch->gfx)
      return hal::compute_peaks(hal::peak_inputs(*product, agent));
  return hal::compute_peaks(hal::peak_inputs(*gpu.arch, agent));
}

std::vector<hal::CalibrationKernel> kernels_of(std::span<const CheckedWork> checked) {
  std::vector<hal::CalibrationKernel> kernels;
  for (const CheckedWork& one : checked)
    kernels.push_back({.name = std::string(one.work->name),
                       .shows = std::string(one.work->shows),
                       .check = one.check,
                       .stream = one.shape.stream,
                       .reason = one.reason});
  return kernels;
}

/// One run of `calibrate`.
class Run {
 public:
  Run(const CalibrateRequest& request, CalibrationPlan& plan, ProgressLine* progress)
      : request_(request), plan_(plan), progress_(progress) {}

  Result<Calibrated> run() {
    PERFLAB_TRY(files_, prepare(request_, plan_));
    PERFLAB_TRY_VOID(record());
    PERFLAB_TRY_VOID(look_at_results(files_.results, plan_));
    PERFLAB_TRY_VOID(count());
    return result();
  }

 private:
  [[nodiscard]] collect::CollectPlan collection_plan() const {
    collect::CollectPlan plan;
    plan.target = {files_.program.string(), files_.object.string(), files_.plan.string(),
                   files_.results.string()};
    plan.timeout = request_.timeout;
    plan.root = request_.folder / "recordings";
    plan.platform = plan_.gpu.arch->platform == hal::Platform::nvidia ? trace::Platform::cuda
                                                                      : trace::Platform::amd;
    plan.trace_options = {"--kernel-trace"};
    // What records CUDA programs counts a few launches of each kernel unless it is told otherwise
    // (docs/facts/cuda_counters.md, "Replay").
    plan.environment = {{"PERFLAB_RECORD_COUNTER_LAUNCHES", "0"},
                        {"PERFLAB_RECORD_COUNTER_SECONDS", "0"}};
    plan.progress = progress_;
    return plan;
  }

  Result<void> record() {
    const collect::CollectPlan plan = collection_plan();
    PERFLAB_TRY(base_, collect::collect(plan));
    if (base_.problem) return std::unexpected(*base_.problem);
    append(base_.notes);
    PERFLAB_TRY(const trace::Trace trace, read_databases(base_.runs.front().databases));
    PERFLAB_TRY(times_, samples_of(trace, plan_.launches, {}));
    recorded_ = gpu_of(trace, plan_.launches);
    return {};
  }

  Result<void> count() {
    const collect::CollectPlan plan = collection_plan();
    PERFLAB_TRY(const collect::CounterCollection counters,
                collect::collect_counters(plan, base_, plan_.passes));
    append(counters.notes);
    append(counters.refusals);
    if (counters.passes_with_databases() == 0 && counters.problem)
      return std::unexpected(*counters.problem);
    if (counters.problem) notes_.push_back(counters.problem->message);
    const std::set<std::string> names = counters_of(*plan_.table);
    for (const collect::CounterPass& pass : counters.passes) {
      if (pass.databases.empty()) continue;
      PERFLAB_TRY(const trace::Trace trace, read_databases(pass.databases));
      for (const trace::Source& source : trace.sources)
        if (!source.counter_problem.empty()) notes_.push_back(source.counter_problem);
      Result<std::vector<LaunchSamples>> samples = samples_of(trace, plan_.launches, names);
      if (samples)
        passes_.push_back(std::move(*samples));
      else
        notes_.push_back(fmt::format("pass {}: {}", pass.number, samples.error().message));
    }
    return {};
  }

  void append(const std::vector<std::string>& notes) {
    notes_.insert(notes_.end(), notes.begin(), notes.end());
  }

  Result<Calibrated> result() {
    Calibrated done;
    hal::Calibration& calibration = done.calibration;
    Judgement judgement = judge(*plan_.table, plan_.checked, plan_.launches, passes_,
                                constants_of(plan_.gpu, recorded_));
    calibration.counters = std::move(judgement.counters);
    calibration.formulas = std::move(judgement.formulas);
    calibration.ceilings = ceilings_of(plan_.checked, plan_.launches, times_,
                                       peaks_of(request_, plan_.gpu, recorded_));
    calibration.kernels = kernels_of(plan_.checked);
    calibration.date = request_.date;
    calibration.runs = request_.runs;
    calibration.gpu = {
        .architecture = request_.architecture,
        .name = recorded_.product.empty() ? request_.product : recorded_.product,
        .uuid = {},
        .driver = request_.driver,
        .runtime = base_.rocprofv3 && !base_.rocprofv3->rocm_version.empty()
                       ? "ROCm " + base_.rocprofv3->rocm_version
                       : "",
        .profiler = base_.rocprofv3 ? "rocprofv3 " + base_.rocprofv3->version : "CUPTI",
        .compiler = plan_.kernels.compiler};
    std::ranges::sort(notes_);
    const auto repeated = std::ranges::unique(notes_);
    notes_.erase(repeated.begin(), repeated.end());
    done.notes = std::move(notes_);
    return done;
  }

  const CalibrateRequest& request_;
  CalibrationPlan& plan_;
  ProgressLine* progress_;
  ProgramFiles files_;
  collect::Collection base_;
  std::vector<LaunchSamples> times_;
  RecordedGpu recorded_;
  Passes passes_;
  std::vector<std::string> notes_;
};

}  // namespace

Result<std::unique_ptr<CalibrationPlan>> make_plan(const CalibrateRequest& request) {
  auto plan = std::make_unique<CalibrationPlan>();
  plan->gpu.arch = hal::find_arch(request.architecture);
  if (plan->gpu.arch == nullptr)
    return std::unexpected(hal::unknown_architecture(request.architecture));
  plan->table = hal::find_counter_table(request.architecture);
  if (plan->table == nullptr)
    return fail(ErrorCode::usage,
                fmt::format("no counters are known for {}", request.architecture));
  const hal::Product* product = hal::find_product_by_name(request.product);
  plan->gpu.cus = request.cus > 0 ? request.cus : (product == nullptr ? 0 : product->cus);
  if (plan->gpu.cus <= 0)
    return fail(
        ErrorCode::usage,
        fmt::format("how many compute units the GPU has is not known (\"{}\")", request.product),
        "give it: --cus N");
  PERFLAB_TRY(plan->kernels, compile_kernels(request.architecture, fs::absolute(request.folder)));
  plan->checked = check_work(plan->kernels, plan->gpu.arch->platform);
  plan->launches = plan_launches(plan->checked, plan->gpu, request.runs);
  if (plan->launches.empty())
    return fail(ErrorCode::refused,
                fmt::format("no kernel is what it claims to be, as {} compiles it",
                            plan->kernels.compiler));
  PERFLAB_TRY(hal::PassPlan passes, hal::plan_passes(*plan->table, true, {}));
  plan->passes = std::move(passes.passes);
  return plan;
}

Result<Calibrated> calibrate(const CalibrateRequest& request, CalibrationPlan& plan,
                             ProgressLine* progress) {
  return Run(request, plan, progress).run();
}

}  // namespace perflab::calibrate
