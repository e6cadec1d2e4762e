// The loop over runs, and the sentences for everything that can go wrong in one.
#include "collect/collect.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "collect/recorder.h"
#include "collect/target_process.h"

namespace perflab::collect {
namespace {

namespace fs = std::filesystem;

/// Runs one plan.
class Collector {
 public:
  explicit Collector(const CollectPlan& plan) : plan_(plan) {
    collection_.traced = !plan.no_rocprof;
    collection_.runs_wanted = plan.runs;
  }

  Result<Collection> run() {
    PERFLAB_TRY_VOID(check_plan(plan_));
    if (collection_.traced) PERFLAB_TRY_VOID(prepare_tracing());
    for (int number = 1; number <= plan_.runs && !collection_.problem; ++number) {
      Result<void> done = run_once(number);
      if (done) continue;
      if (collection_.runs.empty()) return std::unexpected(std::move(done).error());
      collection_.problem = done.error().code == ErrorCode::interrupted
                                ? interruption()
                                : with_salvage(std::move(done).error());
    }
    if (plan_.progress != nullptr) plan_.progress->erase();
    return std::move(collection_);
  }

 private:
  Result<void> prepare_tracing() {
    PERFLAB_TRY(recorder_, make_recorder(plan_));
    collection_.rocprofv3 = recorder_->rocprofv3();
    collection_.platform = plan_.platform;
    PERFLAB_TRY(collection_.folder, make_collection_folder(plan_.root));
    return {};
  }

  Result<void> run_once(int number) {
    TargetRun run;
    run.number = number;
    if (collection_.traced) {
      PERFLAB_TRY(run.folder, make_run_folder(collection_.folder, number));
    }
    input_.rewind();
    Result<ProcessResult> process = run_program(command(run), options(run, number));
    if (!process) {
      take_back_folders(run);
      return std::unexpected(cannot_start(std::move(process).error(),
                                          recorder_ != nullptr && recorder_->wraps_target()));
    }
    run.process = *std::move(process);
    if (collection_.traced) {
      salvaged_ = recorder_->salvage(run.folder);
      FoundDatabases found = find_databases(run.folder);
      run.databases = std::move(found.databases);
      run.rejected = std::move(found.rejected);
      PERFLAB_TRY_VOID(check_output(run));
    }
    add_notes(run);
    collection_.runs.push_back(std::move(run));
    collection_.problem = problem_of(collection_.runs.back());
    return {};
  }

  [[nodiscard]] std::vector<std::string> command(const TargetRun& run) const {
    if (!collection_.traced) return plan_.target;
    return recorder_->command(run.folder, plan_);
  }

  [[nodiscard]] ProcessOptions options(const TargetRun& run, int number) const {
    ProcessOptions options =
        process_options(plan_, {}, plan_.timeout, [this, number](Nanos elapsed) {
          return Shown{
              .text = fmt::format("run {} of {}: {}", number, plan_.runs, program_name(plan_)),
              .fraction = done_fraction(elapsed)};
        });
    if (recorder_ != nullptr) recorder_->set_environment(run.folder, {}, options);
    return options;
  }

  /// Share of all runs that is done, by the mean time of the earlier ones; unknown in the first.
  [[nodiscard]] std::optional<double> done_fraction(Nanos elapsed) const {
    const auto done = static_cast<double>(collection_.runs.size());
    if (done == 0) return std::nullopt;
    Nanos total;
    for (const TargetRun& run : collection_.runs) total += run.process.wall_time;
    const double mean = std::max(static_cast<double>(total.value) / done, 1.0);
    const double of_this = std::min(static_cast<double>(elapsed.value) / mean, 0.99);
    return (done + of_this) / static_cast<double>(plan_.runs);
  }

  /// Nothing was run: folders that are empty do not stay.
  void take_back_folders(const TargetRun& run) const {
    if (!collection_.traced) return;
    std::error_code ignored;
    fs::remove(run.folder, ignored);
    fs::remove(collection_.folder, ignored);
  }

  /// Nothing was run when the recorder refused an option.
  [[nodiscard]] Result<void> check_output(const TargetRun& run) const {
    if (run.process.exit_code == 0 || !run.databases.empty()) return {};
    Result<void> accepted = recorder_->check_refused(run.process, plan_);
    if (!accepted) take_back_folders(run);
    return accepted;
  }

  void add_notes(const TargetRun& run) {
    for (const std::string& text : std::exchange(salvaged_, {}))
      collection_.notes.push_back(fmt::format("run {}: {}", run.number, text));
    for (const std::string& text : oddities_of(run.process, run.databases, plan_.linger))
      collection_.notes.push_back(fmt::format("run {}: {}", run.number, text));
  }

  [[nodiscard]] std::optional<Error> problem_of(const TargetRun& run) const {
    if (run.process.interrupted) return interruption();
    if (!run.process.succeeded())
      return failure_of(run.process, heading(run), plan_.timeout, salvage());
    if (!run.complete()) return recorder_->nothing_recorded(heading(run), run.folder, run.rejected);
    return std::nullopt;
  }

  [[nodiscard]] std::string heading(const TargetRun& run) const {
    return fmt::format("{}: run {} of {}", plan_.target.front(), run.number, plan_.runs);
  }

  /// What there is in spite of the problem.
  [[nodiscard]] std::vector<std::string> salvage() const {
    const int complete = collection_.complete_runs();
    std::vector<std::string> notes;
    notes.push_back(fmt::format("{} of {} runs are complete", complete, plan_.runs));
    if (collection_.traced && !collection_.runs.empty() && !collection_.runs.back().complete()) {
      const TargetRun& run = collection_.runs.back();
      notes.push_back(run.databases.empty()
                          ? fmt::format("run {} left no database", run.number)
                          : fmt::format("run {} left {} with what was recorded until then",
                                        run.number, counted(run.databases.size(), "database")));
    }
    return notes;
  }

  /// Our own failure after runs that went well: they are not thrown away for it.
  [[nodiscard]] Error with_salvage(Error error) const {
    for (std::string& note : salvage()) error.notes.push_back(std::move(note));
    return error;
  }

  [[nodiscard]] Error interruption() const {
    Error error{.code = ErrorCode::interrupted,
                .message = fmt::format("{}: interrupted", plan_.target.front()),
                .notes = salvage(),
                .remedy = {}};
    const std::size_t left = static_cast<std::size_t>(plan_.runs) - collection_.runs.size();
    if (left > 0) error.notes.push_back(counted(left, "run") + " not started");
    return error;
  }

  const CollectPlan& plan_;
  Collection collection_;
  std::unique_ptr<Recorder> recorder_;  // when traced
  std::vector<std::string> salvaged_;   // sentences about the run at hand
  RewindableInput input_;
};

}  // namespace

int Collection::complete_runs() const {
  return static_cast<int>(std::ranges::count_if(runs, &TargetRun::complete));
}

bool Collection::has_databases() const {
  return std::ranges::any_of(runs, [](const TargetRun& run) { return !run.databases.empty(); });
}

Result<Collection> collect(const CollectPlan& plan) {
  return Collector(plan).run();
}

}  // namespace perflab::collect
