// Choice of the timing pass.
#include "analyze/timing_scope.h"

#include <algorithm>
#include <limits>

namespace perflab::analyze {
namespace {

/// First start and last end of a recording's dispatches; empty (end < start) without any.
struct Span {
  std::int64_t start = std::numeric_limits<std::int64_t>::max();
  std::int64_t end = 0;

  void extend(std::int64_t from, std::int64_t to) {
    start = std::min(start, from);
    end = std::max(end, to);
  }
  [[nodiscard]] bool overlaps(const Span& other) const {
    return start <= other.end && other.start <= end;
  }
};

std::vector<Span> spans_of_sources(const trace::Trace& trace) {
  std::vector<Span> of_track(trace.tracks.size());
  const trace::DispatchColumns& all = trace.dispatches;
  for (std::size_t i = 0; i < all.size(); ++i)
    of_track[all.track[i]].extend(all.start[i], all.end[i]);
  std::vector<Span> spans(trace.sources.size());
  for (std::size_t track = 0; track < of_track.size(); ++track)
    if (of_track[track].end > 0)
      spans[trace.source_of_track(static_cast<trace::Index>(track))].extend(of_track[track].start,
                                                                            of_track[track].end);
  return spans;
}

std::vector<bool> sources_with_counters(const trace::Trace& trace) {
  std::vector<bool> has_counters(trace.sources.size(), false);
  for (const trace::Index dispatch : trace.counters.dispatch)
    has_counters[trace.source_of_track(trace.dispatches.track[dispatch])] = true;
  return has_counters;
}

/// The "pass" of a recording outside pass folders: before all others.
constexpr int kNoPass = std::numeric_limits<int>::min();

}  // namespace

TimingScope find_timing_scope(const trace::Trace& trace) {
  const std::size_t sources = trace.sources.size();
  const std::vector<bool> has_counters = sources_with_counters(trace);
  const std::vector<Span> spans = spans_of_sources(trace);
  const auto pass_of = [&](std::size_t i) { return trace.sources[i].pass.value_or(kNoPass); };
  // A recording without dispatches (a launcher process) has no times to prefer.
  const auto is_free = [&](std::size_t i) { return !has_counters[i] && spans[i].end > 0; };
  bool any_free = false;
  for (std::size_t i = 0; i < sources; ++i) any_free = any_free || is_free(i);
  int chosen_pass = std::numeric_limits<int>::max();
  for (std::size_t i = 0; i < sources; ++i)
    if (any_free ? is_free(i) : has_counters[i]) chosen_pass = std::min(chosen_pass, pass_of(i));
  Span free_run;
  for (std::size_t i = 0; i < sources; ++i)
    if (is_free(i) && pass_of(i) == chosen_pass) free_run.extend(spans[i].start, spans[i].end);

  TimingScope scope;
  for (std::size_t i = 0; i < sources; ++i) {
    const bool repeats = any_free && has_counters[i] && !spans[i].overlaps(free_run);
    // Host-only recordings of a trace without any dispatch count, whatever their pass.
    const bool same_pass =
        pass_of(i) == chosen_pass || chosen_pass == std::numeric_limits<int>::max();
    const bool counts = same_pass && !repeats;
    scope.source_counts.push_back(counts);
    if (!counts || !has_counters[i]) continue;
    scope.under_counters = true;
    if (!trace.sources[i].pass) ++scope.unlabelled_counter_sources;
  }
  for (std::size_t track = 0; track < trace.tracks.size(); ++track)
    scope.track_counts.push_back(
        scope.source_counts[trace.source_of_track(static_cast<trace::Index>(track))]);
  return scope;
}

}  // namespace perflab::analyze
