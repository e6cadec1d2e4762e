// The HSA runtime of this machine, opened at run time: entry points, agents, memory pools, and the
// one way in which a call's status becomes an error. Facts: docs/facts/hsa_runtime.md "Agents and
// pools", "Granules".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "hsa/api.h"
#include "replay/device.h"

namespace perflab::replay {

/// A memory pool of an agent, of the global segment and open for allocation.
struct HsaPool {
  hsa::MemoryPool handle{};
  std::uint32_t flags = 0;  ///< hsa::pool_*
  std::size_t granule = 0;  ///< bytes
};

struct HsaAgent {
  hsa::Agent handle{};
  hsa::DeviceType type = hsa::DeviceType::cpu;
  std::string name{}, product{};
  std::string isa{};          ///< of a GPU
  std::string pci_address{};  ///< likewise; empty: the runtime does not say
  std::vector<HsaPool> pools{};
};

/// "0x1001 (invalid argument)"; the number alone for one that is not known.
std::string status_text(hsa::Status status);

/// hsa_call_failed unless the call succeeded: "hsa_amd_vmem_map(0x7f.., 0x200000) answered 0x1001
/// (invalid argument)".
Result<void> check_call(hsa::Status status, std::string_view call);

/// The runtime between hsa_init and hsa_shut_down. The library stays loaded.
class HsaRuntime {
 public:
  /// Opens libhsa-runtime64.so.1 (the loader's places, $ROCM_PATH/lib, /opt/rocm/lib), initialises
  /// it and asks for all agents. Errors: no_runtime, hsa_call_failed.
  static Result<HsaRuntime> open();
  /// Whether the library can be loaded, whatever becomes of it then.
  static bool is_installed();
  HsaRuntime(HsaRuntime&& other) noexcept;
  HsaRuntime(const HsaRuntime&) = delete;
  HsaRuntime& operator=(const HsaRuntime&) = delete;
  HsaRuntime& operator=(HsaRuntime&&) = delete;
  ~HsaRuntime();

  [[nodiscard]] const hsa::Core& core() const { return api_.core; }
  [[nodiscard]] const hsa::AmdExt& amd() const { return api_.amd; }
  [[nodiscard]] const std::vector<HsaAgent>& gpus() const { return gpus_; }
  [[nodiscard]] const std::vector<HsaAgent>& cpus() const { return cpus_; }
  /// Ticks of the runtime's clock and of dispatch times, per second.
  [[nodiscard]] std::uint64_t frequency() const { return frequency_; }
  [[nodiscard]] const std::string& version() const { return version_; }
  [[nodiscard]] const std::string& rocm_version() const { return rocm_version_; }
  /// Address of another exported entry; null: it has none.
  [[nodiscard]] void* entry(const char* name) const;

  /// The GPU of that number. Error: no_gpu.
  [[nodiscard]] Result<const HsaAgent*> gpu(std::uint32_t index) const;
  /// What a document says of a GPU of this runtime.
  [[nodiscard]] DeviceFacts facts_of(const HsaAgent& gpu) const;

  /// Never shuts down: after a fault or a hang the runtime cannot be trusted to come back.
  void abandon() { initialised_ = false; }

 private:
  HsaRuntime() = default;
  [[nodiscard]] Result<void> find_entries() const;
  Result<void> describe_system();
  Result<void> find_agents();
  [[nodiscard]] Result<HsaAgent> describe_agent(hsa::Agent handle) const;
  [[nodiscard]] Result<std::string> isa_of(hsa::Agent handle) const;
  [[nodiscard]] Result<std::vector<HsaPool>> pools_of(hsa::Agent handle) const;

  void* library_ = nullptr;
  bool initialised_ = false;
  hsa::Api api_{};
  std::vector<HsaAgent> gpus_, cpus_;
  std::uint64_t frequency_ = 0;
  std::string version_, rocm_version_;
};

}  // namespace perflab::replay
