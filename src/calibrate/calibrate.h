// `rocm-perf calibrate`: kernels of known work on this machine's GPU, and what its counters made of
// them.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text/progress.h"
#include "calibrate/kernel_code.h"
#include "calibrate/plan.h"
#include "hal/calibration.h"
#include "hal/counter_table.h"

namespace perflab::calibrate {

struct CalibrateRequest {
  std::string architecture;  ///< "gfx942", "sm_90"
  std::string product;       ///< as the driver says; empty: not known
  int cus = 0;               ///< compute units; 0: those of the product, which must then be known
  int runs = 5;              ///< repetitions of each launch
  std::string driver;        ///< its version; empty: not told
  std::string date;          ///< for the document
  std::filesystem::path folder;  ///< for the program and the recordings; made
  std::optional<std::chrono::milliseconds> timeout = {};  ///< of one run of the program
};

/// What would be run, known without a GPU.
struct CalibrationPlan {
  const hal::CounterTable* table = nullptr;
  PlanGpu gpu;
  CompiledKernels kernels;
  std::vector<CheckedWork> checked;
  std::vector<Launch> launches;
  std::vector<std::vector<std::string>> passes;  ///< of counters
};

/// Compiles and checks the kernels. Errors: usage (an architecture or product that is not in the
/// tables), and those of compile_kernels().
Result<std::unique_ptr<CalibrationPlan>> make_plan(const CalibrateRequest& request);

/// A calibration and what else is to be said about how it came about.
struct Calibrated {
  hal::Calibration calibration;
  std::vector<std::string> notes;  ///< sentences for people
};

/// Runs the plan under the profiler and judges. A kernel that computed something wrong proves
/// nothing. Errors: those of compile_host() and collect::collect(), target_failed (the program
/// failed), bad_input (a recording is not one of the plan).
Result<Calibrated> calibrate(const CalibrateRequest& request, CalibrationPlan& plan,
                             ProgressLine* progress);

}  // namespace perflab::calibrate
