// Requests to the worker, and what its answers and its ends mean for a configuration.
#include "measure/tuning/capture_timer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "base/hash.h"
#include "base/system/files.h"
#include "base/text/json_names.h"
#include "measure/backend.h"
#include "measure/sensed_json.h"

namespace perflab::measure {
namespace {

using tune::Outcome;

constexpr const char* kAnswer = "the replay worker's answer";

std::array<std::int64_t, 3> axes_of(const auto& values) {
  std::array<std::int64_t, 3> out{};
  std::ranges::transform(values, out.begin(),
                         [](auto value) { return static_cast<std::int64_t>(value); });
  return out;
}

Outcome read_outcome(JsonFields& in) {
  auto outcome = Outcome::run_failed;
  read_name(in, "outcome", outcome);
  return outcome;
}

/// Error: the worker ended before it ran anything, or of the captured code object.
Result<std::string> ended_of_configuration(const BenchAnswer& answer) {
  if (answer.step == capture_step::kConfiguration)
    return fmt::format("the process that ran it {}", answer.ended);
  return fail(ErrorCode::target_failed,
              fmt::format("the process that replays the captured code object {}", answer.ended),
              "`rocm-perf replay verify` on this capture shows it alone");
}

}  // namespace

CaptureTimer::CaptureTimer(const capture::Description& description, AskBench ask)
    : dispatch_(description.dispatch), ask_(std::move(ask)) {}

Result<std::shared_ptr<CaptureTimer>> CaptureTimer::open(const capture::Description& description,
                                                         AskBench ask,
                                                         std::chrono::milliseconds limit) {
  std::shared_ptr<CaptureTimer> timer(new CaptureTimer(description, std::move(ask)));
  const Json what = {{"code_object", ""}, {"launch", launch_json({})}, {"limit_ms", limit.count()}};
  PERFLAB_TRY_VOID(timer->proven({}, what, {}));
  return timer;
}

/// Values beyond what a launch can have are cut to what no launch has: the worker refuses them.
replay::LaunchChange CaptureTimer::launch_of(const tune::LaunchValues& values) const {
  const auto narrow = [](std::int64_t value) {
    return static_cast<std::uint32_t>(std::min<std::int64_t>(value, UINT32_MAX));
  };
  replay::LaunchChange launch;
  if (values.workgroup) {
    launch.workgroup.emplace();
    std::ranges::transform(*values.workgroup, launch.workgroup->begin(), narrow);
  }
  const auto workgroup = launch.workgroup.value_or(dispatch_.workgroup);
  if (values.grid || values.blocks) launch.grid.emplace();
  for (std::size_t i = 0; launch.grid && i < 3; ++i)
    launch.grid->at(i) = values.grid
                             ? static_cast<std::uint64_t>(values.grid->at(i))
                             : std::uint64_t{narrow(values.blocks->at(i))} * workgroup.at(i);
  if (values.dynamic_lds) launch.dynamic_lds_bytes = narrow(*values.dynamic_lds);
  return launch;
}

Result<CaptureTimer::Proven> CaptureTimer::prove(const Json& what,
                                                 const replay::LaunchChange& launch) {
  while (true) {
    Json asked = what;
    asked["poison"] = poison_;
    PERFLAB_TRY(const BenchAnswer answer, ask_({{"prove", std::move(asked)}}));
    if (!answer.answer && answer.step == capture_step::kCaptured && std::exchange(poison_, false))
      continue;
    if (!answer.answer) {
      PERFLAB_TRY(std::string ended, ended_of_configuration(answer));
      return Proven{.outcome = Outcome::run_failed, .detail = std::move(ended), .proof = {}};
    }
    if (answer.answer->contains("poison_failed") && std::exchange(poison_, false)) continue;
    JsonFields in(*answer.answer, kAnswer);
    Proven out;
    out.outcome = read_outcome(in);
    in.read("detail", out.detail);
    in.read("gpu", gpu_);
    if (!in.is_null("proof")) {
      JsonFields proof = in.object("proof");
      out.proof.emplace();
      proof.read("verdict", out.proof->verdict);
      proof.read("sentence", out.proof->sentence);
      proof.read("compared_bytes", out.proof->compared_bytes);
      proof.read("code_object_hash", out.proof->code_object_hash);
      out.proof->grid = launch.grid ? axes_of(*launch.grid) : axes_of(dispatch_.grid);
      out.proof->workgroup = axes_of(launch.workgroup.value_or(dispatch_.workgroup));
      out.proof->dynamic_lds_bytes = launch.dynamic_lds_bytes.value_or(
          dispatch_.group_segment_bytes -
          std::min(dispatch_.group_segment_bytes, dispatch_.static_group_segment_bytes));
    }
    PERFLAB_TRY_VOID(in.result());
    return out;
  }
}

Result<CaptureTimer::Proven> CaptureTimer::proven(const std::filesystem::path& code_object,
                                                  const Json& what,
                                                  const replay::LaunchChange& launch) {
  std::string key = to_canonical_text(launch_json(launch));
  if (!code_object.empty()) {
    PERFLAB_TRY(const std::string bytes, read_file(code_object));
    key += content_hash_text(bytes);
  }
  if (const auto known = proven_.find(key); known != proven_.end()) return known->second;
  PERFLAB_TRY(Proven fresh, prove(what, launch));
  return proven_.emplace(std::move(key), std::move(fresh)).first->second;
}

Result<tune::ProfiledRun> CaptureTimer::time(const tune::Job& job) {
  PERFLAB_CHECK(job.captured.has_value());
  const std::filesystem::path& object = job.captured->code_object;
  const replay::LaunchChange launch = launch_of(job.captured->launch);
  const std::chrono::duration<double> limit(job.run_limit_seconds.value_or(60));
  const Json what = {
      {"code_object", object.empty() ? "" : std::filesystem::absolute(object).string()},
      {"launch", launch_json(launch)},
      {"limit_ms",
       std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::milliseconds>(limit).count())}};
  PERFLAB_TRY(const Proven proof, proven(object, what, launch));
  tune::ProfiledRun run;
  run.proof = proof.proof;
  if (proof.outcome != Outcome::correct) {
    run.failure = proof.outcome;
    run.problem = proof.detail;
    return run;
  }
  for (bool counts = false; !counts;) {
    PERFLAB_TRY(run, measure(what, counts));
  }
  run.proof = proof.proof;
  return run;
}

/// `counts`: whether the sensors say nothing against it.
Result<tune::ProfiledRun> CaptureTimer::measure(const Json& what, bool& counts) {
  tune::ProfiledRun run;
  counts = true;
  const auto began = std::chrono::steady_clock::now();
  PERFLAB_TRY(const BenchAnswer answer, ask_({{"measure", what}}));
  run.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (!answer.answer) {
    PERFLAB_TRY(run.problem, ended_of_configuration(answer));
    return run;
  }
  JsonFields in(*answer.answer, kAnswer);
  if (const Outcome outcome = read_outcome(in); outcome != Outcome::correct) {
    run.failure = outcome;
    in.read("detail", run.problem);
  } else {
    in.read("samples", run.samples);
    PERFLAB_TRY(const Sensed sensed,
                sensed_from_json(answer.answer->value("sensed", Json::object()), kAnswer));
    counts = judge_turn(watch_, std::array{sensed});
  }
  PERFLAB_TRY_VOID(in.result());
  return run;
}

}  // namespace perflab::measure
