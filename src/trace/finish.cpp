// After all recordings are read: rows are put into time order, and stack codes become indices of
// API regions. Columns are reordered a few at a time, so that the extra memory is a few columns,
// not a copy of the table.
#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <numeric>
#include <span>
#include <utility>

#include "base/parallel.h"
#include "base/system/large_pages.h"
#include "trace/load_state.h"

namespace perflab::trace {
namespace {

/// Columns that are put in order at a time: each of them is there twice meanwhile.
constexpr unsigned kMostColumns = 3;

/// Recordings come as a few runs that are sorted, but for rows that stand a little behind their
/// place: profilers write work when it ends. Merging those beats sorting. More runs than this, or
/// more steps per row to put rows into their place, and all is sorted.
constexpr std::size_t kMostRuns = 64, kFarthest = 256, kStepsPerRow = 32;

/// Puts each row of `order` (which counts up) into its place among those before it. Returns where
/// sorted runs begin; nothing when that is more work than sorting.
template <class Before>
std::vector<std::size_t> sort_runs(std::vector<Index>& order, const Before& before) {
  std::vector<std::size_t> runs = {0};
  std::size_t steps = 0;
  for (std::size_t i = 1; i < order.size(); ++i) {
    const auto row = static_cast<Index>(i);
    if (!before(row, order[i - 1])) continue;
    const std::size_t first = std::max(runs.back(), i > kFarthest ? i - kFarthest : 0);
    std::size_t place = i - 1;
    while (place > first && before(row, order[place - 1])) --place;
    steps += i - place;
    if (place == first && first > runs.back()) {
      runs.push_back(i);
    } else {
      std::move_backward(order.begin() + static_cast<std::ptrdiff_t>(place),
                         order.begin() + static_cast<std::ptrdiff_t>(i),
                         order.begin() + static_cast<std::ptrdiff_t>(i + 1));
      order[place] = row;
    }
    if (runs.size() > kMostRuns || steps > kStepsPerRow * order.size()) return {};
  }
  return runs;
}

/// The order that sorts n rows by `before`, equal rows in their present order; empty when they are
/// sorted already.
template <class Before>
std::vector<Index> sorted_order(std::size_t n, const Before& before) {
  std::size_t sorted = 1;
  while (sorted < n && !before(static_cast<Index>(sorted), static_cast<Index>(sorted - 1)))
    ++sorted;
  if (sorted >= n) return {};
  std::vector<Index> order;
  order.reserve(n);
  prefer_large_pages(order);
  order.resize(n);
  std::iota(order.begin(), order.end(), Index{0});
  std::vector<std::size_t> runs = sort_runs(order, before);
  if (runs.empty()) {
    std::iota(order.begin(), order.end(), Index{0});
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

/// Puts columns into an order, a few at a time.
template <class... Columns>
void reorder_all(std::span<const Index> order, unsigned threads, Columns&... columns) {
  if (order.empty()) return;
  const auto reorder = [&]<class Column>(Column& column) {
    const auto value_of = [&](Index row) { return column[row]; };
    Column ordered;
    if constexpr (requires { ordered.append(order, value_of); })
      ordered.append(order, value_of);
    else
      std::ranges::transform(order, std::back_inserter(ordered), value_of);
    column.swap(ordered);
  };
  const auto each = std::to_array<std::function<void()>>({[&] { reorder(columns); }...});
  side_by_side(each, std::min(threads, kMostColumns));
}

/// Replaces positions of before the sorting of a table by those after it.
void follow(std::vector<Index>& positions, std::span<const Index> order) {
  if (order.empty() || positions.empty()) return;
  std::vector<Index> new_position(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) new_position[order[i]] = static_cast<Index>(i);
  for (Index& position : positions) position = new_position[position];
}

/// Arguments and range texts follow their regions, and are ordered by them again.
void finish_arguments(Trace& trace, std::span<const Index> region_order, unsigned threads) {
  const auto by_region = [](const std::vector<Index>& region) {
    return sorted_order(region.size(), [&](Index a, Index b) { return region[a] < region[b]; });
  };
  CallArgumentColumns& calls = trace.call_arguments;
  follow(calls.region, region_order);
  reorder_all(by_region(calls.region), threads, calls.region, calls.has, calls.stream, calls.event,
              calls.device, calls.record);
  follow(trace.ranges.region, region_order);
  reorder_all(by_region(trace.ranges.region), threads, trace.ranges.region, trace.ranges.message);
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
void finish_counters(CounterColumns& counters, std::span<const Index> dispatch_order,
                     unsigned threads) {
  follow(counters.dispatch, dispatch_order);
  const auto key = [&](Index row) {
    return std::pair{counters.dispatch[row], counters.counter[row]};
  };
  const std::vector<Index> order =
      sorted_order(counters.size(), [&](Index a, Index b) { return key(a) < key(b); });
  reorder_all(order, threads, counters.dispatch, counters.counter, counters.instances, counters.sum,
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
void link(Trace& trace, PackedColumn<std::uint32_t> region_stack, unsigned threads) {
  const std::array columns = {&trace.dispatches.launch, &trace.regions.parent,
                              &trace.copies.launch};
  if (trace.regions.size() == 0) {
    for (auto* column : columns) column->transform([](Index, std::size_t) { return kNone; });
    return;
  }
  // Of a part of a run the codes that occur are a small part of those that there are.
  std::uint32_t lowest = 0xFFFF'FFFF, highest = 0;
  for (const std::uint32_t code : region_stack) {
    if (code != 0) lowest = std::min(lowest, code);
    highest = std::max(highest, code);
  }
  const std::size_t codes = highest < lowest ? 0 : std::size_t{highest - lowest} + 1;
  std::vector<Index> region_of;
  region_of.reserve(codes);
  prefer_large_pages(region_of);
  region_of.resize(codes, kNone);
  for (std::size_t i = region_stack.size(); i-- > 0;)
    if (const std::uint32_t code = region_stack[i]; code != 0)
      region_of[code - lowest] = static_cast<Index>(i);
  region_stack = {};
  parallel_each(columns.size(), threads, [&](std::size_t which) {
    const bool is_parent = columns[which] == &trace.regions.parent;
    columns[which]->transform([&](std::uint32_t code, std::size_t row) {
      const Index region = code < lowest || code > highest ? kNone : region_of[code - lowest];
      return is_parent && region == row ? kNone : region;
    });
  });
}

/// Regions and what points to them into the order of time.
std::vector<Index> finish_regions(LoadState& state, unsigned threads) {
  RegionColumns& regions = state.trace.regions;
  auto order = sorted_order(regions.size(), [&](Index a, Index b) {
    if (regions.start[a] != regions.start[b]) return regions.start[a] < regions.start[b];
    return regions.end[a] > regions.end[b];  // an enclosing call before what it calls
  });
  reorder_all(order, threads, regions.start, regions.end, regions.name, regions.category,
              regions.thread, regions.parent, state.region_stack);
  finish_arguments(state.trace, order, threads);
  return order;
}

std::vector<Index> finish_dispatches(Trace& trace, unsigned threads) {
  DispatchColumns& dispatches = trace.dispatches;
  auto order = sorted_order(dispatches.size(), [&](Index a, Index b) {
    if (dispatches.start[a] != dispatches.start[b])
      return dispatches.start[a] < dispatches.start[b];
    if (dispatches.end[a] != dispatches.end[b]) return dispatches.end[a] < dispatches.end[b];
    return dispatches.dispatch_id[a] < dispatches.dispatch_id[b];  // not by where the row stands
  });
  reorder_all(order, threads, dispatches.start, dispatches.end, dispatches.dispatch_id,
              dispatches.kernel, dispatches.config, dispatches.track, dispatches.launch);
  finish_counters(trace.counters, order, threads);
  return order;
}

void finish_memory(Trace& trace, unsigned threads) {
  const auto by_time = [](const auto& columns) {
    return [&columns](Index a, Index b) {
      if (columns.start[a] != columns.start[b]) return columns.start[a] < columns.start[b];
      return columns.end[a] < columns.end[b];
    };
  };
  CopyColumns& copies = trace.copies;
  reorder_all(sorted_order(copies.size(), by_time(copies)), threads, copies.start, copies.end,
              copies.bytes, copies.kind, copies.source_agent, copies.track, copies.launch);
  AllocationColumns& allocations = trace.allocations;
  reorder_all(sorted_order(allocations.size(), by_time(allocations)), threads, allocations.start,
              allocations.end, allocations.address, allocations.bytes, allocations.type,
              allocations.level, allocations.agent, allocations.process);
}

}  // namespace

void finish(LoadState& state, unsigned threads) {
  Trace& trace = state.trace;
  trace.tracks = std::move(state.tracks).take();
  trace.launch_configs = std::move(state.configs).take();
  std::vector<Index> region_order, dispatch_order;
  const unsigned workers = thread_count(threads);
  const auto tables = std::to_array<std::function<void()>>(
      {[&] { dispatch_order = finish_dispatches(trace, workers); },
       [&] { region_order = finish_regions(state, workers); },
       [&] { finish_memory(trace, workers); }});
  side_by_side(tables, workers);
  finish_communications(trace.communications, region_order, dispatch_order);
  for (auto* order : {&region_order, &dispatch_order}) *order = std::vector<Index>();
  link(trace, std::move(state.region_stack), workers);
}

}  // namespace perflab::trace
