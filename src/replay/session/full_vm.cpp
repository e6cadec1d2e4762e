// The loop of `replay full-vm`.
#include "replay/session/full_vm.h"

#include <fmt/format.h>

#include <chrono>

#include "base/system/interrupt.h"

namespace perflab::replay {
namespace {

using Clock = std::chrono::steady_clock;

/// A captured kernel writes what it wrote when it was captured, unless it is not deterministic. Up
/// to this size of memory it costs little to look.
constexpr std::uint64_t kCheapToCompare = std::uint64_t{1} << 30U;

class Loop {
 public:
  Loop(Session& session, const FullVmOptions& options) : session_(session), options_(options) {
    const capture::Description& description = session.capture().description();
    result_.kernel = description.dispatch.kernel;
    result_.demangled = description.dispatch.demangled;
    result_.captured_ns = description.dispatch.captured_ns;
    result_.iterations = options.iterations;
    result_.recopy = !options.no_recopy;
    std::uint64_t bytes = 0;
    for (const capture::MemoryRegion& region : description.regions)
      if (region.captured()) bytes += region.bytes;
    to_learn_ = !options.no_recopy && (!session.runs_original() || bytes <= kCheapToCompare);
  }

  Result<FullVmResult> run(const OnIteration& on_iteration) {
    const std::uint64_t warmup = options_.no_recopy ? 0 : options_.warmup;
    for (std::uint64_t i = 0; i < warmup; ++i) PERFLAB_TRY_VOID(iterate(nullptr));
    for (std::uint64_t i = 0; i < options_.iterations; ++i) {
      PERFLAB_TRY_VOID(iterate(&result_));
      if (on_iteration) on_iteration(i + 1);
    }
    result_.notes = session_.notes();
    result_.left_memory = session_.left_memory();
    if (result_.learned_pages > 0)
      result_.notes.push_back(fmt::format(
          "{} pages are written here that the captured dispatch left as they were: they are "
          "restored too",
          result_.learned_pages));
    return std::move(result_);
  }

 private:
  /// One dispatch from the pre-image (or from what the last one left); counted when there is a
  /// result to count it in.
  Result<void> iterate(FullVmResult* counted) {
    if (interrupted())
      return fail(ErrorCode::interrupted, fmt::format("interrupted after {} of {} iterations",
                                                      result_.times.size(), options_.iterations));
    const Clock::time_point start = Clock::now();
    if (!options_.no_recopy) {
      PERFLAB_TRY(const Restored restored, session_.restore_writes());
      result_.restored_bytes_per_iteration = restored.bytes;
      result_.restored_on_device = restored.on_device;
    }
    PERFLAB_TRY(const Nanos time, session_.run());
    if (counted != nullptr) {
      counted->times.push_back(time);
      counted->wall += Nanos{std::chrono::nanoseconds(Clock::now() - start).count()};
    }
    if (!to_learn_) return {};
    to_learn_ = false;
    PERFLAB_TRY(result_.learned_pages, session_.learn_writes());
    return {};
  }

  Session& session_;
  const FullVmOptions& options_;
  FullVmResult result_;
  bool to_learn_ = false;  ///< after the first dispatch
};

}  // namespace

Result<FullVmResult> run_full_vm(Session& session, const FullVmOptions& options,
                                 const OnIteration& on_iteration) {
  PERFLAB_CHECK(options.iterations > 0);
  return Loop(session, options).run(on_iteration);
}

}  // namespace perflab::replay
