// Files: read whole, write to a temporary name and rename. Nothing is ever half-written under its
// own name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"

namespace perflab {

/// Reads a whole file. Errors (bad_input) name the file: missing, no regular file (a directory, a
/// pipe, a device), no permission, larger than `max_bytes`.
Result<std::string> read_file(const std::filesystem::path& path,
                              std::uint64_t max_bytes = std::uint64_t{1} << 30);

/// Writes `text` to a temporary name beside `path`, flushes it to disk and renames it over `path`.
/// On an error (usage: the place cannot be written) `path` is as it was before.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view text);

/// Makes a folder and its parents. Error (usage) when that is not possible.
Result<void> make_directories(const std::filesystem::path& path);

/// One sentence for errno, lower case, without the number: "permission denied".
std::string errno_text(int error_number);

}  // namespace perflab
