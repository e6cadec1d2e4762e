// Groups of kernels of a run, and how long the run would take if each group were so many times as
// long: what tuning one of several kernels is worth for all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analyze/critical_path/graph.h"
#include "analyze/critical_path/path_figures.h"
#include "analyze/critical_path/what_if.h"
#include "base/error.h"
#include "trace/trace.h"

namespace perflab::analyze {

/// What the run has of a group.
struct GroupTimes {
  std::uint64_t dispatches = 0;
  std::int64_t total = 0;      ///< ns, sum of its dispatches
  std::int64_t path_time = 0;  ///< ns of the critical path inside them
};

/// Shares of the recorded durations, by group: 0.5 is half as long.
using GroupFactors = std::vector<double>;

/// What a group is worth, ns of the makespan.
struct GroupWorth {
  double per_percent = 0;  ///< gained for each per cent of its time that it takes less
  std::int64_t bound = 0;  ///< gained if it took no time
};

class KernelGroups {
 public:
  /// A group per pattern (of kernel names, as everywhere). `path` has to hold its graph
  /// (CriticalPathOptions::keep_nodes). Errors (usage): a bad pattern, one that no dispatch of the
  /// path's machine matches, a kernel that two of them match.
  static Result<KernelGroups> make(const trace::Trace& trace, const CriticalPath& path,
                                   std::span<const std::string> patterns);

  [[nodiscard]] const std::vector<GroupTimes>& groups() const { return groups_; }
  /// Of the run as it was recorded, ns.
  [[nodiscard]] std::int64_t recorded() const { return recorded_; }
  /// Makespans, ns, one per row of factors.
  [[nodiscard]] std::vector<std::int64_t> makespans(std::span<const GroupFactors> factors) const;
  /// Of each group, where the groups take these shares already.
  [[nodiscard]] std::vector<GroupWorth> worth(const GroupFactors& at) const;

 private:
  explicit KernelGroups(std::shared_ptr<const Graph> graph);

  std::shared_ptr<const Graph> graph_;
  Simulator simulator_;
  std::vector<std::uint16_t> node_class_;  ///< by node; 0: of no group
  std::vector<GroupTimes> groups_;
  std::int64_t recorded_ = 0;
};

}  // namespace perflab::analyze
