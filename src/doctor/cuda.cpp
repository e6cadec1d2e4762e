// Both ends: the process that opens the driver and CUPTI, and the one that reads what it printed.
// Facts: docs/facts/cuda_cupti.md; the module's parameter: NVIDIA's page "ERR_NVGPUCTRPERM".
#include "doctor/cuda.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "base/system/files.h"
#include "base/text/json.h"
#include "collect/platform.h"
#include "collect/recorder.h"
#include "cuda/libraries.h"
#include "doctor/ask.h"
#include "hal/arch.h"

namespace perflab::doctor {
namespace {

namespace fs = std::filesystem;

/// A driver that wakes eight GPUs takes seconds.
constexpr std::chrono::seconds kCudaTimeout{60};

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

Json device_json(const cuda::Driver& driver, int ordinal) {
  cuda::Device device{};
  if (driver.device_get(&device, ordinal) != cuda::DriverResult{}) return nullptr;
  std::array<char, 256> name{};
  driver.device_get_name(name.data(), static_cast<int>(name.size()) - 1, device);
  const auto attribute = [&](cuda::DeviceAttribute which) {
    int value = 0;
    return driver.device_get_attribute(&value, which, device) == cuda::DriverResult{} ? value : 0;
  };
  return {{"processor",
           fmt::format("sm_{}{}", attribute(cuda::DeviceAttribute::compute_capability_major),
                       attribute(cuda::DeviceAttribute::compute_capability_minor))},
          {"product", std::string(name.data())},
          {"compute_units", attribute(cuda::DeviceAttribute::multiprocessor_count)}};
}

Json driver_json() {
  const cuda::DriverLibrary library = cuda::open_driver();
  if (library.problem != cuda::LibraryProblem::none)
    return {{"problem", library.problem == cuda::LibraryProblem::not_found
                            ? "libcuda.so.1 is not found"
                            : "libcuda.so.1 is too old: " + library.detail}};
  Json out = {{"path", library.path}};
  const cuda::DriverResult started = library.api.init(0);
  if (started != cuda::DriverResult{}) {
    const char* name = nullptr;
    if (library.api.get_error_name != nullptr) library.api.get_error_name(started, &name);
    out["problem"] = fmt::format("it does not start: {}", name != nullptr ? name : "no reason");
    return out;
  }
  int version = 0, count = 0;
  library.api.driver_get_version(&version);
  library.api.device_get_count(&count);
  out["version"] = version_text(version);
  out["gpus"] = Json::array();
  for (int i = 0; i < count; ++i)
    if (Json device = device_json(library.api, i); device.is_object())
      out["gpus"].push_back(std::move(device));
  return out;
}

Json cupti_json() {
  const cuda::CuptiLibrary library = cuda::open_cupti();
  Json out = {{"path", library.path}, {"version", library.version}};
  switch (library.problem) {
    case cuda::LibraryProblem::none:
      break;
    case cuda::LibraryProblem::not_found:
      out["problem"] = "neither libcupti.so.13 nor libcupti.so.12 is found";
      break;
    case cuda::LibraryProblem::unknown_version:
    case cuda::LibraryProblem::missing_entry:
      out["problem"] = "it cannot be used: " + library.detail;
      break;
  }
  return out;
}

/// Whether the driver lets only root count (RmProfilingAdminOnly); nullopt: it does not say.
std::optional<bool> counters_for_root(const Places& places) {
  constexpr std::string_view kKey = "RmProfilingAdminOnly: ";
  const Result<std::string> text = read_file(places.processes / "driver/nvidia/params");
  if (!text) return std::nullopt;
  const std::size_t at = text->find(kKey);
  if (at == std::string::npos) return std::nullopt;
  return text->substr(at + kKey.size(), 1) != "0";
}

std::string counters_sentence(const Places& places) {
  const std::optional<bool> closed = counters_for_root(places);
  if (!closed) return {};
  if (!*closed) return "hardware counters are open to all users";
  return ::geteuid() == 0 ? "hardware counters are open to root alone, which this is"
                          : "hardware counters are open to root alone: options nvidia "
                            "NVreg_RestrictProfilingToAdminUsers=0 in /etc/modprobe.d opens them "
                            "after a restart";
}

void read_driver(const Json& answer, Part& part, std::vector<Gpu>& gpus) {
  part.path = answer.value("path", "");
  part.version = answer.value("version", "");
  part.problem = answer.value("problem", "");
  for (const Json& found : answer.value("gpus", Json::array())) {
    Gpu gpu{.node = {}, .processor = found.value("processor", "")};
    gpu.product = found.value("product", "");
    gpu.compute_units = found.value("compute_units", 0);
    if (*gpu.compute_units < 1) gpu.compute_units.reset();
    gpu.known = hal::find_arch(gpu.processor) != nullptr;
    gpus.push_back(std::move(gpu));
  }
  if (part.problem.empty() && answer.value("gpus", Json::array()).empty())
    part.problem = "it lists no GPU";
  part.state = part.problem.empty() ? State::works : State::unusable;
  if (!part.problem.empty())
    part.remedy = "`nvidia-smi` shows the same; in a container: start it with --gpus all";
}

void read_cupti(const Json& answer, Part& part) {
  part.path = answer.value("path", "");
  if (const auto version = answer.value("version", std::uint32_t{0}); version != 0)
    part.version = fmt::format("{}", version);
  part.problem = answer.value("problem", "");
  part.state = part.problem.empty() ? State::works
               : part.path.empty()  ? State::missing
                                    : State::unusable;
  if (!part.problem.empty())
    part.remedy =
        "install CUDA's package cuda-cupti (12.8 or newer), or let CUDA_HOME name a toolkit";
}

}  // namespace

bool has_cuda(const Places& places) {
  std::error_code ignored;
  if (fs::exists(places.devices / "nvidiactl", ignored)) return true;
  return places.devices == Places{}.devices && collect::find_drivers().nvidia;
}

Result<std::vector<Part>> cuda_parts(const Places& places, std::vector<Gpu>& gpus) {
  std::vector<Part> parts;
  if (!has_cuda(places)) return parts;
  Part driver{.need = Need::cuda_driver, .title = "NVIDIA driver"};
  Part cupti{.need = Need::cupti, .title = "CUPTI"};
  PERFLAB_TRY(const Json answer,
              ask({.command = places.cuda_command,
                   .timeout = kCudaTimeout,
                   .answer = "the driver's answer",
                   .remedy = "`nvidia-smi` shows the same; reinstall NVIDIA's driver"},
                  driver));
  const auto part_of = [&](const char* key) {
    const auto found = answer.find(key);
    return found != answer.end() && found->is_object() ? *found : Json::object();
  };
  if (answer.contains("driver")) read_driver(part_of("driver"), driver, gpus);
  if (std::string sentence = counters_sentence(places); !sentence.empty())
    driver.details.push_back(std::move(sentence));
  if (answer.contains("cupti")) {
    read_cupti(part_of("cupti"), cupti);
  } else {
    cupti.problem = "it could not be looked for";
    cupti.remedy = "see to the NVIDIA driver first";
  }
  parts.push_back(std::move(driver));
  parts.push_back(std::move(cupti));
  Part library{.need = Need::record_library, .title = "recording library"};
  if (const Result<fs::path> found = collect::find_record_library()) {
    library.state = State::works;
    library.path = found->string();
  } else {
    library.problem = found.error().message;
    library.remedy = found.error().remedy;
  }
  parts.push_back(std::move(library));
  return parts;
}

int print_cuda() {
  const Json answer = {{"driver", driver_json()}, {"cupti", cupti_json()}};
  fmt::print("{}\n", answer.dump(-1, ' ', false, Json::error_handler_t::replace));
  std::fflush(stdout);
  return 0;
}

}  // namespace perflab::doctor
