// Further metrics and their limits: texts, the search within limits, tunings that are broken off.
#include "tune/values/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/temp_folder.h"
#include "support/prng.h"
#include "tune/records/recording.h"
#include "tune/run/tune.h"
#include "tune/written_space.h"

namespace perflab::tune {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

Metric limited(std::string name, double at_most) {
  Metric metric;
  metric.name = std::move(name);
  metric.source = MetricSource::recorded;
  metric.at_most = at_most;
  return metric;
}

TEST(TuneMetrics, AreReadAsTheyAreTyped) {
  for (const char* right : {"power:W=^p: (.*)=$", "energy"})
    EXPECT_TRUE(parse_metric(right)) << right;
  EXPECT_TRUE(parse_limit(" GFLOP/s >= 1.5e3 M "));
  const Metric metric = parse_metric("power:W=^p: (.*)=$").value();
  EXPECT_EQ(metric.name, "power");
  EXPECT_EQ(metric.unit, "W");
  EXPECT_EQ(metric.pattern, "^p: (.*)=$");
  EXPECT_EQ(parse_metric("energy").value().pattern, "");
  for (const char* wrong : {"", "=x", "power=", ":W=x", "a<b=x"})
    EXPECT_EQ(parse_metric(wrong).error().code, ErrorCode::usage) << wrong;
  const LimitText limit = parse_limit(" GFLOP/s >= 1.5e3 M ").value();
  EXPECT_EQ(limit.name, "GFLOP/s");
  EXPECT_FALSE(limit.at_most);
  EXPECT_EQ(limit.value, 1500);
  EXPECT_EQ(limit.unit, "M");
  for (const char* wrong : {"", "power", "power<400W", "power<=W", "<=400W", "power<=", "power=4"})
    EXPECT_EQ(parse_limit(wrong).error().code, ErrorCode::usage) << wrong;
}

TEST(TuneMetrics, LimitsAreInTheUnitOfTheMetric) {
  const auto at_most = [](const char* unit, const char* text) -> std::optional<double> {
    Metric metric;
    metric.unit = unit;
    if (!set_limit(metric, parse_limit(text).value())) return std::nullopt;
    return metric.at_most;
  };
  EXPECT_EQ(at_most("W", "power<=400W"), 400);
  EXPECT_EQ(at_most("W", "power<=0.5kW"), 500);
  EXPECT_EQ(at_most("mJ", "energy<=2J"), 2000);
  EXPECT_EQ(at_most("W", "power<=400"), 400);
  EXPECT_EQ(at_most("", "power<=400W"), 400);
  EXPECT_EQ(at_most("W", "power<=400J"), std::nullopt);
  Metric metric = limited("power", 400);
  EXPECT_EQ(set_limit(metric, parse_limit("power<=300").value()).error().code, ErrorCode::usage);
  EXPECT_EQ(set_limit(metric, parse_limit("power>=401").value()).error().code, ErrorCode::usage);
  metric.at_least.reset();
  ASSERT_TRUE(set_limit(metric, parse_limit("power>=100").value()));
  EXPECT_TRUE(metric.within(100) && metric.within(400));
  EXPECT_FALSE(metric.within(99) || metric.within(401));
}

TEST(TuneMetrics, AMissingNumberIsOutsideOfALimit) {
  const std::vector<Metric> metrics = {limited("a", 1),
                                       Metric{.name = "b", .unit = {}, .pattern = {}}};
  const auto within = [&](const std::vector<MetricValue>& values) {
    return within_limits(values_of(values, metrics), metrics);
  };
  EXPECT_TRUE(within({{.name = "a", .value = 1}}));
  EXPECT_FALSE(within({{.name = "a", .value = {}}}));
  EXPECT_FALSE(within({{.name = "b", .value = 1}}));
  EXPECT_FALSE(within({}));
}

/// 12 x 9 x 6: the faster, the more power, so that the limit is what decides.
Space traded_space() {
  return product_space({{"clock", whole_numbers(1, 12)},
                        {"width", whole_numbers(1, 9)},
                        {"pad", whole_numbers(0, 5)}});
}
double traded_time(const Space& space, ConfigId id) {
  const double clock = number_at(space, id, 0), width = number_at(space, id, 1);
  return 100 / (clock * std::sqrt(width)) + 0.5 * std::abs(number_at(space, id, 2) - 2);
}
double traded_power(const Space& space, ConfigId id) {
  return 50 + 2 * std::pow(number_at(space, id, 0), 1.5) * number_at(space, id, 1);
}

TEST(TuneLimits, TheBestOfASearchIsNeverOutside) {
  const Space space = traded_space();
  test::Prng random(11);
  for (int round = 0; round < 12; ++round) {
    const double most = static_cast<double>(60 + random.below(400));
    const std::size_t batch = 1 + static_cast<std::size_t>(random.below(4));
    Search search(space, {.seed = random.next(), .metrics = {limited("power", most)}});
    std::optional<double> best;
    for (int evaluations = 0; evaluations < 40;) {
      const auto proposals = search.propose(batch);
      if (proposals.empty()) break;
      for (const Proposal& proposal : proposals) {
        ++evaluations;
        const double power = traded_power(space, proposal.id);
        const double time = traded_time(space, proposal.id);
        if (power <= most) best = std::min(best.value_or(time), time);
        search.tell(proposal.id, Outcome::correct, time, {power});
      }
      ASSERT_EQ(search.best_value(), best);
      ASSERT_TRUE(!search.best() || traded_power(space, *search.best()) <= most);
    }
    double optimum = 1e9;
    for (ConfigId id = 0; id < space.size(); ++id)
      if (traded_power(space, id) <= most) optimum = std::min(optimum, traded_time(space, id));
    ASSERT_TRUE(best.has_value()) << most;
    EXPECT_LT(*best, 1.12 * optimum) << most;  // 40 of 648
  }
}

TEST(TuneLimits, WithoutAnythingInsideItLooksForIt) {
  // One configuration in 50 keeps the limit, far from the fast ones.
  const Space space = traded_space();
  const double most = 54;
  std::size_t inside = 0;
  for (ConfigId id = 0; id < space.size(); ++id)
    inside += traded_power(space, id) <= most ? 1U : 0U;
  ASSERT_LE(inside, space.size() / 50);
  int found = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Search search(space, {.seed = seed, .metrics = {limited("power", most)}});
    for (int i = 0; i < 25; ++i)
      for (const Proposal& proposal : search.propose(1))
        search.tell(proposal.id, Outcome::correct, traded_time(space, proposal.id),
                    {traded_power(space, proposal.id)});
    found += search.best() ? 1 : 0;
  }
  EXPECT_GE(found, 9);
}

TEST(TuneLimits, ALimitThatAllKeepChangesNoProposal) {
  const Space space = traded_space();
  Search free(space, {.seed = 4});
  Search bound(space, {.seed = 4, .metrics = {limited("power", 1e300)}});
  for (int i = 0; i < 30; ++i) {
    const auto expected = free.propose(1), proposals = bound.propose(1);
    ASSERT_EQ(expected.front().id, proposals.front().id) << i;
    const ConfigId id = expected.front().id;
    free.tell(id, Outcome::correct, traded_time(space, id));
    bound.tell(id, Outcome::correct, traded_time(space, id), {traded_power(space, id)});
  }
}

/// Answers with time and power; `warmer`: what the power is multiplied with in the last comparison.
class TradedExecutor : public Executor {
 public:
  TradedExecutor(const Space& space, double warmer) : space_(space), warmer_(warmer) {}
  [[nodiscard]] std::size_t width() const override { return 2; }
  [[nodiscard]] std::string gpu() const override { return ""; }
  Result<void> evaluate(std::span<const Job> jobs, bool, const OnFinished& on_finished) override {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (stop_after && runs >= *stop_after) return fail(ErrorCode::interrupted, "by the test");
      ++runs;
      const auto id = static_cast<ConfigId>(jobs[i].id);
      Evaluation one;
      one.outcome = Outcome::correct;
      one.value = traded_time(space_, id);
      one.samples.assign(3, *one.value);
      one.metrics = {{.name = "power",
                      .value = traded_power(space_, id) * (jobs[i].exact_runs > 0 ? warmer_ : 1)}};
      PERFLAB_TRY_VOID(on_finished({.index = i, .evaluation = std::move(one), .worker = ""}));
    }
    return {};
  }
  std::size_t runs = 0;
  std::optional<std::size_t> stop_after;

 private:
  const Space& space_;
  double warmer_;
};

Commands traded_commands() {
  return {.run = CommandTemplate::parse("app {clock}", std::vector<std::string>{"clock"}).value(),
          .build = {},
          .check = {},
          .code_object = {},
          .code_object_kernel = {}};
}

TuneOptions traded_options(double most) {
  TuneOptions options;
  options.budget = 30;
  options.objective.kind = ObjectiveKind::metric;
  options.objective.metrics = {limited("power", most)};
  return options;
}

TEST(TuneLimits, ATuningSaysWhatIsOutside) {
  const Space space = traded_space();
  TradedExecutor executor(space, 1);
  const TuneResult result =
      tune(space, traded_commands(), executor, nullptr, traded_options(200)).value();
  ASSERT_TRUE(result.winner.has_value());
  EXPECT_LE(traded_power(space, *result.winner), 200);
  std::size_t outside = 0;
  std::optional<double> best;
  for (const Step& step : result.steps) {
    EXPECT_EQ(step.within_limits, traded_power(space, step.id) <= 200);
    outside += step.within_limits ? 0U : 1U;
    if (step.within_limits)
      best = std::min(best.value_or(*step.evaluation.value), *step.evaluation.value);
    EXPECT_EQ(step.best_so_far, best);
  }
  EXPECT_EQ(result.outcomes.outside, outside);
  EXPECT_GT(outside, 0U);
  EXPECT_EQ(result.finalists.front().value, best);
  for (const Finalist& one : result.finalists)
    EXPECT_THAT(one.metrics, ElementsAre(std::optional(traded_power(space, one.id))));
}

TEST(TuneLimits, TheLastComparisonRefusesWhatIsOutsideThere) {
  const Space space = traded_space();
  TradedExecutor executor(space, 1.02);
  const TuneResult result =
      tune(space, traded_commands(), executor, nullptr, traded_options(200)).value();
  if (result.winner) {
    EXPECT_LE(1.02 * traded_power(space, *result.winner), 200);
  }
  EXPECT_THAT(result.warnings, Contains(HasSubstr("not in the last comparison: it cannot win")));
  TradedExecutor hot(space, 100);
  EXPECT_EQ(tune(space, traded_commands(), hot, nullptr, traded_options(200)).value().winner,
            std::nullopt);
}

TEST(TuneLimits, ADefaultOutsideIsOnlyWhatGainsAreOver) {
  SpaceDescription description = traded_space().description();
  for (Parameter& parameter : description.parameters) parameter.default_level = 0;
  description.parameters[0].default_level = 11;
  description.parameters[1].default_level = 8;
  description.parameters[2].default_level = 2;
  description.default_declared = true;
  const Space space = Space::list(std::move(description)).value();
  TradedExecutor executor(space, 1);
  const TuneResult result =
      tune(space, traded_commands(), executor, nullptr, traded_options(200)).value();
  EXPECT_NE(result.winner, result.default_id);
  EXPECT_EQ(result.default_value, traded_time(space, result.default_id));
  EXPECT_LT(result.finalists.front().over_default->ratio, 1);
  EXPECT_THAT(result.warnings, Contains("the default configuration is not within the limits"));
}

TEST(TuneLimits, ResumedAnywhereItEndsTheSame) {
  const Space space = traded_space();
  const auto told = [&](const TuneResult& result) {
    std::string text;
    for (const Step& step : result.steps)
      text += space.text(step.id) + (step.within_limits ? " in\n" : " out\n");
    return text + space.text(*result.winner);
  };
  TradedExecutor undisturbed(space, 1);
  const std::string expected =
      told(tune(space, traded_commands(), undisturbed, nullptr, traded_options(200)).value());
  for (const std::size_t stop : {1U, 7U, 22U, 31U, 40U}) {
    const test::TempFolder folder;
    const auto file = folder / "journal.jsonl";
    TradedExecutor executor(space, 1);
    executor.stop_after = stop;
    {
      Journal journal = Journal::open(file, {}, false).value();
      ASSERT_FALSE(tune(space, traded_commands(), executor, &journal, traded_options(200)));
    }
    executor.stop_after.reset();
    Journal journal = Journal::open(file, {}, true).value();
    EXPECT_EQ(told(tune(space, traded_commands(), executor, &journal, traded_options(200)).value()),
              expected);
    EXPECT_EQ(executor.runs, undisturbed.runs) << stop;
  }
}

TEST(Fronts, AreThoseOfBruteForce) {
  test::Prng random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<Losses> points(1 + static_cast<std::size_t>(random.below(12)));
    for (Losses& point : points)
      for (double& loss : point) loss = static_cast<double>(random.below(10));
    std::set<Losses> expected, found;
    for (const Losses& point : points)
      if (std::ranges::none_of(points, [&](const Losses& other) {
            return other != point && other[0] <= point[0] && other[1] <= point[1];
          }))
        expected.insert(point);
    std::vector<Losses> front;
    for (const std::size_t i : pareto_front(points)) front.push_back(points[i]);
    found.insert(front.begin(), front.end());
    ASSERT_EQ(found, expected);
    ASSERT_EQ(front.size(), expected.size());
    ASSERT_TRUE(std::ranges::is_sorted(front));
    // Unit squares below the reference that a point is at or below.
    const Losses reference = {static_cast<double>(random.below(12)),
                              static_cast<double>(random.below(12))};
    double squares = 0;
    for (double x = 0; x < reference[0]; ++x)
      for (double y = 0; y < reference[1]; ++y)
        squares += std::ranges::any_of(
            points, [&](const Losses& point) { return point[0] <= x && point[1] <= y; });
    ASSERT_EQ(hypervolume(points, reference), squares);
  }
}

TEST(Fronts, GrowWithTheSearchAndKnowTheRecording) {
  using Step = std::optional<Losses>;
  const std::vector<Step> steps = {Step({4, 4}), Step(), Step({1, 5}), Step({5, 5}), Step({2, 2})};
  const Front found = front_of(steps, {}).value();
  EXPECT_THAT(found.steps, ElementsAre(2, 4));
  EXPECT_EQ(found.ideal, (Losses{1, 2}));
  EXPECT_DOUBLE_EQ(found.reference[0], 2.1);
  EXPECT_DOUBLE_EQ(found.reference[1], 5.3);
  const double whole = 1.1 * 3.3;
  ASSERT_EQ(found.hypervolume.size(), 5U);
  EXPECT_EQ(found.hypervolume[0], 0);
  EXPECT_EQ(found.hypervolume[1], 0);
  EXPECT_DOUBLE_EQ(found.hypervolume[2], 1.1 * 0.3 / whole);
  EXPECT_DOUBLE_EQ(found.hypervolume[3], found.hypervolume[2]);
  EXPECT_DOUBLE_EQ(found.hypervolume[4], (1.1 * 0.3 + 0.1 * 3) / whole);
  const std::vector<Losses> recorded = {{1, 5}, {2, 2}, {1, 1}};
  const Front of_all = front_of(steps, recorded).value();
  EXPECT_EQ(of_all.recorded->points, 1U);
  EXPECT_EQ(of_all.recorded->hypervolume, 1);
  EXPECT_FALSE(front_of(std::vector<Step>(3), {}).has_value());
}

TEST(Fronts, OfTwoObjectivesMostIsFoundWithAFractionOfTheSpace) {
  const Space space = traded_space();
  const auto share_of = [&](bool guided, std::uint64_t seed) {
    TuneOptions options = traded_options(1e9);
    options.objective.metrics[0].at_most.reset();
    options.objective.metrics[0].objective = guided;
    options.search.seed = seed;
    options.budget = 40;
    TradedExecutor executor(space, 1);
    const TuneResult result = tune(space, traded_commands(), executor, nullptr, options).value();
    std::vector<std::optional<Losses>> losses;
    for (const Step& step : result.steps)
      losses.emplace_back(Losses{traded_time(space, step.id), traded_power(space, step.id)});
    std::vector<Losses> all;
    for (ConfigId id = 0; id < space.size(); ++id)
      all.push_back({traded_time(space, id), traded_power(space, id)});
    const Front front = front_of(losses, all).value();
    EXPECT_EQ(guided, result.front.has_value());
    EXPECT_TRUE(std::ranges::is_sorted(front.hypervolume));
    return front.hypervolume.back() / front.recorded->hypervolume;
  };
  double guided = 0, by_time = 0;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    guided += share_of(true, seed) / 4;
    by_time += share_of(false, seed) / 4;
  }
  EXPECT_GT(guided, 0.9);
  EXPECT_GT(guided, by_time);
}

TEST(RecordedMetrics, AreReadFromEveryFormatThatHasThem) {
  const auto first = [](std::string_view text) {
    const Recording recording = parse_recording(text, "it").value();
    std::map<std::string, double> metrics(recording.configurations.front().metrics.begin(),
                                          recording.configurations.front().metrics.end());
    return std::pair(metrics, recording.metric_units);
  };
  using Numbers = std::map<std::string, double>;
  using Units = std::map<std::string, std::string>;
  EXPECT_EQ(first(R"({"tune_params_keys": ["x"], "cache": {"1": {"x": 1, "time": 2, "times": [2],
                      "compile_time": 3, "timestamp": "t", "nvml_power": 300.5, "GFLOP/s": 9}}})"),
            std::pair(Numbers({{"nvml_power", 300.5}, {"GFLOP/s", 9}}), Units()));
  EXPECT_EQ(first(R"({"results": [{"configuration": {"x": 1}, "invalidity": "correct",
                      "objectives": ["time"], "measurements": [{"name": "time", "value": 2,
                      "unit": "ms"}, {"name": "energy", "value": 7, "unit": "J"}]}]})"),
            std::pair(Numbers({{"energy", 7}}), Units({{"energy", "J"}})));
  EXPECT_EQ(first("x,time,outcome,power\n1,2,correct,300\n"),
            std::pair(Numbers({{"power", 300}}), Units()));

  Metric power = limited("power", 1);
  power.unit = "W";
  ResultRow row{.configuration = {{"x", std::int64_t{1}}}, .evaluation = {}};
  row.evaluation.outcome = Outcome::correct;
  row.evaluation.value = 2;
  row.evaluation.metrics = {{.name = "power", .value = 300.25}};
  EXPECT_EQ(first(to_t4({row}, "time", "ms", std::vector{power})),
            std::pair(Numbers({{"power", 300.25}}), Units({{"power", "W"}})));
  const std::string table = to_csv({row}, "time", "ms");
  EXPECT_THAT(table, HasSubstr("x,metric:power,value,"));
  EXPECT_EQ(first(table), std::pair(Numbers({{"power", 300.25}}), Units()));
  EXPECT_EQ(evaluation_from_json(to_json(row.evaluation), "it").value(), row.evaluation);
}

}  // namespace
}  // namespace perflab::tune
