// Rules of dispatch tables: small cases whose best tree is known, all trees tried by hand on a
// line, and what holds for any problems.
#include "tune/table/rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "tune/table/written_problems.h"

namespace perflab::tune {
namespace {

using test::kFails;
using test::kNone;
using test::measured;
using test::WrittenProblem;
using testing::ElementsAre;

Rule learned(const MeasuredProblems& problems, const RuleOptions& options = {.loss = 0.01}) {
  return learn_rule(problems, test::all_of(problems), options).rule;
}

/// The value of parameter c.
std::int64_t configuration(const MeasuredProblems& problems, const RuleNode& leaf) {
  return std::get<std::int64_t>(problems.configurations[leaf.configuration][0]);
}

TEST(DispatchRule, SplitsAtTheGeometricMean) {
  const auto problems = measured({{{1}, {1, 3}}, {{2}, {1, 3}}, {{4}, {3, 1}}, {{8}, {3, 1}}});
  const Rule rule = learned(problems);
  ASSERT_EQ(rule.nodes.size(), 3U);
  ASSERT_TRUE(rule.nodes[0].question);
  EXPECT_EQ(rule.nodes[0].question->feature, Feature{});
  EXPECT_EQ(rule.nodes[0].question->below, 2.83);  // sqrt(8), in three digits
  EXPECT_EQ(configuration(problems, rule.nodes[1]), 0);
  EXPECT_EQ(configuration(problems, rule.nodes[2]), 1);
  EXPECT_THAT(rule.nodes[1].problems, ElementsAre(0, 1));
  EXPECT_EQ(rule.cost.regret, 0);
  EXPECT_TRUE(rule.exact);
  EXPECT_EQ(&rule.leaf_of(std::vector<double>{2.82}), &rule.nodes[1]);
  EXPECT_EQ(&rule.leaf_of(std::vector<double>{2.83}), &rule.nodes[2]);
}

TEST(DispatchRule, OfNeighboursThatAreNearHasAsManyDigitsAsItTakes) {
  const double next = std::nextafter(1000.0, 2000.0);
  for (const double high : {1001.0, 1000.001, next}) {
    const auto problems = measured({{{1000}, {1, 3}}, {{high}, {3, 1}}});
    const Rule rule = learned(problems);
    ASSERT_EQ(rule.leaves(), 2U) << high;
    EXPECT_GT(rule.nodes[0].question->below, 1000);
    EXPECT_LE(rule.nodes[0].question->below, high);
  }
}

TEST(DispatchRule, IsTheSmallestWithinTheLoss) {
  // Two configurations lose nothing, one loses 0.5 % for one of two: 0.25 % on average.
  const auto problems = measured({{{1}, {1, 1.005}}, {{2}, {3, 1}}});
  EXPECT_EQ(learned(problems, {.loss = 0.01}).leaves(), 1U);
  EXPECT_EQ(learned(problems, {.loss = 0.0026}).leaves(), 1U);
  EXPECT_EQ(learned(problems, {.loss = 0.0024}).leaves(), 2U);
  EXPECT_EQ(learned(problems, {.leaves = 1, .loss = 0}).leaves(), 1U);
}

TEST(DispatchRule, MinimisesTheSumOfLogarithms) {
  const auto two = measured({{{1}, {2, 1}}, {{2}, {2, 1}}, {{3}, {2, 7.9}}});
  // The third problem's best is 2: 4 against 3.95, though 2 + 2 + 1 is less than 1 + 1 + 3.95.
  const Rule rule = learned(two, {.leaves = 1});
  EXPECT_EQ(configuration(two, rule.nodes[0]), 1);
  EXPECT_NEAR(rule.cost.regret, std::log(3.95), 1e-12);
}

TEST(DispatchRule, AsksForAProductOnlyWhereItPays) {
  // Small only where both sizes are: a product asks once where sizes have to ask twice.
  const std::vector<WrittenProblem> by_product = {
      {{1, 1}, {1, 3}}, {{1, 4}, {3, 1}}, {{4, 1}, {3, 1}}, {{4, 4}, {3, 1}}};
  const auto problems = measured(by_product);
  const Rule rule = learned(problems);
  ASSERT_EQ(rule.leaves(), 2U);
  EXPECT_EQ(rule.nodes[0].question->feature.kind, Feature::Kind::product);
  EXPECT_EQ(rule.nodes[0].question->below, 2);
  // By one size alone, though a ratio would do as well.
  const auto plain = measured({{{1, 4}, {1, 3}}, {{4, 4}, {3, 1}}});
  EXPECT_EQ(learned(plain).nodes[0].question->feature, Feature{});
  const auto second = measured({{{4, 1}, {1, 3}}, {{4, 4}, {3, 1}}});
  EXPECT_EQ(learned(second).nodes[0].question->feature, (Feature{.first = 1}));
}

TEST(DispatchRule, AsksForARatio) {
  // Square or not. Two squares and two others have the same product: only the ratio tells them
  // apart with 3 leaves.
  const auto problems = measured(
      {{{1, 1}, {1, 3}}, {{1, 4}, {3, 1}}, {{2, 2}, {1, 3}}, {{4, 1}, {3, 1}}, {{4, 4}, {1, 3}}});
  const Rule rule = learned(problems);
  EXPECT_EQ(rule.leaves(), 3U);
  for (const RuleNode& node : rule.nodes)
    EXPECT_TRUE(!node.question || node.question->feature.kind == Feature::Kind::ratio);
  EXPECT_EQ(rule.cost.regret, 0);
}

TEST(DispatchRule, ALeafWorksForAllItsProblems) {
  // c = 0 is best everywhere but fails for the last; c = 1 is slow and works everywhere.
  const auto problems = measured({{{1}, {1, 9}}, {{2}, {1, 9}}, {{4}, {kFails, 9}}});
  const Rule single = learned(problems, {.leaves = 1});
  EXPECT_EQ(configuration(problems, single.nodes[0]), 1);
  EXPECT_EQ(single.cost.uncovered, 0U);
  const Rule rule = learned(problems);
  ASSERT_EQ(rule.leaves(), 2U);
  EXPECT_EQ(configuration(problems, rule.nodes[1]), 0);
  EXPECT_EQ(configuration(problems, rule.nodes[2]), 1);
}

TEST(DispatchRule, SaysWhatIsUncovered) {
  const auto problems = measured({{{1}, {1, kNone, 5}}, {{2}, {1, kNone, 5}}, {{4}, {kNone, 1}}});
  const Rule single = learned(problems, {.leaves = 1});
  EXPECT_EQ(single.cost.uncovered, 1U);
  EXPECT_EQ(configuration(problems, single.nodes[0]), 0);  // not 2, which covers no more
  EXPECT_FALSE(single.within(10));
  // What covers all is better than what loses nothing.
  const Rule rule = learned(problems, {.loss = 10});
  EXPECT_EQ(rule.leaves(), 2U);
  EXPECT_EQ(rule.cost.uncovered, 0U);
}

TEST(DispatchRule, OfEqualConfigurationsTakesTheFirst) {
  const auto problems = measured({{{1}, {5, 2, 2, 2}}, {{2}, {5, 2, 2, 2}}});
  EXPECT_EQ(configuration(problems, learned(problems).nodes[0]), 1);
}

TEST(DispatchRule, Maximises) {
  const auto problems = measured({{{1}, {1, 3}}, {{2}, {1, 3}}, {{4}, {3, 1}}}, true);
  const Rule rule = learned(problems);
  ASSERT_EQ(rule.leaves(), 2U);
  EXPECT_EQ(configuration(problems, rule.nodes[1]), 1);
  EXPECT_EQ(configuration(problems, rule.nodes[2]), 0);
  EXPECT_NEAR(learned(problems, {.leaves = 1}).cost.regret, std::log(3), 1e-12);
}

/// The least cost of all ways to cut a line into at most so many pieces.
Cost of_all_cuts(const MeasuredProblems& problems, std::size_t pieces) {
  const std::size_t count = problems.problems.size();
  std::optional<Cost> best;
  for (unsigned cuts = 0; cuts < (1U << (count - 1)); ++cuts) {
    if (static_cast<std::size_t>(std::popcount(cuts)) >= pieces) continue;
    Cost cost;
    for (std::size_t begin = 0; begin < count;) {
      std::size_t end = begin + 1;
      while (end < count && (cuts >> (end - 1) & 1U) == 0) ++end;
      std::optional<Cost> leaf;
      for (std::size_t c = 0; c < problems.configurations.size(); ++c) {
        Cost one;
        for (std::size_t p = begin; p < end; ++p) {
          const double regret = problems.problems[p].regrets[c];
          one = one + (std::isnan(regret) ? Cost{.uncovered = 1} : Cost{.regret = regret});
        }
        if (!leaf || one.better_than(*leaf)) leaf = one;
      }
      cost = cost + *leaf;
      begin = end;
    }
    if (!best || cost.better_than(*best)) best = cost;
  }
  return *best;
}

TEST(DispatchRule, OnALineNoTreeIsBetter) {
  perflab::test::Prng prng(7);
  for (int round = 0; round < 300; ++round) {
    const auto count = static_cast<std::size_t>(2 + prng.below(5));
    const auto problems = measured(test::any_problems(prng, 1, count, 5));
    for (std::size_t leaves = 1; leaves <= count; ++leaves) {
      const Rule rule = learned(problems, {.leaves = leaves});
      const Cost best = of_all_cuts(problems, leaves);
      EXPECT_TRUE(rule.exact);
      EXPECT_LE(rule.leaves(), leaves);
      EXPECT_EQ(rule.cost.uncovered, best.uncovered);
      EXPECT_NEAR(rule.cost.regret, best.regret, 1e-9);
    }
  }
}

/// What the leaves of a tree cost, asked as a caller asks.
Cost cost_of(const MeasuredProblems& problems, const Rule& rule) {
  Cost cost;
  for (const TunedProblem& problem : problems.problems) {
    const double regret = problem.regrets[rule.leaf_of(problem.size).configuration];
    EXPECT_FALSE(regret < 0);
    cost = cost + (std::isnan(regret) ? Cost{.uncovered = 1} : Cost{.regret = regret});
  }
  return cost;
}

TEST(DispatchRule, WhatHoldsForAnyProblems) {
  perflab::test::Prng prng(11);
  for (int round = 0; round < 200; ++round) {
    const auto sizes = static_cast<std::size_t>(1 + prng.below(3));
    const auto count = static_cast<std::size_t>(2 + prng.below(4));
    const auto problems = measured(test::any_problems(prng, sizes, count, 6));
    std::optional<Cost> exact_before, grown_before;
    for (std::size_t leaves = 1; leaves <= count; ++leaves) {
      const Rule exact = learned(problems, {.leaves = leaves});
      const Rule grown = learned(problems, {.leaves = leaves, .exact = {false, false}});
      EXPECT_FALSE(grown.exact);
      for (const Rule* const rule : {&exact, &grown}) {
        EXPECT_LE(rule->leaves(), leaves);
        const Cost asked = cost_of(problems, *rule);
        EXPECT_EQ(asked.uncovered, rule->cost.uncovered);
        EXPECT_NEAR(asked.regret, rule->cost.regret, 1e-9);
      }
      // More leaves never lose more, and nothing is lost with one for each problem.
      EXPECT_FALSE(exact_before && exact_before->better_than(exact.cost));
      EXPECT_FALSE(grown_before && grown_before->better_than(grown.cost));
      exact_before = exact.cost;
      grown_before = grown.cost;
      if (leaves < count) continue;
      for (const Rule* const rule : {&exact, &grown}) {
        EXPECT_EQ(rule->cost.uncovered, 0U);
        EXPECT_NEAR(rule->cost.regret, 0, 1e-9);
      }
    }
  }
}

TEST(DispatchRule, ManyProblemsAreGrownInTime) {
  perflab::test::Prng prng(13);
  std::vector<WrittenProblem> written;
  for (int m = 0; m < 16; ++m)
    for (int n = 0; n < 16; ++n) {
      WrittenProblem one{.size = {std::pow(1.7, m), std::pow(1.3, n)}, .values = {}};
      for (int c = 0; c < 40; ++c)
        one.values.push_back(1 + static_cast<double>(prng.below(1000)) / 1000);
      written.push_back(std::move(one));
    }
  const auto problems = measured(written);
  const Learned found = learn_rule(problems, test::all_of(problems), {.leaves = 12});
  EXPECT_FALSE(found.exact[1]);
  EXPECT_LE(found.rule.leaves(), 12U);
  EXPECT_GT(found.rule.leaves(), 1U);
}

}  // namespace
}  // namespace perflab::tune
