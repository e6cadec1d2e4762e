// Agents, pools and versions. Attribute numbers: hsa/types.h; where the installation keeps its
// version: docs/facts/hip_toolchain.md "Where compilers are".
#include "isolate/machine/topology.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/system/environment.h"
#include "base/system/files.h"
#include "base/text/text.h"

namespace perflab::isolate {
namespace {

// What the callbacks of one agent's pools and regions fill.
struct PoolVisit {
  const hsa::Api* api;
  Pool like;
  std::vector<Pool>* out;
};

// No exception may pass through the runtime: out of memory ends the walk.
hsa::Status keep_pool(hsa::MemoryPool handle, void* data) noexcept try {
  const auto& visit = *static_cast<PoolVisit*>(data);
  const auto get = visit.api->amd.memory_pool_get_info;
  std::uint32_t segment = 0;
  if (const hsa::Status status = get(handle, hsa::pool_info::segment, &segment);
      status != hsa::Status::success)
    return status;
  if (segment != hsa::segment_global) return hsa::Status::success;
  Pool pool = visit.like;
  pool.handle = handle.handle;
  std::size_t granule = 0, recommended = 0;
  for (const auto& [attribute, value] :
       {std::pair<std::uint32_t, void*>{hsa::pool_info::global_flags, &pool.flags},
        {hsa::pool_info::granule, &granule}})
    if (const hsa::Status status = get(handle, attribute, value); status != hsa::Status::success)
      return status;
  // Older runtimes do not know this one.
  if (get(handle, hsa::pool_info::recommended_granule, &recommended) != hsa::Status::success)
    recommended = 0;
  pool.granule = granule;
  pool.recommended_granule = recommended;
  visit.out->push_back(pool);
  return hsa::Status::success;
} catch (...) {
  return hsa::Status::out_of_resources;
}

hsa::Status keep_region(hsa::Region handle, void* data) noexcept try {
  const auto& visit = *static_cast<PoolVisit*>(data);
  const auto get = visit.api->core.region_get_info;
  Pool pool = visit.like;
  pool.handle = handle.handle;
  std::uint32_t segment = 0;
  if (get(handle, hsa::region_info::segment, &segment) != hsa::Status::success ||
      segment != hsa::segment_global)
    return hsa::Status::success;
  std::size_t granule = 0;
  if (get(handle, hsa::region_info::global_flags, &pool.flags) != hsa::Status::success ||
      get(handle, hsa::region_info::granule, &granule) != hsa::Status::success)
    return hsa::Status::success;
  pool.granule = granule;
  visit.out->push_back(pool);
  return hsa::Status::success;
} catch (...) {
  return hsa::Status::out_of_resources;
}

hsa::Status keep_agent(hsa::Agent agent, void* data) noexcept try {
  static_cast<std::vector<hsa::Agent>*>(data)->push_back(agent);
  return hsa::Status::success;
} catch (...) {
  return hsa::Status::out_of_resources;
}

// A text attribute of fixed size; empty when the runtime does not know it.
template <std::size_t N>
std::string agent_text(const hsa::Api& api, hsa::Agent agent, std::uint32_t attribute) {
  std::array<char, N + 1> text{};
  if (api.core.agent_get_info(agent, attribute, text.data()) != hsa::Status::success) return {};
  return text.data();
}

Result<std::string> isa_name(const hsa::Api& api, hsa::Agent agent) {
  hsa::Isa isa{};
  PERFLAB_TRY_VOID(checked("hsa_agent_get_info (ISA)",
                           api.core.agent_get_info(agent, hsa::agent_info::isa, &isa)));
  std::uint32_t length = 0;
  PERFLAB_TRY_VOID(checked("hsa_isa_get_info_alt (name length)",
                           api.core.isa_get_info_alt(isa, hsa::isa_info::name_length, &length)));
  if (length > 4096) return fail(ErrorCode::target_failed, "the agent's ISA has no usable name");
  std::string name(std::size_t{length} + 1, '\0');
  PERFLAB_TRY_VOID(checked("hsa_isa_get_info_alt (name)",
                           api.core.isa_get_info_alt(isa, hsa::isa_info::name, name.data())));
  return std::string(name.c_str());
}

// Some builds of the runtime give their version with the quotes of its definition.
std::string without_quotes(std::string text) {
  std::erase(text, '"');
  return text;
}

// The version file of the installation that the runtime was loaded from.
std::string rocm_version(const hsa::Api& api) {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(api.core.agent_get_info), &info) == 0 ||
      info.dli_fname == nullptr)
    return {};
  std::error_code error;
  const std::filesystem::path library = std::filesystem::canonical(info.dli_fname, error);
  if (error) return {};
  const auto text = read_file(library.parent_path().parent_path() / ".info" / "version", 4096);
  return text ? std::string(trimmed(*text)) : std::string();
}

}  // namespace

std::string failed_call(const char* call, hsa::Status status) {
  return fmt::format("{} answered {:#x}", call, static_cast<std::uint32_t>(status));
}

Result<void> checked(const char* call, hsa::Status status) {
  if (status == hsa::Status::success || status == hsa::Status::info_break) return {};
  return fail(ErrorCode::target_failed, failed_call(call, status));
}

bool Topology::is_gpu(hsa::Agent agent) const {
  return std::ranges::find(gpus, agent) != gpus.end();
}

const Pool* Topology::pool(std::uint64_t handle) const {
  const auto at = std::ranges::find(pools, handle, &Pool::handle);
  return at == pools.end() ? nullptr : &*at;
}

const Pool* Topology::region(std::uint64_t handle) const {
  const auto at = std::ranges::find(regions, handle, &Pool::handle);
  return at == regions.end() ? nullptr : &*at;
}

Result<Topology> read_machine(const hsa::Api& api) {
  Topology machine;
  std::vector<hsa::Agent> agents;
  PERFLAB_TRY_VOID(checked("hsa_iterate_agents", api.core.iterate_agents(keep_agent, &agents)));
  for (const hsa::Agent agent : agents) {
    hsa::DeviceType type{};
    PERFLAB_TRY_VOID(checked("hsa_agent_get_info (device)",
                             api.core.agent_get_info(agent, hsa::agent_info::device, &type)));
    if (type != hsa::DeviceType::cpu && type != hsa::DeviceType::gpu) continue;
    const bool gpu = type == hsa::DeviceType::gpu;
    std::vector<hsa::Agent>& same = gpu ? machine.gpus : machine.cpus;
    const Pool like{
        .agent = agent, .on_gpu = gpu, .agent_index = static_cast<std::uint32_t>(same.size())};
    same.push_back(agent);
    PoolVisit pools{.api = &api, .like = like, .out = &machine.pools};
    PERFLAB_TRY_VOID(checked("hsa_amd_agent_iterate_memory_pools",
                             api.amd.agent_iterate_memory_pools(agent, keep_pool, &pools)));
    PoolVisit regions{.api = &api, .like = like, .out = &machine.regions};
    if (api.core.agent_iterate_regions != nullptr && api.core.region_get_info != nullptr)
      PERFLAB_TRY_VOID(checked("hsa_agent_iterate_regions",
                               api.core.agent_iterate_regions(agent, keep_region, &regions)));
  }
  return machine;
}

Result<capture::Machine> describe_machine(const hsa::Api& api, const Topology& machine,
                                          hsa::Agent agent) {
  capture::Machine out;
  PERFLAB_TRY(out.isa, isa_name(api, agent));
  out.agent_name = agent_text<64>(api, agent, hsa::agent_info::name);
  out.product_name = agent_text<64>(api, agent, hsa::agent_info::product_name);
  PERFLAB_TRY_VOID(checked(
      "hsa_agent_get_info (compute units)",
      api.core.agent_get_info(agent, hsa::agent_info::compute_unit_count, &out.compute_units)));
  out.gpu_index =
      static_cast<std::uint32_t>(std::ranges::find(machine.gpus, agent) - machine.gpus.begin());
  out.gpu_count = static_cast<std::uint32_t>(machine.gpus.size());
  std::uint16_t major = 0, minor = 0;
  PERFLAB_TRY_VOID(checked("hsa_system_get_info (version)",
                           api.core.system_get_info(hsa::system_info::version_major, &major)));
  PERFLAB_TRY_VOID(checked("hsa_system_get_info (version)",
                           api.core.system_get_info(hsa::system_info::version_minor, &minor)));
  out.runtime_version = fmt::format("{}.{}", major, minor);
  const char* build = nullptr;
  if (api.core.system_get_info(hsa::system_info::build_version, &build) == hsa::Status::success &&
      build != nullptr)
    if (const std::string text = without_quotes(build); !text.empty())
      out.runtime_version += fmt::format(" ({})", text);
  out.rocm_version = rocm_version(api);
  if (environment("HSA_RESERVE_SVM") == "1") out.address_mode = "reserved";
  return out;
}

}  // namespace perflab::isolate
