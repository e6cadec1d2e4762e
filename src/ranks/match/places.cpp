#include "ranks/match/places.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "ranks/match/line.h"
#include "ranks/values/collective.h"

namespace perflab::ranks {
namespace {

// So many operations, evenly over the common stretch, speak for a shift.
constexpr std::size_t kSamples = 256;
// Fewer than these prove nothing by their spread.
constexpr std::size_t kFewestSamples = 8;
// A spread decides against another that is this many times as wide; times are no finer than 1 us.
constexpr double kDecisive = 4;
constexpr double kFinest = 1000;
// GPU times are translated to the host's clock this well, ns (docs/facts/ranks.md "Clocks"), on
// both sides.
constexpr double kTranslation = 8000;
// Times are asked of so many shifts, nearest first.
constexpr std::size_t kMostAsked = 1024;

// Operations that differ in a shift; stops above `most`.
std::size_t differences(std::span<const std::uint32_t> one, std::span<const std::uint32_t> two,
                        std::size_t most) {
  std::size_t count = 0;
  auto at = one.begin();
  auto there = two.begin();
  while (count <= most) {
    std::tie(at, there) = std::mismatch(at, one.end(), there);
    if (at == one.end()) break;
    ++count;
    ++at;
    ++there;
  }
  return count;
}

// The most that may differ for a shift to stay beside the best.
std::size_t allowed(std::size_t best, std::size_t overlap) {
  return std::min(2 * best + overlap / 50, overlap / 4);
}

struct Asked {
  const Shift* shift = nullptr;
  TimesOf times;
};

// The wanted one has a spread that is far below that of all others.
bool is_decisive(const Asked& best, const Asked& next) {
  return best.times.points >= kFewestSamples &&
         std::max(best.times.spread, kFinest) * kDecisive < next.times.spread;
}

// Of shifts whose clocks are near the known difference, the only one.
const Asked* nearest_known(const Pair& pair, std::span<const Asked> asked) {
  if (!pair.theta_to) return nullptr;
  const Asked* only = nullptr;
  for (const Asked& of : asked) {
    if (of.times.points == 0) continue;
    const double off = std::abs(of.times.difference - static_cast<double>(pair.theta));
    if (off > static_cast<double>(*pair.theta_to) + 4 * of.times.spread) continue;
    if (only != nullptr) return nullptr;
    only = &of;
  }
  return only;
}

// The only shift with no difference in values.
const Asked* only_equal(std::span<const Asked> asked) {
  const Asked* only = nullptr;
  for (const Asked& of : asked) {
    if (of.shift->different > 0) continue;
    if (only != nullptr) return nullptr;
    only = &of;
  }
  return only;
}

// Both recordings have the same operations from first to last.
const Asked* same_whole(const Pair& pair, std::span<const Asked> asked) {
  if (pair.reference_operations.size() != pair.other_operations.size()) return nullptr;
  for (const Asked& of : asked) {
    if (of.shift->by == 0 && of.shift->different == 0) return &of;
  }
  return nullptr;
}

// Two operations that everyone waits in, at a shift: what their times say.
struct Compared {
  const Collective* reference = nullptr;
  const Collective* other = nullptr;
};

// The operations of a shift that speak for it, by `take`, which may end it.
template <class Take>
void for_each_compared(const Pair& pair, const Shift& shift, const Take& take) {
  const std::size_t ahead = shift.by > 0 ? static_cast<std::size_t>(shift.by) : 0;
  const std::size_t behind = shift.by < 0 ? static_cast<std::size_t>(-shift.by) : 0;
  const std::size_t count = std::min(shift.overlap, kSamples);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = i * shift.overlap / count;
    if (pair.reference_tokens[ahead + at] != pair.other_tokens[behind + at]) continue;
    if (!take(Compared{&pair.reference->collectives[pair.reference_operations[ahead + at]],
                       &pair.other->collectives[pair.other_operations[behind + at]]}))
      return;
  }
}

}  // namespace

std::vector<Shift> agreeing_shifts(std::span<const std::uint32_t> reference,
                                   std::span<const std::uint32_t> other, std::int64_t farthest) {
  std::vector<Shift> shifts;
  if (reference.empty() || other.empty()) return shifts;
  const std::size_t fewest = (std::min(reference.size(), other.size()) + 1) / 2;
  std::size_t best = std::numeric_limits<std::size_t>::max() / 4;
  const auto consider = [&](std::int64_t by) {
    const std::size_t ahead = by > 0 ? static_cast<std::size_t>(by) : 0;
    const std::size_t behind = by < 0 ? static_cast<std::size_t>(-by) : 0;
    if (ahead >= reference.size() || behind >= other.size()) return;
    const std::size_t overlap = std::min(reference.size() - ahead, other.size() - behind);
    if (overlap < fewest) return;
    const std::size_t most = allowed(best, overlap);
    const std::size_t different =
        differences(reference.subspan(ahead, overlap), other.subspan(behind, overlap), most);
    if (different > most) return;
    best = std::min(best, different);
    shifts.push_back({by, overlap, different});
  };
  consider(0);
  for (std::int64_t by = 1; by <= farthest; ++by) {
    consider(by);
    consider(-by);
  }
  std::erase_if(shifts, [&](const Shift& of) { return of.different > allowed(best, of.overlap); });
  return shifts;
}

bool is_refuted(const Pair& pair, const Shift& shift) {
  constexpr double kRounding = 1;
  double low = -std::numeric_limits<double>::infinity(), high = -low;
  std::int64_t before = 0, base = 0;
  bool first = true, refuted = false;
  for_each_compared(pair, shift, [&](const Compared& of) {
    if (info(of.reference->kind).waits != Waits::everyone) return true;
    if (first) {
      base = of.reference->exit - of.other->exit;
      before = of.other->exit;
      first = false;
    }
    const double grown = kSteepest * std::abs(static_cast<double>(of.other->exit - before));
    before = of.other->exit;
    low = std::max(low - grown, static_cast<double>(of.reference->entry - of.other->exit - base));
    high = std::min(high + grown, static_cast<double>(of.reference->exit - of.other->entry - base));
    refuted = low - high > kTranslation + kRounding;
    return !refuted;
  });
  return refuted;
}

TimesOf times_of(const Pair& pair, const Shift& shift) {
  TimesOf times;
  std::vector<Seen> seen;
  std::vector<Bound> bounds;
  seen.reserve(kSamples);
  bounds.reserve(kSamples);
  std::int64_t base = 0, start = 0;
  for_each_compared(pair, shift, [&](const Compared& of) {
    const Collective& r = *of.reference;
    const Collective& q = *of.other;
    if (seen.empty()) {
      base = r.exit - q.exit;
      start = q.exit;
    }
    const auto t = static_cast<double>(q.exit - start);
    seen.push_back({t, static_cast<double>(r.exit - q.exit - base)});
    if (info(r.kind).waits != Waits::everyone) return true;
    // What is added to q's times: the exit of each follows the entry of the other.
    bounds.push_back({t, static_cast<double>(r.entry - q.exit - base),
                      static_cast<double>(r.exit - q.entry - base)});
    return true;
  });
  const auto line = line_through(seen);
  if (!line) return times;
  times.points = seen.size();
  times.spread = line->spread;
  times.difference_at = seen[seen.size() / 2].t;
  times.difference = static_cast<double>(base) + line->a + line->b * times.difference_at;
  times.slack = Strip(bounds).slack();
  times.possible = times.slack >= -kTranslation;
  return times;
}

Place place_of(const Pair& pair, std::span<const Shift> shifts, std::uint32_t denied) {
  Place place;
  if (shifts.empty()) {
    place.why = Unmatched::disagrees;
    return place;
  }
  std::vector<Asked> asked;
  for (const Shift& shift : shifts.first(std::min(shifts.size(), kMostAsked))) {
    if (!is_refuted(pair, shift)) asked.push_back({&shift, times_of(pair, shift)});
  }
  std::erase_if(asked, [](const Asked& of) { return !of.times.possible; });
  std::stable_sort(asked.begin(), asked.end(),
                   [](const Asked& l, const Asked& r) { return l.times.spread < r.times.spread; });
  asked.erase(asked.begin(), asked.begin() + static_cast<std::ptrdiff_t>(
                                                 std::min<std::size_t>(denied, asked.size())));
  if (asked.empty()) {
    place.why = Unmatched::denied_by_times;
    return place;
  }
  const Asked* chosen = nullptr;
  if (asked.size() == 1 && shifts.size() <= kMostAsked) {
    chosen = asked.data();
  } else if (asked.size() > 1 && is_decisive(asked[0], asked[1])) {
    chosen = asked.data();
  }
  if (chosen == nullptr) chosen = nearest_known(pair, asked);
  if (chosen == nullptr && shifts.size() <= kMostAsked) chosen = only_equal(asked);
  if (chosen == nullptr) {
    chosen = same_whole(pair, asked);
    place.assumed = chosen != nullptr;
  }
  if (chosen == nullptr) return place;
  place.by = chosen->shift->by;
  place.times = chosen->times;
  return place;
}

}  // namespace perflab::ranks
