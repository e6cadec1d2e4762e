// The few SQLite and file calls behind test_database.h.
#include "support/test_database.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace perflab::test {

TestDatabase::TestDatabase(const std::filesystem::path& path) {
  // immutable: recorded databases lie in folders that nobody may write to.
  const std::string uri = "file:" + path.string() + "?immutable=1";
  EXPECT_EQ(sqlite3_open_v2(uri.c_str(), &db_, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr),
            SQLITE_OK)
      << path;
}

TestDatabase::~TestDatabase() {
  sqlite3_close(db_);
}

std::vector<std::vector<std::string>> TestDatabase::rows(const std::string& sql) {
  std::vector<std::vector<std::string>> all;
  sqlite3_stmt* statement = nullptr;
  EXPECT_EQ(sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement, nullptr), SQLITE_OK)
      << sql << ": " << sqlite3_errmsg(db_);
  while (statement != nullptr && sqlite3_step(statement) == SQLITE_ROW) {
    std::vector<std::string>& row = all.emplace_back();
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, i));
      row.emplace_back(text == nullptr ? "NULL" : text);
    }
  }
  EXPECT_EQ(sqlite3_finalize(statement), SQLITE_OK) << sql << ": " << sqlite3_errmsg(db_);
  return all;
}

std::string TestDatabase::text(const std::string& sql) {
  const auto all = rows(sql);
  if (!all.empty()) return all[0][0];
  ADD_FAILURE() << "no row: " << sql;
  return {};
}

long long TestDatabase::number(const std::string& sql) {
  const std::string value = text(sql);
  return value.empty() || value == "NULL" ? -1 : std::stoll(value);
}

std::vector<std::string> TestDatabase::list(const std::string& sql) {
  std::vector<std::string> values;
  for (const auto& row : rows(sql)) values.push_back(row[0]);
  return values;
}

std::uint64_t random_databases(std::uint64_t usual) {
  const char* const wanted = std::getenv("PERFLAB_RANDOM_DATABASES");
  if (wanted == nullptr) return usual;
  const std::uint64_t many = std::strtoull(wanted, nullptr, 10);
  EXPECT_GT(many, 0U) << "PERFLAB_RANDOM_DATABASES=" << wanted;
  return many;
}

std::filesystem::path test_folder() {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const std::filesystem::path folder =
      std::filesystem::path(PERFLAB_TEST_FILES) / test->test_suite_name() / test->name();
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

std::string file_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace perflab::test
