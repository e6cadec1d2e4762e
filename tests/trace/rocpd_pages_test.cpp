// Recordings read from the pages of their tables, with the reader through SQLite as the judge: the
// same Trace to the last bit, or the same error. What single tables hold is tested in
// tests/base/sqlite_pages.
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "support/big_trace.h"
#include "support/prng.h"
#include "support/quirks_trace.h"
#include "support/test_database.h"
#include "trace/rocpd/file.h"
#include "trace/rocpd/read_rocpd.h"
#include "trace/trace_checks.h"

namespace perflab::trace {
namespace {

namespace fs = std::filesystem;
using sqlite_pages::AskSqlite;
using test::test_folder;

/// A Trace, or what is wrong with the file, as text; why SQLite was asked is added to `reasons`.
std::string read_as_text(const Paths& files, const ReadOptions& options,
                         std::map<ReadReport::Ranges, std::uint64_t>* reasons = nullptr) {
  const Result<Trace> trace = rocpd::read(files, options);
  if (!trace) return "error: " + describe(trace.error());
  if (reasons != nullptr)
    for (const auto& [range, many] : trace->report.ranges) (*reasons)[range] += many;
  return dump(*trace);
}

/// Ranges of hot tables that SQLite had to read.
std::uint64_t asked(const std::map<ReadReport::Ranges, std::uint64_t>& ranges) {
  std::uint64_t sum = 0;
  for (const auto& [range, many] : ranges)
    // What is selected by a condition comes from SQLite.
    if (range.second && *range.second != AskSqlite::not_wanted) sum += many;
  return sum;
}

TEST(RocpdPages, GiveTheSameTraceOfEveryRecording) {
  PERFLAB_SKIP_WITHOUT(recorded_folder());
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(recorded_folder())) {
    if (entry.path().extension() != ".db") continue;
    ++files;
    std::map<ReadReport::Ranges, std::uint64_t> ranges;
    const std::string judge = read_as_text({entry.path()}, {.threads = 1, .sqlite_only = true});
    EXPECT_TRUE(read_as_text({entry.path()}, {.threads = 1}, &ranges) == judge) << entry.path();
    EXPECT_TRUE(read_as_text({entry.path()}, {.threads = 2}) == judge) << entry.path();
    EXPECT_EQ(asked(ranges), 0U) << entry.path();
    EXPECT_GT((ranges[{"event", std::nullopt}]), 0U) << entry.path();
    EXPECT_GT((ranges[{"kernel_dispatch", std::nullopt}]), 0U) << entry.path();
  }
  EXPECT_GT(files, 0U);
}

TEST(RocpdPages, GiveTheSameTraceOfALargeMergedFile) {
  const auto path = test_folder() / "big.db";
  ASSERT_TRUE(test::write_big_trace(
      path, {.dispatches = 8'000, .processes = 2, .copies_every = 5, .counters = true}));
  std::map<ReadReport::Ranges, std::uint64_t> ranges;
  const std::string judge = read_as_text({path}, {.threads = 2, .sqlite_only = true});
  EXPECT_TRUE(read_as_text({path}, {.threads = 1}, &ranges) == judge);
  EXPECT_TRUE(read_as_text({path}, {.threads = 3}) == judge);
  EXPECT_EQ(asked(ranges), 0U);
  EXPECT_GT((ranges[{"pmc_event", std::nullopt}]), 2U);
}

/// A copy of the database that has every quirk, open for edits.
class Edited {
 public:
  explicit Edited(const fs::path& path) {
    EXPECT_EQ(sqlite3_open(path.c_str(), &db_), SQLITE_OK);
    execute(
        "PRAGMA foreign_keys=OFF; PRAGMA ignore_check_constraints=ON; PRAGMA synchronous=OFF; "
        "PRAGMA journal_mode=OFF");
    sqlite3_exec(
        db_, "SELECT name FROM sqlite_master WHERE type='table' AND name LIKE 'rocpd%'",
        [](void* out, int, char** values, char**) {
          static_cast<std::vector<std::string>*>(out)->emplace_back(values[0]);
          return 0;
        },
        &tables_, nullptr);
  }
  Edited(const Edited&) = delete;
  Edited& operator=(const Edited&) = delete;
  ~Edited() { sqlite3_close(db_); }

  /// Statements of edits may fail: then there is one edit less.
  void execute(const std::string& sql) {
    sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
  }

  /// One value of any type into any column of a hot table, or rows gone.
  void edit(test::Prng& random) {
    std::string table;
    while (!table.starts_with("rocpd_event") && !table.starts_with("rocpd_kernel_dispatch") &&
           !table.starts_with("rocpd_region") && !table.starts_with("rocpd_memory_copy") &&
           !table.starts_with("rocpd_pmc_event"))
      table = tables_[static_cast<std::size_t>(
          random.below(static_cast<std::int64_t>(tables_.size())))];
    if (random.below(6) == 0)
      return execute("DELETE FROM " + table +
                     " WHERE rowid % 5 = " + std::to_string(random.below(5)));
    const auto columns = columns_of(table);
    const std::string column =
        columns[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(columns.size())))];
    const std::vector<std::string> values = {
        "NULL",
        "0",
        "1",
        "-1",
        std::to_string(random.below(300)),
        std::to_string(static_cast<std::int64_t>(random.next())),
        "'12'",
        "'x'",
        "x'31'",
        "1.5",
        "4294967296.0",
        "hex(zeroblob(3000))",
        "1e300",
        "'18446744073709551615'"};
    execute(
        "UPDATE OR IGNORE " + table + " SET \"" + column + "\" = " +
        values[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(values.size())))] +
        (random.below(3) == 0 ? "" : " WHERE rowid % 3 = " + std::to_string(random.below(3))));
  }

 private:
  std::vector<std::string> columns_of(const std::string& table) {
    std::vector<std::string> columns;
    sqlite3_exec(
        db_, ("SELECT name FROM pragma_table_info('" + table + "')").c_str(),
        [](void* out, int, char** values, char**) {
          static_cast<std::vector<std::string>*>(out)->emplace_back(values[0]);
          return 0;
        },
        &columns, nullptr);
    return columns;
  }

  sqlite3* db_ = nullptr;
  std::vector<std::string> tables_;
};

TEST(RocpdPages, GiveTheSameTraceOfEditedRecordings) {
  const auto whole = test_folder() / "quirks.db", path = test_folder() / "edited.db";
  ASSERT_TRUE(test::write_quirks(whole));
  std::map<ReadReport::Ranges, std::uint64_t> ranges;
  for (std::uint64_t seed = 1; seed <= test::random_databases(150); ++seed) {
    fs::copy_file(whole, path, fs::copy_options::overwrite_existing);
    test::Prng random(seed);
    {
      Edited edited(path);
      for (std::int64_t edits = 1 + random.below(6); edits > 0; --edits) edited.edit(random);
      edited.execute("PRAGMA page_size=" + std::to_string(512 << random.below(8)));
      edited.execute("PRAGMA auto_vacuum=" + std::to_string(random.below(3)));
      if (random.below(2) == 0) edited.execute("VACUUM");
    }
    const std::string judge = read_as_text({path}, {.threads = 1, .sqlite_only = true});
    ASSERT_TRUE(read_as_text({path}, {.threads = 1}, &ranges) == judge) << "seed " << seed;
  }
  EXPECT_GT((ranges[{"event", std::nullopt}]), 100U);
  EXPECT_GT((ranges[{"event", AskSqlite::overflow}] + ranges[{"region", AskSqlite::overflow}] +
             ranges[{"kernel_dispatch", AskSqlite::overflow}]),
            0U);
}

/// What another process gets that writes to a database.
int code_of_writing(const fs::path& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    sqlite3* db = nullptr;
    int code = sqlite3_open(path.c_str(), &db);
    if (code == SQLITE_OK)
      code = sqlite3_exec(db, "CREATE TABLE more(x)", nullptr, nullptr, nullptr);
    ::_exit(code);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(RocpdPages, NobodyWritesMeanwhile) {
  const auto path = test_folder() / "locked.db";
  ASSERT_TRUE(test::write_quirks(path));
  {
    const auto file = rocpd::File::open(path, 2);
    ASSERT_TRUE(file) << describe(file.error());
    EXPECT_EQ(code_of_writing(path), SQLITE_BUSY) << "the locks of SQLite are gone";
    EXPECT_TRUE(file->check_unchanged());
  }
  EXPECT_EQ(code_of_writing(path), SQLITE_OK);
}

TEST(RocpdPages, WritingWithoutLocksIsNoticed) {
  const auto path = test_folder() / "written.db";
  ASSERT_TRUE(test::write_quirks(path));
  const auto file = rocpd::File::open(path, 1);
  ASSERT_TRUE(file) << describe(file.error());
  fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(1));
  const auto unchanged = file->check_unchanged();
  ASSERT_FALSE(unchanged);
  EXPECT_EQ(unchanged.error().code, ErrorCode::bad_input);
}

}  // namespace
}  // namespace perflab::trace
