// Rows as bytes that say type and value of every column, reals to the last bit.
#include "support/pages_judge.h"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/sqlite_pages/rows.h"
#include "base/system/sqlite.h"

namespace perflab::test {
namespace {

namespace pages = sqlite_pages;

/// A table's columns; those of text are asked for text, the others for numbers, as readers do.
struct Columns {
  std::vector<std::string> names;
  std::vector<bool> are_text;
};

/// Appends what a row has in every column. Not as words: the fuzzer judges thousands of rows for
/// every input, and most of its time would go into wording what nobody reads.
template <class Row>
void append_row(std::string& bytes, const Row& row, const Columns& columns) {
  const auto append = [&](const auto& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  for (std::size_t i = 0; i < columns.names.size(); ++i) {
    const int column = static_cast<int>(i);
    const auto integer = row.integer(column);
    const auto real = row.real(column);
    bytes += static_cast<char>((row.is_null(column) ? 1 : 0) + (integer ? 2 : 0) + (real ? 4 : 0));
    append(integer.value_or(0));
    append(real.value_or(0));
    const std::string_view text = columns.are_text[i] ? row.text(column) : std::string_view();
    append(text.size());
    bytes += text;
  }
}

using Range = std::optional<pages::RowRange>;

struct Rows {
  std::string bytes = {};
  std::uint64_t many = 0;
  bool failed = false;
};

Result<Statement> select(Connection& connection, const std::string& table, const Columns& columns,
                         bool ranged) {
  std::string sql = "SELECT ";
  for (const std::string& name : columns.names)
    sql += fmt::format("{}\"{}\"", sql.size() > 7 ? ", " : "", name);
  sql += fmt::format(" FROM \"{}\"", table);
  if (ranged) sql += " WHERE _rowid_ BETWEEN ?1 AND ?2";
  return connection.prepare(sql, table);
}

/// `statement`: select() of all rows, or of a range.
Rows by_sqlite(Result<Statement>& statement, const Columns& columns, const Range& range) {
  if (!statement) return {.bytes = {}, .failed = true};
  statement->reset();
  if (range) {
    statement->bind(1, range->low);
    statement->bind(2, range->high);
  }
  Rows rows;
  while (true) {
    const auto row = statement->step();
    if (!row) rows.failed = true;
    if (!row || !*row) return rows;
    append_row(rows.bytes, *statement, columns);
    ++rows.many;
  }
}

pages::FromPages<Rows> from_pages(pages::RowReader& reader, const Columns& columns,
                                  const Range& range) {
  Rows rows;
  const auto done =
      reader.read(range.value_or(pages::RowRange{std::numeric_limits<std::int64_t>::min(),
                                                 std::numeric_limits<std::int64_t>::max()}),
                  [&](const pages::Row& row) {
                    append_row(rows.bytes, row, columns);
                    ++rows.many;
                  });
  if (!done) return std::unexpected(done.error());
  return rows;
}

/// Names that can be quoted, as the tables of recordings have them.
bool is_plain(const std::string& name) {
  return name.find('"') == std::string::npos;
}

Result<std::optional<Columns>> columns_of(Connection& connection, const std::string& table) {
  PERFLAB_TRY(Statement rows,
              connection.prepare("SELECT name, type FROM pragma_table_info(?1)", table));
  rows.bind(1, table);
  Columns columns;
  while (true) {
    PERFLAB_TRY(const bool row, rows.step());
    if (!row) break;
    columns.names.emplace_back(rows.text(0));
    columns.are_text.push_back(rows.text(1).find("TEXT") != std::string_view::npos);
    if (!is_plain(columns.names.back())) return std::optional<Columns>();
  }
  if (columns.names.empty() || columns.names.size() > pages::kMostColumns)
    return std::optional<Columns>();
  return columns;
}

/// Ranges of row ids to compare: all rows without a range, all with one, and both halves.
std::vector<Range> ranges_of(const std::vector<pages::Leaf>& leaves) {
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  const std::int64_t middle =
      leaves.size() > 1 ? leaves[leaves.size() / 2 - 1].last_rowid - 1 : 100;
  return {std::nullopt, pages::RowRange{kLeast, kMost}, pages::RowRange{kLeast, middle},
          pages::RowRange{middle + 1, kMost}, pages::RowRange{middle - 3, middle + 5}};
}

void judge_table(Connection& connection, const pages::PageFile& file, const std::string& table,
                 const Columns& columns, Judgement& judgement) {
  const std::vector<std::string_view> wanted(columns.names.begin(), columns.names.end());
  auto layout = pages::layout_of(connection, table, wanted);
  if (!layout) {
    ++judgement.asked[layout.error()];
    return;
  }
  auto leaves = pages::leaves_of(file, layout->root);
  if (!leaves) {
    ++judgement.asked[leaves.error()];
    return;
  }
  const pages::TablePages read{.layout = std::move(*layout), .leaves = std::move(*leaves)};
  auto all = select(connection, table, columns, false);
  auto some = select(connection, table, columns, true);
  pages::RowReader reader(file, read);  // for all ranges, as readers of recordings have it
  for (const Range& range : ranges_of(read.leaves)) {
    if (!range && read.layout.indexed) continue;
    const auto found = from_pages(reader, columns, range);
    if (!found) {
      ++judgement.asked[found.error()];
      continue;
    }
    ++judgement.scans_from_pages;
    judgement.rows_from_pages += found->many;
    const Rows wished = by_sqlite(range ? some : all, columns, range);
    if ((wished.failed || wished.bytes != found->bytes) && judgement.difference.empty())
      judgement.difference =
          fmt::format("{} from {} to {}: {} rows from pages, {} by SQLite{}", table,
                      range ? range->low : 0, range ? range->high : -1, found->many, wished.many,
                      wished.failed ? ", which failed then" : "");
  }
}

}  // namespace

Result<Judgement> judge_pages(const std::filesystem::path& path) {
  // Declared first, closed last: closing it ends the locks of the connection.
  std::optional<pages::FromPages<pages::PageFile>> file;
  PERFLAB_TRY(Connection connection, Connection::open(path));
  PERFLAB_TRY_VOID(connection.begin_read());
  Judgement judgement;
  file = pages::PageFile::open(path);
  if (!*file) {
    ++judgement.asked[file->error()];
    return judgement;
  }
  PERFLAB_TRY(Statement list, connection.prepare("SELECT name FROM sqlite_master WHERE "
                                                 "type='table' AND name NOT LIKE 'sqlite_%'",
                                                 "table list"));
  while (true) {
    PERFLAB_TRY(const bool row, list.step());
    if (!row) return judgement;
    const std::string table(list.text(0));
    const auto columns = is_plain(table) ? columns_of(connection, table) : std::nullopt;
    if (columns && *columns) judge_table(connection, **file, table, **columns, judgement);
  }
}

}  // namespace perflab::test
