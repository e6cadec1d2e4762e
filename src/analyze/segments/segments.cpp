// Which process, which kind of evidence, and which work is of which segment of a found repetition.
#include "analyze/segments/segments.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>

#include "analyze/segments/repetition.h"
#include "analyze/segments/segment_parts.h"
#include "stats/median.h"

namespace perflab::analyze {
namespace {

using trace::Index;
using trace::kNone;

/// The process of the scope with the most dispatches; of several: the one that began first.
Index busiest_process(const trace::Trace& trace, const TimingScope& scope) {
  struct Work {
    std::uint64_t dispatches = 0;
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
  };
  std::vector<Work> work(trace.processes.size());
  const trace::DispatchColumns& all = trace.dispatches;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!scope.track_counts[all.track[i]]) continue;
    Work& one = work[trace.tracks[all.track[i]].process];
    ++one.dispatches;
    one.first = std::min(one.first, all.start[i]);
  }
  Index best = kNone;
  const auto rank = [&](Index process) {
    const Index source = trace.processes[process].source;
    return std::tuple(std::numeric_limits<std::uint64_t>::max() - work[process].dispatches,
                      work[process].first,
                      source == kNone ? std::string_view() : trace.sources[source].guid);
  };
  for (Index process = 0; process < work.size(); ++process)
    if (work[process].dispatches > 0 && (best == kNone || rank(process) < rank(best)))
      best = process;
  return best;
}

/// Dense numbers in the order of first use.
class Numbering {
 public:
  std::uint32_t of(std::uint64_t key) {
    return numbers_.try_emplace(key, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
};

/// By dispatch: the time before it in which none of the process ran. The first has none.
PackedColumn<std::int64_t> idle_before(const trace::Trace& trace, Index process) {
  const trace::DispatchColumns& all = trace.dispatches;
  PackedColumn<std::int64_t> idle;
  std::int64_t busy_until = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_own = trace.tracks[all.track[i]].process == process;
    idle.push_back(is_own && all.start[i] > busy_until ? all.start[i] - busy_until : 0);
    if (!is_own) continue;
    const bool is_first = busy_until == std::numeric_limits<std::int64_t>::max();
    busy_until = is_first ? all.end[i] : std::max(busy_until, all.end[i]);
  }
  return idle;
}

WorkSequence sequence_of(const trace::Trace& trace, Index process, const OrderedWork& work) {
  const PackedColumn<std::int64_t> idle = idle_before(trace, process);
  // Launches that differ in LDS or scratch alone are the same work.
  using Shape = std::pair<std::array<std::uint32_t, 3>, std::array<std::uint32_t, 3>>;
  std::map<Shape, std::uint32_t> shapes;
  std::vector<std::uint32_t> shape_of;
  for (const trace::LaunchConfig& config : trace.launch_configs)
    shape_of.push_back(
        shapes
            .try_emplace({config.grid, config.workgroup}, static_cast<std::uint32_t>(shapes.size()))
            .first->second);
  Numbering names;
  Numbering symbols;
  WorkSequence sequence;
  const trace::DispatchColumns& all = trace.dispatches;
  for (const Index i : work.dispatch) {
    sequence.duration.push_back(all.end[i] - all.start[i]);
    sequence.idle.push_back(idle[i]);
    const Index name = trace.kernel_symbols[all.kernel[i]].name;
    sequence.name.push_back(names.of(name));
    sequence.symbol.push_back(symbols.of(std::uint64_t{name} << 32 | shape_of[all.config[i]]));
  }
  return sequence;
}

/// Begin and end of the dispatches of a segment.
struct Extent {
  std::int64_t start = std::numeric_limits<std::int64_t>::max();
  std::int64_t end = 0;
};

/// The longest time in which no copy ran, within (from, to): where it begins and ends.
struct Pause {
  std::int64_t begin = 0, end = 0;
};

/// Copies between the work of two segments: those before the longest pause finish the one (results
/// are read), those after it prepare the other (inputs are written).
class CopyDivider {
 public:
  CopyDivider(const trace::Trace& trace, Index process)
      : copies_(trace.copies), mine_(copies_of(trace, process)) {}

  [[nodiscard]] Pause longest_pause(std::int64_t from, std::int64_t to) const {
    Pause best{.begin = from, .end = from};
    std::int64_t busy_until = from;
    const auto note = [&](std::int64_t next) {
      if (next - busy_until > best.end - best.begin) best = {.begin = busy_until, .end = next};
    };
    for (auto it = first_from(from); it != mine_.end() && copies_.start[*it] < to; ++it) {
      note(copies_.start[*it]);
      busy_until = std::max(busy_until, copies_.end[*it]);
    }
    note(std::max(to, busy_until));
    return best;
  }

  /// Gives copies that start in [bounds[i], bounds[i + 1]) to segment i.
  void assign(const std::vector<std::int64_t>& bounds, std::vector<Index>& of_copy) const {
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i)
      for (auto it = first_from(bounds[i]); it != mine_.end() && copies_.start[*it] < bounds[i + 1];
           ++it)
        of_copy[*it] = static_cast<Index>(i);
  }

 private:
  [[nodiscard]] std::vector<Index>::const_iterator first_from(std::int64_t time) const {
    return std::ranges::lower_bound(mine_, time, {}, [&](Index i) { return copies_.start[i]; });
  }

  const trace::CopyColumns& copies_;
  std::vector<Index> mine_;
};

std::int64_t median(std::vector<std::int64_t> values) {
  return values.empty() ? 0 : stats::upper_median(values);
}

/// Times at which segments begin, copies included, and the end of the last.
std::vector<std::int64_t> bounds_of(const std::vector<Extent>& extents, const CopyDivider& copies) {
  std::vector<std::int64_t> bounds(extents.size() + 1);
  std::vector<std::int64_t> leads;
  std::vector<std::int64_t> tails;
  for (std::size_t i = 1; i < extents.size(); ++i) {
    bounds[i] = extents[i].start;
    if (extents[i].start <= extents[i - 1].end) continue;
    const Pause pause = copies.longest_pause(extents[i - 1].end, extents[i].start);
    bounds[i] = std::min(pause.end, extents[i].start);
    leads.push_back(extents[i].start - bounds[i]);
    tails.push_back(pause.begin - extents[i - 1].end);
  }
  // The first and the last have a neighbour on one side only: they reach as far as others do,
  // within a factor.
  const std::int64_t first = extents.front().start;
  const std::int64_t last = extents.back().end;
  bounds.front() = first;
  if (const std::int64_t lead = std::min(median(leads), first / 2); lead > 0)
    bounds.front() = std::min(first, copies.longest_pause(first - 2 * lead, first).end);
  bounds.back() = last;
  if (const std::int64_t tail = median(tails); tail > 0)
    bounds.back() = copies.longest_pause(last, add_times(last, add_times(tail, tail))).end;
  return bounds;
}

/// From the first launch of a segment to that of the next.
void set_host_windows(const trace::Trace& trace, Segments& segments,
                      const std::vector<Extent>& extents) {
  for (Segment& segment : segments.segments)
    segment.host_start = std::numeric_limits<std::int64_t>::max();
  const auto note = [&](Index segment, Index launch, std::int64_t start) {
    if (segment == kNone) return;
    std::int64_t& first = segments.segments[segment].host_start;
    first = std::min(first, host_time(trace, launch, start));
  };
  for (std::size_t i = 0; i < trace.dispatches.size(); ++i)
    note(segments.of_dispatch[i], trace.dispatches.launch[i], trace.dispatches.start[i]);
  for (std::size_t i = 0; i < trace.copies.size(); ++i)
    note(segments.of_copy[i], trace.copies.launch[i], trace.copies.start[i]);
  for (std::size_t i = 0; i + 1 < segments.segments.size(); ++i)
    segments.segments[i].host_end = segments.segments[i + 1].host_start;
  segments.segments.back().host_end = extents.back().end;
}

/// Segments from the sequence of dispatches, with labels, host windows and whose work is whose.
/// `reason`: why there are none.
std::optional<Segments> segments_of_sequence(const trace::Trace& trace, Index process,
                                             const OrderedWork& work, std::string& reason) {
  FoundRepetition found = find_repetition(sequence_of(trace, process, work));
  if (!found.repetition) {
    reason = std::move(found.reason);
    return std::nullopt;
  }
  const Repetition& repetition = *found.repetition;
  if (repetition.begins.size() > kMostSegments) {
    reason = fmt::format("the dispatches repeat {} times: more than the {} segments that are kept",
                         repetition.begins.size(), kMostSegments);
    return std::nullopt;
  }
  Segments segments;
  segments.source = Segments::Source::dispatches;
  segments.process = process;
  segments.of_dispatch.assign(trace.dispatches.size(), kNone);
  segments.of_copy.assign(trace.copies.size(), kNone);
  segments.segments.resize(repetition.begins.size());
  std::vector<Extent> extents(repetition.begins.size());
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const std::size_t end = i + 1 < extents.size() ? repetition.begins[i + 1] : repetition.end;
    for (std::size_t k = repetition.begins[i]; k < end; ++k) {
      const Index dispatch = work.dispatch[k];
      segments.of_dispatch[dispatch] = static_cast<Index>(i);
      extents[i].start = std::min(extents[i].start, trace.dispatches.start[dispatch]);
      extents[i].end = std::max(extents[i].end, trace.dispatches.end[dispatch]);
    }
  }
  const Index first = work.dispatch[repetition.begins.front()];
  segments.pattern = trace.strings.view(trace.kernel_symbols[trace.dispatches.kernel[first]].name);
  const CopyDivider copies(trace, process);
  copies.assign(bounds_of(extents, copies), segments.of_copy);
  set_host_windows(trace, segments, extents);
  return segments;
}

}  // namespace

FoundSegments find_segments(const trace::Trace& trace, const TimingScope& scope) {
  FoundSegments found;
  found.missing.remedy =
      "mark the phases in the application with roctxRangePush(\"step N\") and roctxRangePop(), and "
      "record with --marker-trace";
  const Index process = busiest_process(trace, scope);
  if (process == kNone) {
    found.missing.reason = "there are no dispatches";
    return found;
  }
  if (trace.platform_of_process(process) == trace::Platform::cuda)
    found.missing.remedy =
        "mark the phases in the application with nvtxRangePushA(\"step N\") and nvtxRangePop()";
  if (!scope.times_known) {
    found.missing.reason = "the recordings have lost the digits of their times";
    found.missing.remedy = "record with -f rocpd";
    return found;
  }
  const OrderedWork work = order_work(trace, process);
  found.segments = segments_of_ranges(trace, process, work, true);
  if (!found.segments)
    found.segments = segments_of_sequence(trace, process, work, found.missing.reason);
  if (!found.segments) found.segments = segments_of_ranges(trace, process, work, false);
  if (found.segments) measure_segments(trace, *found.segments);
  return found;
}

}  // namespace perflab::analyze
