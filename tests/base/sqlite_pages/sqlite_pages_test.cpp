// Tables read from their pages, with SQLite as the judge: random databases, damaged ones, those
// that SQLite has to read, and a writer that commits meanwhile.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>

#include "base/sqlite_pages/random_database.h"
#include "base/sqlite_pages/rows.h"
#include "support/pages_judge.h"
#include "support/prng.h"
#include "support/test_database.h"

namespace perflab::sqlite_pages {
namespace {

using test::judge_pages;
using test::Judgement;
using test::test_folder;
using test::write_random_database;

TEST(SqlitePages, RowsOfRandomDatabasesAreThoseOfSqlite) {
  const auto path = test_folder() / "random.db";
  std::uint64_t plain = 0, rows = 0;
  std::map<AskSqlite, std::uint64_t> asked;
  const std::uint64_t databases = test::random_databases(400);
  for (std::uint64_t seed = 1; seed <= databases; ++seed) {
    const test::RandomDatabase made = write_random_database(path, seed);
    const auto judgement = judge_pages(path);
    ASSERT_TRUE(judgement) << "seed " << seed << ": " << describe(judgement.error());
    ASSERT_EQ(judgement->difference, "") << "seed " << seed;
    if (made.plain) {
      ++plain;
      EXPECT_TRUE(judgement->asked.empty())
          << "seed " << seed << ": " << to_string(judgement->asked.begin()->first);
    }
    rows += judgement->rows_from_pages;
    for (const auto& [reason, many] : judgement->asked) asked[reason] += many;
  }
  EXPECT_GE(plain, databases * 3 / 8);
  EXPECT_GE(rows, databases * 125);
  for (const AskSqlite reason :
       {AskSqlite::other_encoding, AskSqlite::no_such_table, AskSqlite::generated_column,
        AskSqlite::overflow, AskSqlite::column_default})
    EXPECT_GT(asked[reason], 0U) << to_string(reason);
}

/// Puts other bytes into a copy of a file: single ones, or a run of them.
void damage(std::string& bytes, test::Prng& random) {
  for (std::int64_t many = 1 + random.below(4); many > 0; --many) {
    auto at = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(bytes.size())));
    // Headers of pages and cells are where it hurts.
    if (random.below(2) == 0) at = at / 512 * 512 + static_cast<std::size_t>(random.below(24));
    const std::int64_t run = random.below(4) == 0 ? random.below(12) : 1;
    for (std::int64_t i = 0; i < run && at < bytes.size(); ++i)
      bytes[at++] = static_cast<char>(random.next());
  }
}

TEST(SqlitePages, RowsOfDamagedDatabasesAreThoseOfSqliteOrSqliteIsAsked) {
  const auto path = test_folder() / "whole.db", damaged = test_folder() / "damaged.db";
  std::uint64_t judged = 0, damaged_pages = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    write_random_database(path, seed);
    const std::string bytes = test::file_bytes(path);
    test::Prng random(seed);
    for (int i = 0; i < 25; ++i) {
      std::string other = bytes;
      damage(other, random);
      std::ofstream(damaged, std::ios::binary) << other;
      const auto judgement = judge_pages(damaged);
      if (!judgement) continue;  // its schema was hit
      ASSERT_EQ(judgement->difference, "") << "seed " << seed << ", damage " << i;
      ++judged;
      for (const auto& [reason, many] : judgement->asked)
        if (reason == AskSqlite::damaged_page || reason == AskSqlite::damaged_tree)
          damaged_pages += many;
    }
  }
  EXPECT_GT(judged, 300U);
  EXPECT_GT(damaged_pages, 100U);
}

/// A database with one table of a hundred rows, made by further statements.
class SmallDatabase {
 public:
  SmallDatabase(const std::filesystem::path& path, const std::string& before,
                const std::string& after = {})
      : path_(path) {
    std::filesystem::remove(path);
    EXPECT_EQ(sqlite3_open(path.c_str(), &db_), SQLITE_OK);
    execute(before +
            "; CREATE TABLE t(id INTEGER PRIMARY KEY, n INT); WITH RECURSIVE c(x) AS (SELECT 1 "
            "UNION ALL SELECT x + 1 FROM c WHERE x < 100) INSERT INTO t SELECT x, x * x FROM c; " +
            after);
  }
  SmallDatabase(const SmallDatabase&) = delete;
  SmallDatabase& operator=(const SmallDatabase&) = delete;
  ~SmallDatabase() { sqlite3_close(db_); }
  void execute(const std::string& sql) {
    EXPECT_EQ(sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(db_);
  }
  /// Why the file is not read from its pages; nothing: it can be.
  [[nodiscard]] std::optional<AskSqlite> reason() const {
    const auto file = PageFile::open(path_);
    return file ? std::nullopt : std::optional(file.error());
  }

 private:
  std::filesystem::path path_;
  sqlite3* db_ = nullptr;
};

TEST(SqlitePages, SqliteIsAskedForFilesThatNeedIt) {
  const auto path = test_folder() / "small.db";
  EXPECT_EQ(SmallDatabase(path, "SELECT 1").reason(), std::nullopt);
  EXPECT_EQ(SmallDatabase(path, "PRAGMA encoding='UTF-16be'").reason(), AskSqlite::other_encoding);
  EXPECT_EQ(PageFile::open(test_folder() / "none.db").error(), AskSqlite::unreadable);
  EXPECT_EQ(PageFile::open(test_folder()).error(), AskSqlite::unreadable);
  {
    const SmallDatabase writing(path, "PRAGMA journal_mode=WAL");
    EXPECT_EQ(writing.reason(), AskSqlite::write_ahead_log);
  }
  {
    SmallDatabase emptied(path, "PRAGMA journal_mode=WAL");
    emptied.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    EXPECT_EQ(emptied.reason(), std::nullopt);
  }
  SmallDatabase open_transaction(path, "PRAGMA cache_size=1");
  open_transaction.execute("BEGIN; UPDATE t SET n = n + 1");
  EXPECT_EQ(open_transaction.reason(), AskSqlite::journal);
}

TEST(SqlitePages, ACommitIsNoticed) {
  const auto path = test_folder() / "small.db";
  SmallDatabase database(path, "SELECT 1");
  const auto file = PageFile::open(path);
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->unchanged());
  database.execute("UPDATE t SET n = 7 WHERE id = 50");
  EXPECT_FALSE(file->unchanged());
}

TEST(SqlitePages, ACutFileIsNoticed) {
  const auto path = test_folder() / "small.db";
  const SmallDatabase database(path, "PRAGMA page_size=512");
  const auto file = PageFile::open(path);
  ASSERT_TRUE(file);
  const TablePages table{.layout = {.root = 2, .columns = {WantedColumn{.place = 1}}},
                         .leaves = leaves_of(*file, 2).value()};
  ASSERT_GE(table.leaves.size(), 2U);
  std::filesystem::resize_file(path, 1024);
  RowReader reader(*file, table);
  const auto done = reader.read({1, 100}, [](const Row&) {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error(), AskSqlite::unreadable);
  EXPECT_FALSE(file->unchanged());
}

}  // namespace
}  // namespace perflab::sqlite_pages
