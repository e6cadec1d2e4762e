// Durations and short times as people type them.
#include "base/text/duration.h"

#include <gtest/gtest.h>

namespace perflab {
namespace {

TEST(ParseDuration, TakesSecondsAndUnits) {
  EXPECT_EQ(parse_duration("90")->count(), 90'000);
  EXPECT_EQ(parse_duration("500ms")->count(), 500);
  EXPECT_EQ(parse_duration("1.5h")->count(), 5'400'000);
  for (const char* wrong : {"", "0", "-1", "soon", "1d", "1e3"})
    EXPECT_FALSE(parse_duration(wrong)) << wrong;
}

TEST(ParseShortTime, TakesNothingAndUnitsUpToSeconds) {
  EXPECT_EQ(parse_short_time("0")->count(), 0);
  EXPECT_EQ(parse_short_time("0us")->count(), 0);
  EXPECT_EQ(parse_short_time("500ns")->count(), 500);
  EXPECT_EQ(parse_short_time("1.5us")->count(), 1500);
  EXPECT_EQ(parse_short_time("2ms")->count(), 2'000'000);
  EXPECT_EQ(parse_short_time("1s")->count(), 1'000'000'000);
}

TEST(ParseShortTime, RefusesWhatHasNoUnitOrIsTooLong) {
  for (const char* wrong :
       {"", "5", "-1us", "1m", "us", "5 us", "1e3us", "inf", "nan", "3601s", "1e400s"}) {
    const auto time = parse_short_time(wrong);
    ASSERT_FALSE(time) << wrong;
    EXPECT_EQ(time.error().code, ErrorCode::usage);
    EXPECT_EQ(time.error().message, "'" + std::string(wrong) + "' is not a time");
  }
}

}  // namespace
}  // namespace perflab
