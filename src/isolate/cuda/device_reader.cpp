// Pageable copies give 1 to 2 GB/s, pinned ones 54 on the H200: docs/facts/cuda_cupti.md "Capture".
#include "isolate/cuda/device_reader.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "isolate/cuda/launch_call.h"

namespace perflab::isolate {
namespace {

constexpr std::uint32_t kNonBlockingStream = 1;  // CU_STREAM_NON_BLOCKING

std::span<const std::byte> view(const void* memory, std::size_t bytes) {
  return {static_cast<const std::byte*>(memory), bytes};
}

}  // namespace

Result<std::unique_ptr<DeviceReader>> DeviceReader::create(const cuda::Driver& driver) {
  std::unique_ptr<DeviceReader> reader(new DeviceReader(driver));
  PERFLAB_TRY_VOID(reader->allocate());
  return reader;
}

Result<void> DeviceReader::allocate() {
  for (Buffer& buffer : buffers_) {
    PERFLAB_TRY_VOID(checked(driver_, "cuMemHostAlloc (staging)",
                             driver_.host_allocate(&buffer.memory, kPiece, 0)));
    PERFLAB_TRY_VOID(checked(driver_, "cuStreamCreate",
                             driver_.stream_create(&buffer.stream, kNonBlockingStream)));
  }
  return {};
}

DeviceReader::~DeviceReader() {
  if (left_behind_) return;
  for (const Buffer& buffer : buffers_) {
    if (buffer.stream != nullptr) {
      if (buffer.bytes != 0) driver_.stream_synchronize(buffer.stream);
      driver_.stream_destroy(buffer.stream);
    }
    if (buffer.memory != nullptr) driver_.host_free(buffer.memory);
  }
}

Result<void> DeviceReader::start(Buffer& buffer, std::uint64_t base, std::size_t bytes) {
  PERFLAB_TRY_VOID(checked(driver_, "cuMemcpyDtoHAsync",
                           driver_.copy_to_host_async(buffer.memory, base, bytes, buffer.stream)));
  buffer.bytes = bytes;
  return {};
}

Result<void> DeviceReader::finish(Buffer& buffer, const ByteSink& sink) {
  const std::size_t bytes = std::exchange(buffer.bytes, 0);
  if (bytes == 0) return {};
  PERFLAB_TRY_VOID(
      checked(driver_, "cuStreamSynchronize", driver_.stream_synchronize(buffer.stream)));
  return sink(view(buffer.memory, bytes));
}

Result<void> DeviceReader::from_gpu(std::uint64_t base, std::uint64_t bytes, const ByteSink& sink) {
  std::size_t turn = 0;
  for (std::uint64_t at = 0; at < bytes; turn ^= 1U) {
    PERFLAB_TRY_VOID(finish(buffers_[turn], sink));
    const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, bytes - at));
    PERFLAB_TRY_VOID(start(buffers_[turn], base + at, piece));
    at += piece;
  }
  PERFLAB_TRY_VOID(finish(buffers_[turn], sink));
  return finish(buffers_[turn ^ 1U], sink);
}

Result<void> DeviceReader::from_host(std::uint64_t base, std::uint64_t bytes,
                                     const ByteSink& sink) {
  for (std::uint64_t at = 0; at < bytes;) {
    const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, bytes - at));
    std::memcpy(buffers_[0].memory, reinterpret_cast<const void*>(base + at), piece);
    PERFLAB_TRY_VOID(sink(view(buffers_[0].memory, piece)));
    at += piece;
  }
  return {};
}

}  // namespace perflab::isolate
