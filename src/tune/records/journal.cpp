// The journal's file: opened for appending, locked, and flushed after every line. write(2) of a
// whole line to a descriptor with O_APPEND is what a kill cannot interleave.
#include "tune/records/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/files.h"
#include "tune/records/journal_text.h"

namespace perflab::tune {
namespace {

std::unexpected<Error> cannot_write(const std::filesystem::path& file, std::string_view why) {
  return fail(ErrorCode::usage,
              fmt::format("the journal {} cannot be written: {}", file.string(), why));
}

/// Opens and locks; a file that is not there is made. -1 with an error otherwise.
Result<int> open_locked(const std::filesystem::path& file) {
  constexpr mode_t kMode = 0644;
  // O_NONBLOCK: opening a pipe must not wait for its other end.
  const int fd =
      ::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, kMode);
  if (fd < 0) return cannot_write(file, errno_text(errno));
  struct stat info{};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    return cannot_write(file, "it is not a file");
  }
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    ::close(fd);
    if (error != EWOULDBLOCK) return cannot_write(file, errno_text(error));
    return fail(ErrorCode::usage,
                fmt::format("the journal {} is in use by another process", file.string()),
                "wait for the other tuning to end, or name another --journal");
  }
  return fd;
}

/// One write(2); a part that was written is taken back.
Result<void> write_line(int fd, std::uint64_t size, std::string_view line,
                        const std::filesystem::path& file) {
  ssize_t written = 0;
  do written = ::write(fd, line.data(), line.size());
  while (written < 0 && errno == EINTR);
  const bool whole = written == static_cast<ssize_t>(line.size());
  const int error =
      written < 0 ? errno : ENOSPC;  // a file takes less than all only when it is full
  if (whole && ::fdatasync(fd) == 0) return {};
  const std::string why = errno_text(whole ? errno : error);
  if (!whole && ::ftruncate(fd, static_cast<off_t>(size)) != 0)
    return cannot_write(file, why + ", and a part of a line is left in it");
  return cannot_write(file, why);
}

/// A new name survives a power failure only when its folder is flushed too; where folders cannot
/// be flushed it is as good as it gets.
void flush_folder_of(const std::filesystem::path& file) {
  const std::filesystem::path parent = file.parent_path();
  const int fd = ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  (void)::fsync(fd);
  ::close(fd);
}

}  // namespace

Journal::Journal(Journal&& other) noexcept
    : path_(std::move(other.path_)),
      earlier_(std::move(other.earlier_)),
      fd_(std::exchange(other.fd_, -1)),
      size_(other.size_),
      torn_(other.torn_) {}

Journal::~Journal() {
  if (fd_ >= 0) ::close(fd_);  // and with it the lock
}

Result<Journal> Journal::open(const std::filesystem::path& file, const JournalKey& key,
                              bool resume) {
  Journal journal;
  journal.path_ = file;
  PERFLAB_TRY(journal.fd_, open_locked(file));
  PERFLAB_TRY(const std::string text, read_file(file));
  PERFLAB_TRY(JournalText found, parse_journal(text, file.string()));
  if (!resume && !found.entries.empty())
    return fail(ErrorCode::usage,
                fmt::format("the journal {} already holds {} evaluation{}", file.string(),
                            found.entries.size(), found.entries.size() == 1 ? "" : "s"),
                "--resume goes on with it; or name another --journal");
  if (!found.entries.empty() && *found.key != key)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: cannot be resumed: {}", file.string(),
                            journal_difference(*found.key, key)),
                "measurements of the two cannot be compared: name another --journal");
  journal.torn_ = found.torn;
  const bool fresh = found.entries.empty();
  journal.size_ = fresh ? 0 : found.whole_bytes;
  journal.earlier_ = std::move(found.entries);
  if (journal.size_ != text.size() &&
      ::ftruncate(journal.fd_, static_cast<off_t>(journal.size_)) != 0)
    return cannot_write(file, errno_text(errno));
  if (!fresh) return journal;
  const std::string header = journal_header(key);
  PERFLAB_TRY_VOID(write_line(journal.fd_, 0, header, file));
  journal.size_ = header.size();
  flush_folder_of(file);
  return journal;
}

Result<std::vector<JournalEntry>> Journal::read(const std::filesystem::path& file) {
  PERFLAB_TRY(const std::string text, read_file(file));
  PERFLAB_TRY(JournalText journal, parse_journal(text, file.string()));
  return std::move(journal.entries);
}

Result<void> Journal::append(const JournalEntry& entry) {
  PERFLAB_CHECK(fd_ >= 0);
  const std::string line = journal_line(entry);
  PERFLAB_TRY_VOID(write_line(fd_, size_, line, path_));
  size_ += line.size();
  return {};
}

}  // namespace perflab::tune
