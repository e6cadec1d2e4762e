// CUPTI gives records in buffers, to functions without a place for data of ours: what they carry is
// kept here, for the one device of a process.
#include "replay/cuda/cuda_timer.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "cuda/libraries.h"
#include "replay/cuda/cuda_trap.h"
#include "replay/failures.h"

namespace perflab::replay {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{256} << 10U, kAlignment = 8;
/// How long a record of work that has ended may take to come: 0.2 to 12 ms were seen.
constexpr std::chrono::milliseconds kLatestRecord{2000};

/// What the names of our kernels begin with, but for those of the trap.
constexpr std::string_view kOwnKernels = "perflab_", kProbe = "perflab_probe";
constexpr const char* kProbePtx =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry perflab_probe()\n.maxntid 32, 1, 1\n{\n  ret;\n}\n";

/// Of CUPTI in this process. Never freed: its threads may come late.
struct Records {
  cuda::CuptiLibrary library;
  std::mutex lock;
  std::vector<Nanos> times;  ///< of kernels that ended, since they were last taken
  bool probed = false;       ///< the probe's record came
};
Records& records() {
  static auto* all = new Records;
  return *all;
}

void request_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, kBufferBytes));
  *bytes = *buffer == nullptr ? 0 : kBufferBytes;
  *max_records = 0;
}

void complete_buffer(cuda::Context, std::uint32_t, std::uint8_t* buffer, std::size_t,
                     std::size_t valid_bytes) {
  Records& all = records();
  cuda::Record* record = nullptr;
  while (all.library.api.activity_get_next_record(buffer, valid_bytes, &record) ==
         cuda::CuptiResult::success) {
    if (record->kind != cuda::ActivityKind::concurrent_kernel) continue;
    const auto& kernel = *reinterpret_cast<const cuda::KernelRecord*>(record);
    if (kernel.end == 0 || kernel.end < kernel.start) continue;
    // Records of kernels of ours (copies, the trap for left memory) may come late.
    const std::string_view name = kernel.name == nullptr ? "" : kernel.name;
    const std::lock_guard held(all.lock);
    if (name == kProbe) all.probed = true;
    if (name.starts_with(kOwnKernels) || name.starts_with(kTrapKernels)) continue;
    all.times.push_back(Nanos{static_cast<std::int64_t>(kernel.end - kernel.start)});
  }
  std::free(buffer);
}

std::optional<Nanos> last_time() {
  Records& all = records();
  const std::lock_guard held(all.lock);
  return all.times.empty() ? std::nullopt : std::optional(all.times.back());
}

}  // namespace

CudaTimer::~CudaTimer() {
  if (abandoned_) return;
  if (records_) records().library.api.activity_disable(cuda::ActivityKind::concurrent_kernel);
  for (cuda::Event event : {first_, last_})
    if (event != nullptr) runtime_.driver().event_destroy(event);
}

std::string CudaTimer::open_records() {
  Records& all = records();
  if (all.library.problem != cuda::LibraryProblem::none) {
    all.library = cuda::open_cupti();
    if (all.library.problem != cuda::LibraryProblem::none) return all.library.detail;
    const cuda::CuptiResult registered =
        all.library.api.activity_register_callbacks(&request_buffer, &complete_buffer);
    if (registered != cuda::CuptiResult::success) {
      all.library.problem = cuda::LibraryProblem::missing_entry;
      return fmt::format("cuptiActivityRegisterCallbacks answered {}",
                         cuda::result_name(all.library.api, registered));
    }
  }
  const cuda::CuptiResult enabled =
      all.library.api.activity_enable(cuda::ActivityKind::concurrent_kernel);
  if (enabled != cuda::CuptiResult::success)
    return fmt::format("cuptiActivityEnable(kernels) answered {}",
                       cuda::result_name(all.library.api, enabled));
  records_ = true;
  return {};
}

std::string CudaTimer::probe(cuda::Stream stream) {
  const cuda::Driver& driver = runtime_.driver();
  cuda::Module module = nullptr;
  cuda::Function function = nullptr;
  constexpr auto kSuccess = cuda::DriverResult::success;
  // A driver that does not take it says nothing about records.
  if (driver.module_load_data(&module, kProbePtx) != kSuccess) return {};
  const bool launched =
      driver.module_get_function(&function, module, kProbe.data()) == kSuccess &&
      driver.launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr) == kSuccess &&
      driver.context_synchronize() == kSuccess;
  const auto deadline = std::chrono::steady_clock::now() + kLatestRecord;
  bool came = !launched;
  while (!came && std::chrono::steady_clock::now() < deadline) {
    records().library.api.activity_flush_all(cuda::flush_forced);
    const std::lock_guard held(records().lock);
    came = records().probed;
  }
  driver.module_unload(module);
  return came ? "" : "CUPTI gave no record of a kernel that had ended";
}

Result<void> CudaTimer::open(cuda::Stream stream) {
  std::string why = open_records();
  if (why.empty()) why = probe(stream);
  records_ = why.empty();
  if (!records_)
    events_because_ = fmt::format(
        "GPU times are those of a pair of events, 3 to 7 us more than the kernel takes, and noisy: "
        "{}",
        why);
  for (cuda::Event* const event : {&first_, &last_})
    PERFLAB_TRY_VOID(runtime_.check(runtime_.driver().event_create(event, 0), "cuEventCreate()"));
  return {};
}

Result<void> CudaTimer::before(cuda::Stream stream) {
  if (!records_)
    return runtime_.check(runtime_.driver().event_record(first_, stream), "cuEventRecord()");
  records().library.api.activity_flush_all(cuda::flush_forced);
  const std::lock_guard held(records().lock);
  records().times.clear();
  return {};
}

Result<void> CudaTimer::behind(cuda::Stream stream) {
  if (records_) return {};
  return runtime_.check(runtime_.driver().event_record(last_, stream), "cuEventRecord()");
}

Result<Nanos> CudaTimer::time_of_events() const {
  float milliseconds = 0;
  PERFLAB_TRY_VOID(runtime_.check(
      runtime_.driver().event_elapsed_time(&milliseconds, first_, last_), "cuEventElapsedTime()"));
  constexpr double kNanoseconds = 1e6;
  return Nanos{std::llround(static_cast<double>(milliseconds) * kNanoseconds)};
}

Result<Nanos> CudaTimer::time() {
  if (!records_) return time_of_events();
  const auto deadline = std::chrono::steady_clock::now() + kLatestRecord;
  for (;;) {
    records().library.api.activity_flush_all(cuda::flush_forced);
    if (const auto time = last_time()) return *time;
    if (std::chrono::steady_clock::now() > deadline)
      return fail(Failure::cuda_call_failed, "CUPTI gave no record of a launch that has ended",
                  "end what else uses CUPTI here: another profiler, or CUDA_INJECTION64_PATH");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace perflab::replay
