// rocm-perf analyze --pc-samples: made-up samples with and without a recording of times, and what
// is refused.
#include <gmock/gmock.h>

#include "cli/program.h"
#include "support/pc_samples_writer.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

test::PcRun two_kernels() {
  test::PcRun run;
  run.kernels = {test::pc_copy_kernel(), test::pc_matrix_kernel()};
  run.kernels[0].dispatches = 12;
  run.kernels[1].dispatches = 5;
  return run;
}

TEST(AnalyzePcSamples, AnswersOnOnePage) {
  const test::TempFolder folder;
  test::write_pc_run(folder / "pc", "run", two_kernels(), {.json = true, .csv = true});
  const Outcome outcome = rocm_perf(
      folder.path(), {"analyze", "--pc-samples", "pc", "--pc-interval", "65536", "--out", "docs"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(names_in(folder / "docs"), ElementsAre("analysis.json", "summary.json"));
  for (const char* const part : {"PC samples\n", "Why its waves did not issue", "WAITCNT",
                                 "Instructions with most samples", "s_waitcnt vmcnt(0)"})
    EXPECT_THAT(outcome.out, HasSubstr(part));
  EXPECT_LE(lines(outcome.out), 45);
  const Json analysis = document("analysis", test::text_of(folder / "docs/analysis.json"));
  const Json& sampling = analysis["pc_sampling"];
  ASSERT_EQ(sampling["sets"].size(), 1U);
  EXPECT_EQ(sampling["sets"][0]["files"], Json::array({"run_results.json"}));
  EXPECT_EQ(sampling["sets"][0]["interval"]["source"], "given");
  ASSERT_EQ(sampling["kernels"].size(), 2U);
  const Json& copy = sampling["kernels"][0];
  EXPECT_EQ(copy["name"], two_kernels().kernels[0].name);
  EXPECT_GT(copy["features"]["memory_wait"]["low"].get<double>(), 0.5);
  EXPECT_TRUE(analysis["selected_kernel"].is_null());
  EXPECT_LE(test::text_of(folder / "docs/summary.json").size(), 8192U);
}

TEST(AnalyzePcSamples, DetailsHaveAllFigures) {
  const test::TempFolder folder;
  test::write_pc_run(folder / "pc", "run", two_kernels(), {.json = true, .csv = false});
  const Outcome outcome =
      rocm_perf(folder.path(), {"analyze", "--pc-samples", "pc/run_results.json", "--details"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* const part :
       {"no recording of times\n", "PC samples of ", "answer", "about every 3", "left out",
        "waits for  vector memory", "Classes of instructions", "Pipes of the sampled SIMDs",
        "Other kernels with samples"})
    EXPECT_THAT(outcome.out, HasSubstr(part));
}

TEST(AnalyzePcSamples, HostTrapsSayWhereOnly) {
  const test::TempFolder folder;
  test::PcRun run = two_kernels();
  run.stochastic = false;
  test::write_pc_run(folder / "pc", "run", run, {.json = true, .csv = false});
  const Outcome outcome = rocm_perf(
      folder.path(),
      {"analyze", "--pc-samples", "pc", "--pc-interval", "512", "--details", "pc-samples"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("host trap, every 512 us"));
  EXPECT_THAT(outcome.out, HasSubstr("confidence low"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("Why waves did not issue")));
}

TEST(AnalyzePcSamples, StandBesideARecording) {
  const test::TempFolder folder;
  test::PcRun run = two_kernels();
  test::write_pc_run(folder / "pc", "run", run, {.json = true, .csv = false});
  // Its own dispatches as the recording: rocprofv3's JSON is one, too.
  const Outcome outcome =
      rocm_perf(folder.path(), {"analyze", "pc/run_results.json", "--pc-samples", "pc", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json analysis = document("analysis", outcome.out);
  ASSERT_EQ(analysis["kernels"].size(), 2U);
  for (const Json& kernel : analysis["pc_sampling"]["kernels"]) {
    ASSERT_TRUE(kernel["kernel"].is_number()) << kernel["name"];
    EXPECT_EQ(analysis["kernels"][kernel["kernel"].get<std::size_t>()]["name"], kernel["name"]);
    EXPECT_TRUE(kernel["quality"]["plain_ns"].is_null());  // it is the sampled run
  }
}

TEST(AnalyzePcSamples, IsRefusedWithReasons) {
  const test::TempFolder folder;
  const auto refused = [&](std::vector<std::string> words, const char* why) {
    words.insert(words.begin(), "analyze");
    const Outcome outcome = rocm_perf(folder.path(), words);
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_THAT(outcome.err, HasSubstr(why));
  };
  refused({"--pc-samples", "nowhere"}, "nowhere");
  refused({"--pc-interval", "65536"}, "--pc-interval is about PC samples");
  refused({}, "no TRACE and no --att or --pc-samples");
  fs::create_directory(folder / "empty");
  refused({"--pc-samples", "empty"}, "holds no PC samples");
}

}  // namespace
}  // namespace perflab::cli
