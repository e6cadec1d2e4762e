// Every cheat of the corpus is refused for the right reason, and what is no cheat is accepted: all
// of them go through one run of the real program, on a capture and as a program of its own.
#include <gmock/gmock.h>

#include "base/files.h"
#include "cheats/corpus.h"
#include "cli/program.h"

namespace perflab::cli {
namespace {

using ::testing::AnyOfArray;
using ::testing::Contains;

class CheatsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string original = test::text_of(PERFLAB_SOURCE_DIR "/tests/cheats/original.hip");
    write("original.hip", original);
    corpus_ = test::read_corpus(original);
    ASSERT_GE(corpus_.size(), 40U);
    for (std::size_t i = 0; i < corpus_.size(); ++i)
      write("proposal_" + std::to_string(i), corpus_[i].source);
    // One after the other, whatever it is told; then nothing more.
    write("propose.sh",
          "cd \"$(dirname \"$0\")\" || exit 1\nn=$(cat count 2>/dev/null || echo 0)\n"
          "echo $((n + 1)) >count\n[ -f proposal_$n ] && cat proposal_$n\nexit 0\n");
  }

  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_file_atomically(folder_ / name, text));
  }

  /// All proposals in one run with these arguments; the document.
  [[nodiscard]] Json optimize(std::vector<std::string> more) {
    std::vector<std::string> words{"optimize",
                                   "original.hip",
                                   "--host",
                                   "--kernel",
                                   "row_sums",
                                   "--proposer",
                                   "exec:sh " + (folder_ / "propose.sh").string(),
                                   "--patience",
                                   "1000",
                                   "--max-candidates",
                                   "1000",
                                   "--type",
                                   "f32",
                                   "--rtol",
                                   "1e-5",
                                   "--atol",
                                   "1e-5",
                                   "--time-limit",
                                   "30s",
                                   "--out",
                                   "out",
                                   "--json"};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--", "-I" PERFLAB_SOURCE_DIR "/examples/host"});
    ProcessOptions options;
    options.set_environment = {{"LD_LIBRARY_PATH", PERFLAB_HSA_SIM_FOLDER}};
    options.unset_environment = {"ROCM_PATH", "HSA_RESERVE_SVM", "PERFLAB_STEERING_ATTEMPT"};
    const Outcome outcome = rocm_perf(folder_.path(), words, options);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return document("optimization", outcome.out);
  }

  /// Every decision is one of those that its file expects.
  void check_decisions(const Json& result) {
    ASSERT_EQ(result["candidates"].size(), corpus_.size());
    for (std::size_t i = 0; i < corpus_.size(); ++i) {
      const Json& decision = result["candidates"][i]["decision"];
      const std::string found =
          decision["outcome"] == "accepted" ? "accepted" : decision["reason"].get<std::string>();
      EXPECT_THAT(corpus_[i].expected, Contains(found)) << corpus_[i].name << ": " << decision;
    }
    ASSERT_FALSE(result["accepted"].is_null());
    EXPECT_EQ(corpus_[result["accepted"]["number"].get<std::size_t>() - 1].name, "right");
    EXPECT_EQ(test::text_of(folder_ / "original.hip"),
              test::text_of(PERFLAB_SOURCE_DIR "/tests/cheats/original.hip"));
  }

  test::TempFolder folder_;
  std::vector<test::Cheat> corpus_;
};

class CheatsOnACapture : public CheatsTest {};
TEST_F(CheatsOnACapture, AreRefusedForTheRightReason) {
  const auto compiled = run_program({PERFLAB_SIM_HIPCC, (folder_ / "original.hip").string(), "-o",
                                     (folder_ / "k.hsaco").string(), "--kernel", "row_sums"});
  ASSERT_TRUE(compiled && compiled->succeeded());
  const auto capture =
      test::corpus_capture(test::text_of(folder_ / "k.hsaco")).write(folder_ / "capture");
  ASSERT_TRUE(capture.has_value());
  check_decisions(optimize({"--capture", "capture", "--build",
                            PERFLAB_SIM_HIPCC " {source} -o {code_object} --kernel row_sums"}));
}

class CheatsAsAProgram : public CheatsTest {};
TEST_F(CheatsAsAProgram, AreRefusedForTheRightReason) {
  check_decisions(optimize({"--build",
                            "g++ -std=c++20 -O2 -fsanitize-coverage=trace-pc -x c++ "
                            "-I" PERFLAB_SOURCE_DIR "/examples/host {source} " PERFLAB_SOURCE_DIR
                            "/tests/support/counted_clock.cpp -o {build_dir}/app",
                            "--run", "{build_dir}/app {seed} {build_dir}/out.bin", "--output",
                            "{build_dir}/out.bin", "--metric-regex", "time_ms: ([0-9.]+)",
                            "--metric-unit", "ms"}));
}

}  // namespace
}  // namespace perflab::cli
