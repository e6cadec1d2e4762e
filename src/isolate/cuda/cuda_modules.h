// Images of the modules that hold wanted kernels, as CUPTI showed them when they were loaded, and
// which loaded module each belongs to. Facts: docs/facts/cuda_cupti.md "Capture".
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "cuda/api.h"
#include "isolate/protocol/kernels.h"

namespace perflab::isolate {

/// Any thread.
class CudaModules {
 public:
  explicit CudaModules(const Kernels& kernels) : kernels_(kernels) {}

  /// An event of a module. An image without a wanted kernel is not kept.
  void loaded(cuda::Context context, const cuda::ModuleData& data);
  void unloading(const cuda::ModuleData& data);

  /// Around a call of the calling thread that may load a module: forgets what it loaded before;
  /// says that what it has loaded since is this module.
  static void forget_loads();
  void bind_loads(cuda::Module module);

  /// The image of a module that holds a kernel. Errors (refused): none was seen; several that
  /// differ were, and which one is the module's is not known.
  Result<std::shared_ptr<const std::string>> image_of(cuda::Context context, cuda::Module module,
                                                      const std::string& kernel) const;

 private:
  struct Image {
    cuda::Context context = nullptr;
    cuda::Module module = nullptr;    ///< null: not known
    std::set<std::string> kernels{};  ///< the wanted ones
    std::shared_ptr<const std::string> bytes{};
  };
  const Kernels& kernels_;
  mutable std::mutex mutex_;
  std::map<std::uint32_t, Image> images_;  ///< by the module's id in CUPTI
};

}  // namespace perflab::isolate
