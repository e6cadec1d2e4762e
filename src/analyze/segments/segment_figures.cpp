// Figures of segments: their work, which are warm-up, the spread of the others, and what is
// different in the slowest.
#include "analyze/segments/segment_figures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "stats/summary.h"

namespace perflab::analyze {
namespace {

using trace::Index;
using trace::kNone;

constexpr std::size_t kMostDifferences = 10;
constexpr double kMadToSigma = 1.4826;  ///< of a normal distribution
constexpr double kSigmas = 3;           ///< beyond which a leading segment is warm-up
constexpr double kAtLeastSlower = 1.1;  ///< and by at least that factor

/// Sums; unions of the intervals need rows ordered by start, and they are.
void add_work(const trace::Trace& trace, Segments& segments) {
  std::vector<std::int64_t> busy_until(segments.segments.size(), 0);
  for (Segment& segment : segments.segments) {
    segment.start = std::numeric_limits<std::int64_t>::max();
    segment.end = 0;
  }
  const auto add = [&](Index index, std::int64_t start, std::int64_t end) {
    Segment& segment = segments.segments[index];
    segment.start = std::min(segment.start, start);
    segment.end = std::max(segment.end, end);
    if (end > busy_until[index]) segment.busy += end - std::max(start, busy_until[index]);
    busy_until[index] = std::max(busy_until[index], end);
  };
  std::size_t copy = 0;
  const auto add_copies_until = [&](std::int64_t time) {
    for (; copy < trace.copies.size() && trace.copies.start[copy] <= time; ++copy)
      if (segments.of_copy[copy] != kNone)
        add(segments.of_copy[copy], trace.copies.start[copy], trace.copies.end[copy]);
  };
  for (std::size_t i = 0; i < trace.dispatches.size(); ++i) {
    add_copies_until(trace.dispatches.start[i]);
    const Index index = segments.of_dispatch[i];
    if (index == kNone) {
      if (trace.tracks[trace.dispatches.track[i]].process == segments.process)
        ++segments.dispatches_outside;
      continue;
    }
    Segment& segment = segments.segments[index];
    ++segment.dispatches;
    segment.kernel_time =
        add_times(segment.kernel_time, trace.dispatches.end[i] - trace.dispatches.start[i]);
    add(index, trace.dispatches.start[i], trace.dispatches.end[i]);
  }
  add_copies_until(std::numeric_limits<std::int64_t>::max());
}

/// Without segments that dispatched nothing, and by start.
void order_segments(Segments& segments) {
  std::vector<Index> order;
  for (Index i = 0; i < segments.segments.size(); ++i)
    if (segments.segments[i].dispatches > 0) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](Index i) { return segments.segments[i].start; });
  std::vector<Index> moved(segments.segments.size(), kNone);
  std::vector<Segment> ordered;
  for (const Index i : order) {
    moved[i] = static_cast<Index>(ordered.size());
    ordered.push_back(std::move(segments.segments[i]));
  }
  segments.segments = std::move(ordered);
  for (std::vector<Index>* of : {&segments.of_dispatch, &segments.of_copy})
    for (Index& index : *of)
      if (index != kNone) index = moved[index];
}

void find_periods_and_warm_up(Segments& segments) {
  std::vector<Segment>& all = segments.segments;
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i].period =
        i + 1 < all.size() ? all[i + 1].start - all[i].start : all[i].end - all[i].start;
  // The second half says what is usual: warm-up is at most the first.
  std::vector<std::int64_t> later;
  for (std::size_t i = all.size() / 2; i + 1 < all.size(); ++i) later.push_back(all[i].period);
  const stats::DurationSummary usual = stats::summarize_durations(later);
  if (!usual.median || !usual.mad) return;
  const double limit =
      std::max(*usual.median + kSigmas * kMadToSigma * *usual.mad, *usual.median * kAtLeastSlower);
  while (segments.warm_up < all.size() / 2 &&
         static_cast<double>(all[segments.warm_up].period) > limit)
    all[segments.warm_up++].warm_up = true;
}

/// Whether the work of each segment is done before that of the next begins: then a period is a
/// segment's length and the pause after it, and lengths can be compared with periods.
bool are_apart(const std::vector<Segment>& all) {
  for (std::size_t i = 0; i + 1 < all.size(); ++i)
    if (all[i].end > all[i + 1].start) return false;
  return true;
}

void find_spread(Segments& segments) {
  const std::vector<Segment>& all = segments.segments;
  std::vector<std::int64_t> periods;
  for (std::size_t i = segments.warm_up; i + 1 < all.size(); ++i) periods.push_back(all[i].period);
  if (are_apart(all) && (periods.empty() || all.back().period > std::ranges::max(periods)))
    periods.push_back(all.back().period);
  if (periods.empty()) return;
  std::size_t slowest = 0;
  for (std::size_t i = 1; i < periods.size(); ++i)
    if (periods[i] > periods[slowest]) slowest = i;
  if (periods.size() > 1) segments.slowest = segments.warm_up + slowest;
  const stats::DurationSummary summary = stats::summarize_durations(periods);
  segments.spread = {.count = periods.size(),
                     .min = *summary.min,
                     .max = *summary.max,
                     .median = *summary.median,
                     .mean = *summary.mean,
                     .cv = summary.cv};
}

/// What one segment spent on one thing.
struct Share {
  Index segment = 0;
  std::uint32_t count = 0;
  std::int64_t time = 0;
};

/// A kernel or a kind of copy: (is a copy, string).
using Thing = std::pair<bool, Index>;

/// What each segment spent on each thing; by segment within a thing.
class Shares {
 public:
  Shares(const trace::Trace& trace, const Segments& segments) {
    // By symbol first, which is an array; symbols of one name are brought together after it.
    std::vector<std::vector<Share>> by_symbol(trace.kernel_symbols.size());
    collect(
        segments.segments.size(), segments.of_dispatch,
        [&](std::size_t i) -> std::pair<Index, std::int64_t> {
          return {trace.dispatches.kernel[i], trace.dispatches.end[i] - trace.dispatches.start[i]};
        },
        by_symbol);
    for (Index symbol = 0; symbol < by_symbol.size(); ++symbol)
      add({false, trace.kernel_symbols[symbol].name}, std::move(by_symbol[symbol]));
    std::map<Index, Index> kinds;
    for (const Index kind : trace.copies.kind)
      kinds.try_emplace(kind, static_cast<Index>(kinds.size()));
    std::vector<std::vector<Share>> by_kind(kinds.size());
    collect(
        segments.segments.size(), segments.of_copy,
        [&](std::size_t i) -> std::pair<Index, std::int64_t> {
          return {kinds.at(trace.copies.kind[i]), trace.copies.end[i] - trace.copies.start[i]};
        },
        by_kind);
    for (const auto& [kind, number] : kinds) add({true, kind}, std::move(by_kind[number]));
  }

  [[nodiscard]] const std::map<Thing, std::vector<Share>>& all() const { return shares_; }

 private:
  template <class F>
  static void collect(std::size_t segments, const std::vector<Index>& of, F what,
                      std::vector<std::vector<Share>>& into) {
    // Row order is time order, so a segment's rows lie together but for overlaps of neighbours:
    // counting sort by segment makes every thing's list ascend.
    std::vector<std::size_t> offsets(segments + 1, 0);
    for (const Index segment : of)
      if (segment != kNone) ++offsets[segment + 1];
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    std::vector<std::uint32_t> rows(offsets.back());
    std::vector<std::size_t> next = offsets;
    for (std::size_t i = 0; i < of.size(); ++i)
      if (of[i] != kNone) rows[next[of[i]]++] = static_cast<std::uint32_t>(i);
    for (const std::uint32_t row : rows) {
      const auto [thing, time] = what(row);
      std::vector<Share>& list = into[thing];
      if (list.empty() || list.back().segment != of[row]) list.push_back({.segment = of[row]});
      ++list.back().count;
      list.back().time = add_times(list.back().time, time);
    }
  }

  void add(Thing thing, std::vector<Share> list) {
    if (list.empty()) return;
    std::vector<Share>& known = shares_[thing];
    if (known.empty()) {
      known = std::move(list);
      return;
    }
    std::vector<Share> merged;
    std::ranges::merge(known, list, std::back_inserter(merged), {}, &Share::segment,
                       &Share::segment);
    known.clear();
    for (const Share& share : merged) {
      if (known.empty() || known.back().segment != share.segment) {
        known.push_back(share);
        continue;
      }
      known.back().count += share.count;
      known.back().time = add_times(known.back().time, share.time);
    }
  }

  std::map<Thing, std::vector<Share>> shares_;
};

double median_of(std::vector<std::int64_t>& values) {
  return stats::summarize_durations(values).median.value_or(0);
}

/// Segments that the slowest is compared with: steady, and with the time to the next one known.
bool is_other(const Segments& segments, std::size_t i) {
  return i >= segments.warm_up && i != *segments.slowest && i + 1 < segments.segments.size();
}

SegmentDifference difference_of(const Segments& segments, Thing thing,
                                const std::vector<Share>& shares, std::size_t others) {
  SegmentDifference difference{.kernel = thing.second, .copy = thing.first};
  std::vector<std::int64_t> times;
  std::vector<std::int64_t> counts;
  for (const Share& share : shares) {
    if (share.segment == *segments.slowest) {
      difference.time = share.time;
      difference.count = share.count;
    } else if (is_other(segments, share.segment)) {
      times.push_back(share.time);
      counts.push_back(share.count);
    }
  }
  times.resize(others, 0);  // segments without it
  counts.resize(others, 0);
  difference.usual_time = std::llround(median_of(times));
  difference.usual_count = median_of(counts);
  return difference;
}

/// Time of a segment in which nothing of it ran; 0 where its work reaches into the next one.
std::int64_t idle_of(const Segment& segment) {
  return std::max<std::int64_t>(0, segment.period - segment.busy);
}

void find_differences(const trace::Trace& trace, const Shares& shares, Segments& segments) {
  if (!segments.slowest) return;
  std::vector<std::int64_t> idle;
  for (std::size_t i = 0; i < segments.segments.size(); ++i)
    if (is_other(segments, i)) idle.push_back(idle_of(segments.segments[i]));
  if (idle.empty()) return;
  const std::size_t others = idle.size();
  const Segment& slowest = segments.segments[*segments.slowest];
  std::vector<SegmentDifference> all;
  all.push_back({.time = idle_of(slowest), .usual_time = std::llround(median_of(idle))});
  for (const auto& [thing, list] : shares.all())
    all.push_back(difference_of(segments, thing, list, others));
  std::erase_if(all, [](const SegmentDifference& d) {
    return d.time == d.usual_time && static_cast<double>(d.count) == d.usual_count;
  });
  const auto rank = [&](const SegmentDifference& d) {
    return std::tuple(-std::abs(d.time - d.usual_time), d.kernel != kNone, d.copy,
                      d.kernel == kNone ? std::string_view() : trace.strings.view(d.kernel));
  };
  std::ranges::sort(all, {}, rank);
  if (all.size() > kMostDifferences) all.resize(kMostDifferences);
  segments.differences = std::move(all);
}

/// Share of steady segments with the most frequent set of dispatches, by a hash of it.
void find_regularity(const Shares& shares, Segments& segments) {
  std::vector<std::uint64_t> content(segments.segments.size(), 0);
  for (const auto& [thing, list] : shares.all()) {
    if (thing.first) continue;
    std::uint64_t factor = (std::uint64_t{thing.second} + 1) * 0x9e3779b97f4a7c15;
    factor = (factor ^ (factor >> 31)) * 0xbf58476d1ce4e5b9;
    for (const Share& share : list)
      content[share.segment] += (factor ^ (factor >> 29)) * share.count;
  }
  std::unordered_map<std::uint64_t, std::size_t> counts;
  std::size_t most = 0;
  for (std::size_t i = segments.warm_up; i < content.size(); ++i)
    most = std::max(most, ++counts[content[i]]);
  segments.regularity =
      static_cast<double>(most) / static_cast<double>(content.size() - segments.warm_up);
}

}  // namespace

void measure_segments(const trace::Trace& trace, Segments& segments) {
  add_work(trace, segments);
  order_segments(segments);
  find_periods_and_warm_up(segments);
  find_spread(segments);
  const Shares shares(trace, segments);
  find_regularity(shares, segments);
  find_differences(trace, shares, segments);
}

}  // namespace perflab::analyze
