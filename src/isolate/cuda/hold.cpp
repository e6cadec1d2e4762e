// The lock is held for a moment only, never across a call of the driver.
#include "isolate/cuda/hold.h"

namespace perflab::isolate {
namespace {

thread_local int calls_of_thread = 0;

}  // namespace

void Hold::enter() {
  if (calls_of_thread++ != 0) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !closed_; });
  ++under_way_;
}

void Hold::leave() {
  if (--calls_of_thread != 0) return;
  const std::lock_guard lock(mutex_);
  --under_way_;
  changed_.notify_all();
}

bool Hold::close(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  closed_ = true;
  return changed_.wait_for(lock, patience, [this] { return under_way_ <= 1; });
}

void Hold::open() {
  const std::lock_guard lock(mutex_);
  closed_ = false;
  changed_.notify_all();
}

}  // namespace perflab::isolate
