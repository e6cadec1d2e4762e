// Rows of host API calls with the arguments that order work, in a few words, for tests of what
// orders GPU work: streams, events, waits, synchronisation, user ranges. Names, types and spelling
// of the values are rocprofv3's (as in emulated_mi300x/streams.db).
//
//   w.launch(kernel_call(10, 15, kStreamA), {.kernel = k, .start = 25, .end = 95});
//   w.region(event_record(20, 21, kEvent, kStreamA));
//   w.region(stream_wait_event(22, 23, kStreamB, kEvent));
//   w.region(roctx_range("step 1", 5, 200));
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/rocpd_rows.h"

namespace perflab::test {

/// A made-up handle of a stream or event: the HIP runtime's are addresses. 0 is the default stream.
using Handle = std::uint64_t;

/// "0x55b60f4979a0"; "0" for no address, as rocprofv3 writes it.
std::string handle_text(Handle handle);

ArgumentRow stream_argument(Handle stream);
ArgumentRow event_argument(Handle event);

/// Any call. `stack_id`: what the work that it submits carries; 0: none.
RegionRow api_call(std::string_view name, std::int64_t start, std::int64_t end,
                   std::vector<ArgumentRow> arguments = {}, Id stack_id = 0);

/// hipLaunchKernel; RocpdWriter::launch gives it its stack id.
RegionRow kernel_call(std::int64_t start, std::int64_t end, Handle stream = 0);
/// hipMemcpyAsync; RocpdWriter::launch_copy gives it its stack id.
RegionRow copy_call(std::int64_t start, std::int64_t end, Handle stream = 0);
RegionRow event_record(std::int64_t start, std::int64_t end, Handle event, Handle stream = 0);
RegionRow stream_wait_event(std::int64_t start, std::int64_t end, Handle stream, Handle event);
RegionRow stream_synchronize(std::int64_t start, std::int64_t end, Handle stream = 0);
RegionRow event_synchronize(std::int64_t start, std::int64_t end, Handle event);
RegionRow device_synchronize(std::int64_t start, std::int64_t end);
/// hipSetDevice; `device`: the HIP ordinal.
RegionRow set_device(std::int64_t start, std::int64_t end, int device);
/// A push/pop range with its text.
RegionRow roctx_range(std::string_view text, std::int64_t start, std::int64_t end);

}  // namespace perflab::test
