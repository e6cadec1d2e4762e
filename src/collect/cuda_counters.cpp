// A start of the program per pass. Why a process could not be counted stands in its recording
// (trace::Source::counter_problem): who reads the databases says it.
#include "collect/cuda_counters.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "base/system/files.h"
#include "collect/recorder.h"
#include "collect/target_process.h"

namespace perflab::collect {
namespace {

class CudaCounterCollector {
 public:
  CudaCounterCollector(const CollectPlan& plan, const Collection& base) : plan_(plan) {
    collection_.folder = base.folder / "counters";
  }

  Result<CounterCollection> run(const std::vector<std::vector<std::string>>& passes) {
    PERFLAB_TRY(recorder_, make_recorder(plan_));
    for (const std::vector<std::string>& counters : passes) {
      PERFLAB_CHECK(!counters.empty());
      CounterPass& pass = collection_.passes.emplace_back();
      pass.number = static_cast<int>(collection_.passes.size());
      pass.counters = counters;
      pass.folder = collection_.folder / fmt::format("pass_{}", pass.number);
    }
    for (CounterPass& pass : collection_.passes) {
      PERFLAB_TRY_VOID(run_pass(pass));
      if (collection_.problem) break;
    }
    if (plan_.progress != nullptr) plan_.progress->erase();
    return std::move(collection_);
  }

 private:
  Result<void> run_pass(CounterPass& pass) {
    PERFLAB_TRY_VOID(make_directories(pass.folder));
    input_.rewind();
    ProcessOptions options = process_options(plan_, {}, plan_.timeout, [&](Nanos) {
      return Shown{.text = fmt::format("counter pass {} of {}: {}", pass.number,
                                       collection_.passes.size(), program_name(plan_)),
                   .fraction = std::nullopt};
    });
    recorder_->set_environment(pass.folder, pass.counters, options);
    Result<ProcessResult> process = run_program(recorder_->command(pass.folder, plan_), options);
    if (!process)
      return std::unexpected(cannot_start(std::move(process).error(), recorder_->wraps_target()));
    collection_.process = *std::move(process);
    for (const std::string& sentence : recorder_->salvage(pass.folder))
      collection_.notes.push_back(fmt::format("pass {}: {}", pass.number, sentence));
    FoundDatabases found = find_databases(pass.folder);
    pass.databases = std::move(found.databases);
    pass.rejected = std::move(found.rejected);
    for (const std::string& text : oddities_of(collection_.process, pass.databases, plan_.linger))
      collection_.notes.push_back(fmt::format("pass {}: {}", pass.number, text));
    collection_.problem = problem_of(pass);
    return {};
  }

  [[nodiscard]] std::optional<Error> problem_of(const CounterPass& pass) const {
    const std::string heading = fmt::format("{}: counter pass {} of {}", plan_.target.front(),
                                            pass.number, collection_.passes.size());
    const ProcessResult& process = collection_.process;
    if (process.interrupted)
      return Error{.code = ErrorCode::interrupted,
                   .message = fmt::format("{}: interrupted", plan_.target.front()),
                   .notes = {},
                   .remedy = {}};
    if (!process.succeeded()) return failure_of(process, heading, plan_.timeout, {});
    if (pass.databases.empty())
      return recorder_->nothing_recorded(heading, pass.folder, pass.rejected);
    return std::nullopt;
  }

  const CollectPlan& plan_;
  CounterCollection collection_;
  std::unique_ptr<Recorder> recorder_;
  RewindableInput input_;
};

}  // namespace

Result<CounterCollection> collect_cuda_counters(
    const CollectPlan& plan, const Collection& base,
    const std::vector<std::vector<std::string>>& passes) {
  return CudaCounterCollector(plan, base).run(passes);
}

}  // namespace perflab::collect
