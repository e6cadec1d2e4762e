// Recordings put together, and the figures of a table: losses, one configuration for all, problems
// left out.
#include "tune/table/dispatch_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tune/table/written_problems.h"

namespace perflab::tune {
namespace {

using test::joined;
using test::kFails;
using test::kNone;
using test::measured;
using test::WrittenProblem;
using testing::AllOf;
using testing::HasSubstr;

DispatchTable table_of(const MeasuredProblems& problems, const RuleOptions& options = {}) {
  return make_dispatch_table(problems, options);
}

TEST(DispatchTable, SaysWhatIsLost) {
  const auto problems = measured({{{1}, {1, 2}}, {{2}, {1, 2}}, {{4}, {2, 1}}});
  const DispatchTable table = table_of(problems);
  EXPECT_EQ(table.rule.leaves(), 2U);
  EXPECT_EQ(table.by_rule.losses.mean, 0);
  EXPECT_EQ(table.by_rule.losses.known, 3U);
  // One for all: c = 0, which takes twice as long for the last: the cube root of 2.
  ASSERT_TRUE(table.single.losses.mean && table.single.losses.worst);
  EXPECT_NEAR(*table.single.losses.mean, std::cbrt(2.0) - 1, 1e-12);
  EXPECT_NEAR(*table.single.losses.worst, 1, 1e-12);
  EXPECT_EQ(table.single.losses.worst_problem, 2U);
}

TEST(DispatchTable, LeavesEveryProblemOutOnce) {
  const auto problems = measured({{{1}, {1, 2}}, {{2}, {1, 2}}, {{4}, {2, 1}}});
  const std::vector<Choice> unseen = table_of(problems).by_rule.unseen;
  // Without 1: 2 and 4 are told apart at 2.83, and 1 is below. Without 2: 1 and 4 are told apart
  // at 2, which is not below 2. Without 4: c = 0 is best for both.
  ASSERT_EQ(unseen.size(), 3U);
  EXPECT_EQ(unseen[0].loss, 0);
  EXPECT_NEAR(unseen[1].loss.value_or(-1), 1, 1e-12);
  EXPECT_NEAR(unseen[2].loss.value_or(-1), 1, 1e-12);
  EXPECT_EQ(unseen[2].value, 2);
}

TEST(DispatchTable, WhatWasNotMeasuredHasNoLoss) {
  const auto problems = measured({{{1}, {1, 2, 3}}, {{2}, {1, 2, 3}}, {{4}, {kNone, 1, 3}}});
  const DispatchTable table = table_of(problems);
  const Choice& last = table.by_rule.unseen[2];
  EXPECT_EQ(last.configuration, 0U);
  EXPECT_EQ(last.state, Measured::not_measured);
  EXPECT_FALSE(last.value || last.loss);
  EXPECT_EQ(table.by_rule.unseen_losses.known, 2U);
  EXPECT_EQ(table.by_rule.unseen_losses.not_measured, 1U);
  EXPECT_EQ(table.by_rule.losses.not_measured, 0U);

  const auto failing = measured({{{1}, {1, 2}}, {{2}, {1, 2}}, {{4}, {kFails, 1}}});
  const DispatchTable other = table_of(failing);
  EXPECT_EQ(other.by_rule.unseen[2].state, Measured::failed);
  EXPECT_EQ(other.by_rule.unseen_losses.failed, 1U);
}

TEST(DispatchTable, WithoutAnyLossHasNoMean) {
  const auto problems = measured({{{1}, {1, kNone}}, {{2}, {kNone, 1}}});
  const LossFigures losses = table_of(problems).by_rule.unseen_losses;
  EXPECT_FALSE(losses.mean || losses.worst);
  EXPECT_EQ(losses.not_measured, 2U);
}

TEST(DispatchTable, DoesNotDependOnTheOrderOfProblems) {
  perflab::test::Prng prng(3);
  for (int round = 0; round < 40; ++round) {
    std::vector<WrittenProblem> written =
        test::any_problems(prng, static_cast<std::size_t>(1 + prng.below(2)), 5, 6);
    const auto first = measured(written);
    std::ranges::reverse(written);
    std::swap(written[1], written[3]);
    const auto second = measured(written);
    const DispatchTable a = table_of(first, {.leaves = 3}), b = table_of(second, {.leaves = 3});
    EXPECT_EQ(first.configurations, second.configurations);
    ASSERT_EQ(a.rule.nodes.size(), b.rule.nodes.size());
    for (std::size_t i = 0; i < a.rule.nodes.size(); ++i) {
      EXPECT_EQ(a.rule.nodes[i].configuration, b.rule.nodes[i].configuration);
      EXPECT_EQ(a.rule.nodes[i].problems, b.rule.nodes[i].problems);
      ASSERT_EQ(a.rule.nodes[i].question.has_value(), b.rule.nodes[i].question.has_value());
      if (!a.rule.nodes[i].question) continue;
      EXPECT_EQ(a.rule.nodes[i].question->below, b.rule.nodes[i].question->below);
    }
    EXPECT_EQ(a.by_rule.unseen_losses.mean, b.by_rule.unseen_losses.mean);
    for (const LossFigures* const one :
         {&a.by_rule.losses, &a.by_rule.unseen_losses, &a.single.losses, &a.single.unseen_losses})
      EXPECT_GE(one->mean.value_or(0), 0);
  }
}

TEST(MeasuredProblems, MatchesConfigurationsByTheirValues) {
  Recording first = test::recording_of({}), second = first;
  first.parameters = {"b", "a"};
  second.parameters = {"a", "b"};
  const auto add = [](Recording& to, std::vector<Value> values, double value) {
    RecordedConfiguration one;
    one.values = std::move(values);
    one.value = value;
    to.configurations.push_back(std::move(one));
  };
  add(first, {std::string("x"), std::int64_t{16}}, 2);
  add(first, {std::string("x"), std::int64_t{8}}, 4);
  add(second, {16.0, std::string("x")}, 3);
  add(second, {16.0, std::string("y")}, 0);  // no value of a ratio
  const auto both =
      join_recordings({"M"},
                      {{.named = {.size = {{"M", 1}}, .recording = "a"}, .recording = first},
                       {.named = {.size = {{"M", 2}}, .recording = "b"}, .recording = second}},
                      false);
  ASSERT_TRUE(both) << describe(both.error());
  EXPECT_EQ(both->parameters, (std::vector<std::string>{"b", "a"}));
  ASSERT_EQ(both->configurations.size(), 2U);  // y worked nowhere
  EXPECT_EQ(both->configurations[0][1], Value(std::int64_t{8}));
  EXPECT_EQ(both->for_all, 1U);
  EXPECT_EQ(both->not_positive, 1U);
  EXPECT_EQ(both->problems[0].best, 1U);
  EXPECT_EQ(both->problems[1].states[0], Measured::not_measured);
  EXPECT_EQ(both->problems[1].values[1], 3);
}

TEST(MeasuredProblems, RefusesWhatIsNotOneKernel) {
  Recording other = test::recording_of({1});
  other.parameters = {"d"};
  const auto both = join_recordings(
      {"M"},
      {{.named = {.size = {{"M", 1}}, .recording = "a.csv"}, .recording = test::recording_of({1})},
       {.named = {.size = {{"M", 2}}, .recording = "b.csv"}, .recording = other}},
      false);
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().code, ErrorCode::bad_input);
  EXPECT_THAT(both.error().message, AllOf(HasSubstr("a.csv"), HasSubstr("b.csv"),
                                          HasSubstr("only one of them has c, d")));
}

TEST(MeasuredProblems, RefusesAProblemWithoutAnyValue) {
  const auto none = joined({{{1}, {1, 2}}, {{2}, {kFails, 0}}});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::bad_input);
  EXPECT_EQ(none.error().message, "1: no configuration worked, with a value above 0");
}

TEST(MeasuredProblems, TakesTheDirectionOfJournals) {
  const auto both = [](std::optional<bool> first, std::optional<bool> second, bool asked) {
    std::vector<RecordedProblem> problems = {
        {.named = {.size = {{"M", 1}}, .recording = "a"}, .recording = test::recording_of({1, 2})},
        {.named = {.size = {{"M", 2}}, .recording = "b"}, .recording = test::recording_of({1, 2})}};
    problems[0].recording.maximize = first;
    problems[1].recording.maximize = second;
    return join_recordings({"M"}, std::move(problems), asked);
  };
  EXPECT_FALSE(both({}, {}, false)->maximize);
  EXPECT_TRUE(both({}, {}, true)->maximize);
  EXPECT_TRUE(both({}, true, false)->maximize);
  EXPECT_TRUE(both(true, true, true)->maximize);
  EXPECT_FALSE(both(false, {}, false)->maximize);
  EXPECT_FALSE(both(false, true, false).has_value());
  EXPECT_FALSE(both({}, false, true).has_value());
  EXPECT_EQ(both({}, true, false)->problems[0].best, 1U);
}

}  // namespace
}  // namespace perflab::tune
