// See gpu.h. Sequences: docs/facts/hsa_runtime.md "Dispatch".
#include "hsa_sim/apps/gpu.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

namespace perflab::test {
namespace {

using namespace hsa;

constexpr std::size_t kKernargBytes = 512, kKernargSlots = 8192;
constexpr std::uint16_t kKernelHeader = packet_type::kernel_dispatch | 1U << header::barrier_bit |
                                        header::scope_system << header::acquire_shift |
                                        header::scope_system << header::release_shift;
constexpr std::uint16_t kBarrierHeader = packet_type::barrier_and | 1U << header::barrier_bit |
                                         header::scope_system << header::acquire_shift |
                                         header::scope_system << header::release_shift;

struct FoundAgents {
  const Api* api;
  Agent gpu{}, cpu{};
};

Status note_agent(Agent agent, void* data) {
  auto& found = *static_cast<FoundAgents*>(data);
  DeviceType type{};
  check(found.api->core.agent_get_info(agent, agent_info::device, &type), "hsa_agent_get_info");
  Agent& place = type == DeviceType::gpu ? found.gpu : found.cpu;
  if (place.handle == 0) place = agent;
  return Status::success;
}

struct FoundPools {
  const Api* api;
  MemoryPool coarse{}, fine{}, kernarg{};
};

Status note_pool(MemoryPool pool, void* data) {
  auto& found = *static_cast<FoundPools*>(data);
  std::uint32_t segment = 0, flags = 0;
  check(found.api->amd.memory_pool_get_info(pool, pool_info::segment, &segment),
        "hsa_amd_memory_pool_get_info");
  if (segment != segment_global) return Status::success;
  check(found.api->amd.memory_pool_get_info(pool, pool_info::global_flags, &flags),
        "hsa_amd_memory_pool_get_info");
  if ((flags & pool_kernarg) != 0)
    found.kernarg = pool;
  else if ((flags & pool_coarse_grained) != 0)
    found.coarse = pool;
  else if ((flags & pool_fine_grained) != 0)
    found.fine = pool;
  return Status::success;
}

template <class T>
void put_at(std::string& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

// The hidden arguments of version 5 that the sample kernels declare.
std::string kernarg_of(const Work& work) {
  std::string bytes = work.arguments;
  bytes.resize((bytes.size() + 7) / 8 * 8);
  const std::size_t hidden = bytes.size();
  bytes.resize(std::max<std::size_t>(work.kernel.kernarg_bytes, hidden));
  if (bytes.size() < hidden + 256) return bytes;
  put_at(bytes, hidden, work.n / work.workgroup);
  put_at<std::uint32_t>(bytes, hidden + 4, 1);
  put_at<std::uint32_t>(bytes, hidden + 8, 1);
  put_at(bytes, hidden + 12, static_cast<std::uint16_t>(work.workgroup));
  put_at<std::uint16_t>(bytes, hidden + 14, 1);
  put_at<std::uint16_t>(bytes, hidden + 16, 1);
  put_at(bytes, hidden + 18, static_cast<std::uint16_t>(work.n % work.workgroup));
  put_at<std::uint16_t>(bytes, hidden + 64, 1);
  return bytes;
}

}  // namespace

Gpu::Gpu() {
  void* const library = ::dlopen("libhsa-runtime64.so.1", RTLD_NOW);
  if (library == nullptr) fail(::dlerror());
  api_ = api_of_library(library);
  check(api_.core.init(), "hsa_init");
  FoundAgents agents{.api = &api_};
  check(api_.core.iterate_agents(note_agent, &agents), "hsa_iterate_agents");
  gpu_ = agents.gpu;
  cpu_ = agents.cpu;
  if (gpu_.handle == 0) fail("no GPU");
  FoundPools device{.api = &api_}, host{.api = &api_};
  check(api_.amd.agent_iterate_memory_pools(gpu_, note_pool, &device), "hsa_amd_agent_iterate_...");
  check(api_.amd.agent_iterate_memory_pools(cpu_, note_pool, &host), "hsa_amd_agent_iterate_...");
  device_pool_ = device.coarse;
  host_pool_ = host.fine;
  kernarg_pool_ = host.kernarg;
  kernargs_ = static_cast<std::byte*>(allocate(kernarg_pool_, kKernargBytes * kKernargSlots));
}

void* Gpu::allocate(MemoryPool pool, std::size_t bytes) const {
  void* pointer = nullptr;
  check(api_.amd.memory_pool_allocate(pool, bytes, 0, &pointer), "hsa_amd_memory_pool_allocate");
  const Agent both[2] = {gpu_, cpu_};
  check(api_.amd.agents_allow_access(2, both, nullptr, pointer), "hsa_amd_agents_allow_access");
  return pointer;
}

Signal Gpu::signal(SignalValue value) const {
  Signal made{};
  check(api_.core.signal_create(value, 0, nullptr, &made), "hsa_signal_create");
  return made;
}

void Gpu::wait(Signal signal) const {
  while (api_.core.signal_wait_scacquire(signal, Condition::lt, 1, UINT64_MAX,
                                         WaitState::blocked) >= 1) {
  }
}

Queue* Gpu::queue(std::uint32_t packets, std::uint32_t type) const {
  Queue* made = nullptr;
  check(
      api_.core.queue_create(gpu_, packets, type, nullptr, nullptr, UINT32_MAX, UINT32_MAX, &made),
      "hsa_queue_create");
  return made;
}

// Filled with rubbish before: what the runtime does not know stays as it is.
LoaderTable Gpu::loader_table(const std::string& door) const {
  LoaderTable table;
  std::memset(static_cast<void*>(&table), 0x5a, sizeof table);
  if (door == "minor")
    check(api_.core.system_get_extension_table(loader::extension, loader::major, 2, &table),
          "hsa_system_get_extension_table");
  else if (door == "module" || door == "bundle" || door == "address")
    check(api_.core.system_get_major_extension_table(loader::extension, loader::major, sizeof table,
                                                     &table),
          "hsa_system_get_major_extension_table");
  return table;
}

CodeObjectReader Gpu::reader(const Loading& from, const LoaderTable& loader) const {
  CodeObjectReader reader{};
  if (from.door == "memory") {
    check(api_.core.code_object_reader_create_from_memory(from.bytes.data(), from.bytes.size(),
                                                          &reader),
          "hsa_code_object_reader_create_from_memory");
    return reader;
  }
  const int descriptor = ::open(from.file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail("cannot open " + from.file);
  if (from.door == "file")
    check(api_.core.code_object_reader_create_from_file(descriptor, &reader),
          "hsa_code_object_reader_create_from_file");
  else
    check(loader.code_object_reader_create_from_file_with_offset_size(descriptor, from.offset,
                                                                      from.size, &reader),
          "hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size");
  ::close(descriptor);
  return reader;
}

void Gpu::load_legacy(const Loading& from) {
  LegacyCodeObject object{};
  std::string bytes = from.bytes;
  check(api_.core.code_object_deserialize(bytes.data(), bytes.size(), nullptr, &object),
        "hsa_code_object_deserialize");
  check(
      api_.core.executable_create(Profile::full, ExecutableState::unfrozen, nullptr, &executable_),
      "hsa_executable_create");
  check(api_.core.executable_load_code_object(executable_, gpu_, object, nullptr),
        "hsa_executable_load_code_object");
  check(api_.core.executable_freeze(executable_, nullptr), "hsa_executable_freeze");
  check(api_.core.code_object_destroy(object), "hsa_code_object_destroy");
}

void Gpu::load(const Loading& from) {
  if (from.door == "legacy") return load_legacy(from);
  const LoaderTable loader = loader_table(from.door);
  const CodeObjectReader made = reader(from, loader);
  if (from.before_load) from.before_load();
  check(api_.core.executable_create_alt(Profile::full, RoundingMode::by_default, nullptr,
                                        &executable_),
        "hsa_executable_create_alt");
  if (from.door == "address")
    check(loader.executable_load_agent_code_object_at_address(executable_, gpu_, made, nullptr,
                                                              kernargs_, 4096, nullptr),
          "hsa_ven_amd_loader_executable_load_agent_code_object_at_address");
  else
    check(api_.core.executable_load_agent_code_object(executable_, gpu_, made, nullptr, nullptr),
          "hsa_executable_load_agent_code_object");
  check(api_.core.executable_freeze(executable_, nullptr), "hsa_executable_freeze");
  check(api_.core.code_object_reader_destroy(made), "hsa_code_object_reader_destroy");
}

Kernel Gpu::kernel(const std::string& name) const {
  ExecutableSymbol symbol{};
  check(
      api_.core.executable_get_symbol_by_name(executable_, (name + ".kd").c_str(), &gpu_, &symbol),
      "hsa_executable_get_symbol_by_name");
  Kernel kernel;
  const auto info = [&](std::uint32_t attribute, void* value) {
    check(api_.core.executable_symbol_get_info(symbol, attribute, value),
          "hsa_executable_symbol_get_info");
  };
  info(symbol_info::kernel_object, &kernel.object);
  info(symbol_info::kernarg_segment_size, &kernel.kernarg_bytes);
  info(symbol_info::group_segment_size, &kernel.group_bytes);
  info(symbol_info::private_segment_size, &kernel.private_bytes);
  return kernel;
}

void* Gpu::variable(const std::string& name) const {
  ExecutableSymbol symbol{};
  std::uint64_t address = 0;
  check(api_.core.executable_get_symbol_by_name(executable_, name.c_str(), &gpu_, &symbol),
        "hsa_executable_get_symbol_by_name");
  check(api_.core.executable_symbol_get_info(symbol, symbol_info::variable_address, &address),
        "hsa_executable_symbol_get_info");
  return reinterpret_cast<void*>(address);
}

KernelDispatchPacket Gpu::packet(const Work& work, Signal signal) {
  const std::string arguments = kernarg_of(work);
  if (arguments.size() > kKernargBytes) fail("more arguments than a slot has room for");
  std::byte* slot = nullptr;
  {
    const std::lock_guard lock(kernarg_mutex_);
    slot = kernargs_ + next_kernarg_ * kKernargBytes;
    next_kernarg_ = (next_kernarg_ + 1) % kKernargSlots;
  }
  std::memcpy(slot, arguments.data(), arguments.size());
  return {.header = kKernelHeader,
          .setup = 1,
          .workgroup_size_x = static_cast<std::uint16_t>(work.workgroup),
          .workgroup_size_y = 1,
          .workgroup_size_z = 1,
          .reserved0 = 0,
          .grid_size_x = work.n,
          .grid_size_y = 1,
          .grid_size_z = 1,
          .private_segment_size = work.kernel.private_bytes,
          .group_segment_size = work.kernel.group_bytes + work.dynamic_lds,
          .kernel_object = work.kernel.object,
          .kernarg_address = slot,
          .reserved2 = 0,
          .completion_signal = signal};
}

KernelDispatchPacket Gpu::barrier(Signal signal) {
  KernelDispatchPacket packet{};
  packet.header = kBarrierHeader;
  packet.completion_signal = signal;
  return packet;
}

// Bodies first, then every header with a release store, then one doorbell.
void Gpu::submit(Queue* queue, const std::vector<KernelDispatchPacket>& packets) const {
  const std::uint64_t first = api_.core.queue_add_write_index_screlease(queue, packets.size());
  for (std::size_t i = 0; i < packets.size(); ++i) {
    while (first + i - api_.core.queue_load_read_index_scacquire(queue) >= queue->size) {
    }
    auto* const slot =
        static_cast<KernelDispatchPacket*>(queue->base_address) + ((first + i) & (queue->size - 1));
    std::memcpy(reinterpret_cast<std::byte*>(slot) + 4,
                reinterpret_cast<const std::byte*>(&packets[i]) + 4, sizeof *slot - 4);
    const std::uint32_t head = packets[i].header | std::uint32_t{packets[i].setup} << 16U;
    __atomic_store_n(reinterpret_cast<std::uint32_t*>(slot), head, __ATOMIC_RELEASE);
  }
  api_.core.signal_store_screlease(queue->doorbell_signal,
                                   static_cast<SignalValue>(first + packets.size() - 1));
}

}  // namespace perflab::test
