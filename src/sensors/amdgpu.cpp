// The amdgpu driver's files: hwmon for clocks, temperature and power, the binary gpu_metrics for
// throttling. Docs/facts/sensors.md "amdgpu" has names, units and layouts.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "base/system/files.h"
#include "base/text/numbers.h"
#include "base/text/text.h"
#include "sensors/sensors.h"

namespace perflab::sensors {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostBytes = 16384;
constexpr double kHertz = 1e6, kMillidegrees = 1e3, kMicrowatts = 1e6;
constexpr double kEnergyUnits = 65536;                    // in a joule
constexpr std::uint64_t kNotCounted = ~std::uint64_t{0};  // a field that the firmware does not fill
/// temp1 is the edge, temp2 the junction (the hottest place), temp3 the memory.
constexpr const char* kTemperatures[] = {"temp2_input", "temp1_input"};
constexpr const char* kPowers[] = {"power1_input", "power1_average"};

/// Where gpu_metrics has what of throttling and energy, by revision of its contents (format 1).
struct MetricsLayout {
  std::uint8_t first, last;  ///< revisions
  std::size_t status;        ///< of the 64 bits that are the same for all chips; 0: there are none
  std::size_t residencies;   ///< of five counters: PROCHOT, power, socket, regulators, memory; 0
  std::size_t energy;        ///< of the 64 bits that count energy in units of 2^-16 J; 0: not sure
};
constexpr MetricsLayout kLayouts[] = {
    {.first = 3, .last = 3, .status = 112, .residencies = 0, .energy = 0},
    {.first = 6, .last = 6, .status = 0, .residencies = 36, .energy = 16},
    {.first = 7, .last = 8, .status = 0, .residencies = 44, .energy = 24},
};
constexpr Throttle kResidencies[] = {Throttle::hardware, Throttle::power, Throttle::temperature,
                                     Throttle::temperature, Throttle::temperature};

template <class T>
std::optional<T> metric_at(std::string_view bytes, std::size_t offset) {
  T value{};
  if (bytes.size() < offset + sizeof value) return std::nullopt;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// 16 bits for each kind of the limits: power, current, temperature, others.
Throttles throttles_of(std::uint64_t status) {
  Throttles found;
  if ((status & 0xffffU) != 0) found.add(Throttle::power);
  if ((status >> 16U & 0xffffU) != 0) found.add(Throttle::current);
  if ((status >> 32U & 0xffffU) != 0) found.add(Throttle::temperature);
  if (status >> 48U != 0) found.add(Throttle::hardware);
  return found;
}

/// Null: its version is not known.
const MetricsLayout* layout_of(std::string_view metrics) {
  const auto format = metric_at<std::uint8_t>(metrics, 2),
             content = metric_at<std::uint8_t>(metrics, 3);
  const auto* const layout = std::ranges::find_if(kLayouts, [&](const MetricsLayout& one) {
    return format == 1 && content >= one.first && content <= one.last;
  });
  return layout == std::end(kLayouts) ? nullptr : layout;
}

class AmdgpuSensors final : public Sensors {
 public:
  AmdgpuSensors(fs::path device, fs::path hwmon)
      : device_(std::move(device)), hwmon_(std::move(hwmon)) {}

  [[nodiscard]] std::string source() const override { return "sysfs"; }

  Reading read() override {
    Reading reading;
    reading.core_mhz = number("core_mhz", std::span(&kCoreClock, 1), kHertz);
    reading.memory_mhz = number("memory_mhz", std::span(&kMemoryClock, 1), kHertz);
    reading.temperature_c = number("temperature_c", kTemperatures, kMillidegrees);
    reading.power_w = number("power_w", kPowers, kMicrowatts);
    read_throttling(reading);
    return reading;
  }

  std::optional<double> read_energy() override {
    const fs::path file = device_ / "gpu_metrics";
    const auto bytes = read_file(file, kMostBytes);
    if (!bytes) return no_energy(fmt::format("{} cannot be read", file.string()));
    const MetricsLayout* const layout = layout_of(*bytes);
    if (layout == nullptr || layout->energy == 0)
      return no_energy(fmt::format("{} has no counter of energy that is known", file.string()));
    const auto counted = metric_at<std::uint64_t>(*bytes, layout->energy);
    if (!counted || *counted == kNotCounted)
      return no_energy(fmt::format("{} counts no energy", file.string()));
    return static_cast<double>(*counted) / kEnergyUnits;
  }

 private:
  static constexpr const char* kCoreClock = "freq1_input";
  static constexpr const char* kMemoryClock = "freq2_input";

  /// The first of the files that has a number.
  std::optional<double> number(const char* field, std::span<const char* const> files, double unit) {
    for (const char* const file : files)
      if (const auto text = read_file(hwmon_ / file, kMostBytes))
        if (const auto value = number_of<std::int64_t>(trimmed(*text)))
          return static_cast<double>(*value) / unit;
    miss(field, fmt::format("{} cannot be read", (hwmon_ / files.back()).string()));
    return std::nullopt;
  }

  void read_throttling(Reading& reading) {
    const fs::path file = device_ / "gpu_metrics";
    const auto bytes = read_file(file, kMostBytes);
    if (!bytes) return miss("throttled", fmt::format("{} cannot be read", file.string()));
    const auto format = metric_at<std::uint8_t>(*bytes, 2),
               content = metric_at<std::uint8_t>(*bytes, 3);
    const MetricsLayout* const layout = layout_of(*bytes);
    if (layout == nullptr)
      return miss("throttled", fmt::format("{} is of version {}.{}, whose throttling is not known",
                                           file.string(), format.value_or(0), content.value_or(0)));
    if (layout->status != 0) {
      if (const auto status = metric_at<std::uint64_t>(*bytes, layout->status))
        reading.throttled = throttles_of(*status);
    } else {
      std::array<std::uint64_t, kThrottles> counts{};
      for (std::size_t i = 0; i < std::size(kResidencies); ++i) {
        const auto count = metric_at<std::uint32_t>(*bytes, layout->residencies + 4 * i);
        if (!count) return miss("throttled", fmt::format("{} is cut short", file.string()));
        counts.at(static_cast<std::size_t>(kResidencies[i])) += *count;
      }
      reading.throttled_for = counts;
    }
    if (!reading.throttled && !reading.throttled_for)
      miss("throttled", fmt::format("{} is cut short", file.string()));
  }

  fs::path device_, hwmon_;
};

/// The folder hwmon/hwmonN of a device that is the amdgpu driver's; empty: it has none.
fs::path hwmon_of(const fs::path& device) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(device / "hwmon", ignored)) {
    const auto name = read_file(entry.path() / "name", kMostBytes);
    if (name && trimmed(*name) == "amdgpu") return entry.path();
  }
  return {};
}

}  // namespace

namespace detail {

Opened open_amdgpu(const std::string& pci_address, const fs::path& sysfs) {
  const fs::path devices = sysfs / "bus/pci/devices";
  std::vector<std::pair<fs::path, fs::path>> found;  // with their hwmon
  std::error_code ignored;
  if (!pci_address.empty()) {
    if (fs::path hwmon = hwmon_of(devices / pci_address); !hwmon.empty())
      found.emplace_back(devices / pci_address, std::move(hwmon));
  } else {
    for (const auto& entry : fs::directory_iterator(devices, ignored))
      if (fs::path hwmon = hwmon_of(entry.path()); !hwmon.empty())
        found.emplace_back(entry.path(), std::move(hwmon));
  }
  if (found.size() == 1)
    return {.sensors = std::make_unique<AmdgpuSensors>(found.front().first, found.front().second),
            .missing_because = {}};
  if (found.empty())
    return {.sensors = nullptr,
            .missing_because = fmt::format("{} has no sensors of the amdgpu driver",
                                           (devices / pci_address).string())};
  return {.sensors = nullptr,
          .missing_because = fmt::format("there are {} AMD GPUs, and nobody says which one is used",
                                         found.size())};
}

}  // namespace detail
}  // namespace perflab::sensors
