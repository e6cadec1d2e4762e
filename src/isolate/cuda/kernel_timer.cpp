// The record is known by name and time, not by the call: one within a call of the runtime has the
// runtime's number (docs/facts/cuda_cupti.md "Calls and correlation"), and nothing else runs while
// the program is held. Buffers come back from a thread of CUPTI's, or within cuptiActivityFlushAll:
// that is called on a thread of ours, as no call of CUPTI is known to be safe for ever inside a
// callback.
#include "isolate/cuda/kernel_timer.h"

#include <cstdlib>
#include <string_view>

#include "isolate/cuda/own_calls.h"

namespace perflab::isolate {
namespace {

constexpr std::size_t kRecordBufferBytes = std::size_t{1} << 20, kRecordAlignment = 8;

const cuda::Cupti* records_from = nullptr;
std::atomic<bool> timer_runs = false;
std::atomic<const char*> expected_kernel = nullptr;
std::atomic<std::uint64_t> expected_since = 0;  ///< on CUPTI's clock
std::atomic<std::uint64_t> launch_time = 0;     ///< 0: no record yet

void give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kRecordAlignment, kRecordBufferBytes));
  *bytes = *buffer == nullptr ? 0 : kRecordBufferBytes;
  *most_records = 0;
}

void look_at(const cuda::Record& record, std::string_view expected) {
  if (record.kind != cuda::ActivityKind::concurrent_kernel) return;
  const auto& kernel = reinterpret_cast<const cuda::KernelRecord&>(record);
  if (kernel.name != nullptr && kernel.name == expected && kernel.start >= expected_since &&
      kernel.end > kernel.start)
    launch_time = kernel.end - kernel.start;
}

void take_buffer(cuda::Context /*context*/, std::uint32_t /*stream*/, std::uint8_t* buffer,
                 std::size_t /*bytes*/, std::size_t valid_bytes) {
  cuda::Record* record = nullptr;
  if (const char* const expected = expected_kernel)
    while (records_from->activity_get_next_record(buffer, valid_bytes, &record) ==
           cuda::CuptiResult::success)
      look_at(*record, expected);
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

void KernelTimer::expect(const cuda::Cupti& cupti, const std::string& symbol) {
  std::uint64_t now = 0;
  if (cupti.get_timestamp == nullptr || cupti.get_timestamp(&now) != cuda::CuptiResult::success)
    return;
  launch_time = 0;
  expected_since = now;
  expected_kernel = symbol.c_str();
}

std::optional<std::uint64_t> KernelTimer::take(const cuda::Cupti& cupti,
                                               std::chrono::milliseconds patience) {
  if (!timer_runs || expected_kernel == nullptr) return std::nullopt;
  for (const std::uint32_t flags : {std::uint32_t{0}, cuda::flush_forced}) {
    if (launch_time != 0) break;
    const auto flushed = run_within(patience, [&cupti, flags]() -> Result<void> {
      cupti.activity_flush_all(flags);
      return {};
    });
    if (!flushed || !*flushed) break;
  }
  expected_kernel = nullptr;
  const std::uint64_t time = launch_time;
  return time == 0 ? std::nullopt : std::optional(time);
}

void KernelTimer::stop(const cuda::Cupti& cupti) {
  if (timer_runs.exchange(false)) cupti.activity_disable(cuda::ActivityKind::concurrent_kernel);
}

}  // namespace perflab::isolate
