// Figures and lists in words.
#include "analyze/bottleneck/in_words.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace perflab::analyze {

namespace {

constexpr int kDigits = 3;  ///< of shares; times have one more

std::string with_digits(FeatureId id, double value, int digits) {
  const std::string_view unit = info(id).unit;
  if (unit == "share") return fmt::format("{:.{}g} %", 100 * value, digits);
  if (unit == "ns") {
    const auto in = [&](double scale) { return fmt::format("{:.{}g}", value / scale, digits + 1); };
    if (std::abs(value) >= 1e9) return in(1e9) + " s";
    if (std::abs(value) >= 1e6) return in(1e6) + " ms";
    if (std::abs(value) >= 1e3) return in(1e3) + " us";
    return in(1) + " ns";
  }
  if (unit == "count")
    return value == std::floor(value) ? fmt::format("{:.0f}", value)
                                      : fmt::format("{:.{}g}", value, digits);
  return fmt::format("{:.{}g} {}", value, digits + 1, unit);
}

}  // namespace

std::string value_in_words(FeatureId id, double value) {
  return with_digits(id, value, kDigits);
}

std::string in_words(const Evidence& evidence) {
  const Condition& condition = evidence.condition;
  const std::string threshold = value_in_words(condition.feature, condition.threshold);
  std::string value = value_in_words(condition.feature, evidence.value);
  // Just below a threshold: not "50 % (below 50 %)".
  for (int digits = kDigits + 1; value == threshold && evidence.value != condition.threshold &&
                                 digits <= std::numeric_limits<double>::max_digits10;
       ++digits)
    value = with_digits(condition.feature, evidence.value, digits);
  return fmt::format("{} {} ({} {})", info(condition.feature).label, value,
                     condition.comparison == Relation::at_least ? "at least" : "below", threshold);
}

std::string list_in_words(const std::vector<std::string>& items) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text += i + 1 == items.size() ? " and " : ", ";
    text += items[i];
  }
  return text;
}

}  // namespace perflab::analyze
