// One JSON object: {"results": [...]}, or an error by its stable name.
#include "optimize/guards/check_answer.h"

#include <optional>

#include "base/enum_names.h"
#include "base/text/error_json.h"

namespace perflab::optimize {
namespace {

std::optional<std::string> text_member(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

std::optional<GuardResult> guard_in(const Json& result) {
  if (!result.is_object()) return std::nullopt;
  const auto name = text_member(result, "name");
  const auto reason = text_member(result, "reason");
  const auto detail = text_member(result, "detail");
  const auto passed = result.find("passed");
  if (!name || !reason || !detail || passed == result.end() || !passed->is_boolean())
    return std::nullopt;
  const std::optional<Reason> why = from_name<Reason>(*reason);
  // A guard that did not pass has a reason, and one that did has none.
  if (passed->get<bool>() != reason->empty() || why.has_value() == reason->empty())
    return std::nullopt;
  return GuardResult{
      .name = *name, .passed = passed->get<bool>(), .reason = why, .detail = *detail};
}

}  // namespace

std::string check_answer(const Result<GuardResults>& results) {
  if (!results) return to_canonical_text(error_json(results.error()));
  Json json;
  for (const GuardResult& result : *results)
    json["results"].push_back({{"name", result.name},
                               {"passed", result.passed},
                               {"reason", result.reason ? to_string(*result.reason) : ""},
                               {"detail", result.detail}});
  return to_canonical_text(json);
}

Result<GuardResults> answered_check(const std::string& text) {
  const auto broken = [] {
    return fail(ErrorCode::internal, "the process that checks a source gave no answer that counts");
  };
  const auto json = parse_json(text, "the answer of a check");
  if (!json || !json->is_object()) return broken();
  if (json->contains("code")) {
    std::optional<Error> error = error_from_json(*json);
    if (!error) return broken();
    return std::unexpected(*std::move(error));
  }
  const auto list = json->find("results");
  if (list == json->end() || !list->is_array() || list->empty()) return broken();
  GuardResults results;
  for (const Json& each : *list) {
    std::optional<GuardResult> result = guard_in(each);
    if (!result) return broken();
    results.push_back(*std::move(result));
  }
  return results;
}

}  // namespace perflab::optimize
