// Listing of spaces: against brute force on small random spaces, exact counts of what was removed,
// samples of what is too large to list, and errors.
#include "tune/space/space.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/system/interrupt.h"
#include "support/prng.h"

namespace perflab::tune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Parameter parameter(std::string name, std::initializer_list<int> numbers) {
  Parameter made{std::move(name), {}, {}};
  for (const int number : numbers) made.values.emplace_back(std::int64_t{number});
  return made;
}

Parameter counting(std::string name, int count) {
  Parameter made{std::move(name), {}, {}};
  for (int i = 0; i < count; ++i) made.values.emplace_back(std::int64_t{i});
  return made;
}

std::string error_of(SpaceDescription description, const ListingOptions& options = {}) {
  const Result<Space> space = Space::list(std::move(description), options);
  if (space) return fmt::format("{} configurations", space->size());
  EXPECT_EQ(space.error().code, ErrorCode::bad_input);
  return space.error().message;
}

double removed_sum(const Space& space) {
  double sum = 0;
  for (const Removed& removed : space.counts().removed) sum += removed.combinations;
  return sum;
}

TEST(TuneSpace, RowsComeInOrderAndAreFoundAgain) {
  SpaceDescription description;
  description.parameters = {parameter("a", {4, 1, 2}), parameter("k", {7}),
                            parameter("b", {1, 2, 3})};
  description.restrictions = {"a * b <= threads", "b != a"};
  description.derived = {{"twice", "threads * 2"}, {"threads", "k - 1"}};
  const auto space = Space::list(description);
  ASSERT_TRUE(space) << space.error().message;
  std::vector<std::string> texts;
  for (ConfigId id = 0; id < space->size(); ++id) {
    texts.push_back(space->text(id));
    EXPECT_EQ(space->find(space->levels(id)), id);
    EXPECT_EQ(space->find_values(space->bindings(id)), id);
  }
  EXPECT_THAT(texts, ElementsAre("a=4 b=1", "a=1 b=2", "a=1 b=3", "a=2 b=1", "a=2 b=3"));
  std::string bound;
  for (const auto& [name, value] : space->bindings(1)) bound += name + "=" + to_text(value) + " ";
  EXPECT_EQ(bound, "a=1 k=7 b=2 twice=12 threads=6 ");
  EXPECT_EQ(space->counts().product, 9);
  EXPECT_EQ(space->counts().removed[0].combinations, 2);
  EXPECT_EQ(space->counts().removed[1].combinations, 2);

  const Binding a{"a", Value(2.0)};
  EXPECT_EQ(space->find_values(std::vector<Binding>{{"b", Value(true)}, a, {"x", Value(9.5)}}), 3);
  EXPECT_FALSE(space->find_values(std::vector<Binding>{a}));
  EXPECT_FALSE(space->find_values(std::vector<Binding>{a, {"b", Value(2.5)}}));
  EXPECT_FALSE(space->find_values(std::vector<Binding>{a, {"b", Value(std::int64_t{2})}}));
  EXPECT_FALSE(space->find(std::vector<Level>{0, 0}));
}

TEST(TuneSpace, ValuesOfOneKindAreToldApart) {
  EXPECT_TRUE(same_value(Value(true), Value(1.0)));
  EXPECT_TRUE(same_value(Value(std::int64_t{0}), Value(-0.0)));
  EXPECT_FALSE(same_value(Value(std::string("1")), Value(std::int64_t{1})));
  EXPECT_FALSE(same_value(Value((std::int64_t{1} << 53) + 1), Value(0x1p53)));
  EXPECT_EQ(ValueHash{}(Value(16.0)), ValueHash{}(Value(std::int64_t{16})));
  EXPECT_EQ(ValueHash{}(Value(-0.0)), ValueHash{}(Value(false)));
  EXPECT_EQ(to_text(Value(16.0)), "16.0");
  EXPECT_EQ(to_text(Value(1e300)), "1e+300");
  EXPECT_EQ(to_text(Value(0.1)), "0.1");
  EXPECT_EQ(to_text(Value(false)), "false");
  EXPECT_FALSE(number_of(Value(std::string("5"))));
  EXPECT_THAT(value_from_json(Json(18446744073709551615U), "x").error().message,
              HasSubstr("x: 18446744073709551615 does not fit"));
  EXPECT_THAT(value_from_json(Json::array(), "x").error().message, HasSubstr("x: array where"));
}

/// A random space of a few parameters with random restrictions and derived values.
SpaceDescription random_space(test::Prng& random) {
  constexpr std::array kRules{
      "{0} <= {1}",        "{0} * {1} <= 20",         "{0} + {1} + {2} > 6",
      "{0} != {1}",        "{0} % 2 == 0 or {1} > 2", "d0 <= {2}",
      "d1 + {0} < 30",     "{0} in [1, 2, 4, 8]",     "not ({0} == {1} == 2)",
      "1 <= {0} < 9 - {2}"};
  SpaceDescription description;
  const auto width = static_cast<std::size_t>(2 + random.below(4));
  for (std::size_t p = 0; p < width; ++p) {
    Parameter made{fmt::format("p{}", p), {}, {}};
    for (std::int64_t value = random.below(3);
         made.values.size() < 1U + static_cast<std::size_t>(random.below(5));
         value += 1 + random.below(3))
      made.values.emplace_back(value);
    description.parameters.push_back(std::move(made));
  }
  const auto any = [&] {
    return fmt::format("p{}", random.below(static_cast<std::int64_t>(width)));
  };
  description.derived = {{"d1", fmt::format("d0 + {}", any())},
                         {"d0", fmt::format("{} * {}", any(), any())}};
  const std::int64_t rules = random.below(5);
  for (std::int64_t i = 0; i < rules; ++i) {
    const char* const rule =
        kRules[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(kRules.size())))];
    const std::string text = fmt::format(fmt::runtime(rule), any(), any(), any());
    if (random.below(4) == 0) {
      description.device_limits.push_back(text);
      description.device_limit_texts.push_back("limit " + text);
    } else {
      description.restrictions.push_back(text);
    }
  }
  return description;
}

/// Every combination, every rule on its own.
struct BruteForce {
  std::vector<std::vector<Level>> rows;
  std::vector<double> forbids, alone_forbids;  ///< by rule
  double product = 0;
};

BruteForce by_brute_force(const SpaceDescription& description) {
  std::vector<std::string> names;
  for (const Parameter& each : description.parameters) names.push_back(each.name);
  const std::size_t width = names.size();
  for (const auto& [name, text] : description.derived) names.push_back(name);
  std::vector<std::string> texts = description.restrictions;
  texts.insert(texts.end(), description.device_limits.begin(), description.device_limits.end());

  BruteForce all;
  all.forbids.resize(texts.size());
  all.alone_forbids.resize(texts.size());
  std::vector<Level> row(width, 0);
  while (true) {
    std::vector<Value> slots(names.size());
    for (std::size_t p = 0; p < width; ++p) slots[p] = description.parameters[p].values[row[p]];
    for (const std::size_t derived : {1U, 0U})
      slots[width + derived] =
          *CompiledExpression::compile(description.derived[derived].second, names)->evaluate(slots);
    std::vector<std::size_t> against;
    for (std::size_t rule = 0; rule < texts.size(); ++rule)
      if (!*CompiledExpression::compile(texts[rule], names)->holds(slots)) against.push_back(rule);
    for (const std::size_t rule : against) all.forbids[rule] += 1;
    if (against.size() == 1) all.alone_forbids[against[0]] += 1;
    if (against.empty()) all.rows.push_back(row);
    all.product += 1;
    std::size_t p = width;
    while (p > 0 && ++row[p - 1] == description.parameters[p - 1].values.size()) row[--p] = 0;
    if (p == 0) return all;
  }
}

TEST(TuneSpace, ListsWhatBruteForceLists) {
  test::Prng random(7);
  std::size_t empty = 0;
  std::size_t restricted = 0;
  for (int round = 0; round < 150; ++round) {
    const SpaceDescription description = random_space(random);
    const BruteForce expected = by_brute_force(description);
    const auto space = Space::list(description);
    if (expected.rows.empty()) {
      ++empty;
      ASSERT_FALSE(space);
      EXPECT_THAT(space.error().message, HasSubstr("no configuration is left of"));
      continue;
    }
    ASSERT_TRUE(space) << space.error().message;
    ASSERT_EQ(space->size(), expected.rows.size());
    for (ConfigId id = 0; id < space->size(); ++id)
      ASSERT_TRUE(std::ranges::equal(space->levels(id), expected.rows[id]));
    EXPECT_EQ(space->counts().product, expected.product);
    EXPECT_EQ(expected.product, static_cast<double>(space->size()) + removed_sum(*space));
    ASSERT_EQ(space->counts().removed.size(), expected.forbids.size());
    for (std::size_t rule = 0; rule < expected.forbids.size(); ++rule) {
      const Removed& removed = space->counts().removed[rule];
      EXPECT_LE(removed.combinations, expected.forbids[rule]);
      EXPECT_GE(removed.combinations, expected.alone_forbids[rule]);
      EXPECT_EQ(removed.device_limit, rule >= description.restrictions.size());
      if (removed.combinations > 0) ++restricted;
    }
  }
  EXPECT_GT(restricted, 100U);
  EXPECT_GT(empty, 2U);
  EXPECT_LT(empty, 75U);
}

TEST(TuneSpace, TooManyAreSampledWithTheDefault) {
  SpaceDescription description;
  for (int i = 0; i < 12; ++i)
    description.parameters.push_back(counting(fmt::format("p{}", i), 10));
  description.restrictions = {"p0 + p1 + p2 >= 3", "p3 < p4", "p11 != p0"};
  description.derived = {{"sum", "p0 + p11"}};
  description.default_declared = true;
  for (Parameter& each : description.parameters) each.default_level = Level{1};
  description.parameters[4].default_level = Level{2};
  description.parameters[11].default_level = Level{3};
  const ListingOptions options{.seed = 3, .most = 3000, .sample = 2000};
  const auto space = Space::list(description, options);
  ASSERT_TRUE(space) << space.error().message;
  EXPECT_TRUE(space->counts().sampled);
  EXPECT_EQ(space->counts().product, 1e12);
  EXPECT_TRUE(space->counts().removed.empty());
  EXPECT_EQ(space->size(), 2000U);
  EXPECT_EQ(space->text(space->default_configuration()),
            "p0=1 p1=1 p2=1 p3=1 p4=2 p5=1 p6=1 p7=1 p8=1 p9=1 p10=1 p11=3");
  std::vector<std::size_t> seen(10, 0);
  for (ConfigId id = 0; id < space->size(); ++id) {
    const auto levels = space->levels(id);
    ASSERT_TRUE(levels[0] + levels[1] + levels[2] >= 3 && levels[3] < levels[4] &&
                levels[11] != levels[0]);
    EXPECT_TRUE(id == 0 || std::ranges::lexicographical_compare(space->levels(id - 1), levels));
    EXPECT_EQ(space->find(levels), id);
    ++seen[levels[5]];
  }
  for (const std::size_t times : seen) EXPECT_GT(times, 130U);  // of 200 expected each

  const auto again = Space::list(description, options);
  const auto other = Space::list(description, {.seed = 4, .most = 3000, .sample = 2000});
  EXPECT_EQ(again->text(17), space->text(17));
  EXPECT_NE(other->text(17), space->text(17));
}

TEST(TuneSpace, NearlyImpossibleOnesEnd) {
  SpaceDescription description;
  for (int i = 0; i < 12; ++i)
    description.parameters.push_back(counting(fmt::format("p{}", i), 10));
  description.restrictions = {"p0 == p1 == p2 == p3 == p4 == p5",
                              "p6 == p5",
                              "p7 == p6 == p8",
                              "p9 == p8",
                              "p10 == 3",
                              "p11 == p0"};
  EXPECT_EQ(error_of(description), "10 configurations");
  description.restrictions.emplace_back("p0 > 100");
  EXPECT_THAT(error_of(description),
              HasSubstr("no configuration is left of 1000000000000: \"p10 == 3\" removes "
                        "900000000000, \"p0 > 100\" removes 100000000000"));
  // Nothing can be ruled out before the last parameter has its value.
  std::string sum = "p0";
  for (int i = 1; i < 12; ++i) sum += fmt::format(" + p{}", i);
  const ListingOptions short_time{.steps = 40'000};
  description.restrictions = {sum + " > 107"};
  EXPECT_THAT(error_of(description, short_time), HasSubstr("no configuration was found"));
  description.restrictions = {"len([i for i in range(60000)]) < " + sum};
  EXPECT_THAT(error_of(description, short_time), HasSubstr("no configuration was found"));
  description.restrictions = {sum + " > 75"};
  const auto few = Space::list(description, short_time);
  ASSERT_TRUE(few) << few.error().message;
  EXPECT_TRUE(few->counts().sampled);
  description.derived = {{"slow", "len([i for i in range(2000)])"}};
  EXPECT_THAT(error_of(description, short_time), HasSubstr("configurations"));
}

/// 12 parameters of 1 to 10 under a rule that can only be tested when all have their values.
SpaceDescription sums(const std::string& rule) {
  SpaceDescription description;
  std::string sum;
  for (int i = 0; i < 12; ++i) {
    description.parameters.push_back(
        parameter(fmt::format("p{}", i), {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
    sum += fmt::format("{}p{}", i == 0 ? "" : " + ", i);
  }
  description.restrictions = {sum + rule};
  return description;
}

TEST(TuneSpace, WhatTheListingFoundIsInTheSample) {
  const ListingOptions short_time{.steps = 100'000};
  const auto one = Space::list(sums(" == 12"), short_time);
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_TRUE(one->counts().sampled);
  EXPECT_EQ(one->size(), 1U);
  EXPECT_EQ(one->text(one->default_configuration()),
            "p0=1 p1=1 p2=1 p3=1 p4=1 p5=1 p6=1 p7=1 p8=1 p9=1 p10=1 p11=1");

  // Twelve more, of which the listing meets those that differ in the last parameters.
  const auto some = Space::list(sums(" <= 13"), short_time);
  ASSERT_TRUE(some) << some.error().message;
  EXPECT_GE(some->size(), 4U);
  EXPECT_LE(some->size(), 13U);
  EXPECT_EQ(some->text(0), one->text(0));
  EXPECT_EQ(some->default_configuration(), 0U);

  // Where chance finds enough only the first is taken; a declared default takes its place.
  const ListingOptions few{.most = 3000, .sample = 1000};
  SpaceDescription many = sums(" > 11");
  const auto sampled = Space::list(many, few);
  ASSERT_TRUE(sampled) << sampled.error().message;
  EXPECT_EQ(sampled->size(), 1000U);
  EXPECT_EQ(sampled->text(0), one->text(0));
  EXPECT_GT(sampled->levels(500)[0], 2);  // the others are spread out
  many.restrictions.clear();
  EXPECT_EQ(Space::list(many, few)->text(0), one->text(0));
  many.default_declared = true;
  for (Parameter& each : many.parameters) each.default_level = Level{1};
  EXPECT_NE(Space::list(many, few)->text(0), one->text(0));
}

TEST(TuneSpace, CtrlCEndsAListing) {
  raise_interrupt();
  const auto listed = Space::list(sums(" == 12"));
  SpaceDescription rows;
  rows.parameters = {counting("a", 5000)};
  rows.listed.emplace();
  for (int i = 0; i < 5000; ++i) rows.listed->push_back({static_cast<Level>(i)});
  const auto given = Space::list(rows);
  clear_interrupts();
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code, ErrorCode::interrupted);
  EXPECT_EQ(listed.error().message, "interrupted while its configurations were listed");
  ASSERT_FALSE(given);
  EXPECT_EQ(given.error().code, ErrorCode::interrupted);
}

TEST(TuneSpace, ListsKeepTheirOrder) {
  SpaceDescription description;
  description.parameters = {parameter("a", {2, 1}), parameter("b", {1, 2, 3})};
  description.listed = {{{1, 2}, {0, 0}, {1, 2}, {0, 2}, {1, 0}}};
  description.device_limits = {"a * b < 6"};
  description.device_limit_texts = {"a * b is too much"};
  description.derived = {{"c", "a + b"}};
  const auto space = Space::list(description);
  ASSERT_TRUE(space) << space.error().message;
  EXPECT_EQ(space->size(), 3U);
  EXPECT_EQ(space->text(0), "a=1 b=3");
  EXPECT_EQ(space->text(1), "a=2 b=1");
  EXPECT_EQ(space->text(2), "a=1 b=1");
  EXPECT_EQ(space->default_configuration(), 0U);
  EXPECT_EQ(space->counts().product, 4);
  EXPECT_EQ(space->counts().removed[0].rule, "a * b is too much");
  EXPECT_EQ(space->counts().removed[0].combinations, 1);
  for (ConfigId id = 0; id < 3; ++id) EXPECT_EQ(space->find(space->levels(id)), id);
  EXPECT_FALSE(space->find(std::vector<Level>{0, 2}));
  EXPECT_FALSE(space->find(std::vector<Level>{0, 1}));
}

TEST(TuneSpace, DefaultsMustHoldUnlessTheyMayFail) {
  SpaceDescription description;
  description.source = "file.json";
  description.parameters = {parameter("a", {1, 2}), parameter("b", {1, 2})};
  description.restrictions = {"a != b"};
  description.default_declared = true;
  EXPECT_THAT(error_of(description),
              HasSubstr("file.json: the default configuration does not give every parameter"));
  description.parameters[0].default_level = Level{1};
  description.parameters[1].default_level = Level{1};
  EXPECT_EQ(error_of(description),
            "file.json: the default configuration is forbidden by \"a != b\"");
  description.default_may_fail = true;
  const auto space = Space::list(description);
  ASSERT_TRUE(space);
  EXPECT_FALSE(space->description().default_declared);
  EXPECT_THAT(space->description().notes, ElementsAre(HasSubstr("forbidden by \"a != b\"")));
  description.parameters[1].default_level = Level{0};
  EXPECT_EQ(Space::list(description)->text(Space::list(description)->default_configuration()),
            "a=2 b=1");
}

TEST(TuneSpace, ErrorsNameWhatIsWrong) {
  SpaceDescription plain;
  plain.parameters = {parameter("a", {0, 1, 2}), parameter("b", {0, 3})};
  const auto with = [&](const auto& change) {
    SpaceDescription changed = plain;
    change(changed);
    return error_of(changed);
  };
  const auto restricted = [&](std::string text) {
    return with([&](SpaceDescription& space) { space.restrictions = {std::move(text)}; });
  };
  EXPECT_EQ(restricted("a % b == 0"), "\"a % b == 0\": division by zero, at a=0 b=0");
  EXPECT_EQ(restricted("a % c == 0"),
            "restriction: \"a % c == 0\": c, which is not known, at character 5");
  EXPECT_EQ(restricted("a > 5"), "no configuration is left of 6: \"a > 5\" removes 6");
  EXPECT_EQ(restricted("1 == 2"), "no configuration is left of 6: \"1 == 2\" removes 6");
  EXPECT_EQ(restricted("True"), "6 configurations");
  EXPECT_EQ(with([](SpaceDescription& space) { space.restrictions = {"a % b == 0", "b > 0"}; }),
            "1 configurations");
  EXPECT_EQ(with([](SpaceDescription& space) {
              space.derived = {{"x", "1"}, {"d", "e + 1"}, {"e", "f"}, {"f", "x + d"}};
            }),
            "derived values are computed from each other in a circle: d <- e <- f <- d");
  EXPECT_THAT(with([](SpaceDescription& space) { space.derived = {{"d", "d"}}; }),
              HasSubstr("circle: d <- d"));
  EXPECT_EQ(with([](SpaceDescription& space) { space.derived = {{"d", "1 / a"}}; }),
            "\"1 / a\": division by zero, at a=0");
  EXPECT_EQ(with([](SpaceDescription& space) {
              space.derived = {{"d", "1 / a"}};
              space.restrictions = {"a > 0"};
            }),
            "4 configurations");
  EXPECT_EQ(with([](SpaceDescription& space) { space.derived = {{"d", "[a]"}}; }),
            "\"[a]\": the result is a list, at a=0");
  EXPECT_EQ(with([](SpaceDescription& space) { space.derived = {{"a", "1"}}; }),
            "two parameters are called a");
  EXPECT_EQ(with([](SpaceDescription& space) { space.parameters[1].values.clear(); }),
            "b has no values");
  EXPECT_EQ(with([](SpaceDescription& space) { space.parameters[1].values.emplace_back(false); }),
            "b has the value false twice");
  EXPECT_EQ(with([](SpaceDescription& space) { space.parameters[0] = counting("a", 70'000); }),
            "a has 70000 values, more than 65535");
  EXPECT_EQ(with([](SpaceDescription& space) { space.parameters.clear(); }),
            "it has no parameters");
  EXPECT_EQ(with([](SpaceDescription& space) {
              for (int i = 0; i < 1000; ++i)
                space.parameters.push_back(parameter(fmt::format("p{}", i), {1}));
            }),
            "1002 parameters are more than 1000");
}

}  // namespace
}  // namespace perflab::tune
