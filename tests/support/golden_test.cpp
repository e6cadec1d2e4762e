// Golden files can fail: whatever changes in a document changes a line, and the line names it.
#include "support/golden.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "support/lines.h"

namespace perflab::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Json kDocument = {
    {"name", "a document"},
    {"kernels",
     {{{"name", "copy"}, {"share", 0.5}, {"launch", {{"grid", {64, 1, 1}}, {"missing", nullptr}}}},
      {{"name", "axpy"},
       {"share", 0.25},
       {"launch", {{"grid", {8, 8, 1}}, {"missing", nullptr}}}}}},
    {"deep", {{"a", {{"b", {{"c", {{"d", 1}}}}}}}}},
    {"none", Json::array()},
    {"nothing", Json::object()},
    {"text", std::string(90, 'x')}};

std::string text_of(const Json& document) {
  return fields_of(to_canonical_text(document));
}

TEST(FieldsOf, HasALineForEachField) {
  auto lines = lines_of(text_of(kDocument));
  ASSERT_EQ(lines.size(), 10U);
  EXPECT_THAT(lines.back(), testing::StartsWith("(whole) "));
  EXPECT_THAT(lines[8], testing::StartsWith("text 1 xxh3:"));
  lines.resize(8);
  EXPECT_THAT(lines, ElementsAre("name 1 \"a document\"", "kernels[].name 2 \"copy\", \"axpy\"",
                                 "kernels[].share 2 0.5, 0.25",
                                 "kernels[].launch.grid[] 6 64, 1, 1, 8, 8, 1",
                                 "kernels[].launch.missing 2 null", "deep.a.b.c 1 {\"d\":1}",
                                 "none[] 0 -", "nothing 1 {}"));
}

/// Changes every value of a document, one after another.
void for_each_change(Json& document, Json& place, const std::function<void(const Json&)>& see) {
  if (place.is_structured() && !place.empty()) {
    for (Json& member : place) for_each_change(document, member, see);
    return;
  }
  const Json before = std::exchange(place, "another value");
  see(document);
  place = before;
}

TEST(FieldsOf, ChangesWithEveryValue) {
  const std::string golden = text_of(kDocument);
  Json document = kDocument;
  int changes = 0;
  for_each_change(document, document, [&](const Json& changed) {
    ++changes;
    const std::string now = text_of(changed);
    EXPECT_NE(now, golden) << changed;
    // The line of the field and that of the whole text.
    EXPECT_EQ(std::ranges::count(changed_lines(golden, now), '\n'), 4) << changed;
  });
  EXPECT_EQ(changes, 17);
}

TEST(FieldsOf, ChangesWithTheOrderOfKeysAndTheForm) {
  const std::string text = to_canonical_text(kDocument);
  EXPECT_NE(fields_of(text), fields_of(text + "\n"));
  Json other = kDocument;
  const Json name = other["name"];
  other.erase("name");
  other["name"] = name;
  EXPECT_NE(fields_of(text), text_of(other));
  // Which of the two has none is in no line of a field.
  const Json a = {{"k", {{{"x", nullptr}}, {{"x", {{"y", 1}}}}}}};
  const Json b = {{"k", {{{"x", {{"y", 1}}}}, {{"x", nullptr}}}}};
  EXPECT_NE(text_of(a), text_of(b));
}

TEST(ChangedLines, NamesTheFieldBeforeAndNow) {
  Json changed = kDocument;
  changed["kernels"][1]["share"] = 0.75;
  const std::string lines = changed_lines(text_of(kDocument), text_of(changed));
  EXPECT_THAT(lines, HasSubstr("- kernels[].share 2 0.5, 0.25\n"));
  EXPECT_THAT(lines, HasSubstr("+ kernels[].share 2 0.5, 0.75\n"));
  EXPECT_THAT(lines, testing::Not(HasSubstr("name")));
}

TEST(ChangedLines, OfManyShowsTen) {
  std::string many;
  for (int line = 0; line < 14; ++line) many += std::to_string(line) + "\n";
  EXPECT_THAT(changed_lines("", many), HasSubstr("+ 9\n+ ... and 4 more lines\n"));
}

}  // namespace
}  // namespace perflab::test
