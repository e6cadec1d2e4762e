// Rows of one table on their way into the database: gathered in memory, written many by one
// statement. A statement per row would spend most of its time on SQLite's bookkeeping (the table's
// AUTOINCREMENT counter alone is read and written anew by each). The rows are given to SQLite as a
// virtual table (https://www.sqlite.org/vtab.html).
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace perflab::record {

/// A value of a row: null, an integer, a real number or text.
class Cell {
 public:
  Cell() = default;
  Cell(std::int64_t value) : integer_(value), kind_(kInteger) {}
  Cell(double value) : real_(value), kind_(kReal) {}
  /// The text has to live until the rows are written: a literal, or Rows::keep().
  Cell(std::string_view text) : text_(text.data()), kind_(static_cast<std::int32_t>(text.size())) {}
  Cell(const char* text) : Cell(std::string_view(text)) {}
  Cell(const std::optional<std::int64_t>& value) {
    if (value) *this = Cell(*value);
  }

  /// Gives the value to SQLite.
  void give(sqlite3_context* context) const;

 private:
  static constexpr std::int32_t kNull = -1, kInteger = -2, kReal = -3;
  union {
    std::int64_t integer_ = 0;
    double real_;
    const char* text_;
  };
  std::int32_t kind_ = kNull;  ///< or the length of the text
};

/// The waiting rows of one table.
class Rows {
 public:
  static constexpr std::size_t kMostColumns = 24;

  /// `columns`: names separated by ", ".
  Rows(std::string table, std::string columns);

  /// Adds a row: as many cells as there are columns.
  void add(std::span<const Cell> cells) { cells_.insert(cells_.end(), cells.begin(), cells.end()); }
  /// Keeps a text until the rows are written.
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }
  [[nodiscard]] std::size_t size() const { return cells_.size() / width_; }
  void forget() {
    cells_.clear();
    texts_.clear();
  }

 private:
  friend class RowWriter;
  friend struct RowTable;
  std::string table_;
  std::string columns_;
  std::size_t width_;
  std::vector<Cell> cells_;
  std::deque<std::string> texts_;
  sqlite3_stmt* insert_ = nullptr;  ///< finalised by the RowWriter
};

/// Writes rows into the tables of one connection.
class RowWriter {
 public:
  /// Registers the virtual table. `database` outlives the writer.
  explicit RowWriter(sqlite3* database);
  RowWriter(const RowWriter&) = delete;
  RowWriter& operator=(const RowWriter&) = delete;

  /// Writes and forgets the rows; a row whose id exists is left out. False: sqlite3_errmsg says
  /// why.
  bool write(Rows& rows);
  /// Ends the statement of these rows; before the connection is closed.
  static void release(Rows& rows);
  /// Rows that were left out.
  [[nodiscard]] std::int64_t refused() const { return refused_; }

 private:
  friend struct RowTable;
  sqlite3* database_;
  const Rows* current_ = nullptr;
  bool registered_ = false;
  std::int64_t refused_ = 0;
};

}  // namespace perflab::record
