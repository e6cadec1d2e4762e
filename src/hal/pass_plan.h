// Which counters fit into one run of the application, and the runs that some counters take.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "hal/counter_table.h"

namespace perflab::hal {

/// Counters for one run of the application each.
struct PassPlan {
  std::vector<std::vector<std::string>> passes;  ///< each begins with the table's in_every_pass
  /// "MyCounter is not among the known counters of gfx942; it is asked for all the same"
  std::vector<std::string> warnings;
};

/// The table's own sets (when `own_sets`), then `extra` counters that are in none of them, packed
/// into as few passes as their blocks' slots allow. A counter of no known block (with a warning:
/// the profiler may have been given definitions of the user's own), one of a block whose slots are
/// not known, and each derived metric gets a pass of its own; accumulated levels are never two in a
/// pass. Where CUPTI counts there is one run with all of them: it replays each kernel as often as
/// they need (cuda/profiler_host.h says how often). Error (usage): an extra name that is of a known
/// block or looks like a known name, but that the architecture does not have; similar names are in
/// the remedy.
Result<PassPlan> plan_passes(const CounterTable& table, bool own_sets,
                             std::span<const std::string> extra);

}  // namespace perflab::hal
