// Splitting against what a POSIX shell makes of the same line.
#include "base/text/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/system/subprocess.h"

namespace perflab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> split(std::string_view text) {
  const auto words = split_command_line(text);
  EXPECT_TRUE(words.has_value()) << describe(words.error());
  return words.value_or(std::vector<std::string>{});
}

TEST(SplitCommandLine, SeparatesAtBlanks) {
  EXPECT_THAT(split("./app"), ElementsAre("./app"));
  EXPECT_THAT(split("  ./app -n\t4 \n x "), ElementsAre("./app", "-n", "4", "x"));
}

TEST(SplitCommandLine, HonoursQuotes) {
  EXPECT_THAT(split(R"(app 'two words' "and more" a'b'"c")"),
              ElementsAre("app", "two words", "and more", "abc"));
  EXPECT_THAT(split(R"(app '' "" 'a\b"c' "it's")"), ElementsAre("app", "", "", R"(a\b"c)", "it's"));
  EXPECT_THAT(split("app '|&;<>' \"|&;<>\" \\;"), ElementsAre("app", "|&;<>", "|&;<>", ";"));
}

TEST(SplitCommandLine, HonoursBackslashes) {
  EXPECT_THAT(split(R"(app two\ words \\ \')"), ElementsAre("app", "two words", "\\", "'"));
  EXPECT_THAT(split(R"(app "a\"b" "\$x" "\n" "\\")"),
              ElementsAre("app", "a\"b", "$x", "\\n", "\\"));
  EXPECT_THAT(split("app a\\\nb \\\n c \"d\\\ne\""), ElementsAre("app", "ab", "c", "de"));
}

TEST(SplitCommandLine, ExpandsNothing) {
  EXPECT_THAT(split("app $HOME $(id) `id` * ? ~ {a,b} #c a=b"), testing::Contains("$(id)"));
  EXPECT_THAT(split("app $HOME * ~ #c"), ElementsAre("app", "$HOME", "*", "~", "#c"));
}

TEST(SplitCommandLine, RefusesWhatIsNotACommandLine) {
  for (const char* text :
       {"", "   ", "''", "app 'open", "app \"open", R"(app "open\")", "app \\"}) {
    const auto words = split_command_line(text);
    ASSERT_FALSE(words.has_value()) << text;
    EXPECT_EQ(words.error().code, ErrorCode::usage);
  }
  EXPECT_EQ(split_command_line("app 'open").error().message,
            "the command line has an unbalanced '");
  EXPECT_FALSE(split_command_line(std::string_view("a\0b", 3)).has_value());
}

TEST(SplitCommandLine, RefusesWhatOnlyAShellUnderstands) {
  for (const char* text : {"app > log", "app | grep x", "a && b", "a; b", "app < in", "app 2>&1"}) {
    const auto words = split_command_line(text);
    ASSERT_FALSE(words.has_value()) << text;
    EXPECT_THAT(words.error().message, HasSubstr("only a shell understands"));
    EXPECT_THAT(words.error().remedy, HasSubstr("sh -c"));
  }
}

TEST(JoinCommandLine, IsReadBackByOurselvesAndByAShell) {
  const std::vector<std::string> odd{"app",         "two words", "it's", "\"q\"", "",
                                     "a\nb",        "$HOME",     "`id`", "*",     "a|b",
                                     "back\\slash", "plain-1",   "ü"};
  EXPECT_EQ(join_command_line({"app", "-n", "two words", "it's"}),
            R"(app -n 'two words' 'it'\''s')");
  EXPECT_EQ(split(join_command_line(odd)), odd);
  ProcessOptions options;
  options.standard_output = StreamMode::capture;
  const auto shown = run_program(
      {"sh", "-c", "set -- " + join_command_line(odd) + "; printf '[%s]' \"$@\""}, options);
  ASSERT_TRUE(shown.has_value());
  std::string expected;
  for (const std::string& word : odd) expected += "[" + word + "]";
  EXPECT_EQ(shown->output.tail, expected);
}

}  // namespace
}  // namespace perflab
