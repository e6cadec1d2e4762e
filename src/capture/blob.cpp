// Hashes of pages, frames and headers through the header-only form of xxHash.
#include "capture/blob.h"

#include <cstring>
#include <new>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace perflab::capture {

bool is_zero_page(const std::byte* page) {
  // A page whose bytes all equal their right neighbour, and whose first is zero.
  return page[0] == std::byte{0} && std::memcmp(page, page + 1, kPageBytes - 1) == 0;
}

PageHash hash_page(const std::byte* page) {
  const XXH128_hash_t hash = XXH3_128bits(page, kPageBytes);
  return {.low = hash.low64, .high = hash.high64};
}

std::uint64_t hash_of(const PageHash* pages, std::size_t count) {
  return XXH3_64bits(pages, count * sizeof(PageHash));
}

RunningHash::RunningHash() : state_{} {
  static_assert(sizeof(XXH3_state_t) <= sizeof(state_) && alignof(XXH3_state_t) <= 64);
  XXH3_64bits_reset(new (state_.data()) XXH3_state_t);
}

void RunningHash::add(const void* bytes, std::size_t size) {
  XXH3_64bits_update(std::launder(reinterpret_cast<XXH3_state_t*>(state_.data())), bytes, size);
}

std::uint64_t RunningHash::value() const {
  return XXH3_64bits_digest(std::launder(reinterpret_cast<const XXH3_state_t*>(state_.data())));
}

std::uint64_t header_hash(const BlobHeader& header) {
  return XXH3_64bits(&header, offsetof(BlobHeader, header_hash));
}

}  // namespace perflab::capture
