// tune/search/search.h: what every search must keep to, whatever it models; known optima found with
// few evaluations; one recorded space.
#include "tune/search/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <set>

#include "tune/records/recording.h"
#include "tune/written_space.h"

namespace perflab::tune {
namespace {

/// 11 x 8 x 6 x 4: a valley that bends, with jumps where the first is no multiple of 4.
Space bent_space() {
  return product_space({{"a", whole_numbers(2, 22, 2)},
                        {"b", {1, 2, 4, 8, 16, 32, 64, 128}},
                        {"c", whole_numbers(1, 6)},
                        {"mode", {"row", "column", "tiled", "split"}}});
}

std::optional<double> bent(const Space& space, ConfigId id) {
  const double a = number_at(space, id, 0);
  const double b = std::log2(number_at(space, id, 1));
  const double c = number_at(space, id, 2);
  const double mode = space.levels(id)[3] == 2 ? 0 : 0.3 + 0.1 * space.levels(id)[3];
  const double valley = a / 4 - b;
  const double alignment = std::fmod(a, 4) == 0 ? 0 : 0.4;
  return std::exp(0.2 * valley * valley + 0.1 * (b - 4) * (b - 4) + 0.15 * std::abs(c - 4) +
                  alignment + mode);
}

TEST(TuneSearch, IsTheSameEveryTimeAndDependsOnTheSeed) {
  const Space space = bent_space();
  const auto run = [&](std::uint64_t seed) {
    Search search(space, {.seed = seed});
    return ids_of(drive(search, space, bent, 30));
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

TEST(TuneSearch, NeverProposesTwiceAndBatchesMayComeBackInAnyOrder) {
  const Space space = bent_space();
  for (const std::size_t batch : {3U, 8U}) {
    Search forward(space, {.seed = 5});
    Search backward(space, {.seed = 5});
    const auto ids = ids_of(drive(forward, space, bent, 48, batch));
    EXPECT_EQ(ids, ids_of(drive(backward, space, bent, 48, batch, true)));
    EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), 48U);
    EXPECT_EQ(forward.evaluated(), 48U);
  }
}

TEST(TuneSearch, AskingChangesNothing) {
  const Space space = bent_space();
  Search silent(space, {.seed = 3});
  Search asked(space, {.seed = 3});
  for (int i = 0; i < 25; ++i) {
    const auto expected = silent.propose(1);
    const auto proposals = asked.propose(1);
    ASSERT_EQ(expected[0].id, proposals[0].id) << i;
    const auto value = bent(space, proposals[0].id);
    silent.tell(proposals[0].id, Outcome::correct, value);
    asked.tell(proposals[0].id, Outcome::correct, value);
    (void)asked.quality();
    (void)asked.pruned();
    (void)asked.importance();
  }
}

TEST(TuneSearch, AValueToldAgainTakesThePlaceOfTheFirst) {
  const Space space = bent_space();
  Search raced(space, {.seed = 2}), told(space, {.seed = 2});
  for (int i = 0; i < 30; ++i) {
    const ConfigId id = raced.propose(1).front().id;
    ASSERT_EQ(told.propose(1).front().id, id);
    const auto truth = bent(space, id);
    raced.tell(id, Outcome::correct, i % 3 == 0 ? *truth / 3 : *truth);  // a lucky reading
    if (i % 3 == 0) raced.tell_again(id, *truth);
    told.tell(id, Outcome::correct, truth);
    EXPECT_EQ(raced.best(), told.best());
    EXPECT_EQ(raced.best_value(), told.best_value());
  }
  const ConfigId best = *raced.best();
  raced.tell_again(best, 1e3);
  EXPECT_NE(raced.best(), best);
  EXPECT_NE(raced.quality().r2, told.quality().r2) << "asked before the next proposal";
  raced.tell_again(best, std::numeric_limits<double>::quiet_NaN());
  raced.tell_again(static_cast<ConfigId>(space.size()), 1e-3);
  EXPECT_GT(*raced.best_value(), 1e-3);
}

TEST(TuneSearch, BeginsWithWhatIsGivenThenFillsTheSpace) {
  const Space space = bent_space();
  Search search(space, {.seed = 1, .first = {17, 400, 17, 9'999'999}});
  const auto proposals = search.propose(6);
  ASSERT_EQ(proposals.size(), 6U);
  EXPECT_EQ(proposals[0].id, 17U);
  EXPECT_EQ(proposals[1].id, 400U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(proposals[i].kind, i < 2 ? ProposalKind::first : ProposalKind::seed);
    EXPECT_FALSE(proposals[i].predicted.has_value());
    search.tell(proposals[i].id, Outcome::correct, bent(space, proposals[i].id));
  }
  const auto next = search.propose(1);
  ASSERT_EQ(next.size(), 1U);
  EXPECT_EQ(next[0].kind, ProposalKind::model);
  EXPECT_GT(next[0].predicted.value_or(0), 0);
  EXPECT_GT(next[0].expected_gain.value_or(0), 0);
  EXPECT_EQ(search.expected_gain(), next[0].expected_gain);
}

TEST(TuneSearch, UsesUpATinySpaceExactly) {
  const Space space = product_space({{"a", whole_numbers(1, 5)}, {"b", {"x", "y"}}});
  const auto function = [](const Space& of, ConfigId id) {
    return std::optional(std::pow(10, number_at(of, id, 0)) + of.levels(id)[1]);
  };
  for (const ModelKind model : {ModelKind::tgp, ModelKind::polynomial}) {
    Search search(space, {.model = model});
    const auto ids = ids_of(drive(search, space, function, 100, 3));
    EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), 10U);
    EXPECT_EQ(ids.size(), 10U);
    EXPECT_TRUE(search.finished());
    EXPECT_EQ(search.why_finished(), "every configuration was evaluated");
    EXPECT_EQ(search.best(), best_of(space, function));
    EXPECT_EQ(search.best_value(), 10.0);
  }
}

TEST(TuneSearch, FindsTheOptimumOfABentValley) {
  const Space space = bent_space();
  const ConfigId optimum = best_of(space, bent);
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    Search search(space, {.seed = seed});
    drive(search, space, bent, 60);
    EXPECT_EQ(search.best(), optimum) << "seed " << seed << " of " << space.size();
    EXPECT_GT(search.quality().r2.value_or(0), 0.75);
    EXPECT_GE(search.quality().fits, 4U);
  }
}

TEST(TuneSearch, MaximisingIsMinimisingTheReciprocal) {
  const Space space = bent_space();
  const auto reciprocal = [](const Space& of, ConfigId id) {
    return std::optional(1 / *bent(of, id));
  };
  Search down(space, {.seed = 4});
  Search up(space, {.seed = 4, .maximize = true});
  const Course low = drive(down, space, bent, 40);
  const Course high = drive(up, space, reciprocal, 40);
  EXPECT_EQ(ids_of(low), ids_of(high));
  EXPECT_EQ(down.best(), up.best());
  EXPECT_NEAR(*down.best_value() * *up.best_value(), 1, 1e-12);
  EXPECT_NEAR(*low.proposals.back().predicted * *high.proposals.back().predicted, 1, 1e-6);
}

TEST(TuneSearch, TakesValuesThatAreNotPositive) {
  const Space space = bent_space();
  const auto shifted = [](const Space& of, ConfigId id) {
    return std::optional(std::log(*bent(of, id)) - 0.5);
  };
  Search search(space, {.seed = 2});
  drive(search, space, shifted, 60);
  EXPECT_EQ(search.best(), best_of(space, bent));
  ASSERT_TRUE(search.best_value().has_value());
  EXPECT_LT(*search.best_value(), 0);
  EXPECT_EQ(search.pruned().slow, 0U);
}

TEST(TuneSearch, LearnsWhereConfigurationsFail) {
  const Space space = product_space({{"a", whole_numbers(1, 20)}, {"b", whole_numbers(1, 20)}});
  // Fast towards the corner that fails.
  const auto function = [](const Space& of, ConfigId id) -> std::optional<double> {
    const double a = number_at(of, id, 0);
    const double b = number_at(of, id, 1);
    if (a + b > 28) return std::nullopt;
    return 100 / (a + b) + 0.2 * std::abs(a - b);
  };
  double sum = 0;
  constexpr std::uint64_t kSeeds = 16;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Search search(space, {.seed = seed});
    const Course run = drive(search, space, function, 60);
    const auto best = search.best();
    ASSERT_TRUE(best.has_value());
    sum += *function(space, *best);
    EXPECT_LT(std::ranges::count_if(run.values, [](const auto& value) { return !value; }), 25);
  }
  // Next to the border the model expects failures: seeds differ by 10 %, their mean (of 256) is
  // 1.16 times the optimum; 1.23 where failures have ranks.
  EXPECT_LT(sum / kSeeds, 1.2 * *function(space, best_of(space, function)));
}

TEST(TuneSearch, TimedOutIsSlowNotFailing) {
  const Space space = product_space({{"a", whole_numbers(1, 30)}, {"b", whole_numbers(1, 30)}});
  Search search(space, {.seed = 1});
  for (int i = 0; i < 40; ++i) {
    for (const Proposal& proposal : search.propose(1)) {
      const double a = number_at(space, proposal.id, 0);
      const double value = 1 + a + number_at(space, proposal.id, 1);
      const bool slow = a > 15;
      search.tell(proposal.id, slow ? Outcome::timed_out : Outcome::correct, slow ? 5 : value);
    }
  }
  EXPECT_EQ(search.best_value(), 3.0);
  EXPECT_EQ(search.pruned().failing, 0U);
  EXPECT_GT(search.pruned().slow, 200U);
}

TEST(TuneSearch, GoesOnWhenEverythingIsEqualOrFails) {
  const Space space = product_space({{"only", whole_numbers(1, 40)}});
  Search equal(space, {});
  drive(equal, space, [](const Space&, ConfigId) { return std::optional(2.0); }, 40);
  EXPECT_EQ(equal.evaluated(), 40U);
  EXPECT_FALSE(equal.quality().r2.has_value());

  Search failing(space, {});
  drive(failing, space, [](const Space&, ConfigId) { return std::optional<double>(); }, 40);
  EXPECT_EQ(failing.evaluated(), 40U);
  EXPECT_FALSE(failing.best().has_value());
  EXPECT_TRUE(failing.importance().empty());

  const Space single = product_space({{"only", {7}}});
  Search one(single, {});
  EXPECT_EQ(ids_of(drive(
                one, single, [](const Space&, ConfigId) { return std::optional(1.0); }, 5)),
            (std::vector<ConfigId>{0}));
}

TEST(TuneSearch, EffortsStopWhenLittleIsToBeGained) {
  const Space space = bent_space();
  const auto evaluations = [&](Effort effort) {
    Search search(space, {.seed = 1, .effort = effort});
    drive(search, space, bent, 90);
    EXPECT_EQ(search.finished(), effort != Effort::full);
    if (effort == Effort::quick) {
      EXPECT_EQ(search.why_finished(), "the expected gain stayed below 0.5 %");
    }
    if (effort != Effort::full) {
      EXPECT_TRUE(search.propose(4).empty());
    }
    EXPECT_EQ(search.best(), best_of(space, bent)) << to_string(effort);
    return search.evaluated();
  };
  const std::size_t quick = evaluations(Effort::quick);
  const std::size_t automatic = evaluations(Effort::automatic);
  EXPECT_LT(quick, automatic);
  EXPECT_LT(automatic, 90U);
  EXPECT_EQ(evaluations(Effort::full), 90U);
}

TEST(TuneSearch, ImportanceRanksTheParameters) {
  const Space space = product_space({{"weak", whole_numbers(1, 6)},
                                     {"strong", whole_numbers(1, 6)},
                                     {"none", whole_numbers(1, 6)},
                                     {"fixed", {3}}});
  const auto function = [](const Space& of, ConfigId id) {
    return std::optional(
        std::exp(0.1 * number_at(of, id, 0) + 0.5 * std::abs(number_at(of, id, 1) - 3)));
  };
  Search search(space, {.seed = 1});
  drive(search, space, function, 60);
  const auto table = search.importance();
  ASSERT_EQ(table.size(), 3U);
  EXPECT_EQ(table[0].parameter, 1U);
  EXPECT_EQ(table[1].parameter, 0U);
  EXPECT_EQ(table[2].parameter, 2U);
  EXPECT_GT(table[0].share, 0.7);
  EXPECT_LT(table[2].share, 0.05);
  EXPECT_NEAR(table[0].share + table[1].share + table[2].share, 1, 1e-9);
  EXPECT_NEAR(table[1].best_to_worst, std::exp(0.5), 0.1);
  EXPECT_GT(table[0].best_to_worst, 2);
  EXPECT_NEAR(table[2].best_to_worst, 1, 0.05);
}

TEST(TuneSearch, ALargeSpaceIsSeenThroughAPool) {
  std::vector<std::pair<std::string, std::vector<Value>>> parameters;
  for (int p = 0; p < 5; ++p)
    parameters.emplace_back(std::string(1, static_cast<char>('a' + p)), whole_numbers(1, 8));
  const Space space = product_space(parameters);
  ASSERT_GT(space.size(), 20'000U);
  const auto function = [](const Space& of, ConfigId id) {
    double sum = 0;
    for (std::size_t p = 0; p < 5; ++p) {
      const double distance = number_at(of, id, p) - 2 - static_cast<double>(p);
      sum += 0.1 * distance * distance;
    }
    return std::optional(std::exp(sum));
  };
  Search search(space, {.seed = 1});
  const auto ids = ids_of(drive(search, space, function, 60));
  EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), 60U);
  EXPECT_EQ(search.best_value(), 1.0);
}

TEST(TuneSearch, PolynomialFindsTheOptimumOfAQuadratic) {
  const Space space = product_space({{"BLOCK_M", {16, 32, 64, 128}},
                                     {"BLOCK_N", {16, 32, 64, 128}},
                                     {"num_warps", {1, 2, 4, 8}},
                                     {"other", whole_numbers(1, 3)}});
  const auto function = [](const Space& of, ConfigId id) {
    const double area = number_at(of, id, 0) * number_at(of, id, 1) / 4096;
    const double warps = number_at(of, id, 2) - 4;
    return std::optional(10 + (area - 1) * (area - 1) + warps * warps);
  };
  Search search(space, {.seed = 1, .model = ModelKind::polynomial, .seed_evaluations = 40});
  const Course run = drive(search, space, function, 41);
  EXPECT_EQ(run.proposals[39].kind, ProposalKind::seed);
  EXPECT_EQ(run.proposals[40].kind, ProposalKind::model);
  EXPECT_NEAR(run.values[40].value_or(0), 10, 1e-9);
  EXPECT_NEAR(run.proposals[40].predicted.value_or(0), 10, 1e-6);
  EXPECT_NEAR(search.quality().r2.value_or(0), 1, 1e-6);
  EXPECT_GT(search.pruned().slow, 0U);
}

TEST(TuneSearch, TheCompilersFiguresDecideAmongEqualPredictions) {
  // Registers that the parameters do not show: what spills is slower.
  const Space space = product_space({{"a", whole_numbers(1, 40)}});
  const auto kernel_of = [](ConfigId id) {
    CompiledKernel kernel;
    kernel.vgprs = 64;
    kernel.spills = id % 2 * 50;
    return kernel;
  };
  Search search(space, {.seed = 1, .seed_evaluations = 10});
  const auto function = [&](const Space&, ConfigId id) {
    return std::optional(kernel_of(id).spills > 0 ? 3.0 : 1.0);
  };
  const std::array<ConfigId, 4> candidates = {31, 30, 33, 32};
  std::array<CompiledKernel, 4> compiled;
  std::ranges::transform(candidates, compiled.begin(), kernel_of);
  const auto chosen = [&](std::size_t keep) {
    std::vector<ConfigId> ids;
    for (const BuiltCandidate& one : search.choose_built(candidates, compiled, keep))
      ids.push_back(one.id);
    return ids;
  };
  EXPECT_EQ(chosen(2), (std::vector<ConfigId>{31, 30}));
  EXPECT_FALSE(search.choose_built(candidates, compiled, 2).front().predicted.has_value());
  for (ConfigId id = 0; id < 20; ++id) {
    search.tell(id, Outcome::correct, function(space, id));
    search.tell_compiled(id, kernel_of(id));
  }
  (void)search.propose(1);
  EXPECT_EQ(chosen(2), (std::vector<ConfigId>{30, 32}));
  EXPECT_EQ(chosen(9).size(), 4U);
  for (const BuiltCandidate& one : search.choose_built(candidates, compiled, 4)) {
    const double truth = *function(space, one.id);
    EXPECT_LT(std::abs(*one.corrected - truth), std::abs(*one.predicted - truth)) << one.id;
  }
}

TEST(TuneSearch, BeatsRandomOnARecordedSpace) {
  const auto file = std::filesystem::path(PERFLAB_SHARED_DIR) /
                    "data/autotune/amd/convolution_milo__MI250X.json.gz";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "skipped: no " << file;
  const auto recording = read_recording(file);
  ASSERT_TRUE(recording.has_value()) << recording.error().message;
  const auto space = space_of(*recording);
  ASSERT_TRUE(space.has_value()) << space.error().message;
  ASSERT_EQ(space->size(), 4362U);
  const auto function = [&](const Space&, ConfigId id) {
    return recording->configurations[id].value;
  };
  double optimum = std::numeric_limits<double>::infinity();
  for (const auto& one : recording->configurations)
    optimum = std::min(optimum, one.value.value_or(optimum));
  for (const std::uint64_t seed : {1U, 2U}) {
    Search search(*space, {.seed = seed, .first = {0}});
    drive(search, *space, function, 60);
    // The median of 50 random ones is 1.85 times the optimum (docs/facts/tuning.md "Baselines").
    EXPECT_LT(search.best_value().value_or(optimum * 9) / optimum, 1.6) << "seed " << seed;
  }
}

}  // namespace
}  // namespace perflab::tune
