// A packed SQLite database as a file that SQLite and others can open. It is unpacked into a
// temporary file that never has a name, so that nothing is left behind however the program ends. On
// disk, not in memory: pages of a file can be dropped and read again, and $TMPDIR may be a tmpfs
// where that is wanted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/system/descriptor.h"
#include "base/text/progress.h"

namespace perflab {

class UnpackedDatabase {
 public:
  /// Unpacks a file that gzip or zstd packed; nothing when it is not packed. What stands behind the
  /// pages that the database's header counts is looked at, and not kept; of what is no database
  /// nothing is. Errors: (bad_input) those of PackedReader, or there is no room in the folder for
  /// temporary files ($TMPDIR, /tmp), seen before anything is written where the header tells the
  /// size; (usage) that folder cannot be written.
  static Result<std::optional<UnpackedDatabase>> of(const std::filesystem::path& file,
                                                    const TellProgress& progress = {});

  /// What opens it, as long as this lives; its pages do not change.
  [[nodiscard]] std::string path() const;
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  UnpackedDatabase(Descriptor fd, std::uint64_t bytes) : fd_(std::move(fd)), bytes_(bytes) {}

  Descriptor fd_;
  std::uint64_t bytes_;
};

}  // namespace perflab
