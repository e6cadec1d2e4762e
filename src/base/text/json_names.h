// Enumerators in JSON that somebody else wrote: by the names that to_string() gives them.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/enum_names.h"
#include "base/text/json_fields.h"

namespace perflab {

/// A name that no enumerator has is a fault, and leaves `out` as it is.
template <class E>
void read_name(JsonFields& in, std::string_view key, E& out) {
  const auto name = in.get<std::string>(key);
  if (!in.good()) return;
  const auto value = from_name<E>(name);
  if (!value) in.wrong(key, fmt::format("is \"{}\", which is not known", name.substr(0, 40)));
  out = value.value_or(out);
}
/// Null is nothing.
template <class E>
void read_name(JsonFields& in, std::string_view key, std::optional<E>& out) {
  out.reset();
  if (!in.is_null(key)) read_name(in, key, out.emplace());
}

}  // namespace perflab
