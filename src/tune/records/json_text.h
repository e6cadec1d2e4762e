// JSON as other tuners leave it: with NaN and Infinity, numbers that 64 bits do not hold, and
// caches that end where the program was killed. Read by simdjson's DOM. Internal to
// src/tune/records.
#pragma once

#include <simdjson.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tune/values/value.h"

namespace perflab::tune {

namespace dom = simdjson::dom;

/// A parsed text; elements are valid as long as it lives.
class JsonText {
 public:
  /// What JSON cannot say (NaN, Infinity) and what 64 bits do not hold is null. A Kernel Tuner
  /// cache that ends early gets the end that it lacks (cut_off()). Error (bad_input): no JSON.
  Result<dom::element> parse(std::string_view text, std::string_view what);

  [[nodiscard]] bool cut_off() const { return cut_off_; }

 private:
  simdjson::error_code try_parse(dom::element& root);

  std::string buffer_;    ///< the text and the parser's padding
  std::size_t size_ = 0;  ///< of the text
  dom::parser parser_;
  bool cut_off_ = false;
};

/// A parameter's value; nothing: null, a list, an object, or above 2^63.
std::optional<Value> json_value(const dom::element& element);

/// The member of an object; nothing: it is no object, or has none of that name.
std::optional<dom::element> member(const dom::element& object, std::string_view key);
std::optional<double> number_at(const dom::element& object, std::string_view key);
std::optional<std::string> text_at(const dom::element& object, std::string_view key);
std::optional<double> number_in(const dom::element& element);
/// A list of numbers; nothing: no list, or something else in it.
std::optional<std::vector<double>> numbers_in(const dom::element& element);

}  // namespace perflab::tune
