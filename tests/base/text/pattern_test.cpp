// Patterns for kernel names.
#include "base/text/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perflab {
namespace {

TEST(Pattern, IsFoundAnywhere) {
  const Pattern pattern = Pattern::compile("gemm_(nn|nt)").value();
  EXPECT_TRUE(pattern.found_in("void gemm_nt<float>(float*)"));
  EXPECT_FALSE(pattern.found_in("gemm_tt"));
  EXPECT_EQ(pattern.text(), "gemm_(nn|nt)");
}

TEST(Pattern, AnchorsAndBytesThatAreNoText) {
  const Pattern pattern = Pattern::compile("^k.$").value();
  EXPECT_TRUE(pattern.found_in("k\xff"));
  EXPECT_FALSE(pattern.found_in("xk1"));
}

TEST(Pattern, SaysWhatIsWrong) {
  const auto broken = Pattern::compile("gemm_(");
  ASSERT_FALSE(broken.has_value());
  EXPECT_EQ(broken.error().code, ErrorCode::usage);
  EXPECT_NE(broken.error().message.find("'gemm_('"), std::string::npos);
}

TEST(Pattern, IsLinearOnWhatBacktrackingEnginesDieOf) {
  const Pattern pattern = Pattern::compile("(a+)+$").value();
  EXPECT_FALSE(pattern.found_in(std::string(1 << 20, 'a') + "b"));
}

TEST(Pattern, GivesTheFirstGroupOfEveryMatch) {
  using testing::ElementsAre;
  const Pattern pattern = Pattern::compile("time: ([0-9.]+)( ms)?").value();
  EXPECT_EQ(pattern.groups(), 2);
  EXPECT_THAT(pattern.first_groups("time: 1.5 ms, time: 2 time: x"), ElementsAre("1.5", "2"));
  EXPECT_THAT(pattern.first_groups("time: 1 time: 2 time: 3", 2), ElementsAre("1", "2"));
  EXPECT_THAT(pattern.first_groups(""), ElementsAre());
  const Pattern optional = Pattern::compile("a(b)?").value();
  EXPECT_THAT(optional.first_groups("abaab"), ElementsAre("b", "", "b"));
  const Pattern empty = Pattern::compile("(x*)").value();
  EXPECT_THAT(empty.first_groups("axx"), ElementsAre("", "xx", ""));
  EXPECT_EQ(Pattern::compile("a(?:b)").value().groups(), 0);
}

TEST(Pattern, OfLinesKeepsToALine) {
  using testing::ElementsAre;
  const Pattern pattern = Pattern::compile("^t\\s*(\\S*)$", PatternScope::lines).value();
  EXPECT_EQ(pattern.text(), "^t\\s*(\\S*)$");
  EXPECT_THAT(pattern.first_groups("t 1\nat 2\nt\n3\nt 4"), ElementsAre("1", "", "4"));
  const Pattern negated = Pattern::compile("t([^x]*)x", PatternScope::lines).value();
  EXPECT_THAT(negated.first_groups("t1\nt2x"), ElementsAre("2"));
  EXPECT_THAT(Pattern::compile("t([^x]*)x").value().first_groups("t1\nt2x"), ElementsAre("1\nt2"));
}

TEST(Pattern, QuotedFindsTheTextItself) {
  EXPECT_EQ(quoted_pattern("k<1>"), "k<1>");
  for (const char* text : {"a.b", "f(int*)", "\\x", "[1]{2}", "^a|b$", "void k<(T)1>(x&&)+?"}) {
    const Pattern pattern = Pattern::compile("^" + quoted_pattern(text) + "$").value();
    EXPECT_TRUE(pattern.found_in(text)) << text;
    EXPECT_FALSE(pattern.found_in(std::string(text) + "x")) << text;
  }
  EXPECT_FALSE(Pattern::compile(quoted_pattern("a.b")).value().found_in("axb"));
}

}  // namespace
}  // namespace perflab
