// What is launched: the rows whose code agrees, each in two sizes and repeated, as numbers for the
// expectations and as the plan's file for programs/host.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/expectation.h"
#include "calibrate/kernel_code.h"
#include "hal/arch.h"

namespace perflab::calibrate {

/// The GPU that a plan is for.
struct PlanGpu {
  const hal::Arch* arch = nullptr;
  int cus = 0;  ///< compute units (SMs), at least 1
};

/// One row in one size.
struct Launch {
  const Work* work = nullptr;
  std::uint32_t groups = 0, group = 0;  ///< work-groups, and work-items of one
  std::uint32_t rounds = 0, mask = 0;
  std::uint64_t in_bytes = 0, out_bytes = 0;
  std::uint32_t stride = 0;          ///< words
  std::uint64_t minus = 0, one = 0;  ///< bits
  int repetitions = 0;               ///< the first one warms up and is not looked at
  std::size_t first = 0;             ///< of its function's dispatches, its first one
  LaunchNumbers numbers;

  [[nodiscard]] std::uint64_t threads() const { return std::uint64_t{groups} * group; }
  /// "2432 x 256 threads, 512 rounds".
  [[nodiscard]] std::string text() const;
};

/// Sets buffers, stride and constants of a launch whose work, sizes, rounds and mask are set.
void set_buffers(Launch& launch);

/// The launches, in order. `runs`: repetitions that count, at least 1. `checked` and its rows must
/// outlive them.
std::vector<Launch> plan_launches(std::span<const CheckedWork> checked, const PlanGpu& gpu,
                                  int runs);

/// The file of the plan.
std::string plan_text(std::span<const Launch> launches);

}  // namespace perflab::calibrate
