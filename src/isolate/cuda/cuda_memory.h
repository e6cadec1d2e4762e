// What memory a CUDA program has, as its calls made it and took it away. Exact sizes and what is
// really there are asked of the driver when a capture is taken.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "capture/model.h"
#include "cuda/api.h"

namespace perflab::isolate {

/// One live range. `bytes` is 0 where the call does not say it as it is: the driver knows.
struct CudaAllocation {
  std::uint64_t base = 0, bytes = 0;
  capture::Origin origin = capture::Origin::pool;
  std::uint64_t reservation_base = 0, reservation_bytes = 0;  ///< of Origin::vmem
  std::string_view not_captured{};  ///< why its contents cannot be taken; lives for ever
};

/// The live ranges. Any thread; a call holds a lock for the time of a look-up.
class CudaMemory {
 public:
  /// Takes notice of a call of the driver that has come back with success.
  void called(cuda::CallbackId id, const void* parameters);
  /// All ranges, by base.
  [[nodiscard]] std::vector<CudaAllocation> all() const;

 private:
  void add(CudaAllocation allocation);
  void map(std::uint64_t base, std::uint64_t bytes, cuda::MemoryHandle handle);
  void take(std::uint64_t base);
  void take_mappings(std::uint64_t base, std::uint64_t bytes);

  mutable std::mutex mutex_;
  std::map<std::uint64_t, CudaAllocation> live_;
  std::map<std::uint64_t, std::uint64_t> reservations_;  ///< bytes by base
  std::map<cuda::MemoryHandle, int> imported_;  ///< handles from elsewhere, how often imported
};

}  // namespace perflab::isolate
