// What a search learns from earlier tunings: good ones, wrong ones, and such as know other
// parameters and values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tune/priors/prior_task.h"
#include "tune/records/recording.h"
#include "tune/search/search.h"
#include "written_space.h"

namespace perflab::tune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Space tiles() {
  return product_space(
      {{"X", whole_numbers(1, 16)}, {"Y", whole_numbers(1, 16)}, {"Z", whole_numbers(1, 4)}});
}

/// A valley that wants X = 12, Y = 5, Z = 3, with a ridge over the odd X.
double valley(double x, double y, double z, double scale) {
  const double odd = std::fmod(x, 2) == 1 ? 0.4 : 0;
  return scale * std::exp(0.02 * (x - 12) * (x - 12) + 0.03 * (y - 5) * (y - 5) +
                          0.2 * (z - 3) * (z - 3) + odd);
}

std::optional<double> time_of(const Space& space, ConfigId id) {
  return valley(number_at(space, id, 0), number_at(space, id, 1), number_at(space, id, 2), 1);
}

/// The same kernel on a slower GPU, which wants Y a little larger.
Recording on_another_gpu(const Space& space) {
  Recording recording;
  recording.format = "csv";
  for (const Parameter& parameter : space.parameters())
    recording.parameters.push_back(parameter.name);
  for (ConfigId id = 0; id < space.size(); ++id) {
    RecordedConfiguration one;
    for (std::size_t p = 0; p < space.width(); ++p) one.values.push_back(space.value(id, p));
    one.value =
        valley(number_at(space, id, 0), number_at(space, id, 1) - 1, number_at(space, id, 2), 7);
    recording.configurations.push_back(std::move(one));
  }
  return recording;
}

/// The values of other configurations.
Recording shuffled(Recording recording, std::uint64_t seed) {
  auto& all = recording.configurations;
  for (std::size_t i = all.size(); i > 1; --i) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    std::swap(all[i - 1].values, all[(seed >> 33U) % i].values);
  }
  return recording;
}

std::shared_ptr<const PriorTask> prior(const Space& space, const Recording& recording,
                                       bool maximize = false) {
  PriorDescription named;
  named.file = "a.csv";
  auto made = PriorTask::make(space, recording, maximize, std::move(named));
  EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().message);
  return made.value_or(nullptr);
}

SearchOptions options_of(std::uint64_t seed, Priors priors) {
  SearchOptions options;
  options.seed = seed;
  options.priors = std::move(priors);
  return options;
}

/// Evaluations until the best configuration was measured, over ten seeds.
std::size_t evaluations(const Space& space, const Priors& priors) {
  std::size_t sum = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Search search(space, options_of(seed, priors));
    const Course course = drive(search, space, time_of, 120);
    const auto best = std::ranges::min_element(
        course.values, {}, [](const std::optional<double>& value) { return *value; });
    EXPECT_DOUBLE_EQ(**best, 1) << "seed " << seed;
    sum += static_cast<std::size_t>(best - course.values.begin()) + 1;
  }
  return sum;
}

TEST(Prior, AGoodOneSavesEvaluationsAndAWrongOneCostsFew) {
  const Space space = tiles();
  const Recording other = on_another_gpu(space);
  const std::size_t without = evaluations(space, {});
  EXPECT_LT(evaluations(space, {prior(space, other)}), without * 3 / 4);
  EXPECT_LT(evaluations(space, {prior(space, shuffled(other, 1))}), without + 10 * 4);
}

TEST(Prior, OfSeveralTheRightOneGetsTheWeight) {
  const Space space = tiles();
  const Recording other = on_another_gpu(space);
  Search search(space, options_of(3, {prior(space, shuffled(other, 5)), prior(space, other)}));
  drive(search, space, time_of, 40);
  const std::vector<PriorFigures> figures = search.priors();
  ASSERT_EQ(figures.size(), 2U);
  EXPECT_GT(*search.prior_odds(), 1);
  EXPECT_GT(*figures[1].weight, 0.3);
  EXPECT_LT(std::abs(*figures[0].weight), 0.5 * *figures[1].weight);
  EXPECT_GT(*figures[1].rank_correlation, 0.8);
  EXPECT_LT(*figures[0].rank_correlation, 0.5);
  EXPECT_EQ(figures[0].ranked, 40U);
}

TEST(Prior, AWrongOneIsNotBelieved) {
  const Space space = tiles();
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    Search search(space, options_of(seed, {prior(space, shuffled(on_another_gpu(space), seed))}));
    drive(search, space, time_of, 40);
    EXPECT_LT(*search.prior_odds(), 0) << seed;
    EXPECT_EQ(*search.priors().front().weight, 0) << seed;
  }
}

TEST(Prior, TheSearchIsTheSameWhateverTheOrderOfABatch) {
  const Space space = tiles();
  const Priors priors = {prior(space, on_another_gpu(space))};
  std::vector<std::vector<ConfigId>> orders;
  for (const bool backwards : {false, true}) {
    Search search(space, options_of(1, priors));
    auto& order = orders.emplace_back();
    for (const Proposal& one : drive(search, space, time_of, 60, 4, backwards).proposals)
      order.push_back(one.id);
  }
  EXPECT_EQ(orders[0], orders[1]);
}

TEST(Prior, OfParametersThatOnlyItHasTheBestCounts) {
  const Space space = product_space({{"X", whole_numbers(1, 4)}, {"NEW", whole_numbers(0, 1)}});
  Recording recording;
  recording.parameters = {"OLD", "X"};
  for (std::int64_t x = 1; x <= 4; ++x)
    for (std::int64_t old = 0; old < 3; ++old)
      recording.configurations.push_back({.values = {Value(old), Value(x)},
                                          .outcome = Outcome::correct,
                                          .value = static_cast<double>(old == x % 3 ? x : 100 + x),
                                          .repeats = {},
                                          .compile_ms = {},
                                          .benchmark_ms = {}});
  const auto task = prior(space, recording);
  EXPECT_THAT(task->description().shared, ElementsAre("X"));
  EXPECT_THAT(task->description().only_in_prior, ElementsAre("OLD"));
  EXPECT_THAT(task->description().only_in_space, ElementsAre("NEW"));
  EXPECT_EQ(task->description().evaluations, 12U);
  EXPECT_EQ(task->description().covered, 8U);
  for (ConfigId id = 0; id + 2 < space.size(); ++id) {
    if (id % 2 == 0) {
      EXPECT_EQ(task->at(id), task->at(id + 1)) << "NEW makes no difference";
    }
    EXPECT_LE(task->at(id), task->at(id + 2)) << "more X is slower";
  }
  EXPECT_LT(task->at(0), task->at(2));
}

TEST(Prior, WhatItDidNotMeasureIsPredictedWithinItsRange) {
  const Space space = product_space({{"X", whole_numbers(1, 64)}});
  Recording recording;
  recording.parameters = {"X"};
  for (std::int64_t x = 2; x <= 20; x += 2)
    recording.configurations.push_back({.values = {Value(x)},
                                        .outcome = Outcome::correct,
                                        .value = std::exp(0.2 * static_cast<double>(x)),
                                        .repeats = {},
                                        .compile_ms = {},
                                        .benchmark_ms = {}});
  const auto task = prior(space, recording);
  EXPECT_EQ(task->description().covered, 10U);
  const float least = task->at(1);
  const float most = task->at(19);
  EXPECT_GT(task->at(8), task->at(4)) << "9 lies between what 8 and 10 had";
  EXPECT_LT(task->at(8), task->at(14));
  for (ConfigId id = 0; id < space.size(); ++id) {
    EXPECT_GE(task->at(id), least) << id;
    EXPECT_LE(task->at(id), most) << id;
  }
}

TEST(Prior, AFailureIsABadResultAndNoMore) {
  const Space space = tiles();
  Recording recording = on_another_gpu(space);
  RecordedConfiguration& best = *std::ranges::min_element(
      recording.configurations, {}, [](const RecordedConfiguration& one) { return *one.value; });
  std::vector<Binding> values;
  for (std::size_t p = 0; p < 3; ++p) values.emplace_back(recording.parameters[p], best.values[p]);
  best.outcome = Outcome::compile_failed;
  best.value.reset();
  const auto task = prior(space, recording);
  const ConfigId failed = *space.find_values(values);
  std::size_t better = 0;
  for (ConfigId id = 0; id < space.size(); ++id)
    better += task->at(id) < task->at(failed) ? 1U : 0U;
  EXPECT_GE(better, space.size() * 3 / 4);
  EXPECT_EQ(task->description().worked, space.size() - 1);
  Search search(space, options_of(0, {task}));
  const Course course = drive(search, space, time_of, space.size());
  EXPECT_TRUE(
      std::ranges::any_of(course.proposals, [&](const Proposal& one) { return one.id == failed; }));
}

TEST(Prior, MoreIsBetterWhenMaximising) {
  const Space space = tiles();
  const Recording recording = on_another_gpu(space);
  const auto least = prior(space, recording);
  const auto most = prior(space, recording, true);
  // Its configurations are those of the space, in the same order.
  const auto [low, high] = std::ranges::minmax_element(
      recording.configurations, {}, [](const RecordedConfiguration& one) { return *one.value; });
  const auto fast = static_cast<ConfigId>(low - recording.configurations.begin());
  const auto slow = static_cast<ConfigId>(high - recording.configurations.begin());
  EXPECT_LT(least->at(fast), least->at(slow));
  EXPECT_GT(most->at(fast), most->at(slow));
}

TEST(Prior, OneThatSaysNothingIsRefused) {
  const Space space = tiles();
  const auto refusal = [&](const Recording& recording) {
    PriorDescription named;
    named.file = "p.json";
    const auto made = PriorTask::make(space, recording, false, std::move(named));
    return made ? std::string("taken") : made.error().message;
  };
  Recording recording = on_another_gpu(space);
  recording.parameters = {"A", "B", "C"};
  EXPECT_EQ(refusal(recording), "--prior p.json: it has no parameter of the space");
  recording = on_another_gpu(space);
  for (std::size_t i = 3; i < recording.configurations.size(); ++i)
    recording.configurations[i].outcome = Outcome::run_failed;
  EXPECT_THAT(refusal(recording), HasSubstr("fewer than 4 different configurations worked"));
  recording = on_another_gpu(space);
  recording.configurations.resize(16 * 4);
  recording.parameters = {"X", "B", "C"};
  EXPECT_THAT(refusal(recording), HasSubstr("fewer than 4 different configurations worked"));
}

}  // namespace
}  // namespace perflab::tune
