// Work on all cores with results in order: chunk results are handed over strictly by index,
// whatever finishes first. That is what keeps documents byte-identical on any number of threads.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"

namespace perflab {

/// Number of threads to use: `requested` when positive, else the cores this process may run on (at
/// least 1).
unsigned thread_count(unsigned requested);

/// Runs body(worker, index) for every index in [0, count) on up to `threads` threads, the calling
/// one included. Indices are handed out in order. The first error by index is returned; later
/// indices may then not run.
Result<void> parallel_for(
    std::size_t count, unsigned threads,
    const std::function<Result<void>(unsigned worker, std::size_t index)>& body);

/// Runs body(index) for every index in [0, count): the same for what cannot fail.
void parallel_each(std::size_t count, unsigned threads,
                   const std::function<void(std::size_t index)>& body);

/// Runs parts that need nothing of each other, on up to `threads` threads. They begin in order.
void side_by_side(std::span<const std::function<void()>> parts, unsigned threads);

/// Like parallel_for, with a result per index: produce(worker, index) runs in parallel,
/// consume(index, T&&) runs in index order, one at a time. At most 2 * threads results wait for
/// their turn.
template <class T>
Result<void> parallel_ordered(std::size_t count, unsigned threads,
                              const std::function<Result<T>(unsigned, std::size_t)>& produce,
                              const std::function<Result<void>(std::size_t, T&&)>& consume) {
  std::mutex mutex;
  std::condition_variable turn_changed;
  std::size_t turn = 0;
  bool stopped = false;
  return parallel_for(count, threads, [&](unsigned worker, std::size_t index) -> Result<void> {
    Result<T> made = produce(worker, index);
    std::unique_lock lock(mutex);
    turn_changed.wait(lock, [&] { return turn == index || stopped; });
    if (stopped) return {};
    Result<void> done = made ? consume(index, std::move(*made))
                             : Result<void>(std::unexpected(std::move(made).error()));
    if (done)
      ++turn;
    else
      stopped = true;
    lock.unlock();
    turn_changed.notify_all();
    return done;
  });
}

}  // namespace perflab
