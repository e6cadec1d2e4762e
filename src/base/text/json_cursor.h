// simdjson's on-demand values with our two kinds of failure kept apart: a field that is missing or
// of another kind makes a row malformed, damaged JSON ends the reading. What includes this links
// simdjson.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace perflab {

namespace od = simdjson::ondemand;

/// Remembers the first error that means damage. Every read goes through it.
class JsonCursor {
 public:
  [[nodiscard]] simdjson::error_code damage() const { return damage_; }
  [[nodiscard]] bool damaged() const { return damage_ != simdjson::SUCCESS; }

  /// Whether it succeeded; damage is kept.
  bool good(simdjson::error_code error) {
    if (error == simdjson::SUCCESS) return true;
    if (!is_of_field(error) && !damaged()) damage_ = error;
    return false;
  }

  /// The field; once there was damage none is looked for: the parser's state means nothing then.
  simdjson::simdjson_result<od::value> field(od::object& object, std::string_view key) {
    if (damaged()) return damage_;
    return object.find_field_unordered(key);
  }

  std::optional<std::int64_t> integer(od::object& object, std::string_view key) {
    std::int64_t value = 0;
    return good(field(object, key).get_int64().get(value)) ? std::optional(value) : std::nullopt;
  }
  std::optional<std::uint64_t> whole(od::object& object, std::string_view key) {
    std::uint64_t value = 0;
    return good(field(object, key).get_uint64().get(value)) ? std::optional(value) : std::nullopt;
  }
  std::optional<double> real(od::object& object, std::string_view key) {
    double value = 0;
    return good(field(object, key).get_double().get(value)) ? std::optional(value) : std::nullopt;
  }
  /// Valid as long as the document; call once per value.
  std::optional<std::string_view> text(od::object& object, std::string_view key) {
    std::string_view value;
    return good(field(object, key).get_string().get(value)) ? std::optional(value) : std::nullopt;
  }
  bool object_in(od::object& object, std::string_view key, od::object& found) {
    return good(field(object, key).get_object().get(found));
  }
  bool array_in(od::object& object, std::string_view key, od::array& found) {
    return good(field(object, key).get_array().get(found));
  }
  /// {"handle": N}, as ids are written.
  std::optional<std::uint64_t> handle(od::object& object, std::string_view key) {
    od::object id;
    return object_in(object, key, id) ? whole(id, "handle") : std::nullopt;
  }

  /// Calls visit(object) for each object of the array; returns how many elements are none.
  template <class Visit>
  std::uint64_t each(od::array array, const Visit& visit) {
    std::uint64_t others = 0;
    if (damaged()) return others;
    for (auto element : array) {
      od::value value;
      od::object object;
      if (!good(element.get(value))) return others;
      if (good(value.get_object().get(object)))
        visit(object);
      else
        ++others;
      if (damaged()) return others;
    }
    return others;
  }

  /// Calls visit(key, value) for each field of the object. A key is valid during its visit.
  template <class Visit>
  void each_field(od::object& object, const Visit& visit) {
    if (damaged()) return;
    for (auto element : object) {
      od::field field;
      std::string_view key;
      if (!good(std::move(element).get(field)) || !good(field.unescaped_key().get(key))) return;
      visit(key, field.value());
      if (damaged()) return;
    }
  }

 private:
  /// What a value that is not as expected gives.
  static bool is_of_field(simdjson::error_code error) {
    return error == simdjson::NO_SUCH_FIELD || error == simdjson::INCORRECT_TYPE ||
           error == simdjson::NUMBER_OUT_OF_RANGE || error == simdjson::NUMBER_ERROR;
  }

  simdjson::error_code damage_ = simdjson::SUCCESS;
};

}  // namespace perflab
