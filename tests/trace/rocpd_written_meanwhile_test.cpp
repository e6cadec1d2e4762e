// Recordings that another process commits to while they are read, and whose writer is killed: one
// state of the file, or an error that says so. The writer moves all dispatches and calls by a
// nanosecond in each transaction, so that rows of two states give themselves away.
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "support/big_trace.h"
#include "support/test_database.h"
#include "trace/rocpd/file.h"
#include "trace/rocpd/read_rocpd.h"
#include "trace/trace_checks.h"

namespace perflab::trace {
namespace {

namespace fs = std::filesystem;

/// The journal of a writer, and what it does between two transactions.
struct WriterMode {
  std::string journal;
  int pause_us;
};

std::vector<std::string> timed_tables(const fs::path& path) {
  return test::TestDatabase(path).list(
      "SELECT name FROM sqlite_master WHERE type='table' AND (name LIKE 'rocpd_kernel_dispatch%' "
      "OR name LIKE 'rocpd_region%')");
}

/// Commits until it is killed. Its cache is small: pages of open transactions reach the file.
[[noreturn]] void write_for_ever(const fs::path& path, const std::vector<std::string>& tables,
                                 const WriterMode& mode) {
  std::string sql = "BEGIN IMMEDIATE";
  for (const std::string& table : tables)
    sql += "; UPDATE \"" + table + "\" SET start = start + 1, \"end\" = \"end\" + 1";
  sqlite3* db = nullptr;
  if (sqlite3_open(path.c_str(), &db) != SQLITE_OK) ::_exit(1);
  sqlite3_busy_timeout(db, 1000);
  sqlite3_exec(
      db,
      ("PRAGMA synchronous=OFF; PRAGMA cache_size=4; PRAGMA journal_mode=" + mode.journal).c_str(),
      nullptr, nullptr, nullptr);
  while (true) {
    if (sqlite3_exec(db, (sql + "; COMMIT").c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
      sqlite3_exec(db, "ROLLBACK", nullptr, nullptr, nullptr);
    ::usleep(static_cast<useconds_t>(mode.pause_us));
  }
}

/// By how much all rows were moved; nothing when they were not moved alike.
std::optional<std::int64_t> moved_by(const Trace& now, const Trace& before) {
  const auto& starts = now.dispatches.start;
  if (starts.size() != before.dispatches.size() || starts.empty() ||
      now.regions.size() != before.regions.size())
    return std::nullopt;
  const std::int64_t by = starts[0] - before.dispatches.start[0];
  const auto alike = [by](const auto& a, const auto& b) {
    return std::ranges::equal(a, b, [by](std::int64_t x, std::int64_t y) { return x - y == by; });
  };
  const bool all =
      alike(starts, before.dispatches.start) && alike(now.dispatches.end, before.dispatches.end) &&
      alike(now.regions.start, before.regions.start) && alike(now.regions.end, before.regions.end);
  return all ? std::optional(by) : std::nullopt;
}

/// What came of reading a file that is being written.
struct Reads {
  std::uint64_t whole = 0, refused = 0;
  std::int64_t last = 0;
};

void read_once(const fs::path& path, const Trace& before, Reads& reads) {
  const Result<Trace> trace = rocpd::read(Paths{path}, {.threads = 2});
  if (!trace) {
    EXPECT_EQ(trace.error().code, ErrorCode::bad_input);
    EXPECT_TRUE(is_one_sentence(trace.error().message)) << trace.error().message;
    ++reads.refused;
    return;
  }
  const auto by = moved_by(*trace, before);
  ASSERT_TRUE(by) << "rows of two states";
  EXPECT_GE(*by, reads.last) << "an older state than before";
  reads.last = *by;
  ++reads.whole;
}

/// Reads while a writer writes, kills it, and reads what it left.
void read_beside(const WriterMode& mode, const std::string& name, Reads& reads) {
  const auto path = test::test_folder() / name;
  ASSERT_TRUE(test::write_big_trace(path, {.dispatches = 600, .processes = 1}));
  const Trace before = read_ok({path});
  const auto tables = timed_tables(path);
  const pid_t writer = ::fork();
  if (writer == 0) write_for_ever(path, tables, mode);
  for (int i = 0; i < 30 && !testing::Test::HasFatalFailure(); ++i) read_once(path, before, reads);
  EXPECT_EQ(::kill(writer, SIGKILL), 0);
  int status = 0;
  EXPECT_EQ(::waitpid(writer, &status, 0), writer);
  read_once(path, before, reads);
}

TEST(RocpdWrittenMeanwhile, WithARollbackJournalOneStateIsReadOrItIsRefused) {
  Reads reads;
  for (int round = 0; round < 4 && !testing::Test::HasFatalFailure(); ++round) {
    reads.last = 0;
    read_beside({.journal = "DELETE", .pause_us = 2000 * round}, "journal.db", reads);
  }
  EXPECT_GT(reads.whole, 0U);
  EXPECT_GT(reads.refused, 0U);
}

TEST(RocpdWrittenMeanwhile, WithAWriteAheadLogOneStateIsReadOrItIsRefused) {
  Reads reads;
  for (int round = 0; round < 4 && !testing::Test::HasFatalFailure(); ++round) {
    reads.last = 0;
    read_beside({.journal = "WAL", .pause_us = 2000 * round}, "wal.db", reads);
  }
  EXPECT_GT(reads.refused, 0U);
}

/// A log that is begun after the file was opened: commits go there, and the pages stay as they are.
TEST(RocpdWrittenMeanwhile, CommitsToALogBehindAnOpenFileAreNotSeen) {
  const auto path = test::test_folder() / "opened.db";
  ASSERT_TRUE(test::write_big_trace(path, {.dispatches = 600, .processes = 1}));
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "PRAGMA journal_mode=WAL", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(db);
  const auto tables = timed_tables(path);
  Result<rocpd::File> file = rocpd::File::open(path, 1);
  ASSERT_TRUE(file) << describe(file.error());
  const rocpd::Table* table = file->table_sets().front().find("kernel_dispatch");
  ASSERT_NE(table, nullptr);
  const auto sum_of_starts = [&] {
    constexpr std::array<std::string_view, 1> kColumns = {"start"};
    const auto pages = file->pages_of(*table, kColumns, false);
    EXPECT_TRUE(pages);
    std::int64_t sum = 0;
    if (pages) {
      EXPECT_TRUE(
          sqlite_pages::RowReader(file->page_file(), *pages)
              .read({table->min_rowid, table->max_rowid},
                    [&](const sqlite_pages::Row& row) { sum += row.integer(0).value_or(0); }));
    }
    return sum;
  };
  const std::int64_t before = sum_of_starts();
  const pid_t writer = ::fork();
  if (writer == 0) write_for_ever(path, tables, {.journal = "WAL", .pause_us = 0});
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(sum_of_starts(), before);
  EXPECT_EQ(::kill(writer, SIGKILL), 0);
  int status = 0;
  EXPECT_EQ(::waitpid(writer, &status, 0), writer);
  EXPECT_EQ(sum_of_starts(), before);
  EXPECT_GT(fs::file_size(path.string() + "-wal"), 0U) << "nothing was committed";
}

}  // namespace
}  // namespace perflab::trace
