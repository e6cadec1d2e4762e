// Dispatches and copies of a process, ordered by when the host asked for them.
#include "analyze/segments/segment_parts.h"

#include <algorithm>
#include <utility>

namespace perflab::analyze {

using trace::Index;
using trace::kNone;

std::int64_t host_time(const trace::Trace& trace, Index launch, std::int64_t start) {
  return launch == kNone ? start : trace.regions.start[launch];
}

OrderedWork order_work(const trace::Trace& trace, Index process) {
  OrderedWork work;
  const trace::DispatchColumns& all = trace.dispatches;
  std::vector<std::int64_t> last_launch(trace.tracks.size(), 0);  // 0: none yet
  const auto is_own = [&](Index track) { return trace.tracks[track].process == process; };
  for (Index i = 0; i < all.size(); ++i) {
    if (!is_own(all.track[i])) continue;
    std::int64_t& last = last_launch[all.track[i]];
    if (all.launch[i] != kNone) last = trace.regions.start[all.launch[i]];
    work.dispatch.push_back(i);
    work.key.push_back(last != 0 ? last : all.start[i]);
  }
  if (std::ranges::is_sorted(work.key)) return work;
  std::vector<std::pair<std::int64_t, Index>> order;
  order.reserve(work.key.size());
  for (std::size_t i = 0; i < work.key.size(); ++i)
    order.emplace_back(work.key[i], work.dispatch[i]);
  std::ranges::sort(order);
  work = {};
  work.key.append(order, &std::pair<std::int64_t, Index>::first);
  work.dispatch.append(order, &std::pair<std::int64_t, Index>::second);
  return work;
}

std::vector<Index> copies_of(const trace::Trace& trace, Index process) {
  std::vector<Index> mine;
  for (Index i = 0; i < trace.copies.size(); ++i)
    if (trace.tracks[trace.copies.track[i]].process == process) mine.push_back(i);
  return mine;
}

}  // namespace perflab::analyze
