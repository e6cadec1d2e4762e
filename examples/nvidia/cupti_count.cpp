// CUPTI's own count of what a program does, to hold a recording against: a library that the CUDA
// driver loads, made of nothing but the toolkit's headers.
//     g++ -O2 -shared -fPIC -I /usr/local/cuda/include cupti_count.cpp -L /usr/local/cuda/lib64
//     -lcupti -o libcupti_count.so CUDA_INJECTION64_PATH=$PWD/libcupti_count.so
//     NVTX_INJECTION64_PATH=$PWD/libcupti_count.so ZOO_COUNT_OUT=. ./flow streams
// With ZOO_KERNELS_ONLY set it has kernels recorded and reads nothing: what CUPTI itself costs.
// Leaves $ZOO_COUNT_OUT/PID.count.json: kernels by name with their median time, copies and fills,
// calls by name, ranges, marks, allocations.
#include <cupti.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {

struct Counted {
  std::mutex mutex;
  std::map<std::string, std::vector<unsigned long long>> kernels;  ///< durations by mangled name
  std::map<std::string, long> calls;
  std::map<std::string, long> did;
  pid_t pid = 0;
  const bool kernels_only = std::getenv("ZOO_KERNELS_ONLY") != nullptr;
};

Counted& counted() {
  static Counted* all = new Counted;  // never freed: buffers come until the very end
  return *all;
}

constexpr std::size_t kBufferBytes = std::size_t{4} << 20;

void CUPTIAPI buffer_wanted(uint8_t** buffer, std::size_t* size, std::size_t* records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = kBufferBytes;
  *records = 0;
}

/// "cudaMalloc_v3020" is cudaMalloc.
std::string plain(const char* name) {
  std::string text = name != nullptr ? name : "?";
  const std::size_t at = text.rfind("_v");
  if (at != std::string::npos && at + 2 < text.size() &&
      text.find_first_not_of("0123456789", at + 2) == std::string::npos)
    text.resize(at);
  return text;
}

void count(Counted& all, const CUpti_Activity* record) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel10*>(record);
      all.kernels[kernel->name != nullptr ? kernel->name : "?"].push_back(kernel->end -
                                                                          kernel->start);
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY:
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      ++all.did["copies"];
      break;
    case CUPTI_ACTIVITY_KIND_MEMSET:
      ++all.did["fills"];
      break;
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: {
      const auto* call = reinterpret_cast<const CUpti_ActivityAPI*>(record);
      const char* name = nullptr;
      cuptiGetCallbackName(record->kind == CUPTI_ACTIVITY_KIND_RUNTIME ? CUPTI_CB_DOMAIN_RUNTIME_API
                                                                       : CUPTI_CB_DOMAIN_DRIVER_API,
                           call->cbid, &name);
      ++all.calls[plain(name)];
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMORY2: {
      const auto* memory = reinterpret_cast<const CUpti_ActivityMemory4*>(record);
      const bool made =
          memory->memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
      ++all.did[made ? "allocations" : "frees"];
      break;
    }
    case CUPTI_ACTIVITY_KIND_MARKER: {
      const auto* marker = reinterpret_cast<const CUpti_ActivityMarker2*>(record);
      if ((marker->flags & CUPTI_ACTIVITY_FLAG_MARKER_START) != 0) ++all.did["ranges"];
      if ((marker->flags & CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS) != 0) ++all.did["marks"];
      break;
    }
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: {
      const auto* wait = reinterpret_cast<const CUpti_ActivitySynchronization2*>(record);
      if (wait->type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT)
        ++all.did["event_waits"];
      break;
    }
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
      ++all.did["event_records"];
      break;
    default:
      break;
  }
}

void CUPTIAPI buffer_full(CUcontext context, uint32_t stream, uint8_t* buffer, std::size_t,
                          std::size_t valid) {
  Counted& all = counted();
  if (all.kernels_only) return std::free(buffer);
  const std::lock_guard<std::mutex> lock(all.mutex);
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) count(all, record);
  std::size_t dropped = 0;
  cuptiActivityGetNumDroppedRecords(context, stream, &dropped);
  all.did["dropped"] += static_cast<long>(dropped);
  std::free(buffer);
}

void write_counts(const Counted& all) {
  const char* folder = std::getenv("ZOO_COUNT_OUT");
  const std::string path =
      std::string(folder != nullptr ? folder : ".") + "/" + std::to_string(all.pid) + ".count.json";
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return;
  std::fprintf(file, "{\"kernels\": {");
  const char* comma = "";
  for (const auto& [name, times] : all.kernels) {
    std::vector<unsigned long long> sorted = times;
    std::sort(sorted.begin(), sorted.end());
    std::fprintf(file, "%s\"%s\": {\"count\": %zu, \"median_ns\": %llu}", comma, name.c_str(),
                 sorted.size(), sorted[sorted.size() / 2]);
    comma = ", ";
  }
  for (const auto& [title, group] : {std::pair{"calls", &all.calls}, {"did", &all.did}}) {
    std::fprintf(file, "}, \"%s\": {", title);
    comma = "";
    for (const auto& [name, times] : *group) {
      std::fprintf(file, "%s\"%s\": %ld", comma, name.c_str(), times);
      comma = ", ";
    }
  }
  std::fprintf(file, "}}\n");
  std::fclose(file);
}

void finish() {
  Counted& all = counted();
  if (::getpid() != all.pid) return;                 // a child of fork: flushing would hang
  cuptiActivityDisable(CUPTI_ACTIVITY_KIND_DRIVER);  // the next call is not the program's
  cuCtxSynchronize();
  cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  const std::lock_guard<std::mutex> lock(all.mutex);
  write_counts(all);
}

}  // namespace

extern "C" int InitializeInjection(void) {
  counted().pid = ::getpid();
  cuptiActivityRegisterCallbacks(buffer_wanted, buffer_full);
  for (const CUpti_ActivityKind kind :
       {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
        CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_RUNTIME,
        CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_MEMORY2, CUPTI_ACTIVITY_KIND_MARKER,
        CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_CUDA_EVENT}) {
    if (counted().kernels_only && kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
    if (cuptiActivityEnable(kind) != CUPTI_SUCCESS)
      std::fprintf(stderr, "cupti_count: activity %d refused\n", static_cast<int>(kind));
  }
  std::atexit(finish);
  return 1;
}
