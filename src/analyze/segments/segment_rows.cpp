// The rows of one segment: its own work and host calls, what other processes of the node did in the
// same time, and the same dispatches in counter passes.
#include <fmt/format.h>

#include "analyze/counters/counter_join.h"
#include "analyze/scope/passes.h"
#include "analyze/segments/segment_parts.h"
#include "analyze/segments/segments.h"

namespace perflab::analyze {
namespace {

using trace::Index;
using trace::kNone;

class Rows {
 public:
  Rows(const trace::Trace& trace, const TimingScope& scope, const Segments& segments,
       std::size_t index)
      : trace_(trace), scope_(scope), segments_(segments), index_(index) {
    const Segment& segment = segments.segments[index];
    start_ = segment.start;
    end_ = index + 1 < segments.segments.size() ? segments.segments[index + 1].start
                                                : add_times(segment.end, 1);
    rows_.dispatches.resize(trace.dispatches.size());
    rows_.copies.resize(trace.copies.size());
    rows_.regions.resize(trace.regions.size());
    rows_.allocations.resize(trace.allocations.size());
    for (Index i = 0; i < trace.processes.size(); ++i) beside_.push_back(runs_beside(i));
  }

  trace::Selection run() {
    add_work();
    add_passes();
    add_host_calls();
    return std::move(rows_);
  }

 private:
  /// Whether it is another process of the scope whose clock can be compared.
  [[nodiscard]] bool runs_beside(Index process) const {
    const trace::Process& other = trace_.processes[process];
    return process != segments_.process && other.source != kNone &&
           scope_.source_counts[other.source] &&
           other.node == trace_.processes[segments_.process].node;
  }
  [[nodiscard]] bool is_beside(Index process, std::int64_t time) const {
    return process != kNone && beside_[process] && time >= start_ && time < end_;
  }

  void add_work() {
    const trace::DispatchColumns& all = trace_.dispatches;
    for (std::size_t i = 0; i < all.size(); ++i)
      rows_.dispatches[i] = segments_.of_dispatch[i] == index_ ||
                            is_beside(trace_.tracks[all.track[i]].process, all.start[i]);
    const trace::CopyColumns& copies = trace_.copies;
    for (std::size_t i = 0; i < copies.size(); ++i)
      rows_.copies[i] = segments_.of_copy[i] == index_ ||
                        is_beside(trace_.tracks[copies.track[i]].process, copies.start[i]);
  }

  /// Dispatches of passes stand at the same position of their group as the timed one.
  void add_passes() {
    if (trace_.counters.size() == 0) return;
    const CounterJoin join = join_counters(trace_, find_passes(trace_), scope_);
    for (const JoinedKernel& kernel : join.kernels)
      for (const ShapeGroup& group : kernel.shapes)
        for (std::size_t position = 0; position < group.timed.size(); ++position)
          if (rows_.dispatches[group.timed[position]]) add_position(group, position);
  }

  void add_position(const ShapeGroup& group, std::size_t position) {
    for (const std::vector<Index>& pass : group.in_pass)
      if (position < pass.size()) rows_.dispatches[pass[position]] = true;
  }

  void add_host_calls() {
    const Segment& segment = segments_.segments[index_];
    const auto belongs = [&](Index process, std::int64_t time) {
      if (process == segments_.process)
        return time >= segment.host_start && time < segment.host_end;
      return is_beside(process, time);
    };
    const trace::RegionColumns& calls = trace_.regions;
    for (std::size_t i = 0; i < calls.size(); ++i)
      rows_.regions[i] = calls.thread[i] != kNone &&
                         belongs(trace_.threads[calls.thread[i]].process, calls.start[i]);
    const auto add_launch = [&](bool chosen, Index launch) {
      if (chosen && launch != kNone) rows_.regions[launch] = true;
    };
    for (std::size_t i = 0; i < trace_.dispatches.size(); ++i)
      add_launch(rows_.dispatches[i], trace_.dispatches.launch[i]);
    for (std::size_t i = 0; i < trace_.copies.size(); ++i)
      add_launch(rows_.copies[i], trace_.copies.launch[i]);
    // Calls around chosen ones; an enclosing call begins earlier, so it has a smaller index.
    for (std::size_t i = calls.size(); i-- > 0;)
      if (rows_.regions[i] && calls.parent[i] != kNone) rows_.regions[calls.parent[i]] = true;
    const trace::AllocationColumns& allocations = trace_.allocations;
    for (std::size_t i = 0; i < allocations.size(); ++i)
      rows_.allocations[i] = belongs(allocations.process[i], allocations.start[i]);
  }

  const trace::Trace& trace_;
  const TimingScope& scope_;
  const Segments& segments_;
  std::size_t index_;
  std::int64_t start_ = 0, end_ = 0;  ///< of the work, up to the next segment's
  std::vector<bool> beside_;          ///< by process
  trace::Selection rows_;
};

}  // namespace

Result<trace::Selection> rows_of_segment(const trace::Trace& trace, const TimingScope& scope,
                                         const Segments& segments, std::size_t index) {
  if (index >= segments.segments.size())
    return fail(ErrorCode::usage,
                fmt::format("there is no segment {}: the {} segments are numbered from 0 to {}",
                            index, segments.segments.size(), segments.segments.size() - 1));
  return Rows(trace, scope, segments, index).run();
}

}  // namespace perflab::analyze
