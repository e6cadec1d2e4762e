// A folder for the files of one run of a compiler or disassembler, below the system's temporary
// folder and gone with its contents at the end of the scope.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/error.h"

namespace perflab::code::detail {

/// Owner of one such folder. Private to the user (mode 0700).
class TemporaryFolder {
 public:
  /// Error (usage): the temporary folder ($TMPDIR, /tmp) cannot be written.
  static Result<TemporaryFolder> make();

  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  explicit TemporaryFolder(std::filesystem::path path);

  std::filesystem::path path_;
};

/// Writes a new file in such a folder, without flushing it to disk. Error (usage): no room.
Result<void> write_temporary(const std::filesystem::path& path, std::string_view bytes);

}  // namespace perflab::code::detail
