#include "report/autotune_samples.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.h"

namespace perflab::report {
namespace {

using tune::Outcome;
using tune::Phase;
using tune::Step;

/// A bad space would make every test meaningless.
tune::Space listed(tune::SpaceDescription description) {
  Result<tune::Space> space = tune::Space::list(std::move(description));
  if (!space) {
    ADD_FAILURE() << describe(space.error());
    std::abort();
  }
  return std::move(*space);
}

tune::Value number(std::int64_t value) {
  return value;
}

tune::SpaceDescription description() {
  tune::SpaceDescription out;
  out.parameters = {
      {.name = "BM", .values = {number(16), number(32), number(64)}, .default_level = 0},
      {.name = "BN", .values = {number(16), number(32), number(64)}, .default_level = 0},
      {.name = "layout", .values = {std::string("row"), std::string("col")}, .default_level = 0}};
  out.restrictions = {"BM*BN <= 2048"};
  out.derived = {{"threads", "BM*BN//4"}};
  out.default_declared = true;
  return out;
}

tune::Evaluation worked(double value) {
  tune::Evaluation out;
  out.outcome = Outcome::correct;
  out.value = value;
  out.samples = {value * 0.99, value, value * 1.01};
  out.cv = 0.01;
  return out;
}

tune::Evaluation failed(Outcome outcome, std::string detail) {
  tune::Evaluation out;
  out.outcome = outcome;
  out.detail = std::move(detail);
  return out;
}

tune::CompiledKernel compiled() {
  return {
      .kernel = "_Z4gemmPKfS0_Pf",
      .target = "gfx942",
      .vgprs = 96,
      .sgprs = 40,
      .lds_bytes = 16384,
      .scratch_bytes = 0,
      .spills = 0,
      .occupancy = 0.625,
      .mix = tune::KernelMix{
          .instructions = 812, .valu = 430, .matrix = 64, .memory = 40, .lds = 96, .branches = 7}};
}

/// Fills best_so_far, outcomes and the pruned counts as a search would.
void complete(const tune::Space& space, tune::TuneResult& result) {
  std::optional<double> best;
  for (Step& step : result.steps) {
    if (step.evaluation.value && (!best || *step.evaluation.value < *best))
      best = step.evaluation.value;
    step.best_so_far = best;
    tune::OutcomeCounts& counts = result.outcomes;
    switch (step.evaluation.outcome) {
      case Outcome::correct:
        ++counts.correct;
        break;
      case Outcome::compile_failed:
        ++counts.compile;
        break;
      case Outcome::run_failed:
        ++counts.runtime;
        break;
      case Outcome::timed_out:
        ++counts.timeout;
        break;
      case Outcome::wrong:
        ++counts.wrong;
        break;
      case Outcome::not_launchable:
        ++counts.device_limit;
        break;
    }
  }
  result.pruned.product = space.counts().product;
  result.pruned.removed = space.counts().removed;
  result.pruned.listed = space.size();
  result.pruned.never_reached = space.size() - result.steps.size();
}

}  // namespace

AutotuneSample sample_autotune() {
  AutotuneSample sample{.space = listed(description()), .result = {}, .rest = {}};
  tune::TuneResult& result = sample.result;
  result.objective = {.kind = tune::ObjectiveKind::gpu_time,
                      .metric_pattern = {},
                      .kernel_pattern = "gemm",
                      .maximize = false,
                      .unit = "ns"};
  result.seed = 7;
  result.budget = 40;
  const tune::ConfigId first = sample.space.default_configuration();
  std::vector<tune::ConfigId> ids = {first};
  for (tune::ConfigId id = 0; id < sample.space.size(); ++id)
    if (id != first) ids.push_back(id);
  const auto step = [&](Phase phase, tune::Evaluation evaluation) -> Step& {
    Step& made = result.steps.emplace_back();
    made.id = ids[result.steps.size() - 1];
    made.phase = phase;
    made.evaluation = std::move(evaluation);
    made.worker = result.steps.size() % 3 == 0 ? "gpu 1" : "gpu 0";
    return made;
  };
  step(Phase::baseline, worked(2'468'000)).evaluation.compiled = {compiled()};
  step(Phase::warm_start, worked(1'900'000));
  step(Phase::seed, failed(Outcome::compile_failed, "error: LDS overflow; hipcc exited with 1"));
  step(Phase::seed, failed(Outcome::run_failed, "was killed by SIGSEGV (segmentation fault)"));
  step(Phase::seed, worked(35'000'000)).evaluation.unstable = true;
  for (const Outcome outcome : {Outcome::timed_out, Outcome::wrong, Outcome::not_launchable}) {
    Step& picked = step(Phase::confirm, failed(outcome, "it took longer than 5 s"));
    picked.predicted = 1'500'000;
    picked.expected_gain = 0.2;
  }
  step(Phase::confirm, worked(1'234'000)).predicted = 1'400'000;
  Step& neighbour = step(Phase::confirm, worked(1'290'000));
  neighbour.local = true;
  neighbour.predicted = 1'250'000;
  neighbour.expected_gain = 0.004;
  complete(sample.space, result);
  result.outcomes.unstable = 1;
  result.pruned.removed.push_back(
      {.rule = "at most 1024 work-items", .device_limit = true, .combinations = 3});
  result.pruned.model = {.slow = 2, .failing = 1};
  result.pruned.not_launchable = 1;
  result.pruned.never_reached -= 3;
  result.quality = {.r2 = 0.91, .samples = 5, .fits = 3};
  result.prior_odds = 2.5;
  result.race = tune::Race{
      .runs = 31, .again = 7, .raced = 3, .best = 4, .without_at_least = 72, .spread = 0.012};
  result.built_ahead = {.per_run = 2,
                        .unused_build_seconds = 12.5,
                        .error_without = 0.2,
                        .error_with = 0.12,
                        .error_without_mix = 0.15,
                        .compared = 3};
  tune::PriorResult& prior = result.priors.emplace_back();
  prior.description = {.file = "gemm-mi210.json",
                       .digest = "xxh3:0123456789abcdef",
                       .format = "kernel_tuner",
                       .device = {},
                       .evaluations = 120,
                       .worked = 117,
                       .shared = {"BLOCK_M", "BLOCK_N"},
                       .only_in_prior = {"BLOCK_K"},
                       .only_in_space = {"LAYOUT"},
                       .covered = 12};
  prior.figures = {.weight = 0.62, .rank_correlation = 0.81, .ranked = 8};
  result.importance = {{.parameter = 1, .share = 0.7, .best_to_worst = 12.5},
                       {.parameter = 0, .share = 0.25, .best_to_worst = 1.8},
                       {.parameter = 2, .share = 0.05, .best_to_worst = 1.01}};
  result.default_id = first;
  result.default_declared = true;
  result.default_value = 2'468'000;
  result.winner = ids[8];
  const tune::Gain twice{.ratio = 2, .low = 1.96, .high = 2.04};
  const tune::Gain less{.ratio = 1.913, .low = 1.88, .high = 1.95};
  const tune::Gain same{.ratio = 1, .low = 1, .high = 1};
  result.finalists = {{.id = ids[8],
                       .value = 1'234'000,
                       .samples = 12,
                       .cv = 0.012,
                       .unstable = false,
                       .over_default = twice},
                      {.id = ids[9],
                       .value = 1'290'000,
                       .samples = 12,
                       .cv = 0.02,
                       .unstable = false,
                       .over_default = less},
                      {.id = first,
                       .value = 2'468'000,
                       .samples = 12,
                       .cv = 0.011,
                       .unstable = false,
                       .over_default = same}};
  result.decision = tune::Decision::separated;
  result.over_runner_up = tune::Gain{.ratio = 1.045, .low = 1.03, .high = 1.061};
  result.expected_gain_left = 0.0009;
  result.stopped_because = "the expected gain stayed below 0.1 %";
  sample.rest.gpu = "gfx942 304 CUs device 0x74a1";
  sample.rest.environment = {
      .command = "{build_dir}/gemm --layout {layout}",
      .build = "hipcc -DBM={BM} -DBN={BN} gemm.hip -o {build_dir}/gemm",
      .check = {},
      .code_object = "{build_dir}/gemm",
      .best_command = {"tuned/gemm", "--layout", "row major"},
      .best_build = {"hipcc", "-DBM=32", "-DBN=64", "gemm.hip", "-o", "tuned/gemm"},
      .best_build_folder = "tuned",
      .space_file = "space.json",
      .simulated = {},
      .warm_start = {},
      .priors = {"gemm-mi210.json"},
      .journal = "autotune.journal.jsonl",
      .executor = "local"};
  return sample;
}

AutotuneSample sample_autotune_limits() {
  AutotuneSample sample = sample_autotune();
  tune::TuneResult& result = sample.result;
  result.objective.metrics = {
      {.name = "power", .unit = "W", .source = tune::MetricSource::sensors, .at_most = 400},
      {.name = "energy", .unit = "J", .source = tune::MetricSource::sensors}};
  for (Step& one : result.steps)
    if (one.evaluation.value)
      one.evaluation.metrics = {
          {.name = "power", .value = 380},
          {.name = "energy", .value = {}, .detail = "this GPU has no counter of energy"}};
  for (tune::Finalist& one : result.finalists) one.metrics = {380, std::nullopt};
  Step outside = result.steps.back();
  outside.id = static_cast<tune::ConfigId>(sample.space.size() - 1);
  outside.local = false;
  outside.evaluation = worked(1'100'000);
  outside.evaluation.metrics = {{.name = "power", .value = 431}, {.name = "energy", .value = 0.62}};
  outside.within_limits = false;
  result.steps.push_back(std::move(outside));
  ++result.outcomes.correct;
  ++result.outcomes.outside;
  --result.pruned.never_reached;
  return sample;
}

AutotuneSample sample_autotune_capture() {
  AutotuneSample sample = sample_autotune();
  const auto proof = [](std::string verdict, std::string sentence) {
    return tune::Proof{.verdict = std::move(verdict),
                       .sentence = std::move(sentence),
                       .compared_bytes = 4096,
                       .code_object_hash = "xxh3:0123456789abcdef",
                       .grid = {1024, 16, 1},
                       .workgroup = {64, 4, 1},
                       .dynamic_lds_bytes = 2048};
  };
  tune::TuneResult& result = sample.result;
  for (Step& step : result.steps)
    if (step.evaluation.value)
      step.evaluation.proof = proof("bitwise", "It computes the same, bitwise.");
    else if (step.evaluation.outcome == Outcome::wrong)
      step.evaluation.proof = proof("differs", step.evaluation.detail);
  tune::Captured& captured = result.captured.emplace();
  captured.evaluation = worked(1'357'400);
  captured.evaluation.proof = proof("bitwise", "This capture reproduces itself, bitwise.");
  captured.value = 1'357'400;
  captured.samples = 12;
  captured.cv = 0.01;
  captured.winners = tune::Gain{.ratio = 1.1, .low = 1.08, .high = 1.12};
  sample.rest.capture = {.hash = "sha256:77",
                         .kernel = "_Z4gemmPKfS0_Pf",
                         .demangled = "gemm(float const*, float const*, float*)",
                         .platform = "hip",
                         .isa = "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-",
                         .workgroup = "threads",
                         .grid = {},
                         .blocks = "1024 // BN, 1024 // BM",
                         .dynamic_lds = {},
                         .tolerance = {{"type", nullptr},
                                       {"max_ulp", 2},
                                       {"max_relative", nullptr},
                                       {"max_absolute", nullptr},
                                       {"nan_equal", false}},
                         .iterations = 5,
                         .caches = "warm"};
  sample.rest.environment.command.clear();
  sample.rest.environment.best_command.clear();
  sample.rest.environment.capture = "gemm.capture";
  return sample;
}

AutotuneSample sample_autotune_tie() {
  AutotuneSample sample = sample_autotune();
  tune::TuneResult& result = sample.result;
  result.decision = tune::Decision::tie;
  result.tied = {result.finalists[1].id};
  result.over_runner_up = tune::Gain{.ratio = 1.002, .low = 0.99, .high = 1.01};
  result.finalists.front().unstable = true;
  result.quality.r2 = 0.4;
  result.warnings = {"the winner is unstable: its repeats vary by more than 10 % (CV)",
                     "the model predicts unseen configurations badly (leave-one-out R2 0.40 over 5 "
                     "of them, below 0.75): do not rely on its pruning and its importances"};
  result.resumed = 4;
  result.journal_torn = true;
  return sample;
}

AutotuneSample sample_autotune_simulated() {
  tune::SpaceDescription space = description();
  for (tune::Parameter& parameter : space.parameters) parameter.default_level.reset();
  space.default_declared = false;
  AutotuneSample sample{.space = listed(std::move(space)), .result = {}, .rest = {}};
  tune::TuneResult& result = sample.result;
  result.objective = {.kind = tune::ObjectiveKind::metric,
                      .metric_pattern = {},
                      .kernel_pattern = {},
                      .maximize = false,
                      .unit = "ms"};
  result.budget = 3;
  result.effort = tune::Effort::full;
  for (const double value : {4.0, 3.0, 2.5}) {
    Step& step = result.steps.emplace_back();
    step.id = static_cast<tune::ConfigId>(result.steps.size() - 1);
    step.phase = step.id == 0 ? Phase::baseline : Phase::seed;
    step.evaluation.outcome = Outcome::correct;
    step.evaluation.value = value;
    result.finalists.insert(
        result.finalists.begin(),
        {.id = step.id,
         .value = value,
         .samples = 0,
         .cv = {},
         .unstable = false,
         .over_default = tune::Gain{.ratio = 4 / value, .low = {}, .high = {}}});
  }
  complete(sample.space, result);
  result.pruned.not_recorded = 5;
  result.pruned.never_reached -= 5;
  result.default_value = 4;
  result.winner = 2;
  result.decision = tune::Decision::not_compared;
  result.over_runner_up = tune::Gain{.ratio = 1.2, .low = {}, .high = {}};
  result.simulation = tune::Simulation{.optimum = 2, .optimum_id = 9, .best = 2.5};
  result.stopped_because = "the budget of 3 evaluations was used";
  result.warnings = {"the space declares no default: gains are over its first configuration"};
  sample.rest.environment.simulated = "cache.json.gz";
  return sample;
}

AutotuneSample sample_autotune_failed() {
  AutotuneSample sample{.space = listed(description()), .result = {}, .rest = {}};
  tune::TuneResult& result = sample.result;
  result.objective = {.kind = tune::ObjectiveKind::metric,
                      .metric_pattern = "time: ([0-9.]+)",
                      .kernel_pattern = {},
                      .maximize = true,
                      .unit = {}};
  result.budget = 2;
  result.default_declared = true;
  result.default_id = sample.space.default_configuration();
  for (tune::ConfigId id = 0; id < 2; ++id) {
    Step& step = result.steps.emplace_back();
    step.id = id == 0 ? result.default_id : result.default_id + 1;
    step.phase = id == 0 ? Phase::baseline : Phase::seed;
    step.evaluation = failed(Outcome::run_failed, "printed nothing that the pattern matches");
  }
  complete(sample.space, result);
  result.stopped_because = "the budget of 2 evaluations was used";
  sample.rest.environment = {.command = "./k {BM}",
                             .build = {},
                             .check = {},
                             .code_object = {},
                             .best_command = {},
                             .best_build = {},
                             .best_build_folder = {},
                             .space_file = "space.json",
                             .simulated = {},
                             .warm_start = {},
                             .journal = {},
                             .executor = "local"};
  return sample;
}

}  // namespace perflab::report
