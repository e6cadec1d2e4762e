// What of NVIDIA's platform is here: the driver and its GPUs, CUPTI, the right to count, the
// recording library. Only on a machine that has NVIDIA's driver.
#pragma once

#include <vector>

#include "base/error.h"
#include "doctor/examination.h"

namespace perflab::doctor {

/// Whether NVIDIA's driver is there: its device node, or its library.
bool has_cuda(const Places& places);

/// The parts cuda_driver, cupti and record_library, in that order; adds the driver's GPUs. Runs
/// places.cuda_command: driver and CUPTI may hang or crash. Nothing without the driver. Error:
/// interrupted.
Result<std::vector<Part>> cuda_parts(const Places& places, std::vector<Gpu>& gpus);

/// `rocm-perf doctor-agents --cuda`: what the CUDA driver and CUPTI say, as one JSON object on
/// stdout. Returns the exit code.
int print_cuda();

}  // namespace perflab::doctor
