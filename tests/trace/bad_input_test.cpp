// Inputs that cannot be used: each gives one sentence that names the file, and none crashes or
// hangs.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "support/big_trace.h"
#include "support/prng.h"
#include "support/test_database.h"
#include "trace/rocpd/read_rocpd.h"
#include "base/system/sqlite.h"
#include "trace/trace_checks.h"

namespace perflab::trace {
namespace {

namespace fs = std::filesystem;
using test::RocpdWriter;
using test::test_folder;

fs::path write_bytes(const fs::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << bytes;
  return path;
}

/// A small database with launches, copies and counters.
fs::path good_database() {
  const fs::path path = test_folder() / "good.db";
  const auto made = test::write_big_trace(
      path, {.dispatches = 400, .copies_every = 10, .counters = true, .views = test::Views::none});
  EXPECT_TRUE(made) << describe(made.error());
  return path;
}

/// A writer's own connection.
class OpenDatabase {
 public:
  explicit OpenDatabase(const fs::path& path) {
    EXPECT_EQ(sqlite3_open(path.c_str(), &db_), SQLITE_OK);
  }
  OpenDatabase(const OpenDatabase&) = delete;
  OpenDatabase& operator=(const OpenDatabase&) = delete;
  ~OpenDatabase() { sqlite3_close(db_); }
  void run(const std::string& sql) {
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
        << sql << ": " << message;
    sqlite3_free(message);
  }

 private:
  sqlite3* db_ = nullptr;
};

TEST(BadInput, MissingFile) {
  const fs::path path = test_folder() / "nobody.db";
  EXPECT_EQ(read_error({path}).message, path.string() + ": no such file or directory");
}

TEST(BadInput, EmptyName) {
  Result<Trace> trace = rocpd::read(Paths{""});
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().code, ErrorCode::bad_input);
}

TEST(BadInput, Folder) {
  const fs::path folder = test_folder();
  const Error error = read_error({folder});
  EXPECT_EQ(error.message, folder.string() + ": is a folder, not a trace database");
  EXPECT_EQ(error.remedy, "name the database files in it (…_results.db)");
}

TEST(BadInput, NotARegularFile) {
  EXPECT_EQ(read_error({"/dev/null"}).message, "/dev/null: is not a regular file");
  const fs::path fifo = test_folder() / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(read_error({fifo}).message, fifo.string() + ": is not a regular file");
}

TEST(BadInput, ZeroBytes) {
  const fs::path path = write_bytes(test_folder() / "empty.db", "");
  EXPECT_EQ(read_error({path}).message, path.string() + ": is empty (0 bytes)");
}

TEST(BadInput, NotSqlite) {
  const fs::path folder = test_folder();
  for (const std::string& bytes :
       {std::string("{}"), std::string(100'000, 'x'), std::string(4096, '\0'),
        "SQLite format 2" + std::string(500, '\0'), std::string("SQLite format 3")}) {
    const fs::path path = write_bytes(folder / "text.db", bytes);
    EXPECT_EQ(read_error({path}).message, path.string() + ": is not an SQLite database");
  }
}

TEST(BadInput, HeaderOfNonsense) {
  // The magic is right; the rest of the header cannot be.
  test::Prng random(7);
  const fs::path folder = test_folder();
  for (int round = 0; round < 50; ++round) {
    std::string bytes = "SQLite format 3" + std::string(8177, '\0');
    for (std::size_t i = 16; i < bytes.size(); ++i) bytes[i] = static_cast<char>(random.next());
    read_error({write_bytes(folder / "nonsense.db", bytes)});
  }
}

TEST(BadInput, NoPermission) {
  const fs::path folder = test_folder();
  const fs::path path = folder / "secret.db";
  RocpdWriter writer(path);
  finish(writer);
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  const std::string expected = "secret.db: permission denied";
  // Root may read everything: a child process takes another user's place.
  EXPECT_EXIT(
      {
        if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) std::exit(1);
        const Result<Trace> trace = rocpd::read(Paths{path}, {.threads = 1});
        if (trace) std::exit(2);
        std::fprintf(stderr, "%s\n", trace.error().message.c_str());
        std::_Exit(exit_code(trace.error().code));
      },
      testing::ExitedWithCode(3), expected);
}

TEST(BadInput, SqliteWithoutRocpdTables) {
  const fs::path path = test_folder() / "other.db";
  OpenDatabase(path).run("CREATE TABLE songs (title TEXT); INSERT INTO songs VALUES ('x')");
  const Error error = read_error({path});
  EXPECT_EQ(error.message, path.string() + ": is an SQLite database without rocpd tables");
  EXPECT_EQ(error.remedy, "record with rocprofv3 -f rocpd, and give the …_results.db file");
}

TEST(BadInput, FormatOf2023) {
  const fs::path path = test_folder() / "legacy.db";
  ASSERT_TRUE(test::write_legacy_rocpd(path));
  EXPECT_EQ(read_error({path}).message,
            path.string() +
                ": is in the rocpd format of 2023 (tables rocpd_op, rocpd_api), which rocm-perf "
                "does not read");
}

TEST(BadInput, TruncatedAnywhere) {
  const fs::path good = good_database();
  const std::string bytes = test::file_bytes(good);
  const fs::path cut = good.parent_path() / "cut.db";
  std::vector<std::size_t> sizes = {1, 15, 16, 17, 99, 100, 101, 511, 512, 513, 1024};
  for (std::size_t page = 4096; page < bytes.size(); page += 4096)
    for (const std::size_t size : {page - 1, page, page + 1}) sizes.push_back(size);
  sizes.push_back(bytes.size() - 1);
  for (const std::size_t size : sizes) {
    write_bytes(cut, std::string_view(bytes).substr(0, size));
    const Error error = read_error({cut});
    EXPECT_EQ(error.message,
              size < 100 ? cut.string() + ": is not an SQLite database"
                         : fmt::format("{}: the database is truncated: {} of {} bytes are there",
                                       cut.string(), size, bytes.size()));
  }
}

TEST(BadInput, TruncatedWithAHeaderThatDoesNotSay) {
  // Writers of before SQLite 3.7 leave the page count stale: the damage shows while reading.
  const fs::path good = good_database();
  std::string bytes = test::file_bytes(good);
  bytes[27] = static_cast<char>(bytes[27] + 1);  // change counter is not that of the page count
  bytes.resize(bytes.size() / 2 / 4096 * 4096);
  const fs::path cut = write_bytes(good.parent_path() / "cut.db", bytes);
  EXPECT_EQ(read_error({cut}).code, ErrorCode::bad_input);
}

/// Page numbers (from 1) of the roots of a table.
std::size_t root_page(const fs::path& path, const std::string& base) {
  return static_cast<std::size_t>(test::TestDatabase(path).number(
      "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_" + base +
      "\\_0%' ESCAPE '\\' ORDER BY name LIMIT 1"));
}

TEST(BadInput, DamagedRootPageOfATable) {
  const fs::path good = good_database();
  const std::string bytes = test::file_bytes(good);
  const fs::path bad = good.parent_path() / "bad.db";
  for (const char* base : {"kernel_dispatch", "event", "region", "string", "info_agent",
                           "info_kernel_symbol", "memory_copy", "pmc_event", "info_process"}) {
    const std::size_t root = root_page(good, base);
    ASSERT_GT(root, 1U) << base;
    for (const char filling : {'\xA5', '\xFF', '\x01'}) {
      std::string damaged = bytes;
      std::fill_n(damaged.begin() + static_cast<std::ptrdiff_t>((root - 1) * 4096), 4096, filling);
      write_bytes(bad, damaged);
      const Error error = read_error({bad}, 2);
      EXPECT_TRUE(error.message.ends_with(": the database is damaged")) << error.message;
    }
  }
}

TEST(BadInput, DamagedPageAnywhereIsAnErrorOrHarmless) {
  const fs::path good = good_database();
  const std::string bytes = test::file_bytes(good);
  const fs::path bad = good.parent_path() / "bad.db";
  test::Prng random(3);
  std::size_t refused = 0;
  for (std::size_t page = 0; page < bytes.size() / 4096; ++page) {
    std::string damaged = bytes;
    for (std::size_t i = 0; i < 4096; ++i)
      damaged[page * 4096 + i] = static_cast<char>(random.next());
    write_bytes(bad, damaged);
    const Result<Trace> trace = rocpd::read(Paths{bad}, {.threads = 2});
    if (trace) continue;  // a page of a table that is not read
    ++refused;
    EXPECT_EQ(trace.error().code, ErrorCode::bad_input);
    EXPECT_TRUE(is_one_sentence(trace.error().message)) << trace.error().message;
    EXPECT_TRUE(trace.error().message.starts_with(bad.string())) << trace.error().message;
  }
  EXPECT_GT(refused, bytes.size() / 4096 / 2);
}

TEST(BadInput, DamagedBytesAreAnErrorOrHarmless) {
  const fs::path good = good_database();
  const std::string bytes = test::file_bytes(good);
  const fs::path bad = good.parent_path() / "bad.db";
  test::Prng random(11);
  for (int round = 0; round < 60; ++round) {
    std::string damaged = bytes;
    for (int i = 0; i < 1 + round; ++i)
      damaged[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(bytes.size())))] =
          static_cast<char>(random.next());
    write_bytes(bad, damaged);
    const Result<Trace> trace = rocpd::read(Paths{bad}, {.threads = 2});
    if (trace) continue;
    EXPECT_TRUE(is_one_sentence(trace.error().message)) << trace.error().message;
  }
}

const std::string kBeingWritten = ": the database is being written";

TEST(BadInput, BeingWrittenWithAJournal) {
  const fs::path path = good_database();
  OpenDatabase writer(path);
  writer.run("PRAGMA journal_mode=DELETE; BEGIN IMMEDIATE; CREATE TABLE more (x)");
  const Error error = read_error({path});
  EXPECT_EQ(error.message,
            path.string() + kBeingWritten + ": " + path.string() + "-journal lies beside it");
  EXPECT_EQ(error.remedy, "wait until the profiled program has ended, then run again");
  writer.run("COMMIT");
  EXPECT_EQ(read_ok({path}).dispatches.size(), 400U);
}

TEST(BadInput, BeingWrittenWithoutAJournal) {
  const fs::path path = good_database();
  OpenDatabase writer(path);
  writer.run("PRAGMA journal_mode=MEMORY; BEGIN EXCLUSIVE; CREATE TABLE more (x)");
  EXPECT_TRUE(read_error({path}).message.ends_with(kBeingWritten));
  writer.run("ROLLBACK");
  EXPECT_EQ(read_ok({path}).dispatches.size(), 400U);
}

TEST(BadInput, BeingWrittenInWalMode) {
  const fs::path path = good_database();
  {
    OpenDatabase writer(path);
    writer.run("PRAGMA journal_mode=WAL; CREATE TABLE more (x)");
    EXPECT_EQ(read_error({path}).message,
              path.string() + kBeingWritten + ": " + path.string() + "-wal lies beside it");
  }
  // The last connection folds the log into the file.
  EXPECT_EQ(read_ok({path}).dispatches.size(), 400U);
}

TEST(BadInput, AfterAGoodFileNamesTheBadOne) {
  const fs::path good = good_database();
  const fs::path bad = write_bytes(good.parent_path() / "bad.db", "nothing");
  const Result<Trace> trace = rocpd::read(Paths{good, bad});
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().message, bad.string() + ": is not an SQLite database");
}

TEST(GoodInput, MayLieInAFolderThatNobodyWritesTo) {
  const fs::path path = good_database();
  OpenDatabase(path).run("PRAGMA journal_mode=WAL");  // would need a lock file beside it
  ASSERT_EQ(::chmod(path.c_str(), 0444), 0);
  ASSERT_EQ(::chmod(path.parent_path().c_str(), 0555), 0);
  EXPECT_EXIT(
      {
        if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) std::exit(1);
        const Result<Trace> trace = rocpd::read(Paths{path}, {.threads = 2});
        if (!trace) std::fprintf(stderr, "%s\n", trace.error().message.c_str());
        std::_Exit(trace && trace->dispatches.size() == 400 ? 0 : 2);
      },
      testing::ExitedWithCode(0), "");
  ::chmod(path.parent_path().c_str(), 0755);
}

/// Whether another connection could write at this moment: a reader with locks is in the way.
bool can_be_written(const fs::path& path) {
  sqlite3* writer = nullptr;
  sqlite3_open_v2(path.c_str(), &writer, SQLITE_OPEN_READWRITE, nullptr);
  const int code = sqlite3_exec(writer, "BEGIN EXCLUSIVE; ROLLBACK", nullptr, nullptr, nullptr);
  sqlite3_close(writer);
  return code == SQLITE_OK;
}

TEST(GoodInput, IsReadWithoutLocksAndFilesWhereThereMayBeNone) {
  const fs::path path = good_database();
  for (const bool immutable : {false, true}) {
    Result<Connection> connection = Connection::open(path, immutable);
    ASSERT_TRUE(connection && connection->begin_read());
    EXPECT_EQ(can_be_written(path), immutable);
    Result<Statement> mapped = connection->prepare("PRAGMA mmap_size", "mmap_size");
    ASSERT_TRUE(mapped && mapped->step());
    EXPECT_EQ(mapped->integer(0), 0);
  }
  OpenDatabase(path).run("PRAGMA journal_mode=WAL");
  Result<Connection> connection = Connection::open(path, true);
  ASSERT_TRUE(connection && connection->begin_read());
  EXPECT_FALSE(fs::exists(path.string() + "-shm"));
}

TEST(GoodInput, MayHaveAnyName) {
  const fs::path good = good_database();
  for (const char* name : {"a b.db", "100%41?mode=ro#x.db", "uñï'\"`;.db", "-x", "file:x.db"}) {
    const fs::path path = good.parent_path() / name;
    fs::copy_file(good, path);
    EXPECT_EQ(read_ok({path}).dispatches.size(), 400U) << path;
  }
}

TEST(GoodInput, IsNotTouched) {
  const fs::path path = good_database();
  const std::string before = test::file_bytes(path);
  const auto time = fs::last_write_time(path);
  read_ok({path}, 3);
  EXPECT_EQ(test::file_bytes(path), before);
  EXPECT_EQ(fs::last_write_time(path), time);
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(path.parent_path())) ++files;
  EXPECT_EQ(files, 1U);
}

}  // namespace
}  // namespace perflab::trace
