// Made with SQLite itself, from one seed.
#include "base/sqlite_pages/random_database.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/prng.h"

namespace perflab::test {
namespace {

/// Most texts are below so many bytes.
constexpr std::int64_t kShort = 24;

class Writer {
 public:
  Writer(const std::filesystem::path& path, std::uint64_t seed) : random_(seed) {
    std::filesystem::remove(path);
    EXPECT_EQ(sqlite3_open(path.c_str(), &db_), SQLITE_OK);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { sqlite3_close(db_); }

  bool chance(std::int64_t percent) { return random_.below(100) < percent; }
  Prng& random() { return random_; }

  void execute(const std::string& sql) {
    char* message = nullptr;
    sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, &message);
    EXPECT_EQ(message, nullptr) << sql << ": " << (message != nullptr ? message : "");
    sqlite3_free(message);
  }

  /// Inserts a row of `values` random values into the columns that are named.
  void insert(const std::string& table, const std::vector<std::string>& columns,
              std::int64_t longest_text) {
    std::string names, marks;
    for (const std::string& column : columns) {
      names += (names.empty() ? "" : ", ") + column;
      marks += marks.empty() ? "?" : ", ?";
    }
    sqlite3_stmt* statement = nullptr;
    const std::string sql =
        "INSERT OR REPLACE INTO " + table + "(" + names + ") VALUES (" + marks + ")";
    ASSERT_EQ(sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement, nullptr), SQLITE_OK) << sql;
    for (std::size_t i = 0; i < columns.size(); ++i)
      bind(statement, static_cast<int>(i + 1), columns[i], longest_text);
    EXPECT_EQ(sqlite3_step(statement), SQLITE_DONE) << sqlite3_errmsg(db_);
    sqlite3_finalize(statement);
  }

  std::int64_t integer() {
    const auto bits = static_cast<int>(random_.below(65));
    const std::uint64_t value = bits == 0 ? 0 : random_.next() >> (64 - bits);
    // About the limits of 1, 2, 3, 4, 6 and 8 bytes, and 0 and 1.
    constexpr std::array<int, 7> kWidths = {0, 7, 15, 23, 31, 47, 63};
    if (chance(30)) {
      const int width = kWidths[static_cast<std::size_t>(random_.below(7))];
      const std::uint64_t edge =
          (std::uint64_t{1} << width) + static_cast<std::uint64_t>(random_.below(3)) - 1;
      return static_cast<std::int64_t>(chance(50) ? edge : ~edge + 1);
    }
    return static_cast<std::int64_t>(chance(30) ? ~value : value);
  }

 private:
  std::string text(std::int64_t longest) {
    if (chance(25)) return std::to_string(integer());
    if (chance(10)) return std::to_string(random_.next());
    if (chance(10)) return fmt::format("{}", static_cast<double>(integer()) / 8);
    std::string text(static_cast<std::size_t>(random_.below(chance(4) ? longest : kShort)), 'x');
    for (char& c : text) c = static_cast<char>(' ' + random_.below(95));
    return text;
  }

  void bind(sqlite3_stmt* statement, int at, const std::string& column, std::int64_t longest) {
    if (column == "id") {
      sqlite3_bind_int64(statement, at, next_id_ += 1 + (chance(20) ? random_.below(1000) : 0));
      return;
    }
    const std::int64_t kind = column.starts_with("t") ? 60 + random_.below(40) : random_.below(100);
    if (kind < 50)
      sqlite3_bind_int64(statement, at, integer());
    else if (kind < 60)
      sqlite3_bind_double(statement, at,
                          chance(40) ? std::ldexp(static_cast<double>(integer()),
                                                  -static_cast<int>(random_.below(70)))
                                     : static_cast<double>(random_.below(100000)));
    else if (kind < 85) {
      const std::string value = text(longest);
      sqlite3_bind_text(statement, at, value.data(), static_cast<int>(value.size()),
                        SQLITE_TRANSIENT);
    } else if (kind < 92) {
      const std::string value = text(longest);
      sqlite3_bind_blob(statement, at, value.data(), static_cast<int>(value.size()),
                        SQLITE_TRANSIENT);
    } else {
      sqlite3_bind_null(statement, at);
    }
  }

  sqlite3* db_ = nullptr;
  Prng random_;
  std::int64_t next_id_ = -300;
};

struct RandomTable {
  std::string name;
  std::vector<std::string> columns;
};

/// A table of up to 14 columns; `plain` becomes false when SQLite may have to read it.
RandomTable create_table(Writer& writer, int number, bool& plain) {
  constexpr std::array<std::string_view, 9> kTypes = {
      "INTEGER", "INT", "BIGINT", "REAL", "DOUBLE PRECISION", "NUMERIC", "", "BLOB", "FLOATING"};
  RandomTable table{.name = fmt::format("table_{}", number), .columns = {}};
  const auto columns = 1 + writer.random().below(13);
  const std::int64_t key = writer.chance(70) ? writer.random().below(columns) : -1;
  const bool without_rowid = key >= 0 && writer.chance(10);
  const bool has_other_key = key >= 0 && !without_rowid && writer.chance(15);
  std::string sql = "CREATE TABLE " + table.name + "(";
  for (std::int64_t i = 0; i < columns; ++i) {
    if (i > 0) sql += ", ";
    const bool is_text = writer.chance(20);
    const auto type = kTypes[static_cast<std::size_t>(writer.random().below(kTypes.size()))];
    if (i == key) {
      table.columns.emplace_back("id");
      sql += has_other_key ? "id INT PRIMARY KEY" : "id integer PRIMARY KEY";
    } else {
      table.columns.push_back(fmt::format("{}{}", is_text ? "t" : "n", i));
      sql += fmt::format("{} {}", table.columns.back(), is_text ? "TEXT" : type);
    }
  }
  if (writer.chance(4)) {
    sql += ", g INT AS (1 + 2) STORED";
    plain = false;
  }
  writer.execute(sql + (without_rowid ? ") WITHOUT ROWID" : ")"));
  plain = plain && !without_rowid;
  if (writer.chance(15))
    writer.execute(
        fmt::format("CREATE INDEX index_{} ON {}({})", number, table.name, table.columns.back()));
  return table;
}

void fill(Writer& writer, RandomTable& table, std::int64_t longest, bool& plain) {
  for (std::int64_t rows = writer.random().below(writer.chance(10) ? 3 : 120); rows > 0; --rows)
    writer.insert(table.name, table.columns, longest);
  if (!writer.chance(15) || table.columns.back() == "n_later") return;
  const bool has_default = writer.chance(40);
  plain = plain && !has_default;
  table.columns.emplace_back("n_later");
  writer.execute("ALTER TABLE " + table.name + " ADD COLUMN n_later INT" +
                 (has_default ? " DEFAULT 7" : ""));
  for (std::int64_t rows = writer.random().below(100); rows > 0; --rows)
    writer.insert(table.name, table.columns, longest);
}

}  // namespace

RandomDatabase write_random_database(const std::filesystem::path& path, std::uint64_t seed) {
  Writer writer(path, seed);
  RandomDatabase made{.plain = true};
  const std::int64_t page_size = 512
                                 << std::min(writer.random().below(8), writer.random().below(8));
  writer.execute(fmt::format(
      "PRAGMA page_size={}; PRAGMA auto_vacuum={}; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF",
      page_size, writer.random().below(3)));
  if (writer.chance(3)) {
    writer.execute("PRAGMA encoding='UTF-16le'");
    made.plain = false;
  }
  writer.execute("BEGIN");
  const bool overflows = writer.chance(30);
  made.plain = made.plain && !overflows;
  const std::int64_t longest = overflows ? 3 * page_size : kShort;
  std::vector<RandomTable> tables;
  for (std::int64_t i = 0, many = 1 + writer.random().below(3); i < many; ++i) {
    tables.push_back(create_table(writer, static_cast<int>(i), made.plain));
    fill(writer, tables.back(), longest, made.plain);
  }
  if (writer.chance(30))
    writer.execute("CREATE VIEW view_of_all AS SELECT count(*) AS n FROM " + tables.back().name);
  for (const RandomTable& table : tables)
    if (writer.chance(40))
      writer.execute(fmt::format("DELETE FROM {} WHERE length(quote({})) % 7 < {}", table.name,
                                 table.columns.front(), writer.random().below(8)));
  // Rows of a later time land in the holes.
  for (RandomTable& table : tables)
    if (writer.chance(50)) fill(writer, table, longest, made.plain);
  writer.execute("COMMIT");
  if (writer.chance(30)) writer.execute("VACUUM");
  return made;
}

}  // namespace perflab::test
