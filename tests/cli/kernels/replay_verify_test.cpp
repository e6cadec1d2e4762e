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

/// A capture of reverse (LDS) or spill (scratch) over 3000 floats, in work-groups of 256.
class LeftMemoryVerify : public ReplayVerify {
 protected:
  void capture_of(const std::string& kernel, const std::string& body) {
    test::SampleCapture sample = test::inplace_sample(kCount);
    std::vector<float> after(kCount);
    for (std::uint32_t i = 0; i < kCount; ++i) {
      const std::uint32_t first = i / 256 * 256, count = std::min(256U, kCount - first);
      after[i] = static_cast<float>(kernel == "spill" ? i + 1 : first + count - 1 - (i - first));
    }
    sample.regions[0].after = test::bytes_of_values(after);
    sample.code_object = object(kernel, body);
    sample.kernarg.resize(test::sim_kernarg_bytes(kernel));
    capture::Dispatch& dispatch = sample.description.dispatch;
    dispatch.kernel = dispatch.demangled = kernel;
    dispatch.kernarg_bytes = test::sim_kernarg_bytes(kernel);
    dispatch.group_segment_bytes = kernel == "spill" ? 0 : 1024;
    dispatch.private_segment_bytes = kernel == "spill" ? 16 : 0;
    std::filesystem::remove_all(folder_ / "capture");
    ASSERT_TRUE(sample.write(folder_ / "capture").has_value());
  }
  void candidate_file(const std::string& kernel, const std::string& body) const {
    ASSERT_TRUE(write_file_atomically(folder_ / "other.hsaco", object(kernel, body)));
  }
  static std::string object(const std::string& kernel, const std::string& body) {
    return test::sim_code_object(
        {{.name = kernel, .body = body, .private_segment_bytes = kernel == "spill" ? 16U : 0U}});
  }
  static constexpr std::uint32_t kCount = 3000;
};

// It computes nothing: it hands over what the original's launch left in LDS or scratch.
TEST_F(LeftMemoryVerify, IsOfNoUseToACheat) {
  for (const std::string kernel : {"reverse", "spill"}) {
    capture_of(kernel, kernel);
    candidate_file(kernel, kernel);
    const Outcome honest = verify({"--hsaco", "other.hsaco", "--json"});
    ASSERT_EQ(honest.exit_code, 0) << honest.err << honest.out;
    const Json dirtied = document("certificate", honest.out)["left_memory"];
    EXPECT_EQ(dirtied, (Json{{"lds_bytes", 65536},
                             {"scratch_bytes", kernel == "spill" ? 16 : 0},
                             {"vgprs", 512}}));
    candidate_file(kernel, kernel + "_left");
    const std::vector<std::string> cheat{"--hsaco", "other.hsaco", "--json"};
    EXPECT_EQ(document("certificate", verify(cheat).out)["verdict"], "differs") << kernel;
    // The trap is what refuses it: without it, it passes.
    const Outcome passed = verify(cheat, {{"HSA_SIM_NO_TRAP", "1"}});
    EXPECT_EQ(document("certificate", passed.out)["verdict"], "bitwise") << kernel;
  }
}

TEST_F(LeftMemoryVerify, MakesAnOriginalThatReadsItNotDeterministic) {
  capture_of("reverse", "reverse_left");
  const Json certificate = document("certificate", verify({"--json"}).out);
  EXPECT_EQ(certificate["regions"][0]["not_deterministic"]["bytes"], 12000);
  EXPECT_NE(certificate["verdict"], "bitwise");
}

TEST_F(LeftMemoryVerify, IsSaidWhereNothingCanBeDirtied) {
  test::SampleCapture sample = test::inplace_sample(64);
  sample.code_object = test::sim_code_object(
      {.kernels = {{.name = "inplace"}}, .flags = 0x52f, .target = "amdgcn-amd-amdhsa--gfx906"});
  sample.kernarg.resize(test::sim_kernarg_bytes("inplace"));
  sample.description.dispatch.kernarg_bytes = test::sim_kernarg_bytes("inplace");
  sample.description.machine.isa = "amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-";
  std::filesystem::remove_all(folder_ / "capture");
  ASSERT_TRUE(sample.write(folder_ / "capture").has_value());
  const Outcome outcome =
      verify({"--json"}, {{"HSA_SIM_ISA", "amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-"}});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json certificate = document("certificate", outcome.out);
  EXPECT_EQ(certificate["left_memory"], nullptr);
  EXPECT_THAT(certificate["missing"].dump(), HasSubstr("built in for gfx906"));
}

// The trap's own end says nothing about the kernel that is verified.
TEST_F(LeftMemoryVerify, ATrapThatFaultsIsAnError) {
  const Outcome outcome = verify({}, {{"HSA_SIM_FAULT", "trap@2=fault"}});
  EXPECT_EQ(outcome.exit_code, 4);
  EXPECT_THAT(outcome.err, StartsWith("rocm-perf: hsa_call_failed: the kernel that dirties LDS"));
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
