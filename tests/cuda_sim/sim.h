// What the stand-in libcuda.so.1, libcupti.so.13 and runtime share: work on streams, calls, and the
// exported functions beside those of the real driver.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/api.h"
#include "cuda_sim/calls.h"

namespace perflab::cuda_sim {

/// A kernel as the program describes it. Functions are never freed: records point at the name.
struct KernelDescription {
  const char* name;  ///< mangled
  std::uint32_t nanoseconds = 10'000;
  std::uint16_t registers = 32;
  std::int32_t static_shared_memory = 0;
  std::uint32_t local_memory = 0;  ///< bytes of a thread
  bool faults = false;             ///< its context is dead when it ends
};

struct Dimensions {
  std::int32_t x = 1, y = 1, z = 1;
};

/// Shape of a launch.
struct Launch {
  Dimensions grid;
  Dimensions block{.x = 256, .y = 1, .z = 1};
  std::int32_t dynamic_shared_memory = 0;
  Dimensions cluster{.x = 0, .y = 0, .z = 0};
  std::uint8_t type = cuda::launch_type::regular;
};

/// `mark`: an event behind others, which has no record.
enum class WorkKind : std::uint8_t { kernel, copy, peer_copy, fill, mark };

/// The end of an operation that never finishes, because of a fault before it.
inline constexpr std::uint64_t never = ~std::uint64_t{0};

/// One operation of a stream. Times are those of the machine's clock (cuda_sim_now).
struct Work {
  WorkKind kind = WorkKind::kernel;
  std::uint64_t start = 0, end = 0;
  std::uint32_t nanoseconds = 0;
  std::uint32_t device = 0, context = 0, stream = 0, correlation = 0;
  const KernelDescription* kernel = nullptr;
  Launch launch{};
  cuda::CopyKind copy_kind = cuda::CopyKind::unknown;
  cuda::MemoryKind source = cuda::MemoryKind::unknown, destination = cuda::MemoryKind::unknown;
  std::uint32_t destination_device = 0;  ///< of a peer copy
  std::uint64_t bytes = 0;
  std::uint32_t value = 0;  ///< of a fill
  bool async = true;
  bool repeated = false;  ///< for passes of counters: its record has no times
  std::uint64_t graph_node = 0;
  std::uint32_t graph = 0;
};

/// A call while it runs.
struct Call {
  CallName what;
  const char* symbol = nullptr;    ///< the launched kernel
  const Launch* launch = nullptr;  ///< its geometry
  cuda::Stream stream = nullptr;   ///< of the launch
  std::uint32_t correlation = 0;
  bool outermost = false;
  std::uint32_t answer = 0;
  cuda::Context context = nullptr;
  std::uint32_t context_id = 0;
  std::uint64_t correlation_data = 0;
  std::uint64_t start = 0;  ///< for the listener
  int device = 0;           ///< argument of cudaSetDevice
  /// What a callback is given of the call: of those that src/cuda/launch_parameters.h has.
  const void* parameters = nullptr;
};

/// A wait, an event's record, an allocation: what has a record of its own beside the call's.
struct Wait {
  cuda::SynchronizationType type;
  std::uint32_t context, stream, event;
  std::uint64_t event_sync;
};
struct Recorded {
  std::uint32_t device, context, stream, event;
  std::uint64_t event_sync, at;
};
struct Allocated {
  cuda::MemoryOperation operation;
  cuda::MemoryKind kind;
  std::uint64_t address, bytes;
  std::uint32_t device, context, stream;
  bool async;
};
struct PoolEvent {
  cuda::MemoryPoolOperation operation;
  std::uint64_t address, size;
  std::uint32_t device;
};

/// What the stand-in CUPTI is told. Methods run in the thread of the call; `submitted` under the
/// machine's lock, so that it must not call back.
class Listener {
 public:
  Listener() = default;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  virtual ~Listener() = default;
  virtual void entered(Call& call) = 0;
  virtual void left(Call& call) = 0;
  virtual void submitted(const Work& work) = 0;
  virtual void graph_launched(const Work& first, const Work& last) = 0;
  virtual void waited(const Call& call, const Wait& wait, std::uint64_t since) = 0;
  virtual void recorded(const Call& call, const Recorded& event) = 0;
  virtual void allocated(const Call& call, const Allocated& memory) = 0;
  virtual void pool(const Call& call, const PoolEvent& event) = 0;
  virtual void loaded_lazily(const Call& call, std::uint64_t since) = 0;
  virtual void resource(cuda::CallbackId id, cuda::Context context, std::uint32_t context_id,
                        std::uint32_t device, cuda::Stream stream, std::uint32_t stream_id,
                        void* descriptor) = 0;
  virtual void synchronized(cuda::CallbackId id, cuda::Context context, cuda::Stream stream) = 0;
};

/// What the program had done, for comparing with what was recorded. A graph counts its nodes at
/// every launch.
struct Counts {
  std::uint64_t kernels, copies, peer_copies, fills, runtime_calls, driver_calls, allocations,
      releases, events, waits, graph_launches;
};

// Streams with a meaning: the default one is null.
inline cuda::StreamTag* const per_thread_stream = reinterpret_cast<cuda::Stream>(2);

using Graph = cuda::Graph;

#pragma GCC visibility push(default)
extern "C" {
// The machine, exported by the stand-in libcuda.so.1.
void cuda_sim_listen(Listener* listener);  ///< one; null: nobody
bool cuda_sim_has_listener();
std::uint64_t cuda_sim_now();     ///< the machine's clock, ns
void cuda_sim_enter(Call* call);  ///< a call of the runtime begins
void cuda_sim_leave(Call* call);
/// From now on calls of this thread count: it is one of the program's, not a tool's.
void cuda_sim_count_thread();
Counts cuda_sim_counts();
cuda::Function cuda_sim_function(const KernelDescription* kernel);
/// Launches `function` with this shape and these arguments, as cuLaunchKernel takes them; inside a
/// call of the runtime or alone.
cuda::DriverResult cuda_sim_launch(const CallName* as, cuda::Function function, const Launch* shape,
                                   cuda::Stream stream, void** parameters = nullptr,
                                   void** extra = nullptr);
void cuda_sim_stop_contexts();  ///< what cudaDeviceReset does
/// Ids that CUPTI gives to handles; 0 if unknown.
std::uint32_t cuda_sim_stream_id(cuda::Stream stream);
std::uint32_t cuda_sim_context_id(cuda::Context context);
int cuda_sim_device_of(cuda::Context context);
bool cuda_sim_initialized();

// Entry points of the real driver's names, as src/cuda/entries.h has them.
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define PERFLAB_SIM_DECLARE(name, exported, needed, ...) cuda::Driver::name##_t exported;
PERFLAB_CUDA_DRIVER(PERFLAB_SIM_DECLARE)
#undef PERFLAB_SIM_DECLARE

// Those that it does not have.
cuda::DriverResult cuMemAllocHost_v2(void** address, std::size_t bytes);
cuda::DriverResult cuMemPoolTrimTo(void* pool, std::size_t bytes);
cuda::DriverResult cuMemcpyPeerAsync(cuda::DevicePointer to, cuda::Context to_context,
                                     cuda::DevicePointer from, cuda::Context from_context,
                                     std::size_t bytes, cuda::Stream stream);
cuda::DriverResult cuLaunchCooperativeKernel(cuda::Function function, std::uint32_t grid_x,
                                             std::uint32_t grid_y, std::uint32_t grid_z,
                                             std::uint32_t block_x, std::uint32_t block_y,
                                             std::uint32_t block_z, std::uint32_t shared,
                                             cuda::Stream stream, void** parameters);
cuda::DriverResult cuKernelGetName(const char** name, cuda::Function kernel);
cuda::DriverResult cuStreamWaitEvent(cuda::Stream stream, cuda::Event event, std::uint32_t flags);
cuda::DriverResult cuStreamBeginCapture_v2(cuda::Stream stream, std::uint32_t mode);
cuda::DriverResult cuStreamEndCapture(cuda::Stream stream, Graph* graph);
cuda::DriverResult cuGraphInstantiateWithFlags(cuda::GraphExec* executable, Graph graph,
                                               std::uint64_t flags);
cuda::DriverResult cuGraphLaunch(cuda::GraphExec executable, cuda::Stream stream);
cuda::DriverResult cuGraphExecDestroy(cuda::GraphExec executable);
}
#pragma GCC visibility pop

}  // namespace perflab::cuda_sim
