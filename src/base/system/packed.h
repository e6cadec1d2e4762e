// Files that may be packed by gzip (RFC 1952) or zstd (RFC 8878), told by how they begin: what they
// unpack to, all members and frames one behind the other, whole, piece by piece or up to a limit: a
// small file can hold gigabytes of zeros. A library of its own (perflab_packed): what is loaded
// into other programs needs neither zlib nor libzstd.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/system/descriptor.h"

namespace perflab {

/// A member of gzip or a frame of zstd being unpacked, and the next ones.
class Unpacker;

/// Reads what a file unpacks to from its beginning; one that is not packed, as it is.
class PackedReader {
 public:
  /// Errors (bad_input) name the file: it is missing, no regular file, or cannot be opened.
  static Result<PackedReader> open(const std::filesystem::path& file);
  PackedReader(PackedReader&&) noexcept;
  ~PackedReader();

  [[nodiscard]] bool packed() const { return unpacker_ != nullptr; }
  /// Fills `to`; with fewer bytes only at the end, of which status() tells whether it is the right
  /// one.
  std::size_t read(std::span<char> to);
  /// Error (bad_input), naming the file: it cannot be read, ends early, or is damaged.
  [[nodiscard]] const Result<void>& status() const { return status_; }
  /// Bytes of the file that were read, of how many.
  [[nodiscard]] std::uint64_t bytes_read() const { return bytes_read_; }
  [[nodiscard]] std::uint64_t file_bytes() const { return file_bytes_; }

 private:
  PackedReader() = default;
  /// The next piece of the file into rest_; nothing at its end.
  void refill();

  std::string name_;
  Descriptor fd_;
  std::uint64_t bytes_read_ = 0, file_bytes_ = 0;
  std::string piece_;
  std::string_view rest_;               ///< of the piece
  std::unique_ptr<Unpacker> unpacker_;  ///< none: the file is not packed
  bool between_members_ = false;
  Result<void> status_;
};

/// The text of a file, unpacked. Errors (bad_input) name the file: those of read_file(), data that
/// end early or are damaged, a text of more than `most` bytes.
Result<std::string> read_maybe_packed(const std::filesystem::path& file,
                                      std::size_t most = std::size_t{1} << 30);

/// The first `most` bytes of that text, as far as they can be read: for telling what a file is.
/// Empty: it is empty, or no file that can be read.
std::string start_of_maybe_packed(const std::filesystem::path& file, std::size_t most);

}  // namespace perflab
