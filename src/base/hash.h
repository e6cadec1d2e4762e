// Content hashes (XXH3, 64 bit, of the xxHash library): identify inputs in documents, never protect
// anything.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace perflab {

/// XXH3-64 of the bytes.
std::uint64_t content_hash(std::string_view bytes);

/// The hash as documents carry it: "xxh3:" and 16 lower-case hex digits.
std::string content_hash_text(std::string_view bytes);

}  // namespace perflab
