// Large pages for arrays of millions of rows: filling them then costs a fault per 2 MiB instead of
// one per 4 KiB (Linux, Documentation/admin-guide/mm/transhuge.rst).
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace perflab {

/// Asks for large pages in the room that a vector has reserved and not filled yet. Small vectors
/// are left alone: up to a large page more would be resident. Where the machine has none, nothing
/// changes.
template <class T>
void prefer_large_pages(const std::vector<T>& reserved) {
  constexpr std::uintptr_t kLarge = std::uintptr_t{2} << 20;
  const auto first = reinterpret_cast<std::uintptr_t>(reserved.data());
  const std::uintptr_t begin = (first + kLarge - 1) / kLarge * kLarge;
  const std::uintptr_t end = (first + reserved.capacity() * sizeof(T)) / kLarge * kLarge;
  if (end < begin + 2 * kLarge) return;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a page of the vector
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace perflab
