// The topology of the kernel driver (amdkfd): one folder per node with a text file `properties` of
// "name value" lines; CPUs are nodes without SIMDs (Linux, drivers/gpu/drm/amd/amdkfd/
// kfd_topology.c, node_show). ROCr gives GPUs the numbers in the order of the nodes and makes the
// uuid of `unique_id` (rocr-runtime, amd_gpu_agent.cpp, HSA_AMD_AGENT_INFO_UUID).
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/system/environment.h"
#include "base/system/files.h"
#include "base/text/numbers.h"
#include "base/text/text.h"
#include "hal/arch.h"
#include "tune/evaluate/visible_gpus.h"

namespace perflab::tune {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKfdTopology = "/sys/class/kfd/kfd/topology/nodes";
constexpr std::uint64_t kLargestProperties = 1 << 16;  // bytes

std::map<std::string, std::uint64_t, std::less<>> read_properties(const std::string& text) {
  std::map<std::string, std::uint64_t, std::less<>> properties;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) continue;
    if (const auto value = whole_number(trimmed(line.substr(blank))))
      properties.emplace(line.substr(0, blank), *value);
  }
  return properties;
}

/// Nothing: a CPU, or a node that this process may not look into (a container without it).
std::optional<TopologyGpu> gpu_of_node(const fs::path& node) {
  const Result<std::string> text = read_file(node / "properties", kLargestProperties);
  if (!text) return std::nullopt;
  const auto properties = read_properties(*text);
  const auto value = [&](std::string_view name) {
    const auto found = properties.find(name);
    return found == properties.end() ? std::uint64_t{0} : found->second;
  };
  if (value("simd_count") == 0) return std::nullopt;
  const auto version = static_cast<std::int64_t>(value("gfx_target_version"));
  const auto device = static_cast<std::uint32_t>(value("device_id"));
  TopologyGpu result;
  result.target_version = version;
  if (value("simd_per_cu") > 0)
    result.compute_units = static_cast<int>(value("simd_count") / value("simd_per_cu"));
  result.gpu.architecture = hal::gfx_name_from_target_version(version).value_or(
      fmt::format("gfx_target_version {}", version));
  const hal::Product* product =
      hal::find_product_by_pci(static_cast<std::uint32_t>(value("vendor_id")), device);
  const std::uint64_t simds_per_cu = std::max<std::uint64_t>(value("simd_per_cu"), 1);
  result.gpu.name =
      fmt::format("{}{}{} {} CUs device {:#06x}", product ? product->name : "", product ? " " : "",
                  result.gpu.architecture, value("simd_count") / simds_per_cu, device);
  if (const std::uint64_t place = value("location_id"); properties.contains("location_id"))
    result.pci_address = fmt::format("{:04x}:{:02x}:{:02x}.{:x}", value("domain"),
                                     place >> 8U & 0xffU, place >> 3U & 0x1fU, place & 7U);
  if (value("unique_id") != 0) result.uuid = fmt::format("GPU-{:016x}", value("unique_id"));
  return result;
}

std::vector<std::string_view> entries_of(std::string_view list) {
  std::vector<std::string_view> entries;
  while (true) {
    const std::size_t comma = list.find(',');
    entries.push_back(trimmed(list.substr(0, comma)));
    if (comma == std::string_view::npos) return entries;
    list.remove_prefix(comma + 1);
  }
}

/// Index of the GPU that an entry names.
std::optional<std::size_t> find_gpu(const std::vector<TopologyGpu>& gpus, std::string_view entry) {
  if (const auto number = whole_number(entry))
    return *number < gpus.size() ? std::optional<std::size_t>(*number) : std::nullopt;
  for (std::size_t i = 0; i < gpus.size(); ++i)
    if (!gpus[i].uuid.empty() && equal_ignoring_case(gpus[i].uuid, entry)) return i;
  return std::nullopt;
}

std::vector<TopologyGpu> selected_by(const std::vector<TopologyGpu>& gpus, std::string_view list) {
  if (list.empty()) return gpus;
  std::vector<TopologyGpu> selected;
  for (const std::string_view entry : entries_of(list)) {
    const auto index = find_gpu(gpus, entry);
    if (!index) break;
    selected.push_back(gpus[*index]);
  }
  return selected;
}

}  // namespace

std::vector<TopologyGpu> read_topology(const fs::path& given) {
  const fs::path topology = given.empty() ? fs::path(kKfdTopology) : given;
  std::vector<std::uint64_t> nodes;
  std::error_code error;
  for (fs::directory_iterator it(topology, error), end; !error && it != end; it.increment(error))
    if (const auto number = whole_number(it->path().filename().string())) nodes.push_back(*number);
  std::ranges::sort(nodes);
  std::vector<TopologyGpu> gpus;
  for (const std::uint64_t node : nodes) {
    std::optional<TopologyGpu> gpu = gpu_of_node(topology / std::to_string(node));
    if (!gpu) continue;
    gpu->node = gpus.size();
    gpu->driver_node = node;
    gpus.push_back(*std::move(gpu));
  }
  return gpus;
}

std::vector<TopologyGpu> visible_gpus(std::vector<TopologyGpu> all, std::string_view rocr_variable,
                                      std::string_view hip_variable) {
  return selected_by(selected_by(all, rocr_variable), hip_variable);
}

std::vector<TopologyGpu> visible_gpus(std::vector<TopologyGpu> all) {
  const std::string hip = environment("HIP_VISIBLE_DEVICES");
  return visible_gpus(std::move(all), environment("ROCR_VISIBLE_DEVICES"),
                      hip.empty() ? environment("CUDA_VISIBLE_DEVICES") : hip);
}

Result<std::vector<WorkerGpu>> choose_gpus(const fs::path& topology,
                                           const std::vector<std::string>& ids) {
  const std::vector<TopologyGpu> seen = visible_gpus(read_topology(topology));
  std::vector<WorkerGpu> chosen;
  std::set<std::size_t> taken;
  for (const std::string& id : ids) {
    const auto index = find_gpu(seen, id);
    if (!index)
      return fail(ErrorCode::usage,
                  seen.empty() ? fmt::format("GPU {} is not there: this process sees no GPU", id)
                               : fmt::format("GPU {} is not there: the GPUs are 0 to {}", id,
                                             seen.size() - 1),
                  "rocm-perf doctor lists the GPUs; ROCR_VISIBLE_DEVICES hides some");
    const TopologyGpu& gpu = seen[*index];
    if (!taken.insert(gpu.node).second)
      return fail(ErrorCode::usage, fmt::format("GPU {} is named twice", id));
    if (!chosen.empty() && chosen.front().gpu != gpu.gpu)
      return fail(ErrorCode::usage,
                  fmt::format("GPUs {} and {} differ ({} and {}): times of one say nothing about "
                              "the other",
                              chosen.front().id, id, chosen.front().gpu.name, gpu.gpu.name),
                  "name equal GPUs only, or tune for each by itself");
    chosen.push_back({.gpu = gpu.gpu,
                      .id = id,
                      .rocr = std::to_string(gpu.node),
                      .pci_address = gpu.pci_address});
  }
  return chosen;
}

Result<std::vector<std::string>> sensor_addresses(const fs::path& topology,
                                                  const std::vector<std::string>& ids) {
  PERFLAB_TRY(const std::vector<WorkerGpu> chosen, choose_gpus(topology, ids));
  std::vector<std::string> addresses;
  for (const WorkerGpu& gpu : chosen) addresses.push_back(gpu.pci_address);
  if (!addresses.empty()) return addresses;
  const std::vector<TopologyGpu> seen = visible_gpus(read_topology(topology));
  addresses.push_back(seen.empty() ? std::string() : seen.front().pci_address);
  return addresses;
}

std::vector<Gpu> gpus_of_topology(const fs::path& topology) {
  std::vector<Gpu> gpus;
  for (TopologyGpu& one : read_topology(topology)) gpus.push_back(std::move(one.gpu));
  return gpus;
}

std::vector<Gpu> local_gpus() {
  return gpus_of_topology({});
}

}  // namespace perflab::tune
