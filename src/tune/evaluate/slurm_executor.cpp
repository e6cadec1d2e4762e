// One thread per worker: it asks for an allocation, looks at its node, runs jobs on it as steps,
// and asks for another one when it is lost. Threads live as long as the executor: a worker that
// waits in Slurm's queue holds up nobody.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "base/enum_names.h"
#include "base/system/files.h"
#include "base/system/interrupt.h"
#include "slurm/commands.h"
#include "slurm/folder.h"
#include "slurm/process.h"
#include "tune/evaluate/executor.h"
#include "tune/evaluate/slurm_queue.h"

namespace perflab::tune {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr unsigned kMostFruitless = 5;         // allocations in a row without an answered job
constexpr unsigned kMostFailuresAtOnce = 2;    // of salloc, before there was any allocation
constexpr double kRunMargin = 1.0 / 12;        // of the margin, per run: a profiler's start
constexpr milliseconds kLookTimeout{120'000};  // of the first look at a node
constexpr milliseconds kAnswerPoll{50};
constexpr const char* kChooseNodes = "sinfo shows the nodes; --partition chooses others";

std::string same_version_remedy(const std::string& program) {
  return fmt::format("install this version on the nodes, too: srun {} --version", program);
}

/// The time in which a step must have answered, or its node hangs. The limits of the commands are
/// the worker's business.
std::optional<milliseconds> step_timeout(const Job& job, bool build_only, milliseconds margin) {
  const double margin_seconds = std::chrono::duration<double>(margin).count();
  double seconds = margin_seconds;
  const bool builds = !job.already_built && !job.build.empty();
  const bool checks = !build_only && !job.check.empty() && !job.already_checked;
  if (builds || checks) {
    if (!job.build_limit_seconds) return std::nullopt;
    seconds += (builds && checks ? 2 : 1) * *job.build_limit_seconds;  // of a check, too
  }
  if (!build_only) {
    if (!job.run_limit_seconds) return std::nullopt;
    const std::size_t runs =
        job.exact_runs > 0 ? job.exact_runs : job.repeats.warm_up_runs + job.repeats.most_runs;
    seconds += static_cast<double>(runs) * (*job.run_limit_seconds + margin_seconds * kRunMargin);
  }
  constexpr double kLongest = 1e8;  // three years: keeps the cast below within its range
  return milliseconds(static_cast<std::int64_t>(std::ceil(std::min(seconds, kLongest) * 1000)));
}

/// What all workers share.
struct SlurmShared {
  slurm::Commands commands;
  SlurmOptions options;
  slurm::Folder folder;
  SlurmQueue queue;
  std::mutex mutex;
  std::optional<std::string> gpu;     // of the first node that was looked at
  std::string gpu_node;               // which one that was
  std::vector<std::string> excluded;  // nodes that take no steps though Slurm thinks they do
  bool had_any = false;               // an allocation: salloc works here
};

class SlurmWorker {
 public:
  SlurmWorker(std::size_t number, SlurmShared& shared)
      : number_(number), shared_(shared), thread_([this] { live(); }) {}
  SlurmWorker(const SlurmWorker&) = delete;
  SlurmWorker& operator=(const SlurmWorker&) = delete;
  ~SlurmWorker() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  /// What came of one step.
  struct Asked {
    std::optional<Evaluation> evaluation;
    std::string words;  ///< without an evaluation: the last that was heard
    bool hung = false;
  };

  void live();
  Result<void> acquire();
  Result<bool> settle_in();
  Result<std::string> look();
  Result<void> agree(const std::string& gpu);
  Result<void> handle(SlurmTask task);
  Result<Asked> ask(const SlurmTask& task);
  Result<Asked> read_answer(const fs::path& file, const ProcessResult& ended);
  [[nodiscard]] Result<std::string> wait_for(const fs::path& file, bool sure) const;
  void release();
  [[nodiscard]] bool unwanted() const { return shared_.queue.stopping() || interrupted(); }
  void exclude_node();
  void note_allocation();
  [[nodiscard]] bool had_any() const;

  std::size_t number_;
  SlurmShared& shared_;
  std::string allocation_;  ///< empty: none
  std::string node_;
  unsigned fruitless_ = 0;
  unsigned failures_at_once_ = 0;
  std::string trouble_;  ///< of the last fruitless allocation
  std::thread thread_;   ///< last: it uses the others
};

void SlurmWorker::live() {
  while (!unwanted()) {
    if (allocation_.empty()) {
      if (auto acquired = acquire(); !acquired) {
        shared_.queue.retire(std::move(acquired).error());
        break;
      }
      shared_.queue.worker_is_ready();
    }
    std::optional<SlurmTask> task = shared_.queue.take(number_);
    if (!task) break;
    if (auto handled = handle(*std::move(task)); !handled) {
      shared_.queue.fail_all(std::move(handled).error());
      break;
    }
  }
  release();
}

void SlurmWorker::release() {
  if (!allocation_.empty()) shared_.commands.cancel({allocation_});
  allocation_.clear();
}

/// Until there is an allocation whose node works. Errors: those of make_slurm_executor.
Result<void> SlurmWorker::acquire() {
  while (!unwanted()) {
    if (fruitless_ >= kMostFruitless)
      return fail(ErrorCode::missing_tool,
                  fmt::format("{} Slurm allocations in a row came to nothing; the last: {}",
                              fruitless_, trouble_),
                  kChooseNodes);
    slurm::Request request{.partition = shared_.options.partition,
                           .extra = shared_.options.extra,
                           .excluded_nodes = {},
                           .on_id = [&](std::string_view id) { shared_.folder.note(id); },
                           .give_up = [&] { return unwanted(); }};
    {
      const std::scoped_lock lock(shared_.mutex);
      request.excluded_nodes = shared_.excluded;
    }
    auto granted = shared_.commands.allocate(request);
    if (granted && !granted->allocation.empty()) {
      allocation_ = std::move(granted->allocation);
      note_allocation();
      PERFLAB_TRY(const bool good, settle_in());
      if (good) return {};
      continue;
    }
    if (!granted) {
      // With every node excluded Slurm has none to give: the reason is why they were.
      const Error error = std::move(granted).error();
      if (error.code == ErrorCode::usage && !trouble_.empty())
        return fail(ErrorCode::missing_tool, fmt::format("{}; then {}", trouble_, error.message),
                    kChooseNodes);
      return std::unexpected(error);
    }
    trouble_ = std::move(granted->why_not);
    // A queue or a busy controller takes its time to refuse: salloc does not work here.
    if (granted->failed_at_once && ++failures_at_once_ >= kMostFailuresAtOnce && !had_any())
      return std::unexpected(slurm::salloc_fails(trouble_));
    shared_.queue.pause(shared_.options.patience * (1U << fruitless_));
    ++fruitless_;
  }
  return fail(ErrorCode::interrupted, "stopped while waiting for a node");
}

void SlurmWorker::note_allocation() {
  const std::scoped_lock lock(shared_.mutex);
  shared_.had_any = true;
}

bool SlurmWorker::had_any() const {
  const std::scoped_lock lock(shared_.mutex);
  return shared_.had_any;
}

/// Looks at the node of a new allocation. False: it is of no use and was given back.
Result<bool> SlurmWorker::settle_in() {
  const auto state = shared_.commands.state_of(allocation_);
  node_ = state && !state->nodes.empty() ? state->nodes : "an unknown node";
  auto gpu = look();
  if (gpu) {
    PERFLAB_TRY_VOID(agree(*gpu));
    return true;
  }
  const auto after = shared_.commands.state_of(allocation_);
  if (after && after->running) exclude_node();
  trouble_ = std::move(gpu).error().message;
  ++fruitless_;
  release();
  return false;
}

void SlurmWorker::exclude_node() {
  const std::scoped_lock lock(shared_.mutex);
  if (std::ranges::find(shared_.excluded, node_) == shared_.excluded.end())
    shared_.excluded.push_back(node_);
}

/// The GPUs of the node, as told by our own program there, which shows that a step can be started,
/// that the program is there and that the folder is. Any error says what is wrong with the node.
Result<std::string> SlurmWorker::look() {
  const fs::path file = shared_.folder.next_file();
  fs::path answer = file;
  answer += ".done";
  PERFLAB_TRY(const ProcessResult ended,
              shared_.commands.step(
                  {.allocation = allocation_,
                   .argv = {shared_.options.program, "autotune-worker", "--gpus", file.string()},
                   .working_directory = shared_.options.working_directory,
                   .timeout = kLookTimeout,
                   .overlap = true,
                   .give_up = [&] { return unwanted(); }}));
  const auto text = wait_for(answer, ended.succeeded());
  if (!text)
    return fail(
        ErrorCode::missing_tool,
        fmt::format("{}: {} autotune-worker gave no answer: {}", node_, shared_.options.program,
                    ended.succeeded()
                        ? fmt::format("its file {} does not show up here", answer.string())
                        : slurm::last_words(ended)),
        kChooseNodes);
  std::error_code ignored;
  fs::remove(answer, ignored);
  PERFLAB_TRY(const Json json, parse_json(*text, fmt::format("the answer of {}", node_)));
  const auto gpus = json.find("gpus");
  if (gpus == json.end() || !gpus->is_array())
    return fail(ErrorCode::missing_tool,
                fmt::format("{}: {} autotune-worker names no GPUs", node_, shared_.options.program),
                same_version_remedy(shared_.options.program));
  std::vector<std::string> names;
  for (const Json& gpu : *gpus) {
    std::string name = gpu.is_object() ? gpu.value("name", std::string()) : std::string();
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return fmt::format("{}", fmt::join(names, " + "));
}

/// Only equal GPUs are compared.
Result<void> SlurmWorker::agree(const std::string& gpu) {
  const std::scoped_lock lock(shared_.mutex);
  if (!shared_.gpu) {
    shared_.gpu = gpu;
    shared_.gpu_node = node_;
    return {};
  }
  if (*shared_.gpu == gpu) return {};
  const auto words = [](const std::string& text) { return text.empty() ? "no GPU" : text; };
  Error error{.code = ErrorCode::usage,
              .message = fmt::format("the nodes differ: {} has {}, {} has {}", shared_.gpu_node,
                                     words(*shared_.gpu), node_, words(gpu)),
              .notes = {},
              .remedy = "choose equal nodes with --partition or a constraint of salloc"};
  shared_.queue.fail_all(error);  // one odd node spoils the comparison: no one goes on
  return std::unexpected(std::move(error));
}

/// One task to its end, or back into the queue. Error: every task would end so.
Result<void> SlurmWorker::handle(SlurmTask task) {
  for (int attempt = 0;; ++attempt) {
    PERFLAB_TRY(Asked asked, ask(task));
    if (asked.evaluation) {
      fruitless_ = 0;
      shared_.queue.answer(task, *std::move(asked.evaluation), node_);
      return {};
    }
    if (unwanted()) return {};
    const auto state = shared_.commands.state_of(allocation_);
    const bool running = state && state->running && !asked.hung;
    if (running && attempt > 0) {
      // The node works (it was looked at in between): the job ends its worker.
      Evaluation evaluation;
      evaluation.outcome = Outcome::run_failed;
      evaluation.detail = fmt::format("its worker ended twice without an answer: {}", asked.words);
      shared_.queue.answer(task, std::move(evaluation), node_);
      return {};
    }
    if (running) {
      if (look()) continue;
      if (unwanted()) return {};
      const auto after = shared_.commands.state_of(allocation_);
      if (after && after->running) exclude_node();
    }
    trouble_ = fmt::format("{} was lost ({}): {}", node_, state ? state->name : "no controller",
                           asked.words);
    ++fruitless_;
    shared_.queue.give_back(std::move(task), node_, asked.words);
    release();
    return {};
  }
}

Result<SlurmWorker::Asked> SlurmWorker::ask(const SlurmTask& task) {
  const fs::path file = shared_.folder.next_file();
  Json json = to_json(task.job);
  if (task.build_only) json["build_only"] = true;
  PERFLAB_TRY_VOID(write_file_atomically(file, to_canonical_text(json)));
  auto ended = shared_.commands.step(
      {.allocation = allocation_,
       .argv = {shared_.options.program, "autotune-worker", file.string()},
       .working_directory = shared_.options.working_directory,
       .timeout = step_timeout(task.job, task.build_only, shared_.options.margin),
       .overlap = false,
       .give_up = [&] { return unwanted(); }});
  // Whoever was stopped has an answer to nothing: a job that was cut has not failed.
  if (unwanted() || (!ended && ended.error().code == ErrorCode::interrupted)) return Asked{};
  if (!ended) return std::unexpected(std::move(ended).error());
  auto asked = read_answer(file, *ended);
  std::error_code ignored;
  fs::remove(file, ignored);
  fs::path answer = file;
  fs::remove(answer += ".done", ignored);
  return asked;
}

/// Errors: those of the worker, which every job would meet.
Result<SlurmWorker::Asked> SlurmWorker::read_answer(const fs::path& file,
                                                    const ProcessResult& ended) {
  fs::path answer = file;
  answer += ".done";
  Asked asked;
  const auto text = wait_for(answer, ended.succeeded());
  if (!text) {
    asked.hung = ended.timed_out;
    asked.words = ended.timed_out ? "it did not end in time" : slurm::last_words(ended);
    return asked;
  }
  const std::string what = fmt::format("the answer of {}", node_);
  PERFLAB_TRY(const Json json, parse_json(*text, what));
  if (const auto error = json.find("error"); error != json.end() && error->is_object()) {
    const auto code =
        from_name<ErrorCode>(error->value("code", std::string())).value_or(ErrorCode::internal);
    std::string message = error->value("message", std::string());
    if (code != ErrorCode::interrupted)
      return fail(code, fmt::format("on {}: {}", node_, message),
                  error->value("remedy", same_version_remedy(shared_.options.program)));
    asked.words = std::move(message);  // Slurm ended the step
    return asked;
  }
  const auto built = json.find("built");
  const auto evaluation = built != json.end() ? built : json.find("evaluation");
  if (evaluation == json.end())
    return fail(ErrorCode::bad_input, fmt::format("{} holds no evaluation", what));
  PERFLAB_TRY(asked.evaluation, evaluation_from_json(*evaluation, what));
  if (built != json.end()) asked.evaluation->outcome = Outcome::correct;
  return asked;
}

/// The text of an answer. `sure`: it was written, so it will show up.
Result<std::string> SlurmWorker::wait_for(const fs::path& file, bool sure) const {
  const auto end = std::chrono::steady_clock::now() + shared_.options.answer_patience;
  while (true) {
    std::error_code ignored;
    // Listing the folder makes a network file system look again.
    const fs::directory_iterator refreshed(file.parent_path(), ignored);
    if (fs::exists(file, ignored)) return read_file(file);
    if (!sure || unwanted() || std::chrono::steady_clock::now() > end)
      return fail(ErrorCode::bad_input, fmt::format("{}: there is no such file", file.string()));
    std::this_thread::sleep_for(kAnswerPoll);
  }
}

class SlurmExecutor final : public Executor {
 public:
  explicit SlurmExecutor(std::unique_ptr<SlurmShared> shared) : shared_(std::move(shared)) {
    for (std::size_t i = 0; i < shared_->options.workers; ++i)
      workers_.push_back(std::make_unique<SlurmWorker>(i, *shared_));
  }
  SlurmExecutor(const SlurmExecutor&) = delete;
  SlurmExecutor& operator=(const SlurmExecutor&) = delete;
  ~SlurmExecutor() override { go_home(); }

  [[nodiscard]] std::size_t width() const override { return shared_->options.workers; }
  [[nodiscard]] std::string gpu() const override {
    const std::scoped_lock lock(shared_->mutex);
    return shared_->gpu.value_or("");
  }

  /// Until the first worker has its node.
  Result<void> wait_for_first() {
    while (!interrupted()) {
      PERFLAB_TRY(const bool ready, shared_->queue.ready());
      if (ready) return {};
    }
    go_home();
    return fail(ErrorCode::interrupted, "interrupted while waiting for a node of the cluster");
  }

  Result<void> evaluate(std::span<const Job> jobs, bool serial,
                        const OnFinished& on_finished) override {
    return work_through(jobs, serial, false, on_finished);
  }
  Result<void> build_all(std::span<const Job> jobs, const OnFinished& on_finished) override {
    return work_through(jobs, false, true, on_finished);
  }

 private:
  Result<void> work_through(std::span<const Job> jobs, bool serial, bool build_only,
                            const OnFinished& on_finished) {
    shared_->queue.begin(jobs, serial, build_only);
    for (std::size_t open = jobs.size(); open > 0;) {
      // What is finished is handed over also after Ctrl-C.
      auto next = shared_->queue.next();
      if (next && !*next && interrupted()) {
        go_home();
        return fail(ErrorCode::interrupted, "interrupted while the cluster worked");
      }
      const bool finished = next && *next;
      Result<void> handed;
      if (finished) handed = on_finished(**std::move(next));
      if (!next || !handed) {
        shared_->queue.abandon();
        return std::unexpected(next ? std::move(handed).error() : std::move(next).error());
      }
      if (finished) --open;
    }
    return {};
  }

  /// Ends the steps, gives every allocation back and waits for that.
  void go_home() {
    shared_->queue.stop();
    workers_.clear();
  }

  std::unique_ptr<SlurmShared> shared_;
  std::vector<std::unique_ptr<SlurmWorker>> workers_;
};

}  // namespace

Result<std::unique_ptr<Executor>> make_slurm_executor(SlurmOptions options) {
  if (options.workers == 0) return fail(ErrorCode::usage, "Slurm: at least one worker is needed");
  PERFLAB_TRY(slurm::Commands commands, slurm::Commands::find());
  std::error_code error;
  const fs::path given = options.working_directory.empty() ? "." : options.working_directory;
  options.working_directory = fs::absolute(given, error);
  if (error) return fail(ErrorCode::usage, fmt::format("{}: {}", given.string(), error.message()));
  PERFLAB_TRY(
      slurm::Folder folder,
      slurm::Folder::create(options.working_directory,
                            [&](const std::vector<std::string>& left) { commands.cancel(left); }));
  const std::size_t workers = options.workers;
  auto executor = std::make_unique<SlurmExecutor>(
      std::unique_ptr<SlurmShared>(new SlurmShared{.commands = std::move(commands),
                                                   .options = std::move(options),
                                                   .folder = std::move(folder),
                                                   .queue = SlurmQueue(workers),
                                                   .mutex = {},
                                                   .gpu = {},
                                                   .gpu_node = {},
                                                   .excluded = {},
                                                   .had_any = false}));
  PERFLAB_TRY_VOID(executor->wait_for_first());
  return std::unique_ptr<Executor>(std::move(executor));
}

}  // namespace perflab::tune
