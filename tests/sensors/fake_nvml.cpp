// A libnvidia-ml.so.1 for tests, with the entries that sensors/nvml.cpp uses and the answers of
// docs/facts/sensors.md "NVML". Its GPUs lie at 0000:17:00.0, 0000:18:00.0, ... By variables of the
// environment:
//   NVML_SIM_GPUS=2
//   NVML_SIM_SCRIPT=1980,1410/4,...   core clock in MHz and bits of throttle reasons (hexadecimal)
//                                     of one reading after the other; the last stays
//   NVML_SIM_FAIL=NAME=3,...          that entry answers so
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace {

constexpr int kUninitialized = 1, kInvalidArgument = 2, kNotFound = 6;

int open_count = 0;
std::size_t readings = 0;
int devices[8];

std::string setting(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

unsigned gpus() {
  return static_cast<unsigned>(std::atoi(setting("NVML_SIM_GPUS", "1").c_str()));
}

/// What an entry answers before it does anything; 0: it works.
int answer_of(const char* name) {
  if (open_count == 0 && std::strcmp(name, "nvmlInit_v2") != 0) return kUninitialized;
  const std::string list = "," + setting("NVML_SIM_FAIL", "");
  const std::size_t at = list.find("," + std::string(name) + "=");
  return at == std::string::npos ? 0 : std::atoi(list.c_str() + at + std::strlen(name) + 2);
}

/// The item of the script that is current.
std::string current() {
  const std::string script = setting("NVML_SIM_SCRIPT", "1980");
  std::string_view rest = script;
  for (std::size_t i = 1; i < readings; ++i) {
    const std::size_t comma = rest.find(',');
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return std::string(rest.substr(0, rest.find(',')));
}

int put(const char* name, unsigned* value, unsigned answer) {
  const int status = answer_of(name);
  if (status == 0) *value = answer;
  return status;
}

}  // namespace

#define PERFLAB_NVML __attribute__((visibility("default")))

extern "C" {

PERFLAB_NVML int nvmlInit_v2() {
  const int status = answer_of("nvmlInit_v2");
  if (status == 0) ++open_count;
  return status;
}
PERFLAB_NVML int nvmlShutdown() {
  return open_count-- > 0 ? 0 : kUninitialized;
}
PERFLAB_NVML const char* nvmlErrorString(int status) {
  return status == 3 ? "Not Supported" : status == kNotFound ? "Not Found" : "Unknown Error";
}
PERFLAB_NVML int nvmlDeviceGetCount_v2(unsigned* count) {
  return put("nvmlDeviceGetCount_v2", count, gpus());
}
PERFLAB_NVML int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (index >= gpus()) return kInvalidArgument;
  *device = &devices[index];
  return 0;
}
PERFLAB_NVML int nvmlDeviceGetHandleByPciBusId_v2(const char* address, void** device) {
  unsigned domain = 0, bus = 0, slot = 0, function = 0;
  if (std::sscanf(address, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4)
    return kInvalidArgument;
  if (domain != 0 || slot != 0 || function != 0 || bus < 0x17 || bus - 0x17 >= gpus())
    return kNotFound;
  *device = &devices[bus - 0x17];
  return 0;
}
PERFLAB_NVML int nvmlDeviceGetClockInfo(void*, int type, unsigned* clock) {
  if (type == 1) ++readings;
  return put("nvmlDeviceGetClockInfo", clock,
             type == 1 ? static_cast<unsigned>(std::atoi(current().c_str())) : 2619);
}
PERFLAB_NVML int nvmlDeviceGetTemperature(void*, int sensor, unsigned* degrees) {
  return sensor != 0 ? kInvalidArgument : put("nvmlDeviceGetTemperature", degrees, 41);
}
PERFLAB_NVML int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  return put("nvmlDeviceGetPowerUsage", milliwatts, 312'500);
}
/// 12.5 J more with every call.
PERFLAB_NVML int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  static unsigned long long calls = 0;
  *millijoules = ++calls * 12'500;
  return answer_of("nvmlDeviceGetTotalEnergyConsumption");
}
PERFLAB_NVML int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  const int status = answer_of("nvmlDeviceGetCurrentClocksThrottleReasons");
  const std::string item = current();
  const std::size_t slash = item.find('/');
  *reasons = slash == std::string::npos ? 0 : std::strtoull(item.c_str() + slash + 1, nullptr, 16);
  return status;
}

}  // extern "C"
