// Buffers come back from a thread of CUPTI's, or within cuptiActivityFlushAll: that is called on a
// thread of ours, as no call of CUPTI is known to be safe for ever inside a callback.
#include "isolate/cuda/kernel_timer.h"

#include <cstdlib>

#include "isolate/cuda/own_calls.h"

namespace perflab::isolate {
namespace {

constexpr std::size_t kRecordBufferBytes = std::size_t{1} << 20, kRecordAlignment = 8;

const cuda::Cupti* records_from = nullptr;
std::atomic<bool> timer_runs = false;
std::atomic<std::uint32_t> expected_launch = 0;
std::atomic<std::uint64_t> launch_time = 0;  ///< 0: no record yet

void give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kRecordAlignment, kRecordBufferBytes));
  *bytes = *buffer == nullptr ? 0 : kRecordBufferBytes;
  *most_records = 0;
}

void look_at(const cuda::Record& record) {
  if (record.kind != cuda::ActivityKind::concurrent_kernel) return;
  const auto& kernel = reinterpret_cast<const cuda::KernelRecord&>(record);
  if (kernel.correlation_id == expected_launch && kernel.start != 0 && kernel.end > kernel.start)
    launch_time = kernel.end - kernel.start;
}

void take_buffer(cuda::Context /*context*/, std::uint32_t /*stream*/, std::uint8_t* buffer,
                 std::size_t /*bytes*/, std::size_t valid_bytes) {
  cuda::Record* record = nullptr;
  if (expected_launch != 0)
    while (records_from->activity_get_next_record(buffer, valid_bytes, &record) ==
           cuda::CuptiResult::success)
      look_at(*record);
  std::free(buffer);
}

}  // namespace

bool KernelTimer::start(const cuda::Cupti& cupti) {
  records_from = &cupti;
  timer_runs =
      cupti.activity_register_callbacks(give_buffer, take_buffer) == cuda::CuptiResult::success &&
      cupti.activity_enable(cuda::ActivityKind::concurrent_kernel) == cuda::CuptiResult::success;
  return timer_runs;
}

void KernelTimer::expect(std::uint32_t correlation) {
  launch_time = 0;
  expected_launch = correlation;
}

std::optional<std::uint64_t> KernelTimer::take(const cuda::Cupti& cupti,
                                               std::chrono::milliseconds patience) {
  if (!timer_runs) return std::nullopt;
  for (const std::uint32_t flags : {std::uint32_t{0}, cuda::flush_forced}) {
    if (launch_time != 0) break;
    const auto flushed = run_within(patience, [&cupti, flags]() -> Result<void> {
      cupti.activity_flush_all(flags);
      return {};
    });
    if (!flushed || !*flushed) break;
  }
  expected_launch = 0;
  const std::uint64_t time = launch_time;
  return time == 0 ? std::nullopt : std::optional(time);
}

void KernelTimer::stop(const cuda::Cupti& cupti) {
  if (timer_runs.exchange(false)) cupti.activity_disable(cuda::ActivityKind::concurrent_kernel);
}

}  // namespace perflab::isolate
