// What a faster kernel gives for the whole run: the what-if of a recorded run with the kernel's
// dispatches scaled by the measured ratio.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyze/critical_path/critical_path.h"
#include "analyze/pipeline.h"
#include "base/error.h"
#include "base/text/json.h"
#include "optimize/rounds/candidate.h"

namespace perflab::optimize {

/// Run times in ns.
struct Projection {
  std::string kernel;            ///< as recorded
  std::uint64_t dispatches = 0;  ///< of it
  std::int64_t kernel_time = 0;  ///< sum of its dispatches
  std::int64_t path_time = 0;    ///< of the critical path inside of them
  std::int64_t makespan = 0;     ///< of the run as recorded
  /// With the measured speed-up, and with both ends of its interval.
  std::int64_t projected = 0, projected_at_low = 0, projected_at_high = 0;
  bool on_critical_path = false;
  std::string sentence;
};
Json to_json(const Projection& projection);

/// Of the kernels whose bare name is `kernel`. `analyzed` needs the critical path with its nodes
/// (CriticalPathOptions::keep_nodes). Error (bad_input): there is no critical path, or no dispatch
/// of that kernel; says so.
Result<Projection> project(const analyze::AnalyzedTrace& analyzed, const std::string& kernel,
                           const SpeedUp& speed);

}  // namespace perflab::optimize
