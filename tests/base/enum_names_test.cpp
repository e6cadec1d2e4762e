// Tables of names: there and back, and numbers that are no enumerators. That an incomplete table
// does not compile: enum_names_compile_fail.cpp.
#include "base/enum_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace perflab {
namespace {

enum class Fruit : std::uint8_t { apple, pear, plum };
enum class Only { one };

constexpr std::string_view to_string(Fruit fruit) {
  using enum Fruit;
  constexpr auto kNames = enum_names<Fruit>({{apple, "an apple"}, {pear, "pear"}, {plum, "plum"}});
  return kNames[fruit];
}

TEST(EnumNames, ThereAndBack) {
  EXPECT_EQ(to_string(Fruit::apple), "an apple");
  for (const Fruit fruit : enumerators<Fruit>())
    EXPECT_EQ(from_name<Fruit>(to_string(fruit)), fruit);
  EXPECT_EQ(from_name<Fruit>("apple"), std::nullopt);
  EXPECT_EQ(from_name<Fruit>(""), std::nullopt);
  EXPECT_EQ(to_string(static_cast<Fruit>(3)), "");
}

TEST(EnumNames, EnumeratorsAreCounted) {
  static_assert(enumerator_count<Fruit>() == 3);
  static_assert(enumerator_count<Only>() == 1);
  static_assert(is_enumerator<Fruit::plum>());
  static_assert(!is_enumerator<static_cast<Fruit>(3)>());
  EXPECT_THAT(enumerators<Fruit>(), ::testing::ElementsAre(Fruit::apple, Fruit::pear, Fruit::plum));
}

}  // namespace
}  // namespace perflab
