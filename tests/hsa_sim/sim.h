// Inside of the stand-in for libhsa-runtime64.so.1: host memory as device memory, kernels as C++
// functions, everything that a program or a tool can see as the real runtime was seen to do it
// (docs/facts/hsa_runtime.md; words in quotes at the head of a comment are its headings).
// Environment variables HSA_SIM_* choose variants and inject failures: see README.md beside this
// file.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hsa/api.h"
#include "hsa/types.h"

namespace perflab::hsa::sim {

// NOLINTBEGIN(cppcoreguidelines-macro-usage)
#define PERFLAB_SIM_DECLARE_CORE(name, offset, ...) Core::name##_t name;
#define PERFLAB_SIM_DECLARE_AMD(name, offset, offset_1, ...) AmdExt::name##_t name;
// NOLINTEND(cppcoreguidelines-macro-usage)
/// What the entry points do, once it is settled that the runtime is open and no fault is injected.
namespace core_calls {
PERFLAB_HSA_CORE(PERFLAB_SIM_DECLARE_CORE)
}
namespace amd_calls {
PERFLAB_HSA_AMD(PERFLAB_SIM_DECLARE_AMD)
}
#undef PERFLAB_SIM_DECLARE_CORE
#undef PERFLAB_SIM_DECLARE_AMD

/// Value of an environment variable; empty when it is not set.
std::string_view setting(const char* name);
bool setting_is_on(const char* name);  ///< set to "1"

/// Ends the process with a message: for what crashes the real runtime.
[[noreturn]] void misuse(const char* sentence);

// --- calls: faults, log, tables (calls.cpp, tables.cpp) ---

/// Between the first hsa_init and the last hsa_shut_down.
extern std::atomic<bool> runtime_is_open;
/// Some call is to fail or be logged.
extern std::atomic<bool> calls_are_watched;
/// HSA_SIM_OVERLAP and HSA_SIM_ONE_PACKET, as they were at the start.
extern std::atomic<bool> kernels_overlap, handlers_get_one_packet;

/// Counts and logs a call (`entry` counts core entries first, then AMD's); the status that it is to
/// answer with instead, if any.
std::optional<Status> watch_call(std::size_t entry, std::initializer_list<std::uint64_t> arguments);
/// Whether the reservation under way is to be moved (fault "relocate").
bool relocation_is_injected();

enum class DispatchFault : std::uint8_t { none, hang, fault };
/// Counts a kernel dispatch (one of replay's trap apart from the others); what is to happen to it.
DispatchFault next_dispatch_fault(bool of_trap);
/// Reads what HSA_SIM_FAULT, HSA_SIM_LOG and the like say; at every start.
void read_watch_settings();

/// The live tables, as OnLoad is given them.
ApiTables& live_tables();
/// Puts the runtime's own entry points into the tables.
void reset_tables();

// --- agents and pools (agents.cpp) ---

struct Pool {
  bool on_gpu = false;
  int agent = 0;  ///< index among all agents
  std::uint32_t segment = segment_global;
  std::uint32_t flags = 0;
  bool allocatable = true;
  std::size_t bytes = 0, granule = 4096, recommended_granule = 4096;
};

inline constexpr std::uint32_t kComputeUnits = 304;  ///< of each GPU, as on an MI300X
void start_agents();
int agent_count();
Agent agent_of(int index);
/// Missing: no such agent.
std::optional<int> index_of(Agent agent);
inline bool is_gpu(int index) {
  return index > 0;
}
/// The GPU agents' ISA.
std::string_view isa_name();
/// Null: no such pool.
const Pool* pool_of(std::uint64_t handle);
std::uint64_t handle_of(const Pool& pool);
const Pool& first_host_pool();

// --- addresses (addresses.cpp) ---

/// Chooses the mode (HSA_RESERVE_SVM) and, in reserved mode, takes the range.
void start_addresses();
void stop_addresses();
bool in_reserved_mode();

/// Readable and writable memory, zeroed, with nothing else in its last `guard` bytes behind.
std::uint64_t take_memory(std::size_t bytes, std::size_t alignment, std::size_t guard, bool on_gpu);
void give_memory(std::uint64_t base, std::size_t bytes, std::size_t guard);
/// Addresses for a reservation: the wished ones, or others; missing: no room at all.
std::optional<std::uint64_t> take_addresses(std::uint64_t wish, std::size_t bytes,
                                            std::size_t alignment, bool elsewhere);
void give_addresses(std::uint64_t base, std::size_t bytes);
/// Makes a range of a reservation what it was before something was mapped there.
void clear_addresses(std::uint64_t base, std::size_t bytes);

// --- vmem (vmem.cpp) ---

void stop_vmem();
/// Fills `info` when the pointer lies in a reservation.
bool vmem_pointer_info(std::uint64_t address, PointerInfo& info);
/// Frees what the pools allocated.
void stop_memory();
/// Ends the copy engine.
void stop_copies();

// --- signals (signals.cpp) ---

struct SimQueue;

struct SimSignal {
  std::atomic<SignalValue> value{0};
  std::atomic<std::uint64_t> start{0}, end{0};  ///< of the dispatch that completed it, ns
  SimQueue* doorbell_of = nullptr;
  bool live = false;
};

/// Null for handle 0.
inline SimSignal* signal_of(Signal signal) {
  return reinterpret_cast<SimSignal*>(signal.handle);
}
inline Signal handle_of(SimSignal& signal) {
  return {reinterpret_cast<std::uint64_t>(&signal)};
}
std::uint64_t now_ns();  ///< CLOCK_MONOTONIC
/// To be called after anything that someone may wait for has changed.
void wake_waiters();
/// Waits until `ready` or the time is over; whether it is ready.
bool wait_until(bool (*ready)(const void*), const void* data, std::uint64_t timeout_ns);
template <class Ready>
bool wait_for(const Ready& ready, std::uint64_t timeout_ns = UINT64_MAX) {
  return wait_until([](const void* data) { return (*static_cast<const Ready*>(data))(); }, &ready,
                    timeout_ns);
}
/// Subtracts 1 from the signal, if there is one, and notes the times.
void complete(Signal signal, std::uint64_t start, std::uint64_t end);

// --- queues (queues.cpp, intercept.cpp) ---

/// What follows a store to a queue's doorbell.
void ring_doorbell(SimQueue& queue, SignalValue value);
void ring_intercepted(SimQueue& queue);
void stop_queues();
void stop_async_events();

// --- code objects (code_objects.cpp) ---

/// A symbol of a loaded code object.
struct LoadedSymbol {
  std::string name;
  bool is_kernel = false;
  bool exported = true;
  std::uint64_t address = 0, bytes = 0;
};

struct LoadedObject {
  std::uint64_t base = 0, bytes = 0;  ///< of the image
  std::string uri;                    ///< where the file came from
  std::string_view storage;           ///< the file as it was read; gone with its reader
  int agent = 0;
  std::vector<std::unique_ptr<LoadedSymbol>> symbols;
  std::string bodies;       ///< see kernels.h
  void* library = nullptr;  ///< likewise: opened
  int library_file = -1;

  LoadedObject() = default;
  LoadedObject(const LoadedObject&) = delete;
  LoadedObject& operator=(const LoadedObject&) = delete;
  ~LoadedObject();

  [[nodiscard]] const LoadedSymbol* find(std::string_view name) const;
};

struct FoundKernel {
  std::shared_ptr<const LoadedObject> object;
  std::string name;  ///< without ".kd"
};
/// The kernel whose descriptor lies there; missing when there is none.
std::optional<FoundKernel> kernel_at(std::uint64_t kernel_object);
/// The loader extension's calls on readers and what is loaded.
Status read_part_of_file(int file, std::size_t offset, std::size_t size, CodeObjectReader* out);
Status load_from_reader(Executable executable, Agent agent, CodeObjectReader reader,
                        LoadedCodeObject* loaded);
/// Missing: no such executable.
std::optional<std::vector<LoadedCodeObject>> loaded_objects(Executable executable);
/// Null: there is none of that handle.
std::shared_ptr<const LoadedObject> loaded_object(LoadedCodeObject handle);
void stop_code_objects();
/// Loads an ELF file's segments and symbols; missing when it is none.
std::shared_ptr<LoadedObject> load_image(std::string_view file, int agent);

}  // namespace perflab::hsa::sim
