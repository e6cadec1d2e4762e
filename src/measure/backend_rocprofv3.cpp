// The autotuner's GPU timer (gpu_timer.h) behind the interface of backend.h.
#include "measure/backend_rocprofv3.h"

#include <utility>

#include "base/text/pattern.h"
#include "measure/gpu_timer.h"
#include "tune/evaluate/evaluator.h"
#include "tune/evaluate/process_step.h"

namespace perflab::measure {
namespace {

class Rocprofv3Backend final : public Backend {
 public:
  Rocprofv3Backend(const Rocprofv3BackendOptions& options, tune::GpuTimer timer)
      : timer_(std::move(timer)) {
    job_.objective.kind = tune::ObjectiveKind::gpu_time;
    job_.objective.kernel_pattern = options.kernel_pattern;
    job_.objective.unit = "ns";
    if (options.time_limit)
      job_.run_limit_seconds = std::chrono::duration<double>(*options.time_limit).count();
  }

  [[nodiscard]] std::string name() const override { return "rocprofv3"; }
  [[nodiscard]] std::string unit() const override { return "ns"; }

  Result<Measured> measure(const Variant& variant) override {
    job_.run = variant.command;
    job_.environment = variant.environment;
    job_.confinement = variant.confinement;
    PERFLAB_TRY(tune::ProfiledRun run, timer_(variant.command, job_));
    Measured measured;
    measured.samples = std::move(run.samples);
    measured.failure = tune::one_line(run.problem);
    if (measured.samples.empty() && measured.failure.empty())
      measured.failure = "gave no time of the kernel";
    return measured;
  }

 private:
  tune::GpuTimer timer_;
  tune::Job job_;
};

}  // namespace

Result<std::unique_ptr<Backend>> make_rocprofv3_backend(const Rocprofv3BackendOptions& options) {
  if (!options.kernel_pattern.empty()) {
    PERFLAB_TRY([[maybe_unused]] const Pattern pattern, Pattern::compile(options.kernel_pattern));
  }
  PERFLAB_TRY(tune::GpuTimer timer, make_gpu_timer(options.scratch));
  return std::make_unique<Rocprofv3Backend>(options, std::move(timer));
}

}  // namespace perflab::measure
