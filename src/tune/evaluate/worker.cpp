// The far end of the Slurm executor: one job in, one answer out. Answers go through files that are
// renamed into place, so that nothing that a node prints can spoil them.
#include <fmt/format.h>

#include <cstdio>

#include "base/system/files.h"
#include "base/system/interrupt.h"
#include "tune/evaluate/executor.h"
#include "tune/evaluate/visible_gpus.h"

namespace perflab::tune {
namespace {

constexpr int kExitNoAnswer = 1;

/// The answer to a job: {"evaluation": ...}, or {"built": ...} for a build that succeeded and was
/// all that was asked for. An evaluation without a value is no correct one to evaluation_from_json,
/// so a build travels as a failed one; the key says what it is.
Result<Json> answer_job(std::string_view input, const GpuTimer& gpu_timer) {
  PERFLAB_TRY(const Json json, parse_json(input, "the job"));
  PERFLAB_TRY(const Job job, job_from_json(json, "the job"));
  const auto only = json.find("build_only");
  const bool build_only = only != json.end() && only->is_boolean() && only->get<bool>();
  Evaluation evaluation;
  evaluation.outcome = Outcome::correct;
  if (!job.already_built) {
    PERFLAB_TRY(evaluation, build(job));
  }
  if (build_only && evaluation.outcome == Outcome::correct) {
    evaluation.outcome = Outcome::run_failed;
    return Json{{"built", to_json(evaluation)}};
  }
  if (evaluation.outcome == Outcome::correct) {
    PERFLAB_TRY(evaluation, run(job, std::move(evaluation), gpu_timer));
  }
  return Json{{"evaluation", to_json(evaluation)}};
}

std::string answer_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<std::string> answer_to(std::span<const std::string> arguments, const GpuTimer& gpu_timer) {
  if (arguments.size() == 1) {
    PERFLAB_TRY(const std::string input, read_file(arguments[0]));
    return work_on(input, gpu_timer);
  }
  if (arguments.size() != 2 || arguments[0] != "--gpus")
    return fail(ErrorCode::usage, "autotune-worker takes FILE, or --gpus FILE");
  Json gpus = Json::array();
  for (const TopologyGpu& one : visible_gpus(read_topology({})))  // Slurm hides those of others
    gpus.push_back(Json{{"name", one.gpu.name}, {"architecture", one.gpu.architecture}});
  return answer_line(Json{{"gpus", std::move(gpus)}});
}

}  // namespace

std::string work_on(std::string_view input, const GpuTimer& gpu_timer) {
  const Result<Json> answer = answer_job(input, gpu_timer);
  if (answer) return answer_line(*answer);
  Json error;
  error["code"] = to_string(answer.error().code);
  error["message"] = answer.error().message;
  error["remedy"] = answer.error().remedy;
  return answer_line(Json{{"error", std::move(error)}});
}

int autotune_worker_main(std::span<const std::string> arguments, const GpuTimer& gpu_timer) {
  // Slurm ends a step with SIGTERM: the command under test must end with us.
  const InterruptScope interrupts;
  const Result<std::string> answer = answer_to(arguments, gpu_timer);
  const Result<void> written =
      answer ? write_file_atomically(arguments.back() + ".done", *answer + "\n")
             : std::unexpected(answer.error());
  if (written) return 0;
  fmt::print(stderr, "{}\n", describe(written.error()));
  return kExitNoAnswer;
}

}  // namespace perflab::tune
