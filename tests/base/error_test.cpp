// Exit codes are a contract; PERFLAB_TRY passes errors on; PERFLAB_CHECK aborts.
#include "base/error.h"

#include <gtest/gtest.h>

#include <memory>

namespace perflab {
namespace {

TEST(Error, ExitCodesAreThoseOfTheContract) {
  EXPECT_EQ(exit_code(ErrorCode::usage), 2);
  EXPECT_EQ(exit_code(ErrorCode::bad_input), 3);
  EXPECT_EQ(exit_code(ErrorCode::missing_tool), 4);
  EXPECT_EQ(exit_code(ErrorCode::target_failed), 5);
  EXPECT_EQ(exit_code(ErrorCode::refused), 1);
  EXPECT_EQ(exit_code(ErrorCode::interrupted), 130);
  EXPECT_EQ(exit_code(ErrorCode::internal), 70);
}

TEST(Error, CodesHaveStableNames) {
  EXPECT_EQ(to_string(ErrorCode::usage), "usage");
  EXPECT_EQ(to_string(ErrorCode::bad_input), "bad_input");
  EXPECT_EQ(to_string(ErrorCode::missing_tool), "missing_tool");
  EXPECT_EQ(to_string(ErrorCode::target_failed), "target_failed");
  EXPECT_EQ(to_string(ErrorCode::refused), "refused");
  EXPECT_EQ(to_string(ErrorCode::interrupted), "interrupted");
  EXPECT_EQ(to_string(ErrorCode::internal), "internal");
}

TEST(Error, DescriptionHasMessageNotesAndRemedy) {
  const Error error =
      Error{.code = ErrorCode::bad_input, .message = "a.db: is empty", .notes = {}, .remedy = {}}
          .with_note("reading run 2")
          .with_note("profiling ./app")
          .with_remedy("run it again");
  EXPECT_EQ(describe(error),
            "a.db: is empty\n  note: reading run 2\n  note: profiling ./app\n  try: run it again");
}

Result<int> half_of(int value) {
  if (value % 2 != 0) return fail(ErrorCode::usage, "odd", "pass an even number");
  return value / 2;
}

Result<void> check_positive(int value) {
  if (value <= 0) return fail(ErrorCode::usage, "not positive");
  return {};
}

Result<int> quarter_of(int value) {
  PERFLAB_TRY_VOID(check_positive(value));
  PERFLAB_TRY(const int half, half_of(value));
  PERFLAB_TRY(const int quarter, half_of(half));
  return quarter;
}

TEST(Try, GivesTheValueOrReturnsTheError) {
  EXPECT_EQ(quarter_of(12), 3);
  ASSERT_FALSE(quarter_of(6).has_value());
  EXPECT_EQ(quarter_of(6).error().message, "odd");
  EXPECT_EQ(quarter_of(6).error().remedy, "pass an even number");
  EXPECT_EQ(quarter_of(-4).error().message, "not positive");
}

TEST(Try, MovesTheValue) {
  const auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(7); };
  const auto use = [&]() -> Result<int> {
    PERFLAB_TRY(const auto pointer, make());
    return *pointer;
  };
  EXPECT_EQ(use(), 7);
}

TEST(CheckDeathTest, AbortsWithTheConditionAndThePlace) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(PERFLAB_CHECK(1 + 1 == 3), "internal error: 1 \\+ 1 == 3 does not hold.*error_test");
  PERFLAB_CHECK(true);
}

}  // namespace
}  // namespace perflab
