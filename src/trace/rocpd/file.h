// One rocpd database on disk: what is checked before it is read, which recordings (guid, table
// suffix) it holds, and one connection per worker thread. Facts: docs/facts/rocpd.md "Versions",
// "Files and tables", "What a reader survives". Views are never used: only physical tables.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/sqlite_pages/rows.h"
#include "base/system/sqlite.h"
#include "base/system/unpacked_database.h"
#include "base/text/progress.h"
#include "trace/trace.h"

namespace perflab::trace::rocpd {

/// A physical table: its whole name, its columns, and its row ids.
struct Table {
  std::string name;  ///< "rocpd_event_0000005b_…"; letters, digits and underscores only
  std::string base;  ///< "event"
  std::vector<std::string> columns;  ///< as declared
  bool has_rowid = false;            ///< row-id ranges can be scanned
  bool id_is_rowid = false;          ///< its column "id" is INTEGER PRIMARY KEY
  std::int64_t min_rowid = 0;
  std::int64_t max_rowid = -1;  ///< below min_rowid: empty

  [[nodiscard]] bool has_column(std::string_view column) const;
};

/// The tables that share a suffix, and the recordings whose rows stand in them (one, unless merged
/// by hand).
struct TableSet {
  std::string suffix;                                ///< "_0000005b_…", or empty
  std::map<std::string, Table, std::less<>> tables;  ///< by base name
  std::vector<std::string> guids;
  std::string schema_version;  ///< "3", "3.0.1"; "unknown" without metadata
  std::string collector;       ///< "rocprofv3" or "rocprofiler-systems"
  std::string synthetic;       ///< note of a made-up trace, else empty

  [[nodiscard]] const Table* find(std::string_view base) const;
};

/// Counts the units of work (ranges of rows) that reading a file takes, for whoever waits.
struct ScanMeter {
  TellProgress tell;
  std::string what;
  std::size_t units = 0, done = 0;

  /// Another unit is done. One call at a time.
  void count() {
    if (tell && units > 0)
      tell(what, std::min(1.0, static_cast<double>(++done) / static_cast<double>(units)));
  }
};

/// An opened database. Refuses (bad_input, one sentence): no file, folder, empty, not SQLite,
/// truncated, being written, SQLite without rocpd tables, the format of 2023, a schema major other
/// than 3. One that gzip or zstd packed is unpacked first, which `progress` is told about; errors:
/// those of UnpackedDatabase.
class File {
 public:
  static Result<File> open(const std::filesystem::path& path, unsigned workers,
                           const TellProgress& progress = {});

  /// As it was given.
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool is_packed() const { return unpacked_.has_value(); }
  /// Of the database, unpacked.
  [[nodiscard]] std::uint64_t size_bytes() const { return size_; }
  [[nodiscard]] const std::vector<TableSet>& table_sets() const { return sets_; }
  [[nodiscard]] Connection& connection(unsigned worker) { return connections_[worker]; }
  [[nodiscard]] unsigned workers() const { return static_cast<unsigned>(connections_.size()); }

  /// Tables whose name looks like rocpd's but holds characters that no profiler writes: not read.
  [[nodiscard]] std::uint64_t rejected_tables() const { return rejected_tables_; }

  /// Error when the file changed since it was opened (call after reading).
  [[nodiscard]] Result<void> check_unchanged() const;

  /// `SELECT` over the named columns of a table, NULL for those it does not have, optionally over a
  /// row-id range (?1 to ?2, inclusive). Every identifier is checked: nothing of the file's text
  /// gets into SQL unless it is [A-Za-z0-9_].
  Result<Statement> select(unsigned worker, const Table& table,
                           std::span<const std::string_view> columns, bool ranged);

  /// What reading the columns of a table from its pages takes; `all_rows`: in one piece, without
  /// ranges of row ids. Else why SQLite has to be asked.
  sqlite_pages::FromPages<sqlite_pages::TablePages> pages_of(
      const Table& table, std::span<const std::string_view> columns, bool all_rows);
  /// Precondition: pages_of() gave pages.
  [[nodiscard]] const sqlite_pages::PageFile& page_file() const { return *page_file_; }
  /// From now on all rows are read through SQLite.
  void ask_sqlite_only() { page_file_ = std::unexpected(sqlite_pages::AskSqlite::not_wanted); }

  ScanMeter meter;
  /// By the name of a table, which of its ranges of rows are read; of other tables all are.
  std::map<std::string, std::vector<bool>> wanted_ranges;
  std::map<ReadReport::Ranges, std::uint64_t> ranges;  ///< that were scanned

 private:
  File() = default;
  Result<bool> connect();
  Result<void> discover_tables();
  Result<void> describe_table(Table& table);
  Result<void> read_metadata(TableSet& set);
  Result<void> find_guids(TableSet& set);

  std::string path_;
  std::optional<UnpackedDatabase> unpacked_;
  std::string opened_path_;  ///< of what is read: path_, or what was unpacked
  std::uint64_t size_ = 0;
  std::uint32_t change_counter_ = 0;
  bool on_network_ = false;  ///< read without locks
  /// Closed after the connections, whose locks would else be lost.
  sqlite_pages::FromPages<sqlite_pages::PageFile> page_file_ =
      std::unexpected(sqlite_pages::AskSqlite::unlocked);
  std::vector<Connection> connections_;
  std::vector<TableSet> sets_;
  std::uint64_t rejected_tables_ = 0;
};

}  // namespace perflab::trace::rocpd
