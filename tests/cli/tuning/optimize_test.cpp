// rocm-perf optimize from outside: what the command line refuses, and a small run with commands.
#include <gmock/gmock.h>

#include "cli/program.h"
#include "cli/told_time.h"

namespace perflab::cli {
namespace {

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

TEST(Optimize, RefusesWhatCheatsAndCanBeRechecked) {
  const test::TempFolder folder;
  const auto source = folder.write("k.cpp", test::kToldTimeSource);
  (void)folder.script("agent", kAgent);
  const Outcome outcome =
      rocm_perf(folder.path(),
                {"optimize", "k.cpp", "--host", "--kernel", "k", "--build",
                 "g++ -O0 {source} -o {build_dir}/k", "--run", "{build_dir}/k", "--metric-regex",
                 "time: ([0-9.]+)", "--metric-unit", "ms", "--proposer", "exec:./agent"});
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
  EXPECT_THAT(again.out, HasSubstr("the document is sound"));
}

}  // namespace
}  // namespace perflab::cli
