// Opening the runtime and asking it what there is.
#include "replay/hsa/hsa_runtime.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "base/system/environment.h"
#include "base/system/files.h"
#include "base/text/text.h"
#include "replay/failures.h"

namespace perflab::replay {
namespace {

constexpr const char* kLibrary = "libhsa-runtime64.so.1";
constexpr const char* kAskDoctor =
    "rocm-perf doctor replay says whether there is a GPU that this user may use";

/// Every entry that a replay calls.
constexpr const char* kNeeded[] = {"hsa_init",
                                   "hsa_shut_down",
                                   "hsa_system_get_info",
                                   "hsa_iterate_agents",
                                   "hsa_agent_get_info",
                                   "hsa_agent_iterate_isas",
                                   "hsa_isa_get_info_alt",
                                   "hsa_queue_create",
                                   "hsa_queue_destroy",
                                   "hsa_queue_add_write_index_screlease",
                                   "hsa_signal_create",
                                   "hsa_signal_destroy",
                                   "hsa_signal_store_relaxed",
                                   "hsa_signal_store_screlease",
                                   "hsa_signal_wait_scacquire",
                                   "hsa_code_object_reader_create_from_memory",
                                   "hsa_code_object_reader_destroy",
                                   "hsa_executable_create_alt",
                                   "hsa_executable_load_agent_code_object",
                                   "hsa_executable_freeze",
                                   "hsa_executable_destroy",
                                   "hsa_executable_get_symbol_by_name",
                                   "hsa_executable_symbol_get_info",
                                   "hsa_executable_iterate_agent_symbols",
                                   "hsa_amd_agent_iterate_memory_pools",
                                   "hsa_amd_memory_pool_get_info",
                                   "hsa_amd_memory_pool_allocate",
                                   "hsa_amd_memory_pool_free",
                                   "hsa_amd_agents_allow_access",
                                   "hsa_amd_memory_async_copy",
                                   "hsa_amd_memory_fill",
                                   "hsa_amd_profiling_set_profiler_enabled",
                                   "hsa_amd_profiling_get_dispatch_time",
                                   "hsa_amd_vmem_address_reserve",
                                   "hsa_amd_vmem_address_free",
                                   "hsa_amd_vmem_handle_create",
                                   "hsa_amd_vmem_handle_release",
                                   "hsa_amd_vmem_map",
                                   "hsa_amd_vmem_unmap",
                                   "hsa_amd_vmem_set_access"};

std::string_view status_name(hsa::Status status) {
  using enum hsa::Status;
  switch (status) {
    case success:
      return "success";
    case info_break:
      return "break";
    case invalid_memory_pool:
      return "invalid memory pool";
    case memory_aperture_violation:
      return "memory aperture violation";
    case illegal_instruction:
      return "illegal instruction";
    case memory_fault:
      return "memory fault";
    case error:
      return "error";
    case invalid_argument:
      return "invalid argument";
    case invalid_queue_creation:
      return "invalid queue creation";
    case invalid_allocation:
      return "invalid allocation";
    case invalid_agent:
      return "invalid agent";
    case invalid_region:
      return "invalid region";
    case invalid_signal:
      return "invalid signal";
    case invalid_queue:
      return "invalid queue";
    case out_of_resources:
      return "out of resources";
    case invalid_packet_format:
      return "invalid packet format";
    case resource_free:
      return "resource still in use";
    case not_initialized:
      return "not initialized";
    case incompatible_arguments:
      return "incompatible arguments";
    case invalid_isa:
      return "invalid ISA";
    case invalid_code_object:
      return "invalid code object";
    case invalid_executable:
      return "invalid executable";
    case frozen_executable:
      return "frozen executable";
    case invalid_symbol_name:
      return "invalid symbol name";
    case exception:
      return "exception";
    case invalid_executable_symbol:
      return "invalid executable symbol";
    case invalid_file:
      return "invalid file";
    case invalid_code_object_reader:
      return "invalid code object reader";
  }
  return {};
}

/// The library from the loader's places, then from ROCm's. Error: no_runtime with the loader's
/// words for the first.
Result<void*> open_library() {
  std::vector<std::string> places{kLibrary};
  for (const std::string& root : {environment("ROCM_PATH"), std::string("/opt/rocm")})
    if (!root.empty()) places.push_back(root + "/lib/" + kLibrary);
  std::string reason;
  for (const std::string& place : places) {
    if (void* const library = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    const char* const why = ::dlerror();
    if (reason.empty() && why != nullptr) reason = why;
  }
  return fail(Failure::no_runtime, fmt::format("{} cannot be opened: {}", kLibrary, reason),
              fmt::format("install ROCm's runtime, or name its folder in LD_LIBRARY_PATH; looked "
                          "for: {}",
                          fmt::join(places, ", ")));
}

/// The version that a ROCm installation says of itself, beside its library; empty: it says none.
std::string rocm_version_beside(void* library) {
  link_map* map = nullptr;
  std::vector<std::filesystem::path> roots;
  if (::dlinfo(library, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0 && map != nullptr)
    roots.push_back(std::filesystem::path(map->l_name).parent_path().parent_path());
  if (const std::string named = environment("ROCM_PATH"); !named.empty()) roots.emplace_back(named);
  for (const std::filesystem::path& root : roots)
    if (const auto text = read_file(root / ".info" / "version", 4096))
      return std::string(trimmed(*text));
  return {};
}

/// Text up to its first zero byte.
template <std::size_t N>
std::string text_of(const std::array<char, N>& bytes) {
  return {bytes.begin(), std::ranges::find(bytes, '\0')};
}

/// What the callbacks of the iterating calls do: keep the handle.
template <class Handle>
hsa::Status keep(Handle handle, void* list) {
  static_cast<std::vector<Handle>*>(list)->push_back(handle);
  return hsa::Status::success;
}

}  // namespace

std::string status_text(hsa::Status status) {
  const std::string_view name = status_name(status);
  const std::string number = fmt::format("{:#x}", static_cast<std::uint32_t>(status));
  return name.empty() ? number : fmt::format("{} ({})", number, name);
}

Result<void> check_call(hsa::Status status, std::string_view call) {
  if (status == hsa::Status::success) return {};
  return fail(Failure::hsa_call_failed, fmt::format("{} answered {}", call, status_text(status)),
              kAskDoctor);
}

bool HsaRuntime::is_installed() {
  return open_library().has_value();
}

Result<HsaRuntime> HsaRuntime::open() {
  HsaRuntime runtime;
  PERFLAB_TRY(runtime.library_, open_library());
  runtime.api_ = hsa::api_of_library(runtime.library_);
  PERFLAB_TRY_VOID(runtime.find_entries());
  PERFLAB_TRY_VOID(check_call(runtime.core().init(), "hsa_init()"));
  runtime.initialised_ = true;
  PERFLAB_TRY_VOID(runtime.describe_system());
  PERFLAB_TRY_VOID(runtime.find_agents());
  return runtime;
}

HsaRuntime::HsaRuntime(HsaRuntime&& other) noexcept
    : library_(other.library_),
      initialised_(std::exchange(other.initialised_, false)),
      api_(other.api_),
      gpus_(std::move(other.gpus_)),
      cpus_(std::move(other.cpus_)),
      frequency_(other.frequency_),
      version_(std::move(other.version_)),
      rocm_version_(std::move(other.rocm_version_)) {}

HsaRuntime::~HsaRuntime() {
  if (initialised_) api_.core.shut_down();
}

void* HsaRuntime::entry(const char* name) const {
  return ::dlsym(library_, name);
}

Result<void> HsaRuntime::find_entries() const {
  for (const char* const name : kNeeded)
    if (entry(name) == nullptr)
      return fail(Failure::no_runtime, fmt::format("the runtime has no {}", name),
                  "replay needs a runtime with hsa_amd_vmem_*: ROCm 6.0 or later");
  return {};
}

Result<void> HsaRuntime::describe_system() {
  std::uint16_t major = 0, minor = 0;
  PERFLAB_TRY_VOID(check_call(core().system_get_info(hsa::system_info::version_major, &major),
                              "hsa_system_get_info(VERSION_MAJOR)"));
  PERFLAB_TRY_VOID(check_call(core().system_get_info(hsa::system_info::version_minor, &minor),
                              "hsa_system_get_info(VERSION_MINOR)"));
  PERFLAB_TRY_VOID(
      check_call(core().system_get_info(hsa::system_info::timestamp_frequency, &frequency_),
                 "hsa_system_get_info(TIMESTAMP_FREQUENCY)"));
  if (frequency_ == 0)
    return fail(Failure::hsa_call_failed,
                "hsa_system_get_info(TIMESTAMP_FREQUENCY) answered a frequency of 0", kAskDoctor);
  version_ = fmt::format("{}.{}", major, minor);
  rocm_version_ = rocm_version_beside(library_);
  return {};
}

Result<void> HsaRuntime::find_agents() {
  std::vector<hsa::Agent> handles;
  PERFLAB_TRY_VOID(
      check_call(core().iterate_agents(keep<hsa::Agent>, &handles), "hsa_iterate_agents()"));
  for (const hsa::Agent handle : handles) {
    PERFLAB_TRY(HsaAgent agent, describe_agent(handle));
    if (agent.type == hsa::DeviceType::gpu)
      gpus_.push_back(std::move(agent));
    else if (agent.type == hsa::DeviceType::cpu)
      cpus_.push_back(std::move(agent));
  }
  if (cpus_.empty())
    return fail(Failure::hsa_call_failed, "hsa_iterate_agents() named no CPU agent", kAskDoctor);
  return {};
}

Result<HsaAgent> HsaRuntime::describe_agent(hsa::Agent handle) const {
  HsaAgent agent{.handle = handle};
  PERFLAB_TRY_VOID(check_call(core().agent_get_info(handle, hsa::agent_info::device, &agent.type),
                              "hsa_agent_get_info(DEVICE)"));
  std::array<char, 64> name{}, product{};
  PERFLAB_TRY_VOID(check_call(core().agent_get_info(handle, hsa::agent_info::name, name.data()),
                              "hsa_agent_get_info(NAME)"));
  PERFLAB_TRY_VOID(
      check_call(core().agent_get_info(handle, hsa::agent_info::product_name, product.data()),
                 "hsa_agent_get_info(PRODUCT_NAME)"));
  agent.name = text_of(name);
  agent.product = text_of(product);
  if (agent.type == hsa::DeviceType::gpu) {
    PERFLAB_TRY(agent.isa, isa_of(handle));
    std::uint32_t domain = 0, place = 0;
    const auto ask = [&](std::uint32_t what, std::uint32_t& value) {
      return core().agent_get_info(handle, what, &value) == hsa::Status::success;
    };
    if (ask(hsa::agent_info::bdf_id, place) && ask(hsa::agent_info::domain, domain))
      agent.pci_address = fmt::format("{:04x}:{:02x}:{:02x}.{:x}", domain, place >> 8U & 0xffU,
                                      place >> 3U & 0x1fU, place & 7U);
  }
  PERFLAB_TRY(agent.pools, pools_of(handle));
  return agent;
}

Result<std::string> HsaRuntime::isa_of(hsa::Agent handle) const {
  std::vector<hsa::Isa> isas;
  PERFLAB_TRY_VOID(check_call(core().agent_iterate_isas(handle, keep<hsa::Isa>, &isas),
                              "hsa_agent_iterate_isas()"));
  if (isas.empty())
    return fail(Failure::hsa_call_failed, "hsa_agent_iterate_isas() named no ISA of a GPU",
                kAskDoctor);
  // The first is the agent's own; generic ones may follow.
  std::uint32_t length = 0;
  PERFLAB_TRY_VOID(
      check_call(core().isa_get_info_alt(isas.front(), hsa::isa_info::name_length, &length),
                 "hsa_isa_get_info_alt(NAME_LENGTH)"));
  std::string name(std::size_t{length} + 1, '\0');
  PERFLAB_TRY_VOID(
      check_call(core().isa_get_info_alt(isas.front(), hsa::isa_info::name, name.data()),
                 "hsa_isa_get_info_alt(NAME)"));
  name.resize(name.find('\0'));
  return name;
}

Result<std::vector<HsaPool>> HsaRuntime::pools_of(hsa::Agent handle) const {
  std::vector<hsa::MemoryPool> handles;
  PERFLAB_TRY_VOID(
      check_call(amd().agent_iterate_memory_pools(handle, keep<hsa::MemoryPool>, &handles),
                 "hsa_amd_agent_iterate_memory_pools()"));
  std::vector<HsaPool> pools;
  for (const hsa::MemoryPool pool : handles) {
    const auto ask = [&](std::uint32_t attribute, const char* name, auto& value) {
      return check_call(amd().memory_pool_get_info(pool, attribute, &value),
                        fmt::format("hsa_amd_memory_pool_get_info({})", name));
    };
    std::uint32_t segment = 0;
    bool allowed = false;
    PERFLAB_TRY_VOID(ask(hsa::pool_info::segment, "SEGMENT", segment));
    if (segment != hsa::segment_global) continue;
    PERFLAB_TRY_VOID(ask(hsa::pool_info::alloc_allowed, "RUNTIME_ALLOC_ALLOWED", allowed));
    if (!allowed) continue;
    HsaPool one{.handle = pool};
    PERFLAB_TRY_VOID(ask(hsa::pool_info::global_flags, "GLOBAL_FLAGS", one.flags));
    PERFLAB_TRY_VOID(ask(hsa::pool_info::granule, "RUNTIME_ALLOC_GRANULE", one.granule));
    pools.push_back(one);
  }
  return pools;
}

Result<const HsaAgent*> HsaRuntime::gpu(std::uint32_t index) const {
  if (index < gpus_.size()) return &gpus_[index];
  return fail(Failure::no_gpu,
              fmt::format("the capture needs GPU {} (counted from 0), and the runtime has {}",
                          index, gpus_.size()),
              "look at ROCR_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES");
}

DeviceFacts HsaRuntime::facts_of(const HsaAgent& gpu) const {
  DeviceFacts facts{.isa = gpu.isa,
                    .agent_name = gpu.name,
                    .product_name = gpu.product,
                    .runtime_version = version_,
                    .rocm_version = rocm_version_,
                    .pci_address = gpu.pci_address};
  for (const HsaPool& pool : gpu.pools)
    facts.granule = std::max<std::uint64_t>(facts.granule, pool.granule);
  return facts;
}

}  // namespace perflab::replay
