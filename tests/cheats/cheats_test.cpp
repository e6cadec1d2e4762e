// Every cheat of the corpus is refused for the right reason, and what is no cheat is accepted: all
// of them go through one run of the real program, on a capture and as a program of its own. Both
// count their work instead of time; with -O3 the eight sums of the right one are one block of it.
#include <gmock/gmock.h>

#include "base/sandbox_tests.h"
#include "base/system/files.h"
#include "base/system/find_sandbox.h"
#include "cheats/corpus.h"
#include "cli/program.h"
#include "optimize/ast/cuda_headers.h"

namespace perflab::cli {
namespace {

using ::testing::AnyOfArray;
using ::testing::Contains;

/// Reasons that a source has besides those of its file when it is read for a GPU. Clang refuses
/// calls of the host in a kernel before any guard is asked, and a header inside of one does not
/// parse; what outputs held before is the poison's business.
bool is_reason_as_cuda(const std::string& cheat, const std::string& reason) {
  return reason == "does_not_parse" ||
         (cheat == "digraph_include" && reason == "includes_changed") ||
         (cheat == "output_as_cache" && reason == "not_rewritten");
}

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
          "cd \"$(dirname \"$0\")\" || exit 1\ncount=$ROCM_PERF_PROPOSER_DIR/count\n"
          "n=$(cat $count 2>/dev/null || echo 0)\necho $((n + 1)) >$count\n"
          "[ -f proposal_$n ] && cat proposal_$n\nexit 0\n");
  }

  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_file_atomically(folder_ / name, text));
  }

  /// All proposals in one run with these arguments; the document.
  [[nodiscard]] Json optimize(std::vector<std::string> more) {
    std::vector<std::string> words{
        "optimize",   "original.hip", "--kernel",
        "row_sums",   "--proposer",   "exec:sh " + (folder_ / "propose.sh").string(),
        "--patience", "1000",         "--max-candidates",
        "1000",       "--type",       "f32",
        "--rtol",     "1e-5",         "--atol",
        "1e-5",       "--time-limit", "60s",
        "--out",      "out",          "--json"};
    words.insert(words.end(), more.begin(), more.end());
    if (as_cuda_)
      words.insert(words.end(), {"--", "-I" PERFLAB_SOURCE_DIR "/examples/cuda"});
    else
      words.insert(words.end(), {"--host", "--", "-I" PERFLAB_SOURCE_DIR "/examples/host"});
    ProcessOptions options;
    options.set_environment = {
        {"LD_LIBRARY_PATH", PERFLAB_HSA_SIM_FOLDER ":" PERFLAB_CUDA_SIM_FOLDER}};
    options.unset_environment = {"ROCM_PATH", "HSA_RESERVE_SVM", "PERFLAB_STEERING_ATTEMPT"};
    const Outcome outcome = rocm_perf(folder_.path(), words, options);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return document("optimization", outcome.out);
  }

  /// Every decision is one of those that its file expects.
  void check_decisions(const Json& result) {
    ASSERT_EQ(result["candidates"].size(), corpus_.size());
    EXPECT_EQ(result["sandbox"]["used"], find_sandbox().has_value());
    for (std::size_t i = 0; i < corpus_.size(); ++i) {
      const Json& decision = result["candidates"][i]["decision"];
      const std::string found =
          decision["outcome"] == "accepted" ? "accepted" : decision["reason"].get<std::string>();
      if (as_cuda_ && is_reason_as_cuda(corpus_[i].name, found)) continue;
      EXPECT_THAT(corpus_[i].expected, Contains(found)) << corpus_[i].name << ": " << decision;
    }
    ASSERT_FALSE(result["accepted"].is_null());
    EXPECT_EQ(corpus_[result["accepted"]["number"].get<std::size_t>() - 1].name, "right");
    EXPECT_EQ(test::text_of(folder_ / "original.hip"),
              test::text_of(PERFLAB_SOURCE_DIR "/tests/cheats/original.hip"));
  }

  test::TempFolder folder_;
  std::vector<test::Cheat> corpus_;
  bool as_cuda_ = false;  ///< the source is read as CUDA, not as one for this machine
};

/// The runtime that a capture is of, and the stand-in's compiler for it.
struct CaptureOf {
  const char* compiler;
  test::SampleCapture (*capture)(std::string code_object);
  /// The source is read as CUDA where its toolkit is installed, else as one for this machine.
  bool of_cuda = false;
};

class CheatsOnACapture : public CheatsTest, public ::testing::WithParamInterface<CaptureOf> {
 protected:
  void SetUp() override {
    CheatsTest::SetUp();
    as_cuda_ = GetParam().of_cuda && perflab::optimize::find_cuda_toolkit({}).has_value();
    const auto compiled =
        run_program({GetParam().compiler, (folder_ / "original.hip").string(), "-o",
                     (folder_ / "k.hsaco").string(), "--kernel", "row_sums", "-O3"});
    ASSERT_TRUE(compiled && compiled->succeeded());
    const auto capture =
        GetParam().capture(test::text_of(folder_ / "k.hsaco")).write(folder_ / "capture");
    ASSERT_TRUE(capture.has_value());
  }
  /// Of all files of the capture.
  [[nodiscard]] std::string capture_text() const {
    std::string text;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "capture"))
      if (entry.is_regular_file()) text += test::text_of(entry.path());
    return text;
  }
};
TEST_P(CheatsOnACapture, AreRefusedForTheRightReason) {
  check_decisions(optimize(
      {"--capture", "capture", "--build",
       GetParam().compiler + std::string(" {source} -o {code_object} --kernel row_sums -O3")}));
}

TEST_P(CheatsOnACapture, CannotWriteToTheCaptureWhileTheyAreBuilt) {
  PERFLAB_NEEDS_A_SANDBOX();
  const auto right = std::ranges::find(corpus_, "right", &test::Cheat::name);
  ASSERT_NE(right, corpus_.end());
  write("proposal_0", right->source);
  std::filesystem::remove(folder_ / "proposal_1");
  write("build.sh", std::string("for file in $(find capture -type f); do\n"
                                "  echo x >>$file && echo \"$file was written to\" >&2\ndone\n"
                                "exec ") +
                        GetParam().compiler + " $1 -o $2 --kernel row_sums -O3\n");
  const std::string before = capture_text();
  const Json result =
      optimize({"--capture", "capture", "--build", "sh build.sh {source} {code_object}"});
  ASSERT_EQ(result["candidates"].size(), 1U);
  EXPECT_EQ(result["candidates"][0]["decision"]["outcome"], "accepted");
  EXPECT_THAT(result["candidates"][0]["build"]["compiler_text"].get<std::string>(),
              ::testing::AllOf(::testing::HasSubstr("Read-only file system"),
                               ::testing::Not(::testing::HasSubstr("was written to"))));
  EXPECT_EQ(capture_text(), before);
}

// Suites of their own, which run beside one another.
INSTANTIATE_TEST_SUITE_P(Hip, CheatsOnACapture,
                         ::testing::Values(CaptureOf{PERFLAB_SIM_HIPCC, [](std::string object) {
                                                       return test::corpus_capture(
                                                           std::move(object));
                                                     }}));
INSTANTIATE_TEST_SUITE_P(Cuda, CheatsOnACapture,
                         ::testing::Values(CaptureOf{PERFLAB_SIM_NVCC, test::corpus_capture_of_cuda,
                                                     true}));

class CheatsAsAProgram : public CheatsTest {};
TEST_F(CheatsAsAProgram, AreRefusedForTheRightReason) {
  check_decisions(optimize({"--build",
                            "g++ -std=c++20 -O3 -fsanitize-coverage=trace-pc -x c++ "
                            "-I" PERFLAB_SOURCE_DIR "/examples/host {source} " PERFLAB_SOURCE_DIR
                            "/tests/support/counted_clock.cpp -o {build_dir}/app",
                            "--run", "{build_dir}/app {seed} {build_dir}/out.bin", "--output",
                            "{build_dir}/out.bin", "--metric-regex", "time_ms: ([0-9.]+)",
                            "--metric-unit", "ms"}));
}

}  // namespace
}  // namespace perflab::cli
