// Keys and values as src/record/database writes them; attributes as cuDeviceGetAttribute gave them
// on an H100 (docs/facts/cuda_calls.md "What a recording says").
#include "support/cuda_rows.h"

#include <fmt/format.h>

#include "base/text/json.h"

namespace perflab::test {
namespace {

std::vector<ArgumentRow> arguments_of(const EventIds& ids) {
  std::vector<ArgumentRow> rows;
  const auto add = [&](const char* name, std::int64_t value) {
    if (value != 0) rows.push_back(argument("unsigned int", name, fmt::to_string(value)));
  };
  add("event_id", ids.event);
  add("record_id", ids.record);
  add("stream_id", ids.stream);
  return rows;
}

RegionRow with_ids(std::string_view name, std::int64_t start, std::int64_t end,
                   const EventIds& ids) {
  RegionRow row = cuda_call(name, start, end);
  row.arguments = arguments_of(ids);
  return row;
}

}  // namespace

WriterOptions cuda_recording(const CudaRecording& recording) {
  Json extdata;
  extdata["collector"] = "rocm-perf-record";
  extdata["version"] = "1.0";
  extdata["platform"] = "cuda";
  extdata["complete"] = recording.complete;
  extdata["dropped_records"] = recording.dropped_records;
  extdata["second_client"] =
      recording.second_client.empty() ? Json(nullptr) : Json(recording.second_client);
  extdata["recorded"] = {"kernels", "api", "memory", "ranges", "sync"};
  extdata["driver_version"] = "13.0";
  extdata["cupti_version"] = 130001;
  WriterOptions options;
  options.process.extdata = extdata.dump();
  return options;
}

bool is_cuda(const WriterOptions& options) {
  return options.process.extdata.find("rocm-perf-record") != std::string::npos;
}

AgentRow h100_agent(int ordinal) {
  const Json extdata = {{"cu_count", 132},
                        {"simd_per_cu", 4},
                        {"wave_front_size", 32},
                        {"max_waves_per_cu", 64},
                        {"max_waves_per_simd", 16},
                        {"lds_size_in_kb", 228},
                        {"num_xcc", 1},
                        {"max_engine_clk_fcompute", 1980},
                        {"vendor_id", 4318},
                        {"device_id", 9008},
                        {"gfx_target_version", 0},
                        {"cuda",
                         {{"compute_capability", "9.0"},
                          {"registers_per_sm", 65536},
                          {"shared_memory_per_block_optin", 232448},
                          {"reserved_shared_memory_per_block", 1024},
                          {"max_blocks_per_sm", 32},
                          {"l2_bytes", 52428800},
                          {"memory_bus_bits", 5120},
                          {"memory_clock_khz", 2619000},
                          {"clock_khz", 1980000},
                          {"memory_bytes", 85520809984}}}};
  AgentRow row;
  row.absolute_index = ordinal + 1;
  row.logical_index = ordinal + 1;
  row.type_index = ordinal;
  row.uuid = 9008;
  row.name = "sm_90";
  row.vendor_name = "NVIDIA";
  row.product_name = "NVIDIA H100 80GB HBM3";
  row.extdata = extdata.dump();
  return row;
}

RegionRow cuda_call(std::string_view name, std::int64_t start, std::int64_t end) {
  RegionRow row;
  row.name = name;
  row.start = start;
  row.end = end;
  row.event.category = name.starts_with("cuda") ? "CUDA_RUNTIME_API" : "CUDA_DRIVER_API";
  return row;
}

RegionRow cuda_launch(std::int64_t start, std::int64_t end) {
  return cuda_call("cudaLaunchKernel", start, end);
}

RegionRow cuda_event_record(std::int64_t start, std::int64_t end, EventIds ids) {
  return with_ids("cudaEventRecord", start, end, ids);
}

RegionRow cuda_stream_wait(std::int64_t start, std::int64_t end, EventIds ids) {
  return with_ids("cudaStreamWaitEvent", start, end, ids);
}

RegionRow cuda_event_sync(std::int64_t start, std::int64_t end, EventIds ids) {
  return with_ids("cudaEventSynchronize", start, end, ids);
}

RegionRow cuda_stream_sync(std::int64_t start, std::int64_t end, std::int64_t stream) {
  return with_ids("cudaStreamSynchronize", start, end, {.stream = stream});
}

RegionRow nvtx_range(std::string_view text, std::int64_t start, std::int64_t end) {
  Json extdata;
  extdata["message"] = text;
  RegionRow row = cuda_call("nvtxRangePushA", start, end);
  row.event.category = "MARKER_CORE_RANGE_API";
  row.event.extdata = extdata.dump();
  return row;
}

}  // namespace perflab::test
