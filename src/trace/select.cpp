// Which rows of a Trace stay, and where they go: every column is filtered, and indices between
// tables are translated.
#include "trace/select.h"

#include <algorithm>

#include "base/error.h"

namespace perflab::trace {
namespace {

/// The new index of every old row; kNone: the row is gone.
std::vector<Index> renumber(const std::vector<bool>& keep) {
  std::vector<Index> to(keep.size(), kNone);
  Index next = 0;
  for (std::size_t i = 0; i < keep.size(); ++i)
    if (keep[i]) to[i] = next++;
  return to;
}

Index follow(const std::vector<Index>& to, Index row) {
  return row == kNone ? kNone : to[row];
}

template <class Column>
void filter(const std::vector<bool>& keep, const Column& from, Column& into) {
  for (std::size_t i = 0; i < keep.size(); ++i)
    if (keep[i]) into.push_back(from[i]);
}

/// Filters the same columns of two tables: members of one, then the same members of the other.
template <class Columns, class... Members>
void filter_all(const std::vector<bool>& keep, const Columns& from, Columns& into,
                Members... members) {
  (filter(keep, from.*members, into.*members), ...);
}

void copy_tables(const Trace& from, Trace& into) {
  for (std::size_t i = 0; i < from.strings.size(); ++i)
    into.strings.intern(from.strings.view(static_cast<Index>(i)));
  into.sources = from.sources;
  into.nodes = from.nodes;
  into.processes = from.processes;
  into.threads = from.threads;
  into.agents = from.agents;
  into.queues = from.queues;
  into.streams = from.streams;
  into.tracks = from.tracks;
  into.code_objects = from.code_objects;
  into.kernel_symbols = from.kernel_symbols;
  into.launch_configs = from.launch_configs;
  into.counter_infos = from.counter_infos;
  into.report = from.report;
}

void select_counters(const CounterColumns& from, const std::vector<Index>& dispatch_to,
                     CounterColumns& into) {
  std::vector<bool> keep(from.size());
  for (std::size_t i = 0; i < keep.size(); ++i) keep[i] = dispatch_to[from.dispatch[i]] != kNone;
  using C = CounterColumns;
  filter_all(keep, from, into, &C::dispatch, &C::counter, &C::instances, &C::sum, &C::min, &C::max);
  for (Index& dispatch : into.dispatch) dispatch = dispatch_to[dispatch];
}

/// Tables that hang on regions.
void select_arguments(const Trace& from, const std::vector<Index>& region_to, Trace& into) {
  const auto keep_of = [&](const std::vector<Index>& region) {
    std::vector<bool> keep(region.size());
    for (std::size_t i = 0; i < keep.size(); ++i) keep[i] = region_to[region[i]] != kNone;
    return keep;
  };
  using A = CallArgumentColumns;
  filter_all(keep_of(from.call_arguments.region), from.call_arguments, into.call_arguments,
             &A::region, &A::has, &A::stream, &A::event, &A::device, &A::record);
  using R = RangeColumns;
  filter_all(keep_of(from.ranges.region), from.ranges, into.ranges, &R::region, &R::message);
  for (auto* regions : {&into.call_arguments.region, &into.ranges.region})
    for (Index& region : *regions) region = region_to[region];
}

/// What is said of operations that stay.
void select_communications(const std::vector<Communication>& from,
                           const std::vector<Index>& region_to,
                           const std::vector<Index>& dispatch_to,
                           std::vector<Communication>& into) {
  for (const Communication& row : from) {
    const Index to = follow(row.of_region ? region_to : dispatch_to, row.row);
    if (to == kNone) continue;
    into.push_back(row);
    into.back().row = to;
  }
}

}  // namespace

Trace select(const Trace& trace, const Selection& rows) {
  PERFLAB_CHECK(rows.dispatches.size() == trace.dispatches.size() &&
                rows.copies.size() == trace.copies.size() &&
                rows.regions.size() == trace.regions.size() &&
                rows.allocations.size() == trace.allocations.size());
  Trace made;
  copy_tables(trace, made);
  using D = DispatchColumns;
  filter_all(rows.dispatches, trace.dispatches, made.dispatches, &D::start, &D::end,
             &D::dispatch_id, &D::kernel, &D::config, &D::track, &D::launch);
  using C = CopyColumns;
  filter_all(rows.copies, trace.copies, made.copies, &C::start, &C::end, &C::bytes, &C::kind,
             &C::source_agent, &C::track, &C::launch);
  using R = RegionColumns;
  filter_all(rows.regions, trace.regions, made.regions, &R::start, &R::end, &R::name, &R::category,
             &R::thread, &R::parent);
  using A = AllocationColumns;
  filter_all(rows.allocations, trace.allocations, made.allocations, &A::start, &A::end, &A::address,
             &A::bytes, &A::type, &A::level, &A::agent, &A::process);

  const std::vector<Index> region_to = renumber(rows.regions);
  for (auto* column : {&made.dispatches.launch, &made.copies.launch, &made.regions.parent})
    column->transform([&](Index region, std::size_t) { return follow(region_to, region); });
  select_arguments(trace, region_to, made);
  const std::vector<Index> dispatch_to = renumber(rows.dispatches);
  select_counters(trace.counters, dispatch_to, made.counters);
  select_communications(trace.communications, region_to, dispatch_to, made.communications);
  return made;
}

}  // namespace perflab::trace
