// What the HSA runtime says of itself and of its GPUs, asked in a process of its own.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "doctor/examination.h"

namespace perflab::doctor {

/// Runs places.agents_command, fills products of `gpus` (those that the driver does not list are
/// added without a node: a runtime of a container, or a stand-in) and returns the part. Error:
/// interrupted.
Result<Part> runtime_part(const Places& places, std::vector<Gpu>& gpus);

/// The runtime's part, and the ISAs of its GPUs, by number, as the runtime names them.
struct RuntimeGpus {
  Part part;
  std::vector<std::string> isas{};
};
/// Asked likewise. Error: interrupted.
Result<RuntimeGpus> runtime_gpus(const Places& places);

}  // namespace perflab::doctor
