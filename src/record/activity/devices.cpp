// Attributes: docs/facts/cuda_cupti.md "Driver"; the product's PCI id: sysfs (Linux,
// Documentation/ABI/testing/sysfs-bus-pci), or the driver from CUDA 12.8 on.
#include "record/activity/devices.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

namespace perflab::record {
namespace {

using cuda::DeviceAttribute;

constexpr std::int64_t kNvidiaVendor = 0x10de;
/// Of every architecture from sm_70 on (docs/facts/hardware.md): an SM has four schedulers.
constexpr std::int64_t kSchedulers = 4;

/// Members of a JSON object, as far as they are known.
class Members {
 public:
  void add(const char* name, std::optional<std::int64_t> value) {
    if (value) add_text(name, std::to_string(*value));
  }
  void add_text(const char* name, const std::string& json) {
    text_ += (text_.empty() ? "\"" : ", \"") + std::string(name) + "\": " + json;
  }
  [[nodiscard]] std::string object() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

/// What the driver says about one device.
struct Attributes {
  const cuda::Driver& driver;
  cuda::Device device;

  std::optional<std::int64_t> operator()(DeviceAttribute attribute) const {
    int value = 0;
    if (driver.device_get_attribute(&value, attribute, device) != cuda::DriverResult::success)
      return std::nullopt;
    return value;
  }
};

std::int64_t product_id(const Attributes& of) {
  std::array<char, 32> bus{};
  if (of.driver.device_get_pci_bus_id(bus.data(), static_cast<int>(bus.size()), of.device) ==
      cuda::DriverResult::success) {
    std::string name = bus.data();
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    std::ifstream file("/sys/bus/pci/devices/" + name + "/device");
    std::string text;
    if (file >> text) return std::strtol(text.c_str(), nullptr, 16);
  }
  return of(DeviceAttribute::gpu_pci_device_id).value_or(0) >> 16;
}

std::optional<std::int64_t> quotient(std::optional<std::int64_t> value, std::int64_t by) {
  if (!value) return std::nullopt;
  return *value / by;
}

std::string cuda_members(const Attributes& of, const std::string& capability) {
  Members cuda;
  cuda.add_text("compute_capability", "\"" + capability + "\"");
  cuda.add("registers_per_sm", of(DeviceAttribute::max_registers_per_multiprocessor));
  cuda.add("shared_memory_per_block_optin", of(DeviceAttribute::max_shared_memory_per_block_optin));
  cuda.add("reserved_shared_memory_per_block",
           of(DeviceAttribute::reserved_shared_memory_per_block));
  cuda.add("max_blocks_per_sm", of(DeviceAttribute::max_blocks_per_multiprocessor));
  cuda.add("l2_bytes", of(DeviceAttribute::l2_cache_size));
  cuda.add("memory_bus_bits", of(DeviceAttribute::global_memory_bus_width));
  cuda.add("memory_clock_khz", of(DeviceAttribute::memory_clock_rate));
  cuda.add("clock_khz", of(DeviceAttribute::clock_rate));
  std::size_t bytes = 0;
  if (of.driver.device_total_memory(&bytes, of.device) == cuda::DriverResult::success)
    cuda.add("memory_bytes", static_cast<std::int64_t>(bytes));
  return cuda.object();
}

std::string extdata(const Attributes& of, std::int64_t product, const std::string& capability) {
  const auto threads = of(DeviceAttribute::max_threads_per_multiprocessor);
  const auto warp = of(DeviceAttribute::warp_size);
  const auto warps = warp && *warp > 0 ? quotient(threads, *warp) : std::nullopt;
  Members members;
  members.add("cu_count", of(DeviceAttribute::multiprocessor_count));
  members.add("simd_per_cu", kSchedulers);
  members.add("wave_front_size", warp);
  members.add("max_waves_per_cu", warps);
  members.add("max_waves_per_simd", quotient(warps, kSchedulers));
  members.add("lds_size_in_kb",
              quotient(of(DeviceAttribute::max_shared_memory_per_multiprocessor), 1024));
  members.add("num_xcc", 1);
  members.add("max_engine_clk_fcompute", quotient(of(DeviceAttribute::clock_rate), 1000));
  members.add("vendor_id", kNvidiaVendor);
  members.add("device_id", product);
  members.add("gfx_target_version", 0);
  members.add_text("cuda", cuda_members(of, capability));
  return members.object();
}

}  // namespace

Agent gpu_agent(const cuda::Driver& driver, int ordinal) {
  Agent agent;
  agent.id = 1 + std::int64_t{ordinal};
  agent.type_index = ordinal;
  agent.vendor = "NVIDIA";
  cuda::Device device = 0;
  if (driver.device_get(&device, ordinal) != cuda::DriverResult::success) return agent;
  const Attributes of{.driver = driver, .device = device};
  std::array<char, 256> name{};
  if (driver.device_get_name(name.data(), static_cast<int>(name.size()), device) ==
      cuda::DriverResult::success)
    agent.product = name.data();
  const std::string major =
      std::to_string(of(DeviceAttribute::compute_capability_major).value_or(0));
  const std::string minor =
      std::to_string(of(DeviceAttribute::compute_capability_minor).value_or(0));
  agent.name = "sm_" + major + minor;
  agent.uuid = product_id(of);
  agent.extdata = extdata(of, agent.uuid, major + "." + minor);
  return agent;
}

}  // namespace perflab::record
