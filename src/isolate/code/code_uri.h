// Where the runtime says that the bytes of a loaded code object came from: AMD's code object URIs,
// "file:///a/b%20c#offset=4096&size=8192" and "memory://1234#offset=0x7f00&size=100".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace perflab::isolate {

/// A piece of a file, or of the memory of a process.
struct CodeUri {
  std::string path{};                    ///< of the file, decoded; empty: memory
  std::uint64_t process = 0;             ///< whose memory
  std::uint64_t offset = 0;              ///< in the file; in memory the address
  std::optional<std::uint64_t> bytes{};  ///< missing: to the end of the file

  friend bool operator==(const CodeUri&, const CodeUri&) = default;
};

/// Reads one. Numbers are C's: decimal, hexadecimal with 0x, octal with 0. Error (bad_input): it is
/// none; an unknown scheme, a path with a broken escape, a memory range without both numbers.
Result<CodeUri> parse_code_uri(std::string_view text);

}  // namespace perflab::isolate
