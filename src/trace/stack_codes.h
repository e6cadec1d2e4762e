// Correlation ids of a recording as small numbers, for joining calls with what they launched.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace perflab::trace {

/// Stack ids as 32-bit codes for joining: equal ids have equal codes; 0 means none (rocprof-sys
/// writes 0 everywhere). Ids are counters that start at 1, so nearly all are their own code; larger
/// ones are numbered behind them.
class StackCodes {
 public:
  explicit StackCodes(std::size_t expected_events)
      : direct_limit_(std::min<std::uint64_t>(4 * expected_events + 1024, 0x7FFF'FFFF)) {}

  /// Thread-safe.
  std::uint32_t code(std::optional<std::int64_t> stack_id) {
    if (!stack_id || *stack_id == 0) return 0;
    const auto id = static_cast<std::uint64_t>(*stack_id);
    if (id < direct_limit_) return static_cast<std::uint32_t>(id);
    const std::scoped_lock lock(mutex_);
    return static_cast<std::uint32_t>(
        overflow_.try_emplace(id, direct_limit_ + overflow_.size()).first->second);
  }

 private:
  std::uint64_t direct_limit_;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::uint64_t> overflow_;
};

}  // namespace perflab::trace
