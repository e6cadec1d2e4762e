// replay::Device on the HSA runtime of this machine.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "capture/model.h"
#include "replay/device.h"

namespace perflab::replay {

struct HsaOptions {
  /// Start this program again when its own mappings are in the way: see steering.h. Only before
  /// anything was printed.
  bool may_restart = true;
};

/// The device for one capture: keeps its addresses free, opens the runtime (in the capture's
/// address mode), picks the GPU of the same number and compares its ISA. Nothing is placed or
/// loaded yet. Errors: occupied, no_runtime, no_gpu, isa_mismatch, hsa_call_failed, not_replayable.
Result<std::unique_ptr<Device>> open_hsa_device(const capture::Description& description,
                                                const HsaOptions& options = {});

/// Sets (or removes) HSA_RESERVE_SVM according to the capture's address mode; before the runtime is
/// opened. The ranges are held free in the reserved mode too: the runtime's own area starts above
/// what it finds then (docs/facts/hsa_runtime.md "Repeatable addresses"). That is meant: inside the
/// area the runtime would put device memory of its own over the ranges, because its reservations
/// are not known to its allocator of device memory.
void set_address_mode(const std::string& address_mode);

}  // namespace perflab::replay
