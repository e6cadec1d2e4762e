// Collecting PC samples: one start of the target apart from all others, under `rocprofv3
// --pc-sampling-beta-enabled …` into JSON and CSV, for the default database holds none; or on
// NVIDIA's GPUs with the recording library inside, into its database. pc_sampling/ reads them all.
// Its times are those of a sampled run: only ever compared with the plain one's. Facts:
// docs/facts/pc_sampling.md "Collecting", docs/facts/cuda_cupti.md "PC sampling".
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/system/subprocess.h"
#include "collect/collect.h"
#include "collect/pc_sampling_support.h"

namespace perflab::collect {

/// How to sample.
struct PcSamplingRequest {
  PcSamplingChoice choice;
  std::string architecture;  ///< of the GPU; empty: not known. For known faults
  /// The watchdog: the start is stopped after that, for hangs are known.
  std::chrono::milliseconds limit{};
};

/// The longest that a start under PC sampling may take, by the wall time of a plain one: five times
/// it and a minute, or the plan's own timeout when that is less.
std::chrono::milliseconds pc_sampling_limit(Nanos plain_wall,
                                            std::optional<std::chrono::milliseconds> timeout);

/// One start of the target under PC sampling.
struct PcSamplingRun {
  PcSamplingRequest request;
  std::filesystem::path folder;  ///< ".rocpd_profile/NNNN/pc_sampling": place for pc_sampling::find
  ProcessResult process;
  std::vector<std::filesystem::path> files;  ///< that hold samples or may; empty: none was written
  std::vector<std::string> notes;            ///< sentences for people: what was odd
  /// target_failed (also stopped by the watchdog), interrupted, missing_tool (the profiler refused
  /// the configuration, or there is no sample). What was written until then is in the folder.
  std::optional<Error> problem;
};

/// Runs the target once. Precondition: `base` was recorded, and the method is one of its platform.
/// Errors, with nothing to salvage: usage (the place cannot be written, an option of the plan that
/// is set here), missing_tool (rocprofv3 or the recording library is gone, or rocprofv3 knows no PC
/// sampling), interrupted (Ctrl-C before the start).
Result<PcSamplingRun> collect_pc_samples(const CollectPlan& plan, const Collection& base,
                                         const PcSamplingRequest& request);

}  // namespace perflab::collect
