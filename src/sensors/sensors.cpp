// Whose GPU it is is told by the vendor that sysfs has for the address.
#include "sensors/sensors.h"

#include "base/enum_names.h"
#include "base/system/environment.h"
#include "base/system/files.h"
#include "base/text/text.h"

namespace perflab::sensors {
namespace {

constexpr std::uint64_t kMostSysfsBytes = 4096;  // what sysfs says that any of its files has
constexpr std::string_view kVendorNvidia = "0x10de", kVendorAmd = "0x1002";

std::string vendor_of(const std::string& pci_address, const std::filesystem::path& sysfs) {
  const auto text = read_file(sysfs / "bus/pci/devices" / pci_address / "vendor", kMostSysfsBytes);
  return text ? std::string(trimmed(*text)) : std::string();
}

}  // namespace

std::string_view to_string(Throttle throttle) {
  using enum Throttle;
  static constexpr auto kNames = enum_names<Throttle>({{power, "power"},
                                                       {temperature, "temperature"},
                                                       {current, "current"},
                                                       {power_brake, "power_brake"},
                                                       {hardware, "hardware"}});
  return kNames[throttle];
}

std::vector<Throttle> Throttles::list() const {
  std::vector<Throttle> found;
  for (std::size_t i = 0; i < kThrottles; ++i)
    if (const auto one = static_cast<Throttle>(i); has(one)) found.push_back(one);
  return found;
}

Opened open_sensors(const std::string& pci_address) {
  Places places;
  if (const std::string tree = environment("PERFLAB_SYSFS"); !tree.empty()) places.sysfs = tree;
  return open_sensors(pci_address, places);
}

Opened open_sensors(const std::string& pci_address, const Places& places) {
  if (!pci_address.empty()) {
    const std::string vendor = vendor_of(pci_address, places.sysfs);
    if (vendor == kVendorNvidia) return detail::open_nvml(pci_address, places.nvml);
    if (vendor == kVendorAmd) return detail::open_amdgpu(pci_address, places.sysfs);
  }
  // In a container sysfs may not have the GPU.
  Opened nvidia = detail::open_nvml(pci_address, places.nvml);
  if (nvidia.sensors != nullptr) return nvidia;
  Opened amd = detail::open_amdgpu(pci_address, places.sysfs);
  if (amd.sensors == nullptr)
    amd.missing_because = nvidia.missing_because + "; " + amd.missing_because;
  return amd;
}

}  // namespace perflab::sensors
