// write(2) of a whole line to a descriptor with O_APPEND, which a kill cannot interleave, then
// fdatasync(2); flock(2) keeps a second process out.
#include "base/system/line_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/system/files.h"

namespace perflab {
namespace {

std::unexpected<Error> log_not_written(std::string_view what, const std::filesystem::path& file,
                                       std::string_view why) {
  return fail(ErrorCode::usage,
              fmt::format("{} {} cannot be written: {}", what, file.string(), why));
}

/// A new name survives a power failure only when its folder is flushed too; where folders cannot
/// be flushed it is as good as it gets.
void flush_parent_of(const std::filesystem::path& file) {
  const std::filesystem::path parent = file.parent_path();
  const int fd = ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  (void)::fsync(fd);
  ::close(fd);
}

}  // namespace

std::string_view whole_lines(std::string_view text) {
  const std::size_t last = text.rfind('\n');
  return last == std::string_view::npos ? std::string_view() : text.substr(0, last + 1);
}

LineLog::LineLog(LineLog&& other) noexcept
    : path_(std::move(other.path_)),
      what_(std::move(other.what_)),
      fd_(std::exchange(other.fd_, -1)),
      size_(other.size_) {}

LineLog::~LineLog() {
  if (fd_ >= 0) ::close(fd_);  // and with it the lock
}

Result<LineLog> LineLog::open(const std::filesystem::path& file, std::string_view what,
                              std::string_view in_use_remedy) {
  constexpr mode_t kMode = 0644;
  LineLog log;
  log.path_ = file;
  log.what_ = what;
  // O_NONBLOCK: opening a pipe must not wait for its other end.
  log.fd_ =
      ::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, kMode);
  if (log.fd_ < 0) return log_not_written(what, file, errno_text(errno));
  struct stat info{};
  if (::fstat(log.fd_, &info) != 0 || !S_ISREG(info.st_mode))
    return log_not_written(what, file, "it is not a file");
  if (::flock(log.fd_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return log_not_written(what, file, errno_text(errno));
    return fail(ErrorCode::usage,
                fmt::format("{} {} is in use by another process", what, file.string()),
                std::string(in_use_remedy));
  }
  log.size_ = static_cast<std::uint64_t>(info.st_size);
  return log;
}

Result<void> LineLog::keep(std::uint64_t bytes) {
  PERFLAB_CHECK(fd_ >= 0);
  struct stat info{};
  if (::fstat(fd_, &info) != 0) return log_not_written(what_, path_, errno_text(errno));
  size_ = bytes;
  if (static_cast<std::uint64_t>(info.st_size) <= bytes) return {};
  if (::ftruncate(fd_, static_cast<off_t>(bytes)) != 0)
    return log_not_written(what_, path_, errno_text(errno));
  return {};
}

Result<void> LineLog::append(std::string_view line) {
  PERFLAB_CHECK(fd_ >= 0 && line.ends_with('\n') && line.find('\n') == line.size() - 1);
  ssize_t written = 0;
  do written = ::write(fd_, line.data(), line.size());
  while (written < 0 && errno == EINTR);
  // A file takes less than all of it only when it is full.
  int error = written < 0 ? errno : ENOSPC;
  bool good = written == static_cast<ssize_t>(line.size());
  if (good && ::fdatasync(fd_) != 0) {
    error = errno;
    good = false;
  }
  if (!good && ::ftruncate(fd_, static_cast<off_t>(size_)) != 0)
    return log_not_written(what_, path_,
                           errno_text(error) + ", and a part of a line is left in it");
  if (!good) return log_not_written(what_, path_, errno_text(error));
  if (size_ == 0) flush_parent_of(path_);
  size_ += line.size();
  return {};
}

}  // namespace perflab
