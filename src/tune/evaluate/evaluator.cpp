// The steps of an evaluation in their order, and what each failure is called.
#include "tune/evaluate/evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/system/files.h"
#include "tune/evaluate/compiled_kernels.h"
#include "tune/evaluate/metric.h"
#include "tune/evaluate/process_step.h"
#include "tune/evaluate/repeats.h"
#include "tune/evaluate/run_metrics.h"

namespace perflab::tune {
namespace {

Evaluation failed_evaluation(Evaluation evaluation, Outcome outcome, std::string detail) {
  evaluation.outcome = outcome;
  evaluation.value.reset();
  evaluation.detail = std::move(detail);
  return evaluation;
}

/// One run of the command: its samples, or how it failed.
struct OneRun {
  Outcome outcome = Outcome::correct;
  std::string detail;
  std::vector<double> samples;
  double seconds = 0;
  std::optional<Proof> proof{};
};

/// The runs of one job.
class Runner {
 public:
  static Result<Runner> prepare(const Job& job, const GpuTimer& gpu_timer) {
    Runner runner(job, gpu_timer);
    if (job.objective.kind == ObjectiveKind::gpu_time && !gpu_timer)
      return fail(ErrorCode::internal, "the GPU's time is wanted, but there is no timer for it");
    if (job.objective.kind == ObjectiveKind::metric) {
      PERFLAB_TRY(runner.metric_, compile_metric_pattern(job.objective.metric_pattern));
    }
    return runner;
  }

  Result<OneRun> run(RunMetrics& metrics) const {
    metrics.begin();
    PERFLAB_TRY(OneRun one,
                job_.objective.kind == ObjectiveKind::gpu_time ? profiled() : started(metrics));
    std::string missing = metrics.end(one.seconds);
    if (one.outcome != Outcome::correct || missing.empty()) return one;
    one.outcome = Outcome::run_failed;
    one.detail = one_line(missing);
    return one;
  }

  /// Empty: its result is right, or there is no check. The limit is that of the build: what a check
  /// computes does not become faster with the configuration.
  Result<std::string> check() const {
    if (job_.check.empty() || job_.already_checked) return std::string();
    PERFLAB_TRY(const StepEnd step, run_step(job_.check, {.environment = job_.environment,
                                                          .limit_seconds = job_.build_limit_seconds,
                                                          .on_stream = {}}));
    return step.succeeded ? std::string() : "the check " + step.detail;
  }

 private:
  Runner(const Job& job, const GpuTimer& gpu_timer) : job_(job), gpu_timer_(gpu_timer) {}

  Result<OneRun> started(RunMetrics& metrics) const {
    std::optional<MetricScanner> scanner;
    StepOptions options{
        .environment = job_.environment, .limit_seconds = job_.run_limit_seconds, .on_stream = {}};
    if (metric_) scanner.emplace(*metric_);
    options.on_stream = [&](int stream, std::string_view bytes) {
      if (scanner) scanner->feed(stream, bytes);
      metrics.feed(stream, bytes);
    };
    PERFLAB_TRY(StepEnd step, run_step(job_.run, options));
    OneRun one;
    one.seconds = step.seconds;
    if (!step.succeeded) {
      one.outcome = step.timed_out ? Outcome::timed_out : Outcome::run_failed;
      one.detail = std::move(step.detail);
    } else if (!scanner) {
      one.samples = {step.seconds};
    } else {
      MetricScanner::Found found = scanner->finish();
      one.samples = std::move(found.samples);
      one.detail = std::move(found.problem);
      if (one.samples.empty()) one.outcome = Outcome::run_failed;
    }
    return one;
  }

  Result<OneRun> profiled() const {
    PERFLAB_TRY(ProfiledRun profiled, gpu_timer_(job_.run, job_));
    OneRun one;
    one.seconds = profiled.wall_seconds;
    one.samples = std::move(profiled.samples);
    if (one.samples.size() > kMostSamplesOfARun) one.samples.resize(kMostSamplesOfARun);
    one.detail = one_line(profiled.problem);
    one.proof = std::move(profiled.proof);
    if (profiled.timed_out || profiled.failure)
      one.outcome = profiled.failure.value_or(Outcome::timed_out);
    else if (!one.detail.empty() || one.samples.empty())
      one.outcome = Outcome::run_failed;
    if (one.outcome != Outcome::correct && one.detail.empty())
      one.detail = "gave no time of the kernel";
    return one;
  }

  const Job& job_;
  const GpuTimer& gpu_timer_;
  std::optional<Pattern> metric_;
};

/// Looks into the code object that the build made.
Result<Evaluation> look_into_code(const Job& job, Evaluation evaluation) {
  Result<BuiltKernels> found = read_compiled_kernels(job);
  if (!found) {
    if (found.error().code == ErrorCode::usage) return std::unexpected(std::move(found).error());
    return failed_evaluation(std::move(evaluation), Outcome::compile_failed,
                             one_line("the code object cannot be read: " + found.error().message));
  }
  evaluation.compiled = std::move(found->kernels);
  if (!found->not_launchable.empty())
    return failed_evaluation(std::move(evaluation), Outcome::not_launchable,
                             one_line(found->not_launchable));
  return evaluation;
}

}  // namespace

Result<Evaluation> build(const Job& job) {
  Evaluation evaluation;
  evaluation.outcome = Outcome::correct;
  if (!job.build_folder.empty()) PERFLAB_TRY_VOID(make_directories(job.build_folder));
  if (!job.build.empty()) {
    PERFLAB_TRY(StepEnd step, run_step(job.build, {.environment = {},
                                                   .limit_seconds = job.build_limit_seconds,
                                                   .on_stream = {}}));
    evaluation.build_seconds = step.seconds;
    if (!step.succeeded)
      return failed_evaluation(std::move(evaluation),
                               step.timed_out ? Outcome::timed_out : Outcome::compile_failed,
                               "the build " + step.detail);
  }
  if (std::error_code ignored; job.captured && !job.captured->code_object.empty() &&
                               !std::filesystem::exists(job.captured->code_object, ignored))
    return failed_evaluation(
        std::move(evaluation), Outcome::compile_failed,
        one_line(fmt::format("the build left no {}", job.captured->code_object.string())));
  if (job.code_object.empty()) return evaluation;
  return look_into_code(job, std::move(evaluation));
}

Result<Evaluation> run(const Job& job, Evaluation built, const GpuTimer& gpu_timer) {
  PERFLAB_CHECK(built.outcome == Outcome::correct);
  PERFLAB_TRY(const Runner runner, Runner::prepare(job, gpu_timer));
  PERFLAB_TRY(RunMetrics metrics, RunMetrics::prepare(job));
  Evaluation evaluation = std::move(built);
  Repeats repeats(job);
  bool checked = false;
  while (!repeats.enough()) {
    PERFLAB_TRY(OneRun one, runner.run(metrics));
    evaluation.run_seconds += one.seconds;
    if (one.proof) evaluation.proof = std::move(one.proof);
    if (one.outcome != Outcome::correct) {
      repeats.finish(evaluation);
      return failed_evaluation(std::move(evaluation), one.outcome, std::move(one.detail));
    }
    evaluation.longest_run_seconds =
        std::max(evaluation.longest_run_seconds.value_or(0), one.seconds);
    repeats.add(std::move(one.samples));
    if (checked) continue;
    checked = true;
    PERFLAB_TRY(std::string refused, runner.check());
    if (!refused.empty()) {
      repeats.finish(evaluation);
      return failed_evaluation(std::move(evaluation), Outcome::wrong, std::move(refused));
    }
  }
  repeats.finish(evaluation);
  evaluation.metrics = metrics.finish();
  return evaluation;
}

}  // namespace perflab::tune
