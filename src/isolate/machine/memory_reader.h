// Reading the program's memory for a capture: the GPU's through pinned staging memory by the copy
// engines, two pieces in flight; the host's as it stands; ranges of which not every page need be
// there through /proc/self/mem, which answers where a load would crash (proc(5)).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/error.h"
#include "isolate/machine/byte_sink.h"
#include "isolate/machine/topology.h"

namespace perflab::isolate {

/// Not for several threads.
class MemoryReader {
 public:
  /// Allocates 64 MiB of host memory that the GPUs can reach. Error: a call fails.
  static Result<std::unique_ptr<MemoryReader>> create(const hsa::Api& api, const Topology& machine,
                                                      std::chrono::milliseconds patience);
  MemoryReader(const MemoryReader&) = delete;
  MemoryReader& operator=(const MemoryReader&) = delete;
  ~MemoryReader();

  /// Memory of a GPU. Errors: a copy fails or does not end; what the sink returns.
  Result<void> from_gpu(hsa::Agent owner, std::uint64_t base, std::uint64_t bytes,
                        const ByteSink& sink);
  /// Host memory that is all there. It may change meanwhile: each piece is copied once.
  Result<void> from_host(std::uint64_t base, std::uint64_t bytes, const ByteSink& sink);
  /// Memory of the process; a page that is not there is an error (refused).
  Result<void> from_process(std::uint64_t base, std::uint64_t bytes, const ByteSink& sink);

 private:
  static constexpr std::size_t kPiece = std::size_t{32} << 20;
  struct Buffer {
    std::byte* memory = nullptr;
    hsa::Signal done{};
    std::size_t bytes = 0;  ///< under way or arrived; 0: none
  };

  MemoryReader(const hsa::Api& api, hsa::Agent host, std::chrono::milliseconds patience)
      : api_(api), host_(host), patience_(patience) {}
  Result<void> allocate(const Topology& machine);
  Result<void> start(Buffer& buffer, hsa::Agent owner, std::uint64_t base, std::size_t bytes);
  Result<void> finish(Buffer& buffer);

  const hsa::Api& api_;
  hsa::Agent host_;
  std::chrono::milliseconds patience_;
  void* staging_ = nullptr;
  Buffer buffers_[2];
  bool stuck_ = false;  ///< a copy did not end: its memory must stay
};

}  // namespace perflab::isolate
