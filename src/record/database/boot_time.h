// The clock of a recording: CLOCK_BOOTTIME, as rocpd has it (docs/facts/rocpd_cuda.md). CUPTI takes
// it for all records, those of the GPU too.
#pragma once

#include <time.h>

#include <cstdint>

namespace perflab::record {

/// Nanoseconds since the machine was started, sleep included.
inline std::uint64_t boot_time() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  constexpr std::uint64_t kSecond = 1'000'000'000;
  return (static_cast<std::uint64_t>(now.tv_sec) * kSecond) +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace perflab::record
