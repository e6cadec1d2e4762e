// The runtime's launches pass a Kernel where a Function is declared, for which cuFuncGetName
// answers CUDA_ERROR_INVALID_HANDLE: docs/facts/cuda_cupti.md "Capture".
#include "isolate/cuda/launch_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cuda/launch_parameters.h"

namespace perflab::isolate {
namespace {

namespace calls = cuda::driver_call;

constexpr std::size_t kMostParameters = 4096;
constexpr std::size_t kMostArgumentBytes = std::size_t{1} << 16;  // the driver's own limit is lower
constexpr std::size_t kMostExtra = 16;

template <class Shape>
void take_shape(const Shape& from, LaunchCall& into) {
  std::ranges::copy(from.grid, into.grid.begin());
  std::ranges::copy(from.block, into.block.begin());
  into.shared_bytes = from.shared_bytes;
  into.stream = from.stream;
}

LaunchCall extended_launch(const cuda::LaunchKernelExParameters& given) {
  LaunchCall call{.function = given.function};
  take_shape(*given.config, call);
  call.parameters = given.parameters;
  call.extra = given.extra;
  for (std::uint32_t i = 0; i < given.config->attribute_count; ++i) {
    const cuda::LaunchAttribute& attribute = given.config->attributes[i];
    if (attribute.id == cuda::LaunchAttributeId::cooperative)
      call.cooperative = attribute.value.cooperative != 0;
    if (attribute.id == cuda::LaunchAttributeId::cluster_dimension)
      std::ranges::copy(attribute.value.cluster, call.cluster.begin());
  }
  return call;
}

/// The buffer that `extra` names; missing: it names none.
std::optional<std::pair<const std::byte*, std::size_t>> buffer_of(void** extra) {
  const std::byte* buffer = nullptr;
  std::size_t size = 0;
  for (std::size_t i = 0; i < kMostExtra; i += 2) {
    const auto word = reinterpret_cast<std::uintptr_t>(extra[i]);
    if (word == cuda::launch_parameter::end) break;
    if (word == cuda::launch_parameter::buffer_pointer)
      buffer = static_cast<const std::byte*>(extra[i + 1]);
    else if (word == cuda::launch_parameter::buffer_size)
      size = *static_cast<const std::size_t*>(extra[i + 1]);
    else
      return std::nullopt;
  }
  if (buffer == nullptr) return std::nullopt;
  return std::pair(buffer, size);
}

Result<std::vector<capture::Parameter>> parameters_of(const cuda::Driver& driver,
                                                      cuda::Function function) {
  if (driver.function_get_parameter == nullptr)
    return fail(ErrorCode::refused, "the driver has no cuFuncGetParamInfo: it is older than 12.4");
  std::vector<capture::Parameter> out;
  for (std::size_t i = 0; i < kMostParameters; ++i) {
    std::size_t offset = 0, size = 0;
    const cuda::DriverResult answer = driver.function_get_parameter(function, i, &offset, &size);
    if (answer == cuda::DriverResult::invalid_value) return out;
    PERFLAB_TRY_VOID(checked(driver, "cuFuncGetParamInfo", answer));
    if (offset > kMostArgumentBytes || size > kMostArgumentBytes) break;
    out.push_back(
        {.offset = static_cast<std::uint32_t>(offset), .size = static_cast<std::uint32_t>(size)});
  }
  return fail(ErrorCode::refused, "the kernel's parameters make no sense");
}

}  // namespace

bool is_launch(cuda::CallbackId id) {
  return id == calls::launch_kernel || id == calls::launch_kernel_ptsz ||
         id == calls::launch_cooperative_kernel || id == calls::launch_cooperative_kernel_ptsz ||
         id == calls::launch_kernel_ex || id == calls::launch_kernel_ex_ptsz;
}

std::optional<LaunchCall> launch_of(cuda::CallbackId id, const cuda::CallbackData& data) {
  if (data.function_parameters == nullptr || !is_launch(id)) return std::nullopt;
  const bool extended = id == calls::launch_kernel_ex || id == calls::launch_kernel_ex_ptsz;
  const bool cooperative =
      id == calls::launch_cooperative_kernel || id == calls::launch_cooperative_kernel_ptsz;
  LaunchCall call;
  if (extended) {
    const auto& given =
        *static_cast<const cuda::LaunchKernelExParameters*>(data.function_parameters);
    if (given.config == nullptr) return std::nullopt;
    call = extended_launch(given);
  } else {
    const auto& given = *static_cast<const cuda::LaunchKernelParameters*>(data.function_parameters);
    call.function = given.function;
    take_shape(given, call);
    call.parameters = given.parameters;
    call.cooperative = cooperative;
    if (!cooperative) call.extra = given.extra;
  }
  const bool per_thread = id == calls::launch_kernel_ptsz || id == calls::launch_kernel_ex_ptsz ||
                          id == calls::launch_cooperative_kernel_ptsz;
  if (per_thread && call.stream == nullptr) call.stream = cuda::per_thread_stream();
  return call;
}

Result<LaunchedFunction> function_of(const cuda::Driver& driver, cuda::Function launched) {
  LaunchedFunction found{.function = launched};
  const char* name = nullptr;
  if (driver.function_get_name == nullptr ||
      driver.function_get_name(&name, launched) != cuda::DriverResult::success) {
    if (driver.kernel_get_function == nullptr)
      return fail(ErrorCode::refused, "the driver has no cuKernelGetFunction");
    PERFLAB_TRY_VOID(checked(
        driver, "cuKernelGetFunction",
        driver.kernel_get_function(&found.function, reinterpret_cast<cuda::Kernel>(launched))));
  }
  if (driver.function_get_module == nullptr)
    return fail(ErrorCode::refused, "the driver has no cuFuncGetModule");
  PERFLAB_TRY_VOID(checked(driver, "cuFuncGetModule",
                           driver.function_get_module(&found.module, found.function)));
  return found;
}

Result<Arguments> arguments_of(const cuda::Driver& driver, const LaunchCall& call,
                               cuda::Function function) {
  Arguments out;
  PERFLAB_TRY(out.parameters, parameters_of(driver, function));
  std::size_t end = 0;
  for (const capture::Parameter& one : out.parameters)
    end = std::max(end, std::size_t{one.offset} + one.size);
  out.bytes.resize(end);
  if (end == 0) return out;
  if (call.parameters != nullptr) {
    for (std::size_t i = 0; i < out.parameters.size(); ++i)
      std::memcpy(out.bytes.data() + out.parameters[i].offset, call.parameters[i],
                  out.parameters[i].size);
    return out;
  }
  const auto buffer = call.extra == nullptr ? std::nullopt : buffer_of(call.extra);
  if (!buffer || buffer->second < end)
    return fail(
        ErrorCode::refused,
        fmt::format("the launch passes fewer than the kernel's {} bytes of arguments", end));
  std::memcpy(out.bytes.data(), buffer->first, end);
  return out;
}

std::string failed_driver_call(const cuda::Driver& driver, const char* call,
                               cuda::DriverResult result) {
  const char* name = nullptr;
  if (driver.get_error_name == nullptr ||
      driver.get_error_name(result, &name) != cuda::DriverResult::success || name == nullptr)
    return fmt::format("{} answered {}", call, static_cast<std::uint32_t>(result));
  return fmt::format("{} answered {} ({})", call, static_cast<std::uint32_t>(result), name);
}

Result<void> checked(const cuda::Driver& driver, const char* call, cuda::DriverResult result) {
  if (result == cuda::DriverResult::success) return {};
  return fail(ErrorCode::refused, failed_driver_call(driver, call, result));
}

}  // namespace perflab::isolate
