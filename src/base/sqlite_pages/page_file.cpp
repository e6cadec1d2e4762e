// The header of an SQLite file (docs/facts/sqlite_file.md "Header and pages"). What is not as
// SQLite writes it is left to SQLite.
#include "base/sqlite_pages/page_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/sqlite_pages/bytes.h"

namespace perflab::sqlite_pages {
namespace {

using HeaderBytes = std::array<std::uint8_t, 100>;

/// Copies bytes of a file; false: they are not all there.
bool read_at(int fd, std::uint64_t offset, std::uint64_t size, std::uint8_t* to) {
  while (size > 0) {
    const ssize_t got = ::pread(fd, to, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    const auto many = static_cast<std::uint64_t>(got);
    to += many;
    offset += many;
    size -= many;
  }
  return true;
}

bool is_non_empty(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && info.st_size > 0;
}

/// Versions, payload fractions and schema format are those that SQLite writes.
bool is_usual(const HeaderBytes& header) {
  const std::uint32_t schema_format = big_endian<std::uint32_t>(&header[44]);
  return std::memcmp(header.data(), "SQLite format 3", 16) == 0 && header[18] >= 1 &&
         header[18] <= 2 && header[19] == header[18] && header[21] == 64 && header[22] == 32 &&
         header[23] == 32 && schema_format >= 1 && schema_format <= 4;
}

}  // namespace

FromPages<PageFile> PageFile::open(const std::filesystem::path& path) {
  PageFile file;
  if (is_non_empty(path.string() + "-wal")) return std::unexpected(AskSqlite::write_ahead_log);
  if (is_non_empty(path.string() + "-journal")) return std::unexpected(AskSqlite::journal);
  file.fd_ = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  HeaderBytes header{};
  if (!file.fd_.open() || ::fstat(file.fd_.get(), &file.opened_) != 0 ||
      !S_ISREG(file.opened_.st_mode) || !read_at(file.fd_.get(), 0, header.size(), header.data()))
    return std::unexpected(AskSqlite::unreadable);
  if (!is_usual(header)) return std::unexpected(AskSqlite::unusual_header);

  const std::uint32_t size = big_endian<std::uint16_t>(&header[16]);
  file.page_size_ = size == 1 ? 65536 : size;
  file.usable_ = file.page_size_ - header[20];
  file.change_counter_ = big_endian<std::uint32_t>(&header[24]);
  file.pages_ = big_endian<std::uint32_t>(&header[28]);
  const auto bytes = static_cast<std::uint64_t>(file.opened_.st_size);
  if (file.page_size_ < 512 || !std::has_single_bit(file.page_size_) || file.usable_ < 480 ||
      big_endian<std::uint32_t>(&header[92]) != file.change_counter_ || file.pages_ == 0 ||
      std::uint64_t{file.pages_} * file.page_size_ > bytes)
    return std::unexpected(AskSqlite::unusual_header);
  if (big_endian<std::uint32_t>(&header[56]) != 1)
    return std::unexpected(AskSqlite::other_encoding);
  // The page with the bytes that are locked, at 1 GiB, is never used.
  file.lock_page_ = 0x4000'0000 / file.page_size_ + 1;
  return file;
}

bool PageFile::read(std::uint32_t first, std::uint32_t count, std::uint8_t* to) const {
  return read_at(fd_.get(), std::uint64_t{first - 1} * page_size_,
                 std::uint64_t{count} * page_size_, to);
}

bool PageFile::unchanged() const {
  struct stat now{};
  std::array<std::uint8_t, 4> counter{};
  return ::fstat(fd_.get(), &now) == 0 && now.st_size == opened_.st_size &&
         now.st_mtim.tv_sec == opened_.st_mtim.tv_sec &&
         now.st_mtim.tv_nsec == opened_.st_mtim.tv_nsec &&
         read_at(fd_.get(), 24, counter.size(), counter.data()) &&
         big_endian<std::uint32_t>(counter.data()) == change_counter_;
}

}  // namespace perflab::sqlite_pages
