// Reading the driver's files.
#include "doctor/driver.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/system/files.h"
#include "base/text/text.h"
#include "hal/arch.h"
#include "tune/evaluate/visible_gpus.h"

namespace perflab::doctor {
namespace {

namespace fs = std::filesystem;

bool may_use(const fs::path& device) {
  return ::access(device.c_str(), R_OK | W_OK) == 0;
}

}  // namespace

std::vector<Gpu> driver_gpus(const Places& places) {
  std::vector<Gpu> gpus;
  for (const tune::TopologyGpu& found :
       tune::read_topology(places.system / "class/kfd/kfd/topology/nodes")) {
    if (found.target_version == 0) continue;
    gpus.push_back({.node = static_cast<int>(found.driver_node),
                    .processor = found.gpu.architecture,
                    .compute_units = found.compute_units,
                    .known = hal::find_arch(found.gpu.architecture) != nullptr});
  }
  return gpus;
}

Part driver_part(const Places& places, const std::vector<Gpu>& gpus) {
  Part part{.need = Need::driver, .title = "amdgpu driver"};
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
