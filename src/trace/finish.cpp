// After all recordings are read: rows are put into time order, and stack codes become indices of
// API regions. Columns are reordered one at a time, so that the extra memory is one column, not a
// copy of the table.
#include <algorithm>
#include <numeric>
#include <span>

#include "trace/load_state.h"

namespace perflab::trace {
namespace {

/// Recordings come as a few sorted runs: merging those beats sorting. More runs than this are
/// sorted.
constexpr std::size_t kMostRuns = 64;

/// The order that sorts n rows by `before`, equal rows in their present order; empty when they are
/// sorted already.
template <class Before>
std::vector<Index> sorted_order(std::size_t n, const Before& before) {
  std::vector<std::size_t> runs = {0};
  for (std::size_t i = 1; i < n && runs.size() <= kMostRuns; ++i)
    if (before(static_cast<Index>(i), static_cast<Index>(i - 1))) runs.push_back(i);
  if (runs.size() == 1) return {};
  std::vector<Index> order(n);
  std::iota(order.begin(), order.end(), Index{0});
  if (runs.size() > kMostRuns) {
    std::stable_sort(order.begin(), order.end(), before);
    return order;
  }
  runs.push_back(n);
  const auto at = [&](std::size_t run) {
    return order.begin() + static_cast<std::ptrdiff_t>(runs[run]);
  };
  while (runs.size() > 2) {
    std::vector<std::size_t> merged = {0};
    for (std::size_t run = 0; run + 1 < runs.size(); run += 2) {
      const bool pair = run + 2 < runs.size();
      if (pair) std::inplace_merge(at(run), at(run + 1), at(run + 2), before);
      merged.push_back(runs[pair ? run + 2 : run + 1]);
    }
    runs = std::move(merged);
  }
  return order;
}

template <class T>
void reorder(std::vector<T>& column, std::span<const Index> order) {
  if (order.empty()) return;
  std::vector<T> moved(column.size());
  for (std::size_t i = 0; i < order.size(); ++i) moved[i] = column[order[i]];
  column = std::move(moved);
}

template <class... Columns>
void reorder_all(std::span<const Index> order, Columns&... columns) {
  (reorder(columns, order), ...);
}

/// Replaces positions of before the sorting of a table by those after it.
void follow(std::vector<Index>& positions, std::span<const Index> order) {
  if (order.empty() || positions.empty()) return;
  std::vector<Index> new_position(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) new_position[order[i]] = static_cast<Index>(i);
  for (Index& position : positions) position = new_position[position];
}

/// Arguments and range texts follow their regions, and are ordered by them again.
void finish_arguments(Trace& trace, std::span<const Index> region_order) {
  const auto by_region = [](const std::vector<Index>& region) {
    return sorted_order(region.size(), [&](Index a, Index b) { return region[a] < region[b]; });
  };
  CallArgumentColumns& calls = trace.call_arguments;
  follow(calls.region, region_order);
  reorder_all(by_region(calls.region), calls.region, calls.has, calls.stream, calls.event,
              calls.device, calls.record);
  follow(trace.ranges.region, region_order);
  reorder_all(by_region(trace.ranges.region), trace.ranges.region, trace.ranges.message);
}

/// Operations of communication follow the rows that they are about, and are ordered by them.
void finish_communications(std::vector<Communication>& rows, std::span<const Index> region_order,
                           std::span<const Index> dispatch_order) {
  std::vector<Index> regions, dispatches;
  for (const Communication& row : rows) (row.of_region ? regions : dispatches).push_back(row.row);
  follow(regions, region_order);
  follow(dispatches, dispatch_order);
  auto region = regions.begin(), dispatch = dispatches.begin();
  for (Communication& row : rows) row.row = row.of_region ? *region++ : *dispatch++;
  std::ranges::stable_sort(
      rows, {}, [](const Communication& row) { return std::pair{row.of_region, row.row}; });
}

/// Replaces the dispatch positions of before the sorting, and merges rows of one (dispatch,
/// counter).
void finish_counters(CounterColumns& counters, std::span<const Index> dispatch_order) {
  follow(counters.dispatch, dispatch_order);
  const auto key = [&](Index row) {
    return std::pair{counters.dispatch[row], counters.counter[row]};
  };
  const std::vector<Index> order =
      sorted_order(counters.size(), [&](Index a, Index b) { return key(a) < key(b); });
  reorder_all(order, counters.dispatch, counters.counter, counters.instances, counters.sum,
              counters.min, counters.max);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < counters.size(); ++i) {
    const bool same = kept > 0 && key(static_cast<Index>(kept - 1)) == key(static_cast<Index>(i));
    const std::size_t to = same ? kept - 1 : kept++;
    counters.dispatch[to] = counters.dispatch[i];
    counters.counter[to] = counters.counter[i];
    counters.instances[to] =
        same ? counters.instances[to] + counters.instances[i] : counters.instances[i];
    counters.sum[to] = same ? counters.sum[to] + counters.sum[i] : counters.sum[i];
    counters.min[to] = same ? std::min(counters.min[to], counters.min[i]) : counters.min[i];
    counters.max[to] = same ? std::max(counters.max[to], counters.max[i]) : counters.max[i];
  }
  for (auto* column : {&counters.dispatch, &counters.counter}) column->resize(kept);
  counters.instances.resize(kept);
  for (auto* column : {&counters.sum, &counters.min, &counters.max}) column->resize(kept);
}

/// Turns stack codes into the region that carries the same code; the earliest when several do.
void link(Trace& trace, std::vector<std::uint32_t>& region_stack, std::uint64_t stack_limit) {
  if (trace.regions.size() == 0) {
    for (auto* column : {&trace.dispatches.launch, &trace.copies.launch})
      std::ranges::fill(*column, kNone);
    return;
  }
  std::vector<Index> region_of(static_cast<std::size_t>(stack_limit) + 1, kNone);
  for (std::size_t i = region_stack.size(); i-- > 0;)
    if (region_stack[i] != 0) region_of[region_stack[i]] = static_cast<Index>(i);
  region_of[0] = kNone;
  for (auto* column : {&trace.dispatches.launch, &trace.copies.launch, &trace.regions.parent})
    for (Index& value : *column) value = region_of[value];
  for (std::size_t i = 0; i < trace.regions.size(); ++i)
    if (trace.regions.parent[i] == i) trace.regions.parent[i] = kNone;
}

}  // namespace

Result<void> finish(LoadState& state) {
  Trace& trace = state.trace;
  trace.tracks = std::move(state.tracks).take();
  trace.launch_configs = std::move(state.configs).take();

  RegionColumns& regions = trace.regions;
  auto region_order = sorted_order(regions.size(), [&](Index a, Index b) {
    if (regions.start[a] != regions.start[b]) return regions.start[a] < regions.start[b];
    return regions.end[a] > regions.end[b];  // an enclosing call before what it calls
  });
  reorder_all(region_order, regions.start, regions.end, regions.name, regions.category,
              regions.thread, regions.parent, state.region_stack);
  finish_arguments(trace, region_order);

  const auto by_time = [](const auto& columns) {
    return [&columns](Index a, Index b) {
      if (columns.start[a] != columns.start[b]) return columns.start[a] < columns.start[b];
      return columns.end[a] < columns.end[b];
    };
  };
  DispatchColumns& dispatches = trace.dispatches;
  const auto dispatch_order = sorted_order(dispatches.size(), [&](Index a, Index b) {
    if (dispatches.start[a] != dispatches.start[b])
      return dispatches.start[a] < dispatches.start[b];
    if (dispatches.end[a] != dispatches.end[b]) return dispatches.end[a] < dispatches.end[b];
    return dispatches.dispatch_id[a] < dispatches.dispatch_id[b];  // not by where the row stands
  });
  reorder_all(dispatch_order, dispatches.start, dispatches.end, dispatches.dispatch_id,
              dispatches.kernel, dispatches.config, dispatches.track, dispatches.launch);
  CopyColumns& copies = trace.copies;
  const auto copy_order = sorted_order(copies.size(), by_time(copies));
  reorder_all(copy_order, copies.start, copies.end, copies.bytes, copies.kind, copies.source_agent,
              copies.track, copies.launch);
  AllocationColumns& allocations = trace.allocations;
  const auto allocation_order = sorted_order(allocations.size(), by_time(allocations));
  reorder_all(allocation_order, allocations.start, allocations.end, allocations.address,
              allocations.bytes, allocations.type, allocations.level, allocations.agent,
              allocations.process);

  finish_communications(trace.communications, region_order, dispatch_order);
  finish_counters(trace.counters, dispatch_order);
  link(trace, state.region_stack, state.stack_base);
  return {};
}

}  // namespace perflab::trace
