// A file that a fuzz target fills anew for every input, in memory where the machine has /dev/shm.
// It has a name of its own: SQLite follows links, and finds nothing behind /proc/self/fd/N of a
// memfd.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <string>

#include "base/system/descriptor.h"

namespace perflab::fuzz {

/// Is removed at the end of its life.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& name)
      : path_((::access("/dev/shm", W_OK) == 0 ? std::filesystem::path("/dev/shm")
                                               : std::filesystem::temp_directory_path()) /
              (name + "-" + std::to_string(::getpid()))),
        file_(::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {}
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() { ::unlink(path_.c_str()); }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// False: there is no room.
  [[nodiscard]] bool fill(const void* bytes, std::size_t size) const {
    return ::ftruncate(file_.get(), 0) == 0 &&
           ::pwrite(file_.get(), bytes, size, 0) == static_cast<ssize_t>(size);
  }

 private:
  std::filesystem::path path_;
  Descriptor file_;
};

}  // namespace perflab::fuzz
