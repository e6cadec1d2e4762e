// Databases of any size for the benchmark: processes that launch kernels on several queues, each
// launch with its API region and two events, copies in between; on request streams that wait for
// each other through events. Deterministic for a seed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "support/rocpd_file.h"

namespace perflab::test {

struct BigTraceOptions {
  std::int64_t dispatches = 1000;  ///< over all processes
  int queues = 4;                  ///< per process
  int streams = 0;                 ///< per process; 0: one per queue
  int processes = 2;
  int kernels = 64;                 ///< distinct kernels per process, runtime helpers not counted
  std::int64_t copies_every = 100;  ///< one copy per that many dispatches; 0: none
  bool launches = true;             ///< API regions and their events
  bool arguments = false;           ///< the six argument rows of every hipLaunchKernel
  /// One hipEventRecord and hipStreamWaitEvent per that many launches, and now and then a
  /// synchronisation, with the arguments of those calls and the stream of every launch and copy;
  /// work then runs in the order of its stream and waits for its events. 0: none. Needs one stream
  /// per queue.
  std::int64_t events_every = 0;
  bool counters = false;  ///< two counters, one value per XCC
  /// Counters with values on every dispatch: a row per XCC, one row for what the profiler reduces
  /// itself (X_sum, mixed case).
  std::vector<std::string> counted = {};
  std::vector<std::string> listed = {};  ///< counters of info_pmc, in order; empty: `counted`
  int pass = 0;  ///< the same program once more: another recording, process and time
  std::uint64_t seed = 1;
  bool one_file = true;  ///< one merged file; else one file per process
  std::string schema_version = "3.0.1";
  Views views = Views::real;
};

struct BigTraceResult {
  std::vector<std::filesystem::path> files;
  std::int64_t dispatches = 0;
  std::int64_t copies = 0;
  std::int64_t regions = 0;
  std::int64_t counter_values = 0;
};

/// Writes `path`, or path.1.db, path.2.db, ... (a final ".db" of `path` is dropped first).
Result<BigTraceResult> write_big_trace(const std::filesystem::path& path,
                                       const BigTraceOptions& options);

}  // namespace perflab::test
