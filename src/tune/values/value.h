// A value of a tuning parameter, and how it is written. Whole numbers and reals are kept apart, as
// Python does: 16 and 16.0 are equal but are not written alike.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/text/json.h"

namespace perflab::tune {

using Value = std::variant<bool, std::int64_t, double, std::string>;

/// A name and its value in one configuration: a parameter or a derived value.
using Binding = std::pair<std::string, Value>;

/// As it is put into a command line or a CSV: "true", "16", "0.5" (shortest that reads back, a
/// whole real keeps its ".0"), the string itself.
std::string to_text(const Value& value);

/// Equal as Python has it: true == 1 == 1.0; a string equals only a string.
bool same_value(const Value& a, const Value& b);

/// For hashed containers: values that are same_value() have the same hash.
struct ValueHash {
  std::size_t operator()(const Value& value) const;
};
struct ValueEqual {
  bool operator()(const Value& a, const Value& b) const { return same_value(a, b); }
};

/// Whether a whole number is less than, equal to or more than a real: exact, without rounding the
/// number to a real first. Unordered only for NaN.
std::partial_ordering compare_exactly(std::int64_t whole, double real);

/// The number that Python's arithmetic takes it for; nothing for a string.
std::optional<double> number_of(const Value& value);

Json to_json(const Value& value);

/// Error (bad_input): not a bool, a number that fits, or a string; `what` names the place.
Result<Value> value_from_json(const Json& json, std::string_view what);

}  // namespace perflab::tune
