// What strong units can do; what they refuse is in units_compile_fail.cpp.
#include "base/units.h"

#include <gtest/gtest.h>

namespace perflab {
namespace {

TEST(Units, AddSubtractAndCompare) {
  constexpr Nanos sum = Nanos{2'000'000} + Nanos{500'000};
  static_assert(sum == Nanos{2'500'000});
  static_assert(sum - Nanos{500'000} == Nanos{2'000'000});
  static_assert(Bytes{1} < Bytes{2});
  static_assert(sizeof(Nanos) == sizeof(std::int64_t));
  Bytes total;
  total += Bytes{7};
  EXPECT_EQ(total.value, 7);
}

TEST(Units, MillisecondsForPeople) {
  EXPECT_DOUBLE_EQ(to_ms(Nanos{2'500'000}), 2.5);
}

}  // namespace
}  // namespace perflab
