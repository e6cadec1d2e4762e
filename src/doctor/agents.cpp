// Both ends: the process that opens the runtime, and the one that reads what it printed.
#include "doctor/agents.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/text/json.h"
#include "doctor/ask.h"
#include "hal/arch.h"
#include "replay/failures.h"
#include "replay/hsa/hsa_runtime.h"

namespace perflab::doctor {
namespace {

/// hsa_init takes some 0.2 s on a machine with eight GPUs; one that hangs has to end some time.
constexpr std::chrono::seconds kRuntimeTimeout{30};

Json agents_json() {
  const Result<replay::HsaRuntime> runtime = replay::HsaRuntime::open();
  if (!runtime) {
    const Error& error = runtime.error();
    return {{"problem", replay::sentence_of(error)},
            {"remedy", error.remedy},
            {"installed", replay::HsaRuntime::is_installed()}};
  }
  Json gpus = Json::array();
  for (const replay::HsaAgent& gpu : runtime->gpus())
    gpus.push_back({{"processor", gpu.name}, {"product", gpu.product}, {"isa", gpu.isa}});
  return {{"version", runtime->version()},
          {"rocm_version", runtime->rocm_version()},
          {"gpus", std::move(gpus)}};
}

/// The runtime's agents come in the order of the driver's nodes (ROCr: BuildTopology).
void name_products(const Json& agents, std::vector<Gpu>& gpus) {
  std::size_t next = 0;
  for (const Json& agent : agents) {
    const std::string processor = agent.value("processor", "");
    const auto same = [&](const Gpu& gpu) { return gpu.processor == processor; };
    const auto begin = gpus.begin() + static_cast<std::ptrdiff_t>(std::min(next, gpus.size()));
    auto found = std::find_if(begin, gpus.end(), same);
    if (found == gpus.end()) {
      Gpu gpu{.node = {}, .processor = processor};
      gpu.known = hal::find_arch(processor) != nullptr;
      found = gpus.insert(gpus.end(), std::move(gpu));
    }
    found->product = agent.value("product", "");
    next = static_cast<std::size_t>(found - gpus.begin()) + 1;
  }
}

void read_answer(const Json& answer, Part& part, std::vector<Gpu>& gpus) {
  if (answer.contains("problem")) {
    part.problem = answer.value("problem", "");
    part.remedy = answer.value("remedy", "");
    if (answer.value("installed", false)) part.state = State::unusable;
    return;
  }
  part.version = answer.value("version", "");
  if (const std::string rocm = answer.value("rocm_version", ""); !rocm.empty())
    part.details.push_back(fmt::format("ROCm {}", rocm));
  const Json agents = answer.value("gpus", Json::array());
  name_products(agents, gpus);
  part.state = agents.empty() ? State::unusable : State::works;
  if (!agents.empty()) return;
  part.problem = "it lists no GPU";
  part.remedy = "see to the amdgpu driver first";
}

Result<Json> ask_runtime(const Places& places, Part& part) {
  return ask(
      {.command = places.agents_command,
       .timeout = kRuntimeTimeout,
       .answer = "the runtime's answer",
       .remedy = "`rocminfo` shows the same; reinstall hsa-rocr, or see to the amdgpu driver"},
      part);
}

}  // namespace

int print_agents() {
  fmt::print("{}\n", agents_json().dump(-1, ' ', false, Json::error_handler_t::replace));
  std::fflush(stdout);
  return 0;
}

Result<Part> runtime_part(const Places& places, std::vector<Gpu>& gpus) {
  Part part{.need = Need::runtime, .title = "HSA runtime"};
  PERFLAB_TRY(const Json answer, ask_runtime(places, part));
  if (answer.is_object()) read_answer(answer, part, gpus);
  return part;
}

Result<RuntimeGpus> runtime_gpus(const Places& places) {
  RuntimeGpus found{.part = {.need = Need::runtime, .title = "HSA runtime"}};
  PERFLAB_TRY(const Json answer, ask_runtime(places, found.part));
  if (!answer.is_object()) return found;
  std::vector<Gpu> ignored;
  read_answer(answer, found.part, ignored);
  for (const Json& gpu : answer.value("gpus", Json::array()))
    found.isas.push_back(gpu.value("isa", ""));
  return found;
}

}  // namespace perflab::doctor
