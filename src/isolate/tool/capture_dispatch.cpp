// The moment of the match: drain, read, dispatch alone, read again, go on. Facts:
// docs/facts/hsa_runtime.md "Completion signals", "Waiting in a handler", "Times of dispatches".
#include <fmt/format.h>

#include <exception>
#include <new>
#include <thread>
#include <vector>

#include "isolate/tool/snapshot.h"

namespace perflab::isolate {
namespace {

constexpr std::uint64_t kWaitSlice = 100'000'000;  // ticks, of a nanosecond on every system known

// A dispatch that is captured, from the outside: it must be passed on once, and the program's own
// signal must get what it waits for.
struct Passing {
  Tool& tool;
  InterceptedQueue& queue;
  const hsa::KernelDispatchPacket& packet;
  hsa::PacketWriter writer;
  std::vector<std::jthread> askers{};  ///< see Queues::drain
  bool passed = false;
  bool forward = false;  ///< it has run, and the program's signal has not heard of it yet
};

// The times of a dispatch as the GPU counted them.
std::optional<std::uint64_t> gpu_time(const Tool& tool, hsa::Agent agent, hsa::Signal signal) {
  hsa::DispatchTime time{};
  std::uint64_t frequency = 0;
  if (tool.api.amd.profiling_get_dispatch_time(agent, signal, &time) != hsa::Status::success ||
      time.start == 0 || time.end < time.start ||
      tool.api.core.system_get_info(hsa::system_info::timestamp_frequency, &frequency) !=
          hsa::Status::success ||
      frequency == 0)
    return std::nullopt;
  constexpr double kNanos = 1e9;
  return static_cast<std::uint64_t>(static_cast<double>(time.end - time.start) * kNanos /
                                    static_cast<double>(frequency));
}

// Destroys its signal, unless something may still count it down.
class OwnSignal {
 public:
  OwnSignal(const hsa::Api& api, hsa::Signal signal) : api_(api), signal_(signal) {}
  OwnSignal(const OwnSignal&) = delete;
  OwnSignal& operator=(const OwnSignal&) = delete;
  ~OwnSignal() {
    if (!in_use) api_.core.signal_destroy(signal_);
  }
  [[nodiscard]] hsa::Signal get() const { return signal_; }
  bool in_use = false;

 private:
  const hsa::Api& api_;
  hsa::Signal signal_;
};

// Passes the packet on with a signal of ours and waits for it, however long it takes: the program
// would wait as long. Error: the queue failed.
Result<std::optional<std::uint64_t>> run_alone(Passing& passing) {
  const hsa::Api& api = passing.tool.api;
  hsa::Signal made{};
  PERFLAB_TRY_VOID(checked("hsa_signal_create", api.core.signal_create(1, 0, nullptr, &made)));
  OwnSignal signal(api, made);
  const bool timed =
      api.amd.profiling_set_profiler_enabled(passing.queue.queue, 1) == hsa::Status::success;
  hsa::KernelDispatchPacket packet = passing.packet;
  packet.completion_signal = signal.get();
  signal.in_use = true;
  passing.passed = true;
  passing.writer(&packet, 1);
  while (api.core.signal_wait_scacquire(signal.get(), hsa::Condition::lt, 1, kWaitSlice,
                                        hsa::WaitState::blocked) >= 1)
    if (const auto status = passing.queue.failure.load(); status != 0)
      return fail(ErrorCode::refused,
                  fmt::format("the queue failed while the dispatch ran ({:#x})", status));
  signal.in_use = false;
  const auto time =
      timed ? gpu_time(passing.tool, passing.queue.agent, signal.get()) : std::nullopt;
  // A decrement, not a store: the program may count several dispatches with one signal.
  if (passing.packet.completion_signal.handle == 0) return time;
  passing.forward = true;
  return time;
}

Result<capture::Description> take_capture(Passing& passing, const KernelName& name) {
  Tool& tool = passing.tool;
  InterceptedQueue& queue = passing.queue;
  const std::chrono::milliseconds patience(tool.process.settings.patience_ms);
  if (!tool.gate.hold_queues(patience))
    return fail(ErrorCode::refused, "a queue was being made or destroyed and did not end");
  PERFLAB_TRY_VOID(tool.queues.prepare(queue.agent));
  tool.gate.start_draining(queue.agent);
  queue.sealed.store(true);
  const hsa::BarrierPacket barrier = barrier_packet({queue.drained.load()});
  passing.writer(&barrier, 1);
  PERFLAB_TRY_VOID(tool.queues.drain(queue, patience, passing.askers));
  if (!tool.gate.start_reading(patience))
    return fail(ErrorCode::refused, "a call that frees memory did not come back");
  Snapshot snapshot(tool, {.packet = passing.packet, .agent = queue.agent, .name = &name});
  PERFLAB_TRY_VOID(snapshot.before());
  tool.gate.start_running();
  PERFLAB_TRY(const auto nanoseconds, run_alone(passing));
  if (!tool.gate.start_reading(patience))
    return fail(ErrorCode::refused, "a call that frees memory did not come back");
  return snapshot.after(nanoseconds);
}

void say_refused(const Tool& tool, const KernelName& name, std::string_view reason) noexcept try {
  tool.process.status.say("refused", {{"kernel", name.symbol}, {"reason", std::string(reason)}});
} catch (...) {
  return;  // no memory for a sentence: the reader sees that there is no capture
}

// Takes the capture and says how that ended.
void take_and_say(Passing& passing, const KernelName& name) {
  const auto taken = take_capture(passing, name);
  if (taken) {
    passing.tool.process.status.say(
        "captured", {{"kernel", name.symbol}, {"folder", passing.tool.process.settings.folder}});
    return;
  }
  std::string text = taken.error().message;
  for (const std::string& note : taken.error().notes) text += "; " + note;
  say_refused(passing.tool, name, text);
}

}  // namespace

void capture_dispatch(Tool& tool, InterceptedQueue& queue, const KernelName& name,
                      const hsa::KernelDispatchPacket& packet, hsa::PacketWriter writer) noexcept {
  Passing passing{.tool = tool, .queue = queue, .packet = packet, .writer = writer};
  try {
    take_and_say(passing, name);
  } catch (const std::bad_alloc&) {
    say_refused(tool, name, "there was not enough memory to take the capture");
  } catch (const std::exception& error) {
    say_refused(tool, name, error.what());
  }
  if (!passing.passed) writer(&packet, 1);
  if (passing.forward) tool.api.core.signal_subtract_screlease(packet.completion_signal, 1);
  tool.gate.let_packets_pass();
  passing.askers.clear();  // joins them
  tool.gate.open();
}

}  // namespace perflab::isolate
