// The GPU as a replay uses it: memory at fixed addresses, one code object, dispatches that are
// timed. Implementations: the HSA runtime (hsa_device.h), the CUDA driver (cuda_device.h) and host
// memory in the tests. Which one a capture needs: session/open_device.h.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "capture/model.h"
#include "replay/left_memory.h"

namespace perflab::replay {

/// After that a copy of the runtime or the driver is taken for lost.
inline constexpr std::chrono::seconds kCopyLimit{120};

/// What a device is, for checks against the capture and for documents.
struct DeviceFacts {
  std::string isa;         ///< "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-", "sm_90"
  std::string agent_name;  ///< "gfx942", "sm_90"
  std::string product_name;
  std::string runtime_version;
  std::string rocm_version;           ///< empty: not known
  std::string driver_version{};       ///< of NVIDIA's kernel module; empty: not known
  std::string pci_address{};          ///< "0000:c1:00.0", as sysfs writes it; empty: not known
  std::uint64_t granule = 4096;       ///< least granule of fixed memory of the GPU, bytes
  std::uint64_t host_granule = 4096;  ///< the same of host memory
};

/// Memory at a fixed address. Ranges of one plan never overlap and never share a granule.
struct FixedRange {
  std::uint64_t base = 0, bytes = 0;  ///< whole granules
  bool on_gpu = true;                 ///< else in host memory that the GPU may use
  std::uint32_t agent_index = 0;      ///< among the GPU agents, as in the capture
  std::uint32_t pool_flags = 0;       ///< hsa::pool_*: coarse- or fine-grained
};

/// A kernel that is ready to be dispatched.
struct LoadedKernel {
  std::uint64_t object = 0;  ///< for the packet
  std::uint32_t kernarg_bytes = 0, group_segment_bytes = 0, private_segment_bytes = 0;
};

/// One piece of a copy.
struct CopyRun {
  std::uint64_t to = 0, from = 0, bytes = 0;
};

/// One dispatch. On CUDA the arguments are a buffer of the host, and header and setup mean nothing.
struct Launch {
  std::uint64_t kernel_object = 0;
  std::uint64_t kernarg_address = 0;
  std::uint16_t header = 0, setup = 0;
  std::array<std::uint64_t, 3> grid{};       ///< work-items
  std::array<std::uint32_t, 3> workgroup{};  ///< work-items
  std::uint32_t group_segment_bytes = 0, private_segment_bytes = 0;
  std::vector<std::byte> arguments{};         ///< CUDA: the parameter buffer
  std::optional<capture::CudaLaunch> cuda{};  ///< CUDA: what the captured launch had besides
};

/// Every failure is an error whose message begins with its name and a colon: "relocated: ...",
/// "hsa_call_failed: ..." (failures.h has them all). After an error the device is of no use.
class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  Device(Device&&) = delete;
  Device& operator=(Device&&) = delete;
  virtual ~Device() = default;

  [[nodiscard]] virtual const DeviceFacts& facts() const = 0;

  /// Reserves exactly this range, backs it with memory and lets GPU and host use it. The contents
  /// are not defined. Error "relocated": the runtime gave another address; who holds it is named.
  virtual Result<void> place(const FixedRange& range) = 0;
  /// A buffer wherever there is room, on the GPU; missing: there is no room, and the device goes on
  /// without. Freed with the device.
  virtual Result<std::optional<std::uint64_t>> allocate(std::uint64_t bytes) = 0;

  /// Loads a code object; the last one loaded answers kernel() and variable().
  virtual Result<void> load(std::span<const std::byte> code_object) = 0;
  /// By its exact symbol, without ".kd". Error "kernel_not_found": what the object has is named.
  virtual Result<LoadedKernel> kernel(const std::string& name) = 0;
  /// Address of a variable of the code object; missing when it has none of that name and size.
  virtual Result<std::optional<std::uint64_t>> variable(const std::string& name,
                                                        std::uint64_t bytes) = 0;

  virtual Result<void> write(std::uint64_t address, std::span<const std::byte> bytes) = 0;
  virtual Result<void> read(std::uint64_t address, std::span<std::byte> bytes) = 0;
  virtual Result<void> zero(std::uint64_t address, std::uint64_t bytes) = 0;
  /// Copies within the device's memory, all runs at once. They do not overlap.
  virtual Result<void> copy(std::span<const CopyRun> runs) = 0;

  /// Overwrites what earlier launches left in LDS, registers and scratch, the last as far as `next`
  /// has it, with left_memory_pattern(seed); the last thing before run(next), because copies may
  /// run kernels too. Nothing is dirtied where the device has no way to.
  virtual Result<Dirtied> dirty(const Launch& next, std::uint64_t seed) = 0;
  /// Runs one dispatch to its end and returns its GPU time, from the GPU's own clock. Error
  /// "timed_out": it did not end within `limit`.
  virtual Result<Nanos> run(const Launch& launch, Nanos limit) = 0;

  /// What is not as it was in the captured process, or not as one would expect, a sentence each;
  /// known when everything is placed.
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
};

}  // namespace perflab::replay
