// Rows of a table read from the pages of its leaves, in the order of their row ids: what
// `SELECT columns FROM table WHERE _rowid_ BETWEEN low AND high` gives, or the reason to ask
// SQLite.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sqlite_pages/page_file.h"
#include "base/sqlite_pages/shape.h"
#include "base/sqlite_pages/table_tree.h"

namespace perflab::sqlite_pages {

/// A table that can be read from its pages. Shared by threads.
struct TablePages {
  Layout layout;
  std::vector<Leaf> leaves;
};

/// The row at hand; values as Statement gives them.
class Row {
 public:
  Row(const Shape& shape, const std::uint8_t* record, std::int64_t rowid, bool& conversion)
      : shape_(&shape), record_(record), rowid_(rowid), conversion_(&conversion) {}

  [[nodiscard]] bool is_null(int column) const;
  /// As Statement::integer().
  [[nodiscard]] std::optional<std::int64_t> integer(int column) const {
    std::int64_t value = 0;
    return integer(column, value) ? std::optional(value) : std::nullopt;
  }
  /// The same for loops over millions of rows: false leaves `value` as it was.
  [[nodiscard, gnu::always_inline]] bool integer(int column, std::int64_t& value) const {
    const Place& at = place(column);
    if (at.held == Held::integer) [[likely]] {
      value = at.integer(record_);
      return true;
    }
    if (at.held == Held::rowid) {
      value = rowid_;
      return true;
    }
    return at.held != Held::null && slow_integer(at, value);
  }
  /// As Statement::real().
  [[nodiscard]] std::optional<double> real(int column) const;
  /// As Statement::text(). Of a number it is not made here: SQLite is asked for all rows.
  [[nodiscard]] std::string_view text(int column) const {
    const Place& at = place(column);
    if (at.held == Held::text || at.held == Held::bytes)
      return {reinterpret_cast<const char*>(record_ + at.begin), at.end - at.begin};
    if (at.held != Held::null) *conversion_ = true;
    return {};
  }

 private:
  [[nodiscard]] const Place& place(int column) const {
    return shape_->places[static_cast<std::size_t>(column)];
  }
  [[nodiscard]] double stored_real(const Place& at) const;
  [[nodiscard]] bool slow_integer(const Place& at, std::int64_t& value) const;

  const Shape* shape_;
  const std::uint8_t* record_;
  std::int64_t rowid_;
  bool* conversion_;
};

/// Row ids, inclusive.
struct RowRange {
  std::int64_t low, high;
};

/// Reads rows of one table, for one thread.
class RowReader {
 public:
  RowReader(const PageFile& file, const TablePages& table)
      : file_(file), table_(table), shapes_(table.layout.columns) {}

  /// Calls visit(row) for every row of the range. With a reason to ask SQLite some rows may have
  /// been visited already: what they left is to be thrown away.
  template <class Visit>
  FromPages<void> read(const RowRange& range, Visit&& visit) {
    const auto& leaves = table_.leaves;
    auto leaf = std::ranges::lower_bound(leaves, range.low, {}, &Leaf::last_rowid);
    // As SQLite does it: to the first row behind the range, whatever page it is on.
    bool behind = false;
    while (leaf != leaves.end() && !behind) {
      const std::uint32_t first = leaf->page;
      const std::uint32_t pages = run_from(leaf, range.high);
      buffer_.resize(std::size_t{pages} * file_.page_size() + kSlack);
      if (!file_.read(first, pages, buffer_.data())) return std::unexpected(AskSqlite::unreadable);
      for (; !behind && leaf != leaves.end() && leaf->page >= first && leaf->page - first < pages;
           ++leaf) {
        const std::uint8_t* page =
            buffer_.data() + std::size_t{leaf->page - first} * file_.page_size();
        const auto read = read_leaf(page, *leaf, range, visit);
        if (!read) return std::unexpected(read.error());
        behind = *read;
      }
    }
    return {};
  }

 private:
  using LeafAt = std::vector<Leaf>::const_iterator;

  struct Cell {
    const std::uint8_t* record;
    std::uint64_t payload;
    std::int64_t rowid;
    std::uint32_t local;  ///< bytes of the record that stand on the page
  };

  /// Pages worth reading at once: leaves that follow each other, with a page between them or none,
  /// up to the one that ends with row `high` or behind it.
  [[nodiscard]] std::uint32_t run_from(LeafAt leaf, std::int64_t high) const;
  /// Cells of a leaf; nothing when the page is no leaf that SQLite would take.
  [[nodiscard]] std::optional<std::uint32_t> cells_of(const std::uint8_t* page) const;
  [[nodiscard]] std::uint32_t local_bytes(std::uint64_t payload) const;

  /// The cell that pointer `index` of a leaf of `cells` cells leads to; false: it is damaged.
  bool find_cell(const std::uint8_t* page, std::uint32_t cells, std::uint32_t index,
                 Cell& cell) const {
    const std::uint32_t usable = file_.usable();
    const std::uint32_t at = big_endian<std::uint16_t>(page + kLeafHeader + index * 2);
    if (at < kLeafHeader + cells * 2 || at + 4 > usable) return false;
    std::uint64_t rowid = 0;
    std::uint32_t begin = at + read_varint(page + at, cell.payload);
    begin += read_varint(page + begin, rowid);
    cell.rowid = static_cast<std::int64_t>(rowid);
    cell.record = page + begin;
    if (cell.payload <= usable - 35) {
      cell.local = static_cast<std::uint32_t>(cell.payload);
      return begin + cell.local <= usable && cell.payload > 0;
    }
    cell.local = local_bytes(cell.payload);
    return cell.payload < kLargestPayload && begin + cell.local + 4 <= usable;
  }

  /// Visits the rows of the range, and tells whether there is one behind it.
  template <class Visit>
  FromPages<bool> read_leaf(const std::uint8_t* page, const Leaf& leaf, const RowRange& range,
                            Visit& visit) {
    const std::optional<std::uint32_t> cells = cells_of(page);
    if (!cells) return std::unexpected(AskSqlite::damaged_page);
    const bool first = &leaf == table_.leaves.data();
    std::int64_t before = first ? 0 : (&leaf - 1)->last_rowid;
    for (std::uint32_t i = 0; i < *cells; ++i) {
      Cell cell;
      if (!find_cell(page, *cells, i, cell) || (cell.rowid <= before && !(first && i == 0)) ||
          cell.rowid > leaf.last_rowid)
        return std::unexpected(AskSqlite::damaged_page);
      before = cell.rowid;
      // Cells of other ranges are looked at as well: SQLite refuses a page for any of them.
      if (cell.rowid < range.low || cell.rowid > range.high) continue;
      const auto shape = shapes_.of(cell.record, cell.local);
      if (!shape) return std::unexpected(shape.error());
      if ((*shape)->payload != cell.payload) return std::unexpected(AskSqlite::damaged_page);
      if ((*shape)->needed > cell.local) return std::unexpected(AskSqlite::overflow);
      visit(Row(**shape, cell.record, cell.rowid, conversion_));
    }
    if (std::exchange(conversion_, false)) return std::unexpected(AskSqlite::conversion);
    return *cells > 0 && before > range.high;
  }

  static constexpr std::uint32_t kLeafHeader = 8;
  static constexpr std::uint64_t kLargestPayload = 1 << 24;

  const PageFile& file_;
  const TablePages& table_;
  Shapes shapes_;
  std::vector<std::uint8_t> buffer_;
  bool conversion_ = false;  ///< a row was asked for what it cannot give
};

}  // namespace perflab::sqlite_pages
