// Buffers of records of the stand-in CUPTI: asked of the client when a record needs one, given back
// full or flushed, by a thread of its own. Facts: docs/facts/cuda_cupti.md "Buffers".
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

#include "cuda/cupti_types.h"

namespace perflab::cuda_sim {

class Buffers {
 public:
  void register_callbacks(cuda::BufferRequested requested, cuda::BufferCompleted completed);
  [[nodiscard]] bool registered();

  /// Puts a record at the end, in a new buffer when it does not fit. It is dropped when the client
  /// gives none.
  void append(const void* record, std::size_t bytes);

  /// Gives back the buffer that is being filled, and waits until the client has had all.
  void flush();

  /// Records that were dropped since the last call.
  std::size_t take_dropped();

 private:
  struct Buffer {
    std::uint8_t* address = nullptr;
    std::size_t bytes = 0;
    std::size_t used = 0;
    std::size_t records = 0;
    std::size_t most_records = 0;  ///< 0: as many as fit
  };
  void deliver_for_ever();
  void hand_over(std::unique_lock<std::mutex>& held);

  std::mutex lock_;
  std::condition_variable changed_;
  cuda::BufferRequested requested_ = nullptr;
  cuda::BufferCompleted completed_ = nullptr;
  Buffer filling_;
  std::deque<Buffer> full_;
  bool delivering_ = false;
  bool has_thread_ = false;
  std::size_t dropped_ = 0;
  std::uint64_t appended_ = 0;
};

}  // namespace perflab::cuda_sim
