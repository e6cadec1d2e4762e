// Which calls of the driver are held while a capture reads: those that give the GPU work, take
// memory away or begin the capture of a stream.
#pragma once

#include <bitset>

#include "cuda/api.h"

namespace perflab::isolate {

/// Ids of CallbackDomain::driver_api, found by CUPTI's names of them: a call has an id per version
/// and per kind of default stream, and all are meant.
class HeldCalls {
 public:
  explicit HeldCalls(const cuda::Cupti& cupti);
  [[nodiscard]] bool contains(cuda::CallbackId id) const { return id < kMost && held_[id]; }

 private:
  static constexpr std::size_t kMost = 1024;
  std::bitset<kMost> held_;
};

}  // namespace perflab::isolate
