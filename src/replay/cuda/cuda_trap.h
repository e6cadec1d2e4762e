// Dirtying what launches leave behind on an NVIDIA GPU, by kernels of ours in PTX, which the driver
// compiles.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "cuda/api.h"
#include "replay/device.h"
#include "replay/left_memory.h"

namespace perflab::replay {

/// The PTX of the two kernels, which take {pattern, words, never}: how many words the first fills
/// of shared memory, and a word that is never found. A thread of the second fills `local_bytes` of
/// local memory, which are its words.
std::string trap_registers_ptx();
std::string trap_scratch_ptx(std::uint32_t local_bytes);

/// What the names of both begin with.
inline constexpr std::string_view kTrapKernels = "left_memory_";

class CudaTrap {
 public:
  /// For the current context, which is of `device` and has to be current at every call. `driver`
  /// has to outlive it.
  CudaTrap(const cuda::Driver& driver, cuda::Device device) : driver_(driver), device_(device) {}
  CudaTrap(const CudaTrap&) = delete;
  CudaTrap(CudaTrap&&) = delete;
  CudaTrap& operator=(const CudaTrap&) = delete;
  CudaTrap& operator=(CudaTrap&&) = delete;
  ~CudaTrap();

  /// As Device::dirty(), in the order of `stream`, to its end. Missing: the driver lacks a call,
  /// does not compile the kernels, or has no room for the local memory. Error (cuda_call_failed): a
  /// kernel did not end well.
  Result<Dirtied> dirty(cuda::Stream stream, const Launch& next, std::uint64_t seed);
  /// Gives nothing back: the context is lost.
  void abandon() { abandoned_ = true; }

 private:
  struct Loaded {
    cuda::Module module{};
    cuda::Function function{};
  };
  void open();
  [[nodiscard]] int attribute(cuda::DeviceAttribute which) const;
  /// Missing: missing_because_ says why.
  std::optional<Loaded> load(const std::string& ptx, const char* kernel);
  /// A launch to its end.
  [[nodiscard]] cuda::DriverResult launch(cuda::Stream stream, const Loaded& kernel,
                                          std::uint32_t blocks, std::uint32_t shared_bytes,
                                          std::uint32_t words, std::uint32_t pattern) const;

  const cuda::Driver& driver_;
  cuda::Device device_;
  bool opened_ = false, abandoned_ = false;
  std::string missing_because_;
  std::optional<Loaded> registers_;
  std::map<std::uint32_t, Loaded> scratch_;  ///< by bytes of local memory
  std::uint32_t multiprocessors_ = 0, threads_ = 0;
  LeftMemory fills_;  ///< but for the scratch, which is the next launch's
};

}  // namespace perflab::replay
