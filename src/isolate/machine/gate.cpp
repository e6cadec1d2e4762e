// The gate. Whoever takes something away counts itself first and looks at the phase then; the
// capture sets the phase first and looks at the count then: one of the two sees the other.
#include "isolate/machine/gate.h"

#include <thread>

namespace perflab::isolate {

bool Gate::becomes_zero(const Counter& counter, std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (counter.load() != 0) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return true;
}

bool Gate::hold_queues(std::chrono::milliseconds patience) {
  phase_.store(Phase::queues_held);
  return becomes_zero(taking_queues_, patience);
}

void Gate::start_draining(hsa::Agent agent) {
  agent_.store(agent.handle, std::memory_order_release);
  phase_.store(Phase::draining);
}

bool Gate::start_reading(std::chrono::milliseconds patience) {
  phase_.store(Phase::reading);
  return becomes_zero(taking_memory_, patience);
}

void Gate::lower(Phase phase) {
  {
    const std::lock_guard lock(mutex_);
    phase_.store(phase);
  }
  lowered_.notify_all();
}

void Gate::start_running() {
  lower(Phase::running);
}

void Gate::let_packets_pass() {
  lower(Phase::queues_held);
}

void Gate::open() {
  lower(Phase::open);
}

void Gate::wait_until_below(Phase phase) {
  std::unique_lock lock(mutex_);
  lowered_.wait(lock, [this, phase] { return phase_.load() < phase; });
}

void Gate::wait_for_packets() {
  wait_until_below(Phase::draining);
}

void Gate::enter(Phase held_from) {
  Counter& counter = under_way(held_from);
  for (;;) {
    counter.fetch_add(1);
    if (phase_.load() < held_from) return;
    counter.fetch_sub(1);
    wait_until_below(held_from);
  }
}

void Gate::leave(Phase held_from) {
  under_way(held_from).fetch_sub(1);
}

}  // namespace perflab::isolate
