// POSIX file access behind base/system/files.h; write + fsync + rename is the portable recipe for
// an atomic replacement.
#include "base/system/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "base/system/descriptor.h"

namespace perflab {
namespace {

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

struct OpenFile {
  Descriptor descriptor;
  std::uint64_t bytes = 0;
};

Result<OpenFile> open_to_read(const std::filesystem::path& path) {
  // O_NONBLOCK: opening a pipe that nobody writes to must not wait.
  OpenFile file{.descriptor = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK))};
  if (!file.descriptor.open())
    return fail(ErrorCode::bad_input,
                fmt::format("{}: cannot be opened: {}", path.string(), errno_text(errno)));
  struct stat info{};
  if (::fstat(file.descriptor.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return fail(ErrorCode::bad_input, fmt::format("{}: is not a file", path.string()));
  file.bytes = static_cast<std::uint64_t>(info.st_size);
  return file;
}

/// read(2); 0: the end.
Result<std::size_t> read_some(const Descriptor& file, char* to, std::size_t size,
                              const std::filesystem::path& path) {
  while (true) {
    const ssize_t got = ::read(file.get(), to, size);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR)
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: cannot be read: {}", path.string(), errno_text(errno)));
  }
}

/// What is in a place, in words.
std::string_view kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

/// The path behind its links, also where the last one leads to nothing yet.
std::filesystem::path behind_links(std::filesystem::path path) {
  constexpr int kMostLinks = 40;  // the kernel's own limit (path_resolution(7))
  std::error_code error;
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(path, error); ++i) {
    const std::filesystem::path target = std::filesystem::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / target;  // an absolute target replaces all of it
  }
  return path;
}

}  // namespace

std::string errno_text(int error_number) {
  std::string text = std::strerror(error_number);
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])) != 0)
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

Result<std::string> read_file(const std::filesystem::path& path, std::uint64_t max_bytes) {
  PERFLAB_TRY(const OpenFile file, open_to_read(path));
  if (file.bytes > max_bytes)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: is larger than {} bytes", path.string(), max_bytes));
  // Parsers pad their texts: with room behind the end that costs no copy of a large one.
  constexpr std::size_t kRoom = 64;
  std::string text;
  text.reserve(static_cast<std::size_t>(file.bytes) + kRoom);
  std::string buffer(std::size_t{1} << 16, '\0');
  while (true) {
    PERFLAB_TRY(const std::size_t got,
                read_some(file.descriptor, buffer.data(), buffer.size(), path));
    if (got == 0) return text;
    text.append(buffer.data(), got);
    if (text.size() > max_bytes)
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: is larger than {} bytes", path.string(), max_bytes));
  }
}

Result<ReadBytes> bytes_of_file(const std::filesystem::path& path) {
  PERFLAB_TRY(OpenFile opened, open_to_read(path));
  return [file = std::make_shared<OpenFile>(std::move(opened)), path](char* to, std::size_t size) {
    return read_some(file->descriptor, to, size, path);
  };
}

Result<void> check_replaceable(const std::filesystem::path& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) {
    if (errno != ELOOP) return {};  // nothing there; what else is wrong shows when it is written
    return fail(ErrorCode::usage,
                fmt::format("{}: cannot be written: {}", path.string(), errno_text(errno)));
  }
  if (S_ISREG(info.st_mode)) return {};
  return fail(ErrorCode::usage, fmt::format("{}: cannot be written: it is {}, not a file",
                                            path.string(), kind_of(info.st_mode)));
}

Result<AtomicFile> AtomicFile::create(std::filesystem::path path) {
  PERFLAB_TRY_VOID(check_replaceable(path));
  path = behind_links(std::move(path));
  std::string temporary = path.string() + ".tmp-XXXXXX";
  const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0)
    return fail(ErrorCode::usage,
                fmt::format("{}: cannot be written: {}", path.string(), errno_text(errno)));
  return AtomicFile(std::move(path), std::move(temporary), fd);
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      fd_(std::exchange(other.fd_, -1)),
      error_number_(other.error_number_) {}

AtomicFile::~AtomicFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view text) {
  if (error_number_ == 0 && !write_all(fd_, text)) error_number_ = errno;
}

Result<void> AtomicFile::commit() {
  // mkostemp makes the file private; a document has the mode that the user's umask asks for.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  if (error_number_ == 0 && (::fchmod(fd_, 0666 & ~mask) != 0 || ::fsync(fd_) != 0 ||
                             ::rename(temporary_.c_str(), path_.c_str()) != 0))
    error_number_ = errno;
  if (error_number_ != 0)
    return fail(ErrorCode::usage, fmt::format("{}: cannot be written: {}", path_.string(),
                                              errno_text(error_number_)));
  ::close(std::exchange(fd_, -1));
  return {};
}

Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view text) {
  PERFLAB_TRY(AtomicFile file, AtomicFile::create(path));
  file.write(text);
  return file.commit();
}

Result<void> make_directories(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  std::error_code ignored;
  if (error || !std::filesystem::is_directory(path, ignored))
    return fail(ErrorCode::usage, fmt::format("{}: the folder cannot be made: {}", path.string(),
                                              error ? error.message() : "a file is in its place"));
  return {};
}

}  // namespace perflab
