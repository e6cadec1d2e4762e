// The tables and views against those of databases that rocprofv3 wrote, which are not part of the
// project: without them these tests are skipped.
#include "record/database/schema.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/temp_folder.h"
#include "record/database/database.h"
#include "support/test_database.h"

namespace perflab::record {
namespace {

using test::TestDatabase;

const std::filesystem::path kRocprofv3Sample =
    std::filesystem::path(PERFLAB_SHARED_DIR) / "data/rocpd/emulated_mi300x/streams.db";

/// Columns by name of table or view (tables by their plain names): name, declared type, NOT NULL.
std::map<std::string, std::vector<std::vector<std::string>>> schema_columns(TestDatabase& db,
                                                                            const char* type) {
  std::map<std::string, std::vector<std::vector<std::string>>> found;
  for (const std::string& name :
       db.list(std::string("SELECT name FROM sqlite_master WHERE type = '") + type +
               "' AND name NOT LIKE 'sqlite%'")) {
    // The suffix is a guid of 36 characters and the "_" before it.
    const bool table = std::string_view(type) == "table";
    found[table ? name.substr(0, name.size() - 37) : name] = db.rows(
        std::string("SELECT name, type, \"notnull\", pk FROM pragma_table_info('") + name + "')");
  }
  return found;
}

class RecordSchema : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kRocprofv3Sample)) GTEST_SKIP() << kRocprofv3Sample;
    auto made = Database::create((folder_ / "own.db").string(), Process{.pid = 4, .command = "x"});
    ASSERT_TRUE(made) << describe(made.error());
    ASSERT_TRUE((*made)->finish());
  }
  test::TempFolder folder_;
};

TEST_F(RecordSchema, TablesAreThoseOfRocprofv3) {
  TestDatabase theirs(kRocprofv3Sample);
  TestDatabase ours(folder_ / "own.db");
  const auto expected = schema_columns(theirs, "table");
  EXPECT_EQ(expected.size(), 20U);
  EXPECT_EQ(schema_columns(ours, "table"), expected);
}

TEST_F(RecordSchema, ViewsHaveTheColumnsOfRocprofv3) {
  TestDatabase theirs(kRocprofv3Sample);
  TestDatabase ours(folder_ / "own.db");
  const auto names = [](const auto& views) {
    std::map<std::string, std::vector<std::string>> columns;
    for (const auto& [view, rows] : views)
      for (const auto& row : rows) columns[view].push_back(row[0]);
    return columns;
  };
  EXPECT_EQ(names(schema_columns(ours, "view")), names(schema_columns(theirs, "view")));
}

TEST_F(RecordSchema, ViewsGiveWhatTheirsGive) {
  // Our statements over the tables of their database, row by row.
  TestDatabase theirs(kRocprofv3Sample);
  for (const DataView& view : data_views()) {
    SCOPED_TRACE(view.name);
    const std::string name(view.name);
    // Both in one order. Views over views are ours by those.
    auto expected = theirs.rows("SELECT * FROM " + name);
    auto found = theirs.rows("SELECT * FROM (" + std::string(view.select) + ")");
    std::ranges::sort(expected);
    std::ranges::sort(found);
    EXPECT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace perflab::record
