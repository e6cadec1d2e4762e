// NVML, opened at run time and declared here: docs/facts/sensors.md "NVML". What a GPU or a
// container does not give answers with a code of its own, which is the reason.
#include <dlfcn.h>
#include <fmt/format.h>

#include <utility>

#include "sensors/sensors.h"

namespace perflab::sensors {
namespace {

using NvmlDevice = void*;
using NvmlResult = int;  // 0: success

constexpr NvmlResult kNvmlSuccess = 0;
constexpr int kClockSm = 1, kClockMemory = 2;  // nvmlClockType_t
constexpr int kTemperatureGpu = 0;             // nvmlTemperatureSensors_t
constexpr double kMilliwatts = 1000, kMillijoules = 1000;

/// Bits of the reasons; the others (idle, settings of an administrator, boost in step with other
/// GPUs, a display) say nothing about a disturbance.
constexpr std::pair<unsigned long long, Throttle> kReasons[] = {
    {0x4, Throttle::power},        {0x8, Throttle::hardware},     {0x20, Throttle::temperature},
    {0x40, Throttle::temperature}, {0x80, Throttle::power_brake},
};

/// The entries that are used.
struct Nvml {
  NvmlResult (*init)();
  NvmlResult (*shutdown)();
  const char* (*error_string)(NvmlResult);
  NvmlResult (*count)(unsigned*);
  NvmlResult (*by_index)(unsigned, NvmlDevice*);
  NvmlResult (*by_pci)(const char*, NvmlDevice*);
  NvmlResult (*clock)(NvmlDevice, int, unsigned*);
  NvmlResult (*temperature)(NvmlDevice, int, unsigned*);
  NvmlResult (*power)(NvmlDevice, unsigned*);
  NvmlResult (*reasons)(NvmlDevice, unsigned long long*);
  NvmlResult (*energy)(NvmlDevice, unsigned long long*);  ///< null: the driver is too old
};

/// The name of the first entry that is missing; null: none is.
const char* find_entries(void* library, Nvml& nvml) {
  const char* missing = nullptr;
  const auto find = [&](auto& entry, const char* name) {
    entry = reinterpret_cast<std::remove_reference_t<decltype(entry)>>(::dlsym(library, name));
    if (entry == nullptr && missing == nullptr) missing = name;
  };
  find(nvml.init, "nvmlInit_v2");
  find(nvml.shutdown, "nvmlShutdown");
  find(nvml.error_string, "nvmlErrorString");
  find(nvml.count, "nvmlDeviceGetCount_v2");
  find(nvml.by_index, "nvmlDeviceGetHandleByIndex_v2");
  find(nvml.by_pci, "nvmlDeviceGetHandleByPciBusId_v2");
  find(nvml.clock, "nvmlDeviceGetClockInfo");
  find(nvml.temperature, "nvmlDeviceGetTemperature");
  find(nvml.power, "nvmlDeviceGetPowerUsage");
  // The older name, which newer drivers have too.
  find(nvml.reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  nvml.energy = reinterpret_cast<decltype(nvml.energy)>(
      ::dlsym(library, "nvmlDeviceGetTotalEnergyConsumption"));
  return missing;
}

class NvmlSensors final : public Sensors {
 public:
  NvmlSensors(const Nvml& nvml, NvmlDevice device) : nvml_(nvml), device_(device) {}
  NvmlSensors(const NvmlSensors&) = delete;
  NvmlSensors(NvmlSensors&&) = delete;
  NvmlSensors& operator=(const NvmlSensors&) = delete;
  NvmlSensors& operator=(NvmlSensors&&) = delete;
  ~NvmlSensors() override { nvml_.shutdown(); }

  [[nodiscard]] std::string source() const override { return "nvml"; }

  Reading read() override {
    Reading reading;
    unsigned value = 0;
    if (fine("core_mhz", nvml_.clock(device_, kClockSm, &value))) reading.core_mhz = value;
    if (fine("memory_mhz", nvml_.clock(device_, kClockMemory, &value))) reading.memory_mhz = value;
    if (fine("temperature_c", nvml_.temperature(device_, kTemperatureGpu, &value)))
      reading.temperature_c = value;
    if (fine("power_w", nvml_.power(device_, &value))) reading.power_w = value / kMilliwatts;
    unsigned long long bits = 0;
    if (fine("throttled", nvml_.reasons(device_, &bits))) {
      reading.throttled.emplace();
      for (const auto& [bit, throttle] : kReasons)
        if ((bits & bit) != 0) reading.throttled->add(throttle);
    }
    return reading;
  }

  std::optional<double> read_energy() override {
    if (nvml_.energy == nullptr) return no_energy("this NVML has no counter of energy");
    unsigned long long counted = 0;
    if (const NvmlResult result = nvml_.energy(device_, &counted); result != kNvmlSuccess)
      return no_energy(fmt::format("NVML: {}", nvml_.error_string(result)));
    return static_cast<double>(counted) / kMillijoules;
  }

 private:
  bool fine(const char* field, NvmlResult result) {
    if (result == kNvmlSuccess) return true;
    miss(field, fmt::format("NVML: {}", nvml_.error_string(result)));
    return false;
  }

  Nvml nvml_;
  NvmlDevice device_;
};

/// The device, or why there is none.
std::string find_device(const Nvml& nvml, const std::string& pci_address, NvmlDevice& device) {
  if (!pci_address.empty()) {
    const NvmlResult result = nvml.by_pci(pci_address.c_str(), &device);
    if (result == kNvmlSuccess) return {};
    return fmt::format("NVML has no GPU {}: {}", pci_address, nvml.error_string(result));
  }
  unsigned count = 0;
  if (const NvmlResult result = nvml.count(&count); result != kNvmlSuccess)
    return fmt::format("NVML: {}", nvml.error_string(result));
  if (count != 1) return fmt::format("NVML has {} GPUs, and nobody says which one is used", count);
  const NvmlResult result = nvml.by_index(0, &device);
  return result == kNvmlSuccess ? std::string()
                                : fmt::format("NVML: {}", nvml.error_string(result));
}

}  // namespace

namespace detail {

Opened open_nvml(const std::string& pci_address, const std::string& library) {
  const auto none = [](std::string reason) {
    return Opened{.sensors = nullptr, .missing_because = std::move(reason)};
  };
  void* const opened = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed
  if (opened == nullptr) return none(fmt::format("{} is not here", library));
  Nvml nvml{};
  if (const char* const missing = find_entries(opened, nvml))
    return none(fmt::format("{} has no {}", library, missing));
  if (const NvmlResult result = nvml.init(); result != kNvmlSuccess)
    return none(fmt::format("NVML does not start: {}", nvml.error_string(result)));
  NvmlDevice device = nullptr;
  if (std::string reason = find_device(nvml, pci_address, device); !reason.empty()) {
    nvml.shutdown();
    return none(std::move(reason));
  }
  return {.sensors = std::make_unique<NvmlSensors>(nvml, device), .missing_because = {}};
}

}  // namespace detail
}  // namespace perflab::sensors
