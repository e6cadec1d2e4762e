// The schema of a tool, and the command line that a call becomes.
#include "mcp/tool.h"

#include <gmock/gmock.h>

#include "mcp/sample_offer.h"

namespace perflab::mcp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> words_of_call(const std::string& arguments) {
  const auto words = command_words(sample_tool(), Json::parse(arguments));
  if (words) return *words;
  return {"refused", words.error().message};
}

TEST(McpTool, SchemaHasTypesChoicesAndWhatIsRequired) {
  const Json entry = list_entry(sample_tool());
  const Json& schema = entry["inputSchema"];
  EXPECT_EQ(schema["type"], "object");
  EXPECT_EQ(schema["additionalProperties"], false);
  EXPECT_EQ(schema["required"], Json::parse(R"(["FILES"])"));
  const Json& properties = schema["properties"];
  EXPECT_EQ(properties["FILES"]["type"], "array");
  EXPECT_EQ(properties["FILES"]["minItems"], 1);
  EXPECT_EQ(properties["what_if"]["items"]["type"], "string");
  EXPECT_EQ(properties["segment"]["type"], "number");
  EXPECT_EQ(properties["full"]["type"], "boolean");
  EXPECT_EQ(properties["unit"]["enum"], Json::parse(R"(["ns", "ms"])"));
  EXPECT_EQ(properties["unit"]["description"], "about unit");
  EXPECT_FALSE(properties.contains("out")) << "withheld";
  EXPECT_EQ(entry["annotations"]["readOnlyHint"], true);
  Tool acting = sample_tool();
  acting.read_only = false;
  EXPECT_FALSE(list_entry(acting).contains("annotations")) << "the defaults are those of acting";
  EXPECT_EQ(schema["properties"]["section"]["type"], "string") << "what the server reads itself";
}

TEST(McpTool, ChoicesOfANumberAreNumbers) {
  Tool tool = sample_tool();
  tool.parameters[2].choices = {"19", "20"};
  EXPECT_EQ(list_entry(tool)["inputSchema"]["properties"]["segment"]["enum"],
            Json::parse("[19, 20]"));
  EXPECT_TRUE(command_words(tool, Json::parse(R"({"FILES": ["a"], "segment": 20})")).has_value());
  EXPECT_FALSE(command_words(tool, Json::parse(R"({"FILES": ["a"], "segment": 21})")).has_value());
}

TEST(McpTool, ArgumentsBecomeWordsPositionalsFirstAndValuesInsideTheirOptions) {
  EXPECT_THAT(words_of_call(R"({"what_if": ["k=2x", "--out=x"], "full": true, "segment": 3,
                        "FILES": ["a.db", "b.db"], "unit": "ms", "command": ["--json", ""]})"),
              ElementsAre("analyze", "a.db", "b.db", "--what-if=k=2x", "--what-if=--out=x",
                          "--segment=3", "--full", "--unit=ms", "--json", "--", "--json", ""));
  EXPECT_THAT(words_of_call(R"({"FILES": ["a"], "segment": 0.25, "full": false})"),
              ElementsAre("analyze", "a", "--segment=0.25", "--json"));
  EXPECT_THAT(words_of_call(R"({"FILES": ["a"], "segment": 2.0})"),
              ElementsAre("analyze", "a", "--segment=2", "--json"));
}

TEST(McpTool, AFileNameCannotBecomeAnOption) {
  EXPECT_THAT(words_of_call(R"({"FILES": ["--out=x", "-h", "--"]})"),
              ElementsAre("analyze", "./--out=x", "./-h", "./--", "--json"));
}

TEST(McpTool, AnOptionWithoutADocumentGoesWithoutJson) {
  EXPECT_THAT(words_of_call(R"({"FILES": ["a"], "recheck": "r.json"})"),
              ElementsAre("analyze", "a", "--recheck=r.json"));
}

TEST(McpTool, WrongArgumentsAreRefusedByName) {
  const auto refused = [](const std::string& arguments) {
    const auto words = words_of_call(arguments);
    return words.front() == "refused" ? words.back() : "accepted: " + arguments;
  };
  EXPECT_THAT(refused(R"({})"), HasSubstr("needs the argument 'FILES'"));
  EXPECT_THAT(refused(R"({"FILES": []})"), HasSubstr("'FILES' has to be"));
  EXPECT_THAT(refused(R"({"FILES": "a"})"), HasSubstr("'FILES' has to be an array"));
  EXPECT_THAT(refused(R"({"FILES": [1]})"), HasSubstr("'FILES' has to be an array of strings"));
  EXPECT_THAT(refused(R"({"FILES": [null]})"), HasSubstr("'FILES' has to be"));
  EXPECT_THAT(refused(R"({"FILES": [""]})"), HasSubstr("'FILES' has to be something"));
  EXPECT_THAT(refused(R"({"FILES": ["a"], "segment": "3"})"), HasSubstr("a number"));
  EXPECT_THAT(refused(R"({"FILES": ["a"], "full": "true"})"), HasSubstr("true or false"));
  EXPECT_THAT(refused(R"({"FILES": ["a"], "unit": "hours"})"), HasSubstr("one of: ns, ms"));
  EXPECT_THAT(refused(R"({"FILES": ["a"], "what_if": "x"})"), HasSubstr("an array"));
  EXPECT_THAT(refused(R"({"FILES": ["a"], "what_if": [""]})"), HasSubstr("something"));
  EXPECT_THAT(refused(R"({"FILES": ["a"], "--out": "x"})"), HasSubstr("no argument '--out'"));
  EXPECT_THAT(refused(R"({"FILES": ["a"], "json": true})"), HasSubstr("no argument 'json'"));
  EXPECT_THAT(refused(R"({"FILES": ["a"], "out": "x"})"), HasSubstr("this server only reads"));
}

TEST(McpTool, APositionalDoesNotTakeThePlaceOfAnEarlierOne) {
  const Tool two = sample_offer().tools[1];
  EXPECT_FALSE(command_words(two, Json::parse(R"({"B": "x"})")).has_value());
  EXPECT_THAT(command_words(two, Json::parse(R"({"B": "y", "A": "x"})")).value(),
              ElementsAre("compare", "x", "y"));
}

TEST(McpTool, AWithheldToolIsRefusedWithWhatToDo) {
  const auto words = command_words(sample_offer().tools[2], Json::object());
  ASSERT_FALSE(words.has_value());
  EXPECT_THAT(words.error().remedy, HasSubstr("--allow-run"));
}

}  // namespace
}  // namespace perflab::mcp
