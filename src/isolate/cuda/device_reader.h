// Reading a CUDA program's memory for a capture: the GPU's through pinned staging memory, two
// pieces in flight on streams of our own; the host's as it stands.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/error.h"
#include "cuda/api.h"
#include "isolate/machine/byte_sink.h"

namespace perflab::isolate {

/// Belongs to the context that is current when it is made and whenever it is used. Not for several
/// threads at a time.
class DeviceReader {
 public:
  /// Allocates 64 MiB of pinned memory. Error (refused): a call fails.
  static Result<std::unique_ptr<DeviceReader>> create(const cuda::Driver& driver);
  DeviceReader(const DeviceReader&) = delete;
  DeviceReader& operator=(const DeviceReader&) = delete;
  ~DeviceReader();

  /// Memory that the GPU can read. Errors: a copy fails; what the sink returns.
  Result<void> from_gpu(std::uint64_t base, std::uint64_t bytes, const ByteSink& sink);
  /// Host memory that is all there. It may change meanwhile: each piece is copied once.
  Result<void> from_host(std::uint64_t base, std::uint64_t bytes, const ByteSink& sink);

  /// Nothing is given back any more: that would wait for the GPU, which does not end.
  void leave_behind() { left_behind_ = true; }

 private:
  static constexpr std::size_t kPiece = std::size_t{32} << 20;
  struct Buffer {
    void* memory = nullptr;
    cuda::Stream stream = nullptr;
    std::size_t bytes = 0;  ///< under way; 0: none
  };

  explicit DeviceReader(const cuda::Driver& driver) : driver_(driver) {}
  Result<void> allocate();
  Result<void> start(Buffer& buffer, std::uint64_t base, std::size_t bytes);
  Result<void> finish(Buffer& buffer, const ByteSink& sink);

  const cuda::Driver& driver_;
  std::array<Buffer, 2> buffers_;
  bool left_behind_ = false;
};

}  // namespace perflab::isolate
