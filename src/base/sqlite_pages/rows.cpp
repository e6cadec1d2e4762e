// Leaves of tables (docs/facts/sqlite_file.md "Trees of tables"), and the values that are not plain
// integers.
#include "base/sqlite_pages/rows.h"

#include <bit>
#include <cmath>

#include "base/text/numbers.h"

namespace perflab::sqlite_pages {

double Row::stored_real(const Place& at) const {
  return std::bit_cast<double>(big_endian<std::uint64_t>(record_ + at.begin));
}

bool Row::is_null(int column) const {
  const Place& at = place(column);
  // SQLite has no NaN.
  return at.held == Held::null || (at.held == Held::real && std::isnan(stored_real(at)));
}

bool Row::slow_integer(const Place& at, std::int64_t& value) const {
  std::optional<std::int64_t> whole;
  switch (at.held) {
    case Held::real:
      whole = whole_of_real(stored_real(at));
      break;
    case Held::whole_real:
      whole = whole_of_real(static_cast<double>(at.integer(record_)));
      break;
    case Held::text:
      whole = whole_of_text({reinterpret_cast<const char*>(record_ + at.begin), at.end - at.begin});
      break;
    case Held::null:
    case Held::bytes:
    case Held::integer:
    case Held::rowid:
      break;
  }
  if (whole) value = *whole;
  return whole.has_value();
}

std::optional<double> Row::real(int column) const {
  const Place& at = place(column);
  switch (at.held) {
    case Held::real: {
      const double value = stored_real(at);
      return std::isfinite(value) ? std::optional(value) : std::nullopt;
    }
    case Held::integer:
    case Held::whole_real:
      return static_cast<double>(at.integer(record_));
    case Held::rowid:
      return static_cast<double>(rowid_);
    case Held::text:
      return finite_number(text(column));
    case Held::null:
    case Held::bytes:
      break;
  }
  return std::nullopt;
}

std::uint32_t RowReader::run_from(LeafAt leaf, std::int64_t high) const {
  constexpr std::uint32_t kBytesAtOnce = 1 << 18, kFarthest = 2;
  const std::uint32_t first = leaf->page;
  const std::uint32_t most = std::max(1U, kBytesAtOnce / file_.page_size());
  std::uint32_t last = first;
  for (++leaf; leaf != table_.leaves.end() && (leaf - 1)->last_rowid < high && leaf->page > last &&
               leaf->page - last <= kFarthest && leaf->page - first < most;
       ++leaf)
    last = leaf->page;
  return last - first + 1;
}

std::optional<std::uint32_t> RowReader::cells_of(const std::uint8_t* page) const {
  const std::uint32_t cells = big_endian<std::uint16_t>(page + 3);
  if (page[0] != kTableLeaf || cells > most_cells(file_.page_size()) ||
      kLeafHeader + cells * 2 > file_.usable() || (cells == 0 && table_.leaves.size() > 1))
    return std::nullopt;
  return cells;
}

std::uint32_t RowReader::local_bytes(std::uint64_t payload) const {
  const std::uint64_t usable = file_.usable();
  const std::uint64_t least = (usable - 12) * 32 / 255 - 23;
  const std::uint64_t wished = least + (payload - least) % (usable - 4);
  return static_cast<std::uint32_t>(wished <= usable - 35 ? wished : least);
}

}  // namespace perflab::sqlite_pages
