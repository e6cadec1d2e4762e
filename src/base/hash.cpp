// XXH3-64 through the header-only form of xxHash.
#include "base/hash.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace perflab {

std::uint64_t content_hash(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::string content_hash_text(std::string_view bytes) {
  return fmt::format("xxh3:{:016x}", content_hash(bytes));
}

}  // namespace perflab
