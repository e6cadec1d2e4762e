// Canonical JSON writer. nlohmann's own dump() is not used: its Grisu2 floats are not always the
// shortest.
#include "base/text/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace perflab {
namespace {

void append_number(std::string& out, double value) {
  PERFLAB_CHECK(std::isfinite(value));
  std::array<char, 40> buffer{};
  const auto* const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  const std::string_view digits(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  out += digits;
  // A float stays a float when it is read back: 3 is written as 3.0.
  if (digits.find_first_of(".e") == std::string_view::npos) out += ".0";
}

void append_whole(std::string& out, auto value) {
  const fmt::format_int digits(value);
  out.append(digits.data(), digits.size());
}

/// Strings go through nlohmann, which escapes and replaces invalid UTF-8; not the plain ones, which
/// are nearly all: large documents are made of them.
void append_string(std::string& out, const std::string& text) {
  const bool plain = std::ranges::all_of(
      text, [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
  if (plain) {
    out += '"';
    out += text;
    out += '"';
    return;
  }
  out += Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

void append_value(std::string& out, const Json& value, int depth);

/// Scalars-only arrays stay on one line: a path of 40 numbers is one fact.
bool fits_one_line(const Json& array) {
  return std::ranges::none_of(array, [](const Json& item) { return item.is_structured(); });
}

void append_array(std::string& out, const Json& array, int depth) {
  const bool flat = fits_one_line(array);
  const std::string indent(static_cast<std::size_t>(depth + 1) * 2, ' ');
  out += '[';
  bool first = true;
  for (const Json& item : array) {
    if (!first) out += flat ? ", " : ",";
    first = false;
    if (!flat) out += "\n" + indent;
    append_value(out, item, depth + 1);
  }
  if (!flat) out += "\n" + indent.substr(2);
  out += ']';
}

void append_object(std::string& out, const Json& object, int depth) {
  if (object.empty()) {
    out += "{}";
    return;
  }
  const std::string indent(static_cast<std::size_t>(depth + 1) * 2, ' ');
  out += '{';
  bool first = true;
  for (const auto& [key, item] : object.items()) {
    out += first ? "\n" : ",\n";
    first = false;
    out += indent;
    append_string(out, key);
    out += ": ";
    append_value(out, item, depth + 1);
  }
  out += "\n" + indent.substr(2) + "}";
}

void append_value(std::string& out, const Json& value, int depth) {
  switch (value.type()) {
    case Json::value_t::object:
      return append_object(out, value, depth);
    case Json::value_t::array:
      return append_array(out, value, depth);
    case Json::value_t::number_float:
      return append_number(out, value.get<double>());
    case Json::value_t::string:
      return append_string(out, value.get_ref<const std::string&>());
    case Json::value_t::number_integer:
      append_whole(out, value.get<std::int64_t>());
      return;
    case Json::value_t::number_unsigned:
      append_whole(out, value.get<std::uint64_t>());
      return;
    case Json::value_t::boolean:
      out += value.get<bool>() ? "true" : "false";
      return;
    default:
      out += "null";
      return;
  }
}

/// How deep JSON text is nested. Not asked by nlohmann's callback, with which a list of n objects
/// takes n^2 steps.
std::size_t deepest_of(std::string_view text) {
  std::size_t depth = 0, deepest = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"')
      quoted = !quoted;
    else if (quoted)
      i += c == '\\' ? 1 : 0;
    else if (c == '[' || c == '{')
      deepest = std::max(deepest, ++depth);
    else if ((c == ']' || c == '}') && depth > 0)
      --depth;
  }
  return deepest;
}

}  // namespace

Result<Json> parse_json(std::string_view text, std::string_view what) {
  // Nested deeper than any document: whatever walks over it would run out of stack.
  constexpr std::size_t kDeepest = 200;
  if (deepest_of(text) > kDeepest)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: is nested more than {} deep", what, kDeepest),
                "give a document that a program of this kind wrote");
  try {
    return Json::parse(text.begin(), text.end());
  } catch (const Json::exception& error) {
    return fail(ErrorCode::bad_input,
                fmt::format("{}: is not valid JSON ({})", what, error.what()));
  }
}

std::string to_canonical_text(const Json& value) {
  std::string out;
  append_value(out, value, 0);
  out += '\n';
  return out;
}

}  // namespace perflab
