// Reading the driver's files.
#include "doctor/driver.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "base/files.h"
#include "base/text.h"
#include "hal/arch.h"

namespace perflab::doctor {
namespace {

namespace fs = std::filesystem;

/// Properties of a node are lines of a name and a number.
std::map<std::string, std::uint64_t> node_properties(const fs::path& file) {
  std::map<std::string, std::uint64_t> properties;
  const Result<std::string> text = read_file(file);
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) continue;
    const std::string_view digits = trimmed(line.substr(blank));
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc{} && end == digits.data() + digits.size())
      properties.emplace(line.substr(0, blank), value);
  }
  return properties;
}

std::optional<int> node_number(const fs::path& folder) {
  const std::string name = folder.filename().string();
  int number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return number;
}

bool may_use(const fs::path& device) {
  return ::access(device.c_str(), R_OK | W_OK) == 0;
}

}  // namespace

std::string processor_of(std::uint64_t gfx_target_version) {
  return fmt::format("gfx{}{:x}{:x}", gfx_target_version / 10'000, gfx_target_version / 100 % 100,
                     gfx_target_version % 100);
}

std::vector<Gpu> driver_gpus(const Places& places) {
  std::vector<Gpu> gpus;
  std::error_code error;
  for (fs::directory_iterator at(places.system / "class/kfd/kfd/topology/nodes", error), end;
       !error && at != end; at.increment(error)) {
    const std::optional<int> node = node_number(at->path());
    if (!node) continue;
    auto properties = node_properties(at->path() / "properties");
    const std::uint64_t version = properties["gfx_target_version"],
                        simds = properties["simd_count"], simds_of_cu = properties["simd_per_cu"];
    if (simds == 0 || version == 0) continue;
    Gpu gpu{.node = *node, .processor = processor_of(version), .product = {}, .compute_units = {}};
    if (simds_of_cu > 0) gpu.compute_units = static_cast<int>(simds / simds_of_cu);
    gpu.known = hal::find_arch(gpu.processor) != nullptr;
    gpus.push_back(std::move(gpu));
  }
  std::ranges::sort(gpus, {}, &Gpu::node);
  return gpus;
}

Part driver_part(const Places& places, const std::vector<Gpu>& gpus) {
  Part part{.need = Need::driver,
            .title = "amdgpu driver",
            .version = {},
            .path = {},
            .details = {},
            .problem = {},
            .remedy = {}};
  const fs::path device = places.devices / "kfd";
  std::error_code ignored;
  if (!fs::exists(device, ignored)) {
    part.problem = fmt::format("there is no {}", device.string());
    part.remedy =
        "on a machine with an AMD GPU: sudo modprobe amdgpu; in a container: start it with "
        "--device=/dev/kfd --device=/dev/dri";
    return part;
  }
  part.path = device.string();
  if (const Result<std::string> version = read_file(places.system / "module/amdgpu/version"))
    part.version = trimmed(*version);
  part.state = State::unusable;
  std::vector<std::string> closed;
  if (!may_use(device)) closed.push_back(device.string());
  std::size_t render_nodes = 0;
  for (fs::directory_iterator at(places.devices / "dri", ignored), end; !ignored && at != end;
       at.increment(ignored)) {
    if (!at->path().filename().string().starts_with("renderD")) continue;
    ++render_nodes;
    if (!may_use(at->path())) closed.push_back(at->path().string());
  }
  std::ranges::sort(closed);
  if (!closed.empty()) {
    part.problem = fmt::format("{} may not be read and written by this user", closed.front());
    part.remedy = "sudo usermod -aG render,video $USER, then log in again";
  } else if (render_nodes == 0) {
    part.problem = fmt::format("there is no {}/renderD*", (places.devices / "dri").string());
    part.remedy = "in a container: start it with --device=/dev/dri";
  } else if (gpus.empty()) {
    part.problem = "the driver lists no GPU";
    part.remedy = "`sudo dmesg | grep -i amdgpu` says what it did not like";
  } else {
    part.state = State::works;
  }
  return part;
}

}  // namespace perflab::doctor
