// compare/compare_sides.h: how rarely a gate over many kernels fails where nothing changed,
// pairing, and totals.
#include "compare/compare_sides.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "support/prng.h"

namespace perflab::compare {
namespace {

using test::Prng;

/// Kernels "k0", "k1", ... of which each has these runs around 1000 ns x its number.
SampleSide side_of_kernels(Prng& prng, std::size_t kernels, std::size_t runs) {
  SampleSide side;
  side.files = {"x"};
  side.kind = "rocpd";
  side.unit = "ns";
  side.larger_is_better = false;
  side.samples_are = SampleKind::dispatch;
  side.runs = runs;
  for (std::size_t k = 0; k < kernels; ++k) {
    SampleSeries& series = side.series.emplace_back();
    series.name = fmt::format("k{}", k);
    for (std::size_t run = 0; run < runs; ++run) {
      series.samples.push_back(
          static_cast<double>(prng.spread(static_cast<std::int64_t>(1000 * (k + 1)), 200)));
      series.run_sums.emplace_back(series.samples.back());
    }
  }
  return side;
}

TEST(ComparisonOfSides, AGateOverManyKernelsRarelyFailsWhereNothingChanged) {
  constexpr int kTrials = 60;
  int failed = 0, without_correction = 0;
  for (std::uint64_t trial = 0; trial < kTrials; ++trial) {
    Prng prng(trial);
    const SampleSide a = side_of_kernels(prng, 10, 8), b = side_of_kernels(prng, 10, 8);
    CompareOptions options;
    options.threshold = 0;
    const auto together = compare_sides(a, b, options);
    ASSERT_TRUE(together.has_value());
    EXPECT_EQ(together->comparisons, 11U);
    failed += together->verdict == GateVerdict::regression ? 1 : 0;
    options.confidence = 1 - 11 * 0.05;  // 5 % each
    without_correction += compare_sides(a, b, options)->verdict == GateVerdict::regression ? 1 : 0;
  }
  // SLOWER is half of the 5 %: 1.5 failures are meant; without the correction about 13.
  EXPECT_LE(failed, 5);
  EXPECT_GE(without_correction, failed + 4);
}

TEST(ComparisonOfSides, PairsByNameThenByMangledName) {
  Prng prng(1);
  SampleSide a = side_of_kernels(prng, 3, 6), b = side_of_kernels(prng, 3, 6);
  a.series[0].mangled_name = "_Z5firstv";
  b.series[0].name = "first()";
  b.series[0].mangled_name = "_Z5firstv";
  b.series[1].name = "another";
  const auto found = compare_sides(a, b, {});
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->kernels.size(), 2U);
  EXPECT_EQ(found->kernels[0].name, "k2");  // most time first
  EXPECT_EQ(found->kernels[0].name_b, "");
  EXPECT_EQ(found->kernels[1].name, "k0");
  EXPECT_EQ(found->kernels[1].name_b, "first()");
  ASSERT_EQ(found->only_a.size(), 1U);
  EXPECT_EQ(found->only_a[0].name, "k1");
  EXPECT_EQ(found->only_b[0].name, "another");
  EXPECT_NEAR(found->only_a[0].share.value(), 2.0 / 6, 0.05);
  // Single series need no name in common.
  a.series.resize(1);
  b.series.resize(1);
  b.series[0] = {.name = "else", .samples = b.series[0].samples, .run_sums = b.series[0].run_sums};
  EXPECT_EQ(compare_sides(a, b, {})->kernels[0].name_b, "else");
}

TEST(ComparisonOfSides, TheTotalIsOverAllKernelsOfARun) {
  Prng prng(2);  // the sums of B's runs are about 5000, but for one of 3000
  SampleSide a = side_of_kernels(prng, 2, 9), b = side_of_kernels(prng, 2, 9);
  b.series.push_back(b.series[1]);
  b.series.back().name = "new";
  b.series.back().run_sums[5] = std::nullopt;  // a run without it
  const auto found = compare_sides(a, b, {});
  ASSERT_TRUE(found && found->total && found->total->tested);
  EXPECT_EQ(found->total->comparison.samples_b, 9U);
  EXPECT_NEAR(*found->total->comparison.ratio, 5.0 / 3, 0.1);
  EXPECT_TRUE(found->total->regression);
  a.part_of_kernels = true;
  const auto part = compare_sides(a, b, {});
  EXPECT_FALSE(part->total);
  EXPECT_NE(part->total_missing.reason, "");
}

TEST(ComparisonOfSides, SharesAreOfAllKernelsOfAProgramOrMissingWithAReason) {
  Prng prng(4);
  const SampleSide a = side_of_kernels(prng, 3, 6), b = side_of_kernels(prng, 3, 6);
  CompareOptions options;
  options.kernel = Pattern::compile("^k[12]$").value();
  const auto chosen = compare_sides(a, b, options);
  ASSERT_TRUE(chosen && chosen->kernels.size() == 2);
  EXPECT_NEAR(chosen->kernels[0].share_a.value(), 3.0 / 6, 0.05);  // not 3 / 5: k0 has a part too
  EXPECT_NEAR(chosen->kernels[1].share_b.value(), 2.0 / 6, 0.05);
  EXPECT_EQ(chosen->a.no_shares.reason, "");
  // Each change of A leaves it without shares: --min-share cannot leave a kernel out then.
  struct Case {
    const char* reason;
    std::function<void(SampleSide&)> change;
  };
  const std::vector<Case> cases = {
      {"larger is better",
       [](SampleSide& side) {
         side.larger_is_better = true;
         side.unit = "GB/s";
       }},
      {"not of whole runs", [](SampleSide& side) { side.samples_are = SampleKind::iteration; }},
      {"not of whole runs", [](SampleSide& side) { side.samples_are = SampleKind::value; }},
      {"other kernels are not there", [](SampleSide& side) { side.part_of_kernels = true; }},
      {"negative", [](SampleSide& side) { side.series[1].samples[2] = -1; }},
      {"too large to be times",
       [](SampleSide& side) { side.series[1].samples = std::vector<double>(9, 1e308); }},
      {"the sum of all samples", [](SampleSide& side) {
         for (SampleSeries& series : side.series) series.samples.assign(6, 0);
       }}};
  options = {};
  options.min_share = 0.9;
  EXPECT_FALSE(compare_sides(a, b, options)->kernels[0].gated);
  for (const Case& one : cases) {
    SampleSide changed = a, other = b;
    one.change(changed);
    if (changed.unit != "ns") one.change(other);  // times and rates do not go together
    const auto found = compare_sides(changed, other, options);
    ASSERT_TRUE(found) << one.reason << ": " << found.error().message;
    EXPECT_FALSE(found->kernels[0].share_a) << one.reason;
    EXPECT_NE(found->a.no_shares.reason.find(one.reason), std::string::npos)
        << found->a.no_shares.reason;
    EXPECT_TRUE(found->kernels[0].gated) << one.reason;
    EXPECT_TRUE(std::ranges::any_of(found->notes, [](const std::string& note) {
      return note.starts_with("--min-share leaves no kernel out: the shares of A are not known");
    })) << one.reason;
  }
}

TEST(ComparisonOfSides, AGateIsAPassOnlyWhereAllIsDecided) {
  Prng prng(5);
  const SampleSide a = side_of_kernels(prng, 1, 9), b = side_of_kernels(prng, 1, 9);
  CompareOptions options;
  options.threshold = 0.5;
  const auto verdict = [&](const SampleSide& one, const SampleSide& another) {
    const auto found = compare_sides(one, another, options);
    return std::pair(found->verdict, found->fails);
  };
  EXPECT_EQ(verdict(a, b), std::pair(GateVerdict::pass, false));
  const SampleSide few = side_of_kernels(prng, 1, 2);
  EXPECT_EQ(verdict(a, few), std::pair(GateVerdict::undecided, false));
  options.fail_undecided = true;
  EXPECT_EQ(verdict(a, few), std::pair(GateVerdict::undecided, true));
  EXPECT_EQ(verdict(a, b), std::pair(GateVerdict::pass, false));
  // Nothing that can fail is left: nothing is shown.
  const SampleSide two = side_of_kernels(prng, 2, 9);
  options.min_share = 1;
  options.samples = SampleChoice::single;  // no total of runs
  EXPECT_EQ(verdict(two, two), std::pair(GateVerdict::undecided, true));
  options.fail_undecided = false;
  EXPECT_EQ(verdict(two, two), std::pair(GateVerdict::undecided, false));
}

TEST(ComparisonOfSides, UnitsAndDirectionsHaveToAgree) {
  Prng prng(3);
  SampleSide a = side_of_kernels(prng, 1, 8), b = a;
  b.unit = "us";
  for (double& sample : b.series[0].samples) sample /= 1000;
  CompareOptions options;
  options.samples = SampleChoice::single;
  EXPECT_NEAR(*compare_sides(a, b, options)->kernels[0].comparison.ratio, 1, 1e-12);
  EXPECT_EQ(compare_sides(a, b, options)->unit, "ns");
  b.unit = "GB/s";
  EXPECT_EQ(compare_sides(a, b, options).error().code, ErrorCode::usage);
  a.unit = "GB/s";
  a.larger_is_better = true;
  EXPECT_EQ(compare_sides(a, b, options).error().code, ErrorCode::usage);
  b.larger_is_better = std::nullopt;
  EXPECT_TRUE(compare_sides(a, b, options)->larger_is_better);
}

}  // namespace
}  // namespace perflab::compare
