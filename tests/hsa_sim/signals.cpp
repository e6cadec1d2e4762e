// Signals. They are made in chunks and used again, never given back: handles stay readable, as with
// the real runtime, where a second destroy succeeds (7).
#include <condition_variable>
#include <ctime>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "sim.h"

namespace perflab::hsa::sim {
namespace {

struct Signals {
  std::mutex mutex;
  std::deque<SimSignal> all;
  std::vector<SimSignal*> free;
};

Signals& signals() {
  static Signals& instance = *new Signals;
  return instance;
}

struct Waiting {
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<int> waiters{0};
};

Waiting& waiting() {
  static Waiting& instance = *new Waiting;
  return instance;
}

constexpr int kSpins = 200;
constexpr std::uint64_t kLongestWait = 3'600'000'000'000;  // an hour at a time

bool holds(SignalValue value, Condition condition, SignalValue compare) {
  switch (condition) {
    case Condition::eq:
      return value == compare;
    case Condition::ne:
      return value != compare;
    case Condition::lt:
      return value < compare;
    default:
      return value >= compare;
  }
}

void store(Signal signal, SignalValue value) {
  SimSignal* const to = signal_of(signal);
  if (to->doorbell_of != nullptr) {
    ring_doorbell(*to->doorbell_of, value);
    return;
  }
  to->value.store(value);
  wake_waiters();
}

void subtract(Signal signal, SignalValue value) {
  signal_of(signal)->value.fetch_sub(value);
  wake_waiters();
}

SignalValue wait(Signal signal, Condition condition, SignalValue compare, std::uint64_t timeout) {
  const SimSignal& of = *signal_of(signal);
  wait_for([&] { return holds(of.value.load(), condition, compare); }, timeout);
  return of.value.load();
}

}  // namespace

std::uint64_t now_ns() {
  std::timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

void wake_waiters() {
  Waiting& all = waiting();
  if (all.waiters.load() == 0) return;
  {
    const std::lock_guard lock(all.mutex);
  }
  all.changed.notify_all();
}

bool wait_until(bool (*ready)(const void*), const void* data, std::uint64_t timeout_ns) {
  for (int i = 0; i < kSpins; ++i) {
    if (ready(data)) return true;
    std::this_thread::yield();
  }
  Waiting& all = waiting();
  const std::uint64_t start = now_ns();
  std::unique_lock lock(all.mutex);
  ++all.waiters;
  bool is_ready = false;
  for (;;) {
    is_ready = ready(data);
    const std::uint64_t gone = now_ns() - start;
    if (is_ready || gone >= timeout_ns) break;
    const std::uint64_t rest = std::min(timeout_ns - gone, kLongestWait);
    all.changed.wait_for(lock, std::chrono::nanoseconds(rest));
  }
  --all.waiters;
  return is_ready;
}

void complete(Signal signal, std::uint64_t start, std::uint64_t end) {
  if (signal.handle == 0) return;
  signal_of(signal)->start = start;
  signal_of(signal)->end = end;
  signal_of(signal)->value.fetch_sub(1);
  wake_waiters();
}

namespace core_calls {

Status signal_create(SignalValue initial, std::uint32_t consumers, const Agent* agents,
                     Signal* signal) {
  if (signal == nullptr || (consumers > 0 && agents == nullptr)) return Status::invalid_argument;
  Signals& pool = signals();
  const std::lock_guard lock(pool.mutex);
  SimSignal* made = nullptr;
  if (pool.free.empty()) {
    made = &pool.all.emplace_back();
  } else {
    made = pool.free.back();
    pool.free.pop_back();
  }
  made->value = initial;
  made->start = made->end = 0;
  made->live = true;
  *signal = handle_of(*made);
  return Status::success;
}

Status signal_destroy(Signal signal) {
  if (signal.handle == 0) return Status::invalid_argument;
  Signals& pool = signals();
  const std::lock_guard lock(pool.mutex);
  if (std::exchange(signal_of(signal)->live, false)) pool.free.push_back(signal_of(signal));
  return Status::success;
}

SignalValue signal_load_relaxed(Signal signal) {
  return signal_of(signal)->value.load();
}
SignalValue signal_load_scacquire(Signal signal) {
  return signal_of(signal)->value.load();
}
void signal_store_relaxed(Signal signal, SignalValue value) {
  store(signal, value);
}
void signal_store_screlease(Signal signal, SignalValue value) {
  store(signal, value);
}
SignalValue signal_wait_relaxed(Signal signal, Condition condition, SignalValue compare,
                                std::uint64_t timeout, WaitState) {
  return wait(signal, condition, compare, timeout);
}
SignalValue signal_wait_scacquire(Signal signal, Condition condition, SignalValue compare,
                                  std::uint64_t timeout, WaitState) {
  return wait(signal, condition, compare, timeout);
}
void signal_subtract_relaxed(Signal signal, SignalValue value) {
  subtract(signal, value);
}
void signal_subtract_screlease(Signal signal, SignalValue value) {
  subtract(signal, value);
}

}  // namespace core_calls
}  // namespace perflab::hsa::sim
