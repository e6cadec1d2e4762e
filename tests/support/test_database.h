// Read access to a database in tests: whole query results as text, errors as test failures.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

struct sqlite3;

namespace perflab::test {

/// A database opened read-only. Failures are reported to GoogleTest.
class TestDatabase {
 public:
  explicit TestDatabase(const std::filesystem::path& path);
  TestDatabase(const TestDatabase&) = delete;
  TestDatabase& operator=(const TestDatabase&) = delete;
  ~TestDatabase();

  /// All rows; values as text, NULL as "NULL".
  std::vector<std::vector<std::string>> rows(const std::string& sql);
  /// The first value of the first row; "" and a failure when there is none.
  std::string text(const std::string& sql);
  long long number(const std::string& sql);
  /// The first column of all rows.
  std::vector<std::string> list(const std::string& sql);

 private:
  sqlite3* db_ = nullptr;
};

/// How many random databases a test makes: PERFLAB_RANDOM_DATABASES by hand, else `usual`.
std::uint64_t random_databases(std::uint64_t usual);

/// A folder of its own for the running test (in the build folder), emptied first.
std::filesystem::path test_folder();

/// The bytes of a file; fails the test when there is none.
std::string file_bytes(const std::filesystem::path& path);

}  // namespace perflab::test
