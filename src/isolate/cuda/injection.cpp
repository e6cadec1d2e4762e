// What librocm_perf_isolate.so exports to the CUDA driver: InitializeInjection, called inside
// cuInit (CUDA_INJECTION64_PATH). Facts: docs/facts/cuda_cupti.md "Injection, exit, forks".
#include "isolate/cuda/cuda_tool.h"

namespace perflab::isolate {
namespace {

void start_in_cuda() {
  const auto process = process_state();
  if (!process || *process == nullptr) return;
  const auto started = CudaTool::start(**process);
  if (started)
    (*process)->status.say("hooked", {{"platform", capture::to_string(capture::Platform::cuda)}});
  else
    (*process)->status.say("unusable", {{"reason", started.error().message}});
}

}  // namespace
}  // namespace perflab::isolate

extern "C" [[gnu::visibility("default")]] int InitializeInjection() {
  try {
    perflab::isolate::start_in_cuda();
  } catch (...) {
    return 1;  // no memory: the program goes on
  }
  return 1;
}
