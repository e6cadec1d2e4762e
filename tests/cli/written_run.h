// A small written run whose figures are known, for tests that need some recording.
#pragma once

#include <cstdint>
#include <filesystem>

#include "support/api_rows.h"

namespace perflab::cli {

/// Its start, ns.
inline constexpr std::int64_t kT0 = 5'000'000'000'000;
inline constexpr std::int64_t kMicrosecond = 1000;
inline constexpr int kSteps = 5;
inline constexpr test::Handle kStream = 0x5500;

/// Five steps of 100 us, each with a range: gemm runs for 50 us, softmax for 20 us behind it in the
/// same stream, and the host waits for both.
void write_steps(const std::filesystem::path& path);

}  // namespace perflab::cli
