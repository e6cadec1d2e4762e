// Opening the driver and describing its GPU. Versions: cuDriverGetVersion for what programs see,
// /proc/driver/nvidia/version for the kernel module.
#include "replay/cuda/cuda_runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <span>
#include <sstream>
#include <utility>

#include "cuda/libraries.h"
#include "replay/addresses/address_plan.h"
#include "replay/failures.h"

namespace perflab::replay {
namespace {

constexpr const char* kInstall =
    "install NVIDIA's driver 525 or newer; rocm-perf doctor shows what is found";

/// What a replay cannot do without; the others are looked at where they are used.
constexpr std::array<std::string_view, 26> kEntries{"cuDevicePrimaryCtxRetain",
                                                    "cuMemAlloc_v2",
                                                    "cuMemFree_v2",
                                                    "cuMemHostAlloc",
                                                    "cuMemFreeHost",
                                                    "cuMemHostRegister_v2",
                                                    "cuMemHostUnregister",
                                                    "cuMemHostGetDevicePointer_v2",
                                                    "cuMemcpyHtoDAsync_v2",
                                                    "cuMemcpyDtoHAsync_v2",
                                                    "cuMemcpyDtoDAsync_v2",
                                                    "cuMemsetD8Async",
                                                    "cuMemAddressReserve",
                                                    "cuMemAddressFree",
                                                    "cuMemCreate",
                                                    "cuMemRelease",
                                                    "cuMemMap",
                                                    "cuMemSetAccess",
                                                    "cuModuleLoadData",
                                                    "cuModuleGetFunction",
                                                    "cuModuleGetGlobal_v2",
                                                    "cuFuncGetAttribute",
                                                    "cuFuncGetParamInfo",
                                                    "cuLaunchKernelEx",
                                                    "cuStreamCreate",
                                                    "cuStreamQuery"};

/// The kernel module's version: the last word with a dot in the file's first line's "NVRM version:
/// NVIDIA UNIX x86_64 Kernel Module  580.159.04  Release Build ...".
std::string module_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  std::istringstream words(line);
  for (std::string word; words >> word;)
    if (!word.empty() && word.find_first_not_of("0123456789.") == std::string::npos) return word;
  return {};
}

}  // namespace

Result<CudaRuntime> CudaRuntime::open() {
  const cuda::DriverLibrary library = cuda::open_driver();
  if (library.problem != cuda::LibraryProblem::none)
    return fail(Failure::no_runtime, library.detail, kInstall);
  const std::span<const cuda::EntryName> names = cuda::driver_entries();
  std::vector<void*> entries(names.size());
  static_assert(sizeof(cuda::Driver) % sizeof(void*) == 0);
  std::memcpy(static_cast<void*>(entries.data()), &library.api, sizeof(cuda::Driver));
  for (std::size_t i = 0; i < names.size(); ++i)
    if (entries[i] == nullptr && std::ranges::find(kEntries, names[i].name) != kEntries.end())
      return fail(Failure::no_runtime, fmt::format("{} has no {}", library.path, names[i].name),
                  kInstall);
  CudaRuntime runtime;
  runtime.driver_ = library.api;
  return runtime;
}

CudaRuntime::CudaRuntime(CudaRuntime&& other) noexcept
    : driver_(other.driver_),
      device_(other.device_),
      context_(std::exchange(other.context_, nullptr)),
      facts_(std::move(other.facts_)) {}

CudaRuntime::~CudaRuntime() {
  if (context_ != nullptr && driver_.primary_context_release != nullptr)
    driver_.primary_context_release(device_);
}

std::string CudaRuntime::text_of(cuda::DriverResult answer) const {
  const char* name = nullptr;
  const auto number = static_cast<std::uint32_t>(answer);
  if (driver_.get_error_name == nullptr ||
      driver_.get_error_name(answer, &name) != cuda::DriverResult::success || name == nullptr)
    return fmt::format("{}", number);
  return fmt::format("{} ({})", name, number);
}

Result<void> CudaRuntime::check(cuda::DriverResult answer, std::string_view call) const {
  if (answer == cuda::DriverResult::success) return {};
  return fail(Failure::cuda_call_failed, fmt::format("{} answered {}", call, text_of(answer)),
              "rocm-perf doctor replay says what of this machine works");
}

Result<void> CudaRuntime::start(std::uint32_t gpu_index) {
  const cuda::DriverResult initialised = driver_.init(0);
  if (initialised == cuda::DriverResult::no_device)
    return fail(Failure::no_gpu, "the CUDA driver sees no GPU",
                "check CUDA_VISIBLE_DEVICES, and nvidia-smi");
  PERFLAB_TRY_VOID(check(initialised, "cuInit(0)"));
  int count = 0;
  PERFLAB_TRY_VOID(check(driver_.device_get_count(&count), "cuDeviceGetCount()"));
  if (gpu_index >= static_cast<std::uint32_t>(std::max(count, 0)))
    return fail(Failure::no_gpu,
                fmt::format("the capture is of GPU {}, and the CUDA driver sees {}", gpu_index,
                            count == 1 ? "one" : fmt::format("{}", count)),
                "check CUDA_VISIBLE_DEVICES, or replay on a machine with as many GPUs");
  PERFLAB_TRY_VOID(check(driver_.device_get(&device_, static_cast<int>(gpu_index)),
                         fmt::format("cuDeviceGet({})", gpu_index)));
  return describe();
}

Result<int> CudaRuntime::attribute(cuda::DeviceAttribute which) const {
  int value = 0;
  PERFLAB_TRY_VOID(check(driver_.device_get_attribute(&value, which, device_),
                         fmt::format("cuDeviceGetAttribute({})", static_cast<unsigned>(which))));
  return value;
}

Result<void> CudaRuntime::describe() {
  PERFLAB_TRY(const int major, attribute(cuda::DeviceAttribute::compute_capability_major));
  PERFLAB_TRY(const int minor, attribute(cuda::DeviceAttribute::compute_capability_minor));
  facts_.isa = facts_.agent_name = fmt::format("sm_{}{}", major, minor);
  constexpr int kLongest = 256;
  std::string name(kLongest, '\0');
  if (driver_.device_get_name(name.data(), kLongest, device_) == cuda::DriverResult::success)
    facts_.product_name = name.c_str();
  std::string address(kLongest, '\0');
  if (driver_.device_get_pci_bus_id(address.data(), kLongest, device_) ==
      cuda::DriverResult::success) {
    std::ranges::transform(address, address.begin(), [](unsigned char letter) {
      return static_cast<char>(std::tolower(letter));
    });
    facts_.pci_address = address.c_str();
  }
  int version = 0;
  PERFLAB_TRY_VOID(check(driver_.driver_get_version(&version), "cuDriverGetVersion()"));
  facts_.runtime_version = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
  facts_.driver_version = module_version();
  facts_.granule = kCudaGranules.device;
  facts_.host_granule = kCudaGranules.host;
  return {};
}

Result<void> CudaRuntime::make_context() {
  PERFLAB_TRY_VOID(check(driver_.primary_context_retain(&context_, device_),
                         fmt::format("cuDevicePrimaryCtxRetain({})", device_)));
  return check(driver_.context_set_current(context_), "cuCtxSetCurrent()");
}

}  // namespace perflab::replay
