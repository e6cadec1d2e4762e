#include "report/autotune_app_samples.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace perflab::report {
namespace {

using measure::AutotuneRun;
using measure::TunedKernel;

tune::Space tile_space() {
  tune::SpaceDescription description;
  description.parameters = {
      {.name = "BM", .values = {std::int64_t{16}, std::int64_t{64}}, .default_level = 0},
      {.name = "LAYOUT", .values = {std::string("row"), std::string("col")}, .default_level = 0}};
  description.default_declared = true;
  auto space = tune::Space::list(std::move(description));
  EXPECT_TRUE(space);
  return std::move(*space);
}

measure::Configuration tile(std::int64_t bm, const char* layout) {
  return {{"BM", bm}, {"LAYOUT", std::string(layout)}};
}

AutotuneRun tuned_run(std::size_t evaluations, std::size_t worked) {
  tune::TuneResult result;
  result.steps.resize(evaluations);
  result.outcomes.correct = worked;
  result.stopped_because = "its share of the budget was used";
  if (worked > 0) result.expected_gain_left = 0.0125;
  return {.space = tile_space(),
          .result = std::move(result),
          .gpu = {},
          .captured = {},
          .capture_hash = {},
          .conditions = {},
          .best_command = {},
          .best_build = {}};
}

TunedKernel kernel_of(analyze::GroupTimes times, analyze::GroupWorth worth) {
  TunedKernel kernel;
  kernel.objective.kind = tune::ObjectiveKind::gpu_time;
  kernel.objective.unit = "ns";
  kernel.default_configuration = kernel.configuration = tile(16, "row");
  kernel.times = times;
  kernel.worth = worth;
  return kernel;
}

void found(TunedKernel& kernel, std::size_t evaluations, double default_value, double value,
           tune::Gain gain) {
  kernel.run = tuned_run(evaluations, evaluations - 1);
  kernel.evaluations = evaluations;
  kernel.configuration = tile(64, "col");
  kernel.default_value = default_value;
  kernel.value = value;
  kernel.factor = value / default_value;
  kernel.gain = gain;
}

tune::ApplicationKernel named(std::string name, tune::KernelSource source) {
  tune::ApplicationKernel kernel;
  kernel.pattern = "^" + name;
  kernel.name = std::move(name);
  kernel.source = source;
  return kernel;
}

}  // namespace

AutotuneAppSample sample_autotune_app() {
  AutotuneAppSample sample;
  measure::ApplicationRequest& request = sample.request;
  using enum tune::KernelSource;
  request.application.kernels = {named("gemm", command), named("softmax", capture),
                                 named("fft", command), named("scan", simulate)};
  request.application.command = "./app --config {config}";
  request.recordings = {"run.db"};
  request.folder = "tuned";
  request.options.budget = 60;
  measure::ApplicationRun& run = sample.run;
  run.recorded = 1'000'000;
  run.predicted = 750'000;
  TunedKernel gemm = kernel_of({.dispatches = 10, .total = 500'000, .path_time = 480'000},
                               {.per_percent = 4'800, .bound = 470'000});
  found(gemm, 40, 50'000, 25'000, {.ratio = 2, .low = 1.9, .high = 2.1});
  gemm.alone_makespan = 760'000;
  TunedKernel softmax = kernel_of({.dispatches = 10, .total = 200'000, .path_time = 180'000},
                                  {.per_percent = 1'800, .bound = 180'000});
  found(softmax, 13, 20'000, 19'000, {.ratio = 20.0 / 19, .low = 0.98, .high = 1.12});
  softmax.alone_makespan = 991'000;
  TunedKernel fft = kernel_of({.dispatches = 1, .total = 20'000, .path_time = 20'000},
                              {.per_percent = 200, .bound = 20'000});
  fft.run = tuned_run(7, 0);
  fft.run->result.warnings = {"the default configuration did not work (runtime): exit code 3"};
  fft.evaluations = 7;
  const TunedKernel scan = kernel_of({.dispatches = 5, .total = 90'000, .path_time = 0}, {});
  run.kernels = {std::move(gemm), std::move(softmax), std::move(fft), scan};
  run.shares = {{.kernel = 0, .evaluations = 7, .promise = 1, .worth = 4'800},
                {.kernel = 1, .evaluations = 7, .promise = 1, .worth = 1'800},
                {.kernel = 2, .evaluations = 7, .promise = 1, .worth = 200},
                {.kernel = 0, .evaluations = 1, .promise = 0.05, .worth = 4'800},
                {.kernel = 0, .evaluations = 32, .promise = 0.04, .worth = 3'000},
                {.kernel = 1, .evaluations = 6, .promise = 0.03, .worth = 1'800}};
  run.used = 60;
  run.stopped_because = tune::budget_was_used(60);
  measure::ApplicationProof& proof = run.proof.emplace();
  proof.objective.kind = tune::ObjectiveKind::wall_time;
  proof.objective.unit = "s";
  proof.default_value = 2.5;
  proof.value = 2;
  proof.gain = tune::Gain{.ratio = 1.25, .low = 1.2, .high = 1.3};
  proof.proven = true;
  proof.rounds = 8;
  return sample;
}

AutotuneAppSample sample_autotune_app_alone() {
  AutotuneAppSample sample;
  sample.request.application.kernels = {named("gemm", tune::KernelSource::simulate)};
  sample.request.folder = ".";
  sample.request.split = tune::Split::equal;
  TunedKernel gemm;
  gemm.objective.kind = tune::ObjectiveKind::metric;
  gemm.objective.maximize = true;
  gemm.default_configuration = gemm.configuration = tile(16, "row");
  gemm.run = tuned_run(4, 4);
  gemm.evaluations = 4;
  gemm.default_value = gemm.value = 120;
  gemm.factor = 1;
  sample.run.kernels.push_back(std::move(gemm));
  sample.run.shares = {{.kernel = 0, .evaluations = 4, .promise = 0.5, .worth = {}}};
  sample.run.used = 4;
  sample.run.stopped_because = "every search is over, or its kernel is worth nothing more";
  sample.run.no_prediction = "there is no recording of the application";
  sample.run.no_proof = "the application file has no command";
  return sample;
}

}  // namespace perflab::report
