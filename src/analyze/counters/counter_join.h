// Counter passes joined to the dispatches that they are of. A dispatch of one pass is the same work
// as the one of another pass with the same kernel, GPU, grid, work-group and ordinal among those;
// never the one with the same dispatch id (passes may differ in what else they run). Facts:
// docs/facts/counters.md "Slots of a pass", "Input of rocprofv3", "Tables".
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "analyze/scope/passes.h"
#include "analyze/scope/timing_scope.h"
#include "trace/trace.h"

namespace perflab::analyze {

/// Launch geometry; products in x when a recording has nothing better.
struct Shape {
  std::array<std::uint32_t, 3> grid{}, workgroup{};  ///< work-items
  friend auto operator<=>(const Shape&, const Shape&) = default;
};

/// Dispatches of one kernel with one launch geometry. Position = ordinal - 1.
struct ShapeGroup {
  Shape shape;
  std::size_t gpu = 0;              ///< which of the GPUs that ran the kernel, by their numbers
  std::vector<trace::Index> timed;  ///< in the timing scope
  std::vector<std::vector<trace::Index>> in_pass;  ///< by Passes::passes
};

/// One kernel on one GPU architecture.
struct JoinedKernel {
  trace::Index name = 0;              ///< strings
  std::string architecture;           ///< empty: not known
  trace::Index agent = trace::kNone;  ///< of its first dispatch
  bool runtime_helper = false;
  std::vector<ShapeGroup> shapes;  ///< ordered by shape
};

/// Whether dispatches are joined by products of sizes, because a recording of a pass has nothing
/// better.
bool joins_flat_sizes(const trace::Trace& trace, const Passes& passes);

/// Where each dispatch's counters begin. One for all of a trace's kernels: it is made of all rows.
class CounterIndex {
 public:
  explicit CounterIndex(const trace::Trace& trace);

  /// Row of trace.counters; trace::kNone: this dispatch does not have the counter.
  [[nodiscard]] std::size_t row(trace::Index dispatch, trace::Index counter) const;
  /// Rows [first, last) of a dispatch.
  [[nodiscard]] std::pair<std::size_t, std::size_t> rows(trace::Index dispatch) const;

 private:
  const trace::CounterColumns& counters_;
  std::vector<std::size_t> first_;  ///< by dispatch, and the end; empty: nothing was counted
};

/// The join of a whole trace. Kernels ordered by name, then architecture.
struct CounterJoin {
  std::vector<JoinedKernel> kernels;
  std::vector<std::string> assumptions;  ///< about all of them
};

/// Joins every kernel that has a dispatch with counters. A table of counters whose GPU is not named
/// takes the architecture of the other recordings, when there is only one: said in `assumptions`.
CounterJoin join_counters(const trace::Trace& trace, const Passes& passes,
                          const TimingScope& scope);

}  // namespace perflab::analyze
