// What librocm_perf_record.so exports. InitializeInjection: called by the CUDA driver inside cuInit
// (CUDA_INJECTION64_PATH). InitializeInjectionNvtx2: called by NVTX before a program's first range
// (NVTX_INJECTION64_PATH); CUPTI's own does the work, in the library that is really used.
// Facts: docs/facts/cuda_cupti.md "Injection, exit, forks".
#include <dlfcn.h>

#include <cstdlib>

#include "cuda/libraries.h"
#include "record/tool/recorder.h"
#include "record/tool/status.h"

namespace perflab::record {
namespace {

Recorder* injected = nullptr;

void at_exit() {
  if (injected != nullptr) injected->finish();
}

void initialize() {
  if (injected != nullptr) return;
  const Result<std::optional<Settings>> settings = settings_from_environment();
  if (!settings) return say_not_recorded({}, settings.error(), {});
  if (!*settings) return;
  auto* recorder = new Recorder(**settings);  // never deleted: see Recorder
  if (const Result<void> started = recorder->start(); !started)
    return say_not_recorded((*settings)->folder, started.error(), recorder->second_client());
  injected = recorder;
  std::atexit(at_exit);
  std::at_quick_exit(at_exit);
}

}  // namespace
}  // namespace perflab::record

extern "C" {

[[gnu::visibility("default")]] int InitializeInjection() {
  try {
    perflab::record::initialize();
  } catch (...) {
    return 1;  // no memory: the program goes on without a recording
  }
  return 1;
}

[[gnu::visibility("default")]] int InitializeInjectionNvtx2(void* get_export_table) {
  try {
    const perflab::cuda::CuptiLibrary cupti = perflab::cuda::open_cupti();
    if (cupti.problem != perflab::cuda::LibraryProblem::none) return 0;
    void* library = dlopen(cupti.path.c_str(), RTLD_NOW | RTLD_NOLOAD);
    void* function = library == nullptr ? nullptr : dlsym(library, "InitializeInjectionNvtx2");
    if (function == nullptr) return 0;
    return reinterpret_cast<int (*)(void*)>(function)(get_export_table);
  } catch (...) {
    return 0;
  }
}
}
