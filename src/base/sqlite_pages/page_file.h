// An SQLite 3 file as numbered pages (https://www.sqlite.org/fileformat2.html section 1.3). Pages
// are copied out with pread(2), not mapped: a file that somebody cuts short then is an error, not a
// SIGBUS, what is resident stays small, and neither is faster here (bench/README.md).
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>

#include "base/sqlite_pages/ask_sqlite.h"
#include "base/system/descriptor.h"

namespace perflab::sqlite_pages {

/// An opened file whose header is one that the other units can read. Any thread may read from it.
/// Closing it drops all locks that this process has on the file (POSIX): it has to outlive the
/// connections of SQLite.
class PageFile {
 public:
  /// To be opened when SQLite is in a read transaction: what lies beside the file is looked at, and
  /// may change before.
  static FromPages<PageFile> open(const std::filesystem::path& path);

  [[nodiscard]] std::uint32_t page_size() const { return page_size_; }
  /// Bytes of a page without those that are reserved for extensions at its end.
  [[nodiscard]] std::uint32_t usable() const { return usable_; }
  /// Pages are numbered from 1 to this.
  [[nodiscard]] std::uint32_t pages() const { return pages_; }
  /// Whether a page can be part of a table's tree, but for its root at page 1.
  [[nodiscard]] bool can_be_of_table(std::uint32_t page) const {
    return page > 1 && page <= pages_ && page != lock_page_;
  }

  /// Copies `count` pages from `first` on, all of them existing. False: could not be read.
  [[nodiscard]] bool read(std::uint32_t first, std::uint32_t count, std::uint8_t* to) const;

  /// Whether change counter, size and time of modification are what they were when it was opened.
  [[nodiscard]] bool unchanged() const;

 private:
  PageFile() = default;

  Descriptor fd_;
  struct stat opened_{};
  std::uint32_t change_counter_ = 0;
  std::uint32_t page_size_ = 0, usable_ = 0, pages_ = 0, lock_page_ = 0;
};

}  // namespace perflab::sqlite_pages
