// Serial types of a record's header (docs/facts/sqlite_file.md "Records").
#include "base/sqlite_pages/shape.h"

#include <algorithm>

namespace perflab::sqlite_pages {
namespace {

/// Longer headers and values are damage, or SQLite's to refuse.
constexpr std::uint64_t kLongestHeader = 16384;
constexpr std::uint64_t kLargestType = 1 << 21;

/// Bytes of the integers of serial types 0 to 6.
constexpr std::array<std::uint8_t, 7> kIntegerBytes = {0, 1, 2, 3, 4, 6, 8};

/// The value of a serial type that begins at `begin`; its `end` is set for all of them.
Place place_of(std::uint64_t type, std::uint32_t begin, const WantedColumn& column) {
  Place place{.begin = begin, .end = begin};
  if (type == 0) return place;
  if (type <= 6 || type == 8 || type == 9) {
    const std::uint32_t bytes = type <= 6 ? kIntegerBytes[type] : 0;
    place.end += bytes;
    place.mask = bytes > 0 ? -1 : 0;
    place.shift = bytes > 0 ? static_cast<std::uint8_t>(64 - 8 * bytes) : std::uint8_t{0};
    place.constant = type == 9 ? 1 : 0;
    place.held = column.is_real ? Held::whole_real : Held::integer;
  } else if (type == 7) {
    place.end += 8;
    place.held = Held::real;
  } else {
    place.end += static_cast<std::uint32_t>((type - 12) / 2);
    place.held = type % 2 == 0 ? Held::bytes : Held::text;
  }
  return place;
}

}  // namespace

FromPages<const Shape*> Shapes::unusual(const std::uint8_t* record, std::uint32_t local) {
  const auto made = make(record, local, unusual_);
  if (!made) return std::unexpected(made.error());
  return &unusual_;
}

FromPages<void> Shapes::make(const std::uint8_t* record, std::uint32_t local, Shape& shape) const {
  constexpr auto kDamaged = std::unexpected<AskSqlite>(AskSqlite::damaged_page);
  std::uint64_t header = 0;
  std::uint32_t at = read_varint(record, header);
  if (header < at || header > local || header > kLongestHeader) return kDamaged;
  std::vector<Place> all;
  // All types are read, wanted or not: that their values fill the record is what tells a header
  // from other bytes.
  auto end = static_cast<std::uint32_t>(header);
  while (at < header) {
    std::uint64_t type = 0;
    at += read_varint(record + at, type);
    if (at > header || type == 10 || type == 11) return kDamaged;
    if (type > kLargestType) return std::unexpected(AskSqlite::overflow);
    const auto wanted = std::ranges::find(columns_, all.size(), &WantedColumn::place);
    all.push_back(place_of(type, end, wanted == columns_.end() ? WantedColumn{} : *wanted));
    end = all.back().end;
    if (end > (1U << 30)) return kDamaged;
  }
  shape = {.payload = end, .needed = header, .places = {}};
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const WantedColumn& column = columns_[i];
    Place& place = shape.places[i];
    if (column.is_rowid) {
      place.held = Held::rowid;
    } else if (column.place < all.size()) {
      place = all[column.place];
      shape.needed = std::max<std::uint64_t>(shape.needed, place.end);
    } else if (column.has_default) {
      return std::unexpected(AskSqlite::column_default);
    }
  }
  return {};
}

}  // namespace perflab::sqlite_pages
