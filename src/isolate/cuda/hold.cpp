// The lock is held for a moment only, never across a call of the driver.
#include "isolate/cuda/hold.h"

namespace perflab::isolate {
namespace {

thread_local int calls_of_thread = 0;

}  // namespace

void Hold::enter() {
  if (calls_of_thread++ != 0) return;
  std::unique_lock lock(mutex_);
  wait_until_open(lock);
  ++under_way_;
}

void Hold::wait_until_open(std::unique_lock<std::mutex>& lock) {
  for (std::uint64_t seen = progress_; closed_; seen = progress_) {
    if (changed_.wait_for(lock, 2 * patience_, [this] { return !closed_; })) return;
    if (progress_ != seen) continue;
    broken_ = true;
    return;
  }
}

void Hold::leave() {
  if (--calls_of_thread != 0) return;
  const std::lock_guard lock(mutex_);
  --under_way_;
  changed_.notify_all();
}

bool Hold::close() {
  std::unique_lock lock(mutex_);
  closed_ = true;
  broken_ = false;
  return changed_.wait_for(lock, patience_, [this] { return under_way_ <= 1; });
}

void Hold::open() {
  const std::lock_guard lock(mutex_);
  closed_ = false;
  changed_.notify_all();
}

}  // namespace perflab::isolate
