// Ceilings that were measured on a machine: the roofline.csv that rocprof-compute's benchmark
// writes (device,HBMBw,HBMBwLow,HBMBwHigh,L2Bw,...,FP32Flops,...,MFMAF16Flops,...; GB/s and
// GFLOP/s, one row per device). Facts: rocprofiler-compute src/roofline/benchmark.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "hal/arch.h"

namespace perflab::hal {

/// A measured ceiling with the interval that the benchmark gives (mean and 95 %).
struct MeasuredRoof {
  double value = 0;  ///< GB/s, GFLOP/s or GOP/s, with 1e9
  std::optional<double> low, high;
  std::string column;  ///< of the file: "HBMBw"
};

struct MeasuredRate {
  Pipe pipe = Pipe::vector;  ///< vector or matrix
  Precision precision = Precision::fp32;
  MeasuredRoof roof;
};

/// One device of a roofline.csv. Zero and empty figures are tests that did not run: left out.
struct MeasuredRoofs {
  int device = 0;
  std::vector<int> other_devices;  ///< that the file has rows of too
  std::optional<MeasuredRoof> memory, infinity_cache, l2, l1, lds;
  std::vector<MeasuredRate> rates;

  [[nodiscard]] const MeasuredRoof* of(Pipe pipe, Precision precision) const;
};

/// Reads the file; of several devices the one with that number, else (nullopt) the first row.
/// Errors: bad_input (no such table, a figure that is no number, negative or one that no GPU can
/// have, no column that is known, more than 1024 devices; line and column are named), usage (no
/// such device: the ones there are named).
Result<MeasuredRoofs> read_measured_roofs(const std::filesystem::path& file,
                                          std::optional<int> device = std::nullopt);

}  // namespace perflab::hal
