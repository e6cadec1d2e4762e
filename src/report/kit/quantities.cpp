#include "report/kit/quantities.h"

#include <fmt/format.h>

#include <algorithm>
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
  const double size = std::fabs(shown);
  const int digits = size >= 999.95 || size == std::floor(size) ? 0 : size >= 99.995 ? 1 : 2;
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

std::string interval_title(double confidence) {
  // Two digits of what is left to 100 %: the confidence of many comparisons is never rounded to it.
  const double left = 100 * (1 - confidence);
  const double digits = left > 0 ? std::max(0.0, 1 - std::floor(std::log10(left))) : 0;
  std::string text = fmt::format("{:.{}f}", 100 - left, static_cast<int>(digits));
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
  }
  return text + " % interval";
}

}  // namespace perflab::report
