// calibrate/judge.h: from measurements to each verdict; calibrate/expectation.h: the whole table
// can be computed and is about counters and formulas that exist.
#include "calibrate/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "hal/counter_catalogue.h"
#include "hal/counter_formula.h"

namespace perflab::calibrate {
namespace {

using hal::CalibrationProof;
using hal::CalibrationVerdict;
using ::testing::HasSubstr;

CalibrationProof proof(std::string kernel, double expected, std::vector<double> measured,
                       double tolerance = 0) {
  return {.kernel = std::move(kernel),
          .launch = "1 x 256 threads, 2 rounds",
          .formula = "waves",
          .expected = expected,
          .measured = std::move(measured),
          .tolerance = tolerance};
}

hal::CalibratedFigure of(std::vector<CalibrationProof> proofs) {
  return judged("X", std::move(proofs), "nobody knows");
}

TEST(JudgeTest, ConfirmsWhatIsExactOrWithinItsTolerance) {
  EXPECT_EQ(of({proof("a", 100, {100, 100, 100}), proof("b", 50, {50, 50, 50})}).verdict,
            CalibrationVerdict::confirmed);
  const auto close = of({proof("a", 100, {101, 102, 99}, 0.02)});
  EXPECT_EQ(close.verdict, CalibrationVerdict::confirmed);
  EXPECT_NEAR(*close.spread, 3.0 / 101, 1e-12);
  EXPECT_EQ(close.runs, 3);
  EXPECT_EQ(close.factor, std::nullopt);
  // One instruction too many is not exact.
  EXPECT_NE(of({proof("a", 100, {101, 101, 101})}).verdict, CalibrationVerdict::confirmed);
}

TEST(JudgeTest, FindsTheFactorThatAllProofsShare) {
  const auto twice = of({proof("a", 100, {200, 200}), proof("b", 50, {100, 100})});
  EXPECT_EQ(twice.verdict, CalibrationVerdict::wrong_by_factor);
  EXPECT_EQ(twice.factor, 2);
  const auto half = of({proof("a", 100, {50, 50}, 0.02), proof("b", 1000, {505, 505}, 0.02)});
  EXPECT_EQ(half.verdict, CalibrationVerdict::wrong_by_factor);
  EXPECT_NEAR(*half.factor, 0.5025, 1e-9);
  // One proof alone could be anything: an offset, too.
  EXPECT_EQ(of({proof("a", 100, {200, 200})}).verdict, CalibrationVerdict::wrong);
  // A constant too many is no factor.
  const auto offset = of({proof("a", 100, {164, 164}), proof("b", 1000, {1064, 1064})});
  EXPECT_EQ(offset.verdict, CalibrationVerdict::wrong);
  EXPECT_THAT(offset.reason, HasSubstr("1.64 times what a "));
}

TEST(JudgeTest, ToldApartZeroNoiseAndSilence) {
  EXPECT_EQ(of({proof("a", 100, {0, 0}), proof("b", 50, {0, 0})}).verdict,
            CalibrationVerdict::zero);
  // 0 in one kernel only is wrong, not zero.
  EXPECT_EQ(of({proof("a", 100, {0, 0}), proof("b", 50, {50, 50})}).verdict,
            CalibrationVerdict::wrong);
  const auto noisy = of({proof("a", 100, {100, 120, 90})});
  EXPECT_EQ(noisy.verdict, CalibrationVerdict::noisy);
  EXPECT_THAT(noisy.reason, HasSubstr("30 %"));
  // 0 now and then is noise.
  EXPECT_EQ(of({proof("a", 100, {0, 100, 100})}).verdict, CalibrationVerdict::noisy);
  const auto silent = of({proof("a", 100, {})});
  EXPECT_EQ(silent.verdict, CalibrationVerdict::not_measured);
  EXPECT_EQ(silent.reason, "nobody knows");
  EXPECT_TRUE(silent.proofs.empty());
}

/// Each line of the table names a counter or formula of some architecture, rows that exist, and
/// numbers that a launch has.
TEST(ExpectationTest, IsAboutThingsThatExist) {
  const std::set<std::string, std::less<>> numbers = {
      "waves",     "threads",   "block",   "rounds",      "read",      "written",
      "stride",    "conflicts", "LANES",   "CU",          "LINE",      "MAX_WAVES_PER_CU",
      "all",       "valu",      "salu",    "smem",        "vmem",      "lds",
      "branch",    "matrix",    "op_i32",  "fma_f16",     "fma_f32",   "fma_f64",
      "add_f32",   "add_f64",   "mul_f32", "mul_f64",     "trans_f32", "flops_f16",
      "flops_f32", "flops_f64", "op_f16",  "matrix_flops"};
  for (const Expectation& one : all_expectations()) {
    SCOPED_TRACE(std::string(one.figure) + " = " + std::string(one.formula));
    bool known = false;
    for (const hal::CounterTable& table : hal::all_counter_tables()) {
      if (one.only && *one.only != hal::platform_of(table.gfx)) continue;
      known = known ||
              (one.is_formula ? table.find(one.figure) != nullptr : table.has_counter(one.figure));
    }
    EXPECT_TRUE(known);
    bool any = false;
    for (const Work& work : all_work()) any = any || is_for(one, work.name);
    EXPECT_TRUE(any) << one.rows;
    const Result<hal::FormulaText> formula = hal::read_formula(one.formula);
    ASSERT_TRUE(formula) << describe(formula.error());
    for (const std::string& name : formula->counters) EXPECT_TRUE(numbers.contains(name)) << name;
    for (const std::string& name : formula->constants) EXPECT_TRUE(numbers.contains(name)) << name;
    EXPECT_GE(one.tolerance, 0);
    EXPECT_LT(one.tolerance, 0.2);
    EXPECT_FALSE(one.why.empty());
  }
}

TEST(ExpectationTest, IsForRowsByNameOrBeginning) {
  const Expectation one{
      .figure = "X", .rows = "copy_16 matrix_*", .formula = "waves*2", .why = "a test"};
  EXPECT_TRUE(is_for(one, "copy_16"));
  EXPECT_TRUE(is_for(one, "matrix_fp16"));
  EXPECT_FALSE(is_for(one, "copy_1"));
  EXPECT_FALSE(is_for(one, "copy_16x"));
  EXPECT_EQ(expected_value(one, {{"waves", 21}}), 42);
  EXPECT_EQ(expected_value(one, {}), std::nullopt);
}

}  // namespace
}  // namespace perflab::calibrate
