// Which GPUs a user sees, and how a worker is given one of them: ROCR_VISIBLE_DEVICES counts the
// GPUs of the kernel driver, HIP_VISIBLE_DEVICES those that ROCr left
// (https://rocm.docs.amd.com/en/latest/conceptual/gpu-isolation.html).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tune/evaluate/executor.h"

namespace perflab::tune {

/// One GPU of the kernel driver's topology.
struct TopologyGpu {
  Gpu gpu;
  std::string uuid;      ///< "GPU-1f2e..." as ROCR_VISIBLE_DEVICES takes it; empty: it has none
  std::size_t node = 0;  ///< its number among all GPUs of the topology
  std::uint64_t driver_node = 0;     ///< its number among all nodes, CPUs included
  std::int64_t target_version = 0;   ///< gfx_target_version; 0: the driver does not say
  std::optional<int> compute_units;  ///< missing: the driver does not say
  std::string pci_address{};         ///< "0000:c1:00.0", as sysfs writes it; empty: not said
};

/// GPUs of a topology folder (empty: the one of this machine), in the order of their nodes.
std::vector<TopologyGpu> read_topology(const std::filesystem::path& topology);

/// The GPUs that a process with these variables sees (an empty text: the variable is not set), in
/// its own order. Each list ends at its first entry that names no GPU, as it does for the runtime.
std::vector<TopologyGpu> visible_gpus(std::vector<TopologyGpu> all, std::string_view rocr_variable,
                                      std::string_view hip_variable);
/// The same with the variables of this process.
std::vector<TopologyGpu> visible_gpus(std::vector<TopologyGpu> all);

/// One GPU of a worker.
struct WorkerGpu {
  Gpu gpu;
  std::string id;             ///< as the user calls it
  std::string rocr;           ///< value of ROCR_VISIBLE_DEVICES that leaves just this GPU
  std::string pci_address{};  ///< TopologyGpu::pci_address
};

/// Where the sensors of each worker's GPU are found: of the GPUs that the user named, else of the
/// first one that is seen (HIP programs take it); empty where none is known to the driver. Errors:
/// of choose_gpus().
Result<std::vector<std::string>> sensor_addresses(const std::filesystem::path& topology,
                                                  const std::vector<std::string>& ids);

/// The GPUs that the user named: numbers in what they see ("0" is the first), or "GPU-...". Errors
/// (usage): no such GPU, the same one twice, two that differ (names both).
Result<std::vector<WorkerGpu>> choose_gpus(const std::filesystem::path& topology,
                                           const std::vector<std::string>& ids);

}  // namespace perflab::tune
