// The tuning as a whole, with an executor that computes its answers: phases, budget, journal and
// resumption, the last comparison, builds, simulation.
#include "tune/run/tune.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <set>

#include "base/system/files.h"
#include "base/temp_folder.h"
#include "tune/run/last_comparison.h"

namespace perflab::tune {
namespace {

using ::perflab::test::TempFolder;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

Parameter numbers(std::string name, std::vector<std::int64_t> values) {
  Parameter parameter{.name = std::move(name), .values = {}, .default_level = {}};
  for (const std::int64_t value : values) parameter.values.emplace_back(value);
  return parameter;
}

/// 6 x 5 x 4 = 120 combinations, 17 of them forbidden; the default is (16, 1, 0).
Space small_space() {
  SpaceDescription description;
  description.parameters = {numbers("block", {16, 32, 64, 128, 256, 512}),
                            numbers("unroll", {1, 2, 4, 8, 16}), numbers("pad", {0, 1, 2, 3})};
  description.restrictions = {"block * unroll < 4096", "pad < 3 or block > 16"};
  for (Parameter& parameter : description.parameters) parameter.default_level = 0;
  description.default_declared = true;
  return Space::list(std::move(description)).value();
}

/// Best at block 64, unroll 4, pad 1.
double time_of(double block, double unroll, double pad) {
  return 1 + std::abs(std::log2(block / 64)) + 0.5 * std::abs(std::log2(unroll / 4)) +
         0.1 * std::abs(pad - 1);
}

Commands commands_for(const Space& space, bool with_build = false) {
  std::vector<std::string> names{std::string(kBuildFolderName)};
  for (const Parameter& parameter : space.parameters()) names.push_back(parameter.name);
  Commands commands{.run = CommandTemplate::parse("app {block} {unroll} {pad}", names).value(),
                    .build = {},
                    .check = {},
                    .code_object = {},
                    .code_object_kernel = {}};
  if (with_build) {
    commands.build = CommandTemplate::parse("cc {block} {unroll} {pad}", names).value();
    commands.code_object = CommandTemplate::parse("{build_dir}/k.hsaco", names).value();
  }
  return commands;
}

/// Answers jobs from a function of the numbers in their command; remembers what it was asked.
class ComputedExecutor : public Executor {
 public:
  using Answer = std::function<Evaluation(const std::vector<double>& values, const Job& job)>;
  explicit ComputedExecutor(Answer answer, std::size_t width = 1)
      : answer_(std::move(answer)), width_(width) {}

  [[nodiscard]] std::size_t width() const override { return width_; }
  [[nodiscard]] std::string gpu() const override { return ""; }
  Result<void> evaluate(std::span<const Job> jobs, bool serial,
                        const OnFinished& on_finished) override {
    for (std::size_t i = jobs.size(); i-- > 0;) {  // backwards: order of answers must not matter
      const std::size_t index = serial ? jobs.size() - 1 - i : i;
      if (stop_after && runs.size() >= *stop_after)
        return fail(ErrorCode::interrupted, "stopped by the test");
      runs.push_back(jobs[index]);
      PERFLAB_TRY_VOID(on_finished({.index = index, .evaluation = of(jobs[index]), .worker = ""}));
    }
    return {};
  }
  Result<void> build_all(std::span<const Job> jobs, const OnFinished& on_finished) override {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      builds.push_back(jobs[i]);
      Evaluation built;
      built.outcome = jobs[i].run[1] == unbuildable ? Outcome::compile_failed : Outcome::correct;
      CompiledKernel kernel;
      kernel.vgprs = 32;
      kernel.spills = spills_of(values_of_job(jobs[i]));
      kernel.mix = mix_of(values_of_job(jobs[i]));
      built.compiled = {kernel};
      built.build_seconds = 0.5;
      PERFLAB_TRY_VOID(on_finished({.index = i, .evaluation = built, .worker = ""}));
    }
    return {};
  }

  std::vector<Job> runs, builds;
  std::function<std::int64_t(const std::vector<double>& values)> spills_of =
      [](const std::vector<double>& values) { return values[1] > 4 ? 64 : 0; };
  std::function<std::optional<KernelMix>(const std::vector<double>& values)> mix_of =
      [](const std::vector<double>&) { return std::nullopt; };
  std::string unbuildable;  ///< first value of configurations that do not build
  std::optional<std::size_t> stop_after;

 private:
  static std::vector<double> values_of_job(const Job& job) {
    std::vector<double> values;
    for (std::size_t i = 1; i < job.run.size(); ++i) values.push_back(std::stod(job.run[i]));
    return values;
  }
  Evaluation of(const Job& job) const { return answer_(values_of_job(job), job); }
  Answer answer_;
  std::size_t width_;
};

Evaluation measured(std::vector<double> samples) {
  Evaluation evaluation;
  evaluation.outcome = Outcome::correct;
  evaluation.value = samples[samples.size() / 2];
  evaluation.samples = std::move(samples);
  evaluation.longest_run_seconds = 0.25;
  return evaluation;
}

Evaluation exact(const std::vector<double>& values, const Job&) {
  const double time = time_of(values[0], values[1], values[2]);
  return measured({time, time, time});
}

TuneOptions options_of(std::size_t budget) {
  TuneOptions options;
  options.budget = budget;
  options.objective.kind = ObjectiveKind::metric;
  options.search.seed = 7;
  return options;
}

std::vector<ConfigId> ids(const TuneResult& result) {
  std::vector<ConfigId> found;
  for (const Step& step : result.steps) found.push_back(step.id);
  return found;
}

void expect_nothing_lost(const TuneResult& result) {
  const PruneCounts& pruned = result.pruned;
  double removed = 0;
  for (const Removed& rule : pruned.removed) removed += rule.combinations;
  EXPECT_EQ(pruned.product, removed + static_cast<double>(pruned.listed));
  EXPECT_EQ(pruned.listed, result.steps.size() + pruned.not_recorded + pruned.model.slow +
                               pruned.model.failing + pruned.built_not_run + pruned.never_reached);
  const OutcomeCounts& outcomes = result.outcomes;
  EXPECT_EQ(result.steps.size(), outcomes.correct + outcomes.compile + outcomes.runtime +
                                     outcomes.timeout + outcomes.wrong + outcomes.device_limit);
}

TEST(Tune, FindsTheBestWithAFractionOfTheSpace) {
  const Space space = small_space();
  ASSERT_EQ(space.size(), 103U);
  ComputedExecutor executor(exact);
  const TuneResult result =
      tune(space, commands_for(space), executor, nullptr, options_of(40)).value();
  EXPECT_EQ(result.steps.size(), 40U);
  EXPECT_EQ(space.text(*result.winner), "block=64 unroll=4 pad=1");
  EXPECT_EQ(result.default_value, 1 + 2 + 1 + 0.1);
  EXPECT_EQ(result.steps.front().id, result.default_id);
  EXPECT_EQ(result.steps.front().phase, Phase::baseline);
  EXPECT_EQ(result.steps[1].phase, Phase::seed);
  EXPECT_EQ(result.steps.back().phase, Phase::confirm);
  const std::vector<ConfigId> order = ids(result);
  EXPECT_EQ(std::set<ConfigId>(order.begin(), order.end()).size(), order.size());
  EXPECT_EQ(result.stopped_because, "the budget of 40 evaluations was used");
  EXPECT_EQ(result.decision, Decision::separated);
  EXPECT_NEAR(result.finalists.front().over_default->ratio, 4.1, 1e-12);
  expect_nothing_lost(result);
}

TEST(Tune, MaximisingFindsTheLargest) {
  const Space space = small_space();
  ComputedExecutor executor([](const std::vector<double>& values, const Job&) {
    return measured({1 / time_of(values[0], values[1], values[2])});
  });
  TuneOptions options = options_of(40);
  options.objective.maximize = true;
  const TuneResult result = tune(space, commands_for(space), executor, nullptr, options).value();
  EXPECT_EQ(space.text(*result.winner), "block=64 unroll=4 pad=1");
  EXPECT_NEAR(result.finalists.front().over_default->ratio, 4.1, 1e-9);
}

TEST(Tune, WarmStartComesBehindTheDefaultAndFourAreTaken) {
  const Space space = small_space();
  ComputedExecutor executor(exact);
  TuneOptions options = options_of(8);
  options.warm_start = {50, space.default_configuration(), 51, 52, 53, 54};
  const TuneResult result = tune(space, commands_for(space), executor, nullptr, options).value();
  const std::vector<ConfigId> order = ids(result);
  EXPECT_THAT(std::vector<ConfigId>(order.begin(), order.begin() + 5),
              ElementsAre(space.default_configuration(), 50, 51, 52, 53));
  EXPECT_EQ(result.steps[4].phase, Phase::warm_start);
}

TEST(Tune, FailuresAreCountedAndNeverEndIt) {
  const Space space = small_space();
  ComputedExecutor executor([](const std::vector<double>& values, const Job& job) {
    Evaluation failed;
    failed.detail = "made to fail";
    if (values[1] == 8)
      failed.outcome = Outcome::compile_failed;
    else if (values[1] == 16)
      failed.outcome = Outcome::timed_out;
    else if (values[0] == 16 && values[2] == 0)
      failed.outcome = Outcome::wrong;
    else
      return exact(values, job);
    return failed;
  });
  const TuneResult result =
      tune(space, commands_for(space), executor, nullptr, options_of(103)).value();
  EXPECT_EQ(result.steps.size() + result.pruned.model.failing + result.pruned.model.slow +
                result.pruned.never_reached,
            103U);
  EXPECT_EQ(space.text(*result.winner), "block=64 unroll=4 pad=1");
  EXPECT_EQ(result.default_value, std::nullopt);
  EXPECT_THAT(result.warnings, Contains(HasSubstr("the default configuration did not work")));
  EXPECT_FALSE(result.finalists.front().over_default.has_value());
  expect_nothing_lost(result);
}

TEST(Tune, NothingWorks) {
  const Space space = small_space();
  ComputedExecutor executor([](const std::vector<double>&, const Job&) { return Evaluation{}; });
  const TuneResult result =
      tune(space, commands_for(space), executor, nullptr, options_of(12)).value();
  EXPECT_EQ(result.winner, std::nullopt);
  EXPECT_EQ(result.outcomes.runtime, result.steps.size());
  EXPECT_EQ(result.decision, Decision::not_compared);
}

TEST(Tune, TimeLimitsFollowTheBestRun) {
  const Space space = small_space();
  ComputedExecutor executor(exact);
  TuneOptions options = options_of(5);
  options.first_timeout_seconds = 30;
  options.timeout_factor = 8;
  ASSERT_TRUE(tune(space, commands_for(space), executor, nullptr, options).has_value());
  EXPECT_EQ(executor.runs[0].run_limit_seconds, 30);
  EXPECT_EQ(executor.runs[1].run_limit_seconds, 2);  // 8 x 0.25 s
}

TEST(Tune, NoisyEqualsAreATie) {
  const Space space = small_space();
  std::uint64_t state = 3;
  ComputedExecutor executor([&](const std::vector<double>& values, const Job&) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const double noise = static_cast<double>(state >> 40U) / static_cast<double>(1U << 24U);
    return measured({time_of(values[0], values[1], 1) * (1 + 0.05 * noise)});  // pad is nothing
  });
  TuneOptions options = options_of(60);
  const TuneResult result = tune(space, commands_for(space), executor, nullptr, options).value();
  EXPECT_EQ(result.decision, Decision::tie);
  EXPECT_FALSE(result.tied.empty());
  EXPECT_THAT(space.text(*result.winner), HasSubstr("block=64 unroll=4"));
  EXPECT_LE(*result.over_runner_up->low, 1);
  // The default is no rival, and still has a sample of every round.
  std::size_t of_default = 0, of_winner = 0;
  for (const Job& job : executor.runs) {
    if (job.exact_runs == 0) continue;
    of_default += job.id == result.default_id ? 1U : 0U;
    of_winner += job.id == *result.winner ? 1U : 0U;
  }
  EXPECT_EQ(of_winner, options.final_rounds);
  EXPECT_EQ(of_default, of_winner);
  EXPECT_GT(*result.finalists.front().over_default->low, 1);
}

TEST(Tune, BuildsTwiceAsManyAsItRunsAndCountsTheOthers) {
  const Space space = small_space();
  ComputedExecutor executor(exact);
  TuneOptions options = options_of(24);
  options.build_folders = "/nowhere";
  const TuneResult result =
      tune(space, commands_for(space, true), executor, nullptr, options).value();
  EXPECT_EQ(result.steps.size(), 24U);
  EXPECT_GT(result.pruned.built_not_run, 0U);
  EXPECT_EQ(executor.builds.size() % 2, 0U);
  EXPECT_EQ(result.pruned.built_not_run, executor.builds.size() / 2);
  EXPECT_EQ(result.built_ahead.per_run, 2U);
  for (const Job& job : executor.runs)
    EXPECT_THAT(job.code_object.string(), HasSubstr(job.build_folder.string() + "/k.hsaco"));
  expect_nothing_lost(result);
}

TEST(Tune, SaysWhatBuildingAheadToldOfTimesThatFollowSpills) {
  const Space space = small_space();
  const auto spills = [](const std::vector<double>& values) {
    return static_cast<std::int64_t>(values[0] * 7 + values[1] * 13) % 5;
  };
  ComputedExecutor executor([&](const std::vector<double>& values, const Job&) {
    Evaluation evaluation = measured({100.0 + 40.0 * static_cast<double>(spills(values))});
    CompiledKernel& kernel = evaluation.compiled.emplace_back();
    kernel.vgprs = 32;
    kernel.spills = spills(values);
    return evaluation;
  });
  executor.spills_of = spills;
  TuneOptions options = options_of(40);
  options.search.effort = Effort::full;
  options.build_folders = "/nowhere";
  options.build_ahead = 4;
  const TuneResult result =
      tune(space, commands_for(space, true), executor, nullptr, options).value();
  EXPECT_EQ(result.built_ahead.per_run, 4U);
  EXPECT_EQ(result.pruned.built_not_run, executor.builds.size() / 4 * 3);
  EXPECT_DOUBLE_EQ(result.built_ahead.unused_build_seconds,
                   0.5 * static_cast<double>(result.pruned.built_not_run));
  EXPECT_GE(result.built_ahead.compared, 8U);
  EXPECT_LT(result.built_ahead.error_with, result.built_ahead.error_without);
  EXPECT_FALSE(result.built_ahead.error_without_mix) << "no instructions are known";

  options.build_ahead = 1;
  ComputedExecutor alone(exact);
  const TuneResult plain = tune(space, commands_for(space, true), alone, nullptr, options).value();
  EXPECT_EQ(plain.pruned.built_not_run, 0U);
  EXPECT_EQ(plain.built_ahead.compared, 0U);
}

// A time that goes with the share of memory instructions, which the parameters do not show: the
// search that knows the instructions predicts better, and has found better after as many runs.
TEST(Tune, ATimeThatFollowsTheInstructionsIsLearnedFasterWithThem) {
  const Space space = small_space();
  const auto mix = [](const std::vector<double>& values) {
    const auto drawn = static_cast<std::int64_t>(values[0] * 7 + values[1] * 13 + values[2] * 5);
    return KernelMix{.instructions = 1000, .valu = 400, .memory = drawn % 11 * 40, .branches = 9};
  };
  const auto search = [&](bool known, std::uint64_t seed) {
    const auto kernel_mix = [&, known](const std::vector<double>& values) {
      return known ? std::optional(mix(values)) : std::nullopt;
    };
    ComputedExecutor executor([&](const std::vector<double>& values, const Job&) {
      Evaluation evaluation = measured({100 + static_cast<double>(mix(values).memory)});
      CompiledKernel& kernel = evaluation.compiled.emplace_back();
      kernel.vgprs = 32;
      kernel.mix = kernel_mix(values);
      return evaluation;
    });
    executor.spills_of = [](const std::vector<double>&) { return 0; };
    executor.mix_of = kernel_mix;
    TuneOptions options = options_of(40);
    options.search.seed = seed;
    options.search.effort = Effort::full;
    options.build_folders = "/nowhere";
    options.build_ahead = 4;
    return tune(space, commands_for(space, true), executor, nullptr, options).value();
  };
  double with = 0;
  double without = 0;
  double error_with = 0;
  double error_without_mix = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const TuneResult known = search(true, seed);
    error_with += *known.built_ahead.error_with;
    error_without_mix += *known.built_ahead.error_without_mix;
    // What was measured once the first were known: how soon good ones are picked.
    const auto mean = [](const TuneResult& result) {
      double sum = 0;
      for (std::size_t i = 14; i < 26; ++i) sum += *result.steps[i].evaluation.value;
      return sum;
    };
    with += mean(known);
    without += mean(search(false, seed));
  }
  EXPECT_LT(with, 0.8 * without);
  // Predictions of one search are few: one seed in eight may have bad luck.
  EXPECT_LT(error_with, 0.8 * error_without_mix);
}

TEST(Tune, WhatDoesNotBuildIsAResultAndTakesNobodysRun) {
  const Space space = small_space();
  ComputedExecutor executor([](const std::vector<double>& values, const Job& job) {
    if (values[0] == 512) {
      Evaluation failed;
      failed.outcome = Outcome::compile_failed;
      return failed;
    }
    return exact(values, job);
  });
  executor.unbuildable = "512";
  TuneOptions options = options_of(40);
  options.build_folders = "/nowhere";
  const TuneResult result =
      tune(space, commands_for(space, true), executor, nullptr, options).value();
  EXPECT_LE(result.steps.size(), 40U);
  EXPECT_GT(result.outcomes.compile, 0U);
  std::size_t failed_builds = 0;
  for (const Job& job : executor.builds) failed_builds += job.run[1] == "512" ? 1U : 0U;
  EXPECT_GT(failed_builds, 0U);
  // Of those that were built, every one was run or ruled out by its figures.
  std::size_t searched = 0;
  for (const Job& job : executor.runs) searched += job.exact_runs == 0 ? 1U : 0U;
  EXPECT_EQ(result.steps.size(), searched + failed_builds);
  EXPECT_EQ(space.text(*result.winner), "block=64 unroll=4 pad=1");
  expect_nothing_lost(result);
}

std::string history(const Space& space, const TuneResult& result) {
  std::string text;
  for (const Step& step : result.steps)
    text += space.text(step.id) + " " + std::string(to_string(step.phase)) + " " +
            std::to_string(step.evaluation.value.value_or(-1)) + "\n";
  text += "winner " + space.text(*result.winner);
  return text + " " + std::string(to_string(result.decision));
}

// Stopped after any number of evaluations, also in the last comparison and in the middle of a
// batch, the resumed tuning ends as the undisturbed one and asks for nothing twice.
TEST(Tune, ResumedAnywhereItEndsTheSame) {
  const Space space = small_space();
  const Commands commands = commands_for(space);
  const TuneOptions options = options_of(15);
  ComputedExecutor undisturbed(exact, 3);
  const std::string expected =
      history(space, tune(space, commands, undisturbed, nullptr, options).value());
  const std::size_t all = undisturbed.runs.size();
  ASSERT_GT(all, 30U);
  for (std::size_t stop = 0; stop < all; stop += stop < 15 ? 2 : 7) {
    const TempFolder folder;
    const auto file = folder.path() / "journal.jsonl";
    JournalKey key;
    key.command = "app";
    ComputedExecutor first(exact, 3), second(exact, 3);
    first.stop_after = stop;
    {
      Journal journal = Journal::open(file, key, false).value();
      const auto stopped = tune(space, commands, first, &journal, options);
      ASSERT_FALSE(stopped.has_value());
      EXPECT_EQ(stopped.error().code, ErrorCode::interrupted);
    }
    Journal journal = Journal::open(file, key, true).value();
    const TuneResult result = tune(space, commands, second, &journal, options).value();
    EXPECT_EQ(history(space, result), expected) << "stopped after " << stop;
    EXPECT_EQ(first.runs.size() + second.runs.size(), all) << "stopped after " << stop;
    EXPECT_EQ(result.resumed, std::min<std::size_t>(stop, 15));
  }
}

/// Every run scatters by up to 6 %, by its number alone; a lucky first reading in four.
ComputedExecutor::Answer scattered() {
  return [seen = std::map<std::vector<double>, int>()](const std::vector<double>& values,
                                                       const Job& job) mutable {
    const int number = job.exact_runs == 0 ? 0 : ++seen[values];
    const double time = time_of(values[0], values[1], values[2]);
    const double part = std::fmod(7.3 * values[0] + 3.1 * values[1] + 1.7 * number, 1.0) - 0.5;
    return measured({time * (1 + 0.12 * part)});
  };
}

TEST(Tune, ARaceRunsAgainWhatMayBeTheBest) {
  const Space space = small_space();
  TuneOptions options = options_of(40);
  options.race = true;
  ComputedExecutor executor(scattered());
  const TuneResult result = tune(space, commands_for(space), executor, nullptr, options).value();
  ASSERT_TRUE(result.race.has_value());
  const Race& race = *result.race;
  std::size_t first = 0;
  std::size_t again = 0;
  for (const Job& job : executor.runs) {
    first += job.exact_runs == 0 ? 1U : 0U;
    if (job.exact_runs == 0) {
      EXPECT_EQ(job.repeats.most_runs, 1U);
    }
  }
  std::size_t raced = 0;
  std::optional<double> best;
  for (const Step& step : result.steps) {
    again += step.evaluation.samples.size() - 1;
    const bool twice = step.evaluation.samples.size() > 1;
    raced += twice ? 1U : 0U;
    // Once the best is near, what is clearly worse runs once.
    EXPECT_FALSE(twice && best < 1.2 && *step.evaluation.value > 1.5) << *step.evaluation.value;
    if (!best || *step.evaluation.value < *best) best = step.evaluation.value;
    EXPECT_EQ(step.best_so_far, best);
  }
  EXPECT_EQ(first, 40U);
  EXPECT_EQ(race.again, again);
  EXPECT_GT(race.again, 0U);
  EXPECT_EQ(race.runs, first + again);
  EXPECT_EQ(race.raced, raced);
  EXPECT_GE(race.best, 2U);
  EXPECT_EQ(race.without_at_least, 3 * 40U);
  EXPECT_LT(race.runs, race.without_at_least);
  EXPECT_FALSE(tune(space, commands_for(space), executor, nullptr, options_of(3)).value().race);
}

TEST(Tune, AFailureInARaceIsCountedAndNeverRunAgain) {
  const Space space = small_space();
  TuneOptions options = options_of(30);
  options.race = true;
  options.final_rounds = 0;
  ComputedExecutor executor([](const std::vector<double>& values, const Job& job) {
    if (job.exact_runs == 0) return exact(values, job);
    Evaluation failed;
    failed.outcome = Outcome::run_failed;
    failed.detail = "crashed";
    return failed;
  });
  const TuneResult result = tune(space, commands_for(space), executor, nullptr, options).value();
  EXPECT_GT(result.race->failed, 0U);
  EXPECT_EQ(result.race->failed, result.race->again);
  EXPECT_EQ(result.race->runs, executor.runs.size());
  std::set<std::vector<std::string>> again;
  for (const Job& job : executor.runs) {
    if (job.exact_runs > 0) {
      EXPECT_TRUE(again.insert(job.run).second);
    }
  }
}

// As above, with a race: what ran again is in the journal too.
TEST(Tune, AResumedRaceEndsTheSame) {
  const Space space = small_space();
  const Commands commands = commands_for(space);
  TuneOptions options = options_of(20);
  options.race = true;
  const ComputedExecutor::Answer answer = [](const std::vector<double>& values, const Job& job) {
    Evaluation once = exact(values, job);
    once.samples.resize(1);
    return once;
  };
  ComputedExecutor undisturbed(answer, 3);
  const TuneResult whole = tune(space, commands, undisturbed, nullptr, options).value();
  ASSERT_GT(whole.race->again, 0U);
  const std::size_t all = undisturbed.runs.size();
  for (std::size_t stop = 1; stop < whole.race->runs + 4; stop += 3) {
    const TempFolder folder;
    JournalKey key;
    key.command = "app";
    ComputedExecutor first(answer, 3), second(answer, 3);
    first.stop_after = stop;
    {
      Journal journal = Journal::open(folder.path() / "j", key, false).value();
      ASSERT_FALSE(tune(space, commands, first, &journal, options).has_value());
    }
    Journal journal = Journal::open(folder.path() / "j", key, true).value();
    const TuneResult result = tune(space, commands, second, &journal, options).value();
    EXPECT_EQ(history(space, result), history(space, whole)) << "stopped after " << stop;
    EXPECT_EQ(result.race->again, whole.race->again);
    EXPECT_EQ(first.runs.size() + second.runs.size(), all) << "stopped after " << stop;
  }
}

TEST(Tune, AValueMoreKeepsTheJournal) {
  SpaceDescription description = small_space().description();
  description.parameters[2].values.emplace_back(std::int64_t{4});
  const Space larger = Space::list(std::move(description)).value();
  const Space space = small_space();
  const TempFolder folder;
  JournalKey key;
  key.command = "app";
  ComputedExecutor first(exact), second(exact);
  {
    Journal journal = Journal::open(folder.path() / "j", key, false).value();
    ASSERT_TRUE(tune(space, commands_for(space), first, &journal, options_of(103)).has_value());
  }
  Journal journal = Journal::open(folder.path() / "j", key, true).value();
  const TuneResult result =
      tune(larger, commands_for(larger), second, &journal, options_of(larger.size())).value();
  for (const Job& job : second.runs) {
    if (job.exact_runs == 0) {
      EXPECT_EQ(job.run[3], "4");
    }
  }
}

Recording recording_of(const Space& space) {
  Recording recording;
  recording.format = "csv";
  recording.parameters = {"unroll", "block", "pad"};  // another order than the space's
  for (ConfigId id = 0; id < space.size(); ++id) {
    const double block = *number_of(space.value(id, 0)), unroll = *number_of(space.value(id, 1)),
                 pad = *number_of(space.value(id, 2));
    RecordedConfiguration recorded;
    recorded.values = {space.value(id, 1), space.value(id, 0), space.value(id, 2)};
    if (block == 512) {
      recorded.outcome = Outcome::compile_failed;
    } else {
      recorded.value = time_of(block, unroll, pad);
      for (int i = 0; i < 8; ++i) recorded.repeats.push_back(*recorded.value * (1 + 1e-3 * i));
    }
    recording.configurations.push_back(std::move(recorded));
  }
  return recording;
}

TEST(Simulate, AnswersFromTheRecordingAlone) {
  const Space space = small_space();
  Recording recording = recording_of(space);
  recording.configurations.resize(90);
  const TuneResult result = simulate(space, recording, nullptr, options_of(60)).value();
  EXPECT_EQ(result.simulation->optimum, 1.0);
  EXPECT_EQ(result.simulation->best, 1.0);
  EXPECT_EQ(space.text(result.simulation->optimum_id), "block=64 unroll=4 pad=1");
  EXPECT_EQ(result.winner, result.simulation->optimum_id);
  EXPECT_EQ(result.pruned.not_recorded, 13U);
  expect_nothing_lost(result);
}

TEST(Simulate, ARaceDrawsRecordedRepeatsAndItsJournalJoinsThem) {
  const Space space = small_space();
  const Recording recording = recording_of(space);
  TuneOptions options = options_of(40);
  options.race = true;
  const TempFolder folder;
  Journal journal = Journal::open(folder.path() / "j", {}, false).value();
  const TuneResult result = simulate(space, recording, &journal, options).value();
  EXPECT_GT(result.race->again, 0U);
  EXPECT_EQ(result.simulation->best, 1.0);
  EXPECT_EQ(history(space, simulate(space, recording, nullptr, options).value()),
            history(space, result));
  const Recording joined = read_recording(folder.path() / "j").value();
  ASSERT_EQ(joined.configurations.size(), result.steps.size());
  for (std::size_t i = 0; i < result.steps.size(); ++i) {
    EXPECT_EQ(joined.configurations[i].value, result.steps[i].evaluation.value);
    if (result.steps[i].evaluation.value) {
      EXPECT_EQ(joined.configurations[i].repeats, result.steps[i].evaluation.samples);
    }
  }
}

TEST(Simulate, UsesUpASmallSpaceExactly) {
  const Space space = small_space();
  TuneOptions options = options_of(1000);
  options.search.prune_factor = 1e9;
  const TuneResult result = simulate(space, recording_of(space), nullptr, options).value();
  EXPECT_EQ(result.steps.size() + result.pruned.model.failing, space.size());
  EXPECT_EQ(result.pruned.never_reached, 0U);
  EXPECT_NE(result.stopped_because, "");
}

TEST(Simulate, ARecordingOfSomethingElseIsRefused) {
  const Space space = small_space();
  Recording recording = recording_of(space);
  recording.parameters = {"a", "b", "c"};
  const auto result = simulate(space, recording, nullptr, options_of(10));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::bad_input);
}

TEST(CompareInterleaved, RotatesAndDropsTheSurelySlower) {
  std::vector<Contestant> contestants(3);
  for (ConfigId id = 0; id < 3; ++id)
    contestants[id] = {.id = id, .search_value = 1, .samples = {}};
  std::vector<std::vector<std::size_t>> orders;
  const Round round =
      [&](std::size_t number,
          std::span<const std::size_t> order) -> Result<std::vector<std::optional<double>>> {
    orders.emplace_back(order.begin(), order.end());
    std::vector<std::optional<double>> values;
    for (const std::size_t index : order)  // 0 and 1 alike, 2 clearly slower
      values.push_back((index == 2 ? 2.0 : 1.0) + 0.01 * static_cast<double>((number + index) % 3));
    return values;
  };
  ASSERT_TRUE(compare_interleaved(contestants, {}, 12, false, round).has_value());
  EXPECT_THAT(orders[0], ElementsAre(0, 1, 2));
  EXPECT_THAT(orders[1], ElementsAre(1, 2, 0));
  EXPECT_EQ(contestants[2].samples.size(), kFewestRounds);
  EXPECT_EQ(contestants[0].samples.size(), 12U);
}

TEST(CompareInterleaved, AFailureLeavesAndCannotWin) {
  const Space space = small_space();
  std::vector<Contestant> contestants(2);
  contestants[0] = {.id = 3, .search_value = 1, .samples = {}};
  contestants[1] = {.id = 4, .search_value = 2, .samples = {}};
  const Round round =
      [](std::size_t,
         std::span<const std::size_t> order) -> Result<std::vector<std::optional<double>>> {
    std::vector<std::optional<double>> values;
    for (const std::size_t index : order)
      values.push_back(index == 0 ? std::nullopt : std::optional(2.0));
    return values;
  };
  ASSERT_TRUE(compare_interleaved(contestants, {}, 12, false, round).has_value());
  TuneResult result;
  decide(result, space, contestants, 5);
  EXPECT_EQ(result.winner, 4U);
  EXPECT_EQ(result.decision, Decision::only_one);
  EXPECT_THAT(result.warnings, Contains(HasSubstr("failed in the last comparison")));
}

}  // namespace
}  // namespace perflab::tune
