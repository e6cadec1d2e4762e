// Interior pages, level by level from the root (docs/facts/sqlite_file.md "Trees of tables").
#include "base/sqlite_pages/table_tree.h"

#include <limits>

#include "base/sqlite_pages/bytes.h"

namespace perflab::sqlite_pages {
namespace {

/// SQLite's own limit of a cursor.
constexpr int kDeepest = 20;

/// Appends the children of an interior page whose row ids are above `below` and at most `last`.
bool add_children(const PageFile& file, const std::uint8_t* page, std::int64_t below,
                  std::int64_t last, bool first_of_level, std::vector<Leaf>& children) {
  constexpr std::uint32_t kHeader = 12, kSmallestCell = 5;
  const std::uint32_t cells = big_endian<std::uint16_t>(page + 3);
  if (page[0] != kTableInterior || cells == 0 || cells > most_cells(file.page_size()) ||
      kHeader + cells * 2 > file.usable())
    return false;
  std::int64_t before = below;
  bool any_before = !first_of_level;
  const auto add = [&](std::uint32_t child, std::int64_t key) {
    if (!file.can_be_of_table(child) || (any_before && key <= before) || key > last) return false;
    before = key;
    any_before = true;
    children.push_back({.last_rowid = key, .page = child});
    return true;
  };
  for (std::uint32_t i = 0; i < cells; ++i) {
    const std::uint32_t at = big_endian<std::uint16_t>(page + kHeader + i * 2);
    if (at < kHeader + cells * 2 || at + kSmallestCell > file.usable()) return false;
    std::uint64_t key = 0;
    const std::uint32_t size = read_varint(page + at + 4, key);
    if (at + 4 + size > file.usable() ||
        !add(big_endian<std::uint32_t>(page + at), static_cast<std::int64_t>(key)))
      return false;
  }
  return add(big_endian<std::uint32_t>(page + 8), last);
}

}  // namespace

FromPages<std::vector<Leaf>> leaves_of(const PageFile& file, std::uint32_t root) {
  if (!file.can_be_of_table(root)) return std::unexpected(AskSqlite::no_such_table);
  std::vector<Leaf> level = {{std::numeric_limits<std::int64_t>::max(), root}};
  std::vector<std::uint8_t> page(file.page_size() + kSlack);
  for (int depth = 0; depth < kDeepest; ++depth) {
    if (!file.read(level.front().page, 1, page.data()))
      return std::unexpected(AskSqlite::unreadable);
    if (page[0] == kTableLeaf) return level;
    if (depth == 0 && page[0] != kTableInterior) return std::unexpected(AskSqlite::no_such_table);
    std::vector<Leaf> children;
    for (std::size_t i = 0; i < level.size(); ++i) {
      if (i > 0 && !file.read(level[i].page, 1, page.data()))
        return std::unexpected(AskSqlite::unreadable);
      if (!add_children(file, page.data(), i == 0 ? 0 : level[i - 1].last_rowid,
                        level[i].last_rowid, i == 0, children) ||
          children.size() > file.pages())
        return std::unexpected(AskSqlite::damaged_tree);
    }
    level = std::move(children);
  }
  return std::unexpected(AskSqlite::damaged_tree);
}

}  // namespace perflab::sqlite_pages
