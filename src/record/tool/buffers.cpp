// CUPTI asks for buffers in threads of the program, inside its calls, and gives them back in any.
#include "record/tool/buffers.h"

#include <cstdlib>
#include <utility>

namespace perflab::record {

Buffers::~Buffers() {
  for (std::uint8_t* const data : free_) std::free(data);
}

std::uint8_t* Buffers::get(bool may_wait) {
  std::unique_lock lock(mutex_);
  if (may_wait)
    written_.wait_for(lock, kLongestWait,
                      [this] { return closed_ || waiting_.size() < kMostWaiting; });
  if (closed_) return nullptr;
  std::uint8_t* data = nullptr;
  if (!free_.empty()) {
    data = free_.back();
    free_.pop_back();
  } else {
    constexpr std::size_t kAlignment = 64;
    data = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, kBufferBytes));
  }
  if (data != nullptr) ++given_out_;
  return data;
}

void Buffers::put_filled(std::uint8_t* data, std::size_t valid_bytes) {
  {
    const std::scoped_lock lock(mutex_);
    if (given_out_ > 0) --given_out_;
    waiting_.push_back({data, valid_bytes});
  }
  filled_.notify_one();
}

std::optional<Filled> Buffers::next(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  filled_.wait_for(lock, timeout, [this] { return closed_ || !waiting_.empty(); });
  if (waiting_.empty()) return std::nullopt;
  const Filled filled = waiting_.front();
  waiting_.pop_front();
  return filled;
}

void Buffers::reuse(std::uint8_t* data) {
  {
    const std::scoped_lock lock(mutex_);
    if (free_.size() < kMostFree) free_.push_back(std::exchange(data, nullptr));
  }
  written_.notify_all();
  std::free(data);
}

void Buffers::close() {
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
  }
  filled_.notify_all();
  written_.notify_all();
}

bool Buffers::empty() {
  const std::scoped_lock lock(mutex_);
  return waiting_.empty();
}

std::size_t Buffers::given_out() {
  const std::scoped_lock lock(mutex_);
  return given_out_;
}

}  // namespace perflab::record
