// The sensors of one GPU of this machine, behind whatever gives them: NVML, or files of the amdgpu
// driver.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "sensors/reading.h"

namespace perflab::sensors {

class Sensors {
 public:
  Sensors() = default;
  Sensors(const Sensors&) = delete;
  Sensors& operator=(const Sensors&) = delete;
  Sensors(Sensors&&) = delete;
  Sensors& operator=(Sensors&&) = delete;
  virtual ~Sensors() = default;

  /// "nvml" or "sysfs".
  [[nodiscard]] virtual std::string source() const = 0;
  /// Takes some tens of microseconds to milliseconds; never fails: what cannot be read is missing.
  virtual Reading read() = 0;
  /// Joules that a counter of the GPU has counted since some moment; the difference of two readings
  /// says something. Missing: it has none (see `energy_missing`).
  virtual std::optional<double> read_energy() = 0;
  /// Why there was no energy, the first time; empty: there was.
  [[nodiscard]] const std::string& energy_missing() const { return energy_missing_; }
  /// Why a field of a reading ("core_mhz", ..., "throttled") was missing, the first time.
  [[nodiscard]] const std::map<std::string, std::string>& missing() const { return missing_; }

 protected:
  void miss(const std::string& field, const std::string& reason) {
    missing_.try_emplace(field, reason);
  }
  std::optional<double> no_energy(std::string reason) {
    if (energy_missing_.empty()) energy_missing_ = std::move(reason);
    return std::nullopt;
  }

 private:
  std::string energy_missing_;
  std::map<std::string, std::string> missing_;
};

/// Sensors, or why there are none.
struct Opened {
  std::unique_ptr<Sensors> sensors;
  std::string missing_because;
};

/// Where to look; the defaults are this machine's. Variables of the environment go before them in
/// open_sensors(): PERFLAB_SYSFS, a made-up tree of tests.
struct Places {
  std::filesystem::path sysfs = "/sys";
  std::string nvml = "libnvidia-ml.so.1";  ///< by the loader's places
};

/// Those of the GPU with this PCI address ("0000:c1:00.0", as sysfs writes it); empty: of the only
/// GPU of this machine, and of none where there are several.
Opened open_sensors(const std::string& pci_address);
Opened open_sensors(const std::string& pci_address, const Places& places);

namespace detail {
/// NVML's GPU of that address, or its only one. docs/facts/sensors.md "NVML".
Opened open_nvml(const std::string& pci_address, const std::string& library);
/// The amdgpu driver's. docs/facts/sensors.md "amdgpu".
Opened open_amdgpu(const std::string& pci_address, const std::filesystem::path& sysfs);
}  // namespace detail

}  // namespace perflab::sensors
