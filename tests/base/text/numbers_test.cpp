// Numbers of whole texts, and at their begin.
#include "base/text/numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

namespace perflab {
namespace {

TEST(Numbers, WholeTextsOnly) {
  EXPECT_EQ(whole_number("0"), 0U);
  EXPECT_EQ(whole_number("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(whole_number<std::int64_t>("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(whole_number<int>("ff", 16), 255);
  for (const std::string_view none :
       {"", " 1", "1 ", "+1", "-1", "1.0", "0x1", "18446744073709551616"})
    EXPECT_EQ(whole_number(none), std::nullopt) << none;
  EXPECT_EQ(whole_number<unsigned char>("256"), std::nullopt);
}

TEST(Numbers, HexWithItsBeginning) {
  EXPECT_EQ(hex_number("0x1f"), 31U);
  EXPECT_EQ(number_of("0x1f"), 31U);
  EXPECT_EQ(number_of("31"), 31U);
  for (const std::string_view none : {"1f", "0x", "0xg", "0x-1", "0x10000000000000000"})
    EXPECT_EQ(hex_number(none), std::nullopt) << none;
  EXPECT_EQ(hex_number<std::uint32_t>("0x100000000"), std::nullopt);
}

TEST(Numbers, RealsAreFiniteUnlessAskedFor) {
  EXPECT_EQ(finite_number("1.5"), 1.5);
  EXPECT_EQ(finite_number("-2e9"), -2e9);
  for (const std::string_view none : {"", "x", "1.5x", " 1", "inf", "nan", "1e999"})
    EXPECT_EQ(finite_number(none), std::nullopt) << none;
  EXPECT_TRUE(std::isinf(real_number("inf").value()));
  EXPECT_TRUE(std::isnan(real_number("nan").value()));
  EXPECT_EQ(real_number("1.5x"), std::nullopt);
}

TEST(Numbers, AreTakenOffTheBegin) {
  std::string_view text = "12x7b";
  EXPECT_EQ(take_number<int>(text), 12);
  EXPECT_EQ(text, "x7b");
  EXPECT_EQ(take_number<int>(text), std::nullopt);
  EXPECT_EQ(text, "x7b");
  text.remove_prefix(1);
  EXPECT_EQ(take_number<int>(text, 16), 0x7b);
  EXPECT_EQ(text, "");
  EXPECT_EQ(take_number<int>(text), std::nullopt);
  text = "300 blocks";
  EXPECT_EQ(take_number<unsigned char>(text), std::nullopt);
}

}  // namespace
}  // namespace perflab
