// Which tables the reader finds: schema versions, suffixes, missing tables, views, hostile names.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "support/test_database.h"
#include "trace/trace_checks.h"

namespace perflab::trace {
namespace {

using test::RocpdWriter;
using test::Strictness;
using test::test_folder;
using test::WriterOptions;

/// A database with one launched dispatch, and what `change` does to it before it is closed.
std::filesystem::path one_dispatch(const WriterOptions& options = {},
                                   test::FileOptions file_options = {},
                                   const std::string& sql = {}) {
  const std::filesystem::path path = test_folder() / "one.db";
  RocpdWriter writer(path, options, file_options);
  add_machine(writer);
  writer.launch({.start = kT0, .end = kT0 + 50}, dispatch_at(100));
  if (!sql.empty()) writer.file().execute(sql);
  finish(writer);
  return path;
}

std::string schema_table(test::Table table) {
  return test::physical_name(table, WriterOptions{}.guid);
}

TEST(Schema, ReadsEveryMinorVersionOfSchema3) {
  for (const char* version : {"3", "3.0.0", "3.0.1", "3.9.27"}) {
    const Trace trace = read_ok({one_dispatch({.schema_version = version})});
    ASSERT_EQ(trace.sources.size(), 1U);
    EXPECT_EQ(trace.sources[0].schema_version, version);
    EXPECT_EQ(kernel_names(trace), std::vector<std::string>{"axpy(float*)"});
  }
}

TEST(Schema, RefusesAnotherMajorVersion) {
  for (const char* version : {"4", "4.0.0", "2.9.9", "33", "three"}) {
    const auto path = one_dispatch({.schema_version = version});
    EXPECT_EQ(
        read_error({path}).message,
        fmt::format("{}: is rocpd schema {}; this version reads schema 3", path.string(), version));
    EXPECT_EQ(read_error({path}).remedy, "update rocm-perf");
  }
}

TEST(Schema, WithoutMetadataTheVersionIsUnknown) {
  const Trace trace = read_ok({one_dispatch({.missing_tables = {"metadata"}})});
  EXPECT_EQ(trace.sources[0].schema_version, "unknown");
  EXPECT_EQ(trace.dispatches.size(), 1U);
}

TEST(Schema, WithoutAVersionTagItIsUnknown) {
  const Trace trace = read_ok({one_dispatch(
      {}, {}, "DELETE FROM " + schema_table(test::Table::metadata) + " WHERE tag LIKE 'schema%'")});
  EXPECT_EQ(trace.sources[0].schema_version, "unknown");
  EXPECT_EQ(trace.dispatches.size(), 1U);
}

TEST(Schema, SuffixIsWhateverFollowsTheBaseName) {
  for (const char* guid : {"00003fdc-92cb-72cb-9169-c7e541b1fcdf",
                           "3224963d0bd2e790224c3b2186eb8bd0", "7", "event", "kernel_dispatch"}) {
    const Trace trace = read_ok({one_dispatch({.guid = guid})});
    ASSERT_EQ(trace.sources.size(), 1U) << guid;
    EXPECT_EQ(trace.sources[0].guid, guid);
    EXPECT_EQ(launch_name(trace, 0), "hipLaunchKernel") << guid;
  }
}

TEST(Schema, TablesMayHaveNoSuffix) {
  std::string sql;
  for (const test::TableSpec& spec : test::rocpd_tables())
    sql +=
        fmt::format("ALTER TABLE \"{}\" RENAME TO rocpd_{};", schema_table(spec.table), spec.name);
  const Trace trace = read_ok({one_dispatch({}, {.views = test::Views::none}, sql)});
  EXPECT_EQ(trace.sources[0].guid, WriterOptions{}.guid);
  EXPECT_EQ(launch_name(trace, 0), "hipLaunchKernel");
}

TEST(Schema, CollectorIsKnownByItsTag) {
  EXPECT_EQ(read_ok({one_dispatch()}).sources[0].collector, "rocprofv3");
  EXPECT_EQ(read_ok({one_dispatch({.metadata = {{"upid", "x"}}})}).sources[0].collector,
            "rocprofiler-systems");
}

TEST(Schema, SyntheticNoteIsKept) {
  EXPECT_EQ(read_ok({one_dispatch()}).sources[0].synthetic, "");
  EXPECT_EQ(read_ok({one_dispatch({.synthetic = "made up"})}).sources[0].synthetic, "made up");
}

TEST(Schema, AnyTableMayBeMissing) {
  for (const test::TableSpec& spec : test::rocpd_tables()) {
    const Trace trace = read_ok({one_dispatch({.missing_tables = {std::string(spec.name)}})});
    EXPECT_EQ(trace.sources.size(), 1U) << spec.name;
    EXPECT_EQ(trace.dispatches.size(), spec.name == "kernel_dispatch" ? 0U : 1U) << spec.name;
    EXPECT_EQ(trace.regions.size(), spec.name == "region" ? 0U : 1U) << spec.name;
    if (trace.dispatches.size() == 0) continue;
    const bool joined = spec.name != "event" && spec.name != "region";
    EXPECT_EQ(trace.dispatches.launch[0], joined ? 0 : kNone) << spec.name;
    EXPECT_EQ(kernel_name(trace, 0),
              spec.name == "info_kernel_symbol" ? "kernel 1" : "axpy(float*)");
  }
}

TEST(Schema, TheDispatchTableAloneIsEnough) {
  std::vector<std::string> others;
  for (const test::TableSpec& spec : test::rocpd_tables())
    if (spec.name != "kernel_dispatch") others.emplace_back(spec.name);
  const Trace trace = read_ok({one_dispatch({.missing_tables = others})});
  EXPECT_EQ(kernel_names(trace), std::vector<std::string>{"kernel 1"});
  const Track& track = trace.tracks[trace.dispatches.track[0]];
  EXPECT_EQ(track.agent, kNone);
  EXPECT_EQ(track.queue, kNone);
  EXPECT_EQ(track.stream, kNone);
  EXPECT_EQ(odd(trace, "info_process", "recording without a process row"), 1U);
  EXPECT_EQ(odd(trace, "kernel_dispatch", kNoEvent), 1U);
}

TEST(Schema, ColumnsMayBeMissing) {
  const std::string table = schema_table(test::Table::kernel_dispatch);
  const Trace trace = read_ok({one_dispatch(
      {}, {.views = test::Views::none},
      fmt::format("CREATE TABLE x AS SELECT id, guid, kernel_id, start, end FROM \"{0}\"; "
                  "DROP TABLE \"{0}\"; ALTER TABLE x RENAME TO \"{0}\"",
                  table))});
  EXPECT_EQ(kernel_names(trace), std::vector<std::string>{"axpy(float*)"});
  EXPECT_EQ(trace.launch_configs[trace.dispatches.config[0]], LaunchConfig{});
  EXPECT_EQ(trace.tracks[trace.dispatches.track[0]].agent, kNone);
}

TEST(Schema, ViewsMayBeMissing) {
  EXPECT_EQ(read_ok({one_dispatch({}, {.views = test::Views::none})}).dispatches.size(), 1U);
}

TEST(Schema, ViewsThatLieAreNotBelieved) {
  const auto path = one_dispatch({}, {.views = test::Views::lying});
  EXPECT_EQ(test::TestDatabase(path).number("SELECT count(*) FROM rocpd_kernel_dispatch"), 0);
  const Trace trace = read_ok({path});
  EXPECT_EQ(launch_name(trace, 0), "hipLaunchKernel");
}

TEST(Schema, ViewsAloneAreNoRecording) {
  std::string sql;
  for (const test::TableSpec& spec : test::rocpd_tables())
    sql += fmt::format(
        "ALTER TABLE \"{0}\" RENAME TO hidden_{1}; CREATE VIEW \"{0}\" AS SELECT * FROM "
        "hidden_{1};",
        schema_table(spec.table), spec.name);
  const auto path = one_dispatch({}, {.views = test::Views::none}, sql);
  EXPECT_EQ(read_error({path}).message,
            path.string() + ": is an SQLite database without rocpd tables");
}

TEST(Schema, TablesWithHostileNamesAreCountedAndNotRead) {
  const Trace trace = read_ok({one_dispatch(
      {}, {},
      R"(CREATE TABLE "rocpd_kernel_dispatch_x""; DROP TABLE rocpd_string; --" (id INTEGER);
         CREATE TABLE "rocpd_event_' OR 1=1" (id INTEGER);
         CREATE TABLE "rocpd_region_é" (id INTEGER))")});
  EXPECT_EQ(trace.sources.size(), 1U);
  EXPECT_EQ(trace.dispatches.size(), 1U);
  EXPECT_EQ(dropped(trace, "(table names)",
                    "a table whose name holds other characters than letters, digits and _"),
            3U);
}

TEST(Schema, TablesOfOtherProgramsAreLeftAlone) {
  const Trace trace = read_ok({one_dispatch(
      {}, {}, "CREATE TABLE notes (text); CREATE TABLE rocpd_kernel_dispatches (id INTEGER)")});
  EXPECT_EQ(trace.sources.size(), 1U);
  EXPECT_EQ(trace.report.dropped.size(), 0U);
}

TEST(Schema, LoneMetadataTableIsNoRecording) {
  const std::filesystem::path path = test_folder() / "lone.db";
  test::RocpdFile file(path, {.views = test::Views::none});
  file.execute("CREATE TABLE rocpd_metadata_x (id INTEGER, tag TEXT, value TEXT)");
  ASSERT_TRUE(file.close());
  EXPECT_EQ(read_error({path}).message,
            path.string() + ": is an SQLite database without rocpd tables");
}

TEST(Schema, GeneratedColumnsAndTriggersRunNothing) {
  // Defaults and triggers that would fail or write when they ran; reading must not touch them.
  const std::string table = schema_table(test::Table::kernel_dispatch);
  const Trace trace = read_ok({one_dispatch(
      {}, {},
      fmt::format("ALTER TABLE \"{0}\" ADD COLUMN boom AS (abs(-9223372036854775808)); "
                  "CREATE TRIGGER t AFTER INSERT ON \"{0}\" BEGIN DELETE FROM \"{0}\"; END",
                  table))});
  EXPECT_EQ(trace.dispatches.size(), 1U);
}

}  // namespace
}  // namespace perflab::trace
