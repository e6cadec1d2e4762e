// One capture of a CUDA launch: what the memory was before it, what it changed, and everything that
// is needed to launch it again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "capture/writer.h"
#include "isolate/cuda/cuda_memory.h"
#include "isolate/cuda/cuda_modules.h"
#include "isolate/cuda/device_reader.h"
#include "isolate/cuda/hold.h"
#include "isolate/cuda/launch_call.h"
#include "isolate/protocol/process_state.h"

namespace perflab::isolate {

/// The launch to be captured.
struct CudaTarget {
  LaunchCall call;
  Arguments arguments{};
  LaunchedFunction function{};
  cuda::Context context = nullptr;
  const KernelName* name = nullptr;
};

/// Used while the context is current, the GPU is idle and nobody gives it work or takes memory
/// away. Any error leaves no capture behind.
class CudaSnapshot {
 public:
  CudaSnapshot(const cuda::Driver& driver, ProcessState& process, const CudaMemory& memory,
               const CudaModules& modules, Hold& hold, CudaTarget target)
      : driver_(driver),
        process_(process),
        memory_(memory),
        modules_(modules),
        hold_(hold),
        target_(std::move(target)) {}

  /// Takes the pre-image. Errors: what the launch is cannot be found out; memory cannot be read or
  /// written down.
  Result<void> before();
  /// Takes the write set and finishes the capture. `nanoseconds`: how long the launch took, when
  /// that is known. `limits`: what the capture could not see, a sentence each.
  Result<void> after(std::optional<std::uint64_t> nanoseconds, std::vector<std::string> limits);
  /// Puts back what the launch changed, from the capture that after() finished. Error (refused):
  /// some of it could not be put back.
  Result<void> take_back();
  /// The GPU does not end: what would wait for it stays.
  void leave_behind();

 private:
  /// A region and who reads it.
  struct Part {
    capture::MemoryRegion region{};
    enum class Reader : std::uint8_t { none, gpu, host } reader = Reader::none;
    std::size_t number = 0;  ///< the writer's
  };

  Result<void> describe_machine();
  Result<void> describe_launch();
  Result<int> attribute(cuda::FunctionAttribute attribute) const;
  void list_memory();
  void list_variables();
  void add_allocation(const CudaAllocation& allocation);
  [[nodiscard]] bool find_place(const CudaAllocation& allocation,
                                capture::MemoryRegion& region) const;
  [[nodiscard]] bool accessible(std::uint64_t base) const;
  Result<void> read(const Part& part);

  const cuda::Driver& driver_;
  ProcessState& process_;
  const CudaMemory& memory_;
  const CudaModules& modules_;
  Hold& hold_;
  CudaTarget target_;
  cuda::Device device_ = 0;
  capture::Description description_;
  std::shared_ptr<const std::string> image_;
  std::vector<Part> parts_;
  std::unique_ptr<DeviceReader> reader_;
  std::optional<capture::Writer> writer_;
};

}  // namespace perflab::isolate
