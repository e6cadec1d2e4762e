// Two passes over the operations: the first counts how many slices each resolution would need, the
// second makes those of the finest that fits. Resolutions double, so that bins lie within each
// other and one operation is counted in few steps. The path is walked likewise.
#include "analyze/timeline/timeline.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "analyze/timeline/timeline_operations.h"
#include "base/units.h"

namespace perflab::analyze {
namespace {

using trace::Index;
using trace::kNone;

/// Bins of the finest resolution at most: a power of two beyond what any screen shows.
constexpr std::int64_t kFinestBins = std::int64_t{1} << 17;
/// Lanes of host threads, and of the rest, that stay when there are too many of both.
constexpr std::size_t kKinds = 2;

/// Resolutions that a timeline of some span can have, finest first: each twice the one before, the
/// last as long as the span.
std::vector<std::int64_t> resolutions_of(std::int64_t span) {
  std::vector<std::int64_t> out = {std::max<std::int64_t>(1, (span - 1) / kFinestBins + 1)};
  while (out.back() < span) out.push_back(out.back() * 2);
  return out;
}

/// Counts pieces at every resolution: those as long as it stand alone, shorter ones are one for
/// every bin in which any of them lies. Places must come in order, ascending or descending.
class PieceCounter {
 public:
  explicit PieceCounter(const std::vector<std::int64_t>& resolutions)
      : resolutions_(&resolutions),
        last_bin_(resolutions.size(), -1),
        pieces_(resolutions.size(), 0) {}

  void add(std::int64_t place, std::int64_t length) {
    ++all_;
    const std::size_t last = resolutions_->size() - 1;
    const std::int64_t finest = place / resolutions_->front();
    for (std::size_t i = 0; i <= last; ++i) {
      if (i < last && length >= (*resolutions_)[i]) {
        ++pieces_[i];
        continue;
      }
      const std::int64_t bin = i == last ? 0 : finest >> i;
      if (last_bin_[i] == bin) return;  // so do coarser bins
      last_bin_[i] = bin;
      ++pieces_[i];
    }
  }
  [[nodiscard]] std::uint64_t all() const { return all_; }
  [[nodiscard]] std::uint64_t pieces(std::size_t resolution) const { return pieces_[resolution]; }

 private:
  const std::vector<std::int64_t>* resolutions_;
  std::vector<std::int64_t> last_bin_;
  std::vector<std::uint64_t> pieces_;
  std::uint64_t all_ = 0;
};

/// What the first pass learns of a lane.
struct LaneCount {
  explicit LaneCount(const std::vector<std::int64_t>& resolutions) : counter(resolutions) {}

  PieceCounter counter;
  std::uint64_t operations = 0;
  std::int64_t busy = 0;
};

/// A lane while its slices are made.
struct LaneDraft {
  std::vector<TimelineSlice> slices;
  std::vector<bool> merged;  ///< by slice: of operations shorter than the resolution
  std::unordered_map<std::uint32_t, std::int64_t> times;  ///< by name, of the last merged one
  std::int64_t most = 0;                                  ///< of them, that of the slice's name
  std::size_t last_merged = SIZE_MAX, last = SIZE_MAX;    ///< slices
  std::size_t behind = 0;  ///< slice that slice_of() found last, and one
};

class TimelineMaker {
 public:
  TimelineMaker(const trace::Trace& trace, const TimingScope& scope, const TimelineWindow& window,
                const TimelineLimits& limits)
      : trace_(trace),
        operations_(trace, scope, window.node),
        resolutions_(resolutions_of(window.span)),
        limits_(limits) {
    out_.node = window.node;
    out_.begin = window.begin;
    out_.span = window.span;
  }

  void make_lanes() {
    count_operations();
    choose_lanes();
    choose_resolution();
    make_slices();
  }

  Timeline finish(const Graph* graph) {
    if (graph != nullptr) add_path(*graph);
    finish_lanes();
    sort_names();
    return std::move(out_);
  }

 private:
  enum class Where : std::uint8_t { inside, outside, elsewhere };

  Where cut(TimelineOperation& operation) const;
  void count_operations();
  void choose_lanes();
  void choose_resolution();
  void make_slices();
  void add_slice(LaneDraft& lane, const TimelineOperation& operation);
  void merge(LaneDraft& lane, const TimelineOperation& operation);
  std::uint32_t number(const TimelineName& name);
  std::size_t slice_of(LaneDraft& lane, const TimelineOperation& operation);
  void add_path(const Graph& graph);
  void each_stretch(const Graph& graph, bool first,
                    const std::function<void(const TimelineStretch&)>& visit);
  std::uint32_t lane_of_step(const Graph& graph, const PathStep& step, bool first);
  void merge_path(const Graph& graph, const PieceCounter& counter);
  void finish_lanes();
  void sort_names();

  const trace::Trace& trace_;
  TimelineOperations operations_;
  std::vector<std::int64_t> resolutions_;
  TimelineLimits limits_;
  std::vector<LaneCount> counts_;    ///< by place
  std::vector<std::uint32_t> lane_;  ///< by place: Timeline::lanes, kNone for one left out
  std::vector<LaneDraft> drafts_;    ///< by lane
  std::array<std::vector<std::uint32_t>, 3> number_of_name_;  ///< by kind, by string
  Timeline out_;
};

/// Where an operation lies; what remains inside is made relative to the begin.
TimelineMaker::Where TimelineMaker::cut(TimelineOperation& operation) const {
  if (operation.lane == kNone) return Where::elsewhere;
  const std::int64_t begin = out_.begin, end = begin + out_.span;
  const bool empty = operation.start == operation.end;
  if (operation.end < begin || operation.start > end ||
      (!empty && (operation.end == begin || operation.start == end)))
    return Where::outside;
  operation.start = std::max(operation.start, begin) - begin;
  operation.end = std::min(operation.end, end) - begin;
  return Where::inside;
}

void TimelineMaker::count_operations() {
  operations_.each([&](const TimelineOperation& operation) {
    TimelineOperation part = operation;
    const Where where = cut(part);
    const std::int64_t time = operation.nested ? 0 : operation.end - operation.start;
    if (where != Where::inside) {
      TimelineRest& rest = where == Where::outside ? out_.outside : out_.elsewhere;
      ++rest.operations;
      rest.busy = add_saturating(rest.busy, time);
      return;
    }
    while (counts_.size() <= part.lane) counts_.emplace_back(resolutions_);
    LaneCount& count = counts_[part.lane];
    ++count.operations;
    if (operation.nested) return;
    count.busy = add_saturating(count.busy, part.end - part.start);
    out_.outside.busy = add_saturating(out_.outside.busy, time - (part.end - part.start));
    count.counter.add(part.start, part.end - part.start);
  });
}

/// Lanes by kind, process and number; of too many the busiest, half of them at least of what runs
/// on GPUs (threads that wait are busy all the time).
void TimelineMaker::choose_lanes() {
  std::vector<Index> by_kind[kKinds];
  for (Index i = 0; i < counts_.size(); ++i)
    if (counts_[i].operations > 0)
      by_kind[operations_.places()[i].kind == Place::host_thread ? 0 : 1].push_back(i);
  const auto number_of = [&](Index i) -> std::int64_t {
    const TimelinePlace& place = operations_.places()[i];
    if (place.kind == Place::stream) return trace_.streams[place.place].id;
    if (place.kind == Place::queue) return trace_.queues[place.place].id;
    return 0;
  };
  const auto order = [&](Index i) {
    const TimelinePlace& place = operations_.places()[i];
    return std::tuple{place.kind, place.process, number_of(i), place.place, place.agent};
  };
  std::size_t rooms[kKinds] = {by_kind[0].size(), by_kind[1].size()};
  if (rooms[0] + rooms[1] > limits_.lanes) {
    rooms[1] = std::min(rooms[1], std::max(limits_.lanes - std::min(limits_.lanes, rooms[0]),
                                           limits_.lanes - limits_.lanes / 2));
    rooms[0] = std::min(rooms[0], limits_.lanes - rooms[1]);
  }
  std::vector<Index> kept;
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    std::ranges::sort(by_kind[kind], [&](Index a, Index b) {
      if (counts_[a].busy != counts_[b].busy) return counts_[a].busy > counts_[b].busy;
      return order(a) < order(b);
    });
    for (std::size_t i = 0; i < by_kind[kind].size(); ++i) {
      const Index place = by_kind[kind][i];
      if (i < rooms[kind]) {
        kept.push_back(place);
        continue;
      }
      ++out_.left_out.lanes;
      out_.left_out.operations += counts_[place].operations;
      out_.left_out.busy = add_saturating(out_.left_out.busy, counts_[place].busy);
    }
  }
  std::ranges::sort(kept, {}, order);
  lane_.assign(operations_.places().size(), kNone);
  for (const Index i : kept) {
    const TimelinePlace& place = operations_.places()[i];
    lane_[i] = static_cast<std::uint32_t>(out_.lanes.size());
    TimelineLane& lane = out_.lanes.emplace_back();
    lane.kind = place.kind;
    lane.process = place.process;
    lane.place = place.place;
    lane.agent = place.agent;
  }
  drafts_.resize(kept.size());
}

void TimelineMaker::choose_resolution() {
  const auto total = [&](const auto& of) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if (lane_[i] != kNone) sum += of(counts_[i].counter);
    return sum;
  };
  if (total([](const PieceCounter& counter) { return counter.all(); }) <= limits_.slices) return;
  std::size_t level = 0;
  while (level + 1 < resolutions_.size() &&
         total([&](const PieceCounter& counter) { return counter.pieces(level); }) > limits_.slices)
    ++level;
  out_.resolution = resolutions_[level];
}

std::uint32_t TimelineMaker::number(const TimelineName& name) {
  std::vector<std::uint32_t>& numbers = number_of_name_[static_cast<std::size_t>(name.kind)];
  if (numbers.empty()) numbers.assign(trace_.strings.size(), kNone);
  std::uint32_t& number = numbers[name.name];
  if (number == kNone) {
    number = static_cast<std::uint32_t>(out_.names.size());
    out_.names.push_back(name);
  }
  return number;
}

void TimelineMaker::make_slices() {
  // A call that was left out leaves out what was called inside it.
  operations_.each([&](TimelineOperation operation) {
    if (cut(operation) != Where::inside) return;
    const std::uint32_t lane = lane_[operation.lane];
    if (lane != kNone) add_slice(drafts_[lane], operation);
  });
}

void TimelineMaker::add_slice(LaneDraft& lane, const TimelineOperation& operation) {
  if (operation.nested && lane.last != SIZE_MAX) {
    ++lane.slices[lane.last].count;
    return;
  }
  const std::int64_t duration = operation.end - operation.start;
  const bool alone =
      out_.resolution == 0 || (out_.resolution < out_.span && duration >= out_.resolution);
  if (!alone) {
    merge(lane, operation);
    return;
  }
  lane.last = lane.slices.size();
  lane.merged.push_back(false);
  lane.slices.push_back({.start = operation.start,
                         .duration = duration,
                         .name = number(operation.name),
                         .count = 1,
                         .busy = duration});
}

void TimelineMaker::merge(LaneDraft& lane, const TimelineOperation& operation) {
  const auto bin = [&](std::int64_t time) {
    return out_.resolution < out_.span ? time / out_.resolution : 0;
  };
  const std::uint32_t name = number(operation.name);
  const std::int64_t time = operation.end - operation.start;
  if (lane.last_merged == SIZE_MAX ||
      bin(lane.slices[lane.last_merged].start) != bin(operation.start)) {
    lane.last_merged = lane.slices.size();
    lane.slices.push_back({.start = operation.start, .name = name});
    lane.merged.push_back(true);
    lane.times.clear();
    lane.most = 0;
  }
  TimelineSlice& slice = lane.slices[lane.last_merged];
  slice.duration = std::max(slice.duration, operation.end - slice.start);
  ++slice.count;
  slice.busy = add_saturating(slice.busy, time);
  std::int64_t& of_name = lane.times[name];
  of_name = add_saturating(of_name, time);
  if (name == slice.name || of_name > lane.most) {
    slice.name = name;
    lane.most = of_name;
  }
  lane.last = lane.last_merged;
}

/// The slice that an operation is part of; SIZE_MAX: none. The path goes along a lane: the next one
/// asked for is near.
std::size_t TimelineMaker::slice_of(LaneDraft& lane, const TimelineOperation& operation) {
  while (lane.behind > 0 && lane.slices[lane.behind - 1].start > operation.start) --lane.behind;
  while (lane.behind < lane.slices.size() && lane.slices[lane.behind].start <= operation.start)
    ++lane.behind;
  if (lane.behind == 0) return SIZE_MAX;
  const std::size_t nearest = lane.behind - 1;
  if (operation.name.kind == NodeKind::call) return nearest;  // it or the call that it is inside
  const std::int64_t duration = operation.end - operation.start;
  const bool alone =
      out_.resolution == 0 || (out_.resolution < out_.span && duration >= out_.resolution);
  for (std::size_t i = nearest + 1; i-- > 0;) {  // operations of a lane can lie side by side
    const TimelineSlice& slice = lane.slices[i];
    if (alone && slice.start != operation.start) break;
    if (!alone && out_.resolution < out_.span &&
        slice.start / out_.resolution != operation.start / out_.resolution)
      break;
    if (alone ? slice.duration == duration && out_.names[slice.name] == operation.name
              : lane.merged[i])
      return i;
  }
  return nearest;
}

/// The lane of a step of the path. In the first walk its time is added to the slice that it lies
/// in.
std::uint32_t TimelineMaker::lane_of_step(const Graph& graph, const PathStep& step, bool first) {
  if (step.spent == Spent::idle) return kNone;
  TimelineOperation operation = operations_.of_node(graph, step.node);
  const std::uint32_t lane =
      operation.lane == kNone || operation.lane >= lane_.size() ? kNone : lane_[operation.lane];
  const bool inside = step.spent == Spent::kernel || step.spent == Spent::copy ||
                      step.spent == Spent::host_call || step.spent == Spent::sync_return;
  if (!first || !inside) return lane;
  const std::int64_t time = step.to - step.from;
  std::size_t slice = SIZE_MAX;
  if (lane != kNone && cut(operation) == Where::inside) slice = slice_of(drafts_[lane], operation);
  (slice == SIZE_MAX ? out_.left_out.path : drafts_[lane].slices[slice].path) += time;
  return lane;
}

/// Visits the path from its end to its begin, steps of one kind and lane as one.
void TimelineMaker::each_stretch(const Graph& graph, bool first,
                                 const std::function<void(const TimelineStretch&)>& visit) {
  std::optional<TimelineStretch> open;
  const std::int64_t begin = out_.begin;
  walk_critical_path(graph, begin, begin + out_.span, [&](const PathStep& step) {
    if (step.from == step.to) return;
    const std::uint32_t lane = lane_of_step(graph, step, first);
    if (open && open->spent == step.spent && open->lane == lane) {
      open->from = step.from - begin;
      return;
    }
    if (open) visit(*open);
    open = TimelineStretch{
        .from = step.from - begin, .to = step.to - begin, .spent = step.spent, .lane = lane};
  });
  if (open) visit(*open);
}

void TimelineMaker::add_path(const Graph& graph) {
  PieceCounter counter(resolutions_);
  std::vector<TimelineStretch>& path = out_.path.emplace();
  each_stretch(graph, true, [&](TimelineStretch stretch) {
    counter.add(stretch.to - 1, stretch.to - stretch.from);
    if (counter.all() > limits_.stretches) return;
    stretch.spent_time = stretch.to - stretch.from;
    path.push_back(stretch);
  });
  if (counter.all() > limits_.stretches) merge_path(graph, counter);
  std::ranges::reverse(path);
}

/// Neighbours that are shorter than the resolution and end in one bin become one stretch. A longer
/// one between two parts their ends by a bin at least.
void TimelineMaker::merge_path(const Graph& graph, const PieceCounter& counter) {
  std::size_t level = 0;
  while (level + 1 < resolutions_.size() && counter.pieces(level) > limits_.stretches) ++level;
  const bool whole = level + 1 == resolutions_.size();
  const std::int64_t resolution = out_.path_resolution = resolutions_[level];
  const auto bin = [&](const TimelineStretch& stretch) {
    return whole ? 0 : (stretch.to - 1) / resolution;
  };
  std::vector<TimelineStretch>& path = *out_.path;
  path.clear();
  std::map<std::pair<Spent, std::uint32_t>, std::int64_t> times;  // of the open one
  std::int64_t open_bin = -1;
  each_stretch(graph, false, [&](TimelineStretch stretch) {
    const std::int64_t time = stretch.spent_time = stretch.to - stretch.from;
    const bool alone = !whole && time >= resolution;
    if (alone || bin(stretch) != open_bin) {
      path.push_back(stretch);
      times = {{{stretch.spent, stretch.lane}, time}};
      open_bin = alone ? -1 : bin(stretch);
      return;
    }
    TimelineStretch& open = path.back();
    open.from = stretch.from;
    const std::int64_t sum = times[{stretch.spent, stretch.lane}] += time;
    if (std::pair{stretch.spent, stretch.lane} != std::pair{open.spent, open.lane} &&
        sum <= open.spent_time)
      return;
    open.spent = stretch.spent;
    open.lane = stretch.lane;
    open.spent_time = sum;
  });
}

void TimelineMaker::finish_lanes() {
  for (std::size_t i = 0; i < drafts_.size(); ++i) {
    TimelineLane& lane = out_.lanes[i];
    lane.slices = std::move(drafts_[i].slices);
    for (const TimelineSlice& slice : lane.slices) {
      lane.operations += slice.count;
      lane.busy = add_saturating(lane.busy, slice.busy);
      lane.path += slice.path;
    }
  }
}

/// Names that slices have, by kind and text: their numbers depend on nothing else.
void TimelineMaker::sort_names() {
  std::vector<bool> used(out_.names.size(), false);
  for (const TimelineLane& lane : out_.lanes)
    for (const TimelineSlice& slice : lane.slices) used[slice.name] = true;
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < used.size(); ++i)
    if (used[i]) order.push_back(i);
  std::ranges::sort(order, {}, [&](std::uint32_t i) {
    return std::pair{out_.names[i].kind, trace_.strings.view(out_.names[i].name)};
  });
  std::vector<TimelineName> names;
  std::vector<std::uint32_t> place(used.size(), 0);
  for (const std::uint32_t i : order) {
    place[i] = static_cast<std::uint32_t>(names.size());
    names.push_back(out_.names[i]);
  }
  for (TimelineLane& lane : out_.lanes)
    for (TimelineSlice& slice : lane.slices) slice.name = place[slice.name];
  out_.names = std::move(names);
}

}  // namespace

TimelineWindow whole_window(const trace::Trace& trace, const TimingScope& scope, Index node) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0;
  TimelineOperations(trace, scope, node).each([&](const TimelineOperation& operation) {
    if (operation.lane == kNone) return;
    first = std::min(first, operation.start);
    last = std::max(last, operation.end);
  });
  if (first > last) return {.node = node, .begin = 0, .span = 0};
  return {.node = node, .begin = first, .span = last - first};
}

std::function<Timeline(const Graph*)> begin_timeline(const trace::Trace& trace,
                                                     const TimingScope& scope,
                                                     const TimelineWindow& window,
                                                     const TimelineLimits& limits) {
  const auto maker = std::make_shared<TimelineMaker>(trace, scope, window, limits);
  maker->make_lanes();
  return [maker](const Graph* graph) { return maker->finish(graph); };
}

Timeline make_timeline(const trace::Trace& trace, const TimingScope& scope,
                       const TimelineWindow& window, const Graph* graph,
                       const TimelineLimits& limits) {
  return begin_timeline(trace, scope, window, limits)(graph);
}

}  // namespace perflab::analyze
