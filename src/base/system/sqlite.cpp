// SQLite result codes turned into one sentence each; hardening for files of unknown origin
// (https://www.sqlite.org/security.html: untrusted database files).
#include "base/system/sqlite.h"

#include <fmt/format.h>

#include <cmath>

#include "base/system/nameless_file.h"
#include "base/text/numbers.h"

namespace perflab {
namespace {

/// One sentence for a failed call on a database file, and what to do about it.
Error describe_sqlite(int code, std::string_view what, const char* detail) {
  const auto bad = [](std::string sentence, std::string remedy) {
    return Error{.code = ErrorCode::bad_input,
                 .message = std::move(sentence),
                 .notes = {},
                 .remedy = std::move(remedy)};
  };
  switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_READONLY:
      return bad(fmt::format("{}: the database is being written", what),
                 "wait until the profiled program has ended, then run again");
    case SQLITE_CORRUPT:
      return bad(fmt::format("{}: the database is damaged", what),
                 "copy it again, or run the profile again");
    case SQLITE_NOTADB:
      return bad(fmt::format("{}: is not an SQLite database", what),
                 "give a rocpd database (…_results.db): rocprofv3 writes it with -f rocpd");
    case SQLITE_NOMEM:
      return bad(fmt::format("{}: not enough memory to read it", what),
                 "read it where there is more memory");
    default:
      return bad(fmt::format("{}: cannot be read ({})", what, detail),
                 "copy it again, or run the profile again");
  }
}

}  // namespace

std::optional<std::int64_t> whole_of_real(double value) {
  if (std::trunc(value) == value && std::fabs(value) < 9.2e18)
    return static_cast<std::int64_t>(value);
  return std::nullopt;
}

std::optional<std::int64_t> whole_of_text(std::string_view digits) {
  if (const auto value = whole_number<std::int64_t>(digits)) return value;
  if (const auto wide = whole_number(digits)) return static_cast<std::int64_t>(*wide);
  return std::nullopt;
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return std::unexpected(
      describe_sqlite(code, what_, sqlite3_errmsg(sqlite3_db_handle(handle_.get()))));
}

void Statement::bind(int index, std::string_view text) {
  sqlite3_bind_text(handle_.get(), index, text.data(), static_cast<int>(text.size()),
                    SQLITE_TRANSIENT);
}

std::optional<std::int64_t> Statement::slow_integer(int column) const {
  const int type = sqlite3_column_type(handle_.get(), column);
  if (type == SQLITE_FLOAT) return whole_of_real(sqlite3_column_double(handle_.get(), column));
  return type == SQLITE_TEXT ? whole_of_text(text(column)) : std::nullopt;
}

std::optional<double> Statement::real(int column) const {
  const int type = sqlite3_column_type(handle_.get(), column);
  if (type == SQLITE_FLOAT || type == SQLITE_INTEGER) {
    const double value = sqlite3_column_double(handle_.get(), column);
    if (std::isfinite(value)) return value;
    return std::nullopt;
  }
  if (type != SQLITE_TEXT) return std::nullopt;
  return finite_number(text(column));
}

std::string_view Statement::text(int column) const {
  const unsigned char* bytes = sqlite3_column_text(handle_.get(), column);
  if (bytes == nullptr) return {};
  return {reinterpret_cast<const char*>(bytes),
          static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column))};
}

Result<void> roll_back(const std::filesystem::path& path) {
  sqlite3* handle = nullptr;
  int code =
      sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  // The first read finds the journal of a writer that is gone, and undoes what it began.
  if (code == SQLITE_OK)
    code = sqlite3_exec(handle, "SELECT count(*) FROM sqlite_master", nullptr, nullptr, nullptr);
  const std::string detail = handle != nullptr ? sqlite3_errmsg(handle) : "out of memory";
  sqlite3_close_v2(handle);
  if (code == SQLITE_OK) return {};
  return std::unexpected(describe_sqlite(code, path.string(), detail.c_str()));
}

Result<Connection> Connection::open(const std::filesystem::path& path, bool immutable) {
  return open_as(std::filesystem::absolute(path).string(), immutable, path.string(), nullptr);
}

Result<Connection> Connection::open_nameless(const std::string& path, std::string name) {
  return open_as(path, true, std::move(name), nameless_files());
}

Result<Connection> Connection::open_as(const std::string& path, bool immutable, std::string name,
                                       const char* file_system) {
  sqlite3* raw = nullptr;
  // A URI so that `immutable` can be said; every character that means something in a URI is
  // escaped.
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#')
      uri += fmt::format("%{:02x}", static_cast<unsigned>(c));
    else
      uri += c;
  }
  if (immutable) uri += "?immutable=1";
  const int code = sqlite3_open_v2(
      uri.c_str(), &raw, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, file_system);
  Connection connection(raw, std::move(name));
  if (code != SQLITE_OK)
    return std::unexpected(describe_sqlite(code, connection.path_,
                                           raw != nullptr ? sqlite3_errmsg(raw) : "no memory"));
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, 64 << 20);  // no honest value of a trace is longer
  sqlite3_exec(raw, "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0", nullptr, nullptr, nullptr);
  return connection;
}

Result<Statement> Connection::prepare(const std::string& sql, std::string_view what) {
  std::string name = fmt::format("{}: {}", path_, what);
  sqlite3_stmt* raw = nullptr;
  const int code =
      sqlite3_prepare_v2(handle_.get(), sql.c_str(), static_cast<int>(sql.size()), &raw, nullptr);
  if (code != SQLITE_OK)
    return std::unexpected(describe_sqlite(code, (code & 0xFF) == SQLITE_NOTADB ? path_ : name,
                                           sqlite3_errmsg(handle_.get())));
  return Statement(raw, std::move(name));
}

Result<void> Connection::begin_read() {
  PERFLAB_TRY(Statement begin, prepare("BEGIN", "read transaction"));
  PERFLAB_TRY_VOID(begin.step());
  // BEGIN alone takes no lock; the first read does.
  PERFLAB_TRY(Statement touch, prepare("SELECT count(*) FROM sqlite_master", "table list"));
  PERFLAB_TRY_VOID(touch.step());
  return {};
}

}  // namespace perflab
