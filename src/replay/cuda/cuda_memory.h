// Memory of a capture through the CUDA driver: memory of the GPU mapped into reserved envelopes,
// host memory at its old address and registered, copies through pinned staging buffers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "replay/cuda/cuda_addresses.h"
#include "replay/cuda/cuda_copies.h"

namespace perflab::replay {

class CudaMemory {
 public:
  CudaMemory(const CudaRuntime& runtime, std::vector<CudaReservation> reservations)
      : runtime_(runtime), reservations_(std::move(reservations)), copies_(runtime) {}
  CudaMemory(const CudaMemory&) = delete;
  CudaMemory(CudaMemory&&) = delete;
  CudaMemory& operator=(const CudaMemory&) = delete;
  CudaMemory& operator=(CudaMemory&&) = delete;
  ~CudaMemory();

  /// Makes the stream that everything runs on. Error: cuda_call_failed.
  Result<void> open(cuda::Stream stream);
  /// device.h's. Host memory inside of an envelope becomes memory of the GPU, with a note.
  Result<void> place(const FixedRange& range);
  Result<std::optional<std::uint64_t>> allocate(std::uint64_t bytes);
  Result<void> write(std::uint64_t address, std::span<const std::byte> bytes);
  Result<void> read(std::uint64_t address, std::span<std::byte> bytes);
  Result<void> zero(std::uint64_t address, std::uint64_t bytes);
  Result<void> copy(std::span<const CopyRun> runs) { return copies_.copy(runs); }

  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  /// Gives nothing back.
  void abandon();

 private:
  struct Mapped {
    Span span;
    cuda::MemoryHandle handle = 0;
  };
  Result<void> place_on_gpu(const FixedRange& range);
  /// Memory of the GPU behind whole granules of a reservation.
  Result<void> map(const Span& span);
  Result<void> place_on_host(const FixedRange& range);
  /// The reservation that holds the range; null: none does.
  [[nodiscard]] const CudaReservation* around(const FixedRange& range) const;
  [[nodiscard]] bool on_host(std::uint64_t address) const;

  const CudaRuntime& runtime_;
  std::vector<CudaReservation> reservations_;
  std::vector<Mapped> mapped_;
  std::vector<Span> registered_;  ///< host memory, mapped here
  std::vector<std::uint64_t> buffers_;
  std::vector<std::string> notes_;
  cuda::Stream stream_ = nullptr;
  CudaCopies copies_;  ///< last: it goes first
  bool abandoned_ = false;
};

}  // namespace perflab::replay
