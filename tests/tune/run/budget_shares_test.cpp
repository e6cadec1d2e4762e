// tune/run/budget_shares.h: who gets the next evaluations, by each way of sharing.
#include "tune/run/budget_shares.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <vector>

namespace perflab::tune {
namespace {

constexpr std::size_t kFirst = 7;

ShareState state(std::size_t evaluated, double worth, std::optional<double> gain = {},
                 std::size_t batch = 1) {
  ShareState one{.search = {}, .batch = batch, .worth = worth};
  one.search.evaluated = evaluated;
  one.search.expected_gain = gain;
  return one;
}

/// Evaluations of each after `budget` of them, where searches learn nothing.
std::vector<std::size_t> spent(std::vector<ShareState> states, Split split, std::size_t budget) {
  for (std::size_t left = budget; left > 0;) {
    const auto share = next_share(states, split, kFirst, left);
    if (!share) break;
    EXPECT_GE(share->evaluations, 1U);
    EXPECT_LE(share->evaluations, left);
    states[share->search].search.evaluated += share->evaluations;
    left -= share->evaluations;
  }
  std::vector<std::size_t> evaluated;
  for (const ShareState& one : states) evaluated.push_back(one.search.evaluated);
  return evaluated;
}

using Counts = std::vector<std::size_t>;

TEST(BudgetShares, FirstSamplesComeBeforeAnyChoiceMostWorthFirst) {
  std::vector<ShareState> states = {state(0, 1), state(0, 5), state(9, 100, 0.5)};
  auto share = next_share(states, Split::adaptive, kFirst, 100);
  ASSERT_TRUE(share);
  EXPECT_EQ(share->search, 1U);
  EXPECT_EQ(share->evaluations, kFirst);
  states[1].search.evaluated = 3;  // a resumed one gets what is missing
  share = next_share(states, Split::adaptive, kFirst, 100);
  EXPECT_EQ(share->search, 1U);
  EXPECT_EQ(share->evaluations, 4U);
  states[1].search.evaluated = kFirst;
  share = next_share(states, Split::adaptive, kFirst, 5);
  EXPECT_EQ(share->search, 0U);
  EXPECT_EQ(share->evaluations, 5U);  // no more than is left
}

TEST(BudgetShares, AdaptiveGoesToWorthTimesExpectedGain) {
  const auto chosen = [](const std::vector<ShareState>& states) {
    const auto share = next_share(states, Split::adaptive, kFirst, 100);
    return share ? static_cast<int>(share->search) : -1;
  };
  EXPECT_EQ(chosen({state(999, 10, 0.01), state(999, 2, 0.06)}), 1);
  EXPECT_EQ(chosen({state(999, 10, 0.01), state(999, 2, 0.04)}), 0);
  // Of equals the one with fewer evaluations, then the first.
  EXPECT_EQ(chosen({state(19, 2), state(9, 1), state(9, 1)}), 1);
  // Without a model the promise falls with every evaluation.
  EXPECT_EQ(chosen({state(99, 1), state(10, 1, 0.02)}), 1);
  EXPECT_EQ(chosen({state(9, 1), state(10, 1, 0.02)}), 0);
  // A model that promises nothing is not believed at once.
  EXPECT_EQ(chosen({state(10, 1, 0), state(100, 1, 0.01)}), 0);
  EXPECT_EQ(chosen({state(60, 1, 0), state(100, 1, 0.01)}), 1);
}

TEST(BudgetShares, BatchesAreGivenWhole) {
  const std::array states = {state(10, 1, 0.1, 4)};
  EXPECT_EQ(next_share(states, Split::adaptive, kFirst, 100)->evaluations, 4U);
  EXPECT_EQ(next_share(states, Split::adaptive, kFirst, 3)->evaluations, 3U);
}

TEST(BudgetShares, WhatIsWorthNothingOrOverGetsNothing) {
  EXPECT_EQ(spent({state(0, 0), state(0, 3)}, Split::adaptive, 40), (Counts{0, 40}));
  EXPECT_EQ(spent({state(0, 0), state(0, 3)}, Split::worth, 40), (Counts{0, 40}));
  EXPECT_EQ(spent({state(0, 0), state(0, 3)}, Split::equal, 40), (Counts{20, 20}));
  std::vector<ShareState> over = {state(5, 1), state(5, 0)};
  over[0].search.over = true;
  EXPECT_FALSE(next_share(over, Split::adaptive, kFirst, 10));
  EXPECT_FALSE(next_share({}, Split::equal, kFirst, 10));
  EXPECT_FALSE(next_share(std::array{state(0, 1)}, Split::adaptive, kFirst, 0));
}

TEST(BudgetShares, FixedSharesAreInProportion) {
  EXPECT_EQ(spent({state(0, 6), state(0, 3), state(0, 1)}, Split::worth, 100),
            (Counts{60, 30, 10}));
  EXPECT_EQ(spent({state(0, 6), state(0, 3), state(0, 1)}, Split::equal, 99), (Counts{33, 33, 33}));
}

TEST(BudgetShares, NamesAreThoseOfTheOption) {
  EXPECT_EQ(to_string(Split::adaptive), "adaptive");
  EXPECT_EQ(to_string(Split::worth), "worth");
  EXPECT_EQ(to_string(Split::equal), "equal");
}

}  // namespace
}  // namespace perflab::tune
