// Modules, libraries and functions of the stand-in driver. A handle of a kernel of a library is
// none of a function: calls that want one refuse the other, as the real driver does.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cuda_sim/cubin_image.h"
#include "cuda_sim/machine.h"

namespace perflab::cuda_sim {

struct ModuleState;

/// A function: described by a program, or of a module. Never freed.
struct FunctionState {
  bool is_function = true;  ///< else one of KernelState's
  KernelDescription kernel;
  std::atomic<bool> loaded = false;
  ModuleState* module = nullptr;
  const ImageKernel* image = nullptr;
  std::string name;
  std::atomic<int> max_dynamic_shared = 48 * 1024;
  std::atomic<int> carveout = -1;
};

struct LibraryState;

/// A kernel of a library (CUkernel); begins as a function does.
struct KernelState {
  bool is_function = false;
  LibraryState* library = nullptr;
  std::string name;
};

struct ModuleState {
  std::uint32_t id = 0;
  CubinImage image;
  std::map<std::string, std::unique_ptr<FunctionState>> functions;
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> variables;  ///< address, bytes
  void* library = nullptr;  ///< of the image, opened
  std::uint64_t block = 0, block_bytes = 0;
};

struct LibraryState {
  std::string bytes;
  std::map<std::string, std::unique_ptr<KernelState>> kernels;
  ModuleState* module = nullptr;  ///< when it was needed
};

/// The function that a launch's handle stands for; a kernel's library is loaded. Null: none.
FunctionState* function_of(cuda::Function handle);

/// Copies a launch's arguments (one of the two is null). False: they do not fit the function.
bool take_arguments(const FunctionState& function, void** parameters, void** extra,
                    std::vector<std::byte>& buffer);

/// What a launch of a function with an image does; null for others.
Body body_of_launch(FunctionState& function, const Launch& shape, std::vector<std::byte> arguments);

}  // namespace perflab::cuda_sim
