// Which platform has which device.
#include "replay/session/open_device.h"

#include "replay/cuda/cuda_device.h"
#include "replay/hsa/hsa_device.h"

namespace perflab::replay {

Result<std::unique_ptr<Device>> open_device(const capture::Description& description,
                                            const DeviceOptions& options) {
  switch (description.machine.platform) {
    case capture::Platform::hip:
      return open_hsa_device(description, {.may_restart = options.may_restart});
    case capture::Platform::cuda:
      return open_cuda_device(description, {.may_restart = options.may_restart});
  }
  return fail(ErrorCode::internal, "a capture of no known platform");
}

}  // namespace perflab::replay
