// The device that a capture is replayed on: the one place that knows which platform has which.
#pragma once

#include <memory>

#include "base/error.h"
#include "capture/model.h"
#include "replay/device.h"

namespace perflab::replay {

struct DeviceOptions {
  /// Start this program again when its own mappings are in the way (placeholders.h). Only before
  /// anything was printed.
  bool may_restart = true;
};

/// The device for one capture, by its platform: hsa_device.h or cuda_device.h. Nothing is placed or
/// loaded yet. Errors: failures.h.
Result<std::unique_ptr<Device>> open_device(const capture::Description& description,
                                            const DeviceOptions& options = {});

}  // namespace perflab::replay
