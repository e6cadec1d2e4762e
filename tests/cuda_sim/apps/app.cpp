// cuda_sim_app WHAT [N [MS]]: a program of the stand-in CUDA for tests of recording. It prints how
// much it did as one line of JSON, waits so many milliseconds and ends, each WHAT in its way:
// README.md.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "cuda/api.h"
#include "cuda_sim/apps/ranges.h"
#include "cuda_sim/runtime.h"

namespace perflab::cuda_sim {
namespace {

using cuda::CopyKind;
using cuda::DriverResult;

constexpr std::size_t kMegabyte = 1'000'000;

void must(DriverResult answer, const char* what) {
  if (answer == DriverResult::success) return;
  std::fprintf(stderr, "%s: %u\n", what, static_cast<unsigned>(answer));
  std::exit(3);
}

std::uint64_t ranges_made = 0;
std::uint64_t marks_made = 0;

void print_counts() {
  const Counts done = cuda_sim_counts();
  std::printf(
      "{\"pid\":%d,\"kernels\":%lu,\"copies\":%lu,\"peer_copies\":%lu,\"fills\":%lu,"
      "\"runtime_calls\":%lu,\"driver_calls\":%lu,\"allocations\":%lu,\"releases\":%lu,"
      "\"events\":%lu,\"waits\":%lu,\"graph_launches\":%lu,\"ranges\":%lu,\"marks\":%lu}\n",
      getpid(), done.kernels, done.copies, done.peer_copies, done.fills, done.runtime_calls,
      done.driver_calls, done.allocations, done.releases, done.events, done.waits,
      done.graph_launches, ranges_made, marks_made);
  std::fflush(stdout);
}

struct Kernels {
  cuda::Function axpy, reduce, gemm, stencil;
};

Kernels make_kernels(std::uint32_t nanoseconds = 20'000) {
  const auto make = [](const KernelDescription& kernel) { return cuda_sim_function(&kernel); };
  return {.axpy = make({.name = "_Z4axpyfPKfPfi", .nanoseconds = nanoseconds, .registers = 16}),
          .reduce = make({.name = "_Z6reduceIfLi256EEvPKT_PS0_i",
                          .nanoseconds = nanoseconds * 2,
                          .registers = 30,
                          .static_shared_memory = 1024}),
          .gemm = make({.name = "_Z4gemmPKfS0_Pfiii",
                        .nanoseconds = nanoseconds * 10,
                        .registers = 128,
                        .static_shared_memory = 16'384}),
          .stencil = make({.name = "_Z7stencilPKdPdii",
                           .nanoseconds = nanoseconds * 5,
                           .registers = 64,
                           .local_memory = 48})};
}

Launch blocks(int count, int threads = 256) {
  Launch launch;
  launch.grid.x = count;
  launch.block.x = threads;
  return launch;
}

/// One of each kind of work, allocation, wait and range.
void everything(int rounds) {
  const Kernels kernels = make_kernels();
  cuda::DevicePointer device = 0;
  cuda::DevicePointer managed = 0;
  void* host = nullptr;
  must(runtime::allocate(&device, 16 * kMegabyte), "cudaMalloc");
  must(runtime::allocate_managed(&managed, kMegabyte), "cudaMallocManaged");
  must(runtime::allocate_host(&host, kMegabyte), "cudaMallocHost");
  cuda::Stream stream = nullptr;
  must(runtime::create_stream(&stream), "cudaStreamCreateWithFlags");
  for (int round = 0; round < rounds; ++round) {
    ranges::push("round");
    ++ranges_made;
    must(runtime::copy(CopyKind::host_to_device, kMegabyte, stream), "cudaMemcpyAsync");
    must(runtime::launch(kernels.axpy, blocks(4096), stream), "cudaLaunchKernel");
    Launch shared = blocks(132, 512);
    shared.dynamic_shared_memory = 100'000;
    must(runtime::launch(kernels.gemm, shared, stream), "cudaLaunchKernel");
    must(runtime::fill(0, kMegabyte, stream), "cudaMemsetAsync");
    Launch clustered = blocks(128, 128);
    clustered.cluster = {.x = 4, .y = 1, .z = 1};
    must(runtime::launch(kernels.stencil, clustered, stream), "cudaLaunchKernelExC");
    Launch cooperative = blocks(132);
    cooperative.type = cuda::launch_type::cooperative;
    must(runtime::launch(kernels.reduce, cooperative, stream), "cudaLaunchCooperativeKernel");
    // Without the runtime: a call of the driver has a record of its own.
    must(cuLaunchKernel(kernels.axpy, 8, 1, 1, 64, 1, 1, 0, stream, nullptr, nullptr),
         "cuLaunchKernel");
    must(runtime::copy(CopyKind::device_to_host, kMegabyte, stream), "cudaMemcpyAsync");
    ranges::mark("copied");
    ++marks_made;
    cuda::DevicePointer pooled = 0;
    must(runtime::allocate_async(&pooled, kMegabyte, stream), "cudaMallocAsync");
    must(runtime::release_async(pooled, stream), "cudaFreeAsync");
    must(runtime::synchronize(stream), "cudaStreamSynchronize");
    ranges::pop();
  }
  const std::uint64_t whole = ranges::start("whole");
  ranges::push_in("library", "inner", 42);
  must(runtime::copy(CopyKind::device_to_device, kMegabyte, nullptr), "cudaMemcpyAsync");
  ranges::pop_in("library");
  ranges::end(whole);
  ranges_made += 2;
  must(runtime::synchronize_device(), "cudaDeviceSynchronize");
  must(runtime::destroy_stream(stream), "cudaStreamDestroy");
  must(runtime::trim_pool(), "cudaMemPoolTrimTo");
  must(runtime::release_host(host), "cudaFreeHost");
  must(runtime::release(managed), "cudaFree");
  must(runtime::release(device), "cudaFree");
}

/// Streams that wait for each other: a first one, N in parallel behind its event, one that waits
/// for all of them.
void streams(int count) {
  const Kernels kernels = make_kernels();
  std::vector<cuda::Stream> all(static_cast<std::size_t>(count));
  std::vector<cuda::Event> ends(all.size());
  cuda::Event begin = nullptr;
  must(runtime::create_event(&begin), "cudaEventCreate");
  for (std::size_t i = 0; i < all.size(); ++i) {
    must(runtime::create_stream(&all[i], false), "cudaStreamCreateWithFlags");
    must(runtime::create_event(&ends[i]), "cudaEventCreate");
  }
  must(runtime::launch(kernels.gemm, blocks(132), all[0]), "cudaLaunchKernel");
  must(runtime::record(begin, all[0]), "cudaEventRecord");
  for (std::size_t i = 1; i < all.size(); ++i) {
    must(runtime::wait(all[i], begin), "cudaStreamWaitEvent");
    must(runtime::launch(kernels.stencil, blocks(264), all[i]), "cudaLaunchKernel");
    must(runtime::record(ends[i], all[i]), "cudaEventRecord");
    must(runtime::wait(all[0], ends[i]), "cudaStreamWaitEvent");
  }
  must(runtime::launch(kernels.reduce, blocks(1), all[0]), "cudaLaunchKernel");
  must(runtime::record(begin, all[0]), "cudaEventRecord");
  must(runtime::synchronize_event(begin), "cudaEventSynchronize");
  must(runtime::synchronize_device(), "cudaDeviceSynchronize");
}

/// A graph of three kernels, a copy and a fill, launched N times.
void graphs(int launches) {
  const Kernels kernels = make_kernels();
  cuda::Stream stream = nullptr;
  must(runtime::create_stream(&stream), "cudaStreamCreateWithFlags");
  must(runtime::begin_capture(stream), "cudaStreamBeginCapture");
  must(runtime::launch(kernels.axpy, blocks(16), stream), "cudaLaunchKernel");
  must(runtime::copy(CopyKind::device_to_device, kMegabyte, stream), "cudaMemcpyAsync");
  must(runtime::launch(kernels.gemm, blocks(132), stream), "cudaLaunchKernel");
  must(runtime::fill(1, kMegabyte, stream), "cudaMemsetAsync");
  must(runtime::launch(kernels.reduce, blocks(1), stream), "cudaLaunchKernel");
  Graph graph = nullptr;
  must(runtime::end_capture(stream, &graph), "cudaStreamEndCapture");
  cuda::GraphExec executable = nullptr;
  must(runtime::instantiate(&executable, graph), "cudaGraphInstantiate");
  for (int i = 0; i < launches; ++i)
    must(runtime::launch_graph(executable, stream), "cudaGraphLaunch");
  must(runtime::synchronize(stream), "cudaStreamSynchronize");
  must(runtime::destroy_graph(executable), "cudaGraphExecDestroy");
}

void copies(int count) {
  cuda::Stream stream = nullptr;
  must(runtime::create_stream(&stream), "cudaStreamCreateWithFlags");
  for (int i = 0; i < count; ++i) {
    must(runtime::copy(CopyKind::host_to_device, 10 * kMegabyte, stream), "cudaMemcpyAsync");
    must(runtime::copy(CopyKind::device_to_device, 10 * kMegabyte, stream), "cudaMemcpyAsync");
    must(runtime::copy(CopyKind::device_to_host, 10 * kMegabyte, stream), "cudaMemcpyAsync");
    must(runtime::fill(7, 10 * kMegabyte, stream), "cudaMemsetAsync");
  }
  int devices = 0;
  must(runtime::get_device_count(&devices), "cudaGetDeviceCount");
  if (devices > 1) must(runtime::copy_peer(1, kMegabyte, stream), "cudaMemcpyPeerAsync");
  must(runtime::synchronize_device(), "cudaDeviceSynchronize");
}

/// N short kernels one after another.
void many(int count) {
  const Kernels kernels = make_kernels(10);
  for (int i = 0; i < count; ++i)
    must(runtime::launch(kernels.axpy, blocks(1, 32), nullptr), "cudaLaunchKernel");
  must(runtime::synchronize_device(), "cudaDeviceSynchronize");
}

/// N kernels in each of four threads, on the threads' own default streams.
void threads(int count) {
  const Kernels kernels = make_kernels(100);
  std::vector<std::thread> all;
  for (int i = 0; i < 4; ++i)
    all.emplace_back([&] {
      ranges::push("thread");
      for (int k = 0; k < count; ++k)
        must(runtime::launch(kernels.axpy, blocks(8), per_thread_stream), "cudaLaunchKernel");
      must(runtime::synchronize(per_thread_stream), "cudaStreamSynchronize");
      ranges::pop();
    });
  for (std::thread& one : all) one.join();
  ranges_made += 4;
}

/// Every device in turn.
void devices(int count) {
  const Kernels kernels = make_kernels();
  int there = 0;
  must(runtime::get_device_count(&there), "cudaGetDeviceCount");
  for (int device = 0; device < there; ++device) {
    must(runtime::set_device(device), "cudaSetDevice");
    for (int i = 0; i < count; ++i)
      must(runtime::launch(kernels.axpy, blocks(8), nullptr), "cudaLaunchKernel");
    must(runtime::synchronize_device(), "cudaDeviceSynchronize");
  }
}

/// N kernels of 20 ms each that are still running when the program ends.
void in_flight(int count) {
  const Kernels kernels = make_kernels(20'000'000);
  for (int i = 0; i < count; ++i)
    must(runtime::launch(kernels.axpy, blocks(8), nullptr), "cudaLaunchKernel");
}

/// N kernels, then one that reads what it may not.
void fault(int count) {
  many(count);
  const KernelDescription bad{.name = "_Z5stealPi", .nanoseconds = 50'000, .faults = true};
  must(runtime::launch(cuda_sim_function(&bad), blocks(1, 32), nullptr), "cudaLaunchKernel");
  const DriverResult answer = runtime::synchronize_device();
  std::printf("{\"fault\":%u}\n", static_cast<unsigned>(answer));
}

void end_with_failure() {
  std::exit(1);
}

/// A fork before CUDA is used: both processes work.
void fork_before(int count) {
  const pid_t child = fork();
  many(count);
  if (child == 0) return;
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) std::exit(4);
}

/// A fork after it: the child can use nothing, and leaves through its atexit handlers.
void fork_after(int count) {
  many(count);
  const pid_t child = fork();
  if (child == 0) {
    const DriverResult answer = runtime::synchronize_device();
    std::exit(answer == DriverResult::not_initialized ? 0 : 5);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) std::exit(4);
}

std::uint8_t other_buffer[65'536];
void other_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most) {
  *buffer = other_buffer;
  *bytes = sizeof other_buffer;
  *most = 0;
}
void other_completed(cuda::Context /*context*/, std::uint32_t /*stream*/, std::uint8_t* /*buffer*/,
                     std::size_t /*bytes*/, std::size_t /*valid*/) {}
void other_called(void* /*user*/, cuda::CallbackDomain /*domain*/, cuda::CallbackId /*id*/,
                  const void* /*data*/) {}

/// Like torch.profiler: the program is a client of CUPTI itself. It says what subscribing answered.
void second_client(int count) {
  const Kernels kernels = make_kernels();
  must(runtime::launch(kernels.axpy, blocks(8), nullptr), "cudaLaunchKernel");
  void* const library = dlopen("libcupti.so.13", RTLD_NOW);
  if (library == nullptr) std::exit(6);
  const cuda::Cupti cupti = cuda::cupti_of_library(library);
  cuda::Subscriber subscriber = nullptr;
  const cuda::CuptiResult answer = cupti.subscribe(&subscriber, &other_called, nullptr);
  std::printf("{\"subscribe\":%u}\n", static_cast<unsigned>(answer));
  if (answer == cuda::CuptiResult::success) {
    cupti.activity_register_callbacks(&other_requested, &other_completed);
    cupti.activity_enable(cuda::ActivityKind::concurrent_kernel);
  }
  for (int i = 0; i < count; ++i)
    must(runtime::launch(kernels.gemm, blocks(8), nullptr), "cudaLaunchKernel");
  must(runtime::synchronize_device(), "cudaDeviceSynchronize");
}

struct Command {
  const char* name;
  void (*run)(int number);
  int number;     ///< without N
  void (*end)();  ///< how the program ends; null: by returning from main
};

void end_by_abort() {
  std::abort();
}
void end_by_kill() {
  raise(SIGKILL);
}
void end_at_once() {
  _exit(0);
}
void end_by_reset() {
  must(runtime::reset_device(), "cudaDeviceReset");
}
void end_by_waiting() {
  // For whoever wants to kill it from outside.
  std::this_thread::sleep_for(std::chrono::hours(1));
}

constexpr Command kCommands[] = {
    {.name = "all", .run = &everything, .number = 2, .end = nullptr},
    {.name = "streams", .run = &streams, .number = 4, .end = nullptr},
    {.name = "graphs", .run = &graphs, .number = 3, .end = nullptr},
    {.name = "copies", .run = &copies, .number = 2, .end = nullptr},
    {.name = "many", .run = &many, .number = 1000, .end = nullptr},
    {.name = "threads", .run = &threads, .number = 100, .end = nullptr},
    {.name = "devices", .run = &devices, .number = 2, .end = nullptr},
    {.name = "in-flight", .run = &in_flight, .number = 5, .end = nullptr},
    {.name = "fork-before", .run = &fork_before, .number = 10, .end = nullptr},
    {.name = "fork-after", .run = &fork_after, .number = 10, .end = nullptr},
    {.name = "second-client", .run = &second_client, .number = 3, .end = nullptr},
    {.name = "fault", .run = &fault, .number = 10, .end = &end_with_failure},
    {.name = "abort", .run = &many, .number = 1000, .end = &end_by_abort},
    {.name = "kill", .run = &many, .number = 1000, .end = &end_by_kill},
    {.name = "at-once", .run = &many, .number = 1000, .end = &end_at_once},
    {.name = "reset", .run = &many, .number = 1000, .end = &end_by_reset},
    {.name = "wait", .run = &many, .number = 1000, .end = &end_by_waiting},
    {.name = "nothing", .run = [](int) {}, .number = 0, .end = nullptr},
};

}  // namespace
}  // namespace perflab::cuda_sim

int main(int argc, char** argv) {
  using namespace perflab::cuda_sim;
  for (const Command& command : kCommands) {
    if (argc < 2 || std::strcmp(argv[1], command.name) != 0) continue;
    command.run(argc > 2 ? std::atoi(argv[2]) : command.number);
    print_counts();
    if (argc > 3) std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(argv[3])));
    if (command.end != nullptr) command.end();
    return 0;
  }
  std::fprintf(stderr, "cuda_sim_app: one of");
  for (const Command& command : kCommands) std::fprintf(stderr, " %s", command.name);
  std::fprintf(stderr, "\n");
  return 2;
}
