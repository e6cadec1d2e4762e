// A hash table of fixed size in memory of its own, for hooks that must not allocate: open
// addressing, linear probing, entries moved back when one is erased. Pages are touched as the table
// fills. No locking: its owner does that.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/random.h"

namespace perflab::isolate {

/// Anonymous zeroed memory that is never given back; null when there is none.
inline void* arena(std::size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

/// Values by a key that is never 0. `Log2` of the number of slots; three quarters can be used.
template <class Value, unsigned Log2>
class FixedTable {
  static_assert(std::is_trivially_copyable_v<Value>);

 public:
  static constexpr std::size_t kSlots = std::size_t{1} << Log2;
  static constexpr std::size_t kCapacity = kSlots - kSlots / 4;

  FixedTable() : slots_(static_cast<Slot*>(arena(kSlots * sizeof(Slot)))) {}

  [[nodiscard]] std::size_t size() const { return size_; }

  [[nodiscard]] Value* find(std::uint64_t key) {
    if (slots_ == nullptr || key == 0) return nullptr;
    Slot& slot = slots_[place_of(key)];
    return slot.key == key ? &slot.value : nullptr;
  }

  /// Sets the value of a key. False: the table is full.
  bool put(std::uint64_t key, const Value& value) {
    if (slots_ == nullptr || key == 0) return false;
    Slot& slot = slots_[place_of(key)];
    if (slot.key == 0) {
      if (size_ == kCapacity) return false;
      slot.key = key;
      ++size_;
    }
    slot.value = value;
    return true;
  }

  /// Removes a key; false when it is not there.
  bool erase(std::uint64_t key) {
    if (slots_ == nullptr || key == 0) return false;
    std::size_t hole = place_of(key);
    if (slots_[hole].key != key) return false;
    // Whoever stands behind the hole and could have stood in it moves there, and leaves the next.
    for (std::size_t at = next(hole); slots_[at].key != 0; at = next(at)) {
      const std::size_t home = home_of(slots_[at].key);
      if (((at - home) & (kSlots - 1)) < ((at - hole) & (kSlots - 1))) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole].key = 0;
    --size_;
    return true;
  }

  template <class Visit>
  void each(const Visit& visit) const {
    if (slots_ == nullptr) return;
    for (std::size_t at = 0; at < kSlots; ++at)
      if (slots_[at].key != 0) visit(slots_[at].key, slots_[at].value);
  }

 private:
  struct Slot {
    std::uint64_t key;
    Value value;
  };
  static std::size_t home_of(std::uint64_t key) { return mixed_bits(key) & (kSlots - 1); }
  static std::size_t next(std::size_t at) { return (at + 1) & (kSlots - 1); }
  // Where the key stands, or the empty slot where it would.
  [[nodiscard]] std::size_t place_of(std::uint64_t key) const {
    std::size_t at = home_of(key);
    while (slots_[at].key != 0 && slots_[at].key != key) at = next(at);
    return at;
  }

  Slot* slots_;
  std::size_t size_ = 0;
};

}  // namespace perflab::isolate
