// Programs whose order is known by construction: streams with events, graphs, processes, ranges,
// threads, many launches. Each prints what it did (zoo.h).
//     nvcc -O2 -std=c++17 -arch=native flow.cu -o flow && ./flow streams 10
//     nvcc -O2 -std=c++17 -arch=native -shared -Xcompiler -fPIC flow.cu -o libflow.so   (storm.py)
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>

#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "zoo.h"

__global__ void empty() {}

/// Multiplies and adds until about `cycles` are over: a kernel of known length.
__global__ void busy(float* data, long long cycles) {
  const long long begin = clock64();
  float x = data[threadIdx.x];
  while (clock64() - begin < cycles) x = x * 0.999F + 0.5F;
  data[threadIdx.x] = x;
}

__global__ void add_one(float* data, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) data[i] += 1.0F;
}

namespace {

constexpr int kCount = 1 << 20;
constexpr std::size_t kBytes = kCount * sizeof(float);

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Four streams: 0 copies in, 1 to 3 wait for it and work, 0 waits for them and copies out.
int streams(long repeats) {
  cudaStream_t stream[4];
  cudaEvent_t in = nullptr;
  cudaEvent_t done[4] = {};
  float* host = nullptr;
  float* data[4] = {};
  CALL(cudaHostAlloc(&host, kBytes, cudaHostAllocDefault));
  CALL(cudaEventCreateWithFlags(&in, cudaEventDisableTiming));
  for (int i = 0; i < 4; ++i) {
    CALL(cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking));
    CALL(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
    CALL(cudaMalloc(&data[i], kBytes));
  }
  for (int i = 0; i < kCount; ++i) host[i] = 1.0F;
  for (long repeat = 0; repeat < repeats; ++repeat) {
    CALL(cudaMemcpyAsync(data[0], host, kBytes, cudaMemcpyHostToDevice, stream[0]));
    CALL(cudaEventRecord(in, stream[0]));
    for (int i = 1; i < 4; ++i) {
      CALL(cudaStreamWaitEvent(stream[i], in, 0));
      CALL(cudaMemcpyAsync(data[i], data[0], kBytes, cudaMemcpyDeviceToDevice, stream[i]));
      busy<<<4, 128, 0, stream[i]>>>(data[i], 100000LL * i);
      zoo::launched();
      CALL(cudaEventRecord(done[i], stream[i]));
      CALL(cudaStreamWaitEvent(stream[0], done[i], 0));
    }
    add_one<<<kCount / 256, 256, 0, stream[0]>>>(data[0], kCount);
    zoo::launched();
    CALL(cudaMemsetAsync(data[1], 0, 4096, stream[0]));
    CALL(cudaMemcpyAsync(host, data[0], kBytes, cudaMemcpyDeviceToHost, stream[0]));
    CALL(cudaEventRecord(done[0], stream[0]));
    CALL(cudaEventSynchronize(done[0]));
  }
  zoo::count("copies", repeats * 5);
  zoo::count("fills", repeats);
  zoo::count("event_records", repeats * 5);
  zoo::count("event_waits", repeats * 6);
  const bool right = host[0] == 1.0F + static_cast<float>(repeats);
  CALL(cudaDeviceSynchronize());
  for (int i = 0; i < 4; ++i) {
    CALL(cudaFree(data[i]));
    CALL(cudaEventDestroy(done[i]));
    CALL(cudaStreamDestroy(stream[i]));
  }
  CALL(cudaEventDestroy(in));
  CALL(cudaFreeHost(host));
  return right ? 0 : 1;
}

/// A graph captured from a stream (copy, fill, two branches, join), launched again and again.
int graph(long repeats) {
  cudaStream_t stream = nullptr;
  cudaStream_t branch = nullptr;
  cudaEvent_t fork = nullptr;
  cudaEvent_t join = nullptr;
  float* host = nullptr;
  float* data = nullptr;
  float* more = nullptr;
  CALL(cudaStreamCreate(&stream));
  CALL(cudaStreamCreate(&branch));
  CALL(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  CALL(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  CALL(cudaHostAlloc(&host, kBytes, cudaHostAllocDefault));
  CALL(cudaMalloc(&data, kBytes));
  CALL(cudaMalloc(&more, kBytes));
  for (int i = 0; i < kCount; ++i) host[i] = 1.0F;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t instance = nullptr;
  CALL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  CALL(cudaMemcpyAsync(data, host, kBytes, cudaMemcpyHostToDevice, stream));
  CALL(cudaEventRecord(fork, stream));
  CALL(cudaStreamWaitEvent(branch, fork, 0));
  CALL(cudaMemsetAsync(more, 0, kBytes, branch));
  busy<<<4, 128, 0, branch>>>(more, 100000);
  zoo::launched();
  add_one<<<kCount / 256, 256, 0, stream>>>(data, kCount);
  zoo::launched();
  CALL(cudaEventRecord(join, branch));
  CALL(cudaStreamWaitEvent(stream, join, 0));
  add_one<<<kCount / 256, 256, 0, stream>>>(data, kCount);
  zoo::launched();
  CALL(cudaStreamEndCapture(stream, &graph));
  zoo::count("kernels", -3);  // captured, not run
  CALL(cudaGraphInstantiate(&instance, graph, 0));
  for (long repeat = 0; repeat < repeats; ++repeat) CALL(cudaGraphLaunch(instance, stream));
  CALL(cudaMemcpyAsync(host, data, kBytes, cudaMemcpyDeviceToHost, stream));
  CALL(cudaStreamSynchronize(stream));
  zoo::count("graph_launches", repeats);
  zoo::count("kernels", 3 * repeats);
  zoo::count("copies", repeats + 1);
  zoo::count("fills", repeats);
  CALL(cudaGraphExecDestroy(instance));
  CALL(cudaGraphDestroy(graph));
  return host[0] == 3.0F ? 0 : 1;
}

/// `launches` empty kernels on the null stream, then waits.
int storm(long launches) {
  empty<<<1, 32>>>();
  zoo::launched();
  CALL(cudaDeviceSynchronize());
  const double begin = seconds();
  for (long i = 0; i < launches; ++i) empty<<<1, 32>>>();
  const double end = seconds();
  zoo::launched(launches);
  CALL(cudaDeviceSynchronize());
  zoo::done().figures["us_per_launch"] = 1e6 * (end - begin) / static_cast<double>(launches);
  return 0;
}

/// Several threads, each with its own stream, the last with its thread's default stream.
int threads(long launches) {
  constexpr int kThreads = 4;
  CALL(cudaFree(nullptr));
  std::vector<std::thread> all;
  for (int i = 0; i < kThreads; ++i)
    all.emplace_back([i, launches] {
      cudaStream_t stream = cudaStreamPerThread;
      if (i + 1 < kThreads) CALL(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      for (long launch = 0; launch < launches; ++launch) {
        empty<<<1, 32, 0, stream>>>();
        zoo::launched();
      }
      CALL(cudaStreamSynchronize(stream));
    });
  for (std::thread& thread : all) thread.join();
  return 0;
}

/// Ranges of all kinds around launches.
int ranges(long repeats) {
  float* data = nullptr;
  CALL(cudaMalloc(&data, kBytes));
  CALL(cudaMemset(data, 0, kBytes));
  zoo::count("fills");
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("zoo");
  for (long repeat = 0; repeat < repeats; ++repeat) {
    nvtxRangePushA("step");
    const nvtxRangeId_t range = nvtxRangeStartA("overlapping");
    for (int layer = 0; layer < 3; ++layer) {
      const std::string name = "layer " + std::to_string(layer);
      nvtxRangePushA(name.c_str());
      add_one<<<kCount / 256, 256>>>(data, kCount);
      zoo::launched();
      nvtxRangePop();
    }
    nvtxMarkA("half");
    nvtxEventAttributes_t attributes = {};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = "in a domain";
    nvtxDomainRangePushEx(domain, &attributes);
    CALL(cudaDeviceSynchronize());
    nvtxDomainRangePop(domain);
    nvtxRangeEnd(range);
    nvtxRangePop();
  }
  zoo::count("ranges", repeats * 6);  // step, overlapping, three layers, one in the domain
  zoo::count("marks", repeats);
  CALL(cudaFree(data));
  return 0;
}

/// Allocations of every kind but managed memory.
int memory(long repeats) {
  CALL(cudaFree(nullptr));
  for (long repeat = 0; repeat < repeats; ++repeat) {
    void* device = nullptr;
    void* pinned = nullptr;
    void* pool = nullptr;
    CALL(cudaMalloc(&device, kBytes));
    CALL(cudaHostAlloc(&pinned, kBytes, cudaHostAllocDefault));
    CALL(cudaMallocAsync(&pool, kBytes, nullptr));
    CALL(cudaMemsetAsync(pool, 1, kBytes, nullptr));
    CALL(cudaFreeAsync(pool, nullptr));
    CALL(cudaDeviceSynchronize());
    CALL(cudaFreeHost(pinned));
    CALL(cudaFree(device));
  }
  zoo::count("fills", repeats);
  zoo::count("allocations", 3 * repeats);
  zoo::count("frees", 3 * repeats);
  return 0;
}

int exit_code_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}

/// Three processes that use the GPU: a child forked before CUDA starts, one that execs, this one.
/// A fourth is forked after CUDA started and only exits: a recorder must leave it alone.
int processes(const char* self, long launches) {
  const pid_t forked = ::fork();
  if (forked == 0) {
    const int result = storm(launches);
    zoo::say();
    std::exit(result);
  }
  const pid_t started = ::fork();
  if (started == 0) {
    const std::string text = std::to_string(launches);
    ::execl(self, self, "storm", text.c_str(), nullptr);
    std::_Exit(3);
  }
  const int result = storm(launches);
  const pid_t late = ::fork();
  if (late == 0) {
    ::alarm(10);  // ended by SIGALRM if something that was inherited hangs
    std::exit(0);
  }
  zoo::count("processes", 3);
  return result + exit_code_of(forked) + exit_code_of(started) + exit_code_of(late);
}

/// Launches until it is killed; says every quarter of a second how many are finished, and when.
[[noreturn]] void forever() {
  long finished = 0;
  for (double next = seconds();;) {
    for (int i = 0; i < 1000; ++i) empty<<<1, 32>>>();
    CALL(cudaDeviceSynchronize());
    finished += 1000;
    if (seconds() < next) continue;
    next = seconds() + 0.25;
    std::printf("%ld %.3f\n", finished, seconds());  // the clock of python's time.monotonic()
    std::fflush(stdout);
  }
}

/// Launches, leaves a recorder three seconds to flush, and aborts.
[[noreturn]] void abort_later(long launches) {
  storm(launches);
  zoo::say();
  std::this_thread::sleep_for(std::chrono::seconds(3));
  std::abort();
}

/// Returns from main while fills are still in flight.
int in_flight(long fills) {
  void* data = nullptr;
  CALL(cudaMalloc(&data, kBytes * 16));
  for (long i = 0; i < fills; ++i)
    CALL(cudaMemsetAsync(data, static_cast<int>(i), kBytes * 16, nullptr));
  zoo::count("fills", fills);
  return 0;
}

}  // namespace

/// For storm.py: the time of a launch in microseconds.
extern "C" double us_per_launch(long launches) {
  storm(launches);
  return zoo::done().figures["us_per_launch"];
}

int main(int argc, char** argv) {
  const std::string wanted = argc > 1 ? argv[1] : "";
  int result = 0;
  if (wanted == "streams") {
    result = streams(zoo::number(argc, argv, 2, 50));
  } else if (wanted == "graph") {
    result = graph(zoo::number(argc, argv, 2, 50));
  } else if (wanted == "storm") {
    result = storm(zoo::number(argc, argv, 2, 100000));
  } else if (wanted == "threads") {
    result = threads(zoo::number(argc, argv, 2, 5000));
  } else if (wanted == "ranges") {
    result = ranges(zoo::number(argc, argv, 2, 50));
  } else if (wanted == "memory") {
    result = memory(zoo::number(argc, argv, 2, 50));
  } else if (wanted == "processes") {
    result = processes(argv[0], zoo::number(argc, argv, 2, 1000));
  } else if (wanted == "in_flight") {
    result = in_flight(zoo::number(argc, argv, 2, 3000));
  } else if (wanted == "forever") {
    forever();
  } else if (wanted == "abort") {
    abort_later(zoo::number(argc, argv, 2, 1000));
  } else {
    std::fprintf(stderr,
                 "usage: flow streams|graph|storm|threads|ranges|memory|processes|in_flight|abort "
                 "[COUNT], or flow forever\n");
    return 2;
  }
  zoo::say();
  return result;
}
