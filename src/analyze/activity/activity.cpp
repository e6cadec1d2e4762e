// Sums over the columns of a Trace. All in one pass each; order of output never depends on ids of
// the file.
#include "analyze/activity/activity.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/units.h"

namespace perflab::analyze {
namespace {

using trace::Index;
using trace::kNone;

bool thread_counts(const trace::Trace& trace, const TimingScope& scope, Index thread) {
  return thread == kNone ||
         scope.source_counts[trace.processes[trace.threads[thread].process].source];
}

}  // namespace

Activity measure_activity(const trace::Trace& trace, const TimingScope& scope) {
  Activity activity;
  const trace::DispatchColumns& all = trace.dispatches;
  std::vector<std::int64_t> track_end(trace.queues.size(), 0);
  std::int64_t busy_until = 0;
  const auto extend = [&](std::int64_t start, std::int64_t end) {
    if (activity.first_start == 0 || start < activity.first_start) activity.first_start = start;
    activity.last_end = std::max(activity.last_end, end);
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    const trace::Track& track = trace.tracks[all.track[i]];
    if (!scope.track_counts[all.track[i]]) continue;
    const std::int64_t start = all.start[i];
    const std::int64_t end = all.end[i];
    extend(start, end);
    activity.dispatch_total = add_saturating(activity.dispatch_total, end - start);
    if (end > busy_until)
      activity.gpu_busy += end - std::max(start, busy_until);  // disjoint: cannot overflow
    busy_until = std::max(busy_until, end);
    if (track.queue == kNone) continue;
    if (start < track_end[track.queue]) ++activity.overlapping_on_queue;
    track_end[track.queue] = std::max(track_end[track.queue], end);
  }
  for (std::size_t i = 0; i < trace.copies.size(); ++i)
    if (scope.track_counts[trace.copies.track[i]])
      extend(trace.copies.start[i], trace.copies.end[i]);
  return activity;
}

std::vector<ApiCall> summarize_api(const trace::Trace& trace, const TimingScope& scope) {
  struct Sum {
    std::uint64_t count = 0;
    std::int64_t total = 0, min = 0, max = 0;
  };
  std::unordered_map<std::uint64_t, Sum> sums;
  const trace::RegionColumns& all = trace.regions;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!thread_counts(trace, scope, all.thread[i])) continue;
    const std::int64_t duration = all.end[i] - all.start[i];
    Sum& sum = sums[(std::uint64_t{all.category[i]} << 32) | all.name[i]];
    sum.min = sum.count == 0 ? duration : std::min(sum.min, duration);
    sum.max = std::max(sum.max, duration);
    sum.total = add_saturating(sum.total, duration);
    ++sum.count;
  }
  std::vector<ApiCall> calls;
  for (const auto& [key, sum] : sums)
    calls.push_back({.category = std::string(trace.strings.view(static_cast<Index>(key >> 32))),
                     .name = std::string(trace.strings.view(static_cast<Index>(key))),
                     .count = sum.count,
                     .total = sum.total,
                     .min = sum.min,
                     .max = sum.max});
  std::ranges::sort(calls, [](const ApiCall& a, const ApiCall& b) {
    return std::tie(b.total, a.category, a.name) < std::tie(a.total, b.category, b.name);
  });
  return calls;
}

std::vector<CopyKind> summarize_copies(const trace::Trace& trace, const TimingScope& scope) {
  std::map<std::string_view, CopyKind> kinds;
  const trace::CopyColumns& all = trace.copies;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!scope.track_counts[all.track[i]]) continue;
    CopyKind& kind = kinds[trace.strings.view(all.kind[i])];
    ++kind.count;
    const bool sized = trace.sources[trace.source_of_track(all.track[i])].copy_sizes_known;
    if (sized && kind.bytes)
      kind.bytes = add_saturating(*kind.bytes, all.bytes[i]);
    else
      kind.bytes.reset();
    kind.total = add_saturating(kind.total, all.end[i] - all.start[i]);
  }
  std::vector<CopyKind> out;
  for (auto& [name, kind] : kinds) {
    kind.kind = name;
    if (kind.total > 0 && kind.bytes)
      kind.gb_per_s = static_cast<double>(*kind.bytes) / static_cast<double>(kind.total);
    out.push_back(kind);
  }
  std::ranges::stable_sort(out, std::ranges::greater{}, &CopyKind::total);
  return out;
}

std::vector<AllocationKind> summarize_allocations(const trace::Trace& trace,
                                                  const TimingScope& scope) {
  std::map<std::pair<std::string_view, std::string_view>, AllocationKind> kinds;
  const trace::AllocationColumns& all = trace.allocations;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!scope.source_counts[trace.processes[all.process[i]].source]) continue;
    AllocationKind& kind =
        kinds[{trace.strings.view(all.type[i]), trace.strings.view(all.level[i])}];
    ++kind.count;
    kind.bytes = add_saturating(kind.bytes, all.bytes[i]);
  }
  std::vector<AllocationKind> out;
  for (auto& [key, kind] : kinds) {
    kind.type = key.first;
    kind.level = key.second;
    out.push_back(kind);
  }
  return out;
}

std::vector<Counter> summarize_counters(const trace::Trace& trace, const Passes& passes) {
  const trace::CounterColumns& all = trace.counters;
  std::map<std::tuple<std::string_view, std::string_view, int>, Counter> sums;
  std::map<std::pair<Index, Index>, std::unordered_map<Index, Counter*>> known;  // by counter
  std::unordered_map<Index, Counter*>* of_dispatch = nullptr;  // of the row's kernel and pass
  for (std::size_t i = 0; i < all.size(); ++i) {
    const trace::CounterInfo& info = trace.counter_infos[all.counter[i]];
    const Index source = trace.source_of_track(trace.dispatches.track[all.dispatch[i]]);
    if (!passes.has_counters(source)) continue;  // a table of what a database holds as well
    const Index symbol = trace.dispatches.kernel[all.dispatch[i]];
    const Index in_pass = passes.pass_of_source[source];
    const int pass = passes.passes[in_pass].info.number;
    if (of_dispatch == nullptr || all.dispatch[i] != all.dispatch[i - 1])
      of_dispatch = &known[{symbol, in_pass}];
    Counter*& cached = (*of_dispatch)[all.counter[i]];
    if (cached == nullptr)
      cached = &sums[{trace.strings.view(trace.kernel_symbols[symbol].name),
                      trace.strings.view(info.name), pass}];
    Counter& sum = *cached;
    const double value = all.sum[i];
    if (sum.dispatches == 0) {
      sum.pass = pass;
      // rocprofv3 calls X_sum derived, but it is a total.
      sum.derived = info.derived && !trace.strings.view(info.name).ends_with("_sum");
      sum.state = passes.source_counted[source] ? CounterState::zero : CounterState::suspicious;
      sum.min = sum.max = value;
    }
    if (all.max[i] != 0 || all.min[i] != 0) sum.state = CounterState::measured;
    ++sum.dispatches;
    sum.instances += all.instances[i];
    sum.mean += value;  // the sum until the end
    sum.min = std::min(sum.min, value);
    sum.max = std::max(sum.max, value);
  }
  std::vector<Counter> out;
  for (auto& [key, sum] : sums) {
    sum.kernel = std::get<0>(key);
    sum.name = std::get<1>(key);
    if (!sum.derived) sum.total = sum.mean;
    sum.mean /= static_cast<double>(sum.dispatches);
    out.push_back(sum);
  }
  return out;
}

}  // namespace perflab::analyze
