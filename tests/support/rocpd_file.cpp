// SQLite plumbing behind RocpdFile: the temporary file, the row feeds and the views.
#include "support/rocpd_file.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstring>
#include <system_error>

namespace perflab::test {
namespace {

constexpr std::size_t kBatchRows = 512;

/// A value waiting in a batch. Text lies in the batch's arena.
struct PendingValue {
  RowValue::Kind kind;
  std::uint32_t length;  ///< of text
  union {
    std::int64_t integer;
    double real;
    std::uint64_t offset;  ///< of text
  };
};

/// Rows waiting to be inserted; the virtual table shows exactly these.
struct Batch {
  std::size_t columns = 0;
  std::size_t rows = 0;
  std::vector<PendingValue> values;
  std::string arena;
};

struct BatchTable {
  sqlite3_vtab base;
  const Batch* batch;
};

struct BatchCursor {
  sqlite3_vtab_cursor base;
  const Batch* batch;
  std::size_t row;
};

// SQLite hands back the base structs; they are the first members of ours.
BatchCursor* cursor_of(sqlite3_vtab_cursor* cursor) {
  return reinterpret_cast<BatchCursor*>(cursor);
}

int batch_connect(sqlite3* db, void* user, int /*argc*/, const char* const* /*argv*/,
                  sqlite3_vtab** out, char** /*error*/) {
  const auto* batch = static_cast<const Batch*>(user);
  std::string sql = "CREATE TABLE batch(";
  for (std::size_t i = 0; i < batch->columns; ++i)
    sql += fmt::format("{}c{}", i == 0 ? "" : ", ", i);
  if (const int code = sqlite3_declare_vtab(db, (sql + ")").c_str()); code != SQLITE_OK)
    return code;
  auto* table = new BatchTable{.base = {}, .batch = batch};
  *out = &table->base;
  return SQLITE_OK;
}

int batch_disconnect(sqlite3_vtab* table) {
  delete reinterpret_cast<BatchTable*>(table);
  return SQLITE_OK;
}

int batch_best_index(sqlite3_vtab* /*table*/, sqlite3_index_info* info) {
  info->estimatedRows = kBatchRows;
  return SQLITE_OK;
}

int batch_open(sqlite3_vtab* table, sqlite3_vtab_cursor** out) {
  auto* cursor =
      new BatchCursor{.base = {}, .batch = reinterpret_cast<BatchTable*>(table)->batch, .row = 0};
  *out = &cursor->base;
  return SQLITE_OK;
}

int batch_close(sqlite3_vtab_cursor* cursor) {
  delete cursor_of(cursor);
  return SQLITE_OK;
}

int batch_filter(sqlite3_vtab_cursor* cursor, int /*plan*/, const char* /*plan_text*/, int /*argc*/,
                 sqlite3_value** /*argv*/) {
  cursor_of(cursor)->row = 0;
  return SQLITE_OK;
}

int batch_next(sqlite3_vtab_cursor* cursor) {
  ++cursor_of(cursor)->row;
  return SQLITE_OK;
}

int batch_eof(sqlite3_vtab_cursor* cursor) {
  const BatchCursor* at = cursor_of(cursor);
  return at->row >= at->batch->rows ? 1 : 0;
}

int batch_rowid(sqlite3_vtab_cursor* cursor, sqlite3_int64* out) {
  *out = static_cast<sqlite3_int64>(cursor_of(cursor)->row);
  return SQLITE_OK;
}

int batch_column(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int column) {
  const BatchCursor* at = cursor_of(cursor);
  const Batch& batch = *at->batch;
  const PendingValue& value =
      batch.values[at->row * batch.columns + static_cast<std::size_t>(column)];
  const int length = static_cast<int>(value.length);
  switch (value.kind) {
    case RowValue::Kind::integer:
      sqlite3_result_int64(context, value.integer);
      break;
    case RowValue::Kind::real:
      sqlite3_result_double(context, value.real);
      break;
    case RowValue::Kind::text:  // a null destructor is SQLITE_STATIC
      sqlite3_result_text(context, batch.arena.data() + value.offset, length, nullptr);
      break;
    case RowValue::Kind::blob:
      sqlite3_result_blob(context, batch.arena.data() + value.offset, length, nullptr);
      break;
    case RowValue::Kind::null:
      sqlite3_result_null(context);
      break;
  }
  return SQLITE_OK;
}

const sqlite3_module& batch_module() {
  static const sqlite3_module kModule = [] {
    sqlite3_module made{};
    made.xConnect = batch_connect;  // no xCreate: the table exists by its module's name only
    made.xBestIndex = batch_best_index;
    made.xDisconnect = batch_disconnect;
    made.xOpen = batch_open;
    made.xClose = batch_close;
    made.xFilter = batch_filter;
    made.xNext = batch_next;
    made.xEof = batch_eof;
    made.xColumn = batch_column;
    made.xRowid = batch_rowid;
    return made;
  }();
  return kModule;
}

void bind_value(sqlite3_stmt* statement, int index, const RowValue& value) {
  switch (value.kind) {
    case RowValue::Kind::integer:
      sqlite3_bind_int64(statement, index, value.integer);
      break;
    case RowValue::Kind::real:
      sqlite3_bind_double(statement, index, value.real);
      break;
    case RowValue::Kind::text:
      sqlite3_bind_text64(statement, index, value.text.data(), value.text.size(), nullptr,
                          SQLITE_UTF8);
      break;
    case RowValue::Kind::blob:
      sqlite3_bind_blob64(statement, index, value.text.data(), value.text.size(), nullptr);
      break;
    case RowValue::Kind::null:
      sqlite3_bind_null(statement, index);
      break;
  }
}

std::string quoted_list(std::span<const std::string_view> columns) {
  std::string text;
  for (const std::string_view column : columns)
    text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", column);
  return text;
}

}  // namespace

/// Rows of one table on their way into it.
struct RocpdFile::Feed {
  Batch batch;
  sqlite3_stmt* insert = nullptr;  ///< owned by statements_
};

RocpdFile::RocpdFile(std::filesystem::path path, FileOptions options)
    : path_(std::move(path)),
      temporary_(path_.string() + fmt::format(".tmp-{}", ::getpid())),
      options_(options) {
  open();
}

RocpdFile::~RocpdFile() {
  discard();
}

void RocpdFile::open() {
  std::error_code code;
  std::filesystem::remove(temporary_, code);
  if (options_.append && !std::filesystem::copy_file(path_, temporary_, code)) {
    note_error(
        {.code = ErrorCode::usage,
         .message = fmt::format("{}: cannot be appended to: {}", path_.string(), code.message()),
         .notes = {},
         .remedy = {}});
    return;
  }
  const int opened =
      sqlite3_open_v2(temporary_.c_str(), &db_,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  note(opened, "opening");
  execute(
      "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
      "PRAGMA cache_size = -16000; PRAGMA foreign_keys = OFF; BEGIN");
}

void RocpdFile::note(int code, std::string_view doing) {
  if (code == SQLITE_OK) return;
  const bool place = code == SQLITE_CANTOPEN || code == SQLITE_FULL || code == SQLITE_READONLY ||
                     (code & 0xff) == SQLITE_IOERR;
  note_error({.code = place ? ErrorCode::usage : ErrorCode::internal,
              .message = fmt::format("{}: cannot be written ({}): {}", path_.string(), doing,
                                     db_ != nullptr ? sqlite3_errmsg(db_) : "out of memory"),
              .notes = {},
              .remedy = {}});
}

void RocpdFile::note_error(Error error) {
  if (!error_) error_ = std::move(error);
}

void RocpdFile::execute(const std::string& sql) {
  if (!ok()) return;
  flush_all();
  note(sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr), sql.substr(0, 60));
}

sqlite3_stmt* RocpdFile::prepare(const std::string& sql) {
  sqlite3_stmt*& statement = statements_[sql];
  if (statement == nullptr && ok())
    note(sqlite3_prepare_v3(db_, sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr),
         sql.substr(0, 60));
  return statement;
}

std::size_t RocpdFile::make_feed(const std::string& table,
                                 std::span<const std::string_view> columns) {
  feeds_.push_back(std::make_unique<Feed>());
  Feed& made = *feeds_.back();
  made.batch.columns = columns.size();
  made.batch.values.reserve(kBatchRows * columns.size());
  const std::string name = "feed_" + table;
  if (ok())
    note(sqlite3_create_module_v2(db_, name.c_str(), &batch_module(), &made.batch, nullptr), name);
  made.insert = prepare(
      fmt::format("INSERT INTO `{}` ({}) SELECT * FROM `{}`", table, quoted_list(columns), name));
  return feeds_.size() - 1;
}

void RocpdFile::add(std::size_t feed, std::span<const RowValue> values) {
  if (!ok()) return;
  Feed& target = *feeds_[feed];
  PERFLAB_CHECK(values.size() == target.batch.columns);
  Batch& batch = target.batch;
  for (const RowValue& value : values) {
    PendingValue pending{.kind = value.kind, .length = 0, .integer = value.integer};
    if (value.kind == RowValue::Kind::real) {
      pending.real = value.real;
    } else if (value.kind == RowValue::Kind::text || value.kind == RowValue::Kind::blob) {
      pending.offset = batch.arena.size();
      pending.length = static_cast<std::uint32_t>(value.text.size());
      batch.arena += value.text;
    }
    batch.values.push_back(pending);
  }
  if (++batch.rows == kBatchRows) flush(target);
}

void RocpdFile::flush(Feed& target) {
  if (!ok() || target.batch.rows == 0) return;
  const int code = sqlite3_step(target.insert);
  if (code != SQLITE_DONE) note(code, sqlite3_sql(target.insert));
  sqlite3_reset(target.insert);
  target.batch.rows = 0;
  target.batch.values.clear();
  target.batch.arena.clear();
}

void RocpdFile::flush_all() {
  for (const std::unique_ptr<Feed>& feed : feeds_) flush(*feed);
}

void RocpdFile::insert(const std::string& table, std::span<const std::string_view> columns,
                       std::span<const RowValue> values) {
  if (!ok()) return;
  std::string marks;
  for (std::size_t i = 0; i < values.size(); ++i) marks += i == 0 ? "?" : ", ?";
  sqlite3_stmt* statement =
      prepare(fmt::format("INSERT INTO `{}` ({}) VALUES ({})", table, quoted_list(columns), marks));
  if (statement == nullptr) return;
  for (std::size_t i = 0; i < values.size(); ++i)
    bind_value(statement, static_cast<int>(i) + 1, values[i]);
  const int code = sqlite3_step(statement);
  if (code != SQLITE_DONE) note(code, "a row of " + table);
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
}

std::vector<std::string> RocpdFile::names_in_file(std::string_view type, std::string_view prefix) {
  std::vector<std::string> names;
  sqlite3_stmt* statement = prepare(
      "SELECT name FROM sqlite_master WHERE type = ?1 AND substr(name, 1, length(?2)) = ?2 "
      "ORDER BY rowid");
  if (statement == nullptr) return names;
  bind_value(statement, 1, type);
  bind_value(statement, 2, prefix);
  while (sqlite3_step(statement) == SQLITE_ROW)
    names.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(statement, 0)));
  sqlite3_reset(statement);
  return names;
}

void RocpdFile::make_views() {
  for (const std::string& view : names_in_file("view", "rocpd_"))
    execute(fmt::format("DROP VIEW `{}`", view));
  if (options_.views == Views::none) return;
  for (const TableSpec& spec : rocpd_tables()) {
    const std::string view = fmt::format("rocpd_{}", spec.name);
    std::string selects;
    for (const std::string& table : names_in_file("table", view + "_"))
      selects +=
          fmt::format("{}SELECT\n    *\nFROM\n    `{}`{}", selects.empty() ? "" : "\nUNION ALL\n",
                      table, options_.views == Views::lying ? "\nWHERE\n    0" : "");
    if (!selects.empty()) execute(fmt::format("CREATE VIEW `{}` AS\n{}", view, selects));
  }
}

Result<void> RocpdFile::error() const {
  if (error_) return std::unexpected(*error_);
  return {};
}

Result<void> RocpdFile::close() {
  if (closed_) return error();
  closed_ = true;
  flush_all();
  if (ok()) make_views();
  if (ok()) execute("COMMIT");
  for (auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  statements_.clear();
  feeds_.clear();
  if (db_ != nullptr) {
    const int code = sqlite3_close(db_);
    db_ = nullptr;
    if (code != SQLITE_OK) note(code, "closing");
  }
  std::error_code code;
  if (ok()) std::filesystem::rename(temporary_, path_, code);
  if (ok() && code)
    note_error({.code = ErrorCode::usage,
                .message = fmt::format("{}: cannot be written: {}", path_.string(), code.message()),
                .notes = {},
                .remedy = {}});
  discard();
  return error();
}

void RocpdFile::discard() {
  for (auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  statements_.clear();
  if (db_ != nullptr) sqlite3_close(db_);
  db_ = nullptr;
  std::error_code code;
  std::filesystem::remove(temporary_, code);
}

}  // namespace perflab::test
