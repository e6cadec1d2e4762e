// The path is walked twice: once for the lengths of its stretches, once to fill those that are
// kept. A path can have millions of stretches, so only lengths are held for all of them.
#include "analyze/critical_path/path_segments.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "analyze/critical_path/graph_input.h"

namespace perflab::analyze {
namespace {

using trace::Index;
using trace::kNone;

/// Where a node runs.
struct Where {
  Place place = Place::nowhere;
  Index index = kNone;  ///< streams, queues or threads
  Index process = kNone;
  friend bool operator==(const Where&, const Where&) = default;
};

Where where_of(const trace::Trace& trace, const Graph& graph, NodeId node) {
  const std::uint32_t row = graph.row(node);
  if (is_call(graph.kind(node))) {
    const Index thread = trace.regions.thread[row];
    return {.place = Place::host_thread, .index = thread, .process = trace.threads[thread].process};
  }
  const bool dispatch = graph.kind(node) == NodeKind::dispatch;
  const trace::Track& track =
      trace.tracks[dispatch ? trace.dispatches.track[row] : trace.copies.track[row]];
  if (track.stream != kNone)
    return {.place = Place::stream, .index = track.stream, .process = track.process};
  if (track.queue != kNone)
    return {.place = Place::queue, .index = track.queue, .process = track.process};
  return {.place = Place::nowhere, .index = kNone, .process = track.process};
}

std::int64_t id_of(const trace::Trace& trace, const Where& where) {
  switch (where.place) {
    case Place::host_thread:
      return trace.threads[where.index].tid;
    case Place::stream:
      return trace.streams[where.index].id;
    case Place::queue:
      return trace.queues[where.index].id;
    case Place::several:
    case Place::nowhere:
      return 0;
  }
  return 0;
}

/// Numbers the stretches of a walk from the end: a new one begins where the place changes.
class StretchCounter {
 public:
  /// Whether the step is the first of a stretch (in walking order).
  bool next(const Where& where) {
    const bool changed = !last_ || !(*last_ == where);
    last_ = where;
    return changed;
  }

 private:
  std::optional<Where> last_;
};

/// By stretch in walking order: the segment it belongs to. The longest (most - 1) / 2 stay alone.
std::vector<std::uint32_t> assign_segments(const PackedColumn<std::int64_t>& lengths,
                                           std::size_t most) {
  std::vector<std::uint32_t> segment(lengths.size());
  std::iota(segment.begin(), segment.end(), 0U);
  if (lengths.size() <= most) return segment;
  const std::size_t kept = std::max<std::size_t>(1, (most - 1) / 2);
  std::vector<std::uint32_t> order = segment;
  std::ranges::nth_element(order, order.begin() + static_cast<std::ptrdiff_t>(kept),
                           [&](std::uint32_t a, std::uint32_t b) {
                             return std::pair{-lengths[a], a} < std::pair{-lengths[b], b};
                           });
  std::vector<bool> alone(lengths.size(), false);
  for (std::size_t i = 0; i < kept; ++i) alone[order[i]] = true;
  std::uint32_t number = 0;
  for (std::size_t i = 1; i < lengths.size(); ++i) {
    if (alone[i] || alone[i - 1]) ++number;
    segment[i] = number;
  }
  segment[0] = 0;
  return segment;
}

/// What a segment is filled with while it is walked.
struct Filling {
  PathSegment segment;
  std::uint64_t stretches = 0;
  NodeId last_node = kNoNode;
};

/// Times of names in the segment that is walked.
class NameTimes {
 public:
  explicit NameTimes(std::size_t names) : time_(names, kNotThere) {}

  void add(Index name, std::int64_t time) {
    if (time_[name] == kNotThere) {
      time_[name] = 0;
      there_.push_back(name);
    }
    time_[name] += time;
  }

  /// Those with the most time; none is there afterwards.
  std::vector<std::pair<Index, std::int64_t>> take() {
    std::vector<std::pair<Index, std::int64_t>> names;
    for (const Index name : there_) names.emplace_back(name, std::exchange(time_[name], kNotThere));
    there_.clear();
    std::ranges::sort(names, {},
                      [](const auto& name) { return std::pair{-name.second, name.first}; });
    if (names.size() > kMostNamesOfSegment) names.resize(kMostNamesOfSegment);
    return names;
  }

 private:
  static constexpr std::int64_t kNotThere = -1;
  std::vector<std::int64_t> time_;  ///< ns, by name
  std::vector<Index> there_;
};

}  // namespace

PathSegments path_segments(const trace::Trace& trace, const Graph& graph, std::int64_t begin,
                           std::int64_t end, std::size_t most) {
  PackedColumn<std::int64_t> lengths;
  StretchCounter counter;
  std::optional<std::int64_t> open;  // length of the stretch that is walked
  walk_critical_path(graph, begin, end, [&](const PathStep& step) {
    if (counter.next(where_of(trace, graph, step.node)) && open)
      lengths.push_back(*std::exchange(open, 0));
    open = open.value_or(0) + step.to - step.from;
  });
  if (open) lengths.push_back(*open);
  PathSegments result{.segments = {}, .stretches = lengths.size()};
  if (lengths.empty()) return result;
  const std::vector<std::uint32_t> segment_of =
      assign_segments(lengths, std::max<std::size_t>(most, 3));

  std::vector<Filling> fillings(segment_of.back() + std::size_t{1});
  StretchCounter again;
  std::size_t stretch = 0;
  std::size_t seen = 0;
  NameTimes names(trace.strings.size());
  std::uint32_t number = 0;      // of the segment, whose steps follow each other
  PathSegment* later = nullptr;  // the segment of the step before, which is later in time
  walk_critical_path(graph, begin, end, [&](const PathStep& step) {
    const Where where = where_of(trace, graph, step.node);
    const bool first_of_stretch = again.next(where);
    if (first_of_stretch) stretch = seen++;
    if (segment_of[stretch] != number) fillings[number].segment.names = names.take();
    number = segment_of[stretch];
    Filling& filling = fillings[number];
    PathSegment& segment = filling.segment;
    if (first_of_stretch && filling.stretches++ == 0) {
      segment.to = step.to - begin;
      segment.place = where.place;
      segment.process = where.process;
      segment.place_id = id_of(trace, where);
    } else if (segment.place != where.place || segment.place_id != id_of(trace, where)) {
      segment.place = Place::several;
    }
    segment.from = step.from - begin;
    segment.spent[static_cast<std::size_t>(step.spent)] += step.to - step.from;
    segment.entered = step.via == kNoEdge ? std::nullopt : std::optional(graph.rule[step.via]);
    if (segment.entered == EdgeRule::submission_order) {  // a step of the node it comes from
      segment.entered = std::nullopt;
      if (later != nullptr && later != &segment) later->entered = EdgeRule::submission_order;
    }
    later = &segment;
    if (step.spent != Spent::kernel && step.spent != Spent::copy && step.spent != Spent::host_call)
      return;  // between nodes
    if (step.node != filling.last_node) ++segment.nodes;
    filling.last_node = step.node;
    names.add(node_name(trace, graph, step.node), step.to - step.from);
  });
  fillings[number].segment.names = names.take();
  for (Filling& filling : fillings) {
    filling.segment.folded = filling.stretches - 1;
    result.segments.push_back(std::move(filling.segment));
  }
  std::ranges::reverse(result.segments);
  return result;
}

}  // namespace perflab::analyze
