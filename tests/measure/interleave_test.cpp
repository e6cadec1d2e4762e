// Turns between two variants on a backend whose distributions are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "base/system/interrupt.h"
#include "measure/backend.h"

namespace perflab::measure {
namespace {

using stats::SpeedVerdict;
using testing::HasSubstr;

/// Times around 100 with noise, scaled per variant and drifting with every measurement.
class NoisyBackend final : public Backend {
 public:
  explicit NoisyBackend(std::uint64_t seed) : random_(seed) {}
  [[nodiscard]] std::string name() const override { return "noisy"; }
  [[nodiscard]] std::string unit() const override { return "au"; }
  [[nodiscard]] bool larger_is_better() const override { return larger_is_better_; }

  Result<Measured> measure(const Variant& variant) override {
    calls_ += variant.name;
    if (calls_.size() == fails_at_) {
      if (fails_for_all_) return fail(ErrorCode::missing_tool, "the device is gone", "get another");
      return Measured{.samples = {}, .failure = "crashed"};
    }
    const double drift = 1 + drift_ * static_cast<double>(calls_.size());
    const double scale = variant.name == "b" ? scale_of_b_ : 1;
    std::normal_distribution<double> noise(0, noise_);
    Measured measured;
    for (int i = 0; i < samples_; ++i)
      measured.samples.push_back(100 * scale * drift * (1 + noise(random_)));
    if (calls_.size() == not_a_number_at_)
      measured.samples = {std::numeric_limits<double>::quiet_NaN()};
    return measured;
  }

  double scale_of_b_ = 1, noise_ = 0.01, drift_ = 0;
  int samples_ = 1;
  bool larger_is_better_ = false, fails_for_all_ = false;
  std::size_t fails_at_ = 0, not_a_number_at_ = 0;
  std::string calls_;

 private:
  std::mt19937_64 random_;
};

const Variant kOriginal{.name = "a", .code_object = {}, .command = {}, .environment = {}};
const Variant kCandidate{.name = "b", .code_object = {}, .command = {}, .environment = {}};

Interleaved take(NoisyBackend& backend, const InterleaveOptions& options = {}) {
  Result<Interleaved> taken = interleave(backend, kOriginal, kCandidate, options);
  EXPECT_TRUE(taken.has_value()) << describe(taken.error());
  return taken.value_or(Interleaved{});
}

TEST(Interleave, TakesTurnsAndLetsWarmUpBe) {
  NoisyBackend backend(1);
  backend.noise_ = 0.5;
  InterleaveOptions options;
  options.warmup = 3;
  options.stopping = {.fewest = 3, .most = 5, .looks = 2};
  std::vector<std::size_t> turns;
  const auto taken =
      interleave(backend, kOriginal, kCandidate, options, [&](const Interleaved& so_far) {
        EXPECT_EQ(so_far.a.size(), so_far.b.size());
        turns.push_back(so_far.a.size());
      });
  ASSERT_TRUE(taken.has_value());
  EXPECT_EQ(backend.calls_,
            "abbaab"
            "abbaabbaab");
  EXPECT_EQ(taken->order, "ABBAABBAAB");
  EXPECT_THAT(turns, testing::ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(taken->unit, "au");
  EXPECT_EQ(taken->comparison.verdict, SpeedVerdict::undecided);
  EXPECT_FALSE(taken->out_of_time);
}

TEST(Interleave, ASampleIsTheMedianOfItsMeasurement) {
  NoisyBackend backend(2);
  backend.samples_ = 501;
  backend.noise_ = 0.2;
  const Interleaved taken = take(backend);
  for (const double sample : taken.a) EXPECT_NEAR(sample, 100, 5);
  EXPECT_EQ(taken.comparison.samples_a, taken.a.size());
}

// 60 runs each of a gain of 10 %, a loss of 10 % and none, at a noise of 1 %.
TEST(Interleave, DecidesEarlyAndRightly) {
  std::size_t same = 0, wrong = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    NoisyBackend faster(seed), slower(seed + 1000), equal(seed + 2000);
    faster.scale_of_b_ = 0.9;
    slower.scale_of_b_ = 1.1;
    equal.noise_ = 0.005;
    const Interleaved gain = take(faster), loss = take(slower), none = take(equal);
    EXPECT_EQ(gain.comparison.verdict, SpeedVerdict::faster);
    EXPECT_EQ(loss.comparison.verdict, SpeedVerdict::slower);
    EXPECT_LE(gain.a.size(), 20U);
    EXPECT_TRUE(stats::is_look({}, gain.a.size()));
    same += none.comparison.verdict == SpeedVerdict::same;
    wrong += none.comparison.verdict == SpeedVerdict::faster ||
             none.comparison.verdict == SpeedVerdict::slower;
  }
  EXPECT_GE(same, 57U);
  EXPECT_EQ(wrong, 0U);
}

TEST(Interleave, DriftThatIsCommonToBothCancelsOut) {
  for (const double scale : {1.0, 0.9}) {
    NoisyBackend backend(7);
    backend.noise_ = 0.002;
    backend.drift_ = 0.005;  // 60 % over the 120 measurements
    backend.scale_of_b_ = scale;
    InterleaveOptions options;
    options.decided = [](const stats::Comparison&) { return false; };
    const Interleaved taken = take(backend, options);
    ASSERT_EQ(taken.a.size(), 60U);
    EXPECT_NEAR(*taken.comparison.ratio, scale, 0.005);
    EXPECT_TRUE(taken.comparison.health_a.drifting);
  }
}

TEST(Interleave, AFailureEndsItWhereverItComes) {
  for (std::size_t at = 1; at <= 14; ++at) {
    NoisyBackend backend(3);
    backend.noise_ = 0.5;
    backend.fails_at_ = at;
    const Interleaved taken = take(backend);
    EXPECT_EQ(backend.calls_.size(), at);
    const bool of_a = backend.calls_.back() == 'a';
    EXPECT_EQ(taken.failure_a, of_a ? "crashed" : "");
    EXPECT_EQ(taken.failure_b, of_a ? "" : "crashed");
    EXPECT_EQ(taken.a.size(), taken.b.size());
    EXPECT_EQ(taken.a.size(), at <= 2 ? 0 : (at - 3) / 2);
    EXPECT_EQ(taken.order.size(), 2 * taken.a.size());
  }
  NoisyBackend no_number(4);
  no_number.not_a_number_at_ = 6;
  EXPECT_EQ(take(no_number).failure_a, "gave no finite number");
}

TEST(Interleave, AnErrorOfTheBackendIsAnError) {
  NoisyBackend backend(3);
  backend.fails_at_ = 5;
  backend.fails_for_all_ = true;
  const auto failed = interleave(backend, kOriginal, kCandidate, {});
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, ErrorCode::missing_tool);
  raise_interrupt();
  const auto stopped = interleave(backend, kOriginal, kCandidate, {});
  clear_interrupts();
  ASSERT_FALSE(stopped.has_value());
  EXPECT_EQ(stopped.error().code, ErrorCode::interrupted);
  EXPECT_EQ(backend.calls_.size(), 5U) << "nothing was begun after the interrupt";
}

TEST(Interleave, EndsWhenTheTimeIsOver) {
  for (const std::size_t turns : {0U, 1U, 4U, 9U, 12U}) {
    NoisyBackend backend(5);
    backend.scale_of_b_ = turns == 12 ? 0.5 : 1;
    backend.noise_ = turns == 12 ? 0.01 : 0.3;
    InterleaveOptions options;
    options.stopping = {.fewest = 7, .most = 60, .looks = 2};
    if (turns == 12) options.stopping.fewest = 20;
    options.warmup = 0;
    std::size_t asked = 0;
    options.out_of_time = [&] { return ++asked > turns; };
    const Interleaved taken = take(backend, options);
    EXPECT_EQ(taken.a.size(), turns);
    EXPECT_TRUE(taken.out_of_time);
    EXPECT_EQ(taken.comparison.verdict, SpeedVerdict::undecided);
    if (turns == 12) {
      EXPECT_EQ(taken.comparison.samples_to_decide, 20U);
    }
  }
  // Over behind the fewest samples: what is clear then is decided.
  NoisyBackend backend(6);
  backend.scale_of_b_ = 0.5;
  InterleaveOptions options;
  options.stopping = {.fewest = 7, .most = 60, .looks = 1};
  options.warmup = 0;
  options.out_of_time = [&] { return backend.calls_.size() >= 20; };
  const Interleaved taken = take(backend, options);
  EXPECT_EQ(taken.a.size(), 10U);
  EXPECT_EQ(taken.comparison.verdict, SpeedVerdict::faster);
  EXPECT_FALSE(taken.out_of_time);
}

TEST(Interleave, TheDirectionIsTheBackendsAndTheComparisonCanBeMadeAgain) {
  NoisyBackend backend(8);
  backend.scale_of_b_ = 1.2;
  backend.larger_is_better_ = true;
  InterleaveOptions options;
  const Interleaved taken = take(backend, options);
  EXPECT_EQ(taken.comparison.verdict, SpeedVerdict::faster);
  options.comparison.larger_is_better = true;
  const stats::Comparison again = compare_interleaved(taken.a, taken.b, options);
  EXPECT_EQ(again.verdict, taken.comparison.verdict);
  EXPECT_EQ(again.ratio, taken.comparison.ratio);
  EXPECT_EQ(again.interval->low, taken.comparison.interval->low);
  EXPECT_EQ(again.interval->high, taken.comparison.interval->high);
}

TEST(Interleave, GoesOnUntilTheCallerSaysThatItIsDecided) {
  NoisyBackend backend(9);
  backend.scale_of_b_ = 0.9;
  InterleaveOptions options;
  std::vector<std::size_t> looks;
  options.decided = [&](const stats::Comparison& found) {
    looks.push_back(found.samples_a);
    return looks.size() == 3;
  };
  const Interleaved taken = take(backend, options);
  ASSERT_EQ(looks.size(), 3U);
  EXPECT_EQ(taken.a.size(), looks.back());
  for (const std::size_t look : looks) EXPECT_TRUE(stats::is_look({}, look));
}

/// Readings around measurements, by a list of core clocks; the last pair for ever.
class SensedBackend final : public Backend {
 public:
  explicit SensedBackend(std::vector<sensors::Span> spans) : spans_(std::move(spans)) {}
  [[nodiscard]] std::string name() const override { return "sensed"; }
  [[nodiscard]] std::string unit() const override { return "ns"; }
  Result<Measured> measure(const Variant& variant) override {
    calls_ += variant.name;
    Measured measured{.samples = {static_cast<double>(calls_.size())}, .failure = {}};
    measured.sensed.source = "nvml";
    measured.sensed.span = spans_[std::min(calls_.size() - 1, spans_.size() - 1)];
    return measured;
  }
  std::string calls_;

 private:
  std::vector<sensors::Span> spans_;
};

sensors::Span clocks(double before, double after) {
  sensors::Span span;
  span.before.core_mhz = before;
  span.after.core_mhz = after;
  return span;
}

InterleaveOptions four_turns() {
  InterleaveOptions options;
  options.stopping = {.fewest = 4, .most = 4, .looks = 1};
  return options;
}

TEST(Interleave, TakesATurnAgainInWhichTheClockChanged) {
  // The warm-up's do not count; of the first turn the second half is slow.
  SensedBackend backend({clocks(345, 1980), clocks(345, 1980), clocks(1980, 1980),
                         clocks(1980, 1500), clocks(1980, 1980)});
  const auto out = interleave(backend, kOriginal, kCandidate, four_turns());
  ASSERT_TRUE(out.has_value());
  EXPECT_EQ(backend.calls_, "abababbaabba");
  EXPECT_EQ(out->order, "ABBAABBA");
  EXPECT_EQ(out->a.front(), 5);  // of the repeated turn
  EXPECT_EQ(out->conditions.source, "nvml");
  EXPECT_EQ(out->conditions.repeated, 1U);
  ASSERT_EQ(out->conditions.turns.size(), 4U);
  EXPECT_EQ(out->conditions.turns[0].repeats, 1U);
}

TEST(Interleave, GoesOnWhenTheClockNeverRestsAndSaysSo) {
  SensedBackend backend({clocks(1980, 1500)});
  const auto out = interleave(backend, kOriginal, kCandidate, four_turns());
  ASSERT_TRUE(out.has_value());
  EXPECT_EQ(out->a.size(), 4U);
  EXPECT_EQ(out->conditions.repeated, 10U);
  EXPECT_EQ(out->conditions.disturbed, 4U);
}

TEST(Interleave, SaysWhyNothingWasRead) {
  NoisyBackend backend(1);
  const auto out = interleave(backend, kOriginal, kCandidate, four_turns());
  ASSERT_TRUE(out.has_value());
  EXPECT_EQ(out->conditions.source, "");
  EXPECT_NE(out->conditions.missing_because, "");
}

}  // namespace
}  // namespace perflab::measure
