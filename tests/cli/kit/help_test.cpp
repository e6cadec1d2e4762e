// --help of every command: it begins with examples that this program takes, and no line is longer
// than 80 columns.
#include "cli/kit/help.h"

#include <gmock/gmock.h>

#include "cli/help_text.h"
#include "report/kit/text_table.h"

namespace perflab::cli {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

using Words = std::vector<std::string>;

/// The examples at the start of a help as they stand there, several lines of one together; none
/// when it begins with anything else.
Words examples_in(const std::string& help) {
  const Words lines = text_lines(help);
  Words out;
  if (lines.empty() || (lines.front() != "Example:" && lines.front() != "Examples:")) return out;
  bool goes_on = false;
  for (std::size_t i = 1; i < lines.size() && lines[i].starts_with("  "); ++i) {
    if (goes_on)
      out.back() += "\n" + lines[i];
    else
      out.push_back(lines[i].substr(2));
    goes_on = lines[i].ends_with('\\');
  }
  return out;
}

/// The help of every command, and a folder in which the examples may do what they do.
class Help : public testing::Test {
 protected:
  /// What sh makes of a command line, without its globs; "~" is the folder.
  [[nodiscard]] Words shell_words(const std::string& line) const {
    ProcessOptions options;
    options.set_environment = {{"HOME", folder_.path().string()}};
    return text_lines(run_in(folder_.path(), {"sh", "-fc", "printf '%s\\n' " + line}, options).out);
  }

  /// The command that a command line calls: the one with the most of its words.
  [[nodiscard]] const HelpOfCommand& called(const Words& words) const {
    const HelpOfCommand* best = &all_.front();
    for (const HelpOfCommand& one : all_)
      if (one.words.size() > best->words.size() && one.words.size() < words.size() &&
          std::equal(one.words.begin(), one.words.end(), words.begin() + 1))
        best = &one;
    return *best;
  }

  /// The words in front of "--" that begin with "--", without their values.
  static Words options_in(const Words& words) {
    Words out;
    for (const std::string& word : words) {
      if (word == "--") break;
      if (word.starts_with("--")) out.push_back(word.substr(0, word.find('=')));
    }
    return out;
  }

  test::TempFolder folder_;
  std::vector<HelpOfCommand> all_ = help_of_all_commands(folder_.path());
};

TEST_F(Help, BeginsWithExamplesOfTheCommandOrOfOneBelowIt) {
  ASSERT_GT(all_.size(), 20U);
  for (const HelpOfCommand& command : all_) {
    const Words examples = examples_in(command.help);
    std::string start = "rocm-perf ";
    for (const std::string& word : command.words) start += word + " ";
    EXPECT_THAT(examples, Not(IsEmpty())) << command.help.substr(0, 200);
    for (const std::string& example : examples) {
      EXPECT_THAT(example + " ", StartsWith(start));
      EXPECT_THAT(called(shell_words(example)).below, IsEmpty()) << example;
    }
  }
}

TEST_F(Help, NoLineIsLongerThanEightyColumnsHoweverWideTheTerminalIs) {
  ProcessOptions wide;
  wide.set_environment = {{"COLUMNS", "200"}};
  for (const HelpOfCommand& command : all_) {
    Words arguments = command.words;
    arguments.emplace_back("--help");
    EXPECT_EQ(rocm_perf(folder_.path(), arguments, wide).out, command.help);
    for (const std::string& line : text_lines(command.help))
      EXPECT_LE(report::display_width(line), kHelpWidth) << line;
  }
}

TEST_F(Help, EveryOptionOfAnExampleIsOneOfItsCommand) {
  for (const HelpOfCommand& command : all_)
    for (const std::string& example : examples_in(command.help)) {
      const Words words = shell_words(example);
      const Words known = names_of(help_section(called(words).help, "Options"));
      for (const std::string& option : options_in(words))
        EXPECT_THAT(known, Contains(option)) << example;
    }
}

// Files and programs of the examples do not exist here, so most of them fail; but not because the
// command line is wrong, which the remedy of such an error says.
TEST_F(Help, EveryExampleIsACommandLineThatTheProgramTakes) {
  ProcessOptions elsewhere;
  elsewhere.set_environment = {{"HIP_VISIBLE_DEVICES", ""}, {"LD_LIBRARY_PATH", "/nowhere"}};
  for (const HelpOfCommand& command : all_)
    for (const std::string& example : examples_in(command.help)) {
      Words words = shell_words(example);
      ASSERT_THAT(words, Not(IsEmpty()));
      words.erase(words.begin());
      const Outcome outcome = rocm_perf(folder_.path(), words, elsewhere);
      EXPECT_NE(outcome.exit_code, -1) << example;
      EXPECT_THAT(outcome.err, Not(testing::HasSubstr(" --help s"))) << example;
    }
}

TEST(ExampleLines, AreBrokenBetweenWordsAndNeverBetweenQuotes) {
  EXPECT_THAT(example_lines("lab run --fast", 14), ElementsAre("lab run --fast"));
  EXPECT_THAT(example_lines("lab run --fast", 13), ElementsAre("lab run \\", "    --fast"));
  EXPECT_THAT(example_lines("lab run --fast x", 15), ElementsAre("lab run \\", "    --fast x"));
  EXPECT_THAT(example_lines("lab run --depth 2 --all x", 17),
              ElementsAre("lab run \\", "    --depth 2 \\", "    --all x"));
  EXPECT_THAT(example_lines("lab run --name abcdefghijk", 14),
              ElementsAre("lab run \\", "    --name \\", "    abcdefghijk"));
  EXPECT_THAT(example_lines("lab 'one two' \"it's  so\" three", 14),
              ElementsAre("lab \\", "    'one two' \\", "    \"it's  so\" \\", "    three"));
  EXPECT_THAT(example_lines("lab --name='a b c d e f' x", 8),
              ElementsAre("lab \\", "    --name='a b c d e f' \\", "    x"));
}

TEST(Examples, AreTheCommandsOwnAndItsLayoutStays) {
  CLI::App app("A program", "lab");
  app.formatter(std::make_shared<HelpFormatter>(70));
  CLI::App* const group = app.add_subcommand("group", "Some commands");
  set_examples(*group, {"lab group part"});
  CLI::App* const part = group->add_subcommand("part", "A part");
  set_examples(*part, {"lab group part 1", "lab group part 2"});
  part->footer(
      "A footer that is longer than the seventy columns of this help is broken between words");
  EXPECT_THAT(examples_of(app), IsEmpty());
  EXPECT_THAT(examples_of(*group), ElementsAre("lab group part"));
  EXPECT_EQ(part->help(),
            "Examples:\n"
            "  lab group part 1\n"
            "  lab group part 2\n"
            "\n"
            "A part\n"
            "Usage: part [OPTIONS]\n"
            "\n"
            "Options:\n"
            "  -h,--help                   Print this help message and exit\n"
            "\n"
            "A footer that is longer than the seventy columns of this help is\n"
            "broken between words\n");
}

TEST(HelpTypes, AreSaidOnce) {
  CLI::App app("A program", "lab");
  app.formatter(std::make_shared<HelpFormatter>(80));
  int number = 1;
  std::string mode, name;
  CLI::Option* const runs = app.add_option("--runs", number, "R")->check(CLI::Range(1, 9));
  app.add_option("--mode", mode, "M")->check(CLI::IsMember({"fast", "slow"}))->required();
  app.add_option("--name", name, "N")->needs(runs);
  EXPECT_THAT(app.help(), testing::HasSubstr("\n  --runs INT in [1 - 9]       R\n"
                                             "  --mode {fast,slow} REQUIRED M\n"
                                             "  --name TEXT Needs: --runs   N\n"));
}

TEST(Examples, OfACommandWithoutAFormatterOfOursFitEightyColumns) {
  CLI::App app("A program", "lab");
  EXPECT_THAT(examples_of(app), IsEmpty());
  set_examples(app, {"lab"});
  EXPECT_THAT(app.help(), StartsWith("Example:\n  lab\n\nA program\nUsage: lab"));
  EXPECT_FALSE(app.help().ends_with("\n\n"));
}

}  // namespace
}  // namespace perflab::cli
