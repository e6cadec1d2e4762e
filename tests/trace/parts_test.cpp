// The reader's small parts on their own: row index, string pool, interner, stack codes, scan
// ranges.
#include <gtest/gtest.h>

#include "trace/interner.h"
#include "trace/rocpd/row_index.h"
#include "trace/rocpd/scan.h"
#include "trace/stack_codes.h"
#include "trace/string_pool.h"
#include "trace/trace.h"

namespace perflab::trace {
namespace {

using rocpd::RowIndex;

TEST(RowIndexTest, IsEmptyAtFirst) {
  RowIndex index;
  index.seal();
  EXPECT_EQ(index.find(0), kNone);
  EXPECT_EQ(index.find(1), kNone);
  EXPECT_EQ(index.size(), 0U);
}

TEST(RowIndexTest, FindsIdsInARow) {
  RowIndex index;
  for (const std::int64_t id : {7, 8, 9}) index.add(id);
  index.seal();
  EXPECT_EQ(index.find(6), kNone);
  EXPECT_EQ(index.find(7), 0U);
  EXPECT_EQ(index.find(9), 2U);
  EXPECT_EQ(index.find(10), kNone);
  EXPECT_EQ(index.find(INT64_MIN), kNone);
}

TEST(RowIndexTest, FindsIdsAfterAGap) {
  RowIndex index;
  for (const std::int64_t id : {1, 2, 5, 6}) index.add(id);
  index.seal();
  EXPECT_EQ(index.find(2), 1U);
  EXPECT_EQ(index.find(3), kNone);
  EXPECT_EQ(index.find(5), 2U);
  EXPECT_EQ(index.find(6), 3U);
  EXPECT_EQ(index.size(), 4U);
}

TEST(RowIndexTest, FindsIdsInAnyOrder) {
  RowIndex index;
  for (const std::int64_t id : {5L, -3L, INT64_MAX, 0L}) index.add(id);
  index.seal();
  EXPECT_EQ(index.find(5), 0U);
  EXPECT_EQ(index.find(-3), 1U);
  EXPECT_EQ(index.find(INT64_MAX), 2U);
  EXPECT_EQ(index.find(0), 3U);
  EXPECT_EQ(index.find(1), kNone);
}

TEST(RowIndexTest, OfARepeatedIdFindsTheFirstRow) {
  RowIndex index;
  for (const std::int64_t id : {9, 4, 9, 4}) index.add(id);
  index.seal();
  EXPECT_EQ(index.find(9), 0U);
  EXPECT_EQ(index.find(4), 1U);
}

TEST(RowIndexTest, CountsUpToTheLargestId) {
  RowIndex index;
  index.add(INT64_MAX - 1);
  index.add(INT64_MAX);
  index.seal();
  EXPECT_EQ(index.find(INT64_MAX), 1U);
  EXPECT_EQ(index.find(INT64_MIN), kNone);
}

TEST(StringPoolTest, InternsOnce) {
  StringPool pool;
  EXPECT_EQ(pool.intern(""), 0U);
  const auto a = pool.intern("a");
  EXPECT_EQ(pool.intern("b"), a + 1);
  EXPECT_EQ(pool.intern("a"), a);
  EXPECT_EQ(pool.view(a), "a");
  EXPECT_EQ(pool.size(), 3U);
}

TEST(StringPoolTest, KeepsItsViewsWhenItGrowsAndMoves) {
  StringPool pool;
  const std::string_view first = pool.view(pool.intern("first"));
  for (int i = 0; i < 10'000; ++i) pool.intern(std::to_string(i));
  const StringPool moved = std::move(pool);
  EXPECT_EQ(first, "first");
  EXPECT_EQ(moved.view(1).data(), first.data());
}

TEST(StringPoolTest, TellsTextsWithZeroBytesApart) {
  StringPool pool;
  EXPECT_NE(pool.intern(std::string_view("a\0b", 3)), pool.intern("a"));
}

TEST(InternerTest, NumbersByFirstAppearance) {
  Interner<LaunchConfig> configs;
  const LaunchConfig a{.workgroup = {1, 2, 3}};
  const LaunchConfig b{.workgroup = {3, 2, 1}};
  EXPECT_EQ(configs.intern(a), 0U);
  EXPECT_EQ(configs.intern(b), 1U);
  EXPECT_EQ(configs.intern(a), 0U);
  EXPECT_EQ(configs.values(), (std::vector<LaunchConfig>{a, b}));
}

TEST(StackCodesTest, ZeroAndNullAreNone) {
  StackCodes codes(10);
  EXPECT_EQ(codes.code(0), 0U);
  EXPECT_EQ(codes.code(std::nullopt), 0U);
}

TEST(StackCodesTest, SmallIdsAreTheirOwnCodeAndOthersComeBehind) {
  StackCodes codes(10);  // own codes up to 4 * 10 + 1024
  EXPECT_EQ(codes.code(1), 1U);
  EXPECT_EQ(codes.code(1063), 1063U);
  EXPECT_EQ(codes.code(1064), 1064U);
  EXPECT_EQ(codes.code(-1), 1065U);
  EXPECT_EQ(codes.code(INT64_MAX), 1066U);
  EXPECT_EQ(codes.code(-1), 1065U);
}

using Ranges = std::vector<std::optional<std::pair<std::int64_t, std::int64_t>>>;

rocpd::Table table_with(std::int64_t low, std::int64_t high, bool has_rowid = true) {
  return {.name = "t",
          .base = "t",
          .columns = {},
          .has_rowid = has_rowid,
          .min_rowid = low,
          .max_rowid = high};
}

TEST(ScanRanges, CoverTheRowIdsOnce) {
  constexpr std::int64_t kChunk = rocpd::kRowsPerChunk;
  EXPECT_EQ(rocpd::scan_ranges(table_with(1, 5), 1 << 20), (Ranges{std::pair{1L, 5L}}));
  EXPECT_EQ(rocpd::scan_ranges(table_with(1, kChunk), 1 << 30), (Ranges{std::pair{1L, kChunk}}));
  EXPECT_EQ(rocpd::scan_ranges(table_with(1, kChunk + 1), 1 << 30),
            (Ranges{std::pair{1L, kChunk}, std::pair{kChunk + 1, kChunk + 1}}));
  EXPECT_EQ(rocpd::scan_ranges(table_with(INT64_MAX - 1, INT64_MAX), 1 << 20),
            (Ranges{std::pair{INT64_MAX - 1, INT64_MAX}}));
}

TEST(ScanRanges, AreNoneForAnEmptyTable) {
  EXPECT_EQ(rocpd::scan_ranges(table_with(0, -1), 1 << 20), Ranges{});
}

TEST(ScanRanges, AreOneWithoutUsableRowIds) {
  EXPECT_EQ(rocpd::scan_ranges(table_with(1, 5, false), 1 << 20), Ranges{std::nullopt});
  EXPECT_EQ(rocpd::scan_ranges(table_with(INT64_MIN, INT64_MAX), 1 << 20), Ranges{std::nullopt});
  // A million ids in a file that cannot hold a thousand rows.
  EXPECT_EQ(rocpd::scan_ranges(table_with(1, 1'000'000), 8000), Ranges{std::nullopt});
}

TEST(RowBound, IsNeverMoreThanTheFileCanHold) {
  EXPECT_EQ(rocpd::row_bound(table_with(1, 100), 1 << 20), 100U);
  EXPECT_EQ(rocpd::row_bound(table_with(INT64_MIN, INT64_MAX), 1600), 101U);
  EXPECT_EQ(rocpd::row_bound(table_with(0, -1), 1600), 0U);
}

}  // namespace
}  // namespace perflab::trace
