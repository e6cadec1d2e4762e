// What librocm_perf_isolate.so exports: OnLoad, called inside the first hsa_init, and OnUnload,
// inside the last hsa_shut_down (docs/facts/hsa_runtime.md "Load and unload of tools").
#include "isolate/tool/tool_state.h"

// The runtime's side of the contract. It goes on without us whatever happens here; returning false
// would only unload the library.
extern "C" {

[[gnu::visibility("default")]] bool OnLoad(void* tables, std::uint64_t /*runtime_version*/,
                                           std::uint64_t /*failed_count*/,
                                           const char* const* /*failed_names*/) {
  try {
    if (tables != nullptr)
      perflab::isolate::load(*static_cast<const perflab::hsa::ApiTables*>(tables));
  } catch (...) {
    return true;  // no memory: nothing was hooked
  }
  return true;
}

// Everything was said when it happened. No call is possible any more.
[[gnu::visibility("default")]] void OnUnload() {}
}
