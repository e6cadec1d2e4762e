// What is read out of CLI11's objects.
#include "cli/kit/program_info.h"

#include <gmock/gmock.h>

#include "cli/kit/help.h"

namespace perflab::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A program with one of everything.
class Described : public testing::Test {
 protected:
  Described() {
    CLI::App* command = app_.add_subcommand("measure", "Measure it");
    command->footer("Exit code 1: never.");
    set_examples(*command, {"lab measure x", "lab measure y"});
    command->add_option("FILE,-f,--file", text_, "The file")->required();
    command->add_option("MORE", texts_, "More files");
    command->add_option("--mode", text_, "Its mode")
        ->check(CLI::IsMember({"fast", "slow"}))
        ->capture_default_str();
    command->add_option("--runs", number_, "Runs")->check(CLI::Range(1, 9))->capture_default_str();
    command->add_option("--share", share_, "A share");
    command->add_option("--each", texts_, "Repeatable")->allow_extra_args(false);
    command->add_flag("--json", flag_, "JSON");
    command->add_flag("--secret", flag_, "Not shown")->group("");
    CLI::App* group = app_.add_subcommand("group", "Some commands");
    group->require_subcommand(1);
    group->add_subcommand("part", "A part");
    app_.add_subcommand("hidden", "Not shown")->group("")->add_subcommand("below", "Not shown");
  }

  [[nodiscard]] OptionInfo option(std::size_t index) const {
    return describe_commands(app_).back().options.at(index);
  }

  CLI::App app_{"A program", "lab"};
  std::string text_ = "fast";
  std::vector<std::string> texts_;
  int number_ = 3;
  std::optional<double> share_;
  bool flag_ = false;
};

TEST_F(Described, CommandsAreThoseOfTheHelpWithoutGroupsAndHiddenOnes) {
  std::vector<std::string> names;
  for (const CommandInfo& command : describe_commands(app_)) names.push_back(command.name);
  EXPECT_THAT(names, ElementsAre("group part", "measure"));
  ASSERT_EQ(describe_groups(app_).size(), 1U);
  EXPECT_EQ(describe_groups(app_).front().name, "group");
  EXPECT_EQ(describe_groups(app_).front().description, "Some commands");
  EXPECT_EQ(describe_commands(app_).back().footer, "Exit code 1: never.");
  EXPECT_THAT(describe_commands(app_).back().examples,
              ElementsAre("lab measure x", "lab measure y"));
  EXPECT_THAT(describe_commands(app_).front().examples, IsEmpty());
}

TEST_F(Described, OptionsStandInTheOrderOfTheHelpWithoutHelpAndHiddenOnes) {
  std::vector<std::string> names;
  const std::vector<CommandInfo> commands = describe_commands(app_);
  for (const OptionInfo& one : commands.back().options) names.push_back(one.names.back());
  EXPECT_THAT(names,
              ElementsAre("--file", "MORE", "--mode", "--runs", "--share", "--each", "--json"));
}

TEST_F(Described, APositionalHasItsOwnNameFirst) {
  EXPECT_THAT(option(0).names, ElementsAre("FILE", "-f", "--file"));
  EXPECT_TRUE(option(0).positional);
  EXPECT_TRUE(option(0).required);
  EXPECT_FALSE(option(0).many);
  EXPECT_TRUE(option(1).positional);
  EXPECT_TRUE(option(1).many);
  EXPECT_FALSE(option(1).required);
}

TEST_F(Described, ChoicesNumbersFlagsAndDefaultsAreToldApart) {
  EXPECT_THAT(option(2).choices, ElementsAre("fast", "slow"));
  EXPECT_FALSE(option(2).number);
  EXPECT_EQ(option(2).default_text, "fast");
  EXPECT_TRUE(option(3).number);
  EXPECT_THAT(option(3).choices, IsEmpty());
  EXPECT_EQ(option(3).default_text, "3");
  EXPECT_TRUE(option(4).number);
  EXPECT_EQ(option(4).default_text, "");
  EXPECT_TRUE(option(5).many);
  EXPECT_FALSE(option(5).flag);
  EXPECT_TRUE(option(6).flag);
  EXPECT_FALSE(option(6).number);
  EXPECT_EQ(option(6).description, "JSON");
}

TEST(TakesWords, OfTheCommandsThatRunOrCompileSomething) {
  for (const char* command : {"inspect", "isolate", "optimize", "profile"})
    EXPECT_TRUE(takes_words(command)) << command;
  for (const char* command : {"", "analyze", "replay", "replay verify", "completion"})
    EXPECT_FALSE(takes_words(command)) << command;
}

}  // namespace
}  // namespace perflab::cli
