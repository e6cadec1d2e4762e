// The buffers that CUPTI fills: given out, filled, waiting for the writer, used again. When too
// many wait, whoever asks for another one waits too: memory is bounded and nothing is lost.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

namespace perflab::record {

/// A filled buffer.
struct Filled {
  std::uint8_t* data = nullptr;
  std::size_t valid_bytes = 0;
};

class Buffers {
 public:
  /// CUPTI fills each with zeros first, in the call of the program that needs it (cupti_activity.h,
  /// ZEROED_OUT_ACTIVITY_BUFFER): 8 MB took 0.9 ms after every flush.
  static constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
  static constexpr std::size_t kMostWaiting = 192;  ///< 192 MB
  /// Nobody waits longer: a program that stands still is worse than memory that grows.
  static constexpr std::chrono::seconds kLongestWait{10};

  Buffers() = default;
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  /// Those that nobody has.
  ~Buffers();

  /// A buffer of kBufferBytes, 8-byte aligned; null after close() and without memory. `may_wait`:
  /// false for our own threads, which others wait for.
  std::uint8_t* get(bool may_wait);
  /// Takes back a buffer for the writer.
  void put_filled(std::uint8_t* data, std::size_t valid_bytes);
  /// The next one to write; missing after `timeout`, or when close() was called and none is left.
  std::optional<Filled> next(std::chrono::milliseconds timeout);
  /// A buffer was written.
  void reuse(std::uint8_t* data);
  /// No more buffers are given out.
  void close();

  [[nodiscard]] bool empty();
  /// Buffers that CUPTI has at this moment.
  [[nodiscard]] std::size_t given_out();

 private:
  static constexpr std::size_t kMostFree = 8;
  std::mutex mutex_;
  std::condition_variable filled_, written_;
  std::deque<Filled> waiting_;
  std::vector<std::uint8_t*> free_;
  std::size_t given_out_ = 0;
  bool closed_ = false;
};

}  // namespace perflab::record
