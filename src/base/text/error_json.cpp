// Every member is looked at: the other process may have been one that an adversary's input broke.
#include "base/text/error_json.h"

#include "base/enum_names.h"
#include "base/text/json_fields.h"

namespace perflab {
Json error_json(const Error& error) {
  return {{"code", to_string(error.code)},
          {"message", error.message},
          {"notes", error.notes},
          {"remedy", error.remedy},
          {"kind", error.kind}};
}

std::optional<Error> error_from_json(const Json& json) {
  JsonFields in(json, "an error");
  Error error{.code = ErrorCode::internal,
              .message = in.get<std::string>("message"),
              .notes = in.get<std::vector<std::string>>("notes"),
              .remedy = in.get<std::string>("remedy"),
              .kind = in.get<std::uint8_t>("kind")};
  const auto code = from_name<ErrorCode>(in.get<std::string>("code"));
  if (!code || !in.good()) return std::nullopt;
  error.code = *code;
  return error;
}

}  // namespace perflab
