#include "docs/examples/remote_executor.h"

#include <fmt/format.h>

#include "base/system/files.h"
#include "base/system/subprocess.h"
#include "base/text/json.h"

namespace perflab::tune {

Result<Evaluation> RemoteExecutor::evaluate_one(const Job& job) {
  const std::string file = (folder_ / fmt::format("job_{}.json", job.id)).string();
  PERFLAB_TRY_VOID(write_file_atomically(file, to_canonical_text(to_json(job))));
  std::vector<std::string> argv = start_;
  argv.insert(argv.end(), {"autotune-worker", file});
  PERFLAB_TRY(const ProcessResult ended, run_program(argv));
  if (ended.interrupted) return fail(ErrorCode::interrupted, "the worker was interrupted");
  if (!ended.succeeded())
    return fail(ErrorCode::missing_tool, fmt::format("{} {}", start_.front(), describe_end(ended)),
                "run the same command by hand: it has to start rocm-perf on the other machine");
  PERFLAB_TRY(const std::string text, read_file(file + ".done"));
  PERFLAB_TRY(const Json answer, parse_json(text, file + ".done"));
  if (const auto error = answer.find("error"); error != answer.end())
    return fail(ErrorCode::missing_tool, error->value("message", "the worker gave no reason"),
                error->value("remedy", "ask it what it lacks: rocm-perf doctor"));
  return evaluation_from_json(answer.value("evaluation", Json()), file + ".done");
}

Result<void> RemoteExecutor::evaluate(std::span<const Job> jobs, bool /*serial*/,
                                      const OnFinished& on_finished) {
  for (std::size_t i = 0; i < jobs.size(); ++i) {  // one worker: always in order
    PERFLAB_TRY(Evaluation evaluation, evaluate_one(jobs[i]));
    PERFLAB_TRY_VOID(
        on_finished({.index = i, .evaluation = std::move(evaluation), .worker = start_.front()}));
  }
  return {};
}

}  // namespace perflab::tune
