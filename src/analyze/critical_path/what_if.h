// What-if: makespans of a Graph with other durations, computed for many scenarios in one pass.
// simulate() knows nothing of traces; the grammar of the command line and what it means for a trace
// are below it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/critical_path/graph.h"
#include "base/error.h"
#include "base/text/pattern.h"
#include "trace/trace.h"

namespace perflab::analyze {

/// How a class of nodes changes: new duration = max(0, duration * factor + plus).
struct Change {
  double factor = 1;
  std::int64_t plus = 0;  ///< ns
};

/// A node's own duration under a change: to the nearest ns, in [0, most_changed(nodes)].
std::int64_t changed(std::int64_t own, const Change& change, std::int64_t most);

/// The most that a changed duration can be in a graph of so many nodes (at least 1): the sum of a
/// path's durations stays far from overflow.
constexpr std::int64_t most_changed(std::size_t nodes) {
  return (std::int64_t{1} << 61) / static_cast<std::int64_t>(nodes);
}

/// Nodes by class, and one scenario = a change per class. Class 0 stays as recorded.
struct Scenario {
  std::vector<Change> changes;  ///< by class; classes beyond the end stay as recorded
  bool drop_syncs = false;      ///< edges into the ends of calls are ignored: the host never waits
};

/// A graph prepared for simulation: node values live in few slots that are reused as soon as
/// nothing needs them, so that a pass touches little memory. Keeps a reference to the graph.
class Simulator {
 public:
  explicit Simulator(const Graph& graph);

  /// Makespan in ns of each scenario: latest end minus the recorded earliest start. `node_class`:
  /// by node. Scenarios are computed several at a time, on `threads` threads (0: all cores).
  [[nodiscard]] std::vector<std::int64_t> makespans(std::span<const std::uint16_t> node_class,
                                                    std::span<const Scenario> scenarios,
                                                    unsigned threads = 0) const;

 private:
  const Graph& graph_;
  PackedColumn<std::uint32_t> slot_;  ///< by node
  std::uint32_t slots_ = 0;
  bool exact_ = true;  ///< shorter times are exact as double
};

/// One --what-if: WHAT=CHANGE.
struct WhatIf {
  enum class Target : std::uint8_t { kernels, copies, launches, syncs };
  std::string text;  ///< as given
  Target target = Target::kernels;
  std::string pattern;  ///< kernels: regex over their names
  Change change;
  bool drop = false;  ///< syncs only
};

/// Reads 'regex=2x' (twice as fast), '=0', '=+10us', '=-3us' (per dispatch; ns, us, ms, s),
/// 'copy=CHANGE', 'launch=0|CHANGE' (launch calls), 'sync=drop'; a kernel called "copy" is
/// 'kernel:copy=2x'. The last '=' separates. Error (usage): says what is wrong and shows the forms.
Result<WhatIf> parse_what_if(std::string_view text);

}  // namespace perflab::analyze
