// Jobs as JSON: what is sent to a worker on another machine. Every field is written and every field
// must be there when it is read, so that a worker of another version refuses instead of guessing.
#include "tune/evaluate/job.h"

#include <cmath>

#include "base/enum_names.h"
#include "base/text/json_fields.h"

namespace perflab::tune {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

/// A text that is no UTF-8 (a file name may be anything) cannot be a JSON string: it is written as
/// the list of its bytes.
Json text_json(const std::string& text) {
  try {
    if (!text.empty()) static_cast<void>(Json(text).dump());
    return text;
  } catch (const Json::exception&) {
    Json bytes = Json::array();
    for (const char c : text) bytes.push_back(static_cast<unsigned char>(c));
    return bytes;
  }
}

Json texts_json(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(text_json(text));
  return list;
}

Json seconds_json(const std::optional<double>& seconds) {
  return seconds && std::isfinite(*seconds) ? Json(*seconds) : Json(nullptr);
}

// What text_json() wrote.
void take(JsonFields& in, std::string_view key, const Json& json, std::string& out) {
  if (json.is_string()) {
    out = json.get<std::string>();
  } else if (json.is_array()) {
    for (const Json& byte : json) {
      const auto value = value_as<unsigned char>(byte);
      if (!value) return in.wrong(key, "is not a list of bytes");
      out += static_cast<char>(*value);
    }
  } else {
    in.wrong(key, "is not a text");
  }
}

void read(JsonFields& in, std::string_view key, std::string& out) {
  if (const Json* found = in.find(key)) take(in, key, *found, out);
}
void read(JsonFields& in, std::string_view key, std::filesystem::path& out) {
  std::string text;
  read(in, key, text);
  out = text;
}
void read(JsonFields& in, std::string_view key, std::vector<std::string>& out) {
  for (const Json& item : in.list(key)) take(in, key, item, out.emplace_back());
}
void read(JsonFields& in, std::string_view key, Variables& out) {
  for (const Json& pair : in.list(key)) {
    auto& [name, value] = out.emplace_back();
    if (!pair.is_array() || pair.size() != 2) return in.wrong(key, "is not a list of pairs");
    take(in, key, pair[0], name);
    take(in, key, pair[1], value);
  }
}
/// Seconds above 0, or null.
void read(JsonFields& in, std::string_view key, std::optional<double>& out) {
  in.read(key, out);
  if (out && !(*out > 0)) in.wrong(key, "is not a number above 0, or null");
}

Json to_json(const Metric& metric) {
  return Json{{"name", text_json(metric.name)},       {"unit", text_json(metric.unit)},
              {"source", to_string(metric.source)},   {"pattern", text_json(metric.pattern)},
              {"at_least", or_null(metric.at_least)}, {"at_most", or_null(metric.at_most)},
              {"objective", metric.objective},        {"maximize", metric.maximize}};
}

Metric metric_from(JsonFields& in) {
  Metric metric;
  std::string source;
  read(in, "name", metric.name);
  read(in, "unit", metric.unit);
  read(in, "source", source);
  if (const auto known = from_name<MetricSource>(source))
    metric.source = *known;
  else
    in.wrong("source", "is not the name of a source");
  read(in, "pattern", metric.pattern);
  in.read("at_least", metric.at_least);
  in.read("at_most", metric.at_most);
  in.read("objective", metric.objective);
  in.read("maximize", metric.maximize);
  return metric;
}

Objective objective_from(JsonFields&& in) {
  Objective objective;
  std::string kind;
  read(in, "kind", kind);
  if (const auto known = from_name<ObjectiveKind>(kind))
    objective.kind = *known;
  else
    in.wrong("kind", "is not the name of an objective");
  read(in, "metric_pattern", objective.metric_pattern);
  read(in, "kernel_pattern", objective.kernel_pattern);
  in.read("maximize", objective.maximize);
  read(in, "unit", objective.unit);
  in.each("metrics", [&](JsonFields& item) { objective.metrics.push_back(metric_from(item)); });
  return objective;
}

RepeatRule repeats_from(JsonFields&& in) {
  RepeatRule repeats;
  in.read("warm_up_runs", repeats.warm_up_runs);
  in.read("fewest_samples", repeats.fewest_samples);
  in.read("most_runs", repeats.most_runs);
  in.read("steady_cv", repeats.steady_cv);
  in.read("unstable_cv", repeats.unstable_cv);
  return repeats;
}

}  // namespace

std::string_view to_string(ObjectiveKind kind) {
  using enum ObjectiveKind;
  static constexpr auto kNames = enum_names<ObjectiveKind>(
      {{gpu_time, "gpu_time"}, {metric, "metric"}, {wall_time, "wall_time"}});
  return kNames[kind];
}

Json to_json(const Job& job) {
  Json objective;
  objective["kind"] = to_string(job.objective.kind);
  objective["metric_pattern"] = text_json(job.objective.metric_pattern);
  objective["kernel_pattern"] = text_json(job.objective.kernel_pattern);
  objective["maximize"] = job.objective.maximize;
  objective["unit"] = text_json(job.objective.unit);
  objective["metrics"] = Json::array();
  for (const Metric& metric : job.objective.metrics)
    objective["metrics"].push_back(to_json(metric));
  Json repeats;
  repeats["warm_up_runs"] = job.repeats.warm_up_runs;
  repeats["fewest_samples"] = job.repeats.fewest_samples;
  repeats["most_runs"] = job.repeats.most_runs;
  repeats["steady_cv"] = job.repeats.steady_cv;
  repeats["unstable_cv"] = job.repeats.unstable_cv;
  Json environment = Json::array();
  for (const auto& [name, value] : job.environment)
    environment.push_back(Json::array({text_json(name), text_json(value)}));
  Json json;
  json["id"] = job.id;
  json["build"] = texts_json(job.build);
  json["run"] = texts_json(job.run);
  json["check"] = texts_json(job.check);
  json["build_folder"] = text_json(job.build_folder.string());
  json["code_object"] = text_json(job.code_object.string());
  json["code_object_kernel"] = text_json(job.code_object_kernel);
  json["architecture"] = text_json(job.architecture);
  json["objective"] = std::move(objective);
  json["repeats"] = std::move(repeats);
  json["run_limit_seconds"] = seconds_json(job.run_limit_seconds);
  json["build_limit_seconds"] = seconds_json(job.build_limit_seconds);
  json["already_built"] = job.already_built;
  json["already_checked"] = job.already_checked;
  json["exact_runs"] = job.exact_runs;
  json["environment"] = std::move(environment);
  json["sensor_gpu"] = job.sensor_gpu;
  return json;
}

Result<Job> job_from_json(const Json& json, std::string_view what) {
  JsonFields in(json, what);
  Job job;
  in.read("id", job.id);
  read(in, "build", job.build);
  read(in, "run", job.run);
  read(in, "check", job.check);
  read(in, "build_folder", job.build_folder);
  read(in, "code_object", job.code_object);
  read(in, "code_object_kernel", job.code_object_kernel);
  read(in, "architecture", job.architecture);
  job.objective = objective_from(in.object("objective"));
  job.repeats = repeats_from(in.object("repeats"));
  read(in, "run_limit_seconds", job.run_limit_seconds);
  read(in, "build_limit_seconds", job.build_limit_seconds);
  in.read("already_built", job.already_built);
  in.read("already_checked", job.already_checked);
  in.read("exact_runs", job.exact_runs);
  read(in, "environment", job.environment);
  read(in, "sensor_gpu", job.sensor_gpu);
  PERFLAB_TRY_VOID(in.result());
  return job;
}

}  // namespace perflab::tune
