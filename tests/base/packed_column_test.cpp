// Columns that are packed hold what a vector holds.
#include "base/packed_column.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <ranges>
#include <span>
#include <type_traits>
#include <vector>

#include "base/random.h"

namespace perflab {
namespace {

template <class T>
class PackedColumns : public testing::Test {};
using Types = testing::Types<std::int64_t, std::uint64_t, std::uint32_t, std::uint16_t>;
TYPED_TEST_SUITE(PackedColumns, Types);

/// Values of every width, whose size changes within blocks and from block to block.
template <class T>
std::vector<T> values_of(std::uint64_t seed, std::size_t rows) {
  SplitMix64 random(seed);
  std::vector<T> values;
  std::uint64_t base = 0;
  unsigned bits = 0;
  while (values.size() < rows) {
    if (random.next() % 700 == 0) {
      base = random.next();
      bits = static_cast<unsigned>(random.next() % 65);
    }
    const std::uint64_t mask = bits == 0 ? 0 : ~std::uint64_t{0} >> (64 - bits);
    values.push_back(static_cast<T>(base + (random.next() & mask)));
  }
  for (const T extreme : {std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), T{0}})
    if (rows > 0 && seed % 3 == 0) values[random.next() % rows] = extreme;
  return values;
}

TYPED_TEST(PackedColumns, HoldWhatAVectorHolds) {
  for (const std::size_t rows : {0U, 1U, 2U, 1023U, 1024U, 1025U, 5000U, 200'000U}) {
    const std::vector<TypeParam> values = values_of<TypeParam>(rows, rows);
    PackedColumn<TypeParam> column;
    for (std::size_t i = 0; i < rows; ++i) {
      column.push_back(values[i]);
      ASSERT_EQ(column.back(), values[i]);
      ASSERT_EQ(column[i / 2], values[i / 2]);  // while it grows
    }
    EXPECT_EQ(column.size(), rows);
    EXPECT_EQ(column.empty(), rows == 0);
    EXPECT_TRUE(column == values);
    if constexpr (std::is_signed_v<TypeParam>)
      if (rows > 0) {
        EXPECT_EQ(column.min(), std::ranges::min(values));
        EXPECT_EQ(column.max(), std::ranges::max(values));
      }
    const PackedColumn<TypeParam> copy = column;
    EXPECT_TRUE(copy == column);
    const PackedColumn<TypeParam> moved = std::move(column);
    EXPECT_TRUE(moved == values && moved == copy);
    EXPECT_TRUE(std::ranges::equal(moved | std::views::reverse, values | std::views::reverse));
  }
}

TYPED_TEST(PackedColumns, AreChanged) {
  std::vector<TypeParam> values = values_of<TypeParam>(3, 10'000);
  PackedColumn<TypeParam> column;
  column.append(values);
  const PackedColumn<TypeParam> before = column;
  SplitMix64 random(4);
  for (int i = 0; i < 300; ++i) {
    const std::size_t row = random.next() % values.size();
    values[row] = static_cast<TypeParam>(random.next());
    column.set(row, values[row]);
  }
  EXPECT_TRUE(column == values);
  EXPECT_FALSE(column == before);
  PackedColumn<TypeParam> from_the_end(values.size());
  EXPECT_EQ(std::ranges::count(from_the_end, TypeParam{0}), 10'000);
  constexpr std::size_t kRows = PackedColumn<TypeParam>::kRows;
  for (std::size_t first = (values.size() - 1) / kRows * kRows;; first -= kRows) {
    from_the_end.replace(first,
                         std::span(values).subspan(first, std::min(kRows, values.size() - first)));
    if (first == 0) break;
  }
  EXPECT_TRUE(from_the_end == column);
  if constexpr (std::is_signed_v<TypeParam>) {
    EXPECT_EQ(from_the_end.min(), std::ranges::min(values));
    EXPECT_EQ(from_the_end.max(), std::ranges::max(values));
  }
  column.transform([](TypeParam value, std::size_t row) {
    return static_cast<TypeParam>(value ^ static_cast<TypeParam>(row));
  });
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(column[i], static_cast<TypeParam>(values[i] ^ static_cast<TypeParam>(i)));
}

TEST(PackedColumn, IsARangeOfValues) {
  const PackedColumn<std::int64_t> column = {-3, 5, 5, 1'000'000'000'000};
  static_assert(std::ranges::random_access_range<PackedColumn<std::int64_t>>);
  EXPECT_EQ(std::ranges::max(column), 1'000'000'000'000);
  EXPECT_EQ(std::ranges::lower_bound(column, 5) - column.begin(), 1);
  EXPECT_EQ(column.front(), -3);
  EXPECT_FALSE(column == (std::vector<std::int64_t>{-3, 5, 5}));
}

}  // namespace
}  // namespace perflab
