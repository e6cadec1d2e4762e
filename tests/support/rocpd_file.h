// The SQLite file of a rocpd database under construction. It is written under a temporary name with
// journal and fsync off, in one transaction, and renamed when it is closed without an error.
// Rows go in through a virtual table (`INSERT INTO t SELECT * FROM feed`), batch by batch: that is
// three times as fast as one INSERT per row and needs constant memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "support/rocpd_schema.h"

struct sqlite3;
struct sqlite3_stmt;

namespace perflab::test {

/// A value on its way into a row; text is borrowed until the call returns.
struct RowValue {
  enum class Kind : std::uint8_t { null, integer, real, text, blob };

  RowValue(std::nullptr_t) {}
  RowValue(std::int64_t value) : kind(Kind::integer), integer(value) {}
  RowValue(double value) : kind(Kind::real), real(value) {}
  RowValue(std::string_view value) : kind(Kind::text), text(value) {}
  RowValue(const std::string& value) : kind(Kind::text), text(value) {}
  RowValue(const std::optional<std::int64_t>& value)
      : kind(value ? Kind::integer : Kind::null), integer(value.value_or(0)) {}
  RowValue(const std::optional<std::string>& value)
      : kind(value ? Kind::text : Kind::null), text(value ? std::string_view(*value) : "") {}

  Kind kind = Kind::null;
  std::int64_t integer = 0;
  double real = 0;
  std::string_view text = {};
};

/// Which views of the plain names (rocpd_string, ...) stand in the file.
enum class Views {
  real,   ///< SELECT * of every table of that base name, UNION ALL after a merge
  none,   ///< no views: readers must find the tables
  lying,  ///< views that show no row: readers must not trust them
};

struct FileOptions {
  Views views = Views::real;
  bool append = false;  ///< keep the tables that stand in the file, as `rocpd merge` does
};

/// The file. Errors are remembered (the first wins) and returned by close(). Not thread-safe.
class RocpdFile {
 public:
  explicit RocpdFile(std::filesystem::path path, FileOptions options = {});
  RocpdFile(const RocpdFile&) = delete;
  RocpdFile& operator=(const RocpdFile&) = delete;
  ~RocpdFile();

  /// Runs SQL text: for quirks that the builders do not know. Pending rows are written before it.
  void execute(const std::string& sql);

  /// A feed of rows with these columns into a table; a table has one feed.
  std::size_t make_feed(const std::string& table, std::span<const std::string_view> columns);
  /// Adds a row to a feed; batches of rows go into the table together.
  void add(std::size_t feed, std::span<const RowValue> values);

  /// Adds a row at once. For rows that differ from their table's habit; slower.
  void insert(const std::string& table, std::span<const std::string_view> columns,
              std::span<const RowValue> values);

  /// Writes what is pending, makes the views, and puts the file in its place.
  Result<void> close();

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  /// The first error so far, if any.
  [[nodiscard]] Result<void> error() const;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  struct Feed;

  void open();
  void note(int code, std::string_view doing);
  void note_error(Error error);
  void flush(Feed& target);
  void flush_all();
  sqlite3_stmt* prepare(const std::string& sql);
  std::vector<std::string> names_in_file(std::string_view type, std::string_view prefix);
  void make_views();
  void discard();

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  FileOptions options_;
  sqlite3* db_ = nullptr;
  bool closed_ = false;
  std::optional<Error> error_;
  std::vector<std::unique_ptr<Feed>> feeds_;
  std::map<std::string, sqlite3_stmt*> statements_;
};

}  // namespace perflab::test
