// What a played trace description leaves behind, and the parts that its database and the databases
// of its counter passes (described_counters.h) share.
#pragma once

#include <cstdint>
#include <vector>

#include "support/rocpd_writer.h"
#include "support/trace_description.h"

namespace perflab::test {

/// Everything that happened, in order of occurrence.
struct DescribedRecording {
  std::vector<RegionRow> regions;
  std::vector<DispatchRow> dispatches;
  std::vector<CopyRow> copies;
  std::vector<AllocationRow> allocations;
  std::int64_t end = 0;  ///< ns, of the host thread
};

/// Plays the program. Same description, same recording.
DescribedRecording play(const TraceDescription& description);

/// The process and its marks, as the description has them; `end` of the process in ns.
WriterOptions options_of(const TraceDescription& description, std::int64_t end);

/// Agents, queues, streams, code objects and kernels.
void write_machine(RocpdWriter& writer, const TraceDescription& description);

}  // namespace perflab::test
