// The agents and memory pools of the runtime, asked for once in OnLoad, where that is allowed
// (docs/facts/hsa_runtime.md "Load and unload of tools"), and what a capture says about them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "capture/model.h"
#include "hsa/api.h"

namespace perflab::isolate {

/// A memory pool of an agent, or a region of one (the older interface to the same memory).
struct Pool {
  std::uint64_t handle = 0;
  hsa::Agent agent{};
  bool on_gpu = false;
  std::uint32_t agent_index = 0;  ///< among the agents of that kind
  std::uint32_t flags = 0;
  std::uint64_t granule = 0;
  std::uint64_t recommended_granule = 0;  ///< 0: not known
};

/// All agents and pools, in the runtime's order.
struct Topology {
  std::vector<hsa::Agent> cpus, gpus;
  std::vector<Pool> pools;
  std::vector<Pool> regions;

  [[nodiscard]] bool is_gpu(hsa::Agent agent) const;
  [[nodiscard]] const Pool* pool(std::uint64_t handle) const;
  [[nodiscard]] const Pool* region(std::uint64_t handle) const;
};

/// Asks the runtime. Error (missing_tool): a call fails (named, with its status).
Result<Topology> read_machine(const hsa::Api& api);

/// What a capture on `agent` says about the machine. Error: a call fails.
Result<capture::Machine> describe_machine(const hsa::Api& api, const Topology& machine,
                                          hsa::Agent agent);

/// "hsa_amd_vmem_map answered 0x1008".
std::string failed_call(const char* call, hsa::Status status);

/// Nothing, or failed_call() as an error (target_failed).
Result<void> checked(const char* call, hsa::Status status);

}  // namespace perflab::isolate
