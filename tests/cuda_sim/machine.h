// The stand-in GPUs: when each operation of a stream starts and ends. Nothing runs: an operation's
// times are known when it is submitted, and waiting for it is sleeping until its end.
#pragma once

#include <atomic>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "cuda_sim/sim.h"

namespace perflab::cuda_sim {

using cuda::DriverResult;

struct GraphState {
  std::vector<Work> nodes;
  bool valid = true;  ///< false: something that may not be was called while it was captured
};

struct GraphExecState {
  std::uint32_t id = 0;
  std::vector<Work> nodes;
};

struct ContextState;

struct StreamState {
  std::uint32_t id = 0;
  ContextState* context = nullptr;
  bool blocking = true;                   ///< waits for the default stream, and it for this one
  std::uint64_t free_at = 0;              ///< end of the last operation
  std::deque<std::uint64_t> outstanding;  ///< ends of operations that may not have finished
  GraphState* captured = nullptr;
};

struct ContextState {
  std::uint32_t id = 0;
  std::uint32_t device = 0;
  StreamState default_stream;
  std::list<StreamState*> streams;  ///< those that were created
  std::uint64_t dies_at = never;    ///< end of a kernel that faults
};

struct EventState {
  std::uint32_t id = 0;
  std::uint64_t at = 0;
  std::uint64_t sync_id = 0;  ///< 0: never recorded
};

/// What the environment says of the devices: README.md.
struct MachineSettings {
  int devices = 1;
  bool nameless = false;
  bool variables = false;  ///< modules have one
  int driver_version = 13000;
};

/// State of the process. Never destroyed: atexit handlers of others use it.
class Machine {
 public:
  static Machine& get();

  static std::uint64_t now();
  static void sleep_until(std::uint64_t when);

  /// Gives the operation its times, tells the listener; waits when too much is outstanding.
  void submit(Work& work, StreamState& stream);
  /// When everything that was submitted to the context has ended.
  std::uint64_t end_of(const ContextState& context);
  /// Whether a kernel of the context has faulted: every call answers illegal_address from then on.
  bool is_dead(const ContextState& context);
  /// Whether a stream of the context is being captured; its graph is spoilt then.
  bool spoils_capture(ContextState& context);

  ContextState* context_of_device(std::uint32_t device);  ///< made when missing
  ContextState* existing_context(std::uint32_t device);   ///< or null
  static ContextState* current();                         ///< of the calling thread
  static void set_current(ContextState* context);
  StreamState* stream_of(cuda::Stream stream);  ///< null: no context
  StreamState* create_stream(bool blocking);
  void destroy_stream(StreamState* stream);
  void stop_contexts();

  /// What handles stand for is known here until it is destroyed: a program may leave it behind.
  template <class State>
  State* keep(State* state) {
    kept_.insert(state);
    return state;
  }
  void forget(void* state) { kept_.erase(state); }

  std::mutex lock;
  std::atomic<Listener*> listener = nullptr;
  MachineSettings settings;
  Counts counts{};
  std::uint32_t next_event = 1;
  std::uint64_t next_sync = 1;
  std::uint32_t next_graph = 1;
  std::uint64_t next_address = 0x7f3a'0000'0000;
  std::atomic<bool> has_pool = false;
  std::atomic<std::uint32_t> next_correlation = 1;

 private:
  Machine();
  static void schedule(Work& work, StreamState& stream);

  std::vector<std::unique_ptr<ContextState>> contexts_;
  std::set<void*> kept_;
  std::uint32_t next_context_ = 1;
  std::uint32_t next_stream_ = 13;  // docs/facts/cuda_cupti.md "Records": the first of a program
};

/// Whether cuInit has finished in this process (a fork's child has no GPU any more).
bool initialized();

/// Runs `body` as call `what`: told to the listener, answered with 3 where CUDA is not initialized.
template <class Body>
DriverResult called(const CallName& what, Body&& body, const char* symbol = nullptr,
                    const Launch* launch = nullptr, cuda::Stream stream = nullptr) {
  if (!initialized()) return DriverResult::not_initialized;
  Call call{.what = what, .symbol = symbol, .launch = launch, .stream = stream};
  cuda_sim_enter(&call);
  const DriverResult answer = body(call);
  call.answer = static_cast<std::uint32_t>(answer);
  cuda_sim_leave(&call);
  return answer;
}

}  // namespace perflab::cuda_sim
