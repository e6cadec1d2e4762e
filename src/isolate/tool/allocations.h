// What memory the program has: every live allocation, mapping and reservation that went through the
// runtime. Nothing here allocates after construction, and no call of the runtime is made.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "capture/model.h"
#include "isolate/protocol/fixed_table.h"

namespace perflab::isolate {

/// Why the contents of a range cannot be taken.
enum class Unreadable : std::uint8_t {
  no,
  host_memory,    ///< the program's own memory, made visible to the GPU
  other_process,  ///< attached or imported
  driver_memory,  ///< a buffer of a graphics driver
  not_reserved,   ///< SVM attributes on memory whose end nobody announces
};

/// One live range.
struct Allocation {
  std::uint64_t base;
  std::uint64_t bytes;
  std::uint64_t reservation_base, reservation_bytes;  ///< of Origin::vmem
  std::uint64_t pool;                                 ///< handle; of Origin::region the region's
  std::uint64_t added;                                ///< set by add(): which addition it was
  std::uint32_t flags;
  std::uint32_t uses;  ///< of Origin::locked: how often it was locked
  capture::Origin origin;
  Unreadable unreadable;
};

/// A reservation of addresses.
struct Reservation {
  std::uint64_t base, bytes, flags;
};

/// The live ranges. Any thread; a call holds a lock for the time of a look-up.
class Allocations {
 public:
  Allocations();

  /// Records a range, in place of one of the same base. A full table is counted by overflows().
  void add(const Allocation& allocation);
  /// Takes the range of this base out; missing when there is none.
  std::optional<Allocation> take(std::uint64_t base);
  /// Records a range unless one of the same base is there.
  void add_if_new(const Allocation& allocation);
  /// Takes the managed range of this base out.
  std::optional<Allocation> take_managed(std::uint64_t base);
  /// Takes the mappings out that lie one behind the other from `base` on, `bytes` in all, unless
  /// they were added after `moment`: an address can be mapped again before we hear of its end.
  void take_mappings(std::uint64_t base, std::uint64_t bytes, std::uint64_t moment);
  /// Now, for take_mappings().
  [[nodiscard]] std::uint64_t moment() const;

  /// Locked ranges, by the host's address; one can be locked several times.
  void lock(std::uint64_t host, const Allocation& allocation);
  void unlock(std::uint64_t host);

  void reserve(const Reservation& reservation);
  std::optional<Reservation> release(std::uint64_t base);
  /// The reservation that holds an address.
  std::optional<Reservation> reservation_of(std::uint64_t address) const;

  /// Pool of a vmem handle; imported ones belong to another process.
  struct Handle {
    std::uint64_t pool;
    bool imported;
  };
  void add_handle(std::uint64_t handle, Handle what);
  std::optional<Handle> handle(std::uint64_t handle);
  void drop_handle(std::uint64_t handle);

  /// All ranges, by base. Allocates.
  std::vector<Allocation> all() const;
  /// Ranges that found no place.
  [[nodiscard]] std::uint64_t overflows() const {
    return overflows_.load(std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t kMostReservations = std::size_t{1} << 16;
  // The first reservation whose base is above the address.
  [[nodiscard]] std::size_t above(std::uint64_t address) const;

  bool put(Allocation allocation);

  mutable std::mutex mutex_;
  std::uint64_t additions_ = 0;
  FixedTable<Allocation, 20> live_;
  FixedTable<Allocation, 16> locked_;
  FixedTable<Handle, 18> handles_;
  Reservation* reservations_;  ///< by base
  std::size_t reservation_count_ = 0;
  std::atomic<std::uint64_t> overflows_{0};
};

}  // namespace perflab::isolate
