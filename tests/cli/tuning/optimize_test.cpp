// rocm-perf optimize from outside: what the command line refuses, and a small run with commands.
#include <gmock/gmock.h>

#include "cli/program.h"
#include "cli/told_time.h"

namespace perflab::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Optimize, SaysWhatDoesNotFit) {
  const test::TempFolder folder;
  (void)folder.write("k.cpp", "void k(float* p) { *p = 1; }\n");
  const std::vector<std::pair<std::vector<std::string>, const char*>> wrong = {
      {{"optimize"}, "needs a source file"},
      {{"optimize", "k.cpp"}, "nothing to measure candidates with"},
      {{"optimize", "k.cpp", "--run", "true", "--capture", "c"}, "two ways to measure"},
      {{"optimize", "k.cpp", "--run", "true", "--min-gain", "much"}, "--min-gain 'much'"},
      {{"optimize", "k.cpp", "--run", "true", "--proposer", "oracle"}, "no proposer 'oracle'"},
      {{"optimize", "./app", "--source", "k.cpp", "--run", "./app"}, "needs --build"}};
  for (const auto& [arguments, part] : wrong) {
    const Outcome outcome = rocm_perf(folder.path(), arguments);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(part));
  }
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"k.cpp"});
}

TEST(Optimize, RecheckOfADamagedDocumentIsExit3) {
  const test::TempFolder folder;
  (void)folder.write("optimization.json", "{}");
  for (const char* name : {"optimization.json", "missing.json"}) {
    const Outcome outcome = rocm_perf(folder.path(), {"optimize", "--recheck", name});
    EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(name));
  }
}

// Replaces the body and says another time, which lies outside of the kernel and is refused; then
/// a body that computes something else.
constexpr const char* kAgent = R"(count=$ROCM_PERF_PROPOSER_DIR/count
n=$(cat $count 2>/dev/null || echo 0)
echo $((n + 1)) > $count
case $n in
  0) sed 's/time: 100/time: 10/' k.cpp ;;
  1) sed 's/i \* 3/i * 4/' k.cpp ;;
  2) sed 's/i \* 3/3 * i/' k.cpp ;;
esac
)";

/// Optimises the program in k.cpp by what the agent proposes.
Outcome optimise(const test::TempFolder& folder, const std::vector<std::string>& more) {
  std::vector<std::string> words = {"optimize",
                                    "k.cpp",
                                    "--host",
                                    "--kernel",
                                    "k",
                                    "--build",
                                    "g++ -O0 {source} -o {build_dir}/k",
                                    "--run",
                                    "{build_dir}/k",
                                    "--metric-regex",
                                    "time: ([0-9.]+)",
                                    "--metric-unit",
                                    "ms",
                                    "--proposer",
                                    "exec:./agent"};
  words.insert(words.end(), more.begin(), more.end());
  return rocm_perf(folder.path(), words);
}

TEST(Optimize, RefusesWhatCheatsAndCanBeRechecked) {
  const test::TempFolder folder;
  const auto source = folder.write("k.cpp", test::kToldTimeSource);
  (void)folder.script("agent", kAgent);
  const Outcome outcome = optimise(folder, {"--details"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("nothing is accepted: 3 candidates refused"));
  const Json json =
      document("optimization", test::text_of(folder / "optimization/optimization.json"));
  ASSERT_EQ(json["candidates"].size(), 3U) << outcome.err;
  EXPECT_EQ(json["candidates"][0]["decision"]["reason"], "outside_changed");
  EXPECT_EQ(json["candidates"][1]["decision"]["reason"], "wrong_output");
  EXPECT_EQ(json["candidates"][2]["decision"]["reason"], "no_gain");
  EXPECT_EQ(test::text_of(source), test::kToldTimeSource);

  const Outcome again =
      rocm_perf(folder.path(), {"optimize", "--recheck", "optimization/optimization.json"});
  EXPECT_EQ(again.exit_code, 0) << again.out << again.err;
  EXPECT_THAT(again.out, testing::MatchesRegex("([0-9]+) of [0-9]+ hold, 0 could not be checked: "
                                               "the document is sound\n[^\n]+\n"));
  const Outcome all = rocm_perf(
      folder.path(), {"optimize", "--recheck", "optimization/optimization.json", "--details"});
  EXPECT_THAT(all.out, AllOf(HasSubstr("holds          decision on candidate 3\n"),
                             HasSubstr("the document is sound")));
}

TEST(Optimize, AnswersOnOnePageWhyNothingIsAccepted) {
  const test::TempFolder folder;
  (void)folder.write("k.cpp", test::kToldTimeSource);
  (void)folder.script("agent", kAgent);
  const Outcome outcome = optimise(folder, {});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_THAT(
      outcome.out,
      AllOf(testing::StartsWith("Nothing is accepted\n  candidate 3 came nearest: 1.000 (1.000 to "
                                "1.000) times as fast as the original"),
            HasSubstr("3 candidates: 3 refused (1 outside_changed, 1 wrong_output, 1 "
                      "no_gain)"),
            HasSubstr("\nNext\n  rocm-perf report optimization --html "
                      "optimization/optimization.html\n"),
            HasSubstr("\nThe rest: --resume --details candidates|proof|diff; --json; "
                      "--html FILE\n")));
  EXPECT_LE(lines(outcome.out), 40);
  EXPECT_THAT(outcome.err, HasSubstr("documents in optimization: optimization.json, summary.json"));
  const Json summary = document("summary", test::text_of(folder / "optimization/summary.json"));
  EXPECT_EQ(summary["made_from"], Json::array({"optimization"}));
  // What the page says to do works, and so does the rest.
  const Outcome page = rocm_perf(
      folder.path(), {"report", "optimization", "--html", "optimization/optimization.html"});
  EXPECT_EQ(page.exit_code, 0) << page.err;
  const Outcome brief = optimise(folder, {"--resume", "--json", "--brief"});
  EXPECT_EQ(brief.exit_code, 1) << brief.err;
  EXPECT_EQ(document("summary", brief.out)["parts"], summary["parts"]);
  EXPECT_THAT(optimise(folder, {"--resume", "--details", "candidates"}).out,
              HasSubstr("times as fast as that"));
  EXPECT_EQ(optimise(folder, {"--details=kernels"}).exit_code, 2);
}

// A body that takes half of the steps, and the program says how many they were.
TEST(Optimize, AnswersOnOnePageWhatIsAcceptedAndHowToApplyIt) {
  const test::TempFolder folder;
  (void)folder.write("k.cpp", R"(#include <cstdio>
int steps = 0;
void k(int* out) {
  for (int i = 0; i < 8; ++i) out[i] = 3 * i;
  for (int i = 0; i < 50; ++i) ++steps;
}
int main() {
  int out[8] = {};
  k(out);
  for (int value : out) std::printf("%d ", value);
  std::printf("\ntime: %d\n", steps + 10);
}
)");
  (void)folder.script("agent", "sed 's/i < 50/i < 20/' k.cpp");
  const Outcome outcome = optimise(folder, {"--max-candidates", "1"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(testing::StartsWith("Optimised\n  k of k.cpp for this machine's processor"),
                    HasSubstr("\nAccepted\n  candidate 1 is 2.000 times as fast as the original"),
                    HasSubstr("60 ms before, 30 ms after (command (metric), "),
                    HasSubstr("\nNext\n  patch --forward --backup k.cpp "
                              "optimization/accepted.diff\n")));
  // The first command puts it in place, and keeps the original.
  const Outcome patched = run_in(
      folder.path(), {"patch", "--forward", "--backup", "k.cpp", "optimization/accepted.diff"});
  EXPECT_EQ(patched.exit_code, 0) << patched.out << patched.err;
  EXPECT_EQ(test::text_of(folder / "k.cpp"), test::text_of(folder / "optimization/accepted.cpp"));
}

}  // namespace
}  // namespace perflab::cli
