// This machine: builders make what workers measure, one worker per GPU, and everything that is
// finished goes through one queue to the thread that called.
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/system/interrupt.h"
#include "tune/evaluate/executor.h"
#include "tune/evaluate/visible_gpus.h"

namespace perflab::tune {
namespace {

std::unexpected<Error> stopped_by_user() {
  return fail(ErrorCode::interrupted, "interrupted");
}

Result<Evaluation> build_if_needed(const Job& job) {
  if (!job.already_built) return build(job);
  Evaluation built;
  built.outcome = Outcome::correct;
  return built;
}

/// One call of evaluate() or build_all(): what is to be done, and by whom.
class Batch {
 public:
  struct Plan {
    std::size_t builders = 1;
    std::size_t workers = 1;  ///< 0: nothing is run
    bool overlap = true;      ///< runs may begin before all builds have ended
    std::function<Result<Evaluation>(std::size_t worker, std::size_t job, Evaluation built)> run;
    std::function<std::string(std::size_t worker)> worker_name;
  };

  Batch(std::span<const Job> jobs, Plan plan) : jobs_(jobs), plan_(std::move(plan)) {}

  /// Until every job was handed over, or the first error. What was finished by then is handed over
  /// too, unless it is on_finished that failed.
  Result<void> work(const OnFinished& on_finished) {
    std::vector<std::jthread> threads;
    threads.reserve(plan_.builders + plan_.workers);
    for (std::size_t i = 0; i < std::min(plan_.builders, jobs_.size()); ++i)
      threads.emplace_back([this] { build_loop(); });
    for (std::size_t i = 0; i < std::min(plan_.workers, jobs_.size()); ++i)
      threads.emplace_back([this, i] { run_loop(i); });
    Result<void> handed = hand_over(on_finished);
    threads.clear();  // waits for what is under way
    if (!handed) return handed;
    for (Finished& finished : finished_) PERFLAB_TRY_VOID(on_finished(std::move(finished)));
    if (error_) return std::unexpected(std::move(*error_));
    return {};
  }

 private:
  struct Built {
    std::size_t job = 0;
    Evaluation evaluation;
  };

  void build_loop() {
    while (const std::optional<std::size_t> job = next_to_build()) {
      Result<Evaluation> built = build_if_needed(jobs_[*job]);
      const std::scoped_lock lock(mutex_);
      ++builds_ended_;
      if (!built)
        stop(std::move(built).error());
      else if (plan_.workers == 0 || built->outcome != Outcome::correct)
        finish({.index = *job, .evaluation = *std::move(built), .worker = {}});
      else
        built_.push_back({.job = *job, .evaluation = *std::move(built)});
      changed_.notify_all();
    }
  }

  std::optional<std::size_t> next_to_build() {
    const std::scoped_lock lock(mutex_);
    if (!error_ && !stopping_ && next_build_ < jobs_.size() && interrupted())
      stop(stopped_by_user().error());
    if (error_ || stopping_ || next_build_ == jobs_.size()) return std::nullopt;
    return next_build_++;
  }

  void run_loop(std::size_t worker) {
    while (std::optional<Built> built = next_to_run()) {
      Result<Evaluation> evaluation = plan_.run(worker, built->job, std::move(built->evaluation));
      const std::scoped_lock lock(mutex_);
      if (evaluation)
        finish({.index = built->job,
                .evaluation = *std::move(evaluation),
                .worker = plan_.worker_name(worker)});
      else
        stop(std::move(evaluation).error());
    }
  }

  std::optional<Built> next_to_run() {
    std::unique_lock lock(mutex_);
    const auto all_built = [&] { return builds_ended_ == jobs_.size(); };
    changed_.wait(lock, [&] {
      return error_ || stopping_ || (!built_.empty() && (plan_.overlap || all_built())) ||
             (built_.empty() && all_built());
    });
    if (!error_ && !stopping_ && !built_.empty() && interrupted()) stop(stopped_by_user().error());
    if (error_ || stopping_ || built_.empty()) return std::nullopt;
    Built next = std::move(built_.front());
    built_.pop_front();
    return next;
  }

  /// The calling thread's part: hands over until all is done or something stopped it.
  Result<void> hand_over(const OnFinished& on_finished) {
    std::unique_lock lock(mutex_);
    std::size_t handed = 0;
    while (handed < jobs_.size()) {
      changed_.wait(lock, [&] { return error_ || !finished_.empty(); });
      if (finished_.empty()) return {};
      Finished finished = std::move(finished_.front());
      finished_.pop_front();
      ++handed;
      lock.unlock();
      Result<void> taken = on_finished(std::move(finished));
      lock.lock();
      if (taken) continue;
      stopping_ = true;
      changed_.notify_all();
      return taken;
    }
    return {};
  }

  /// Both with the mutex held; everyone who waits looks again.
  void finish(Finished finished) {
    finished_.push_back(std::move(finished));
    changed_.notify_all();
  }
  void stop(Error error) {
    if (!error_) error_ = std::move(error);
    changed_.notify_all();
  }

  std::span<const Job> jobs_;
  Plan plan_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_build_ = 0, builds_ended_ = 0;
  std::deque<Built> built_;        ///< and not yet run
  std::deque<Finished> finished_;  ///< and not yet handed over
  std::optional<Error> error_;
  bool stopping_ = false;  ///< on_finished failed
};

class LocalExecutor final : public Executor {
 public:
  LocalExecutor(LocalOptions options, GpuTimer gpu_timer, std::vector<WorkerGpu> gpus,
                std::string gpu, std::vector<std::string> addresses)
      : options_(std::move(options)),
        gpu_timer_(std::move(gpu_timer)),
        gpus_(std::move(gpus)),
        gpu_(std::move(gpu)),
        addresses_(std::move(addresses)) {}

  [[nodiscard]] std::size_t width() const override {
    return std::max<std::size_t>(gpus_.size(), 1);
  }
  [[nodiscard]] std::string gpu() const override { return gpu_; }

  Result<void> evaluate(std::span<const Job> jobs, bool serial,
                        const OnFinished& on_finished) override {
    if (serial) return evaluate_in_order(jobs, on_finished);
    Batch batch(
        jobs, {.builders = builders(),
               .workers = width(),
               .overlap = options_.overlap_builds,
               .run = [&](std::size_t worker, std::size_t job,
                          Evaluation built) { return run_on(worker, jobs[job], std::move(built)); },
               .worker_name = [&](std::size_t worker) { return worker_name(worker); }});
    return batch.work(on_finished);
  }

  Result<void> build_all(std::span<const Job> jobs, const OnFinished& on_finished) override {
    Batch batch(
        jobs,
        {.builders = builders(), .workers = 0, .overlap = true, .run = {}, .worker_name = {}});
    return batch.work(on_finished);
  }

 private:
  [[nodiscard]] std::size_t builders() const {
    return std::max<std::size_t>(options_.build_jobs, 1);
  }

  [[nodiscard]] std::string worker_name(std::size_t worker) const {
    return gpus_.size() < 2 ? std::string() : "gpu " + gpus_[worker].id;
  }

  Result<Evaluation> run_on(std::size_t worker, const Job& job, Evaluation built) const {
    Job there = job;
    there.sensor_gpu = addresses_[worker];
    if (gpus_.empty()) return run(there, std::move(built), gpu_timer_);
    std::erase_if(there.environment, [](const auto& one) {
      return one.first == "ROCR_VISIBLE_DEVICES" || one.first == "HIP_VISIBLE_DEVICES";
    });
    there.environment.emplace_back("ROCR_VISIBLE_DEVICES", gpus_[worker].rocr);
    there.environment.emplace_back("HIP_VISIBLE_DEVICES", "0");  // counts what ROCr left
    return run(there, std::move(built), gpu_timer_);
  }

  Result<void> evaluate_in_order(std::span<const Job> jobs, const OnFinished& on_finished) const {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (interrupted()) return stopped_by_user();
      PERFLAB_TRY(Evaluation evaluation, build_if_needed(jobs[i]));
      if (evaluation.outcome == Outcome::correct) {
        PERFLAB_TRY(evaluation, run_on(0, jobs[i], std::move(evaluation)));
      }
      PERFLAB_TRY_VOID(
          on_finished({.index = i, .evaluation = std::move(evaluation), .worker = worker_name(0)}));
    }
    return {};
  }

  LocalOptions options_;
  GpuTimer gpu_timer_;
  std::vector<WorkerGpu> gpus_;
  std::string gpu_;
  std::vector<std::string> addresses_;  ///< by worker
};

}  // namespace

Result<std::unique_ptr<Executor>> make_local_executor(LocalOptions options, GpuTimer gpu_timer) {
  PERFLAB_TRY(std::vector<WorkerGpu> gpus, choose_gpus(options.topology, options.gpus));
  PERFLAB_TRY(std::vector<std::string> addresses, sensor_addresses(options.topology, options.gpus));
  std::string name;
  if (!gpus.empty())
    name = gpus.front().gpu.name;
  else if (const auto seen = visible_gpus(read_topology(options.topology)); !seen.empty())
    name = seen.front().gpu.name;  // HIP programs take the first one
  return std::make_unique<LocalExecutor>(std::move(options), std::move(gpu_timer), std::move(gpus),
                                         std::move(name), std::move(addresses));
}

}  // namespace perflab::tune
