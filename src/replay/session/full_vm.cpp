// The loop of `replay full-vm`.
#include "replay/session/full_vm.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/system/interrupt.h"

namespace perflab::replay {
namespace {

using Clock = std::chrono::steady_clock;

/// A captured kernel writes what it wrote when it was captured, unless it is not deterministic. Up
/// to this size of memory it costs little to look.
constexpr std::uint64_t kCheapToCompare = std::uint64_t{1} << 30U;

/// Turns of a replay at most: each has its readings in the document.
constexpr std::uint64_t kMostTurns = 100;

sensors::TurnLimits limits_of(const FullVmOptions& options) {
  sensors::TurnLimits limits = options.limits;
  if (options.no_recopy) limits.most_repeats = 0;
  return limits;
}

class Loop {
 public:
  Loop(Session& session, const FullVmOptions& options)
      : session_(session),
        options_(options),
        caches_(session, options.caches),
        watch_(limits_of(options)) {
    const capture::Description& description = session.capture().description();
    result_.kernel = description.dispatch.kernel;
    result_.demangled = description.dispatch.demangled;
    result_.captured_ns = description.dispatch.captured_ns;
    result_.iterations = options.iterations;
    result_.recopy = !options.no_recopy;
    result_.caches = options.no_recopy ? Caches::warm : options.caches;
    result_.iterations_per_turn = (options.iterations + kMostTurns - 1) / kMostTurns;
    std::uint64_t bytes = 0;
    for (const capture::MemoryRegion& region : description.regions)
      if (region.captured()) bytes += region.bytes;
    to_learn_ = !options.no_recopy && (!session.runs_original() || bytes <= kCheapToCompare);
  }

  Result<FullVmResult> run(const OnIteration& on_iteration) {
    const std::uint64_t warmup = options_.no_recopy ? 0 : options_.warmup;
    for (std::uint64_t i = 0; i < warmup; ++i) PERFLAB_TRY_VOID(iterate(nullptr));
    while (result_.times.size() < options_.iterations) {
      PERFLAB_TRY_VOID(take_turn());
      if (on_iteration) on_iteration(result_.times.size());
    }
    result_.conditions = std::move(watch_.conditions());
    result_.conditions.source = options_.sensors == nullptr ? "" : options_.sensors->source();
    result_.conditions.missing_because =
        options_.sensors == nullptr ? options_.no_sensors_because : "";
    if (options_.sensors != nullptr) result_.conditions.missing = options_.sensors->missing();
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
  /// Iterations between two readings, again when they were disturbed.
  Result<void> take_turn() {
    const std::size_t before = result_.times.size();
    const Nanos wall_before = result_.wall;
    const std::uint64_t count =
        std::min<std::uint64_t>(result_.iterations_per_turn, options_.iterations - before);
    while (true) {
      sensors::Span span;
      if (options_.sensors != nullptr) span.before = options_.sensors->read();
      for (std::uint64_t i = 0; i < count; ++i) PERFLAB_TRY_VOID(iterate(&result_));
      if (options_.sensors == nullptr) return {};
      span.after = options_.sensors->read();
      if (watch_.take(std::span(&span, 1))) return {};
      result_.times.resize(before);
      result_.wall = wall_before;
    }
  }

  /// One dispatch from the pre-image (or from what the last one left); counted when there is a
  /// result to count it in.
  Result<void> iterate(FullVmResult* counted) {
    if (interrupted())
      return fail(ErrorCode::interrupted, fmt::format("interrupted after {} of {} iterations",
                                                      result_.times.size(), options_.iterations));
    const Clock::time_point start = Clock::now();
    if (!options_.no_recopy) {
      PERFLAB_TRY_VOID(restore());
      PERFLAB_TRY_VOID(caches_.prepare([this] { return restore(); }));
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

  Result<void> restore() {
    PERFLAB_TRY(const Restored restored, session_.restore_writes());
    result_.restored_bytes_per_iteration = restored.bytes;
    result_.restored_on_device = restored.on_device;
    return {};
  }

  Session& session_;
  const FullVmOptions& options_;
  CacheState caches_;
  FullVmResult result_;
  sensors::TurnWatch watch_;
  bool to_learn_ = false;  ///< after the first dispatch
};

}  // namespace

Result<FullVmResult> run_full_vm(Session& session, const FullVmOptions& options,
                                 const OnIteration& on_iteration) {
  PERFLAB_CHECK(options.iterations > 0);
  return Loop(session, options).run(on_iteration);
}

}  // namespace perflab::replay
