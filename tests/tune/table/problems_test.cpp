// How problems of a dispatch table are named: on the command line, and in a manifest.
#include "tune/table/problems.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace perflab::tune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(NamedProblems, AreReadFromACommandLine) {
  const auto one = parse_problem("M=1024,N=5e2:a:b.jsonl");
  ASSERT_TRUE(one) << describe(one.error());
  EXPECT_THAT(one->size, ElementsAre(Pair("M", 1024), Pair("N", 500)));
  EXPECT_EQ(one->recording, "a:b.jsonl");
}

TEST(NamedProblems, OfACommandLineCanBeWrong) {
  for (const char* const text :
       {"", ":", "a.json", "M=1", "M=1:", ":a", "M:a", "=1:a", "M=:a", "M=0:a", "M=-1:a", "M=x:a",
        "M=inf:a", "M=nan:a", "M=1e101:a", "M=1,:a", "M=1,M=2:a", "M=1 :a"}) {
    const auto one = parse_problem(text);
    ASSERT_FALSE(one) << text;
    EXPECT_EQ(one.error().code, ErrorCode::usage);
    EXPECT_THAT(one.error().message, HasSubstr("--problem '"));
    EXPECT_FALSE(one.error().remedy.empty());
  }
}

TEST(NamedProblems, AreReadFromAManifest) {
  const auto all = parse_problems(
      R"({"problems": [{"size": {"N": 2, "M": 0.5}, "recording": "a.json"},
                       {"recording": "b/c.csv", "size": {"N": 4, "M": 1}}]})",
      "m.json");
  ASSERT_TRUE(all) << describe(all.error());
  ASSERT_EQ(all->size(), 2U);
  EXPECT_THAT(all->front().size, ElementsAre(Pair("N", 2), Pair("M", 0.5)));
  EXPECT_EQ(all->back().recording, "b/c.csv");
}

TEST(NamedProblems, OfAManifestCanBeWrong) {
  for (const char* const text :
       {"", "[]", "{}", R"({"problems": {}})", R"({"problems": [1]})", R"({"problems": [{}]})",
        R"({"problems": [{"size": {"M": 1}}]})",
        R"({"problems": [{"size": {}, "recording": "a"}]})",
        R"({"problems": [{"size": {"": 1}, "recording": "a"}]})",
        R"({"problems": [{"size": {"M": 0}, "recording": "a"}]})",
        R"({"problems": [{"size": {"M": "1"}, "recording": "a"}]})",
        R"({"problems": [{"size": {"M": 1}, "recording": ""}]})",
        R"({"problems": [{"size": {"M": 1}, "recording": 7}]})",
        R"({"problems": [{"size": {"M": 1}, "recording": "a", "file": "b"}]})",
        R"({"problems": [], "more": 1})"}) {
    const auto all = parse_problems(text, "m.json");
    ASSERT_FALSE(all) << text;
    EXPECT_EQ(all.error().code, ErrorCode::bad_input);
    EXPECT_THAT(all.error().message, HasSubstr("m.json"));
  }
}

NamedProblem problem(std::vector<std::pair<std::string, double>> size, const char* file) {
  return {.size = std::move(size), .recording = file};
}

TEST(NamedProblems, AreSortedBySize) {
  const auto sorted =
      sort_problems({problem({{"N", 8}, {"M", 1}}, "c"), problem({{"N", 2}, {"M", 4}}, "b"),
                     problem({{"N", 2}, {"M", 1}}, "a")});
  ASSERT_TRUE(sorted) << describe(sorted.error());
  EXPECT_THAT(sorted->sizes, ElementsAre("N", "M"));
  std::vector<std::string> files;
  for (const NamedProblem& one : sorted->problems) files.push_back(one.recording.string());
  EXPECT_THAT(files, ElementsAre("a", "b", "c"));
}

TEST(NamedProblems, WrittenInDifferentOrdersStandByTheAlphabet) {
  for (const bool first : {true, false}) {
    std::vector<NamedProblem> all = {problem({{"N", 8}, {"M", 1}}, "a"),
                                     problem({{"M", 4}, {"N", 2}}, "b")};
    if (first) std::ranges::reverse(all);
    const auto sorted = sort_problems(all);
    ASSERT_TRUE(sorted);
    EXPECT_THAT(sorted->sizes, ElementsAre("M", "N"));
    EXPECT_THAT(sorted->problems[0].size, ElementsAre(Pair("M", 1), Pair("N", 8)));
  }
}

TEST(NamedProblems, ThatMakeNoTableAreRefused) {
  const auto refused = [](std::vector<NamedProblem> problems) {
    const auto sorted = sort_problems(std::move(problems));
    EXPECT_FALSE(sorted);
    if (sorted) return std::string();
    EXPECT_EQ(sorted.error().code, ErrorCode::bad_input);
    return sorted.error().message;
  };
  EXPECT_EQ(refused({}), "there are 0 tuned problems: a table is of 2 to 256");
  EXPECT_EQ(refused({problem({{"M", 1}}, "a")}),
            "there is 1 tuned problem: a table is of 2 to 256");
  EXPECT_EQ(refused(std::vector<NamedProblem>(257, problem({{"M", 1}}, "a"))),
            "there are 257 tuned problems: a table is of 2 to 256");
  EXPECT_EQ(refused({problem({{"M", 1}}, "a"), problem({{"N", 1}}, "b")}),
            "a (M=1) and b (N=1) do not have the same sizes");
  EXPECT_EQ(refused({problem({{"M", 1}}, "a"), problem({{"M", 1}, {"N", 1}}, "b")}),
            "a (M=1) and b (M=1, N=1) do not have the same sizes");
  EXPECT_EQ(refused({problem({{"M", 2}}, "b"), problem({{"M", 1}}, "c"), problem({{"M", 2}}, "a")}),
            "a and b are of the same problem, M=2");
}

}  // namespace
}  // namespace perflab::tune
