// The repairs are made in the text, and only after simdjson refused it. How Kernel Tuner leaves a
// cache: kernel_tuner/util.py appends one entry per line and writes "}\n}" when it is done.
#include "tune/records/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace perflab::tune {
namespace {

bool is_number_character(char c) {
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/// Whether 64 bits hold the number.
bool fits(std::string_view token) {
  const char* const end = token.data() + token.size();
  if (token.find_first_of(".eE") != std::string_view::npos) {
    double number = 0;
    return std::from_chars(token.data(), end, number).ec != std::errc::result_out_of_range;
  }
  std::int64_t number = 0;
  return std::from_chars(token.data(), end, number).ec != std::errc::result_out_of_range;
}

/// The place behind a string that begins at `start`, or the end of the text.
std::size_t end_of_string(std::string_view text, std::size_t start) {
  for (std::size_t i = start + 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      return i + 1;
  }
  return text.size();
}

/// The length of what stands at `start` and must become null; 0: nothing of the kind.
std::size_t length_to_blank(std::string_view text, std::size_t start) {
  constexpr std::array<std::string_view, 3> kWords = {"NaN", "Infinity", "-Infinity"};
  for (const std::string_view word : kWords)
    if (text.substr(start).starts_with(word)) return word.size();
  return 0;
}

/// Puts null where JSON, or 64 bits, have no number. Returns whether anything was changed.
bool blank_numbers(std::string& text) {
  bool changed = false;
  std::string out;
  std::size_t kept = 0;  // up to here it is in `out`
  const auto blank = [&](std::size_t start, std::size_t length) {
    out.append(text, kept, start - kept).append("null");
    kept = start + length;
    changed = true;
  };
  std::size_t i = 0;
  while (i < text.size()) {
    const char c = text[i];
    if (c == '"') {
      i = end_of_string(text, i);
      continue;
    }
    std::size_t length = c == 'N' || c == 'I' || c == '-' ? length_to_blank(text, i) : 0;
    if (length != 0) {
      blank(i, length);
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      while (i + length < text.size() && is_number_character(text[i + length])) ++length;
      if (!fits(std::string_view(text).substr(i, length))) blank(i, length);
    }
    i += std::max<std::size_t>(length, 1);
  }
  if (!changed) return false;
  out.append(text, kept);
  text = std::move(out);
  return true;
}

/// Gives a cache that ends early the end that it lacks: what follows its last whole entry goes.
bool close_cache(std::string& text) {
  int depth = 0;
  bool in_cache = false;
  std::string_view key;         // the last string at depth 1
  std::size_t whole_until = 0;  // behind the last whole entry
  const std::string_view all = text;
  for (std::size_t i = 0; i < all.size();) {
    const char c = all[i];
    if (c == '"') {
      const std::size_t end = end_of_string(all, i);
      if (depth == 1) key = all.substr(i, end - i);
      i = end;
      continue;
    }
    if (c == '{' || c == '[') {
      ++depth;
      if (depth == 2 && c == '{' && key == "\"cache\"") {
        in_cache = true;
        whole_until = i + 1;
      }
    } else if (c == '}' || c == ']') {
      --depth;
      if (in_cache && depth == 2) whole_until = i + 1;
      if (in_cache && depth == 1) {  // only the last brace is missing
        text.resize(i);
        text += "}}";
        return true;
      }
    }
    ++i;
  }
  if (!in_cache) return false;
  text.resize(whole_until);
  text += "}}";
  return true;
}

}  // namespace

simdjson::error_code JsonText::try_parse(dom::element& root) {
  size_ = buffer_.size();
  buffer_.resize(size_ + simdjson::SIMDJSON_PADDING);
  const simdjson::error_code error = parser_.parse(buffer_.data(), size_, false).get(root);
  if (error != simdjson::SUCCESS) buffer_.resize(size_);
  return error;
}

Result<dom::element> JsonText::parse(std::string_view text, std::string_view what) {
  buffer_.clear();
  buffer_.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  buffer_ = text;
  cut_off_ = false;
  dom::element root;
  if (try_parse(root) == simdjson::SUCCESS) return root;
  if (blank_numbers(buffer_) && try_parse(root) == simdjson::SUCCESS) return root;
  if (close_cache(buffer_) && try_parse(root) == simdjson::SUCCESS) {
    cut_off_ = true;
    return root;
  }
  return fail(ErrorCode::bad_input,
              fmt::format("{}: is not valid JSON, or only a part of it", what));
}

std::optional<Value> json_value(const dom::element& element) {
  switch (element.type()) {
    case dom::element_type::BOOL:
      return Value(bool(element));
    case dom::element_type::INT64:
      return Value(std::int64_t(element));
    case dom::element_type::DOUBLE:
      return Value(double(element));
    case dom::element_type::STRING:
      return Value(std::string(std::string_view(element)));
    default:
      return std::nullopt;
  }
}

std::optional<dom::element> member(const dom::element& object, std::string_view key) {
  dom::element found;
  if (object.at_key(key).get(found) != simdjson::SUCCESS) return std::nullopt;
  return found;
}

std::optional<double> number_in(const dom::element& element) {
  double number = 0;
  if (element.get(number) != simdjson::SUCCESS) return std::nullopt;
  return number;
}

std::optional<double> number_at(const dom::element& object, std::string_view key) {
  const std::optional<dom::element> found = member(object, key);
  return found ? number_in(*found) : std::nullopt;
}

std::optional<std::string> text_at(const dom::element& object, std::string_view key) {
  const std::optional<dom::element> found = member(object, key);
  std::string_view text;
  if (!found || found->get(text) != simdjson::SUCCESS) return std::nullopt;
  return std::string(text);
}

std::optional<std::vector<double>> numbers_in(const dom::element& element) {
  dom::array list;
  if (element.get(list) != simdjson::SUCCESS) return std::nullopt;
  std::vector<double> numbers;
  numbers.reserve(list.size());
  for (const dom::element item : list) {
    const std::optional<double> number = number_in(item);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace perflab::tune
