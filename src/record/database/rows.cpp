// The virtual table behind RowWriter: read-only, one pass, columns c0 to c23.
#include "record/database/rows.h"

#include <algorithm>

namespace perflab::record {

void Cell::give(sqlite3_context* context) const {
  if (kind_ == kInteger)
    sqlite3_result_int64(context, integer_);
  else if (kind_ == kReal)
    sqlite3_result_double(context, real_);
  else if (kind_ == kNull)
    sqlite3_result_null(context);
  else
    sqlite3_result_text(context, text_, kind_, SQLITE_STATIC);
}

/// What SQLite calls. Its structs begin with SQLite's own, as the interface asks.
struct RowTable {
  sqlite3_vtab base{};
  RowWriter* writer = nullptr;

  struct Cursor {
    sqlite3_vtab_cursor base{};
    const Rows* rows = nullptr;
    std::size_t row = 0;
  };

  static int connect(sqlite3* database, void* writer, int /*count*/, const char* const* /*words*/,
                     sqlite3_vtab** table, char** /*error*/) {
    std::string sql = "CREATE TABLE x(";
    for (std::size_t i = 0; i < Rows::kMostColumns; ++i)
      sql += (i == 0 ? "c" : ", c") + std::to_string(i);
    const int code = sqlite3_declare_vtab(database, (sql + ")").c_str());
    if (code != SQLITE_OK) return code;
    auto* made = new RowTable;
    made->writer = static_cast<RowWriter*>(writer);
    *table = &made->base;
    return SQLITE_OK;
  }
  static int disconnect(sqlite3_vtab* table) {
    delete reinterpret_cast<RowTable*>(table);
    return SQLITE_OK;
  }
  static int best_index(sqlite3_vtab* /*table*/, sqlite3_index_info* /*plan*/) { return SQLITE_OK; }
  static int open(sqlite3_vtab* table, sqlite3_vtab_cursor** cursor) {
    auto* made = new Cursor;
    made->rows = reinterpret_cast<RowTable*>(table)->writer->current_;
    *cursor = &made->base;
    return SQLITE_OK;
  }
  static int close(sqlite3_vtab_cursor* cursor) {
    delete reinterpret_cast<Cursor*>(cursor);
    return SQLITE_OK;
  }
  static int filter(sqlite3_vtab_cursor* cursor, int /*index*/, const char* /*name*/, int /*count*/,
                    sqlite3_value** /*values*/) {
    reinterpret_cast<Cursor*>(cursor)->row = 0;
    return SQLITE_OK;
  }
  static int next(sqlite3_vtab_cursor* cursor) {
    ++reinterpret_cast<Cursor*>(cursor)->row;
    return SQLITE_OK;
  }
  static int eof(sqlite3_vtab_cursor* cursor) {
    const auto* at = reinterpret_cast<Cursor*>(cursor);
    return at->rows == nullptr || at->row >= at->rows->size() ? 1 : 0;
  }
  static int column(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int index) {
    const auto* at = reinterpret_cast<Cursor*>(cursor);
    at->rows->cells_[(at->row * at->rows->width_) + static_cast<std::size_t>(index)].give(context);
    return SQLITE_OK;
  }
  static int row_id(sqlite3_vtab_cursor* cursor, sqlite3_int64* id) {
    *id = static_cast<sqlite3_int64>(reinterpret_cast<Cursor*>(cursor)->row);
    return SQLITE_OK;
  }

  /// Without xCreate the table is there in every connection that knows the module, and in no file.
  static const sqlite3_module* module() {
    static const sqlite3_module kMethods = [] {
      sqlite3_module made{};
      made.xConnect = connect;
      made.xDisconnect = disconnect;
      made.xBestIndex = best_index;
      made.xOpen = open;
      made.xClose = close;
      made.xFilter = filter;
      made.xNext = next;
      made.xEof = eof;
      made.xColumn = column;
      made.xRowid = row_id;
      return made;
    }();
    return &kMethods;
  }
};

Rows::Rows(std::string table, std::string columns)
    : table_(std::move(table)),
      columns_(std::move(columns)),
      width_(1 + static_cast<std::size_t>(std::ranges::count(columns_, ','))) {
  PERFLAB_CHECK(width_ <= kMostColumns);
}

RowWriter::RowWriter(sqlite3* database) : database_(database) {
  registered_ = sqlite3_create_module_v2(database, "perflab_rows", RowTable::module(), this,
                                         nullptr) == SQLITE_OK;
}

bool RowWriter::write(Rows& rows) {
  if (rows.cells_.empty()) return true;
  if (!registered_) return false;
  if (rows.insert_ == nullptr) {
    std::string sql = "INSERT OR IGNORE INTO `" + rows.table_ + "` (" + rows.columns_ + ") SELECT ";
    for (std::size_t i = 0; i < rows.width_; ++i) sql += (i == 0 ? "c" : ", c") + std::to_string(i);
    sql += " FROM perflab_rows";
    if (sqlite3_prepare_v3(database_, sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &rows.insert_,
                           nullptr) != SQLITE_OK)
      return false;
  }
  current_ = &rows;
  const int code = sqlite3_step(rows.insert_);
  sqlite3_reset(rows.insert_);
  current_ = nullptr;
  if (code == SQLITE_DONE)
    refused_ += static_cast<std::int64_t>(rows.size()) - sqlite3_changes(database_);
  rows.forget();
  return code == SQLITE_DONE;
}

void RowWriter::release(Rows& rows) {
  sqlite3_finalize(rows.insert_);
  rows.insert_ = nullptr;
}

}  // namespace perflab::record
