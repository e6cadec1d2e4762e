// A parallel loop over an atomic counter. Threads are made per loop: loops here run for
// milliseconds and more. They may be made inside another program's process, whose signals are not
// theirs.
#include "base/parallel.h"

#include <sched.h>

#include <atomic>
#include <system_error>

#include "base/blocked_signals.h"

namespace perflab {
namespace {

/// Threads that run work(1), work(2), ...: as many as the system gives, up to `most`.
template <class Work>
std::vector<std::jthread> make_helpers(unsigned most, const Work& work) {
  const BlockedSignals on_the_new_threads;
  std::vector<std::jthread> helpers;
  helpers.reserve(most);
  try {
    for (unsigned worker = 1; worker <= most; ++worker) helpers.emplace_back(work, worker);
  } catch (const std::system_error&) {
    // A limit of the process or its container: those that are there do it all.
  }
  return helpers;
}

}  // namespace

unsigned thread_count(unsigned requested) {
  if (requested > 0) return requested;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return std::max(1U, static_cast<unsigned>(CPU_COUNT(&set)));
  return std::max(1U, std::thread::hardware_concurrency());
}

Result<void> parallel_for(std::size_t count, unsigned threads,
                          const std::function<Result<void>(unsigned, std::size_t)>& body) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::size_t error_index = count;
  std::optional<Error> error;
  const auto work = [&](unsigned worker) {
    while (!failed.load(std::memory_order_relaxed)) {
      const std::size_t index = next.fetch_add(1);
      if (index >= count) return;
      Result<void> done = body(worker, index);
      if (done) continue;
      const std::scoped_lock lock(mutex);
      failed = true;
      if (index < error_index) {
        error_index = index;
        error = std::move(done).error();
      }
    }
  };
  const auto workers = static_cast<unsigned>(
      std::min<std::size_t>(std::max(1U, threads), std::max<std::size_t>(count, 1)));
  {
    const std::vector<std::jthread> helpers = make_helpers(workers - 1, work);
    work(0);
  }
  if (error) return std::unexpected(std::move(*error));
  return {};
}

void parallel_each(std::size_t count, unsigned threads,
                   const std::function<void(std::size_t)>& body) {
  const Result<void> done =
      parallel_for(count, threads, [&](unsigned, std::size_t index) -> Result<void> {
        body(index);
        return {};
      });
  PERFLAB_CHECK(done.has_value());
}

void side_by_side(std::span<const std::function<void()>> parts, unsigned threads) {
  parallel_each(parts.size(), threads, [&](std::size_t part) { parts[part](); });
}

}  // namespace perflab
