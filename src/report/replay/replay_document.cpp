// JSON of a replay. Every null has an entry in `missing`.
#include "report/replay/replay_document.h"

#include <vector>

#include "analyze/analysis.h"
#include "report/kit/document.h"
#include "report/replay/left_memory_json.h"
#include "sensors/conditions.h"

namespace perflab::report {
namespace {

Json replay_timing_json(const ReplayData& data, std::vector<Missing>& missing) {
  const stats::DurationSummary summary = replay_summary(data);
  const std::optional<double> ratio = ratio_to_captured(data);
  Json samples = Json::array();
  for (const Nanos time : data.result.times) samples.push_back(time.value);
  if (!summary.stddev)
    missing.push_back({.field = "timing.stddev",
                       .reason = "one iteration has no spread",
                       .remedy = "run it with --iterations 2 or more"});
  if (!summary.cv)
    missing.push_back({.field = "timing.cv",
                       .reason = summary.stddev ? "the mean is 0" : "one iteration has no spread",
                       .remedy = summary.stddev ? "" : "run it with --iterations 2 or more"});
  if (!data.result.captured_ns)
    missing.push_back({.field = "timing.captured",
                       .reason = "the dispatch was not timed when it was captured",
                       .remedy = ""});
  if (!ratio)
    missing.push_back({.field = "timing.ratio_to_captured",
                       .reason = data.original ? "there is no captured time to compare with"
                                               : "another code object ran",
                       .remedy = data.original ? "" : "run it without --hsaco"});
  return {{"unit", "ns"},
          {"average", or_null(summary.mean)},
          {"min", or_null(summary.min)},
          {"max", or_null(summary.max)},
          {"median", or_null(summary.median)},
          {"stddev", or_null(summary.stddev)},
          {"cv", or_null(summary.cv)},
          {"captured", or_null(data.result.captured_ns)},
          {"ratio_to_captured", or_null(ratio)},
          {"wall", data.result.wall.value},
          {"iterations_per_turn", data.result.iterations_per_turn},
          {"conditions", sensors::conditions_json(data.result.conditions)},
          {"samples", std::move(samples)}};
}

}  // namespace

stats::DurationSummary replay_summary(const ReplayData& data) {
  std::vector<std::int64_t> times;
  for (const Nanos time : data.result.times) times.push_back(time.value);
  return stats::summarize_durations(times);
}

std::optional<double> ratio_to_captured(const ReplayData& data) {
  const std::optional<double> median = replay_summary(data).median;
  if (!data.original || !median || data.result.captured_ns.value_or(0) == 0) return std::nullopt;
  return *median / static_cast<double>(*data.result.captured_ns);
}

Json replay_document(const ReplayData& data) {
  std::vector<Missing> missing;
  const replay::FullVmResult& result = data.result;
  Json document = {{"schema_version", "1.2.0"},
                   {"document", "replay"},
                   {"generator", generator_json()},
                   {"kernel",
                    {{"name", result.kernel},
                     {"demangled", result.demangled},
                     {"hsaco_path", data.code_object},
                     {"hsaco_hash", data.code_object_hash},
                     {"captured_code_object", data.original}}},
                   {"capture", {{"isa", data.capture_isa}, {"dispatch", data.ordinal}}},
                   {"execution",
                    {{"iterations", result.iterations},
                     {"mode", result.recopy ? "recopy" : "no_recopy"},
                     {"caches", to_string(result.caches)},
                     {"warmup", data.warmup},
                     {"restored_bytes_per_iteration", result.restored_bytes_per_iteration},
                     {"restored_on_device", result.restored_on_device},
                     {"learned_pages", result.learned_pages}}},
                   {"timing", replay_timing_json(data, missing)},
                   {"left_memory", left_memory_json(result.left_memory, missing)},
                   {"notes", result.notes}};
  for (const auto& [field, value] :
       {std::pair{"environment.rocm_version", &data.device.rocm_version},
        std::pair{"environment.product_name", &data.device.product_name}})
    if (value->empty())
      missing.push_back({.field = field, .reason = "the installation does not say", .remedy = ""});
  document["environment"] = {{"gpu_agent", data.device.agent_name},
                             {"rocm_version", or_null(data.device.rocm_version)},
                             {"pid", data.pid},
                             {"runtime_version", data.device.runtime_version},
                             {"product_name", or_null(data.device.product_name)},
                             {"isa", data.device.isa},
                             {"capture_folder", data.capture_folder}};
  document["missing"] = missing_json(missing);
  return document;
}

}  // namespace perflab::report
