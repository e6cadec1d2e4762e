// Dirtying what launches leave behind on an AMD GPU, by kernels of ours that are built into this
// program for every architecture of the tables (left_memory/left_memory.cl).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"
#include "replay/device.h"
#include "replay/hsa/hsa_code.h"
#include "replay/hsa/hsa_memory.h"
#include "replay/hsa/hsa_queue.h"
#include "replay/hsa/hsa_runtime.h"
#include "replay/left_memory.h"

namespace perflab::replay {

class HsaTrap {
 public:
  /// Loads the kernels. All have to outlive it. Errors: hsa_call_failed.
  static Result<std::unique_ptr<HsaTrap>> open(const HsaRuntime& runtime, const HsaAgent& gpu,
                                               HsaMemory& memory);
  /// As Device::dirty(), on the queue of the launch, whose scratch is the queue's.
  Result<Dirtied> dirty(HsaQueue& queue, const Launch& next, std::uint64_t seed);
  void abandon() { code_.abandon(); }

 private:
  HsaTrap(const HsaRuntime& runtime, const HsaAgent& gpu, HsaMemory& memory)
      : memory_(memory), code_(runtime, gpu) {}
  Result<void> load(const HsaRuntime& runtime, const HsaAgent& gpu);

  HsaMemory& memory_;
  HsaCode code_;
  Launch registers_, scratch_;  ///< but for the scratch, which is the next launch's
  LeftMemory fills_;            ///< likewise
  std::string missing_because_;
};

}  // namespace perflab::replay
