// Reading JSON that somebody else wrote: values exactly as they stand there or not at all, and the
// members of objects with the first fault kept.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text/json.h"

namespace perflab {

/// The member of an object; null: it is no object, or has none of that name.
const Json* member(const Json& json, std::string_view key);
/// What stands at the end of these keys, from object to object; null: nothing does.
const Json* member_at(const Json& json, std::initializer_list<std::string_view> keys);

/// A whole number that T cannot hold is none, nor is 2.0; a double takes every number.
template <class T>
std::optional<T> value_as(const Json& json) {
  if constexpr (std::same_as<T, bool>) {
    if (json.is_boolean()) return json.get<bool>();
  } else if constexpr (std::integral<T>) {
    if (json.is_number_unsigned()) {
      if (const auto number = json.get<std::uint64_t>(); std::in_range<T>(number))
        return static_cast<T>(number);
    } else if (json.is_number_integer()) {
      if (const auto number = json.get<std::int64_t>(); std::in_range<T>(number))
        return static_cast<T>(number);
    }
  } else if constexpr (std::floating_point<T>) {
    if (json.is_number()) return json.get<T>();
  } else {
    static_assert(std::same_as<T, std::string>);
    if (json.is_string()) return json.get_ref<const std::string&>();
  }
  return std::nullopt;
}

/// The member of an object as a T; nothing: it is not there, or something else.
template <class T>
std::optional<T> member_as(const Json& json, std::string_view key) {
  const Json* found = member(json, key);
  return found == nullptr ? std::nullopt : value_as<T>(*found);
}

/// Reads the members of an object into variables. The first fault of a document is kept, what is
/// read after it leaves its variable as it is: a reader needs no branch per member, and asks once.
/// Every member has to be there. The object must outlive this.
class JsonFields {
 public:
  /// `what` (a file, "FILE: line 3") begins the sentence of an error.
  JsonFields(const Json& object, std::string_view what);
  JsonFields(const JsonFields&) = delete;
  JsonFields& operator=(const JsonFields&) = delete;
  ~JsonFields() = default;

  /// bool, whole numbers, double, text, paths, any Json, vectors and arrays of those, and
  /// std::optional, for which null is nothing.
  template <class T>
  void read(std::string_view key, T& out) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (std::string fault = take(*value, out); !fault.empty()) wrong(key, fault);
  }
  /// A number from `least` to `most`.
  template <class T>
    requires std::integral<T> || std::floating_point<T>
  void read(std::string_view key, T& out, std::type_identity_t<T> least,
            std::type_identity_t<T> most = std::numeric_limits<T>::max()) {
    const Json* value = find(key);
    if (value == nullptr) return;
    const std::optional<T> number = value_as<T>(*value);
    if (!number || *number < least || *number > most)
      return wrong(key, no_number(std::integral<T>, Json(least), Json(most)));
    out = *number;
  }
  template <class T>
  [[nodiscard]] T get(std::string_view key) {
    T out{};
    read(key, out);
    return out;
  }
  /// A text; empty for null.
  [[nodiscard]] std::string text_or_null(std::string_view key);

  /// A reader of the object under `key`; its faults are this one's.
  [[nodiscard]] JsonFields object(std::string_view key);
  /// Calls `read_item(JsonFields&)` for each object of the list under `key`, until the first fault.
  template <class ReadItem>
  void each(std::string_view key, ReadItem read_item) {
    const Json& items = list(key);
    for (std::size_t i = 0; good() && i < items.size(); ++i) {
      JsonFields item(*this, items[i], std::string(key) + '[' + std::to_string(i) + ']');
      if (good()) read_item(item);
    }
  }
  /// The list under `key`; empty after a fault.
  [[nodiscard]] const Json& list(std::string_view key);
  /// The member under `key`; null: there is, or was, a fault.
  [[nodiscard]] const Json* find(std::string_view key);
  /// The names of all members.
  [[nodiscard]] std::vector<std::string> names() const;
  /// Whether the object has this member, which is no fault, and whether it has it as null.
  [[nodiscard]] bool has(std::string_view key) const { return member(object_, key) != nullptr; }
  [[nodiscard]] bool is_null(std::string_view key);

  /// Call after the last member: one that nobody has read is a fault.
  void refuse_unknown();
  /// Notes a fault of a member, or of the object (no key): wrong("pages", "is not their sum").
  void wrong(std::string_view key, std::string_view how);
  [[nodiscard]] bool good() const { return fault_->empty(); }
  /// The first fault as an error (bad_input).
  [[nodiscard]] Result<void> result(std::string_view remedy = {}) const;

 private:
  JsonFields(const JsonFields& outer, const Json& object, std::string_view place);

  /// What is wrong with the value; empty: nothing.
  static std::string take(const Json& value, Json& out);
  static std::string take(const Json& value, std::filesystem::path& out);
  template <class T>
  static std::string take(const Json& value, T& out) {
    std::optional<T> read = value_as<T>(value);
    if constexpr (std::same_as<T, bool>) {
      if (!read) return "is neither true nor false";
    } else if constexpr (std::same_as<T, std::string>) {
      if (!read) return "is not a string";
    } else {
      using Limits = std::numeric_limits<T>;
      if (!read) return no_number(std::integral<T>, Json(Limits::lowest()), Json(Limits::max()));
    }
    out = std::move(*read);
    return {};
  }
  template <class T>
  static std::string take(const Json& value, std::optional<T>& out) {
    out.reset();
    return value.is_null() ? std::string() : take(value, out.emplace());
  }
  template <class T>
  static std::string take(const Json& value, std::vector<T>& out) {
    if (!value.is_array()) return "is not a list";
    out.resize(value.size());
    return take_items(value, out);
  }
  template <class T, std::size_t N>
  static std::string take(const Json& value, std::array<T, N>& out) {
    if (!value.is_array() || value.size() != N) return "is not a list of " + std::to_string(N);
    return take_items(value, out);
  }
  template <class List>
  static std::string take_items(const Json& value, List& out) {
    for (std::size_t i = 0; i < value.size(); ++i)
      if (const std::string fault = take(value[i], out[i]); !fault.empty())
        return "has an item that " + fault;
    return {};
  }
  static std::string no_number(bool whole, const Json& least, const Json& most);

  const Json& object_;
  std::string what_;   ///< the document
  std::string place_;  ///< of this object in it: "products[0].l2"; empty: it is the document
  std::vector<std::string> read_;
  std::string own_fault_;
  std::string* fault_ = &own_fault_;  ///< or that of the outermost object
};

}  // namespace perflab
