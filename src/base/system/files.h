// Files: read whole, write to a temporary name and rename. Nothing is ever half-written under its
// own name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "base/byte_source.h"
#include "base/error.h"

namespace perflab {

/// Reads a whole file. Errors (bad_input) name the file: missing, no regular file (a directory, a
/// pipe, a device), no permission, larger than `max_bytes`.
Result<std::string> read_file(const std::filesystem::path& path,
                              std::uint64_t max_bytes = std::uint64_t{1} << 30);

/// The bytes of a file of any size, in order. Errors (bad_input) as those of read_file().
Result<ReadBytes> bytes_of_file(const std::filesystem::path& path);

/// Whether a file can be put there: nothing is in that place, or a regular file (a link counts as
/// what it leads to). Error (usage): a folder, a device, a pipe or a socket, which must not be
/// replaced.
Result<void> check_replaceable(const std::filesystem::path& path);

/// Writes `text` to a temporary name beside `path`, flushes it to disk and renames it over `path`.
/// A link stays, what it leads to is replaced. On an error (usage: the place cannot be written, or
/// check_replaceable()) `path` is as it was before.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view text);

/// A file that is written in pieces to a temporary name and renamed when it is whole, for what is
/// too large to be held. One that is not committed leaves nothing behind. A link stays, what it
/// leads to is replaced.
class AtomicFile {
 public:
  /// Error (usage): the place cannot be written, or check_replaceable().
  static Result<AtomicFile> create(std::filesystem::path path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  /// Appends. The first error is remembered, commit() returns it.
  void write(std::string_view text);
  /// Flushes to disk and renames. Error (usage): something could not be written; the file under
  /// that name is then as it was before.
  Result<void> commit();

 private:
  AtomicFile(std::filesystem::path path, std::string temporary, int fd)
      : path_(std::move(path)), temporary_(std::move(temporary)), fd_(fd) {}

  std::filesystem::path path_;
  std::string temporary_;
  int fd_;  ///< -1: moved from, or committed
  int error_number_ = 0;
};

/// Makes a folder and its parents. Error (usage) when that is not possible.
Result<void> make_directories(const std::filesystem::path& path);

/// One sentence for errno, lower case, without the number: "permission denied".
std::string errno_text(int error_number);

}  // namespace perflab
