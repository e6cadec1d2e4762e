// Every member is looked at: the other process may have been one that an adversary's input broke.
#include "base/text/error_json.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace perflab {
namespace {

constexpr ErrorCode kErrorCodes[] = {
    ErrorCode::usage,   ErrorCode::bad_input,   ErrorCode::missing_tool, ErrorCode::target_failed,
    ErrorCode::refused, ErrorCode::interrupted, ErrorCode::internal};

std::optional<ErrorCode> error_code_from(std::string_view name) {
  for (const ErrorCode code : kErrorCodes)
    if (to_string(code) == name) return code;
  return std::nullopt;
}

bool has_text(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string();
}

}  // namespace

Json error_json(const Error& error) {
  return {{"code", to_string(error.code)},
          {"message", error.message},
          {"notes", error.notes},
          {"remedy", error.remedy},
          {"kind", error.kind}};
}

std::optional<Error> error_from_json(const Json& json) {
  if (!json.is_object() || !has_text(json, "code") || !has_text(json, "message") ||
      !has_text(json, "remedy"))
    return std::nullopt;
  const auto code = error_code_from(json["code"].get<std::string>());
  const auto notes = json.find("notes");
  const auto kind = json.find("kind");
  if (kind == json.end() || !kind->is_number_unsigned() || *kind > UINT8_MAX) return std::nullopt;
  if (!code || notes == json.end() || !notes->is_array() ||
      !std::ranges::all_of(*notes, [](const Json& note) { return note.is_string(); }))
    return std::nullopt;
  return Error{.code = *code,
               .message = json["message"].get<std::string>(),
               .notes = notes->get<std::vector<std::string>>(),
               .remedy = json["remedy"].get<std::string>(),
               .kind = kind->get<std::uint8_t>()};
}

}  // namespace perflab
