// Where memory comes to lie (docs/facts/hsa_runtime.md "Occupied addresses"). mmap mode: wherever
// the kernel puts it, so addresses differ from run to run as the kernel randomises them. Reserved
// mode (HSA_RESERVE_SVM=1): one area taken at the start, a quarter of it for host memory, addresses
// the same in every run.
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <map>
#include <mutex>

#include "sim.h"

namespace perflab::hsa::sim {
namespace {

constexpr std::uint64_t kPage = 4096, kHugePage = std::uint64_t{2} << 20;
// The real area is 960 GiB and more below 1 TiB; a smaller one leaves room for sanitizers.
constexpr std::uint64_t kAreaStart = std::uint64_t{64} << 30, kAreaBytes = std::uint64_t{256} << 30;
constexpr std::uint64_t kAreaAlignment = std::uint64_t{1} << 30;
constexpr std::uint64_t kHighest = std::uint64_t{1} << 47;

/// Start to end, with guards.
using Ranges = std::map<std::uint64_t, std::uint64_t>;

struct Addresses {
  std::mutex mutex;
  bool reserved_mode = false;
  std::uint64_t area = 0;  ///< start; 0: none
  Ranges host, device;  ///< in reserved mode; reservations are among the host's, wherever they lie

  Ranges& taken(bool on_gpu) { return on_gpu ? device : host; }
};

Addresses& addresses() {
  static Addresses& instance = *new Addresses;
  return instance;
}

void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t granule) {
  return (value + granule - 1) / granule * granule;
}

constexpr int kPrivate = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

// New memory at the address or, with 0, anywhere; 0 when there is none.
std::uint64_t map_new(std::uint64_t address, std::uint64_t bytes, int protection) {
  const int flags = kPrivate | (address != 0 ? MAP_FIXED_NOREPLACE : 0);
  void* const got = ::mmap(pointer(address), bytes, protection, flags, -1, 0);
  if (got == MAP_FAILED) return 0;
  const auto at = reinterpret_cast<std::uint64_t>(got);
  if (address == 0 || at == address) return at;
  ::munmap(got, bytes);
  return 0;
}

// Replaces whatever is there.
bool map_over(std::uint64_t address, std::uint64_t bytes, int protection) {
  return ::mmap(pointer(address), bytes, protection, kPrivate | MAP_FIXED, -1, 0) != MAP_FAILED;
}

// Maps more than is asked for and gives back what the alignment does not need.
std::uint64_t map_aligned(std::uint64_t bytes, std::uint64_t alignment, int protection) {
  const std::uint64_t slack = alignment > kPage ? alignment : 0;
  const std::uint64_t at = map_new(0, bytes + slack, protection);
  if (at == 0) return 0;
  const std::uint64_t start = round_up(at, alignment);
  if (start > at) ::munmap(pointer(at), start - at);
  if (at + slack > start) ::munmap(pointer(start + bytes), at + slack - start);
  return start;
}

// The end of the first mapping of this process in the way; 0 when there is none.
std::uint64_t end_of_mapping_within(std::uint64_t start, std::uint64_t end) {
  std::FILE* const maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return 0;
  unsigned long long from = 0, to = 0, found = 0;
  while (found == 0 && std::fscanf(maps, "%llx-%llx%*[^\n]", &from, &to) == 2)
    if (from < end && to > start) found = to;
  std::fclose(maps);
  return found;
}

// "Repeatable addresses": what is mapped before hsa_init makes the area start above it.
std::uint64_t take_area() {
  for (std::uint64_t start = kAreaStart; start + kAreaBytes < kHighest;) {
    if (map_new(start, kAreaBytes, PROT_NONE) != 0) return start;
    const std::uint64_t end = end_of_mapping_within(start, start + kAreaBytes);
    start = round_up(end == 0 ? start + 1 : end, kAreaAlignment);
  }
  misuse("no room for the area of HSA_RESERVE_SVM");
}

bool in_area(std::uint64_t start, std::uint64_t bytes) {
  const Addresses& all = addresses();
  return start < all.area + kAreaBytes && start + bytes > all.area;
}

bool is_free(const Ranges& taken, std::uint64_t start, std::uint64_t end) {
  auto next = taken.upper_bound(start);
  if (next != taken.end() && next->first < end) return false;
  return next == taken.begin() || (--next)->second <= start;
}

// The first gap of the host's or the device's part of the area; 0 when there is none.
std::uint64_t first_gap(std::uint64_t bytes, std::uint64_t alignment, bool on_gpu) {
  Addresses& all = addresses();
  const Ranges& taken = all.taken(on_gpu);
  const std::uint64_t quarter = all.area + kAreaBytes / 4;
  const std::uint64_t end = on_gpu ? all.area + kAreaBytes : quarter;
  std::uint64_t at = round_up(on_gpu ? quarter : all.area, alignment);
  for (auto next = taken.begin(); next != taken.end(); ++next) {
    if (next->second <= at) continue;
    if (next->first >= at + bytes) break;
    at = round_up(next->second, alignment);
  }
  return at + bytes <= end ? at : 0;
}

}  // namespace

void start_addresses() {
  Addresses& all = addresses();
  all.reserved_mode = setting_is_on("HSA_RESERVE_SVM");
  all.area = all.reserved_mode ? take_area() : 0;
}

bool in_reserved_mode() {
  return addresses().reserved_mode;
}

void stop_addresses() {
  Addresses& all = addresses();
  const std::lock_guard lock(all.mutex);
  if (all.area != 0) ::munmap(pointer(all.area), kAreaBytes);
  all.area = 0;
  all.host.clear();
  all.device.clear();
}

std::uint64_t take_memory(std::size_t bytes, std::size_t alignment, std::size_t guard,
                          bool on_gpu) {
  Addresses& all = addresses();
  const std::lock_guard lock(all.mutex);
  if (!all.reserved_mode) {
    const std::uint64_t at = map_aligned(bytes + guard, alignment, PROT_NONE);
    if (at != 0) ::mprotect(pointer(at), bytes, PROT_READ | PROT_WRITE);
    return at;
  }
  const std::uint64_t at = first_gap(bytes + guard, alignment, on_gpu);
  if (at == 0 || !map_over(at, bytes, PROT_READ | PROT_WRITE)) return 0;
  all.taken(on_gpu)[at] = at + bytes + guard;
  return at;
}

void give_memory(std::uint64_t base, std::size_t bytes, std::size_t guard) {
  Addresses& all = addresses();
  const std::lock_guard lock(all.mutex);
  if (all.reserved_mode) {
    map_over(base, bytes, PROT_NONE);
    all.taken(base >= all.area + kAreaBytes / 4).erase(base);
  } else {
    ::munmap(pointer(base), bytes + guard);
  }
}

namespace {

std::uint64_t reserve_in_mmap_mode(std::uint64_t wish, std::uint64_t bytes,
                                   std::uint64_t alignment) {
  if (wish != 0 && wish % kPage == 0 && wish < kHighest)
    if (const std::uint64_t at = map_new(wish, bytes, PROT_NONE)) return at;
  return map_aligned(bytes, alignment, PROT_NONE);
}

// The end of the last range that starts before the address.
std::uint64_t end_before(const Ranges& taken, std::uint64_t address) {
  const auto next = taken.lower_bound(address);
  return next == taken.begin() ? 0 : std::prev(next)->second;
}

// "Reservations": nothing but host memory and other reservations is looked at, and nothing is
// mapped. A guard page follows every reservation. One that is larger than a page has to keep away
// from what lies below it: it begins at or above the next multiple of its size's power of two, 2
// MiB at most (libhsakmt's reserved_aperture_allocate_aligned).
std::uint64_t reserve_in_reserved_mode(std::uint64_t wish, std::uint64_t bytes,
                                       std::uint64_t alignment) {
  Addresses& all = addresses();
  const std::uint64_t with_guard = bytes + kPage;
  const std::uint64_t apart = std::min(std::bit_floor(bytes), kHugePage);
  if (wish != 0 && wish % kPage == 0 && wish + bytes <= kHighest &&
      is_free(all.host, wish, wish + with_guard) &&
      round_up(end_before(all.host, wish), apart) <= wish) {
    all.host[wish] = wish + with_guard;
    return wish;
  }
  const std::uint64_t at = first_gap(with_guard, alignment, false);
  if (at != 0) all.host[at] = at + with_guard;
  return at;
}

}  // namespace

std::optional<std::uint64_t> take_addresses(std::uint64_t wish, std::size_t bytes,
                                            std::size_t alignment, bool elsewhere) {
  Addresses& all = addresses();
  const std::lock_guard lock(all.mutex);
  if (bytes >= kHighest) return std::nullopt;
  // Held meanwhile, or the kernel might answer with just this address.
  const std::uint64_t held = elsewhere && wish != 0 ? map_new(wish, bytes, PROT_NONE) : 0;
  if (elsewhere) wish = 0;
  const std::uint64_t at = all.reserved_mode ? reserve_in_reserved_mode(wish, bytes, alignment)
                                             : reserve_in_mmap_mode(wish, bytes, alignment);
  if (held != 0) ::munmap(pointer(held), bytes);
  return at == 0 ? std::nullopt : std::optional(at);
}

void give_addresses(std::uint64_t base, std::size_t bytes) {
  Addresses& all = addresses();
  const std::lock_guard lock(all.mutex);
  if (all.reserved_mode)
    all.host.erase(base);
  else
    ::munmap(pointer(base), bytes);
}

void clear_addresses(std::uint64_t base, std::size_t bytes) {
  const std::lock_guard lock(addresses().mutex);
  // Outside of the area there was nothing of the runtime's before.
  if (addresses().reserved_mode && !in_area(base, bytes))
    ::munmap(pointer(base), bytes);
  else
    map_over(base, bytes, PROT_NONE);
}

}  // namespace perflab::hsa::sim
