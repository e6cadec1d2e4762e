// Canonical JSON: ordered objects, two-space indent, shortest round-trip numbers (std::to_chars).
// Same value, same bytes.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/error.h"

namespace perflab {

/// A JSON value whose objects keep the order of insertion.
using Json = nlohmann::ordered_json;

/// Parses JSON text. The error (bad_input) names `what` (a file or a field) and the place.
Result<Json> parse_json(std::string_view text, std::string_view what);

/// Canonical text with a final newline. Numbers must be finite: a missing figure is null (aborts
/// otherwise). Bytes that are not UTF-8 are replaced by U+FFFD, so that the text is always valid
/// JSON.
std::string to_canonical_text(const Json& value);

/// The value (of an enum: its name), or null where there is none.
template <class T>
Json or_null(const std::optional<T>& value) {
  if (!value) return nullptr;
  if constexpr (std::is_enum_v<T>)
    return to_string(*value);
  else
    return *value;
}
/// The text, or null where it is empty.
inline Json or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

}  // namespace perflab
