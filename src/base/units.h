// Strong units for interfaces: a Nanos cannot be passed where Bytes are meant, and neither mixes
// with a bare number. Columns of the Trace hold bare integers (their unit is in the column's
// comment) to stay small.
#pragma once

#include <compare>
#include <cstdint>

namespace perflab {

/// A count of one unit. Arithmetic only between equal units; scaling only by plain integers.
template <class Tag>
struct Quantity {
  std::int64_t value = 0;

  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return {a.value + b.value}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return {a.value - b.value}; }
  constexpr Quantity& operator+=(Quantity other) {
    value += other.value;
    return *this;
  }
};

/// Nanoseconds on the trace clock (rocprofiler timestamp, CLOCK_BOOTTIME on the host).
using Nanos = Quantity<struct NanosTag>;
/// Bytes.
using Bytes = Quantity<struct BytesTag>;

/// Milliseconds of a duration, for people and for documents that publish milliseconds.
constexpr double to_ms(Nanos duration) {
  return static_cast<double>(duration.value) / 1e6;
}

/// Sum of two non-negative numbers, INT64_MAX when it does not fit: timestamps of a damaged file
/// are no reason to overflow.
constexpr std::int64_t add_saturating(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

}  // namespace perflab
