// Agents, instruction sets, pools and regions, with the figures of docs/facts/hsa_runtime.md
// "Agents and pools", and what the system says of itself.
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "sim.h"

namespace perflab::hsa::sim {
namespace {

constexpr std::uint64_t kFirstAgent = 0xa6e70000, kIsa = 0x15a00000, kFirstPool = 0x70010000;
constexpr std::size_t kPoolBytes = std::size_t{192} << 30, kLdsBytes = 64 << 10,
                      kDeviceGranule = std::size_t{2} << 20;
constexpr std::uint32_t kSegmentGroup = 3;
constexpr std::uint64_t kTicksPerSecond = 1'000'000'000;
constexpr std::uint32_t kQueueMin = 64, kQueueMax = 131072;

struct Agents {
  int count = 0;
  std::string isa;
  std::string processor;  ///< "gfx942"
  std::vector<Pool> pools;
};

Agents& agents() {
  static Agents& instance = *new Agents;
  return instance;
}

template <class T>
Status put(void* to, T value) {
  std::memcpy(to, &value, sizeof value);
  return Status::success;
}

Status put_text(void* to, std::size_t bytes, std::string_view text) {
  std::memset(to, 0, bytes);
  std::memcpy(to, text.data(), std::min(bytes - 1, text.size()));
  return Status::success;
}

void add_pools(int agent) {
  const auto add = [agent](std::uint32_t flags) {
    agents().pools.push_back(
        {.on_gpu = is_gpu(agent),
         .agent = agent,
         .flags = flags,
         .bytes = kPoolBytes,
         .recommended_granule = is_gpu(agent) ? kDeviceGranule : std::size_t{4096}});
  };
  if (!is_gpu(agent)) {
    add(pool_fine_grained);
    add(pool_extended_scope_fine_grained);
    add(pool_fine_grained | pool_kernarg);
    add(pool_coarse_grained);
    return;
  }
  add(pool_coarse_grained);
  add(pool_extended_scope_fine_grained);
  agents().pools.push_back({.on_gpu = true,
                            .agent = agent,
                            .segment = kSegmentGroup,
                            .flags = 0,
                            .allocatable = false,
                            .bytes = kLdsBytes});
}

Status gpu_text(std::uint32_t attribute, int agent, void* value) {
  char uuid[21];
  std::snprintf(uuid, sizeof uuid, "GPU-%016x", static_cast<unsigned>(agent));
  switch (attribute) {
    case agent_info::name:
      return put_text(value, 64, agents().processor);
    case agent_info::vendor_name:
      return put_text(value, 64, "AMD");
    case agent_info::product_name:
      return put_text(value, 64, "Stand-in " + agents().processor);
    default:
      return put_text(value, sizeof uuid, uuid);
  }
}

Status cpu_text(std::uint32_t attribute, void* value) {
  switch (attribute) {
    case agent_info::vendor_name:
      return put_text(value, 64, "CPU");
    case agent_info::uuid:
      return put_text(value, 21, "CPU-XX");
    default:
      return put_text(value, 64, "Stand-in CPU");
  }
}

}  // namespace

void start_agents() {
  Agents& all = agents();
  int gpus = 1;
  if (const std::string_view text = setting("HSA_SIM_GPUS"); !text.empty())
    std::from_chars(text.data(), text.data() + text.size(), gpus);
  all.isa = setting("HSA_SIM_ISA");
  if (all.isa.empty()) all.isa = "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-";
  const std::size_t name = all.isa.find("--");
  if (name == std::string::npos) misuse("HSA_SIM_ISA is not a name of an instruction set");
  all.processor = all.isa.substr(name + 2, all.isa.find(':') - name - 2);
  all.count = 1 + gpus;
  all.pools.clear();
  for (int agent = 0; agent < all.count; ++agent) add_pools(agent);
}

int agent_count() {
  return agents().count;
}
Agent agent_of(int index) {
  return {kFirstAgent + static_cast<std::uint64_t>(index)};
}
std::optional<int> index_of(Agent agent) {
  if (agent.handle < kFirstAgent) return std::nullopt;
  const std::uint64_t index = agent.handle - kFirstAgent;
  if (index >= static_cast<std::uint64_t>(agents().count)) return std::nullopt;
  return static_cast<int>(index);
}
std::string_view isa_name() {
  return agents().isa;
}
const Pool* pool_of(std::uint64_t handle) {
  const std::uint64_t index = handle - kFirstPool;
  return handle < kFirstPool || index >= agents().pools.size() ? nullptr : &agents().pools[index];
}
std::uint64_t handle_of(const Pool& pool) {
  return kFirstPool + static_cast<std::uint64_t>(&pool - agents().pools.data());
}
const Pool& first_host_pool() {
  return agents().pools.front();
}

namespace core_calls {

Status system_get_info(std::uint32_t attribute, void* value) {
  if (value == nullptr) return Status::invalid_argument;
  switch (attribute) {
    case system_info::version_major:
      return put<std::uint16_t>(value, 1);
    case system_info::version_minor:
      return put<std::uint16_t>(value, 21);
    case system_info::timestamp:
      return put(value, now_ns());
    case system_info::timestamp_frequency:
      return put(value, kTicksPerSecond);
    case system_info::signal_max_wait:
      return put(value, UINT64_MAX);
    case system_info::build_version:
      return put<const char*>(value, "1.21.0-stand-in");
    case system_info::svm_supported:
    case system_info::virtual_memory_supported:
      return put(value, true);
    case system_info::xnack_enabled:
      return put(value, false);
    default:
      return Status::invalid_argument;
  }
}

Status iterate_agents(Status (*callback)(Agent, void*), void* data) {
  if (callback == nullptr) return Status::invalid_argument;
  for (int i = 0; i < agents().count; ++i)
    if (const Status status = callback(agent_of(i), data); status != Status::success) return status;
  return Status::success;
}

Status agent_get_info(Agent agent, std::uint32_t attribute, void* value) {
  const auto index = index_of(agent);
  if (!index) return Status::invalid_agent;
  if (value == nullptr) return Status::invalid_argument;
  const bool gpu = is_gpu(*index);
  switch (attribute) {
    case agent_info::name:
    case agent_info::vendor_name:
    case agent_info::product_name:
    case agent_info::uuid:
      return gpu ? gpu_text(attribute, *index, value) : cpu_text(attribute, value);
    case agent_info::queue_min_size:
      return put(value, gpu ? kQueueMin : 0U);
    case agent_info::queue_max_size:
      return put(value, gpu ? kQueueMax : 0U);
    case agent_info::node:
      return put(value, static_cast<std::uint32_t>(*index));
    case agent_info::device:
      return put(value, gpu ? DeviceType::gpu : DeviceType::cpu);
    case agent_info::isa:
      return put(value, Isa{gpu ? kIsa : 0});
    case agent_info::compute_unit_count:
      return put(value, gpu ? kComputeUnits : 1U);
    case agent_info::domain:
      return put(value, 0U);
    case agent_info::bdf_id:
      return put(value, static_cast<std::uint32_t>(*index) << 8U);
    default:
      return Status::invalid_argument;
  }
}

Status agent_iterate_isas(Agent agent, Status (*callback)(Isa, void*), void* data) {
  const auto index = index_of(agent);
  if (!index) return Status::invalid_agent;
  if (callback == nullptr) return Status::invalid_argument;
  return is_gpu(*index) ? callback(Isa{kIsa}, data) : Status::success;
}

Status isa_get_info_alt(Isa isa, std::uint32_t attribute, void* value) {
  if (isa.handle != kIsa) return Status::invalid_isa;
  if (value == nullptr) return Status::invalid_argument;
  const std::string& name = agents().isa;
  if (attribute == isa_info::name_length)
    return put(value, static_cast<std::uint32_t>(name.size() + 1));
  if (attribute != isa_info::name) return Status::invalid_argument;
  std::memcpy(value, name.c_str(), name.size() + 1);
  return Status::success;
}

Status agent_iterate_regions(Agent agent, Status (*callback)(Region, void*), void* data) {
  const auto index = index_of(agent);
  if (!index) return Status::invalid_agent;
  if (callback == nullptr) return Status::invalid_argument;
  // A GPU agent has the host's kernarg region too: programs look for it there.
  for (const Pool& pool : agents().pools) {
    if (pool.agent != *index && (pool.flags & pool_kernarg) == 0) continue;
    const Status status = callback(Region{handle_of(pool)}, data);
    if (status != Status::success) return status;
  }
  return Status::success;
}

Status region_get_info(Region region, std::uint32_t attribute, void* value) {
  const Pool* pool = pool_of(region.handle);
  if (pool == nullptr) return Status::invalid_region;
  if (value == nullptr) return Status::invalid_argument;
  switch (attribute) {
    case region_info::segment:
      return put(value, pool->segment);
    case region_info::global_flags:
      return put(value, pool->flags);
    case region_info::size:
      return put(value, pool->bytes);
    case region_info::alloc_allowed:
      return put(value, pool->allocatable);
    case region_info::granule:
      return put(value, pool->granule);
    default:
      return Status::invalid_argument;
  }
}

}  // namespace core_calls

namespace amd_calls {

Status agent_iterate_memory_pools(Agent agent, Status (*callback)(MemoryPool, void*), void* data) {
  const auto index = index_of(agent);
  if (!index) return Status::invalid_agent;
  if (callback == nullptr) return Status::invalid_argument;
  for (const Pool& pool : agents().pools) {
    if (pool.agent != *index) continue;
    const Status status = callback(MemoryPool{handle_of(pool)}, data);
    if (status != Status::success) return status;
  }
  return Status::success;
}

Status memory_pool_get_info(MemoryPool handle, std::uint32_t attribute, void* value) {
  const Pool* pool = pool_of(handle.handle);
  if (pool == nullptr) return Status::invalid_memory_pool;
  if (value == nullptr) return Status::invalid_argument;
  switch (attribute) {
    case pool_info::segment:
      return put(value, pool->segment);
    case pool_info::global_flags:
      return put(value, pool->flags);
    case pool_info::size:
    case pool_info::alloc_max_size:
      return put(value, pool->bytes);
    case pool_info::alloc_allowed:
      return put(value, pool->allocatable);
    case pool_info::granule:
    case pool_info::alignment:
      return put(value, pool->allocatable ? pool->granule : std::size_t{0});
    case pool_info::accessible_by_all:
      return put(value, !pool->on_gpu);
    case pool_info::recommended_granule:
      return put(value, pool->allocatable ? pool->recommended_granule : std::size_t{0});
    default:
      return Status::invalid_argument;
  }
}

Status agent_memory_pool_get_info(Agent agent, MemoryPool handle, std::uint32_t attribute,
                                  void* value) {
  const auto index = index_of(agent);
  const Pool* pool = pool_of(handle.handle);
  if (!index) return Status::invalid_agent;
  if (pool == nullptr) return Status::invalid_memory_pool;
  if (value == nullptr || attribute != agent_pool_info::access) return Status::invalid_argument;
  // 0 never, 1 allowed by default, 2 disallowed by default.
  if (!pool->allocatable) return put<std::uint32_t>(value, 0);
  return put<std::uint32_t>(value, pool->agent == *index ? 1 : 2);
}

}  // namespace amd_calls
}  // namespace perflab::hsa::sim
