#include "ranks/clocks/pair.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ranks/match/line.h"
#include "ranks/match/teams.h"
#include "stats/median.h"

namespace perflab::ranks {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
// Exits of the shortest tenth are closest; so few at least, and so many at most.
constexpr std::size_t kFewestClear = 32;
constexpr std::size_t kMostClear = 1024;
// A spread needs so many points to say anything.
constexpr std::size_t kFewestForSpread = 4;
// So many operations in a hundred may be matched wrongly before the whole match is refuted.
constexpr std::size_t kWrongInHundred = 1;
// A machine's clocks are not proved one by bounds wider than this, ns: two machines' boots lie
// within it in one of ten thousand pairs that were booted within the same quarter of an hour.
constexpr double kProof = 100e6;
constexpr double kNormal = 1.4826;  // median absolute deviation to standard deviation

// Whether a slope is more than noise of so many points over so long gives: by two standard errors
// of a line's slope (of points evenly spread over the stretch). One at the limit is no clock's.
bool is_drift(const Line& line, std::span<const Seen> seen) {
  constexpr double kErrors = 2;
  if (std::abs(line.b) >= kSteepest) return false;
  const double span = seen.back().t - seen.front().t;
  return std::abs(line.b) * span >=
         kErrors * kNormal * line.spread * std::sqrt(12 / static_cast<double>(seen.size()));
}

// Operations that tell the difference best, by time.
std::vector<Seen> clearest(std::span<const Common> common, std::int64_t base, std::int64_t start) {
  bool any_together = false;
  for (const Common& of : common) any_together = any_together || of.together;
  std::vector<std::int64_t> stays;
  for (const Common& of : common) {
    if (of.together == any_together) stays.push_back(of.shortest);
  }
  const std::size_t wanted = std::min(stays.size(), std::max(kFewestClear, stays.size() / 10));
  std::nth_element(stays.begin(), stays.begin() + static_cast<std::ptrdiff_t>(wanted - 1),
                   stays.end());
  const std::int64_t longest = stays[wanted - 1];
  std::vector<Seen> seen;
  for (const Common& of : common) {
    if (of.together != any_together || of.shortest > longest) continue;
    seen.push_back({static_cast<double>(of.t - start), static_cast<double>(of.difference - base)});
  }
  if (seen.size() > kMostClear) {
    for (std::size_t i = 0; i < kMostClear; ++i) seen[i] = seen[i * seen.size() / kMostClear];
    seen.resize(kMostClear);
  }
  return seen;
}

Bound bound_of(const Common& of, std::int64_t base, std::int64_t start) {
  return {static_cast<double>(of.t - start),
          of.low ? static_cast<double>(*of.low - base) : -kUnbounded,
          of.high ? static_cast<double>(*of.high - base) : kUnbounded};
}

// The bounds that a line keeps but for `by`; the others' operations go to `against`.
std::vector<Bound> kept_by(std::span<const Common> common, std::span<const Bound> bounds,
                           const Line& line, double by, std::vector<std::uint32_t>& against) {
  std::vector<Bound> kept;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const double there = line.a + line.b * bounds[i].t;
    if (there < bounds[i].low - by || there > bounds[i].high + by) {
      against.push_back(common[i].operation);
    } else {
      kept.push_back(bounds[i]);
    }
  }
  return kept;
}

}  // namespace

std::optional<PairClock> pair_clock(std::span<const Common> common) {
  if (common.empty()) return std::nullopt;
  const std::int64_t start = common.front().t, base = common[common.size() / 2].difference;
  const std::vector<Seen> seen = clearest(common, base, start);
  Line line = *line_through(seen);
  if (!is_drift(line, seen)) line.b = 0;  // its height comes below
  PairClock clock;
  if (seen.size() >= kFewestForSpread) clock.likely = kNormal * line.spread;
  std::vector<Bound> bounds;
  bounds.reserve(common.size());
  for (const Common& of : common) bounds.push_back(bound_of(of, base, start));
  Strip strip(bounds);
  if (strip.slack() < -2 * kTranslationNs) {
    const std::vector<Bound> kept =
        kept_by(common, bounds, line, 2 * kTranslationNs + kNormal * line.spread, clock.against);
    clock.refuted = clock.against.size() > 1 + common.size() * kWrongInHundred / 100;
    strip = Strip(kept);
  }
  if (strip.slack() < 0) strip.widen(-strip.slack() / 2 + 1);
  line.b = std::clamp(line.b, strip.least_slope(), strip.most_slope());
  // The slope may have moved: the height anew.
  std::vector<double> heights;
  for (const Seen& point : seen) heights.push_back(point.difference - line.b * point.t);
  line.a = stats::upper_median(heights);
  const double lowest = strip.low_for(line.b), highest = strip.high_for(line.b);
  line.a = lowest <= highest ? std::clamp(line.a, lowest, highest) : (lowest + highest) / 2;
  const std::int64_t middle = common.front().t + (common.back().t - common.front().t) / 2;
  const auto t = static_cast<double>(middle - start);
  clock.at = middle;
  clock.drift = line.b;
  clock.offset = static_cast<double>(base) + line.a + line.b * t;
  const double low = strip.low(t), high = strip.high(t);
  // Bisections end a little inside: half a nanosecond covers it.
  if (low > -kUnbounded) clock.low = std::min(static_cast<double>(base) + low - 0.5, clock.offset);
  if (high < kUnbounded)
    clock.high = std::max(static_cast<double>(base) + high + 0.5, clock.offset);
  clock.drift_error = std::max(strip.most_slope() - line.b, line.b - strip.least_slope());
  return clock;
}

std::optional<PairClock> same_machine_clock(std::span<const Common> common) {
  if (common.empty()) return std::nullopt;
  constexpr auto kOne = static_cast<double>(kOneMachine);
  PairClock clock;
  double low = -kUnbounded, high = kUnbounded;
  std::size_t bounded = 0;
  for (const Common& of : common) {
    if (!of.low && !of.high) continue;
    ++bounded;
    const double from = of.low ? static_cast<double>(*of.low) : -kUnbounded;
    const double to = of.high ? static_cast<double>(*of.high) : kUnbounded;
    if (from > kOne || to < -kOne) {
      clock.against.push_back(of.operation);
      continue;
    }
    low = std::max(low, from);
    high = std::min(high, to);
  }
  if (clock.against.size() * 100 > bounded * kWrongInHundred) return std::nullopt;
  if (!(high - low <= kProof)) return std::nullopt;
  if (low > high) {
    if (low - high > 2 * kTranslationNs) return std::nullopt;
    low = high = (low + high) / 2;
  }
  low = std::max(low, -kOne);
  high = std::min(high, kOne);
  const std::vector<Seen> seen = clearest(common, 0, common.front().t);
  std::vector<double> values;
  values.reserve(seen.size());
  for (const Seen& point : seen) values.push_back(point.difference);
  const double median = stats::upper_median(values);
  for (double& value : values) value = std::abs(value - median);
  clock.at = common[common.size() / 2].t;
  clock.offset = std::clamp(std::clamp(median, -kTranslationNs, kTranslationNs), low, high);
  clock.low = low;
  clock.high = high;
  if (seen.size() >= kFewestForSpread) clock.likely = kNormal * stats::upper_median(values);
  return clock;
}

}  // namespace perflab::ranks
