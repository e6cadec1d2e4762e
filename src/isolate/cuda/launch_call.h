// One launch as the driver's callback shows it, whichever call makes it: geometry, kernel,
// arguments. Facts: docs/facts/cuda_cupti.md "Capture".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/error.h"
#include "capture/model.h"
#include "cuda/api.h"

namespace perflab::isolate {

/// What a launch was given. Pointers are the caller's.
struct LaunchCall {
  cuda::Function function = nullptr;  ///< or a Kernel
  std::array<std::uint32_t, 3> grid{}, block{}, cluster{};
  std::uint32_t shared_bytes = 0;  ///< dynamic
  cuda::Stream stream = nullptr;
  bool cooperative = false;
  void** parameters = nullptr;
  void** extra = nullptr;
};

/// Whether a call of the driver launches one kernel.
bool is_launch(cuda::CallbackId id);

/// The launch that a callback shows; missing: it is none, or its parameters are not there.
std::optional<LaunchCall> launch_of(cuda::CallbackId id, const cuda::CallbackData& data);

/// The function and the module that a launch runs code of. Loads the module where the driver has
/// put that off.
struct LaunchedFunction {
  cuda::Function function = nullptr;
  cuda::Module module = nullptr;
};
/// Error (refused): a call of the driver fails.
Result<LaunchedFunction> function_of(const cuda::Driver& driver, cuda::Function launched);

/// The bytes of the parameter buffer.
struct Arguments {
  std::vector<std::byte> bytes;
  std::vector<capture::Parameter> parameters;
};
/// Copies a launch's arguments. Error (refused): the driver does not say where they lie, or they
/// make no sense.
Result<Arguments> arguments_of(const cuda::Driver& driver, const LaunchCall& call,
                               cuda::Function function);

/// "cuMemcpyDtoH answered 700 (CUDA_ERROR_ILLEGAL_ADDRESS)".
std::string failed_driver_call(const cuda::Driver& driver, const char* call,
                               cuda::DriverResult result);
/// Nothing, or failed_driver_call() as an error (refused).
Result<void> checked(const cuda::Driver& driver, const char* call, cuda::DriverResult result);

}  // namespace perflab::isolate
