// Names, types and values as in a recording of rocprofv3 (emulated_mi300x/streams.db; the range: as
// rocprofv3 --marker-trace of ROCm 7 wrote it).
#include "support/api_rows.h"

#include <fmt/format.h>

#include "base/text/json.h"

namespace perflab::test {

std::string handle_text(Handle handle) {
  return handle == 0 ? std::string("0") : fmt::format("{:#x}", handle);
}

ArgumentRow stream_argument(Handle stream) {
  return argument("ihipStream_t*", "stream", handle_text(stream));
}

ArgumentRow event_argument(Handle event) {
  return argument("ihipEvent_t*", "event", handle_text(event));
}

RegionRow api_call(std::string_view name, std::int64_t start, std::int64_t end,
                   std::vector<ArgumentRow> arguments, Id stack_id) {
  return {.name = std::string(name),
          .start = start,
          .end = end,
          .event = {.stack_id = stack_id},
          .arguments = std::move(arguments)};
}

RegionRow kernel_call(std::int64_t start, std::int64_t end, Handle stream) {
  return api_call("hipLaunchKernel", start, end,
                  {argument("rocprofiler_dim3_t", "numBlocks", "{z=1, y=1, x=256}"),
                   argument("unsigned long", "sharedMemBytes", "0"), stream_argument(stream)});
}

RegionRow copy_call(std::int64_t start, std::int64_t end, Handle stream) {
  return api_call("hipMemcpyAsync", start, end,
                  {argument("unsigned long", "sizeBytes", "8192"), stream_argument(stream)});
}

RegionRow event_record(std::int64_t start, std::int64_t end, Handle event, Handle stream) {
  return api_call("hipEventRecord", start, end, {event_argument(event), stream_argument(stream)});
}

RegionRow stream_wait_event(std::int64_t start, std::int64_t end, Handle stream, Handle event) {
  return api_call(
      "hipStreamWaitEvent", start, end,
      {stream_argument(stream), event_argument(event), argument("unsigned int", "flags", "0")});
}

RegionRow stream_synchronize(std::int64_t start, std::int64_t end, Handle stream) {
  return api_call("hipStreamSynchronize", start, end, {stream_argument(stream)});
}

RegionRow event_synchronize(std::int64_t start, std::int64_t end, Handle event) {
  return api_call("hipEventSynchronize", start, end, {event_argument(event)});
}

RegionRow device_synchronize(std::int64_t start, std::int64_t end) {
  return api_call("hipDeviceSynchronize", start, end);
}

RegionRow set_device(std::int64_t start, std::int64_t end, int device) {
  return api_call("hipSetDevice", start, end,
                  {argument("int", "deviceId", fmt::to_string(device))});
}

RegionRow roctx_range(std::string_view text, std::int64_t start, std::int64_t end) {
  Json extdata;
  extdata["message"] = text;
  RegionRow row = api_call("roctxThreadRangeA", start, end);
  row.event.category = "MARKER_CORE_RANGE_API";
  row.event.extdata = extdata.dump();
  return row;
}

}  // namespace perflab::test
