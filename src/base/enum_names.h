// Names of enums whose enumerators count from 0: one table per enum, with every enumerator in its
// place, or it does not compile.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace perflab {

/// Whether an enum declares this value: compilers spell one that it does not as "(E)7".
template <auto kValue>
consteval bool is_enumerator() {
  const std::string_view text = __PRETTY_FUNCTION__;
  return text[text.find("kValue = ") + sizeof("kValue = ") - 1] != '(';
}

/// How many enumerators E has.
template <class E, std::size_t kFrom = 0>
consteval std::size_t enumerator_count() {
  if constexpr (is_enumerator<static_cast<E>(kFrom)>())
    return enumerator_count<E, kFrom + 1>();
  else
    return kFrom;
}

/// All enumerators of E.
template <class E>
consteval std::array<E, enumerator_count<E>()> enumerators() {
  std::array<E, enumerator_count<E>()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<E>(i);
  return all;
}

template <class E>
struct EnumName {
  E value;
  std::string_view name;
};

/// Made by enum_names().
template <class E, std::size_t kCount>
class EnumNames {
 public:
  consteval explicit EnumNames(const EnumName<E> (&names)[kCount]) {
    static_assert(kCount == enumerator_count<E>(), "every enumerator has one name");
    for (std::size_t i = 0; i < kCount; ++i) {
      if (names[i].value != static_cast<E>(i)) throw "not in the order of the enumerators";
      names_[i] = names[i].name;
    }
  }

  /// The name; empty for a number that is no enumerator.
  constexpr std::string_view operator[](E value) const {
    const auto at = static_cast<std::size_t>(value);
    return at < kCount ? names_[at] : std::string_view();
  }

 private:
  std::array<std::string_view, kCount> names_;
};

/// The names of all enumerators: enum_names<E>({{E::a, "a"}, {E::b, "b"}}).
template <class E, std::size_t kCount>
consteval EnumNames<E, kCount> enum_names(const EnumName<E> (&names)[kCount]) {
  return EnumNames<E, kCount>(names);
}

/// The enumerator that to_string() gives this name; nothing: none.
template <class E>
constexpr std::optional<E> from_name(std::string_view name) {
  for (const E value : enumerators<E>())
    if (to_string(value) == name) return value;
  return std::nullopt;
}

}  // namespace perflab
