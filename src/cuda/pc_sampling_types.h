// The C ABI of CUPTI's PC sampling (cupti_pcsampling.h), of CUDA 13.0; compared with the toolkit's
// headers in tests/cuda. Facts: docs/facts/cuda_cupti.md "PC sampling".
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/profiler_types.h"

namespace perflab::cuda {

/// Whether kernels run side by side while they are sampled.
enum class PcSamplingMode : std::uint32_t { continuous = 1, kernels_in_turns = 2 };

/// What can be set. `period`: an exponent, 5 to 31; samples are 2^period cycles apart.
enum class PcSamplingAttribute : std::uint32_t {
  period = 1,
  stall_reasons = 2,
  scratch_buffer_bytes = 3,
  hardware_buffer_bytes = 4,
  mode = 5,
  start_stop = 6,
  output_format = 7,
  data_buffer = 8,
  worker_sleep_ms = 9,
};

/// Samples of a PC that had one stall reason.
struct PcStallCount {
  std::uint32_t reason = 0;  ///< index, see PcSamplingReasons
  std::uint32_t samples = 0;
};

struct PcSamplingPc {
  std::size_t size = sizeof(PcSamplingPc);
  std::uint64_t cubin_crc = 0;
  std::uint64_t offset = 0;  ///< bytes from the function's begin
  std::uint32_t function_index = 0, padding = 0;
  /// Mangled. CUPTI may share it among records, and leaves it to the client to free it.
  char* function = nullptr;
  std::size_t reason_count = 0;
  PcStallCount* reasons = nullptr;
  std::uint32_t correlation = 0;  ///< of the launch, with kernels in turns
};

/// A buffer for so many PCs, and what CUPTI put there.
struct PcSamplingBuffer {
  std::size_t size = sizeof(PcSamplingBuffer);
  std::size_t room = 0;  ///< PCs
  std::uint64_t samples = 0;
  std::uint64_t dropped = 0;  ///< by the hardware
  std::size_t pcs = 0;
  std::size_t left = 0;  ///< PCs that had no room
  std::uint64_t range = 0;
  PcSamplingPc* data = nullptr;
  std::uint64_t other_samples = 0;  ///< of kernels that are not the user's
  std::uint8_t hardware_buffer_full = 0;
};

struct PcSamplingSetting {
  PcSamplingAttribute attribute{};
  CuptiResult status{};
  union {
    std::uint64_t words[3];
    std::uint32_t number;
    std::size_t bytes;
    void* buffer;
  } value{};
};

// Parameters of the calls; `size` is sized<T>()'s, `reserved` stays null.

struct PcSamplingConfigure {
  std::size_t size;
  void* reserved;
  Context context;
  std::size_t count;
  PcSamplingSetting* settings;
};

struct PcSamplingGetData {
  std::size_t size;
  void* reserved;
  Context context;
  void* buffer;  ///< PcSamplingBuffer
};

/// Of enable, disable.
struct PcSamplingCall {
  std::size_t size;
  void* reserved;
  Context context;
};

struct PcSamplingReasonCount {
  std::size_t size;
  void* reserved;
  Context context;
  std::size_t* count;  ///< out
};

struct PcSamplingReasons {
  static constexpr std::size_t kNameBytes = 128;

  std::size_t size;
  void* reserved;
  Context context;
  std::size_t count;
  std::uint32_t* indices;  ///< out
  char** names;            ///< out: kNameBytes each
};

// NOLINTBEGIN(cppcoreguidelines-macro-usage)
// clang-format off

/// X(member, exported name, needed, signature): all are needed for sampling, none for recording.
#define PERFLAB_CUDA_PC_SAMPLING(X)                                                               \
  X(configure, cuptiPCSamplingSetConfigurationAttribute, true, CuptiResult(PcSamplingConfigure*)) \
  X(enable, cuptiPCSamplingEnable, true, CuptiResult(PcSamplingCall*))                            \
  X(disable, cuptiPCSamplingDisable, true, CuptiResult(PcSamplingCall*))                          \
  X(get_data, cuptiPCSamplingGetData, true, CuptiResult(PcSamplingGetData*))                      \
  X(reason_count, cuptiPCSamplingGetNumStallReasons, true, CuptiResult(PcSamplingReasonCount*))   \
  X(reasons, cuptiPCSamplingGetStallReasons, true, CuptiResult(PcSamplingReasons*))

// clang-format on
// NOLINTEND(cppcoreguidelines-macro-usage)

}  // namespace perflab::cuda
