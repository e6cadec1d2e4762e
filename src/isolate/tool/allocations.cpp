// The tables of live memory. Reservations are few and are asked for by any address in them: a
// sorted array. The rest is asked for by its base: hash tables.
#include "isolate/tool/allocations.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace perflab::isolate {

Allocations::Allocations()
    : reservations_(static_cast<Reservation*>(arena(kMostReservations * sizeof(Reservation)))) {}

// With the lock held.
bool Allocations::put(Allocation allocation) {
  allocation.added = ++additions_;
  return live_.put(allocation.base, allocation);
}

void Allocations::add(const Allocation& allocation) {
  const std::lock_guard lock(mutex_);
  if (!put(allocation)) ++overflows_;
}

void Allocations::add_if_new(const Allocation& allocation) {
  const std::lock_guard lock(mutex_);
  if (live_.find(allocation.base) == nullptr && !put(allocation)) ++overflows_;
}

std::uint64_t Allocations::moment() const {
  const std::lock_guard lock(mutex_);
  return additions_;
}

std::optional<Allocation> Allocations::take_managed(std::uint64_t base) {
  const std::lock_guard lock(mutex_);
  const Allocation* const found = live_.find(base);
  if (found == nullptr || found->origin != capture::Origin::managed) return std::nullopt;
  const Allocation allocation = *found;
  live_.erase(base);
  return allocation;
}

std::optional<Allocation> Allocations::take(std::uint64_t base) {
  const std::lock_guard lock(mutex_);
  const Allocation* const found = live_.find(base);
  if (found == nullptr) return std::nullopt;
  const Allocation allocation = *found;
  live_.erase(base);
  return allocation;
}

void Allocations::take_mappings(std::uint64_t base, std::uint64_t bytes, std::uint64_t moment) {
  const std::lock_guard lock(mutex_);
  for (std::uint64_t at = base; at - base < bytes;) {
    const Allocation* const found = live_.find(at);
    if (found == nullptr || found->reservation_bytes == 0 || found->bytes == 0) return;
    const std::uint64_t step = found->bytes;
    if (found->added <= moment) live_.erase(at);
    at += step;
  }
}

void Allocations::lock(std::uint64_t host, const Allocation& allocation) {
  const std::lock_guard lock(mutex_);
  if (Allocation* const known = locked_.find(host)) {
    ++known->uses;
    known->bytes = std::max(known->bytes, allocation.bytes);
  } else if (!locked_.put(host, allocation)) {
    ++overflows_;
  }
}

void Allocations::unlock(std::uint64_t host) {
  const std::lock_guard lock(mutex_);
  Allocation* const known = locked_.find(host);
  if (known != nullptr && --known->uses == 0) locked_.erase(host);
}

std::size_t Allocations::above(std::uint64_t address) const {
  const std::span<const Reservation> sorted(reservations_, reservation_count_);
  return static_cast<std::size_t>(
      std::ranges::upper_bound(sorted, address, {}, &Reservation::base) - sorted.begin());
}

void Allocations::reserve(const Reservation& reservation) {
  const std::lock_guard lock(mutex_);
  if (reservations_ == nullptr || reservation_count_ == kMostReservations) {
    ++overflows_;
    return;
  }
  const std::size_t at = above(reservation.base);
  std::memmove(reservations_ + at + 1, reservations_ + at,
               (reservation_count_ - at) * sizeof(Reservation));
  reservations_[at] = reservation;
  ++reservation_count_;
}

std::optional<Reservation> Allocations::release(std::uint64_t base) {
  const std::lock_guard lock(mutex_);
  const std::size_t behind = above(base);
  if (behind == 0 || reservations_[behind - 1].base != base) return std::nullopt;
  const Reservation reservation = reservations_[behind - 1];
  std::memmove(reservations_ + behind - 1, reservations_ + behind,
               (reservation_count_ - behind) * sizeof(Reservation));
  --reservation_count_;
  return reservation;
}

std::optional<Reservation> Allocations::reservation_of(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  const std::size_t behind = above(address);
  if (behind == 0) return std::nullopt;
  const Reservation& reservation = reservations_[behind - 1];
  if (address - reservation.base >= reservation.bytes) return std::nullopt;
  return reservation;
}

void Allocations::add_handle(std::uint64_t handle, Handle what) {
  const std::lock_guard lock(mutex_);
  if (!handles_.put(handle, what)) ++overflows_;
}

std::optional<Allocations::Handle> Allocations::handle(std::uint64_t handle) {
  const std::lock_guard lock(mutex_);
  const Handle* const found = handles_.find(handle);
  if (found == nullptr) return std::nullopt;
  return *found;
}

void Allocations::drop_handle(std::uint64_t handle) {
  const std::lock_guard lock(mutex_);
  handles_.erase(handle);
}

std::vector<Allocation> Allocations::all() const {
  std::vector<Allocation> out;
  {
    const std::lock_guard lock(mutex_);
    out.reserve(live_.size() + locked_.size());
    const auto keep = [&](std::uint64_t, const Allocation& one) { out.push_back(one); };
    live_.each(keep);
    locked_.each(keep);
  }
  std::ranges::sort(out, {}, [](const Allocation& one) { return std::pair(one.base, one.origin); });
  return out;
}

}  // namespace perflab::isolate
