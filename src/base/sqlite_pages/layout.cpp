// The schema through SQLite's own parser: https://www.sqlite.org/pragma.html#pragma_table_xinfo,
// affinities by https://www.sqlite.org/datatype3.html section 3.1.
#include "base/sqlite_pages/layout.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <string>

namespace perflab::sqlite_pages {
namespace {

std::string upper_case(std::string_view text) {
  std::string upper(text);
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) {
    return static_cast<char>(c < 0x80 ? std::toupper(c) : c);
  });
  return upper;
}

/// Whether a declared type is of REAL affinity.
bool is_real(const std::string& type) {
  const auto contains = [&](std::string_view part) { return type.find(part) != std::string::npos; };
  constexpr std::array<std::string_view, 5> kStronger = {"INT", "CHAR", "CLOB", "TEXT", "BLOB"};
  return std::ranges::none_of(kStronger, contains) &&
         (contains("REAL") || contains("FLOA") || contains("DOUB"));
}

/// Root page of a table; nothing when there is none of that name, or it is virtual.
Result<std::optional<std::uint32_t>> root_of(Connection& connection, std::string_view table) {
  PERFLAB_TRY(Statement rows, connection.prepare("SELECT rootpage FROM sqlite_master WHERE name=?1 "
                                                 "AND type='table'",
                                                 table));
  rows.bind(1, table);
  PERFLAB_TRY(const bool row, rows.step());
  const auto root = row ? rows.integer(0) : std::nullopt;
  if (!root || *root < 2 || *root > std::numeric_limits<std::uint32_t>::max())
    return std::optional<std::uint32_t>();
  return static_cast<std::uint32_t>(*root);
}

/// Whether a table has any index, and one for its primary key.
Result<std::pair<bool, bool>> indexes_of(Connection& connection, std::string_view table) {
  PERFLAB_TRY(Statement rows,
              connection.prepare("SELECT origin FROM pragma_index_list(?1)", table));
  rows.bind(1, table);
  std::pair<bool, bool> found = {false, false};
  while (true) {
    PERFLAB_TRY(const bool row, rows.step());
    if (!row) return found;
    found.first = true;
    found.second = found.second || rows.text(0) == "pk";
  }
}

struct DeclaredColumn {
  std::string name;
  WantedColumn column;
};

/// All columns of a table in the order of its records; nothing when one is generated or hidden.
Result<std::optional<std::vector<DeclaredColumn>>> columns_of(Connection& connection,
                                                              std::string_view table,
                                                              bool key_has_index) {
  PERFLAB_TRY(Statement rows,
              connection.prepare(
                  "SELECT name, type, dflt_value, pk, hidden FROM pragma_table_xinfo(?1)", table));
  rows.bind(1, table);
  std::vector<DeclaredColumn> columns;
  std::size_t keys = 0;
  while (true) {
    PERFLAB_TRY(const bool row, rows.step());
    if (!row) break;
    if (rows.integer(4).value_or(0) != 0) return std::optional<std::vector<DeclaredColumn>>();
    const std::string type = upper_case(rows.text(1));
    const bool is_key = rows.integer(3).value_or(0) != 0;
    keys += is_key ? 1 : 0;
    columns.push_back({.name = std::string(rows.text(0)),
                       .column = {.place = static_cast<std::uint32_t>(columns.size()),
                                  .is_rowid = is_key && type == "INTEGER" && !key_has_index,
                                  .is_real = is_real(type),
                                  .has_default = !rows.is_null(2)}});
  }
  if (keys != 1)
    for (DeclaredColumn& each : columns) each.column.is_rowid = false;
  return columns;
}

Result<FromPages<Layout>> ask(Connection& connection, std::string_view table,
                              std::span<const std::string_view> wanted) {
  PERFLAB_TRY(const auto root, root_of(connection, table));
  if (!root) return FromPages<Layout>(std::unexpected(AskSqlite::no_such_table));
  PERFLAB_TRY(const auto indexes, indexes_of(connection, table));
  PERFLAB_TRY(const auto columns, columns_of(connection, table, indexes.second));
  if (!columns) return FromPages<Layout>(std::unexpected(AskSqlite::generated_column));
  Layout layout{.root = *root, .indexed = indexes.first, .columns = {}};
  for (const std::string_view name : wanted) {
    const auto found = std::ranges::find(*columns, name, &DeclaredColumn::name);
    layout.columns.push_back(found == columns->end() ? WantedColumn{} : found->column);
  }
  return layout;
}

}  // namespace

FromPages<Layout> layout_of(Connection& connection, std::string_view table,
                            std::span<const std::string_view> columns) {
  Result<FromPages<Layout>> layout = ask(connection, table, columns);
  // What SQLite finds wrong it says again when it is asked for the rows.
  if (!layout) return std::unexpected(AskSqlite::no_such_table);
  return std::move(*layout);
}

}  // namespace perflab::sqlite_pages
