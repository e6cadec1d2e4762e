// One JSON file in memory, parsed by simdjson's DOM, which checks every byte of it. Buffer and
// parser are kept from file to file: a worker has one of these. Internal to src/att.
#pragma once

#include <simdjson.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/text/numbers.h"

namespace perflab::att {

namespace dom = simdjson::dom;

class JsonFile {
 public:
  /// Reads a file; false: there is none. Errors (bad_input): it is no regular file, cannot be read,
  /// or is larger than simdjson takes (4 GiB).
  Result<bool> load(const std::filesystem::path& path);
  /// Takes a text instead; `name` is for messages.
  Result<void> assign(std::string_view text, std::string_view name);

  /// The root of what was read last, which is an object. A number that 64 bits do not hold is null
  /// in it. Errors (bad_input): no JSON, no object. Valid until the next call of any of these.
  Result<dom::object> parse();

  /// Stands for what is left out of a text.
  static constexpr std::string_view kLeftOut = "\"@left out@\"";
  /// The root of text() with kLeftOut instead of some parts, which are given in their order.
  /// nullopt: that is no JSON object, or kLeftOut stands in the text anyway.
  std::optional<dom::object> parse_without(std::span<const std::string_view> parts);

  [[nodiscard]] std::string_view text() const { return {buffer_.data(), size_}; }
  [[nodiscard]] std::uint64_t bytes() const { return size_; }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  Result<void> make_room(std::uint64_t size);

  std::string name_;
  std::string buffer_;    ///< only grows; what it has beyond size_ is the parser's padding
  std::size_t size_ = 0;  ///< of the text
  std::string shorter_;   ///< the text of parse_without(), with padding
  dom::parser parser_;
};

/// The first N numbers of a row; nullopt: it is shorter, no list, or has something else there.
/// Inlined, because half of our own share of the time goes here.
template <std::size_t N>
[[gnu::always_inline]] inline std::optional<std::array<std::int64_t, N>> integers(
    const dom::element& row) {
  dom::array fields;
  if (row.get(fields) != simdjson::SUCCESS) return std::nullopt;
  std::array<std::int64_t, N> values{};
  std::size_t count = 0;
  for (const dom::element field : fields) {
    if (field.get(values[count]) != simdjson::SUCCESS) return std::nullopt;
    if (++count == N) return values;
  }
  return std::nullopt;
}

/// The error of a file whose `key` has another kind of value than it must have ("a list").
[[nodiscard]] std::unexpected<Error> wrong_kind(std::string_view file, std::string_view key,
                                                std::string_view kind);

/// Calls visit(element) for each element of a list, for none where it is null. Error (bad_input),
/// with the `key` that it stands at: it is something else.
template <class Visit>
Result<void> for_each_of(const dom::element& value, std::string_view key, std::string_view file,
                         const Visit& visit) {
  if (value.is_null()) return {};
  dom::array list;
  if (value.get(list) != simdjson::SUCCESS) return wrong_kind(file, key, "a list");
  for (const dom::element element : list) visit(element);
  return {};
}

/// The same for the list at `key`, which can also be missing.
template <class Visit>
Result<void> for_each_in(const dom::object& object, std::string_view key, std::string_view file,
                         const Visit& visit) {
  dom::element value;
  if (object[key].get(value) != simdjson::SUCCESS) return {};
  return for_each_of(value, key, file, visit);
}

/// The object at `key`; nullopt where it is null or missing. Error (bad_input): something else.
inline Result<std::optional<dom::object>> object_at(const dom::object& object, std::string_view key,
                                                    std::string_view file) {
  dom::element value;
  if (object[key].get(value) != simdjson::SUCCESS || value.is_null()) return std::nullopt;
  dom::object found;
  if (value.get(found) != simdjson::SUCCESS) return wrong_kind(file, key, "an object");
  return found;
}

/// A whole text as a number from 0 on; nullopt: it is none.
inline std::optional<std::int64_t> whole_number(std::string_view text) {
  const auto value = perflab::whole_number<std::int64_t>(text);
  return value && *value >= 0 ? value : std::nullopt;
}

}  // namespace perflab::att
