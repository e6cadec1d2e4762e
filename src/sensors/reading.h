// One look at a GPU's sensors.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perflab::sensors {

/// Why a GPU runs slower than it could.
enum class Throttle : std::uint8_t {
  power,        ///< the power limit
  temperature,  ///< of the chip, its memory or its regulators
  current,      ///< limits of current
  power_brake,  ///< asked for from outside: the power supply
  hardware,     ///< a slowdown by hardware that names no more
};
inline constexpr std::size_t kThrottles = 5;
/// "power", "temperature", ...
std::string_view to_string(Throttle throttle);

/// A set of them, a bit each.
class Throttles {
 public:
  void add(Throttle one) { bits_ |= 1U << static_cast<unsigned>(one); }
  [[nodiscard]] bool has(Throttle one) const {
    return (bits_ >> static_cast<unsigned>(one) & 1U) != 0;
  }
  [[nodiscard]] bool any() const { return bits_ != 0; }
  Throttles& operator|=(const Throttles& other) {
    bits_ |= other.bits_;
    return *this;
  }
  [[nodiscard]] std::vector<Throttle> list() const;
  friend bool operator==(const Throttles&, const Throttles&) = default;

 private:
  unsigned bits_ = 0;
};

/// What the sensors said at one moment; missing: they do not say.
struct Reading {
  std::optional<double> core_mhz, memory_mhz;  ///< clocks now
  std::optional<double> temperature_c;         ///< of the chip, its hottest place if there are more
  std::optional<double> power_w;               ///< of the board or package
  std::optional<Throttles> throttled;          ///< now
  /// How long it was throttled so far, by Throttle, in units of its own: what grows between two
  /// readings tells of everything between them.
  std::optional<std::array<std::uint64_t, kThrottles>> throttled_for;
};

/// A stretch of time between two readings.
struct Span {
  Reading before, after;
};

}  // namespace perflab::sensors
