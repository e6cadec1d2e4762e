// Bytes that are set aside while a capture is written: in memory while they are few, then in a file
// without a name, which vanishes with the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "base/error.h"

namespace perflab::capture {

/// Error (usage): `what` cannot be written, and why (errno's number); full disks get a remedy.
std::unexpected<Error> cannot_write(const std::filesystem::path& what, int error_number);

/// Writes all of the bytes at the descriptor's place. 0, or errno.
int write_all(int descriptor, std::span<const std::byte> bytes);
/// Reads exactly that many bytes at `offset`. 0, errno, or -1 when the file ends before.
int read_all_at(int descriptor, std::uint64_t offset, std::span<std::byte> out);

class Spool {
 public:
  /// `folder`: where the file without a name is made when there is need of one.
  explicit Spool(std::filesystem::path folder) : folder_(std::move(folder)) {}
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;
  Spool(Spool&&) = delete;
  Spool& operator=(Spool&&) = delete;
  ~Spool();

  /// Errors (usage): the folder's disk is full, ...
  Result<void> add(std::span<const std::byte> bytes);
  /// The bytes at `offset`, all of which were added before.
  Result<void> read(std::uint64_t offset, std::span<std::byte> out) const;
  [[nodiscard]] std::uint64_t size() const { return in_file_ + buffer_.size(); }
  /// Forgets everything; the file is used again.
  void clear();

 private:
  Result<void> spill();

  std::filesystem::path folder_;
  std::vector<std::byte> buffer_;
  std::uint64_t in_file_ = 0;
  int descriptor_ = -1;
};

}  // namespace perflab::capture
