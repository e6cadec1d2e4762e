// The runtime in a test: opened by its path, initialised, with what most tests look up first.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <concepts>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/temp_folder.h"
#include "hsa/api.h"
#include "hsa_sim/kernel_arguments.h"
#include "hsa_sim/sim_code_objects.h"

namespace perflab::test {

inline constexpr hsa::Status success = hsa::Status::success;

inline void* sim_library() {
  static void* const library =
      ::dlopen((std::string(PERFLAB_HSA_SIM_FOLDER) + "/libhsa-runtime64.so.1").c_str(), RTLD_NOW);
  return library;
}

/// An environment variable.
struct Set {
  const char* name;
  std::string value;
};

/// hsa_init to hsa_shut_down, with environment variables that hold meanwhile.
class SimSession {
 public:
  explicit SimSession(std::same_as<Set> auto... set) {
    variables_.push_back(std::make_unique<ScopedVariable>("HSA_TOOLS_LIB", PERFLAB_TEST_TOOL));
    variables_.push_back(std::make_unique<ScopedVariable>("HSA_SIM_TEST_TOOL_DO", "watch"));
    (variables_.push_back(std::make_unique<ScopedVariable>(set.name, set.value)), ...);
    api = hsa::api_of_library(sim_library());
    EXPECT_EQ(api.core.init(), success);
    // Interception is in the tables only, which only a tool is given ("Tables").
    void* const tool = ::dlopen(PERFLAB_TEST_TOOL, RTLD_NOW | RTLD_NOLOAD);
    using Tables = hsa::ApiTables*();
    tables = reinterpret_cast<Tables*>(::dlsym(tool, "hsa_sim_test_tables"))();
    ::dlclose(tool);
    table_api = hsa::api_of(*tables);
    api.core.iterate_agents(
        [](hsa::Agent agent, void* data) {
          static_cast<std::vector<hsa::Agent>*>(data)->push_back(agent);
          return success;
        },
        &agents);
    cpu = agents.at(0);
    gpu = agents.at(1);
    device_pools = pools(gpu);
    host_pools = pools(cpu);
    device = device_pools.at(0);
    host = host_pools.at(0);
    kernarg = host_pools.at(2);
  }
  SimSession(const SimSession&) = delete;
  SimSession& operator=(const SimSession&) = delete;
  ~SimSession() { EXPECT_EQ(api.core.shut_down(), success); }

  [[nodiscard]] std::vector<hsa::MemoryPool> pools(hsa::Agent agent) const {
    std::vector<hsa::MemoryPool> list;
    api.amd.agent_iterate_memory_pools(
        agent,
        [](hsa::MemoryPool pool, void* data) {
          static_cast<std::vector<hsa::MemoryPool>*>(data)->push_back(pool);
          return success;
        },
        &list);
    return list;
  }

  template <class T = std::byte>
  [[nodiscard]] T* allocate(std::size_t count) const {
    void* pointer = nullptr;
    EXPECT_EQ(api.amd.memory_pool_allocate(device, count * sizeof(T), 0, &pointer), success);
    return static_cast<T*>(pointer);
  }
  [[nodiscard]] hsa::Signal signal(hsa::SignalValue value = 1) const {
    hsa::Signal made{};
    EXPECT_EQ(api.core.signal_create(value, 0, nullptr, &made), success);
    return made;
  }
  /// Waits for the signal to reach 0; whether it did so within the time (20 s).
  [[nodiscard]] bool wait(hsa::Signal signal, std::uint64_t timeout = 300'000'000'000) const {
    return api.core.signal_wait_scacquire(signal, hsa::Condition::lt, 1, timeout,
                                          hsa::WaitState::blocked) < 1;
  }
  [[nodiscard]] hsa::Queue* queue(std::uint32_t size = 64,
                                  hsa::QueueCallback callback = nullptr) const {
    hsa::Queue* made = nullptr;
    EXPECT_EQ(api.core.queue_create(gpu, size, 0, callback, nullptr, UINT32_MAX, UINT32_MAX, &made),
              success);
    return made;
  }

  /// A frozen executable with the object; the bytes are kept until the end.
  hsa::Executable load(std::string object) {
    objects_.push_back(std::make_unique<std::string>(std::move(object)));
    hsa::Executable executable{};
    hsa::CodeObjectReader reader{};
    EXPECT_EQ(api.core.executable_create_alt(hsa::Profile::full, hsa::RoundingMode::by_default,
                                             nullptr, &executable),
              success);
    EXPECT_EQ(api.core.code_object_reader_create_from_memory(objects_.back()->data(),
                                                             objects_.back()->size(), &reader),
              success);
    EXPECT_EQ(api.core.executable_load_agent_code_object(executable, gpu, reader, nullptr, nullptr),
              success);
    EXPECT_EQ(api.core.executable_freeze(executable, nullptr), success);
    return executable;
  }
  [[nodiscard]] hsa::ExecutableSymbol symbol(hsa::Executable executable,
                                             const std::string& name) const {
    hsa::ExecutableSymbol found{};
    EXPECT_EQ(api.core.executable_get_symbol_by_name(executable, name.c_str(), &gpu, &found),
              success)
        << name;
    return found;
  }
  template <class T>
  [[nodiscard]] T symbol_info(hsa::ExecutableSymbol symbol, std::uint32_t attribute) const {
    T value{};
    EXPECT_EQ(api.core.executable_symbol_get_info(symbol, attribute, &value), success);
    return value;
  }

  /// A packet for a kernel of 4 blocks of 64, with kernargs of its own.
  template <class Arguments>
  [[nodiscard]] hsa::KernelDispatchPacket packet(hsa::Executable executable,
                                                 const std::string& kernel,
                                                 const Arguments& arguments,
                                                 hsa::Signal done = {}) const {
    void* kernargs = nullptr;
    EXPECT_EQ(api.amd.memory_pool_allocate(kernarg, sizeof arguments, 0, &kernargs), success);
    std::memcpy(kernargs, &arguments, sizeof arguments);
    hsa::KernelDispatchPacket packet{};
    packet.header = hsa::packet_type::kernel_dispatch | 1U << hsa::header::barrier_bit;
    packet.setup = 1;
    packet.workgroup_size_x = 64;
    packet.workgroup_size_y = packet.workgroup_size_z = 1;
    packet.grid_size_x = 256;
    packet.grid_size_y = packet.grid_size_z = 1;
    packet.kernel_object = symbol_info<std::uint64_t>(symbol(executable, kernel + ".kd"),
                                                      hsa::symbol_info::kernel_object);
    packet.kernarg_address = kernargs;
    packet.completion_signal = done;
    return packet;
  }
  static hsa::KernelDispatchPacket barrier(hsa::Signal done,
                                           std::vector<hsa::Signal> dependencies = {},
                                           std::uint16_t type = hsa::packet_type::barrier_and) {
    hsa::BarrierPacket barrier{};
    barrier.header = static_cast<std::uint16_t>(type | 1U << hsa::header::barrier_bit);
    for (std::size_t i = 0; i < dependencies.size(); ++i) barrier.dep_signal[i] = dependencies[i];
    barrier.completion_signal = done;
    hsa::KernelDispatchPacket packet{};
    std::memcpy(&packet, &barrier, sizeof packet);
    return packet;
  }

  /// Writes the packets without ringing; the index of the last.
  std::uint64_t write(hsa::Queue* queue,
                      const std::vector<hsa::KernelDispatchPacket>& packets) const {
    const std::uint64_t first = api.core.queue_add_write_index_scacq_screl(queue, packets.size());
    for (std::size_t i = 0; i < packets.size(); ++i) {
      auto* const slot = static_cast<std::byte*>(queue->base_address) +
                         ((first + i) & (queue->size - 1)) * sizeof packets[i];
      std::memcpy(slot + 4, reinterpret_cast<const std::byte*>(&packets[i]) + 4, 60);
      __atomic_store_n(reinterpret_cast<std::uint32_t*>(slot),
                       packets[i].header | std::uint32_t{packets[i].setup} << 16U,
                       __ATOMIC_RELEASE);
    }
    return first + packets.size() - 1;
  }
  void submit(hsa::Queue* queue, const std::vector<hsa::KernelDispatchPacket>& packets) const {
    api.core.signal_store_screlease(queue->doorbell_signal,
                                    static_cast<hsa::SignalValue>(write(queue, packets)));
  }

  hsa::Api api{};                    ///< the exported functions
  hsa::ApiTables* tables = nullptr;  ///< as a tool sees them
  hsa::Api table_api{};
  std::vector<hsa::Agent> agents;
  hsa::Agent cpu{}, gpu{};
  std::vector<hsa::MemoryPool> device_pools, host_pools;
  hsa::MemoryPool device{}, host{}, kernarg{};

 private:
  std::vector<std::unique_ptr<ScopedVariable>> variables_;
  std::vector<std::unique_ptr<std::string>> objects_;
};

}  // namespace perflab::test
