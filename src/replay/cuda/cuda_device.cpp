// What holds the parts together: driver, memory, module, timer. The order of events is device.h's:
// placing, contents, loading, launches.
#include "replay/cuda/cuda_device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "code/cubin/cubin.h"
#include "replay/cuda/cuda_addresses.h"
#include "replay/cuda/cuda_memory.h"
#include "replay/cuda/cuda_timer.h"
#include "replay/cuda/cuda_trap.h"
#include "replay/failures.h"

namespace perflab::replay {
namespace {

/// Names of kernels that an error lists at most.
constexpr std::size_t kMostCudaKernels = 10;

cuda::Function function_at(std::uint64_t object) {
  return reinterpret_cast<cuda::Function>(object);
}

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(CudaSpace space)
      : runtime_(std::move(space.runtime)),
        memory_(runtime_, std::move(space.reservations)),
        timer_(runtime_),
        trap_(runtime_.driver(), runtime_.device()) {}
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice(CudaDevice&&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;
  CudaDevice& operator=(CudaDevice&&) = delete;
  ~CudaDevice() override {
    // What hangs or has failed would take the calls that give things back with it.
    if (lost_) {
      timer_.abandon();
      trap_.abandon();
      memory_.abandon();
      runtime_.abandon();
      return;
    }
    if (module_ != nullptr) runtime_.driver().module_unload(module_);
    if (stream_ != nullptr) runtime_.driver().stream_destroy(stream_);
  }

  Result<void> open() {
    constexpr std::uint32_t kNonBlocking = 1;
    PERFLAB_TRY_VOID(runtime_.check(runtime_.driver().stream_create(&stream_, kNonBlocking),
                                    "cuStreamCreate()"));
    PERFLAB_TRY_VOID(memory_.open(stream_));
    return timer_.open(stream_);
  }

  [[nodiscard]] const DeviceFacts& facts() const override { return runtime_.facts(); }
  Result<void> place(const FixedRange& range) override {
    PERFLAB_TRY_VOID(usable());
    return memory_.place(range);
  }
  Result<std::optional<std::uint64_t>> allocate(std::uint64_t bytes) override {
    PERFLAB_TRY_VOID(usable());
    return memory_.allocate(bytes);
  }
  Result<void> write(std::uint64_t address, std::span<const std::byte> bytes) override {
    PERFLAB_TRY_VOID(usable());
    return memory_.write(address, bytes);
  }
  Result<void> read(std::uint64_t address, std::span<std::byte> bytes) override {
    PERFLAB_TRY_VOID(usable());
    return memory_.read(address, bytes);
  }
  Result<void> zero(std::uint64_t address, std::uint64_t bytes) override {
    PERFLAB_TRY_VOID(usable());
    return memory_.zero(address, bytes);
  }
  Result<void> copy(std::span<const CopyRun> runs) override {
    PERFLAB_TRY_VOID(usable());
    return memory_.copy(runs);
  }

  Result<void> load(std::span<const std::byte> code_object) override;
  Result<LoadedKernel> kernel(const std::string& name) override;
  Result<std::optional<std::uint64_t>> variable(const std::string& name,
                                                std::uint64_t bytes) override;
  Result<Dirtied> dirty(const Launch& next, std::uint64_t seed) override {
    PERFLAB_TRY_VOID(usable());
    auto dirtied = trap_.dirty(stream_, next, seed);
    lost_ = !dirtied;
    return dirtied;
  }
  Result<Nanos> run(const Launch& launch, Nanos limit) override;

  [[nodiscard]] std::vector<std::string> notes() const override {
    std::vector<std::string> notes = memory_.notes();
    if (!timer_.events_because().empty()) notes.push_back(timer_.events_because());
    return notes;
  }

 private:
  [[nodiscard]] Result<void> usable() const {
    if (!lost_) return {};
    return fail(Failure::kernel_fault, "the GPU was lost in an earlier launch",
                "run it again in a process of its own");
  }
  [[nodiscard]] Result<int> attribute(cuda::Function function, cuda::FunctionAttribute which,
                                      const char* name) const {
    int value = 0;
    PERFLAB_TRY_VOID(
        runtime_.check(runtime_.driver().function_get_attribute(&value, which, function),
                       fmt::format("cuFuncGetAttribute({})", name)));
    return value;
  }
  Result<void> set_attributes(const Launch& launch, std::uint32_t dynamic_bytes);
  Result<void> submit(const Launch& launch, std::uint32_t dynamic_bytes);
  Result<void> wait(Nanos limit);
  std::unexpected<Error> kernel_failed(cuda::DriverResult answer);
  Result<void> drain();

  CudaRuntime runtime_;
  CudaMemory memory_;
  CudaTimer timer_;
  CudaTrap trap_;
  cuda::Stream stream_ = nullptr;
  cuda::Module module_ = nullptr;
  std::vector<std::byte> image_;
  bool lost_ = false;
};

Result<void> CudaDevice::load(std::span<const std::byte> code_object) {
  PERFLAB_TRY_VOID(usable());
  if (module_ != nullptr)
    PERFLAB_TRY_VOID(runtime_.check(runtime_.driver().module_unload(module_), "cuModuleUnload()"));
  module_ = nullptr;
  image_.assign(code_object.begin(), code_object.end());
  return runtime_.check(runtime_.driver().module_load_data(&module_, image_.data()),
                        fmt::format("cuModuleLoadData({} bytes)", image_.size()));
}

Result<LoadedKernel> CudaDevice::kernel(const std::string& name) {
  PERFLAB_TRY_VOID(usable());
  PERFLAB_CHECK(module_ != nullptr);
  const cuda::Driver& driver = runtime_.driver();
  cuda::Function function = nullptr;
  const cuda::DriverResult answer = driver.module_get_function(&function, module_, name.c_str());
  if (answer == cuda::DriverResult::not_found) {
    std::vector<std::string> names;
    const auto cubin = code::read_cubin(
        {reinterpret_cast<const char*>(image_.data()), image_.size()}, "the module");
    if (cubin)
      for (const code::CubinKernel& one : cubin->kernels) names.push_back(one.name);
    std::ranges::sort(names);
    const std::size_t all = names.size();
    names.resize(std::min(all, kMostCudaKernels));
    return fail(
        Failure::kernel_not_found, fmt::format("the module has no kernel {}", name),
        fmt::format("it has: {}{}", fmt::join(names, ", "),
                    all > names.size() ? fmt::format(", and {} more", all - names.size()) : ""));
  }
  PERFLAB_TRY_VOID(runtime_.check(answer, fmt::format("cuModuleGetFunction({})", name)));
  LoadedKernel loaded;
  loaded.object = reinterpret_cast<std::uint64_t>(function);
  std::size_t offset = 0, bytes = 0;
  for (std::size_t i = 0;; ++i) {
    if (driver.function_get_parameter(function, i, &offset, &bytes) != cuda::DriverResult::success)
      break;
    loaded.kernarg_bytes =
        std::max(loaded.kernarg_bytes, static_cast<std::uint32_t>(offset + bytes));
  }
  PERFLAB_TRY(const int shared,
              attribute(function, cuda::FunctionAttribute::shared_bytes, "SHARED_SIZE_BYTES"));
  PERFLAB_TRY(const int local,
              attribute(function, cuda::FunctionAttribute::local_bytes, "LOCAL_SIZE_BYTES"));
  loaded.group_segment_bytes = static_cast<std::uint32_t>(shared);
  loaded.private_segment_bytes = static_cast<std::uint32_t>(local);
  return loaded;
}

Result<std::optional<std::uint64_t>> CudaDevice::variable(const std::string& name,
                                                          std::uint64_t bytes) {
  PERFLAB_TRY_VOID(usable());
  PERFLAB_CHECK(module_ != nullptr);
  const std::optional<std::uint64_t> none;
  cuda::DevicePointer address = 0;
  std::size_t size = 0;
  const cuda::DriverResult answer =
      runtime_.driver().module_get_global(&address, &size, module_, name.c_str());
  if (answer == cuda::DriverResult::not_found) return none;
  PERFLAB_TRY_VOID(runtime_.check(answer, fmt::format("cuModuleGetGlobal({})", name)));
  return size == bytes ? std::optional(address) : none;
}

Result<void> CudaDevice::set_attributes(const Launch& launch, std::uint32_t dynamic_bytes) {
  using enum cuda::FunctionAttribute;
  cuda::Function function = function_at(launch.kernel_object);
  const capture::CudaLaunch captured = launch.cuda.value_or(capture::CudaLaunch{});
  const auto set = [&](cuda::FunctionAttribute which, int value, const char* name) {
    return runtime_.check(runtime_.driver().function_set_attribute(function, which, value),
                          fmt::format("cuFuncSetAttribute({}, {})", name, value));
  };
  PERFLAB_TRY(const int most,
              attribute(function, max_dynamic_shared_bytes, "MAX_DYNAMIC_SHARED_SIZE_BYTES"));
  if (dynamic_bytes > static_cast<std::uint32_t>(std::max(most, 0)))
    PERFLAB_TRY_VOID(set(max_dynamic_shared_bytes, static_cast<int>(dynamic_bytes),
                         "MAX_DYNAMIC_SHARED_SIZE_BYTES"));
  PERFLAB_TRY(const int carveout,
              attribute(function, preferred_shared_carveout, "PREFERRED_SHARED_MEMORY_CARVEOUT"));
  if (captured.shared_carveout != carveout)
    PERFLAB_TRY_VOID(set(preferred_shared_carveout, captured.shared_carveout,
                         "PREFERRED_SHARED_MEMORY_CARVEOUT"));
  constexpr std::uint32_t kPortableCluster = 8;  // blocks
  if (captured.cluster[0] * captured.cluster[1] * captured.cluster[2] > kPortableCluster)
    PERFLAB_TRY_VOID(
        set(non_portable_cluster_size_allowed, 1, "NON_PORTABLE_CLUSTER_SIZE_ALLOWED"));
  return {};
}

Result<void> CudaDevice::submit(const Launch& launch, std::uint32_t dynamic_bytes) {
  std::vector<cuda::LaunchAttribute> attributes;
  const capture::CudaLaunch captured = launch.cuda.value_or(capture::CudaLaunch{});
  if (captured.cluster[0] != 0) {
    cuda::LaunchAttribute one{};
    one.id = cuda::LaunchAttributeId::cluster_dimension;
    std::ranges::copy(captured.cluster, one.value.cluster);
    attributes.push_back(one);
  }
  if (captured.cooperative) {
    cuda::LaunchAttribute one{};
    one.id = cuda::LaunchAttributeId::cooperative;
    one.value.cooperative = 1;
    attributes.push_back(one);
  }
  cuda::LaunchConfiguration shape{};
  for (std::size_t i = 0; i < 3; ++i) {
    shape.block[i] = launch.workgroup[i];
    shape.grid[i] = static_cast<std::uint32_t>(launch.grid[i] / launch.workgroup[i]);
  }
  shape.shared_bytes = dynamic_bytes;
  shape.stream = stream_;
  shape.attributes = attributes.data();
  shape.attribute_count = static_cast<std::uint32_t>(attributes.size());
  std::vector<std::byte> arguments = launch.arguments;
  std::size_t bytes = arguments.size();
  // NOLINTBEGIN(performance-no-int-to-ptr)
  void* extra[] = {reinterpret_cast<void*>(cuda::launch_parameter::buffer_pointer),
                   arguments.data(), reinterpret_cast<void*>(cuda::launch_parameter::buffer_size),
                   &bytes, nullptr};
  // NOLINTEND(performance-no-int-to-ptr)
  return runtime_.check(
      runtime_.driver().launch_kernel_ex(&shape, function_at(launch.kernel_object), nullptr,
                                         bytes == 0 ? nullptr : static_cast<void**>(extra)),
      fmt::format("cuLaunchKernelEx({} blocks of {} threads, {} bytes of dynamic shared memory)",
                  fmt::join(shape.grid, " x "), fmt::join(shape.block, " x "), dynamic_bytes));
}

std::unexpected<Error> CudaDevice::kernel_failed(cuda::DriverResult answer) {
  lost_ = true;
  return fail(
      Failure::kernel_fault,
      fmt::format("the CUDA driver reported {} while the kernel ran", runtime_.text_of(answer)),
      "rocm-perf capture check says whether memory is missing from the capture");
}

Result<void> CudaDevice::wait(Nanos limit) {
  const auto begin = std::chrono::steady_clock::now();
  const auto deadline = begin + std::chrono::nanoseconds(limit.value);
  for (;;) {
    const cuda::DriverResult answer = runtime_.driver().stream_query(stream_);
    if (answer == cuda::DriverResult::success) return {};
    if (answer != cuda::DriverResult::not_ready) return kernel_failed(answer);
    const auto now = std::chrono::steady_clock::now();
    if (now > deadline) {
      lost_ = true;
      return fail(
          Failure::timed_out,
          fmt::format("the launch did not end within {} s", static_cast<double>(limit.value) / 1e9),
          "give it longer with --time-limit");
    }
    // Short kernels are looked at all the time, long ones leave the processor to others.
    if (now - begin > std::chrono::milliseconds(1))
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

/// What was written before has to be there, and its time is not the kernel's.
Result<void> CudaDevice::drain() {
  return wait(Nanos{std::chrono::nanoseconds(kCopyLimit).count()});
}

Result<Nanos> CudaDevice::run(const Launch& launch, Nanos limit) {
  PERFLAB_TRY_VOID(usable());
  cuda::Function function = function_at(launch.kernel_object);
  PERFLAB_TRY(const int shared,
              attribute(function, cuda::FunctionAttribute::shared_bytes, "SHARED_SIZE_BYTES"));
  const std::uint32_t dynamic =
      launch.group_segment_bytes -
      std::min(launch.group_segment_bytes, static_cast<std::uint32_t>(std::max(shared, 0)));
  PERFLAB_TRY_VOID(set_attributes(launch, dynamic));
  PERFLAB_TRY_VOID(drain());
  PERFLAB_TRY_VOID(timer_.before(stream_));
  PERFLAB_TRY_VOID(submit(launch, dynamic));
  PERFLAB_TRY_VOID(timer_.behind(stream_));
  PERFLAB_TRY_VOID(wait(limit));
  return timer_.time();
}

}  // namespace

Result<std::unique_ptr<Device>> open_cuda_device(const capture::Description& description,
                                                 const CudaOptions& options) {
  PERFLAB_TRY(const AddressPlan plan, plan_addresses(description, kCudaGranules));
  PERFLAB_TRY(CudaSpace space, open_cuda_space(plan, description.machine.gpu_index,
                                               description.machine.isa, options.may_restart));
  std::optional<CudaReservation> missing;
  for (const CudaReservation& one : space.reservations)
    if (!one.exact() && !one.envelope.optional && !missing) missing = one;
  auto device = std::make_unique<CudaDevice>(std::move(space));
  if (missing) return reservation_failed(*missing);
  PERFLAB_TRY_VOID(device->open());
  return device;
}

}  // namespace perflab::replay
