// A queue under one mutex. Waits are short, because Ctrl-C sets a flag and wakes no condition
// variable.
#include "tune/evaluate/slurm_queue.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "base/system/interrupt.h"

namespace perflab::tune {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kMoment{100};
constexpr unsigned kMostLosses = 3;

}  // namespace

void SlurmQueue::begin(std::span<const Job> jobs, bool serial, bool build_only) {
  const std::scoped_lock lock(mutex_);
  ++batch_;
  serial_ = serial;
  in_work_ = 0;
  owner_.reset();
  tasks_.clear();
  finished_.clear();
  for (std::size_t i = 0; i < jobs.size(); ++i)
    tasks_.push_back(
        {.batch = batch_, .index = i, .job = jobs[i], .build_only = build_only, .losses = 0});
  work_.notify_all();
}

Result<std::optional<Finished>> SlurmQueue::next() {
  std::unique_lock lock(mutex_);
  news_.wait_for(lock, kMoment, [&] { return !finished_.empty() || error_; });
  if (!finished_.empty()) {
    Finished first = std::move(finished_.front());
    finished_.pop_front();
    return first;
  }
  if (error_) return std::unexpected(*error_);
  return std::nullopt;
}

Result<bool> SlurmQueue::ready() {
  std::unique_lock lock(mutex_);
  news_.wait_for(lock, kMoment, [&] { return ready_ || error_; });
  if (error_) return std::unexpected(*error_);
  return ready_;
}

void SlurmQueue::abandon() {
  begin({}, false, false);
}

void SlurmQueue::stop() {
  const std::scoped_lock lock(mutex_);
  stopping_ = true;
  work_.notify_all();
}

void SlurmQueue::worker_is_ready() {
  const std::scoped_lock lock(mutex_);
  ready_ = true;
  news_.notify_all();
}

bool SlurmQueue::can_take(std::size_t worker) const {
  if (tasks_.empty()) return false;
  return !serial_ || (in_work_ == 0 && (!owner_ || *owner_ == worker));
}

std::optional<SlurmTask> SlurmQueue::take(std::size_t worker) {
  std::unique_lock lock(mutex_);
  while (!work_.wait_for(lock, kMoment, [&] { return stopping_ || can_take(worker); }))
    if (interrupted()) return std::nullopt;
  if (stopping_) return std::nullopt;
  SlurmTask task = std::move(tasks_.front());
  tasks_.pop_front();
  ++in_work_;
  if (serial_) owner_ = worker;
  return task;
}

void SlurmQueue::finish(const SlurmTask& task, Evaluation evaluation, std::string worker) {
  finished_.push_back(
      {.index = task.index, .evaluation = std::move(evaluation), .worker = std::move(worker)});
  news_.notify_all();
}

void SlurmQueue::answer(const SlurmTask& task, Evaluation evaluation, std::string worker) {
  const std::scoped_lock lock(mutex_);
  if (task.batch != batch_) return;
  --in_work_;
  finish(task, std::move(evaluation), std::move(worker));
  work_.notify_all();
}

void SlurmQueue::give_back(SlurmTask task, const std::string& worker, const std::string& words) {
  const std::scoped_lock lock(mutex_);
  if (task.batch != batch_) return;
  --in_work_;
  owner_.reset();
  if (++task.losses < kMostLosses) {
    tasks_.push_front(std::move(task));
  } else {
    Evaluation evaluation;
    evaluation.outcome = Outcome::run_failed;
    evaluation.detail =
        fmt::format("{} workers were lost with this configuration, the last on {}: {}", task.losses,
                    worker, words);
    finish(task, std::move(evaluation), worker);
  }
  work_.notify_all();
}

void SlurmQueue::retire(Error error) {
  const std::scoped_lock lock(mutex_);
  if (!first_retirement_) first_retirement_ = std::move(error);
  if (++retired_ == workers_ && !error_) error_ = first_retirement_;
  news_.notify_all();
}

void SlurmQueue::fail_all(Error error) {
  const std::scoped_lock lock(mutex_);
  if (!error_) error_ = std::move(error);
  tasks_.clear();
  news_.notify_all();
}

bool SlurmQueue::stopping() const {
  const std::scoped_lock lock(mutex_);
  return stopping_;
}

void SlurmQueue::pause(milliseconds time) const {
  const auto end = std::chrono::steady_clock::now() + time;
  std::unique_lock lock(mutex_);
  while (!stopping_ && !interrupted() && std::chrono::steady_clock::now() < end)
    work_.wait_for(lock, std::min(kMoment, time), [&] { return stopping_; });
}

}  // namespace perflab::tune
