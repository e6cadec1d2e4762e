// Row ids that are not 1, 2, 3, …: sparse, negative, unordered, shadowed, or none at all. Whatever
// they are, every row is read once, and joins find their row.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/test_database.h"
#include "trace/rocpd/scan.h"
#include "trace/trace_checks.h"

namespace perflab::trace {
namespace {

using test::DispatchRow;
using test::Id;
using test::RocpdWriter;
using test::test_folder;

/// Writes launches whose rows (region, dispatch, their events) have the ids that `id_of(i)` says,
/// and checks that each dispatch finds its call.
void expect_all_linked(const std::vector<Id>& ids, const std::string& sql = {}) {
  const auto path = test_folder() / "ids.db";
  RocpdWriter writer(path, {}, {.views = test::Views::none});
  add_machine(writer);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i) * 100;
    const Id stack = writer.next_stack_id();
    // Region events lie between those of the dispatches.
    const Id region_event = ids[i] == INT64_MAX ? ids[i] - 1 : ids[i] + 1;
    writer.region({.name = fmt::format("call {}", i),
                   .start = kT0 + at,
                   .end = kT0 + at + 10,
                   .event = {.stack_id = stack, .overrides = {{"id", region_event}}},
                   .overrides = {{"id", ids[i]}}});
    DispatchRow row = dispatch_at(at + 50);
    row.event = {.stack_id = stack, .overrides = {{"id", ids[i]}}};
    row.overrides = {{"id", ids[i]}};
    writer.dispatch(row);
  }
  if (!sql.empty()) writer.file().execute(sql);
  finish(writer);
  for (const unsigned threads : {1U, 3U}) {
    const Trace trace = read_ok({path}, threads);
    ASSERT_EQ(trace.dispatches.size(), ids.size());
    ASSERT_EQ(trace.regions.size(), ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i)
      EXPECT_EQ(launch_name(trace, i), fmt::format("call {}", i)) << "of row " << ids[i];
  }
}

std::string table_of(test::Table table) {
  return test::physical_name(table, test::WriterOptions{}.guid);
}

TEST(RowIds, MayStartAnywhere) {
  expect_all_linked({1'000'000, 1'000'002, 1'000'004});
}

TEST(RowIds, MayBeSparse) {
  expect_all_linked({3, 70'000, 9'000'000, 4'000'000'000, 4'000'000'002});
}

TEST(RowIds, MayBeUnordered) {
  expect_all_linked({40, 10, 30, 20, 99, 1});
}

TEST(RowIds, MayBeTheExtremes) {
  expect_all_linked({INT64_MAX, INT64_MIN, -2, 0, INT64_MAX - 10, 7});
}

TEST(RowIds, MayCrossAScanRange) {
  expect_all_linked({1, rocpd::kRowsPerChunk - 1, rocpd::kRowsPerChunk + 1,
                     2 * rocpd::kRowsPerChunk, 3 * rocpd::kRowsPerChunk + 5});
}

TEST(RowIds, MayBeMissingFromTheTables) {
  std::string sql;
  for (const test::Table table :
       {test::Table::kernel_dispatch, test::Table::region, test::Table::event})
    sql += fmt::format(
        "CREATE TABLE copy AS SELECT * FROM \"{0}\"; DROP TABLE \"{0}\"; CREATE TABLE \"{0}\" "
        "({1}, "
        "PRIMARY KEY (id)) WITHOUT ROWID; INSERT INTO \"{0}\" SELECT {2} FROM copy; DROP TABLE "
        "copy;",
        table_of(table),
        [&] {
          std::string columns = "id INTEGER, guid TEXT";
          for (const test::ColumnSpec& c : test::table_spec(table).columns)
            columns += fmt::format(", \"{}\" {}", c.name, c.type);
          return columns;
        }(),
        [&] {
          std::string columns = "id, guid";
          for (const test::ColumnSpec& c : test::table_spec(table).columns)
            columns += fmt::format(", \"{}\"", c.name);
          return columns;
        }());
  expect_all_linked({5, 20, 40'000'000}, sql);
}

TEST(RowIds, MayBeShadowedByAColumn) {
  for (const char* name : {"_rowid_", "_ROWID_", "_RowId_"}) {
    std::string sql;
    for (const test::Table table :
         {test::Table::kernel_dispatch, test::Table::region, test::Table::event})
      sql += fmt::format("ALTER TABLE \"{}\" ADD COLUMN {} INTEGER;", table_of(table), name);
    expect_all_linked({5, 20, 30}, sql);
  }
}

TEST(RowIds, NeedNotBeTheIdColumn) {
  // Tables that lost their PRIMARY KEY: rowids are 1, 2, 3, …, ids are not.
  std::string sql;
  for (const test::Table table :
       {test::Table::kernel_dispatch, test::Table::region, test::Table::event})
    sql += fmt::format(
        "CREATE TABLE copy AS SELECT * FROM \"{0}\" ORDER BY id DESC; DROP TABLE \"{0}\"; ALTER "
        "TABLE copy RENAME TO \"{0}\";",
        table_of(table));
  expect_all_linked({500, 20, 4'000'000}, sql);
}

TEST(RowIds, OfEventsThatRepeatLeadToTheFirst) {
  const auto path = test_folder() / "twice.db";
  RocpdWriter writer(path, {}, {.views = test::Views::none});
  add_machine(writer);
  writer.launch({.name = "first", .start = kT0, .end = kT0 + 1}, dispatch_at(100));
  writer.region({.name = "second", .start = kT0, .end = kT0 + 1, .event = {.stack_id = 2}});
  const std::string events = table_of(test::Table::event);
  writer.file().execute(fmt::format(
      "CREATE TABLE copy AS SELECT * FROM \"{0}\"; INSERT INTO copy (id, guid, stack_id) SELECT 2, "
      "guid, 2 FROM \"{0}\" LIMIT 1; DROP TABLE \"{0}\"; ALTER TABLE copy RENAME TO \"{0}\"",
      events));
  finish(writer);
  const Trace trace = read_ok({path});
  EXPECT_EQ(launch_name(trace, 0), "first");
  EXPECT_EQ(trace.report.rows.at("event"), 4U);
}

TEST(RowIds, OfEventsMayBeNull) {
  const auto path = test_folder() / "null.db";
  RocpdWriter writer(path, {}, {.views = test::Views::none});
  add_machine(writer);
  writer.launch({.start = kT0, .end = kT0 + 1}, dispatch_at(100));
  writer.file().execute(fmt::format(
      "CREATE TABLE copy AS SELECT * FROM \"{0}\"; UPDATE copy SET id = NULL WHERE id = "
      "2; DROP TABLE \"{0}\"; ALTER TABLE copy RENAME TO \"{0}\"",
      table_of(test::Table::event)));
  finish(writer);
  const Trace trace = read_ok({path});
  EXPECT_EQ(trace.dispatches.launch[0], kNone);
  EXPECT_EQ(dropped(trace, "event", "row without an id"), 1U);
  EXPECT_EQ(odd(trace, "kernel_dispatch", kNoEvent), 1U);
}

}  // namespace
}  // namespace perflab::trace
