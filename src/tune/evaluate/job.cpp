// Jobs as JSON: what is sent to a worker on another machine. Every field is written and every field
// must be there when it is read, so that a worker of another version refuses instead of guessing.
#include "tune/evaluate/job.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>

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

std::optional<ObjectiveKind> objective_kind_from(std::string_view name) {
  for (const ObjectiveKind kind :
       {ObjectiveKind::gpu_time, ObjectiveKind::metric, ObjectiveKind::wall_time})
    if (to_string(kind) == name) return kind;
  return std::nullopt;
}

/// Reads the members of one object; the first fault is kept, later reads do nothing.
class JobReader {
 public:
  JobReader(const Json& object, std::string what) : object_(object), what_(std::move(what)) {
    if (!object_.is_object()) fault_ = fmt::format("{}: not a JSON object", what_);
  }

  void read(const char* key, std::string& to) {
    if (const Json* member = find(key))
      if (!read_text(*member, to)) refuse(key, "a text");
  }
  void read(const char* key, std::filesystem::path& to) {
    std::string text;
    read(key, text);
    to = text;
  }
  void read(const char* key, std::vector<std::string>& to) {
    const Json* member = find(key);
    if (member == nullptr) return;
    bool good = member->is_array();
    for (std::size_t i = 0; good && i < member->size(); ++i)
      good = read_text((*member)[i], to.emplace_back());
    if (!good) refuse(key, "a list of texts");
  }
  void read(const char* key, Variables& to) {
    const Json* member = find(key);
    if (member == nullptr) return;
    bool good = member->is_array();
    for (std::size_t i = 0; good && i < member->size(); ++i) {
      const Json& pair = (*member)[i];
      auto& [name, value] = to.emplace_back();
      good = pair.is_array() && pair.size() == 2 && read_text(pair[0], name) &&
             read_text(pair[1], value);
    }
    if (!good) refuse(key, "a list of pairs of texts");
  }
  void read(const char* key, bool& to) {
    if (const Json* member = find(key)) {
      if (member->is_boolean())
        to = member->get<bool>();
      else
        refuse(key, "true or false");
    }
  }
  void read(const char* key, std::size_t& to) {
    if (const Json* member = find(key)) {
      if (member->is_number_unsigned())
        to = member->get<std::size_t>();
      else
        refuse(key, "a whole number from 0");
    }
  }
  void read(const char* key, double& to) {
    if (const Json* member = find(key)) {
      if (member->is_number())
        to = member->get<double>();
      else
        refuse(key, "a number");
    }
  }
  void read(const char* key, std::optional<double>& to) {
    if (const Json* member = find(key); member != nullptr && !member->is_null()) {
      if (member->is_number() && member->get<double>() > 0)
        to = member->get<double>();
      else
        refuse(key, "a number above 0, or null");
    }
  }
  void read(const char* key, ObjectiveKind& to) {
    std::string name;
    read(key, name);
    if (!fault_.empty()) return;
    if (const auto kind = objective_kind_from(name))
      to = *kind;
    else
      refuse(key, "the name of an objective");
  }
  /// The object under a key, for a reader of its own.
  [[nodiscard]] const Json& inner(const char* key) {
    static const Json kNothing;
    const Json* member = find(key);
    return member != nullptr ? *member : kNothing;
  }
  [[nodiscard]] Result<void> conclude() const {
    if (fault_.empty()) return {};
    return fail(ErrorCode::bad_input, fault_);
  }

 private:
  static bool read_text(const Json& json, std::string& to) {
    if (json.is_string()) {
      to = json.get<std::string>();
      return true;
    }
    if (!json.is_array()) return false;
    for (const Json& byte : json) {
      if (!byte.is_number_unsigned() ||
          byte.get<std::uint64_t>() > std::numeric_limits<unsigned char>::max())
        return false;
      to += static_cast<char>(byte.get<unsigned char>());
    }
    return true;
  }
  const Json* find(const char* key) {
    if (!fault_.empty()) return nullptr;
    const auto found = object_.find(key);
    if (found != object_.end()) return &*found;
    fault_ = fmt::format("{}: \"{}\" is missing", what_, key);
    return nullptr;
  }
  void refuse(const char* key, std::string_view wanted) {
    if (fault_.empty()) fault_ = fmt::format("{}: \"{}\" is not {}", what_, key, wanted);
  }

  const Json& object_;
  std::string what_;
  std::string fault_;
};

Result<Objective> objective_from(const Json& json, std::string what) {
  JobReader reader(json, std::move(what));
  Objective objective;
  reader.read("kind", objective.kind);
  reader.read("metric_pattern", objective.metric_pattern);
  reader.read("kernel_pattern", objective.kernel_pattern);
  reader.read("maximize", objective.maximize);
  reader.read("unit", objective.unit);
  PERFLAB_TRY_VOID(reader.conclude());
  return objective;
}

Result<RepeatRule> repeats_from(const Json& json, std::string what) {
  JobReader reader(json, std::move(what));
  RepeatRule repeats;
  reader.read("warm_up_runs", repeats.warm_up_runs);
  reader.read("fewest_samples", repeats.fewest_samples);
  reader.read("most_runs", repeats.most_runs);
  reader.read("steady_cv", repeats.steady_cv);
  reader.read("unstable_cv", repeats.unstable_cv);
  PERFLAB_TRY_VOID(reader.conclude());
  return repeats;
}

}  // namespace

std::string_view to_string(ObjectiveKind kind) {
  switch (kind) {
    case ObjectiveKind::gpu_time:
      return "gpu_time";
    case ObjectiveKind::metric:
      return "metric";
    case ObjectiveKind::wall_time:
      return "wall_time";
  }
  return "";
}

Json to_json(const Job& job) {
  Json objective;
  objective["kind"] = to_string(job.objective.kind);
  objective["metric_pattern"] = text_json(job.objective.metric_pattern);
  objective["kernel_pattern"] = text_json(job.objective.kernel_pattern);
  objective["maximize"] = job.objective.maximize;
  objective["unit"] = text_json(job.objective.unit);
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
  return json;
}

Result<Job> job_from_json(const Json& json, std::string_view what) {
  JobReader reader(json, std::string(what));
  Job job;
  reader.read("id", job.id);
  reader.read("build", job.build);
  reader.read("run", job.run);
  reader.read("check", job.check);
  reader.read("build_folder", job.build_folder);
  reader.read("code_object", job.code_object);
  reader.read("code_object_kernel", job.code_object_kernel);
  reader.read("architecture", job.architecture);
  reader.read("run_limit_seconds", job.run_limit_seconds);
  reader.read("build_limit_seconds", job.build_limit_seconds);
  reader.read("already_built", job.already_built);
  reader.read("already_checked", job.already_checked);
  reader.read("exact_runs", job.exact_runs);
  reader.read("environment", job.environment);
  const Json& objective = reader.inner("objective");
  const Json& repeats = reader.inner("repeats");
  PERFLAB_TRY_VOID(reader.conclude());
  PERFLAB_TRY(job.objective, objective_from(objective, fmt::format("{}: objective", what)));
  PERFLAB_TRY(job.repeats, repeats_from(repeats, fmt::format("{}: repeats", what)));
  return job;
}

}  // namespace perflab::tune
