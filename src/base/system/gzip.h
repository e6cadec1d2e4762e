// Files that may be gzip (RFC 1952), unpacked by zlib up to a limit: a small file can hold
// gigabytes of zeros. A library of its own (perflab_gzip): what is loaded into other programs needs
// no zlib.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"

namespace perflab {

/// The text of a file; when it is gzip, what it unpacks to, all its members one behind the other.
/// Errors (bad_input) name the file: those of read_file(), data that end early or are damaged, a
/// text of more than `most` bytes.
Result<std::string> read_maybe_gzip(const std::filesystem::path& file,
                                    std::size_t most = std::size_t{1} << 30);

/// The first `most` bytes of that text, as far as they can be read: for telling what a file is.
/// Empty: it is empty, or no file that can be read.
std::string start_of_maybe_gzip(const std::filesystem::path& file, std::size_t most);

}  // namespace perflab
