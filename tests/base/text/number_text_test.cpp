// Numbers for people, at the borders where "%g" changes its form.
#include "base/text/number_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace perflab {
namespace {

TEST(NumberText, HasNoExponentWherePeopleReadIt) {
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(-12.5), "-12.5");
  EXPECT_EQ(number_text(4047.7149), "4047.71");
  EXPECT_EQ(number_text(5767564.2), "5767564");
  EXPECT_EQ(number_text(-1307400), "-1307400");
  EXPECT_EQ(number_text(999.7, 3), "1000");
  EXPECT_EQ(number_text(12345, 4), "12345");
  EXPECT_EQ(number_text(123.46, 4), "123.5");
  EXPECT_EQ(number_text(999999999999999), "999999999999999");
  EXPECT_EQ(number_text(0.000123), "0.000123");
}

TEST(NumberText, HasOneBeyond) {
  EXPECT_EQ(number_text(1e15), "1e+15");
  EXPECT_EQ(number_text(2.5e-5), "2.5e-05");
  EXPECT_EQ(number_text(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(number_text(std::nan("")), "nan");
}

}  // namespace
}  // namespace perflab
