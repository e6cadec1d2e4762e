// Kineto files as torch.profiler writes them, a few events each, put together by tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace perflab::trace {

inline constexpr std::string_view kKinetoCudaDevices = R"(
    {"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85045542912,
     "computeMajor": 9, "computeMinor": 0, "maxThreadsPerBlock": 1024,
     "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 32,
     "sharedMemPerBlock": 49152, "numSms": 132, "regsPerMultiprocessor": 65536,
     "sharedMemPerBlockOptin": 232448, "sharedMemPerMultiprocessor": 233472})";
inline constexpr std::string_view kKinetoAmdDevices = R"(
    {"id": 0, "name": "AMD Instinct MI300X", "totalGlobalMem": 206141652992,
     "computeMajor": 9, "computeMinor": 4, "maxThreadsPerBlock": 1024,
     "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 64,
     "sharedMemPerBlock": 65536, "numSms": 304, "maxSharedMemoryPerMultiProcessor": 65536})";

/// A file with these devices, further members ("\"a\": 1,") and events.
inline std::string kineto_file(std::string_view devices, std::string_view members,
                               const std::vector<std::string>& events) {
  std::string text = "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [";
  text += devices;
  text += "],\n  ";
  text += members;
  text += "\n  \"displayTimeUnit\": \"ms\",\n  \"traceEvents\": [";
  for (std::size_t i = 0; i < events.size(); ++i) text += (i == 0 ? "\n  " : ",\n  ") + events[i];
  text += "\n  ],\n  \"traceName\": \"trace.json\"\n}\n";
  return text;
}

/// A complete event; `where` is "\"pid\": 7, \"tid\": 8", `args` its members.
inline std::string kineto_event(std::string_view category, std::string_view name,
                                std::string_view where, std::string_view start,
                                std::string_view duration, std::string_view args) {
  std::string text = "{\"ph\": \"X\", \"cat\": \"";
  text += category;
  text += "\", \"name\": \"";
  text += name;
  text += "\", ";
  text += where;
  text += ", \"ts\": ";
  text += start;
  text += ", \"dur\": ";
  text += duration;
  text += ", \"args\": {";
  text += args;
  return text + "}}";
}

/// A step of a CUDA program: two launches, a copy, a wait with its event, an all-reduce.
inline std::string cuda_step_file() {
  const std::string host = "\"pid\": 70, \"tid\": 71", gpu = "\"pid\": 0, \"tid\": 7",
                    comm = "\"pid\": 0, \"tid\": 20";
  return kineto_file(
      kKinetoCudaDevices,
      R"("hostname": "node-a", "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8,
       "pg_config": [{"pg_name": "0", "ranks": [0, 1, 2, 3, 4, 5, 6, 7]}]},
       "baseTimeNanoseconds": 1700000000000000001,)",
      {R"({"name": "process_name", "ph": "M", "ts": 0, "pid": 70, "tid": 0,
          "args": {"name": "python3"}})",
       kineto_event("user_annotation", "ProfilerStep#5", host, "100.000", "900.000",
                    R"("External id": 1)"),
       kineto_event("cuda_runtime", "cudaLaunchKernel", host, "110.123", "5.004",
                    R"("External id": 2, "cbid": 211, "correlation": 1001)"),
       kineto_event("kernel", "void gemm<float>(float*)", gpu, "120.500", "40.250",
                    R"("External id": 2, "queued": 0, "device": 0, "context": 1, "stream": 7,
                       "correlation": 1001, "registers per thread": 72, "shared memory": 13824,
                       "grid": [32, 2, 1], "block": [128, 1, 1])"),
       kineto_event("cuda_runtime", "cudaEventRecord", host, "130", "1", R"("correlation": 1002)"),
       kineto_event("cuda_runtime", "cudaStreamWaitEvent", host, "132", "1",
                    R"("correlation": 1003)"),
       kineto_event("cuda_sync", "Stream Wait Event", "\"pid\": 0, \"tid\": 20", "132", "0",
                    R"("cuda_sync_kind": "Stream Wait Event", "wait_on_stream": 7,
                       "wait_on_cuda_event_id": 4, "wait_on_cuda_event_record_corr_id": 1002,
                       "stream": 20, "correlation": 1003, "device": 0, "context": 1)"),
       kineto_event("cuda_runtime", "cudaLaunchKernelExC", host, "140", "5",
                    R"("correlation": 1004)"),
       kineto_event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)", comm,
                    "161.001", "30",
                    R"("device": 0, "stream": 20, "correlation": 1004, "registers per thread": 96,
                       "shared memory": 0, "grid": [4, 1, 1], "block": [512, 1, 1],
                       "Collective name": "allreduce", "In msg nelems": 1024,
                       "Out msg nelems": 1024, "Group size": 8, "dtype": "Float",
                       "Process Group Name": "0", "Process Group Description": "default_pg",
                       "Process Group Ranks": "[0, 1, ..., 7]", "Seq": 12)"),
       kineto_event("cuda_runtime", "cudaMemcpyAsync", host, "170", "5", R"("correlation": 1005)"),
       kineto_event("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", gpu, "200", "2",
                    R"("device": 0, "stream": 7, "correlation": 1005, "bytes": 4096)"),
       kineto_event("gpu_memset", "Memset (Device)", gpu, "203", "1",
                    R"("device": 0, "stream": 7, "correlation": 999, "bytes": 64)"),
       kineto_event("cuda_runtime", "cudaStreamSynchronize", host, "204", "10",
                    R"("correlation": 1006)"),
       kineto_event("cuda_sync", "Stream Sync", "\"pid\": 0, \"tid\": 7", "204", "10",
                    R"("cuda_sync_kind": "Stream Sync", "stream": 7, "correlation": 1006)"),
       R"({"ph": "s", "id": 1001, "pid": 70, "tid": 71, "ts": 110.123, "cat": "ac2g",
          "name": "ac2g"})",
       R"({"name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "", "ts": 1000})"});
}

/// A step of a ROCm program: grids in work-groups and in work-items, facts of a collective on the
/// operation of the host.
inline std::string rocm_step_file() {
  const std::string host = "\"pid\": 80, \"tid\": 81", gpu = "\"pid\": 0, \"tid\": 0";
  return kineto_file(
      kKinetoAmdDevices, R"("distributedInfo": {"backend": "nccl", "rank": 1, "world_size": 2},)",
      {kineto_event("cuda_runtime", "hipLaunchKernel", host, "1000", "5",
                    R"("correlation": 11, "grid": [10, 1, 1], "block": [256, 1, 1],
                       "shared memory": 0)"),
       kineto_event("kernel", "elementwise", gpu, "1010", "20",
                    R"("device": 0, "stream": 0, "correlation": 11, "kind": "Dispatch Kernel")"),
       kineto_event("cpu_op", "record_param_comms", host, "1030", "60",
                    R"("External id": 5, "Collective name": "recv", "dtype": "BFloat16",
                       "In msg nelems": 0, "Out msg nelems": 64, "Group size": 2, "Seq": 3,
                       "Process Group Name": "pp", "Process Group Ranks": [4, 9],
                       "Src Rank": 9, "Dst Rank": 4)"),
       kineto_event("cuda_runtime", "hipExtModuleLaunchKernel", host, "1040", "5",
                    R"("correlation": 12)"),
       kineto_event("kernel", "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", gpu,
                    "1050", "30",
                    R"("device": 0, "stream": 0, "hsa_queue": 3, "correlation": 12,
                       "grid": [28160, 1, 1], "block": [256, 1, 1])")});
}

}  // namespace perflab::trace
