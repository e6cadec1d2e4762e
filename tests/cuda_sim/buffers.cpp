// One thread gives buffers back; it lives until the process ends.
#include "cuda_sim/buffers.h"

#include <cstring>
#include <thread>
#include <utility>

#include "cuda_sim/faults.h"

namespace perflab::cuda_sim {

void Buffers::register_callbacks(cuda::BufferRequested requested, cuda::BufferCompleted completed) {
  const std::lock_guard held(lock_);
  // A second client gets what the first one's buffers hold: docs/facts/cuda_cupti.md "Other
  // clients".
  requested_ = requested;
  completed_ = completed;
  if (has_thread_) return;
  has_thread_ = true;
  std::thread([this] { deliver_for_ever(); }).detach();
}

bool Buffers::registered() {
  const std::lock_guard held(lock_);
  return requested_ != nullptr;
}

void Buffers::hand_over(std::unique_lock<std::mutex>& /*held*/) {
  if (filling_.address == nullptr) return;
  full_.push_back(filling_);
  filling_ = {};
  changed_.notify_all();
}

void Buffers::append(const void* record, std::size_t bytes) {
  std::unique_lock held(lock_);
  ++appended_;
  const std::uint64_t every = Faults::get().drop_every;
  if (requested_ == nullptr || (every != 0 && appended_ % every == 0)) {
    ++dropped_;
    return;
  }
  if (filling_.address != nullptr &&
      (filling_.used + bytes > filling_.bytes ||
       (filling_.most_records != 0 && filling_.records == filling_.most_records)))
    hand_over(held);
  if (filling_.address == nullptr) {
    requested_(&filling_.address, &filling_.bytes, &filling_.most_records);
    if (filling_.address == nullptr || filling_.bytes < bytes) {
      hand_over(held);
      ++dropped_;
      return;
    }
  }
  std::memcpy(filling_.address + filling_.used, record, bytes);
  filling_.used += bytes;
  ++filling_.records;
}

void Buffers::flush() {
  std::unique_lock held(lock_);
  if (filling_.used != 0) hand_over(held);
  changed_.wait(held, [this] { return full_.empty() && !delivering_; });
}

std::size_t Buffers::take_dropped() {
  const std::lock_guard held(lock_);
  return std::exchange(dropped_, 0);
}

void Buffers::deliver_for_ever() {
  std::unique_lock held(lock_);
  while (true) {
    changed_.wait(held, [this] { return !full_.empty(); });
    const Buffer buffer = full_.front();
    full_.pop_front();
    delivering_ = true;
    const cuda::BufferCompleted completed = completed_;
    held.unlock();
    completed(nullptr, 0, buffer.address, buffer.bytes, buffer.used);
    held.lock();
    delivering_ = false;
    changed_.notify_all();
  }
}

}  // namespace perflab::cuda_sim
