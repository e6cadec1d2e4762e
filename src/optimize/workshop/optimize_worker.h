// The worker of `optimize --capture`: `rocm-perf optimize-worker FOLDER` holds the device for it.
#pragma once

#include <string>

namespace perflab::optimize {

/// Answers the requests of a ReplayBench in `folder` (measure/replay_worker.h). Returns the exit
/// code.
int optimize_worker_main(const std::string& folder);

}  // namespace perflab::optimize
