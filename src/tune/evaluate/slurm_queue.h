// The jobs that the workers of the Slurm executor take from, and the answers that they leave: the
// one place where their threads meet.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "tune/evaluate/executor.h"

namespace perflab::tune {

/// A job on its way.
struct SlurmTask {
  std::size_t batch = 0;  ///< begin() that it belongs to
  std::size_t index = 0;  ///< into the jobs of that call
  Job job;
  bool build_only = false;
  unsigned losses = 0;  ///< workers that were lost with it
};

/// All members may be called from any thread.
class SlurmQueue {
 public:
  explicit SlurmQueue(std::size_t workers) : workers_(workers) {}

  // Of the caller of the executor:

  /// Fills the queue; what was left of the batch before is dropped. `serial`: one at a time, in
  /// order, and by the same worker as long as it lives.
  void begin(std::span<const Job> jobs, bool serial, bool build_only);
  /// The next answer; nothing after a moment without one. Error: no more can come.
  Result<std::optional<Finished>> next();
  /// Nothing after a moment in which no worker was ready. Error: none will be.
  Result<bool> ready();
  /// Drops what is left of the batch.
  void abandon();
  /// Sends the workers home.
  void stop();

  // Of the workers:

  /// A worker has its node.
  void worker_is_ready();
  /// Waits for a task; nothing: stopped.
  std::optional<SlurmTask> take(std::size_t worker);
  void answer(const SlurmTask& task, Evaluation evaluation, std::string worker);
  /// The worker was lost with the task: it goes back to the head of the queue. After three losses
  /// it is answered as failed; `words` say how it was lost.
  void give_back(SlurmTask task, const std::string& worker, const std::string& words);
  /// This worker ends; with the last one the batch fails with the first such error.
  void retire(Error error);
  /// The batch fails: every job would end like this.
  void fail_all(Error error);
  [[nodiscard]] bool stopping() const;
  /// Sleeps, but not beyond stop() or Ctrl-C.
  void pause(std::chrono::milliseconds time) const;

 private:
  [[nodiscard]] bool can_take(std::size_t worker) const;
  void finish(const SlurmTask& task, Evaluation evaluation, std::string worker);

  mutable std::mutex mutex_;
  mutable std::condition_variable work_;  ///< for workers
  std::condition_variable news_;          ///< for the caller
  std::size_t workers_, retired_ = 0;
  std::size_t batch_ = 0;
  bool serial_ = false, ready_ = false, stopping_ = false;
  std::deque<SlurmTask> tasks_;
  std::deque<Finished> finished_;
  std::size_t in_work_ = 0;           ///< tasks of this batch that workers have
  std::optional<std::size_t> owner_;  ///< serial: who did the last one
  std::optional<Error> first_retirement_, error_;
};

}  // namespace perflab::tune
