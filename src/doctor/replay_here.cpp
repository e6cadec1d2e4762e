// The rules are those of replay itself: the number (replay/hsa) and the ISA (replay/code_choice.h).
#include "doctor/replay_here.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "doctor/agents.h"
#include "doctor/cuda.h"
#include "replay/code_choice.h"
#include "replay/failures.h"

namespace perflab::doctor {

namespace {

Result<RuntimeGpus> cuda_gpus(const Places& places) {
  std::vector<Gpu> gpus;
  PERFLAB_TRY(std::vector<Part> parts, cuda_parts(places, gpus));
  RuntimeGpus found;
  found.part.problem = "no NVIDIA driver is installed";
  if (!parts.empty()) found.part = std::move(parts.front());
  for (const Gpu& gpu : gpus) found.isas.push_back(gpu.processor);
  return found;
}

}  // namespace

Result<report::ReplayHere> replay_here(const Places& places, const capture::Machine& machine) {
  const bool on_cuda = machine.platform == capture::Platform::cuda;
  PERFLAB_TRY(RuntimeGpus found, on_cuda ? cuda_gpus(places) : runtime_gpus(places));
  report::ReplayHere here{.problem = {}, .gpus = std::move(found.isas)};
  if (found.part.state != State::works)
    here.problem = found.part.problem;
  else if (machine.gpu_index >= here.gpus.size())
    here.problem = fmt::format("the capture is of GPU {}, and the last one here is GPU {}",
                               machine.gpu_index, here.gpus.size() - 1);
  else if (const auto fits = replay::check_isa(machine.isa, here.gpus[machine.gpu_index]); !fits)
    here.problem = replay::sentence_of(fits.error());
  return here;
}

}  // namespace perflab::doctor
