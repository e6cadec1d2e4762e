// Checks before reading (SQLite file header: https://www.sqlite.org/fileformat.html section 1.3),
// table discovery.
#include "trace/rocpd/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/system/files.h"
#include "base/system/network_file_system.h"

namespace perflab::trace::rocpd {
namespace {

namespace fs = std::filesystem;

/// Base names of the tables that are read (docs/facts/rocpd.md "Columns").
constexpr std::array<std::string_view, 16> kBases = {
    "metadata",        "string",           "info_node",          "info_process",
    "info_thread",     "info_agent",       "info_queue",         "info_stream",
    "info_pmc",        "info_code_object", "info_kernel_symbol", "event",
    "kernel_dispatch", "region",           "memory_copy",        "pmc_event"};
constexpr std::array<std::string_view, 3> kMoreBases = {"memory_allocate", "sample", "arg"};
/// Tables of the format that rocprofiler wrote until 2024.
constexpr std::array<std::string_view, 3> kOldTables = {"rocpd_op", "rocpd_api", "rocpd_kernelapi"};

struct Header {
  std::uint32_t page_size = 0, change_counter = 0, page_count = 0, version_valid_for = 0;
};

std::uint32_t big_endian(const unsigned char* bytes) {
  return (std::uint32_t{bytes[0]} << 24) | (std::uint32_t{bytes[1]} << 16) |
         (std::uint32_t{bytes[2]} << 8) | std::uint32_t{bytes[3]};
}

/// Reads the 100-byte header; nullopt when the bytes are not those of an SQLite 3 file.
std::optional<Header> read_header(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  std::array<unsigned char, 100> bytes{};
  const ssize_t got = ::pread(fd, bytes.data(), bytes.size(), 0);
  ::close(fd);
  if (got != static_cast<ssize_t>(bytes.size()) ||
      std::memcmp(bytes.data(), "SQLite format 3", 16) != 0)
    return std::nullopt;
  Header header;
  header.page_size = (std::uint32_t{bytes[16]} << 8) | bytes[17];
  if (header.page_size == 1) header.page_size = 65536;
  header.change_counter = big_endian(&bytes[24]);
  header.page_count = big_endian(&bytes[28]);
  header.version_valid_for = big_endian(&bytes[92]);
  return header;
}

bool is_non_empty(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && info.st_size > 0;
}

/// The file in which a writer keeps what is not in the database yet, or not for good: a rollback
/// journal or a write-ahead log. Empty: there is none.
std::string left_by_writer(const std::string& path) {
  for (const char* end : {"-journal", "-wal"})
    if (is_non_empty(path + end)) return path + end;
  return {};
}

std::unexpected<Error> bad(std::string message, std::string remedy = {}) {
  return fail(ErrorCode::bad_input, std::move(message), std::move(remedy));
}

/// Everything that can be said about a path without SQLite. Returns the file's size.
Result<std::uint64_t> check_path(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return bad(fmt::format("{}: {}", path, errno_text(errno)));
  if (S_ISDIR(info.st_mode))
    return bad(fmt::format("{}: is a folder, not a trace database", path),
               "name the database files in it (…_results.db)");
  if (!S_ISREG(info.st_mode))
    return bad(fmt::format("{}: is not a regular file", path),
               "name a database file (…_results.db)");
  if (::access(path.c_str(), R_OK) != 0) return bad(fmt::format("{}: {}", path, errno_text(errno)));
  if (info.st_size == 0)
    return bad(fmt::format("{}: is empty (0 bytes)", path),
               "the profiler did not finish writing it: run the profile again");
  return static_cast<std::uint64_t>(info.st_size);
}

/// What the SQLite header tells: another format, a truncated file, a writer at work. `opened`:
/// where the database is read that `path` names.
Result<Header> check_header(const std::string& path, const std::string& opened,
                            std::uint64_t size) {
  const std::optional<Header> header = read_header(opened);
  if (!header)
    return bad(fmt::format("{}: is not an SQLite database", path),
               "give a rocpd database (…_results.db): rocprofv3 writes it with -f rocpd");
  if (const std::string left = left_by_writer(path); !left.empty()) {
    return bad(fmt::format("{}: the database is being written: {} lies beside it", path, left),
               "wait until the profiled program has ended, then run again");
  }
  const std::uint64_t expected = std::uint64_t{header->page_size} * header->page_count;
  if (header->change_counter == header->version_valid_for && size < expected)
    return bad(fmt::format("{}: the database is truncated: {} of {} bytes are there", path, size,
                           expected),
               "copy it again, or run the profile again");
  return *header;
}

bool is_safe_identifier(std::string_view name) {
  return !name.empty() && name.size() <= 160 && std::ranges::all_of(name, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  });
}

/// Base and suffix of a table name: "rocpd_event_12ab" is {"event", "_12ab"}.
std::optional<std::pair<std::string_view, std::string_view>> split_name(std::string_view name) {
  constexpr std::string_view kPrefix = "rocpd_";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const std::string_view rest = name.substr(kPrefix.size());
  const auto matches = [&](std::string_view base) {
    return rest.starts_with(base) && (rest.size() == base.size() || rest[base.size()] == '_');
  };
  for (const auto base : kBases)
    if (matches(base)) return std::pair{base, rest.substr(base.size())};
  for (const auto base : kMoreBases)
    if (matches(base)) return std::pair{base, rest.substr(base.size())};
  return std::nullopt;
}

}  // namespace

bool Table::has_column(std::string_view column) const {
  return std::ranges::find(columns, column) != columns.end();
}

const Table* TableSet::find(std::string_view base) const {
  const auto found = tables.find(base);
  return found == tables.end() ? nullptr : &found->second;
}

Result<File> File::open(const fs::path& path, unsigned workers, const TellProgress& progress) {
  File file;
  file.path_ = file.opened_path_ = path.string();
  PERFLAB_TRY(file.size_, check_path(file.path_));
  PERFLAB_TRY(file.unpacked_, UnpackedDatabase::of(path, progress));
  if (file.unpacked_) {
    file.opened_path_ = file.unpacked_->path();
    file.size_ = file.unpacked_->bytes();
  }
  PERFLAB_TRY(const Header header, check_header(file.path_, file.opened_path_, file.size_));
  file.change_counter_ = header.change_counter;
  // Locks of network file systems may hang or not be there: nobody writes to a recording, and that
  // its writer is gone was seen above and is seen again at the end (check_unchanged).
  file.on_network_ = !file.unpacked_ && !network_file_system_of(path).empty();
  bool locked = !file.on_network_;
  for (unsigned worker = 0; worker < std::max(1U, workers); ++worker) {
    PERFLAB_TRY(const bool with_locks, file.connect());
    locked = locked && with_locks;
  }
  if (locked) file.page_file_ = sqlite_pages::PageFile::open(file.opened_path_);
  PERFLAB_TRY_VOID(file.discover_tables());
  return file;
}

/// Adds a connection in a read transaction, and tells whether nobody can write meanwhile.
Result<bool> File::connect() {
  Result<Connection> opened = unpacked_ ? Connection::open_nameless(opened_path_, path_)
                                        : Connection::open(path_, on_network_);
  Result<void> begun =
      opened ? opened->begin_read() : Result<void>(std::unexpected(opened.error()));
  const bool locked = begun.has_value();
  if (!begun) {
    // A database in WAL mode in a folder that cannot be written has nowhere to put its lock file.
    const fs::path folder = fs::path(path_).parent_path();
    Result<Connection> immutable = Connection::open(path_, true);
    if (unpacked_ || ::access(folder.empty() ? "." : folder.c_str(), W_OK) == 0 || !immutable ||
        !immutable->begin_read())
      return std::unexpected(std::move(begun).error());
    opened = std::move(immutable);
  }
  connections_.push_back(std::move(*opened));
  return locked;
}

Result<void> File::discover_tables() {
  PERFLAB_TRY(Statement list,
              connections_[0].prepare("SELECT name FROM sqlite_master WHERE type='table' AND name "
                                      "LIKE 'rocpd%' ORDER BY name",
                                      "table list"));
  std::map<std::string, TableSet, std::less<>> sets;
  bool old_format = false;
  while (true) {
    PERFLAB_TRY(const bool row, list.step());
    if (!row) break;
    const std::string name(list.text(0));
    old_format = old_format || std::ranges::find(kOldTables, name) != kOldTables.end();
    const auto parts = split_name(name);
    if (!parts) continue;
    if (!is_safe_identifier(name)) {
      ++rejected_tables_;
      continue;
    }
    TableSet& set = sets[std::string(parts->second)];
    set.suffix = parts->second;
    Table table{.name = name, .base = std::string(parts->first), .columns = {}};
    PERFLAB_TRY_VOID(describe_table(table));
    set.tables.emplace(table.base, std::move(table));
  }
  for (auto& [suffix, set] : sets) {
    if (set.find("kernel_dispatch") == nullptr && set.find("info_process") == nullptr &&
        set.find("region") == nullptr)
      continue;  // a lone metadata or string table is no recording
    PERFLAB_TRY_VOID(read_metadata(set));
    PERFLAB_TRY_VOID(find_guids(set));
    sets_.push_back(std::move(set));
  }
  if (!sets_.empty()) return {};
  if (old_format)
    return bad(fmt::format("{}: is in the rocpd format of 2023 (tables rocpd_op, rocpd_api), which "
                           "rocm-perf does not read",
                           path_),
               "record again with rocprofv3 -f rocpd (ROCm 7 or newer)");
  return bad(fmt::format("{}: is an SQLite database without rocpd tables", path_),
             "record with rocprofv3 -f rocpd, and give the …_results.db file");
}

Result<void> File::describe_table(Table& table) {
  PERFLAB_TRY(
      Statement columns,
      connections_[0].prepare("SELECT name, pk, type FROM pragma_table_info(?1)", table.name));
  columns.bind(1, table.name);
  bool shadowed = false;
  std::int64_t key_columns = 0;
  while (true) {
    PERFLAB_TRY(const bool row, columns.step());
    if (!row) break;
    table.columns.emplace_back(columns.text(0));
    // SQLite compares names without case.
    shadowed = shadowed || sqlite3_stricmp(table.columns.back().c_str(), "_rowid_") == 0;
    // The key of several columns, or of another type, is a column as others.
    if (columns.integer(1).value_or(0) == 0) continue;
    ++key_columns;
    table.id_is_rowid = table.columns.back() == "id" &&
                        sqlite3_stricmp(std::string(columns.text(2)).c_str(), "INTEGER") == 0;
  }
  table.id_is_rowid = table.id_is_rowid && key_columns == 1;
  if (shadowed) return {};
  // A table WITHOUT ROWID does not know the name: it is then scanned in one piece.
  Result<Statement> bounds = connections_[0].prepare(
      fmt::format("SELECT (SELECT min(_rowid_) FROM \"{0}\"), (SELECT max(_rowid_) FROM \"{0}\")",
                  table.name),
      table.name);
  if (!bounds) return {};
  PERFLAB_TRY(const bool row, bounds->step());
  const auto low = row ? bounds->integer(0) : std::nullopt;
  const auto high = row ? bounds->integer(1) : std::nullopt;
  table.has_rowid = true;
  if (low && high) {
    table.min_rowid = *low;
    table.max_rowid = *high;
  }
  return {};
}

Result<void> File::read_metadata(TableSet& set) {
  set.schema_version = "unknown";
  set.collector = "rocprofv3";
  const Table* table = set.find("metadata");
  if (table == nullptr) return {};
  constexpr std::array<std::string_view, 2> kColumns = {"tag", "value"};
  PERFLAB_TRY(Statement rows, select(0, *table, kColumns, false));
  while (true) {
    PERFLAB_TRY(const bool row, rows.step());
    if (!row) break;
    const std::string_view tag = rows.text(0);
    if (tag == "schema_version") set.schema_version = rows.text(1);
    if (tag == "synthetic") set.synthetic = rows.text(1);
    if (tag == "upid") set.collector = "rocprofiler-systems";
    if (tag == "guid" && !rows.text(1).empty()) set.guids.emplace_back(rows.text(1));
  }
  const std::string_view major =
      std::string_view(set.schema_version).substr(0, set.schema_version.find('.'));
  if (set.schema_version != "unknown" && major != "3")
    return bad(fmt::format("{}: is rocpd schema {}; this version reads schema 3", path_,
                           set.schema_version),
               "update rocm-perf");
  return {};
}

Result<void> File::find_guids(TableSet& set) {
  // The process table names every recording; without it the first table that has rows does.
  for (const std::string_view base : {"info_process", "kernel_dispatch", "region"}) {
    const Table* table = set.find(base);
    if (table == nullptr || !table->has_column("guid")) continue;
    PERFLAB_TRY(Statement rows,
                connections_[0].prepare(
                    fmt::format("SELECT DISTINCT guid FROM \"{}\"", table->name), table->name));
    std::vector<std::string> found;
    while (true) {
      PERFLAB_TRY(const bool row, rows.step());
      if (!row) break;
      if (!rows.text(0).empty()) found.emplace_back(rows.text(0));
    }
    if (found.empty()) continue;
    set.guids = std::move(found);
    break;
  }
  std::ranges::sort(set.guids);
  set.guids.erase(std::ranges::unique(set.guids).begin(), set.guids.end());
  if (set.guids.empty()) set.guids.emplace_back();
  return {};
}

Result<Statement> File::select(unsigned worker, const Table& table,
                               std::span<const std::string_view> columns, bool ranged) {
  PERFLAB_CHECK(is_safe_identifier(table.name));
  std::string sql = "SELECT ";
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) sql += ", ";
    sql += table.has_column(columns[i]) ? fmt::format("\"{}\"", columns[i]) : "NULL";
  }
  sql += fmt::format(" FROM \"{}\"", table.name);
  if (ranged) sql += " WHERE _rowid_ BETWEEN ?1 AND ?2";
  return connections_[worker].prepare(sql, table.name);
}

sqlite_pages::FromPages<sqlite_pages::TablePages> File::pages_of(
    const Table& table, std::span<const std::string_view> columns, bool all_rows) {
  using sqlite_pages::AskSqlite;
  if (!page_file_) return std::unexpected(page_file_.error());
  auto layout = sqlite_pages::layout_of(connections_[0], table.name, columns);
  if (!layout) return std::unexpected(layout.error());
  if (all_rows && layout->indexed) return std::unexpected(AskSqlite::indexed);
  auto leaves = sqlite_pages::leaves_of(*page_file_, layout->root);
  if (!leaves) return std::unexpected(leaves.error());
  return sqlite_pages::TablePages{.layout = std::move(*layout), .leaves = std::move(*leaves)};
}

Result<void> File::check_unchanged() const {
  const bool pages_unchanged = !page_file_ || page_file_->unchanged();
  const std::optional<Header> header = read_header(opened_path_);
  const bool unlocked_writer = on_network_ && !left_by_writer(path_).empty();
  if (pages_unchanged && header && header->change_counter == change_counter_ && !unlocked_writer)
    return {};
  return bad(fmt::format("{}: the database was changed while it was being read", path_),
             "wait until the profiled program has ended, then run again");
}

}  // namespace perflab::trace::rocpd
