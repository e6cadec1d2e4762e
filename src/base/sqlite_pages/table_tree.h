// The leaves of a table's b-tree in the order of their row ids, from its interior pages
// (https://www.sqlite.org/fileformat2.html section 1.6).
#pragma once

#include <cstdint>
#include <vector>

#include "base/sqlite_pages/page_file.h"

namespace perflab::sqlite_pages {

/// A leaf: its row ids are above those of the leaf before it, and not above `last_rowid`.
struct Leaf {
  std::int64_t last_rowid;
  std::uint32_t page;
};

/// All leaves of the table whose tree has this root; they are at one depth, and no page is reached
/// twice (row ids of leaves would overlap). What stands in the leaves is not looked at.
FromPages<std::vector<Leaf>> leaves_of(const PageFile& file, std::uint32_t root);

}  // namespace perflab::sqlite_pages
