// rocm-perf replay verify on the stand-in runtime: certificates, exit codes, what candidates are
// told.
#include <gmock/gmock.h>

#include "base/system/files.h"
#include "cli/program.h"
#include "hsa_sim/sim_code_objects.h"
#include "replay/sample_capture.h"

namespace perflab::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class ReplayVerify : public ::testing::Test {
 protected:
  void SetUp() override {
    // x += 1 over 3000 floats.
    test::SampleCapture sample = test::inplace_sample(3000);
    sample.code_object = test::sim_code_object({{.name = "inplace"}});
    sample.kernarg.resize(test::sim_kernarg_bytes("inplace"));
    sample.description.dispatch.kernarg_bytes = test::sim_kernarg_bytes("inplace");
    ASSERT_TRUE(sample.write(folder_ / "capture").has_value());
  }
  [[nodiscard]] Outcome verify(std::vector<std::string> more = {},
                               std::vector<std::pair<std::string, std::string>> variables = {}) {
    more.insert(more.begin(), {"replay", "verify", "capture"});
    ProcessOptions options;
    options.set_environment = std::move(variables);
    options.set_environment.emplace_back("LD_LIBRARY_PATH", PERFLAB_HSA_SIM_FOLDER);
    options.unset_environment = {"ROCM_PATH", "HSA_RESERVE_SVM", "PERFLAB_STEERING_ATTEMPT"};
    return rocm_perf(folder_.path(), std::move(more), std::move(options));
  }
  /// Verifies another body under the captured kernel's symbol.
  [[nodiscard]] Outcome candidate(const std::string& body, std::vector<std::string> more = {}) {
    EXPECT_TRUE(write_file_atomically(folder_ / "other.hsaco",
                                      test::sim_code_object({{.name = "inplace", .body = body}})));
    more.insert(more.end(), {"--hsaco", "other.hsaco"});
    return verify(std::move(more));
  }

  test::TempFolder folder_;
};

TEST_F(ReplayVerify, ACaptureThatReproducesItselfIsCertified) {
  const Outcome outcome = verify({"--json", "--out", "certificate.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json certificate = document("certificate", outcome.out);
  EXPECT_EQ(certificate["verdict"], "bitwise");
  EXPECT_EQ(certificate["sentence"], "This capture reproduces itself, bitwise, over 3 runs.");
  EXPECT_EQ(certificate["regions"][0]["type"], "f32");
  EXPECT_EQ(certificate["regions"][0]["compared_bytes"], 12000);
  EXPECT_EQ(certificate["environment"]["gpu_agent"], "gfx942");
  EXPECT_EQ(test::text_of(folder_ / "certificate.json"), outcome.out);
  EXPECT_EQ(verify({"--json"}).out, outcome.out);  // nothing depends on the run
  EXPECT_THAT(verify({"--details"}).out,
              StartsWith("inplace\nThis capture reproduces itself, bitwise"));
}

TEST_F(ReplayVerify, CandidatesPassOrFail) {
  EXPECT_EQ(candidate("inplace").exit_code, 0);
  for (const char* body : {"inplace_skips", "empty"}) {
    const Outcome outcome = candidate(body, {"--details"});
    EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("The other code object does not compute the same")) << body;
    EXPECT_EQ(outcome.err, "");
  }
}

TEST_F(ReplayVerify, TheAnswerIsTheProof) {
  const Outcome good = candidate("inplace");
  EXPECT_THAT(good.out, ::testing::AllOf(
                            HasSubstr("Proof (exit code 0)\n  inplace\n"),
                            HasSubstr("Cheats\n  none: "), HasSubstr("Is it faster\n"),
                            HasSubstr("  rocm-perf replay full-vm capture --hsaco other.hsaco")));
  const Outcome bad = candidate("empty", {"--json", "--brief"});
  EXPECT_EQ(bad.exit_code, 1);
  const Json summary = document("summary", bad.out);
  EXPECT_EQ(summary["parts"][0]["rows"][0]["verdict"], "differs");
  EXPECT_EQ(summary["next"][0]["command"],
            "rocm-perf replay verify capture --hsaco other.hsaco --details regions");
  EXPECT_EQ(verify({"--details=kernels"}).exit_code, 2);
}

TEST_F(ReplayVerify, FailuresOfTheOriginalAreErrorsAndThoseOfACandidateAreVerdicts) {
  const Outcome original = verify({"--time-limit", "1s"}, {{"HSA_SIM_FAULT", "dispatch@2=hang"}});
  EXPECT_EQ(original.exit_code, 5);
  EXPECT_THAT(original.err, StartsWith("rocm-perf: timed_out: "));
  EXPECT_EQ(original.out, "");
  ASSERT_TRUE(
      write_file_atomically(folder_ / "other.hsaco", test::sim_code_object({{.name = "inplace"}})));
  // Three runs are the original's.
  const Outcome other =
      verify({"--hsaco", "other.hsaco", "--details"}, {{"HSA_SIM_FAULT", "dispatch@4=fault"}});
  EXPECT_EQ(other.exit_code, 1) << other.err;
  EXPECT_THAT(other.out, HasSubstr("does not end well where the original does: kernel_fault"));
}

TEST_F(ReplayVerify, WrongOptionsAndPlacesAreRefused) {
  EXPECT_EQ(verify({"--type", "f31"}).exit_code, 2);
  EXPECT_EQ(verify({"--poison", "all"}).exit_code, 2);
  EXPECT_EQ(verify({"--runs", "0"}).exit_code, 2);
  EXPECT_EQ(verify({"--rtol", "-1"}).exit_code, 2);
  EXPECT_EQ(verify({"--out", "capture"}).exit_code, 2);  // a folder
  EXPECT_EQ(verify({"--hsaco", "missing.hsaco"}).exit_code, 3);
}

}  // namespace
}  // namespace perflab::cli
