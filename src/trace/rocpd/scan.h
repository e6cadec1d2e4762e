// Scanning a table on all cores: fixed row-id ranges are decoded in parallel and handed over in
// order, so the result does not depend on the number of threads. Rows of other recordings in the
// same table are skipped.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/equal_bytes.h"
#include "base/parallel.h"
#include "trace/rocpd/file.h"

namespace perflab::trace::rocpd {

/// Row ids per unit of work: large enough to hide the query's start, small enough that a decoded
/// chunk is still in the cache of its core when it is handed over.
inline constexpr std::int64_t kRowsPerChunk = 8192;

/// The row-id ranges to scan; one unlimited range (nullopt) when ids are too sparse to cut, or the
/// table has none.
inline std::vector<std::optional<std::pair<std::int64_t, std::int64_t>>> scan_ranges(
    const Table& table, std::uint64_t file_bytes) {
  std::vector<std::optional<std::pair<std::int64_t, std::int64_t>>> ranges;
  if (!table.has_rowid) return {std::nullopt};
  if (table.max_rowid < table.min_rowid) return ranges;
  const std::uint64_t span =
      static_cast<std::uint64_t>(table.max_rowid) - static_cast<std::uint64_t>(table.min_rowid);
  // A row takes at least 8 bytes of the file: a wider span of ids is mostly holes.
  if (span / 4 > file_bytes / 8 + kRowsPerChunk) return {std::nullopt};
  for (std::int64_t low = table.min_rowid;;) {
    const std::int64_t high =
        table.max_rowid - low < kRowsPerChunk ? table.max_rowid : low + kRowsPerChunk - 1;
    ranges.emplace_back(std::pair{low, high});
    if (high == table.max_rowid) return ranges;
    low = high + 1;
  }
}

/// Most rows that a table can hold, from its row ids and the size of its file: for reserving memory
/// that is touched only when used.
inline std::size_t row_bound(const Table& table, std::uint64_t file_bytes) {
  if (!table.has_rowid || table.max_rowid < table.min_rowid) return 0;
  const std::uint64_t span =
      static_cast<std::uint64_t>(table.max_rowid) - static_cast<std::uint64_t>(table.min_rowid);
  return static_cast<std::size_t>(std::min(span, file_bytes / 16)) + 1;
}

/// Most rows of a table that are read of a file.
inline std::size_t rows_to_read(const File& file, const Table& table) {
  const std::size_t bound = row_bound(table, file.size_bytes());
  const auto wanted = file.wanted_ranges.find(table.name);
  if (wanted == file.wanted_ranges.end()) return bound;
  const auto ranges = static_cast<std::size_t>(std::ranges::count(wanted->second, true));
  return std::min(bound, ranges * static_cast<std::size_t>(kRowsPerChunk));
}

/// The ranges of them that are read; see File::wanted_ranges.
inline auto wanted_ranges(const File& file, const Table& table) {
  auto ranges = scan_ranges(table, file.size_bytes());
  const auto wanted = file.wanted_ranges.find(table.name);
  if (wanted == file.wanted_ranges.end()) return ranges;
  std::size_t index = 0;
  std::erase_if(ranges, [&](const auto&) { return !wanted->second[index++]; });
  return ranges;
}

/// Which rows of a table belong to the recording that is being read. Ids repeat between recordings:
/// every join is on (guid, id), and that holds because every row is checked here.
struct RowFilter {
  std::string_view guid;  ///< empty: the table set names no recording, all rows are meant
  std::span<const std::string> all_guids;  ///< of the table set
  std::atomic<std::uint64_t>* strangers =
      nullptr;  ///< counts rows of no known recording; null: counted elsewhere

  [[nodiscard, gnu::always_inline]] bool accepts(std::string_view row_guid) const {
    if (guid.size() >= 8 && row_guid.size() == guid.size() &&
        equal_bytes(row_guid.data(), guid.data(), guid.size())) [[likely]]
      return true;
    return accepts_slowly(row_guid);
  }
  [[nodiscard, gnu::noinline]] bool accepts_slowly(std::string_view row_guid) const {
    if (row_guid == guid) return true;
    if (strangers != nullptr && std::ranges::find(all_guids, row_guid) == all_guids.end())
      ++*strangers;
    return false;
  }
};

/// A table's rows of one recording, by ranges: from the table's pages, or by SQLite. Any thread
/// reads a range, each with its own worker number.
class TableScan {
 public:
  TableScan(File& file, const Table& table, const RowFilter& filter,
            std::span<const std::string_view> columns)
      : file_(file),
        table_(table),
        filter_(filter),
        ranges_(wanted_ranges(file, table)),
        wanted_(columns.begin(), columns.end()),
        statements_(file.workers()),
        readers_(file.workers()) {
    if (!filter.guid.empty() && table.has_column("guid")) {
      guid_column_ = static_cast<int>(wanted_.size());
      wanted_.emplace_back("guid");
    }
    if (!ranges_.empty()) pages_ = file.pages_of(table, wanted_, !ranges_.front());
  }

  [[nodiscard]] std::size_t ranges() const { return ranges_.size(); }

  /// Decodes the rows of a range into an empty chunk.
  template <class Chunk, class Decode>
  Result<void> by_sqlite(unsigned worker, std::size_t index, const Decode& decode, Chunk& chunk) {
    auto& statement = statements_[worker];
    if (!statement) {
      PERFLAB_TRY(statement, file_.select(worker, table_, wanted_, ranges_[index].has_value()));
    }
    statement->reset();
    if (ranges_[index]) {
      statement->bind(1, ranges_[index]->first);
      statement->bind(2, ranges_[index]->second);
    }
    while (true) {
      PERFLAB_TRY(const bool row, statement->step());
      if (!row) return {};
      if (guid_column_ >= 0 && !filter_.accepts(statement->text(guid_column_))) continue;
      decode(*statement, chunk);
    }
  }

  /// The same, or why SQLite has to be asked: what is in the chunk then is to be thrown away.
  template <class Chunk, class Decode>
  sqlite_pages::FromPages<void> from_pages(unsigned worker, std::size_t index, const Decode& decode,
                                           Chunk& chunk) {
    if (!pages_) return std::unexpected(pages_.error());
    auto& reader = readers_[worker];
    if (!reader) reader = std::make_unique<sqlite_pages::RowReader>(file_.page_file(), *pages_);
    const auto [low, high] = ranges_[index].value_or(std::pair{
        std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()});
    // Strangers are counted when it is sure that SQLite does not count them once more.
    std::atomic<std::uint64_t> strangers{0};
    RowFilter filter = filter_;
    if (filter.strangers != nullptr) filter.strangers = &strangers;
    const auto done = reader->read({low, high}, [&](const sqlite_pages::Row& row) {
      if (guid_column_ < 0 || filter.accepts(row.text(guid_column_))) decode(row, chunk);
    });
    if (done && filter.strangers != nullptr) *filter_.strangers += strangers;
    return done;
  }

 private:
  File& file_;
  const Table& table_;
  const RowFilter& filter_;
  std::vector<std::optional<std::pair<std::int64_t, std::int64_t>>> ranges_;
  std::vector<std::string_view> wanted_;
  int guid_column_ = -1;
  std::vector<std::optional<Statement>> statements_;  ///< by worker
  sqlite_pages::FromPages<sqlite_pages::TablePages> pages_ =
      std::unexpected(sqlite_pages::AskSqlite::not_wanted);
  std::vector<std::unique_ptr<sqlite_pages::RowReader>> readers_;  ///< by worker
};

/// Chunks that were committed, to be filled again: memory that is known is faster than fresh
/// memory.
template <class Chunk>
class ChunkPool {
 public:
  Chunk take() {
    const std::scoped_lock lock(mutex_);
    if (spare_.empty()) return {};
    Chunk chunk = std::move(spare_.back());
    spare_.pop_back();
    return chunk;
  }
  void give_back(Chunk&& chunk) {
    chunk.clear();
    const std::scoped_lock lock(mutex_);
    spare_.push_back(std::move(chunk));
  }

 private:
  std::mutex mutex_;
  std::vector<Chunk> spare_;
};

/// Scans the rows of one recording. `columns` are read as columns 0… of the row;
/// decode(row, chunk) is called for every row, on any thread, with a sqlite_pages::Row when the
/// pages can be read, else with a Statement; commit(chunk) once per range, in row-id order, one at
/// a time.
template <class Chunk, class Decode, class Commit>
Result<void> scan(File& file, const Table& table, const RowFilter& filter,
                  std::span<const std::string_view> columns, const Decode& decode,
                  const Commit& commit) {
  using Reason = std::optional<sqlite_pages::AskSqlite>;
  using Scanned = std::pair<Chunk, Reason>;
  TableScan rows(file, table, filter, columns);
  ChunkPool<Chunk> pool;
  const auto produce = [&](unsigned worker, std::size_t index) -> Result<Scanned> {
    Scanned scanned(pool.take(), std::nullopt);
    const auto done = rows.from_pages(worker, index, decode, scanned.first);
    if (done) return scanned;
    scanned.second = done.error();
    scanned.first.clear();
    PERFLAB_TRY_VOID(rows.by_sqlite(worker, index, decode, scanned.first));
    return scanned;
  };
  const auto consume = [&](std::size_t, Scanned&& scanned) -> Result<void> {
    ++file.ranges[{table.base, scanned.second}];
    commit(scanned.first);
    pool.give_back(std::move(scanned.first));
    file.meter.count();
    return {};
  };
  return parallel_ordered<Scanned>(rows.ranges(), file.workers(), produce, consume);
}

/// Scans a small table on the calling thread, row by row.
inline Result<void> for_each_row(File& file, const Table* table, const RowFilter& filter,
                                 std::span<const std::string_view> columns,
                                 const std::function<void(const Statement&)>& visit) {
  if (table == nullptr) return {};
  std::vector<std::string_view> wanted(columns.begin(), columns.end());
  const bool check_guid = !filter.guid.empty() && table->has_column("guid");
  if (check_guid) wanted.emplace_back("guid");
  PERFLAB_TRY(Statement rows, file.select(0, *table, wanted, false));
  while (true) {
    PERFLAB_TRY(const bool row, rows.step());
    if (!row) return {};
    if (check_guid && !filter.accepts(rows.text(static_cast<int>(columns.size())))) continue;
    visit(rows);
  }
}

}  // namespace perflab::trace::rocpd
