// A thin RAII layer over the SQLite C API: read-only connections and prepared statements, every
// failure a Result; and what makes a database of one that was being written. SQLiteCpp was not
// taken: it throws, and the scan loops need the raw column calls.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace perflab {

/// The integer that a stored number is; nullopt: not whole, or not surely in 64 bits.
std::optional<std::int64_t> whole_of_real(double value);
/// The integer that a stored text is: unsigned ones above INT64_MAX are the same 64 bits.
std::optional<std::int64_t> whole_of_text(std::string_view digits);

/// A prepared SELECT. step() moves to the next row; columns are read from the current row.
class Statement {
 public:
  Statement(sqlite3_stmt* handle, std::string what) : handle_(handle), what_(std::move(what)) {}

  /// True: there is a row. False: done. Error (bad_input): the file is damaged or busy; names file
  /// and table.
  Result<bool> step();
  /// Makes the statement ready to run again with new bindings.
  void reset() { sqlite3_reset(handle_.get()); }
  void bind(int index, std::int64_t value) { sqlite3_bind_int64(handle_.get(), index, value); }
  void bind(int index, std::string_view text);

  [[nodiscard]] bool is_null(int column) const {
    return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL;
  }
  /// The column as an integer; nullopt for NULL, and for anything that is not a whole number in 64
  /// bits. TEXT integers are read, also unsigned ones above INT64_MAX (as the same 64 bits).
  [[nodiscard]] std::optional<std::int64_t> integer(int column) const {
    if (sqlite3_column_type(handle_.get(), column) == SQLITE_INTEGER)
      return sqlite3_column_int64(handle_.get(), column);
    return slow_integer(column);
  }
  /// The same; false leaves `value` as it was.
  [[nodiscard]] bool integer(int column, std::int64_t& value) const {
    const std::optional<std::int64_t> whole = integer(column);
    if (whole) value = *whole;
    return whole.has_value();
  }
  /// The column as a number; nullopt for NULL and text that is no finite number.
  [[nodiscard]] std::optional<double> real(int column) const;
  /// The column as text (empty for NULL); valid until the next step.
  [[nodiscard]] std::string_view text(int column) const;

 private:
  [[nodiscard]] std::optional<std::int64_t> slow_integer(int column) const;

  struct Finalize {
    void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  std::string what_;  ///< for messages: "FILE: table rocpd_event"
};

/// Takes back the transaction that a writer left open when it was killed, so that the file holds
/// what was committed and its journal is gone. Errors (bad_input): it is no database, is damaged,
/// is in use, or cannot be written.
Result<void> roll_back(const std::filesystem::path& path);

/// A read-only connection, for use by one thread.
class Connection {
 public:
  /// Opens and checks that the file can be read as SQLite. `immutable`: without locks and
  /// without files beside it, where they are impossible (a database in WAL mode in a folder that
  /// cannot be written) or not to be trusted (a network file system): the caller sees to it that
  /// nobody writes. Memory is never mapped.
  static Result<Connection> open(const std::filesystem::path& path, bool immutable = false);

  /// Opens a file that has no name and that nobody writes to, by what leads to it
  /// (/proc/self/fd/N, see UnpackedDatabase); messages have `name`.
  static Result<Connection> open_nameless(const std::string& path, std::string name);

  /// Prepares one statement; `what` names the table for messages. SQL must come from the program,
  /// never from data.
  Result<Statement> prepare(const std::string& sql, std::string_view what);

  /// Starts a read transaction, so that all later statements see one state of the file.
  Result<void> begin_read();

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  explicit Connection(sqlite3* handle, std::string path)
      : handle_(handle), path_(std::move(path)) {}
  static Result<Connection> open_as(const std::string& path, bool immutable, std::string name,
                                    const char* file_system);
  std::unique_ptr<sqlite3, Close> handle_;
  std::string path_;
};

}  // namespace perflab
