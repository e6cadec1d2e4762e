#include "report/kit/quantities.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>
#include <utility>

namespace perflab::report {
namespace {

std::string scaled(double value, std::span<const std::pair<double, const char*>> units) {
  const auto* unit = &units.front();
  for (const auto& candidate : units)
    if (std::fabs(value) >= candidate.first) unit = &candidate;
  const double shown = value / unit->first;
  // The limits lie where rounding would add a digit.
  const int digits = shown >= 999.95 || shown == std::floor(shown) ? 0 : shown >= 99.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", shown, digits, unit->second);
}

}  // namespace

std::string duration_text(double nanoseconds) {
  static constexpr std::array<std::pair<double, const char*>, 4> kUnits = {
      {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}}};
  return scaled(nanoseconds, kUnits);
}

std::string bytes_text(double bytes) {
  static constexpr std::array<std::pair<double, const char*>, 5> kUnits = {
      {{1, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}}};
  return scaled(bytes, kUnits);
}

}  // namespace perflab::report
