// POSIX files behind capture/spool.h: open(2) with O_TMPFILE, or a file that is unlinked at once.
#include "capture/spool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/system/files.h"

namespace perflab::capture {
namespace {

constexpr std::size_t kSpoolBufferBytes = std::size_t{1} << 18;

int open_nameless(const std::filesystem::path& folder) {
  const int direct = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (direct >= 0) return direct;
  std::string name = (folder / "spool-XXXXXX").string();
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

}  // namespace

std::unexpected<Error> cannot_write(const std::filesystem::path& what, int error_number) {
  const bool full = error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG;
  return fail(ErrorCode::usage,
              fmt::format("{}: cannot be written: {}", what.string(), errno_text(error_number)),
              full ? "make room, or choose a folder on another disk" : "");
}

int write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return 0;
}

int read_all_at(int descriptor, std::uint64_t offset, std::span<std::byte> out) {
  while (!out.empty()) {
    const ssize_t got = ::pread(descriptor, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) return -1;
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return 0;
}

Spool::~Spool() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> Spool::spill() {
  if (descriptor_ < 0) descriptor_ = open_nameless(folder_);
  const int error = descriptor_ < 0 ? errno : write_all(descriptor_, buffer_);
  if (error != 0) return cannot_write(folder_, error);
  in_file_ += buffer_.size();
  buffer_.clear();
  return {};
}

Result<void> Spool::add(std::span<const std::byte> bytes) {
  if (buffer_.size() + bytes.size() > kSpoolBufferBytes && !buffer_.empty())
    PERFLAB_TRY_VOID(spill());
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  return {};
}

Result<void> Spool::read(std::uint64_t offset, std::span<std::byte> out) const {
  PERFLAB_CHECK(offset <= size() && out.size() <= size() - offset);
  if (offset < in_file_) {
    const auto first = out.first(std::min<std::uint64_t>(out.size(), in_file_ - offset));
    const int error = read_all_at(descriptor_, offset, first);
    if (error != 0)
      return fail(ErrorCode::usage,
                  fmt::format("{}: what was set aside there cannot be read: {}", folder_.string(),
                              error > 0 ? errno_text(error) : "it is shorter"));
    out = out.subspan(first.size());
    offset += first.size();
  }
  if (!out.empty()) std::memcpy(out.data(), buffer_.data() + (offset - in_file_), out.size());
  return {};
}

void Spool::clear() {
  buffer_.clear();
  in_file_ = 0;
  if (descriptor_ >= 0 &&
      (::ftruncate(descriptor_, 0) != 0 || ::lseek(descriptor_, 0, SEEK_SET) != 0))
    ::close(std::exchange(descriptor_, -1));
}

}  // namespace perflab::capture
