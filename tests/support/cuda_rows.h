// Rows of a recording of a CUDA program as rocm-perf-record writes it: the process with what the
// recorder says of itself, an H100, and calls with the ids that CUPTI gives streams, events and
// their records.
//
//   RocpdWriter w(path, cuda_recording());
//   w.agent(host_agent()); w.agent(h100_agent());
//   w.region(cuda_event_record(20, 21, {.event = 5, .record = 9, .stream = 13}));
//   w.region(cuda_stream_wait(22, 23, {.event = 5, .record = 9, .stream = 14}));
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "support/rocpd_rows.h"
#include "support/rocpd_writer.h"

namespace perflab::test {

/// What the recorder says of its own work.
struct CudaRecording {
  bool complete = true;
  std::int64_t dropped_records = 0;
  std::string second_client = {};  ///< empty: null
};

/// The options of a writer that makes such a recording.
WriterOptions cuda_recording(const CudaRecording& recording = {});

/// Whether the options are of such a recording.
bool is_cuda(const WriterOptions& options);

/// The H100 80GB HBM3 of the measured machine as the recorder describes it; `ordinal`: of CUDA.
AgentRow h100_agent(int ordinal = 0);

/// The three ids of calls about events; 0: the row has no such argument.
struct EventIds {
  std::int64_t event = 0, record = 0, stream = 0;
};

/// A call of the runtime (or of the driver when the name begins so).
RegionRow cuda_call(std::string_view name, std::int64_t start, std::int64_t end);
RegionRow cuda_launch(std::int64_t start, std::int64_t end);
RegionRow cuda_event_record(std::int64_t start, std::int64_t end, EventIds ids);
RegionRow cuda_stream_wait(std::int64_t start, std::int64_t end, EventIds ids);
RegionRow cuda_event_sync(std::int64_t start, std::int64_t end, EventIds ids);
RegionRow cuda_stream_sync(std::int64_t start, std::int64_t end, std::int64_t stream);
/// A push/pop range of NVTX.
RegionRow nvtx_range(std::string_view text, std::int64_t start, std::int64_t end);

}  // namespace perflab::test
