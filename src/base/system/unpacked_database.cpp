// Linux's files without a name (open(2), O_TMPFILE); the size of a database by its header:
// https://www.sqlite.org/fileformat2.html section 1.3.
#include "base/system/unpacked_database.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "base/system/files.h"
#include "base/system/packed.h"

namespace perflab {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kWritten = std::size_t{1} << 18;
constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();
constexpr std::string_view kMagic = "SQLite format 3";

std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (const char byte : bytes.substr(at, size))
    value = value << 8 | static_cast<std::uint8_t>(byte);
  return value;
}

/// Bytes of the pages that an SQLite header counts; kUnknown: it does not say.
std::uint64_t database_bytes(std::string_view start) {
  constexpr std::size_t kHeader = 100;
  if (start.size() < kHeader || !start.starts_with(kMagic)) return kUnknown;
  const std::uint32_t page_size = number_at(start, 16, 2);
  const std::uint32_t pages = number_at(start, 28, 4);
  const bool counted = number_at(start, 24, 4) == number_at(start, 92, 4) && pages > 0;
  return counted ? std::uint64_t{page_size == 1 ? 65536 : page_size} * pages : kUnknown;
}

std::unexpected<Error> no_room(const fs::path& file, std::uint64_t bytes, const fs::path& folder) {
  const std::string size = bytes == kUnknown ? "a large file" : fmt::format("{} bytes", bytes);
  return fail(
      ErrorCode::bad_input,
      fmt::format("{}: unpacks to {}, the folder for temporary files ({}) has no room for it",
                  file.string(), size, folder.string()),
      "set TMPDIR to a folder with more room");
}

Result<Descriptor> nameless_file(const fs::path& folder) {
  Descriptor fd(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!fd.open() && (errno == EOPNOTSUPP || errno == EISDIR)) {
    // A file system that has no files without a name: this one has its name for a moment.
    std::string name = (folder / "rocm-perf-XXXXXX").string();
    fd = Descriptor(::mkostemp(name.data(), O_CLOEXEC));
    if (fd.open()) ::unlink(name.c_str());
  }
  if (!fd.open())
    return fail(ErrorCode::usage, fmt::format("{}: no temporary file can be made here: {}",
                                              folder.string(), errno_text(errno)));
  return fd;
}

/// Bytes that a user may still write to the file system.
std::uint64_t free_bytes(int fd) {
  struct statvfs info{};
  if (::fstatvfs(fd, &info) != 0) return kUnknown;
  return std::uint64_t{info.f_bavail} * info.f_frsize;
}

/// False, with errno: not all of it was written.
bool write_bytes(int fd, std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

Result<std::optional<UnpackedDatabase>> UnpackedDatabase::of(const fs::path& file,
                                                             const TellProgress& progress) {
  PERFLAB_TRY(PackedReader reader, PackedReader::open(file));
  if (!reader.packed()) return std::nullopt;
  std::error_code error;
  fs::path folder = fs::temp_directory_path(error);
  if (error) folder = "/tmp";
  PERFLAB_TRY(Descriptor fd, nameless_file(folder));
  std::string piece(kWritten, '\0');
  std::uint64_t wanted = kUnknown, kept = 0;
  const std::string what = "unpacking " + file.filename().string();
  for (bool first = true; const std::size_t got = reader.read(piece); first = false) {
    if (first) {
      wanted = database_bytes(std::string_view(piece).substr(0, got));
      // Whoever opens it says that it is no database: that shows at its beginning.
      if (!piece.starts_with(kMagic)) return UnpackedDatabase(std::move(fd), 0);
    }
    if (first && wanted != kUnknown && wanted > free_bytes(fd.get()))
      return no_room(file, wanted, folder);
    const std::size_t more = std::min<std::uint64_t>(got, wanted - kept);
    if (!write_bytes(fd.get(), std::span(piece).first(more))) {
      if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)
        return no_room(file, wanted, folder);
      return fail(ErrorCode::usage, fmt::format("{}: a temporary file cannot be written here: {}",
                                                folder.string(), errno_text(errno)));
    }
    kept += more;
    if (progress && reader.file_bytes() > 0)
      progress(what,
               static_cast<double>(reader.bytes_read()) / static_cast<double>(reader.file_bytes()));
  }
  PERFLAB_TRY_VOID(reader.status());
  return UnpackedDatabase(std::move(fd), kept);
}

std::string UnpackedDatabase::path() const {
  return fmt::format("/proc/self/fd/{}", fd_.get());
}

}  // namespace perflab
