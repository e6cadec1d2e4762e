// See conditions.h.
#include "sensors/conditions.h"

#include <fmt/format.h>

#include "base/enum_names.h"

namespace perflab::sensors {
namespace {

struct NamedField {
  const char* name;
  std::optional<double> Reading::* value;
};
constexpr NamedField kFields[] = {{"core_mhz", &Reading::core_mhz},
                                  {"memory_mhz", &Reading::memory_mhz},
                                  {"temperature_c", &Reading::temperature_c},
                                  {"power_w", &Reading::power_w}};

Json names_json(const Throttles& throttles) {
  Json names = Json::array();
  for (const Throttle one : throttles.list()) names.push_back(to_string(one));
  return names;
}

bool knows_throttling(const Reading& reading) {
  return reading.throttled || reading.throttled_for;
}

Json turn_json(const Turn& turn) {
  Json out = Json::object();
  for (const NamedField& field : kFields) {
    const auto &before = turn.before.*field.value, &after = turn.after.*field.value;
    out[field.name] = before && after ? Json::array({*before, *after}) : Json(nullptr);
  }
  out["throttled"] = knows_throttling(turn.before) && knows_throttling(turn.after)
                         ? names_json(turn.throttled)
                         : Json(nullptr);
  out["repeats"] = turn.repeats;
  out["disturbed"] = or_null(turn.disturbed);
  return out;
}

Json reading_json(const Reading& reading) {
  Json out = Json::object();
  for (const NamedField& field : kFields) out[field.name] = or_null(reading.*field.value);
  out["throttled"] = reading.throttled ? names_json(*reading.throttled) : Json(nullptr);
  out["throttled_for"] = reading.throttled_for ? Json(*reading.throttled_for) : Json(nullptr);
  return out;
}

/// False: it is no reading.
bool reading_from_json(const Json& json, Reading& reading) {
  if (!json.is_object()) return false;
  for (const NamedField& field : kFields) {
    const auto found = json.find(field.name);
    if (found == json.end() || !(found->is_null() || found->is_number())) return false;
    if (found->is_number()) reading.*field.value = found->get<double>();
  }
  if (const auto names = json.find("throttled"); names != json.end() && names->is_array()) {
    reading.throttled.emplace();
    for (const Json& name : *names) {
      const auto one =
          name.is_string() ? from_name<Throttle>(name.get<std::string>()) : std::nullopt;
      if (!one) return false;
      reading.throttled->add(*one);
    }
  }
  if (const auto counts = json.find("throttled_for"); counts != json.end() && counts->is_array()) {
    if (counts->size() != kThrottles) return false;
    reading.throttled_for.emplace();
    for (std::size_t i = 0; i < kThrottles; ++i) {
      if (!(*counts)[i].is_number_unsigned()) return false;
      reading.throttled_for->at(i) = (*counts)[i].get<std::uint64_t>();
    }
  }
  return true;
}

}  // namespace

Json conditions_json(const Conditions& conditions) {
  Json turns = Json::array();
  for (const Turn& turn : conditions.turns) turns.push_back(turn_json(turn));
  Json missing = Json::array();
  for (const auto& [field, reason] : conditions.missing)
    missing.push_back({{"field", field}, {"reason", reason}});
  return {{"source", or_null(conditions.source)},
          {"no_source_because", or_null(conditions.missing_because)},
          {"limits",
           {{"clock_change", conditions.limits.clock_change},
            {"most_repeats", conditions.limits.most_repeats}}},
          {"repeated", conditions.repeated},
          {"disturbed", conditions.disturbed},
          {"missing", std::move(missing)},
          {"turns", std::move(turns)}};
}

Json span_json(const Span& span) {
  return {{"before", reading_json(span.before)}, {"after", reading_json(span.after)}};
}

Result<Span> span_from_json(const Json& json, std::string_view what) {
  Span span;
  if (!json.is_object() || !json.contains("before") || !json.contains("after") ||
      !reading_from_json(json["before"], span.before) ||
      !reading_from_json(json["after"], span.after))
    return fail(ErrorCode::bad_input, fmt::format("{}: readings of sensors are damaged", what));
  return span;
}

}  // namespace perflab::sensors
