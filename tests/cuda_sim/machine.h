// The stand-in GPUs: when each operation of a stream starts and ends. Work without a body does not
// run: its times are known when it is submitted, and waiting for it is sleeping until its end. Work
// with one (kernels of modules, copies behind them) is done by a thread of its stream.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "cuda/launch_parameters.h"
#include "cuda_sim/driver_faults.h"
#include "cuda_sim/sim.h"

namespace perflab::cuda_sim {

using cuda::DriverResult;

/// How a body ended.
struct Outcome {
  DriverResult answer = DriverResult::success;  ///< else the context is dead
  std::optional<std::uint64_t> nanoseconds{};   ///< that it counted; missing: those that it took
};
/// What an operation does to memory. It ends early when `stop` becomes true.
using Body = std::function<Outcome(const std::atomic<bool>& stop)>;

/// What a kernel node of a graph launches: its arguments lie one behind the other.
struct NodeKernel {
  cuda::Function function = nullptr;
  Launch shape;
  std::vector<std::byte> arguments;
  std::vector<void*> parameters;  ///< into `arguments`
};

struct Operation {
  Work work;
  Body body;
  std::shared_ptr<NodeKernel> kernel{};  ///< of a graph's node whose function has an image
  bool is_first = false;                 ///< of its graph
};

/// An operation that is waited for by its body.
struct Task {
  Operation operation;
  std::vector<std::shared_ptr<Task>> after;  ///< of other streams
  std::function<void(const Work&)> then;     ///< under the machine's lock
  bool done = false;
  std::uint64_t end = 0;  ///< when it is done
};

struct GraphState {
  std::vector<Operation> nodes;
  bool valid = true;  ///< false: something that may not be was called while it was captured
};

struct GraphExecState {
  std::uint32_t id = 0;
  std::vector<Operation> nodes;
};

struct ContextState;

struct StreamState {
  std::uint32_t id = 0;
  ContextState* context = nullptr;
  bool blocking = true;                   ///< waits for the default stream, and it for this one
  std::uint64_t free_at = 0;              ///< end of the last operation
  std::deque<std::uint64_t> outstanding;  ///< ends of operations that may not have finished
  GraphState* captured = nullptr;

  std::deque<std::shared_ptr<Task>> tasks;        ///< not done
  std::vector<std::shared_ptr<Task>> waited_for;  ///< by what comes next
  std::thread worker;
  bool closing = false;
};

struct ContextState {
  std::uint32_t id = 0;
  std::uint32_t device = 0;
  StreamState default_stream;
  std::list<StreamState*> streams;                     ///< those that were created
  std::uint64_t dies_at = never;                       ///< end of a kernel that faults
  DriverResult fault = DriverResult::illegal_address;  ///< what calls answer from then on
};

struct EventState {
  std::uint32_t id = 0;
  std::uint64_t at = 0;
  std::uint64_t sync_id = 0;     ///< 0: never recorded
  std::shared_ptr<Task> task{};  ///< whose end it is, instead of `at`

  [[nodiscard]] std::uint64_t when() const { return task == nullptr ? at : task->end; }
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

  /// Gives the operation its times, tells the listener; waits when too much is outstanding. One
  /// with a body runs now when nothing is to be waited for and it is no kernel; else its times and
  /// `then` come when it has run.
  void submit(Work& work, StreamState& stream, Body body = {},
              std::function<void(const Work&)> then = {});
  /// When everything that was submitted to the context has ended; waits for bodies.
  std::uint64_t end_of(const ContextState& context);
  /// The same of a stream.
  std::uint64_t end_of(const StreamState& stream);
  void wait_for(const std::shared_ptr<Task>& task);
  /// A task behind those of the stream; null: there is nothing to be behind of.
  std::shared_ptr<Task> mark(StreamState& stream);
  /// Whether a kernel of the context has faulted: every call answers its `fault` from then on.
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
  std::atomic<bool> has_pool = false;
  std::atomic<std::uint32_t> next_correlation = 1;

 private:
  Machine();
  static void schedule(Work& work, StreamState& stream);
  void enqueue(Operation operation, StreamState& stream, std::function<void(const Work&)> then);
  void work_off(StreamState& stream);
  void finish(Task& task, const Outcome& outcome, std::uint64_t began, StreamState& stream);
  void tell(const Work& work);
  void close(StreamState& stream);

  std::vector<std::unique_ptr<ContextState>> contexts_;
  std::set<void*> kept_;
  std::condition_variable changed_;
  std::atomic<bool> stop_ = false;
  std::uint32_t next_context_ = 1;
  std::uint32_t next_stream_ = 13;  // docs/facts/cuda_cupti.md "Records": the first of a program
};

/// Whether cuInit has finished in this process (a fork's child has no GPU any more).
bool initialized();

/// Runs `body` as call `what`: told to the listener, answered with 3 where CUDA is not initialized.
template <class Body>
DriverResult called(const CallName& what, Body&& body, const char* symbol = nullptr,
                    const Launch* launch = nullptr, cuda::Stream stream = nullptr,
                    const void* parameters = nullptr) {
  if (!initialized()) return DriverResult::not_initialized;
  Call call{
      .what = what, .symbol = symbol, .launch = launch, .stream = stream, .parameters = parameters};
  cuda_sim_enter(&call);
  const std::optional<DriverResult> injected = injected_answer(what);
  const DriverResult answer = injected ? *injected : body(call);
  call.answer = static_cast<std::uint32_t>(answer);
  cuda_sim_leave(&call);
  return answer;
}

/// The same of a call whose parameters callbacks are given.
template <class Parameters, class Body>
DriverResult called_with(const CallName& what, const Parameters& parameters, Body&& body) {
  return called(what, std::forward<Body>(body), nullptr, nullptr, nullptr, &parameters);
}

}  // namespace perflab::cuda_sim
