// rocm-perf replay of captures of CUDA on the stand-in driver: documents, texts, exit codes, every
// failure by its name, and starting again when something is in the way.
#include <gmock/gmock.h>

#include "base/system/files.h"
#include "cli/program.h"
#include "replay/cuda/cuda_capture.h"

namespace perflab::cli {
namespace {

using test::SampleCapture;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using Variables = std::vector<std::pair<std::string, std::string>>;

class ReplayCuda : public ::testing::Test {
 protected:
  void SetUp() override { write(test::cuda_inplace(3000)); }
  void write(const SampleCapture& sample) {
    std::filesystem::remove_all(folder_ / "capture");
    ASSERT_TRUE(sample.write(folder_ / "capture").has_value());
  }
  [[nodiscard]] Outcome run(std::vector<std::string> arguments, Variables variables = {},
                            const std::string& libraries = PERFLAB_CUDA_SIM_FOLDER) const {
    ProcessOptions options;
    options.set_environment = std::move(variables);
    options.set_environment.emplace_back("LD_LIBRARY_PATH", libraries);
    options.unset_environment = {"CUDA_HOME", "CUDA_PATH", "PERFLAB_STEERING_ATTEMPT"};
    arguments.insert(arguments.begin(), "replay");
    return rocm_perf(folder_.path(), std::move(arguments), std::move(options));
  }
  [[nodiscard]] Outcome full_vm(Variables variables = {},
                                std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"full-vm", "--capture-dir", "capture", "--iterations", "2"});
    return run(std::move(more), std::move(variables));
  }
  static void expect_failure(const Outcome& outcome, const std::string& name, int exit_code,
                             const std::string& what) {
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    EXPECT_THAT(outcome.err, StartsWith("rocm-perf: " + name + ": "));
    EXPECT_THAT(outcome.err, HasSubstr(what));
    EXPECT_EQ(outcome.out, "");
  }

  test::TempFolder folder_;
};

TEST_F(ReplayCuda, FullVmTellsWhatRanAndHowLong) {
  const Outcome outcome = full_vm({}, {"--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json replay = document("replay", outcome.out);
  EXPECT_EQ(replay["kernel"]["name"], "inplace");
  EXPECT_EQ(replay["kernel"]["hsaco_path"], "kernel.cubin");
  EXPECT_EQ(replay["execution"]["restored_on_device"], true);
  // What the driver recorded: the stand-in's kernels take 10 us.
  EXPECT_GE(replay["timing"]["min"], 10'000);
  EXPECT_EQ(replay["timing"]["captured"], 2000);
  EXPECT_EQ(replay["environment"]["gpu_agent"], "sm_90");
  EXPECT_EQ(replay["environment"]["runtime_version"], "13.0");
  EXPECT_EQ(replay["notes"].size(), 0U) << replay["notes"].dump();
}

TEST_F(ReplayCuda, WithoutRecordsOfKernelsTheNoteSaysHowFarOffEventsAre) {
  const Outcome outcome =
      full_vm({{"CUDA_SIM_CUPTI_FAIL", "cuptiActivityEnable:10=21"}}, {"--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json replay = document("replay", outcome.out);
  ASSERT_EQ(replay["notes"].size(), 1U);
  EXPECT_THAT(replay["notes"][0].get<std::string>(),
              ::testing::AllOf(HasSubstr("a pair of events, 3 to 7 us more"),
                               HasSubstr("cuptiActivityEnable")));
  EXPECT_GE(replay["timing"]["min"], 10'000);
}

TEST_F(ReplayCuda, ReserveCheckAsksTheDriverOrTheKernel) {
  const Outcome asked = run({"reserve-check", "--capture-dir", "capture", "--json"});
  ASSERT_EQ(asked.exit_code, 0) << asked.err;
  const Json exact = document("reservation", asked.out);
  EXPECT_EQ(exact["through"], "cuda");
  EXPECT_EQ(exact["summary"]["exact"], 1);
  EXPECT_EQ(exact["summary"]["granule"], 32 << 20);
  EXPECT_THAT(run({"reserve-check", "capture"}).out, HasSubstr("asked of the CUDA driver"));

  const Outcome moved = run({"reserve-check", "--capture-dir", "capture", "--json"},
                            {{"CUDA_SIM_FAULT", "cuMemAddressReserve@*=relocate"}});
  EXPECT_EQ(moved.exit_code, 2) << moved.err;
  const Json relocated = document("reservation", moved.out);
  EXPECT_EQ(relocated["verdict"], "relocated");
  EXPECT_TRUE(relocated["environment"]["not_exact"][0]["returned"].is_string());

  const Outcome refused = run({"reserve-check", "--capture-dir", "capture", "--json"},
                              {{"CUDA_SIM_FAULT", "cuMemAddressReserve@*=2"}});
  EXPECT_EQ(refused.exit_code, 1) << refused.err;
  EXPECT_THAT(document("reservation", refused.out)["environment"]["not_exact"][0]["status"]
                  .get<std::string>(),
              HasSubstr("CUDA_ERROR_OUT_OF_MEMORY (2)"));

  if (std::filesystem::exists("/dev/nvidiactl")) GTEST_SKIP() << "a driver of this machine answers";
  const Outcome alone =
      run({"reserve-check", "--capture-dir", "capture", "--json"}, {}, folder_.path().string());
  EXPECT_EQ(alone.exit_code, 0) << alone.err;
  EXPECT_EQ(document("reservation", alone.out)["through"], "mmap");
}

TEST_F(ReplayCuda, EveryFailureHasItsName) {
  const auto fault = [](const char* what) { return Variables{{"CUDA_SIM_FAULT", what}}; };
  expect_failure(full_vm(fault("cuMemAddressReserve@*=relocate")), "relocated", 1,
                 "the CUDA driver gave 0x");
  expect_failure(full_vm(fault("cuMemCreate@1=2")), "cuda_call_failed", 4,
                 "cuMemCreate(0x200000) answered CUDA_ERROR_OUT_OF_MEMORY (2)");
  expect_failure(full_vm(fault("cuModuleLoadData@*=200")), "cuda_call_failed", 4,
                 "cuModuleLoadData(");
  expect_failure(full_vm(fault("launch@2=fault")), "kernel_fault", 5,
                 "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  expect_failure(full_vm(fault("launch@1=hang"), {"--time-limit", "300ms"}), "timed_out", 5,
                 "did not end within 0.3 s");
  expect_failure(full_vm({{"CUDA_SIM_DEVICES", "0"}}), "no_gpu", 4, "sees no GPU");
}

TEST_F(ReplayCuda, AFaultOfTheKernelItselfIsOne) {
  SampleCapture sample = test::cuda_inplace(3000);
  sample.code_object = test::sim_cubin({{.name = "inplace", .body = "wild"}});
  write(sample);
  expect_failure(full_vm(), "kernel_fault", 5, "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
}

TEST_F(ReplayCuda, StartsAgainWithOtherAddressesWhenItIsInItsOwnWay) {
  // Where Linux puts a program whose addresses are not random.
  constexpr std::uint64_t kProgram = 0x5555'5540'0000;
  SampleCapture sample = test::cuda_inplace(3000);
  sample.regions[0].region.base = kProgram;
  sample.kernarg.clear();
  sample.push<std::uint64_t>(kProgram);
  sample.push<std::uint32_t>(3000);
  write(sample);
  ProcessOptions options;
  options.set_environment = {{"LD_LIBRARY_PATH", PERFLAB_CUDA_SIM_FOLDER}};
  options.unset_environment = {"PERFLAB_STEERING_ATTEMPT"};
  const std::vector<std::string> command{"setarch", "-R",      PERFLAB_PROGRAM, "replay",
                                         "full-vm", "capture", "--iterations",  "2"};
  const Outcome again = run_in(folder_.path(), command, options);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  // All attempts used up: the error names the program.
  options.set_environment.emplace_back("PERFLAB_STEERING_ATTEMPT", "4");
  const Outcome last = run_in(folder_.path(), command, options);
  expect_failure(last, "occupied", 1, "rocm-perf");
}

TEST_F(ReplayCuda, VerifyRefusesWrongEmptyAndRacyCode) {
  const auto verified = [&](const std::string& body) {
    test::CubinKernel kernel{.name = "inplace", .body = body};
    kernel.parameters = test::sim_parameters("inplace");
    EXPECT_TRUE(write_file_atomically(folder_ / "other.cubin", test::sim_cubin({kernel})));
    return run({"verify", "capture", "--hsaco", "other.cubin", "--json"});
  };
  const Outcome same = verified("inplace");
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_EQ(document("certificate", same.out)["verdict"], "bitwise");
  for (const char* body : {"inplace_skips", "empty", "atomic_order", "wild"}) {
    const Outcome other = verified(body);
    EXPECT_EQ(other.exit_code, 1) << body << other.err;
    EXPECT_EQ(document("certificate", other.out)["verdict"], "differs") << body;
  }
  const Outcome itself = run({"verify", "capture", "--json"});
  EXPECT_EQ(itself.exit_code, 0) << itself.err;
  EXPECT_EQ(document("certificate", itself.out)["environment"]["gpu_agent"], "sm_90");
}

}  // namespace
}  // namespace perflab::cli
