// Choice of the timing pass.
#include "analyze/scope/timing_scope.h"

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

/// Recordings that count when all are of one command and none ran beside another; else 0.
std::size_t count_sequential(const trace::Trace& trace, const std::vector<Span>& spans,
                             const std::vector<bool>& counts) {
  std::vector<std::string_view> commands(trace.sources.size());
  for (const trace::Process& process : trace.processes)
    if (process.source != trace::kNone) commands[process.source] = process.command;
  std::vector<Span> chosen;
  std::string_view command;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (!counts[i] || spans[i].end == 0) continue;
    if (commands[i].empty() || (!chosen.empty() && commands[i] != command)) return 0;
    command = commands[i];
    chosen.push_back(spans[i]);
  }
  std::ranges::sort(chosen, {}, &Span::start);
  for (std::size_t i = 1; i < chosen.size(); ++i)
    if (chosen[i].start <= chosen[i - 1].end) return 0;
  return chosen.size();
}

/// How much a recording's times are worth; the best rank that there is decides.
enum class Rank {
  free,        ///< a trace without counters
  counted,     ///< a trace under counters
  table,       ///< a table of counters
  timeless,    ///< a table whose times have lost their digits
  no_kernels,  ///< nothing ran on a GPU (a launcher process)
};

/// The "pass" of a recording outside pass folders and without counters: before all others.
constexpr int kNoPass = std::numeric_limits<int>::min();

}  // namespace

TimingScope find_timing_scope(const trace::Trace& trace, const Passes& passes) {
  const std::size_t sources = trace.sources.size();
  const std::vector<Span> spans = spans_of_sources(trace);
  const auto rank_of = [&](std::size_t i) {
    const trace::Source& source = trace.sources[i];
    if (spans[i].end == 0) return Rank::no_kernels;
    if (!source.times_known) return Rank::timeless;
    if (source.counter_table) return Rank::table;
    return passes.has_counters(i) ? Rank::counted : Rank::free;
  };
  const auto pass_of = [&](std::size_t i) {
    if (passes.has_counters(i)) return passes.passes[passes.pass_of_source[i]].info.number;
    return trace.sources[i].pass.value_or(kNoPass);
  };
  Rank best = Rank::no_kernels;
  for (std::size_t i = 0; i < sources; ++i) best = std::min(best, rank_of(i));
  int chosen_pass = std::numeric_limits<int>::max();
  for (std::size_t i = 0; i < sources; ++i)
    if (rank_of(i) == best) chosen_pass = std::min(chosen_pass, pass_of(i));
  Span chosen;
  std::optional<int> folder;  // of the chosen recordings
  for (std::size_t i = 0; i < sources; ++i) {
    if (rank_of(i) != best || pass_of(i) != chosen_pass) continue;
    chosen.extend(spans[i].start, spans[i].end);
    folder = trace.sources[i].pass;
  }

  TimingScope scope;
  scope.times_known = best != Rank::timeless;
  for (std::size_t i = 0; i < sources; ++i) {
    const bool same_run = trace.sources[i].pass == folder;
    bool counts = rank_of(i) == best && pass_of(i) == chosen_pass;
    if (rank_of(i) == Rank::no_kernels) counts = best == Rank::no_kernels || same_run;
    // Processes of one run, some of them recorded with counters: not the same work again.
    if (best == Rank::free && rank_of(i) == Rank::counted)
      counts = same_run && spans[i].overlaps(chosen);
    scope.source_counts.push_back(counts);
    if (!counts || !passes.has_counters(i)) continue;
    scope.under_counters = true;
    if (!trace.sources[i].pass && !trace.sources[i].counter_table)
      ++scope.unlabelled_counter_sources;
  }
  scope.sequential = count_sequential(trace, spans, scope.source_counts);
  for (std::size_t track = 0; track < trace.tracks.size(); ++track)
    scope.track_counts.push_back(
        scope.source_counts[trace.source_of_track(static_cast<trace::Index>(track))]);
  return scope;
}

}  // namespace perflab::analyze
