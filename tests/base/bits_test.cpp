// Bits hold what a vector of bool holds.
#include "base/bits.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"

namespace perflab {
namespace {

TEST(Bits, AreThoseThatWereSet) {
  EXPECT_TRUE(Bits().empty());
  EXPECT_TRUE(Bits(0).empty());
  SplitMix64 random(1);
  for (const std::size_t count : {1U, 63U, 64U, 65U, 1000U}) {
    Bits bits(count);
    EXPECT_FALSE(bits.empty());
    std::vector<bool> expected(count, false);
    for (std::size_t i = 0; i < count / 2 + 1; ++i) {
      const std::size_t bit = i == 0 ? count - 1 : random.next() % count;
      bits.set(bit);
      expected[bit] = true;
    }
    for (std::size_t bit = 0; bit < count; ++bit) EXPECT_EQ(bits[bit], expected[bit]) << bit;
  }
}

}  // namespace
}  // namespace perflab
