// Values exactly or not at all, and the first fault of a document with its place.
#include "base/text/json_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace perflab {
namespace {

using ::testing::ElementsAre;

Json parsed(std::string_view text) {
  return parse_json(text, "text").value();
}

/// The sentence of the first fault; empty: there is none.
std::string fault_of(const JsonFields& fields) {
  const auto result = fields.result();
  return result ? std::string() : result.error().message;
}

/// What is wrong with `text` as a T.
template <class T>
std::string fault_as(std::string_view text) {
  const Json json = {{"x", parsed(text)}};
  JsonFields fields(json, "f");
  static_cast<void>(fields.get<T>("x"));
  return fault_of(fields);
}

TEST(JsonFields, WholeNumbersAreExactOrNone) {
  EXPECT_EQ(value_as<std::uint64_t>(parsed("18446744073709551615")), UINT64_MAX);
  EXPECT_EQ(value_as<std::int64_t>(parsed("-9223372036854775808")), INT64_MIN);
  EXPECT_EQ(value_as<std::int64_t>(parsed("9223372036854775807")), INT64_MAX);
  EXPECT_EQ(value_as<std::uint8_t>(parsed("255")), 255);
  EXPECT_EQ(value_as<std::int64_t>(Json(5)), 5) << "made here, not parsed";
  EXPECT_EQ(value_as<std::uint64_t>(Json(5)), 5U);
  for (const char* none : {"256", "-1", "1.0", "2.5", "1e2", "\"1\"", "true", "null", "[1]"})
    EXPECT_EQ(value_as<std::uint8_t>(parsed(none)), std::nullopt) << none;
  EXPECT_EQ(value_as<std::int64_t>(parsed("9223372036854775808")), std::nullopt);
  EXPECT_EQ(value_as<std::uint64_t>(parsed("18446744073709551616")), std::nullopt);
}

TEST(JsonFields, OtherValuesAreOfTheirKindOrNone) {
  EXPECT_EQ(value_as<double>(parsed("2")), 2.0);
  EXPECT_EQ(value_as<double>(parsed("-2.5")), -2.5);
  EXPECT_EQ(value_as<double>(parsed("null")), std::nullopt);
  EXPECT_EQ(value_as<bool>(parsed("false")), false);
  EXPECT_EQ(value_as<bool>(parsed("0")), std::nullopt);
  EXPECT_EQ(value_as<std::string>(parsed("\"a\"")), "a");
  EXPECT_EQ(value_as<std::string>(parsed("7")), std::nullopt);
}

TEST(JsonFields, MembersMayBeAskedForWithoutAFault) {
  const Json json = parsed(R"({"a": {"b": {"c": 7}}, "t": "x"})");
  EXPECT_EQ(*member_at(json, {"a", "b", "c"}), 7);
  EXPECT_EQ(member_at(json, {"a", "c"}), nullptr);
  EXPECT_EQ(member_at(json, {"t", "c"}), nullptr) << "a text has no members";
  EXPECT_EQ(member(Json::array({1}), "a"), nullptr);
  EXPECT_EQ(member(Json(), "a"), nullptr);
  EXPECT_EQ(member_as<std::string>(json, "t"), "x");
  EXPECT_EQ(member_as<int>(json, "t"), std::nullopt);
  EXPECT_EQ(member_as<int>(json, "u"), std::nullopt);
}

TEST(JsonFields, ReadsEveryKindOfMember) {
  const Json json = parsed(R"({"i": -3, "d": 2, "t": "x", "p": "a/b", "b": true, "n": null, "o": 4,
                               "l": ["a", "b"], "three": [1, 2, 3], "holes": [1.5, null],
                               "any": {"k": []}})");
  JsonFields fields(json, "f");
  EXPECT_EQ(fields.get<int>("i"), -3);
  EXPECT_EQ(fields.get<double>("d"), 2.0);
  EXPECT_EQ(fields.get<std::string>("t"), "x");
  EXPECT_EQ(fields.get<std::filesystem::path>("p"), std::filesystem::path("a/b"));
  EXPECT_TRUE(fields.get<bool>("b"));
  std::optional<int> none = 1;
  fields.read("n", none);
  EXPECT_EQ(none, std::nullopt) << "null is nothing, whatever stood there";
  EXPECT_EQ(fields.get<std::optional<int>>("o"), 4);
  EXPECT_EQ(fields.text_or_null("n"), "");
  EXPECT_EQ(fields.text_or_null("t"), "x");
  EXPECT_THAT(fields.get<std::vector<std::string>>("l"), ElementsAre("a", "b"));
  EXPECT_THAT((fields.get<std::array<std::uint32_t, 3>>("three")), ElementsAre(1, 2, 3));
  EXPECT_THAT(fields.get<std::vector<std::optional<double>>>("holes"),
              ElementsAre(1.5, std::nullopt));
  EXPECT_EQ(fields.get<Json>("any"), parsed(R"({"k": []})"));
  EXPECT_TRUE(fields.has("n"));
  EXPECT_TRUE(fields.is_null("n"));
  EXPECT_FALSE(fields.has("z"));
  EXPECT_EQ(fault_of(fields), "");
}

TEST(JsonFields, SaysWhatIsWrong) {
  EXPECT_EQ(fault_as<int>("null"), "f: \"x\" is not a whole number from -2147483648 to 2147483647");
  EXPECT_EQ(fault_as<std::uint64_t>("-1"),
            "f: \"x\" is not a whole number from 0 to 18446744073709551615");
  EXPECT_EQ(fault_as<double>("\"1\""), "f: \"x\" is not a number");
  EXPECT_EQ(fault_as<bool>("1"), "f: \"x\" is neither true nor false");
  EXPECT_EQ(fault_as<std::string>("null"), "f: \"x\" is not a string");
  EXPECT_EQ(fault_as<std::filesystem::path>("3"), "f: \"x\" is not a string");
  EXPECT_EQ(fault_as<std::optional<std::string>>("3"), "f: \"x\" is not a string");
  EXPECT_EQ(fault_as<std::vector<std::string>>("{}"), "f: \"x\" is not a list");
  EXPECT_EQ(fault_as<std::vector<std::string>>("[\"a\", 1]"),
            "f: \"x\" has an item that is not a string");
  EXPECT_EQ((fault_as<std::array<int, 2>>("[1, 2, 3]")), "f: \"x\" is not a list of 2");
  EXPECT_EQ((fault_as<std::array<int, 2>>("[1, 2]")), "");
}

TEST(JsonFields, KeepsLimits) {
  const Json json = parsed(R"({"seven": 7, "half": 0.5})");
  const auto limited = [&](std::string_view key, auto least, auto most) {
    JsonFields fields(json, "f");
    auto out = most;
    fields.read(key, out, least, most);
    return fault_of(fields);
  };
  EXPECT_EQ(limited("seven", 7, 7), "");
  EXPECT_EQ(limited("seven", 8, 9), "f: \"seven\" is not a whole number from 8 to 9");
  EXPECT_EQ(limited("seven", 0, 6), "f: \"seven\" is not a whole number from 0 to 6");
  EXPECT_EQ(limited("half", 0, 6), "f: \"half\" is not a whole number from 0 to 6");
  EXPECT_EQ(limited("half", 0.5, 1.0), "");
  EXPECT_EQ(limited("half", 1.0, 1.5), "f: \"half\" is not a number from 1 to 1.5");
  JsonFields fields(json, "f");
  double half = 0;
  fields.read("half", half, 1);
  EXPECT_EQ(fault_of(fields), "f: \"half\" is not a number of at least 1");
}

TEST(JsonFields, TheFirstFaultIsKeptWithItsPlace) {
  const Json json = parsed(R"({"list": [{"in": {"x": 1}}, {"in": {"x": "no"}}, 5], "y": "set"})");
  JsonFields fields(json, "file.json");
  std::vector<int> seen;
  fields.each("list", [&](JsonFields& item) {
    JsonFields in = item.object("in");
    seen.push_back(in.get<int>("x"));
  });
  EXPECT_THAT(seen, ElementsAre(1, 0)) << "nothing is read behind the fault";
  std::string y = "as it was";
  fields.read("y", y);
  EXPECT_EQ(y, "as it was");
  EXPECT_TRUE(fields.list("list").empty());
  fields.wrong("y", "is another fault");
  EXPECT_EQ(fault_of(fields),
            "file.json: list[1].in: \"x\" is not a whole number from -2147483648 to 2147483647");
  EXPECT_EQ(fields.result("try it").error().remedy, "try it");
  EXPECT_EQ(fields.result().error().code, ErrorCode::bad_input);
}

TEST(JsonFields, MissingAndUnknownMembersAndOtherKindsAreFaults) {
  const Json json = parsed(R"({"known": 1, "odd": 2, "in": 3, "items": [4]})");
  const auto with = [&](const auto& read) {
    JsonFields fields(json, "f");
    read(fields);
    return fault_of(fields);
  };
  using F = JsonFields;
  EXPECT_EQ(with([](F& f) { static_cast<void>(f.get<int>("gone")); }), "f: \"gone\" is missing");
  EXPECT_EQ(with([](F& f) { static_cast<void>(f.get<std::optional<int>>("gone")); }),
            "f: \"gone\" is missing")
      << "null is nothing, a missing member is a fault";
  EXPECT_EQ(with([](F& f) { static_cast<void>(f.is_null("gone")); }), "f: \"gone\" is missing");
  EXPECT_EQ(with([](F& f) { static_cast<void>(f.object("in").get<int>("x")); }),
            "f: in: is not an object");
  EXPECT_EQ(with([](F& f) { f.each("items", [](F&) { FAIL(); }); }),
            "f: items[0]: is not an object");
  EXPECT_EQ(with([](F& f) { f.each("known", [](F&) { FAIL(); }); }), "f: \"known\" is not a list");
  EXPECT_EQ(with([](F& f) {
              static_cast<void>(f.get<int>("known"));
              static_cast<void>(f.list("items"));
              static_cast<void>(f.find("in"));
              f.refuse_unknown();
            }),
            "f: \"odd\" is not known");
  EXPECT_EQ(with([](F& f) {
              for (const std::string& name : f.names()) static_cast<void>(f.find(name));
              f.refuse_unknown();
            }),
            "");
  const Json list = Json::array();
  JsonFields none(list, "f");
  EXPECT_TRUE(none.names().empty());
  none.refuse_unknown();
  EXPECT_EQ(fault_of(none), "f: is not an object");
}

}  // namespace
}  // namespace perflab
