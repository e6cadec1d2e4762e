// The thread is detached: nobody can end a call of the driver that waits.
#include "isolate/cuda/own_calls.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/blocked_signals.h"

namespace perflab::isolate {

thread_local int OwnCalls::depth_ = 0;

namespace {

struct Run {
  std::mutex mutex;
  std::condition_variable ended;
  std::optional<Result<void>> result;
};

}  // namespace

Result<bool> run_within(std::chrono::milliseconds patience, std::function<Result<void>()> body) {
  const auto run = std::make_shared<Run>();
  try {
    const BlockedSignals on_the_new_thread;
    std::thread([run, body = std::move(body)] {
      const OwnCalls own;
      Result<void> result = body();
      const std::lock_guard lock(run->mutex);
      run->result = std::move(result);
      run->ended.notify_all();
    }).detach();
  } catch (const std::system_error& error) {
    return fail(ErrorCode::refused, std::string("no thread can be started: ") + error.what());
  }
  std::unique_lock lock(run->mutex);
  if (!run->ended.wait_for(lock, patience, [&] { return run->result.has_value(); })) return false;
  PERFLAB_TRY_VOID(*run->result);
  return true;
}

}  // namespace perflab::isolate
