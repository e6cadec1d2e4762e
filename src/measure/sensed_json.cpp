// See sensed_json.h.
#include "measure/sensed_json.h"

#include <fmt/format.h>

#include "sensors/conditions.h"

namespace perflab::measure {

Json sensed_json(const Sensed& sensed) {
  return {{"source", sensed.source},
          {"missing_because", sensed.missing_because},
          {"missing", sensed.missing},
          {"span", sensors::span_json(sensed.span)}};
}

Result<Sensed> sensed_from_json(const Json& json, std::string_view what) {
  Sensed sensed;
  const bool fits = json.is_object() && json.contains("source") && json["source"].is_string() &&
                    json.contains("missing_because") && json["missing_because"].is_string() &&
                    json.contains("missing") && json["missing"].is_object() &&
                    json.contains("span");
  if (!fits) return fail(ErrorCode::bad_input, fmt::format("{}: readings are damaged", what));
  sensed.source = json["source"].get<std::string>();
  sensed.missing_because = json["missing_because"].get<std::string>();
  for (const auto& [field, reason] : json["missing"].items())
    if (reason.is_string()) sensed.missing.emplace(field, reason.get<std::string>());
  PERFLAB_TRY(sensed.span, sensors::span_from_json(json["span"], what));
  return sensed;
}

}  // namespace perflab::measure
