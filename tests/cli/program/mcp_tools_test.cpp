// Commands as tools: nothing is offered that nobody has classified.
#include "cli/program/mcp_tools.h"

#include <gmock/gmock.h>

namespace perflab::cli {
namespace {

using testing::HasSubstr;

OptionInfo option_named(const std::string& name, bool positional = false) {
  OptionInfo out;
  out.names = {name};
  out.positional = positional;
  out.description = "about " + name;
  return out;
}

CommandInfo analyze_with(const OptionInfo& option) {
  return {.name = "analyze",
          .description = "Analyse",
          .footer = "A note.\nExit code 1: never.",
          .examples = {"rocm-perf analyze x.db"},
          .options = {option_named("TRACE", true), option, option_named("--json")},
          .takes_words = false};
}

TEST(McpTools, ACommandThatIsNotInTheTableOffersNothing) {
  CommandInfo unknown = analyze_with(option_named("--att"));
  unknown.name = "new-command";
  for (const bool allow_run : {false, true}) {
    const auto tools = tools_of({analyze_with(option_named("--att")), unknown}, allow_run);
    ASSERT_FALSE(tools.has_value());
    EXPECT_EQ(tools.error().code, ErrorCode::internal);
    EXPECT_THAT(tools.error().message, HasSubstr("`new-command`"));
  }
}

TEST(McpTools, AnOptionThatIsNotInTheTableOffersNothing) {
  const auto tools = tools_of({analyze_with(option_named("--new-option"))}, false);
  ASSERT_FALSE(tools.has_value());
  EXPECT_THAT(tools.error().message, HasSubstr("--new-option of `analyze`"));
}

TEST(McpTools, WordsBehindDashesThatAreNotInTheTableOfferNothing) {
  CommandInfo command = analyze_with(option_named("--att"));
  command.takes_words = true;
  EXPECT_FALSE(tools_of({command}, true).has_value());
}

TEST(McpTools, AnOptionThatWritesIsWithheldUntilItMay) {
  const CommandInfo command = analyze_with(option_named("--out"));
  const auto reading = tools_of({command}, false), running = tools_of({command}, true);
  ASSERT_TRUE(reading.has_value() && running.has_value());
  EXPECT_TRUE(reading->front().parameters.at(1).withheld);
  EXPECT_FALSE(running->front().parameters.at(1).withheld);
  EXPECT_TRUE(reading->front().read_only);
  EXPECT_FALSE(running->front().read_only);
  EXPECT_THAT(reading->front().always, testing::ElementsAre("--json"));
  EXPECT_THAT(reading->front().description, HasSubstr("Exit code 1: never."));
  EXPECT_THAT(reading->front().description, testing::Not(HasSubstr("x.db")));
  EXPECT_THAT(reading->front().description, testing::Not(HasSubstr("A note.")));
}

TEST(McpTools, ACommandWithABriefAnswerSummarises) {
  CommandInfo command = analyze_with(option_named("--att"));
  const auto without = tools_of({command}, false);
  command.options.push_back(option_named("--brief"));
  const auto with = tools_of({command}, false);
  ASSERT_TRUE(without.has_value() && with.has_value());
  EXPECT_FALSE(without->front().summarises);
  EXPECT_TRUE(with->front().summarises);
  EXPECT_THAT(with->front().always, testing::ElementsAre("--json"));
  EXPECT_THAT(with->front().for_summary, testing::ElementsAre("--brief", "--all-documents"));
  EXPECT_EQ(with->back().name, mcp::kReadTool);
  // doctor --self-test has no summary.
  command.options.at(1).flag = true;
  command.options.at(1).excludes = {"--brief"};
  const auto tools = tools_of({command}, false);
  ASSERT_TRUE(tools.has_value());
  EXPECT_THAT(mcp::command_words(tools->front(), Json{{"att", true}}).value(),
              testing::ElementsAre("analyze", "--att", "--json"));
  EXPECT_THAT(mcp::command_words(tools->front(), Json{{"att", false}}).value(),
              testing::ElementsAre("analyze", "--json", "--brief", "--all-documents"));
}

TEST(McpTools, ToolsThatReadTakeASelectionButForWhatTheyHaveThemselves) {
  const auto parameters = [](const OptionInfo& option) {
    std::vector<std::string> out;
    const auto tools = tools_of({analyze_with(option)}, false);
    for (const mcp::Parameter& one : tools.value().front().parameters)
      out.push_back(one.name + (one.place == mcp::Place::server ? "*" : ""));
    return out;
  };
  EXPECT_THAT(parameters(option_named("--att")),
              testing::ElementsAre("TRACE", "att", "section*", "kernel*", "top*", "offset*"));
  CommandInfo roofline = analyze_with(option_named("--kernel"));
  roofline.name = "roofline";
  roofline.options.erase(roofline.options.begin());
  const auto tools = tools_of({roofline}, false);
  ASSERT_TRUE(tools.has_value());
  EXPECT_EQ(std::ranges::count(tools->front().parameters, "kernel", &mcp::Parameter::name), 1);
  EXPECT_EQ(tools->front().parameters.front().option, "--kernel");
}

TEST(McpTools, LongDescriptionsEndWithAClause) {
  OptionInfo option = option_named("--att");
  option.description =
      "Decoded thread traces of the same command: the output folder of rocprofv3 --att, a folder "
      "in it, or a stats CSV; repeatable";
  const auto tools = tools_of({analyze_with(option)}, false);
  ASSERT_TRUE(tools.has_value());
  EXPECT_EQ(tools->front().parameters.at(1).description,
            "Decoded thread traces of the same command");
  option.description = "Decoded thread traces that were recorded of the very same command line";
  EXPECT_EQ(tools_of({analyze_with(option)}, false).value().front().parameters.at(1).description,
            "Decoded thread traces that were recorded…");
}

}  // namespace
}  // namespace perflab::cli
