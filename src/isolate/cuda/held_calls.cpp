// Names of the driver's interface (cuda.h), without their version.
#include "isolate/cuda/held_calls.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace perflab::isolate {
namespace {

constexpr std::array<std::string_view, 27> kHeldPrefixes = {"cuLaunch",
                                                            "cuGraphLaunch",
                                                            "cuGraphUpload",
                                                            "cuMemcpy",
                                                            "cuMemset",
                                                            "cuMemFree",
                                                            "cuMemUnmap",
                                                            "cuMemHostUnregister",
                                                            "cuMemPrefetch",
                                                            "cuMemDiscard",
                                                            "cuMemBatch",
                                                            "cuMemPoolTrim",
                                                            "cuMemPoolDestroy",
                                                            "cuMemMapArrayAsync",
                                                            "cuStreamBatchMemOp",
                                                            "cuStreamWriteValue",
                                                            "cuStreamBeginCapture",
                                                            "cuStreamDestroy",
                                                            "cuSignalExternal",
                                                            "cuWaitExternal",
                                                            "cuIpcCloseMemHandle",
                                                            "cuDestroyExternalMemory",
                                                            "cuModuleUnload",
                                                            "cuLibraryUnload",
                                                            "cuCtxDestroy",
                                                            "cuDevicePrimaryCtxReset",
                                                            "cuDevicePrimaryCtxRelease"};

}  // namespace

HeldCalls::HeldCalls(const cuda::Cupti& cupti) {
  for (cuda::CallbackId id = 1; id < kMost; ++id) {
    const char* name = nullptr;
    if (cupti.get_callback_name(cuda::CallbackDomain::driver_api, id, &name) !=
            cuda::CuptiResult::success ||
        name == nullptr)
      continue;
    held_[id] = std::ranges::any_of(kHeldPrefixes, [text = std::string_view(name)](auto prefix) {
      return text.starts_with(prefix);
    });
  }
}

}  // namespace perflab::isolate
