// Where the wanted columns of a table stand in its records, by what SQLite says of the table: never
// by an assumed order (https://www.sqlite.org/fileformat2.html section 2.1, "representation of SQL
// tables").
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/sqlite_pages/ask_sqlite.h"
#include "base/system/sqlite.h"

namespace perflab::sqlite_pages {

/// One wanted column.
struct WantedColumn {
  static constexpr std::uint32_t kNowhere = 0xFFFF'FFFF;

  std::uint32_t place = kNowhere;  ///< in the record; kNowhere: the table has no such column
  bool is_rowid = false;           ///< INTEGER PRIMARY KEY: the record has NULL for it
  bool is_real = false;            ///< of REAL affinity: integers are stored for whole numbers
  bool has_default = false;        ///< what rows have that are older than the column
};

/// A table's root page, and its wanted columns in the caller's order.
struct Layout {
  std::uint32_t root = 0;
  bool indexed = false;  ///< SQLite may read all rows in the order of an index
  std::vector<WantedColumn> columns;
};

/// Asks SQLite; names are compared with case. A table WITHOUT ROWID has a layout, but the tree of
/// its root is none of row ids.
FromPages<Layout> layout_of(Connection& connection, std::string_view table,
                            std::span<const std::string_view> columns);

}  // namespace perflab::sqlite_pages
