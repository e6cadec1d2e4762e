// replay::Device on the CUDA driver of this machine.
#pragma once

#include <memory>

#include "base/error.h"
#include "capture/model.h"
#include "replay/device.h"

namespace perflab::replay {

struct CudaOptions {
  /// Start this program again when its own mappings are in the way (placeholders.h). Only before
  /// anything was printed.
  bool may_restart = true;
};

/// The device for one capture: opens the driver, picks the GPU of the same number, compares its
/// architecture, and reserves the capture's addresses. Nothing is placed or loaded yet. Errors:
/// occupied, relocated, no_runtime, no_gpu, isa_mismatch, cuda_call_failed, not_replayable.
Result<std::unique_ptr<Device>> open_cuda_device(const capture::Description& description,
                                                 const CudaOptions& options = {});

}  // namespace perflab::replay
