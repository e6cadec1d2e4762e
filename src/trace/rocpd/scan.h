// Scanning a table on all cores: fixed row-id ranges are decoded in parallel and handed over in
// order, so the result does not depend on the number of threads. Rows of other recordings in the
// same table are skipped.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "trace/rocpd/file.h"

namespace perflab::trace::rocpd {

/// Row ids per unit of work: large enough to hide the query's start, small enough to keep waiting
/// chunks small.
inline constexpr std::int64_t kRowsPerChunk = 32768;

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

/// Makes room for `extra` more rows at once, but never by less than doubling.
template <class T>
void reserve_more(std::vector<T>& column, std::size_t extra) {
  const std::size_t wanted = column.size() + extra;
  if (column.capacity() < wanted)
    column.reserve(column.empty() ? wanted : std::max(wanted, column.capacity()));
}

/// Which rows of a table belong to the recording that is being read. Ids repeat between recordings:
/// every join is on (guid, id), and that holds because every row is checked here.
struct RowFilter {
  std::string_view guid;  ///< empty: the table set names no recording, all rows are meant
  std::span<const std::string> all_guids;  ///< of the table set
  std::atomic<std::uint64_t>* strangers =
      nullptr;  ///< counts rows of no known recording; null: counted elsewhere

  [[nodiscard]] bool accepts(std::string_view row_guid) const {
    if (row_guid == guid) return true;
    if (strangers != nullptr && std::ranges::find(all_guids, row_guid) == all_guids.end())
      ++*strangers;
    return false;
  }
};

/// Scans the rows of one recording. `columns` are read as columns 0… of the statement;
/// decode(statement, chunk) is called for every row, on any thread; commit(chunk) once per range,
/// in row-id order, one at a time. `condition`: see File::select.
template <class Chunk>
Result<void> scan(File& file, const Table& table, const RowFilter& filter,
                  std::span<const std::string_view> columns,
                  const std::function<void(const Statement&, Chunk&)>& decode,
                  const std::function<void(Chunk&&)>& commit, std::string_view condition = {}) {
  const auto ranges = scan_ranges(table, file.size_bytes());
  std::vector<std::string_view> wanted(columns.begin(), columns.end());
  const bool check_guid = !filter.guid.empty() && table.has_column("guid");
  if (check_guid) wanted.emplace_back("guid");
  const int guid_column = static_cast<int>(columns.size());
  std::vector<std::optional<Statement>> statements(file.workers());

  const auto produce = [&](unsigned worker, std::size_t index) -> Result<Chunk> {
    auto& statement = statements[worker];
    if (!statement) {
      PERFLAB_TRY(statement,
                  file.select(worker, table, wanted, ranges[index].has_value(), condition));
    }
    statement->reset();
    if (ranges[index]) {
      statement->bind(1, ranges[index]->first);
      statement->bind(2, ranges[index]->second);
    }
    Chunk chunk;
    while (true) {
      PERFLAB_TRY(const bool row, statement->step());
      if (!row) return chunk;
      if (check_guid && !filter.accepts(statement->text(guid_column))) continue;
      decode(*statement, chunk);
    }
  };
  const auto consume = [&](std::size_t, Chunk&& chunk) -> Result<void> {
    commit(std::move(chunk));
    file.meter.count();
    return {};
  };
  return parallel_ordered<Chunk>(ranges.size(), file.workers(), produce, consume);
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
