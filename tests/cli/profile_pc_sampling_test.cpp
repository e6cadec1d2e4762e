// rocm-perf profile --pc-sampling with the stand-in rocprofv3: the profiler is asked first, the
// samples become a part of the analysis, and everything that can keep it from them is said.
// Synthetic samples.
#include <gmock/gmock.h>

#include <map>
#include <sstream>

#include "cli/profile_outputs.h"
#include "cli/program.h"
#include "support/pc_samples_writer.h"
#include "support/rocpd_writer.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class ProfilePcSampling : public testing::Test {
 protected:
  ProfilePcSampling() {
    const test::PcKernel copy = test::pc_copy_kernel();
    test::RocpdWriter writer(folder_ / "base.db", {.guid = "base", .process = {.pid = 4242}});
    writer.agent(test::host_agent());
    writer.agent(test::mi300x_agent());
    writer.queue();
    writer.stream();
    writer.code_object({});
    const test::Id kernel = writer.kernel({.name = copy.mangled, .display_name = copy.name});
    for (std::int64_t i = 0; i < 20; ++i)
      writer.dispatch({.kernel = kernel,
                       .start = 1'000'000 + i * 200'000,
                       .end = 1'000'000 + i * 200'000 + 130'000});
    EXPECT_TRUE(writer.close().has_value());
    write_samples(true);
  }

  void write_samples(bool stochastic) {
    test::PcRun run;
    run.stochastic = stochastic;
    run.kernels = {test::pc_copy_kernel()};
    run.kernels[0].dispatches = 20;
    fs::remove_all(folder_ / "samples");
    test::write_pc_run(folder_ / "samples", "4242", run, {});
  }

  Outcome run(std::vector<std::string> arguments) {
    ProcessOptions options;
    for (const auto& [name, value] :
         std::map<std::string, std::string>{{"ROCPROFV3", PERFLAB_FAKE_ROCPROFV3},
                                            {"FAKE_ROCPROFV3_DB", (folder_ / "base.db").string()},
                                            {"FAKE_ROCPROFV3_PC", (folder_ / "samples").string()},
                                            {"FAKE_ROCPROFV3_PC_MODE", mode_},
                                            {"FAKE_ROCPROFV3_LOG", (folder_ / "log").string()}})
      options.set_environment.emplace_back(name, value);
    arguments.insert(arguments.begin(), {"profile", "--pc-sampling"});
    return rocm_perf(folder_.path(), std::move(arguments), options);
  }

  Json written(const std::string& name) {
    return document(name, test::text_of(folder_ / (name + ".json")));
  }

  std::string warnings() { return warnings_of(written("profile")); }

  /// The reason for a null of analysis.json; empty: it is there.
  std::string missing() {
    const Json analysis = written("analysis");
    for (const Json& missing : analysis["missing"])
      if (missing["field"] == "pc_sampling") return missing["reason"];
    return {};
  }

  /// The values of an option over all calls of rocprofv3.
  [[nodiscard]] std::vector<std::string> values_of(const std::string& option) const {
    return cli::values_of(folder_ / "log", option);
  }

  test::TempFolder folder_;
  std::string mode_ = "good";
};

TEST_F(ProfilePcSampling, SamplesBecomeAPartOfTheAnalysis) {
  const Outcome outcome = run({"--", "sh", "-c", "echo x >> starts"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(lines(test::text_of(folder_ / "starts")), 2);
  EXPECT_THAT(values_of("--pc-sampling-method"), ElementsAre("stochastic"));
  EXPECT_THAT(values_of("--pc-sampling-interval"), ElementsAre("65536"));
  EXPECT_THAT(values_of("-d"), ElementsAre(testing::EndsWith("/0001/run_1"),
                                           testing::EndsWith("/0001/pc_sampling")));
  EXPECT_EQ(missing(), "");
  const Json analysis = written("analysis");
  ASSERT_FALSE(analysis["pc_sampling"].is_null());
  EXPECT_EQ(analysis["pc_sampling"]["kernels"][0]["kernel"], 0);
  // Nine of ten samples of the copy wait for memory.
  const Json verdict = analysis["bottlenecks"]["kernels"][0];
  EXPECT_EQ(verdict["pc_samples"], 0);
  double memory_wait = 0;
  for (const Json& feature : verdict["features"])
    if (feature["name"] == "pc_sampling.memory_wait" && !feature["value"].is_null())
      memory_wait = feature["value"];
  EXPECT_GT(memory_wait, 0.8);
  EXPECT_THAT(warnings(), Not(HasSubstr("PC sampling")));
}

TEST_F(ProfilePcSampling, AGpuWithHostTrapsAloneIsSampledThatWayAndGetsNoVerdictFromIt) {
  mode_ = "old";  // names no GPU
  write_samples(false);
  const Outcome outcome = run({"--quiet", "--", "true"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(values_of("--pc-sampling-method"), ElementsAre("host_trap"));
  EXPECT_THAT(values_of("--pc-sampling-interval"), ElementsAre("512"));
  const Json analysis = written("analysis");
  EXPECT_EQ(analysis["bottlenecks"]["kernels"][0]["verdict"], "insufficient-data");
}

TEST_F(ProfilePcSampling, WhatTheGpuDoesNotOfferIsNotRun) {
  mode_ = "no_offer";
  const Outcome none = run({"--", "sh", "-c", "echo x >> starts"});
  EXPECT_EQ(none.exit_code, 4);
  EXPECT_THAT(none.err, HasSubstr("rocprofv3 -L offers no PC sampling on gfx942"));
  EXPECT_EQ(lines(test::text_of(folder_ / "starts")), 1);
  EXPECT_THAT(missing(), HasSubstr("offers no PC sampling"));
  EXPECT_FALSE(written("profile")["runtime_ms"].is_null());
  mode_ = "good";
  EXPECT_EQ(run({"--pc-sampling-interval", "70000", "--", "true"}).exit_code, 2);
}

TEST_F(ProfilePcSampling, WhatGoesWrongInTheRunIsSaidAndTheProfileIsKept) {
  for (const auto& [mode, words] : std::map<std::string, std::string>{
           {"unsupported", "no GPU of this machine takes that method"},
           {"driver", "the kernel driver is too old"},
           {"none", "it ended well and left no sample"}}) {
    mode_ = mode;
    const Outcome outcome = run({"--", "true"});
    EXPECT_EQ(outcome.exit_code, 4) << mode;
    EXPECT_THAT(outcome.err, HasSubstr(words));
    EXPECT_THAT(missing(), HasSubstr(words));
    EXPECT_THAT(warnings(), HasSubstr("PC sampling: there are none: "));
    EXPECT_FALSE(written("profile")["runtime_ms"].is_null());
    if (mode_ == "none")
      EXPECT_THAT(warnings(), HasSubstr("known: samples can stop after the first buffer"));
  }
}

TEST_F(ProfilePcSampling, AHangIsStoppedAndItsSamplesAreUsed) {
  mode_ = "hang";
  const Outcome outcome = run({"--timeout", "3s", "--", "true"});
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("PC sampling took longer than"));
  EXPECT_EQ(missing(), "");
  EXPECT_THAT(warnings(), AllOf(HasSubstr("not all of them were taken"), HasSubstr("known: ")));
}

TEST_F(ProfilePcSampling, ATruncatedFileIsNotHalfUsed) {
  mode_ = "truncated";
  const Outcome outcome = run({"--", "true"});
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  EXPECT_THAT(warnings(), HasSubstr("PC sampling: "));
  // The JSON was cut off; of its tables the whole rows count, or there are none.
  const Json analysis = written("analysis");
  if (!analysis["pc_sampling"].is_null()) {
    EXPECT_EQ(missing(), "");
    EXPECT_THAT(warnings(), HasSubstr("not all of them were taken"));
  }
}

TEST_F(ProfilePcSampling, UsageErrorsComeBeforeAnyRun) {
  for (std::vector<std::string> arguments :
       {std::vector<std::string>{"--no-rocprof", "--", "sh", "-c", "echo x >> starts"},
        {"--pc-sampling-method", "stochastic", "--platform", "cuda", "--", "sh", "-c",
         "echo x >> starts"},
        {"--pc-sampling-interval", "70000", "--platform", "cuda", "--", "sh", "-c",
         "echo x >> starts"},
        {"--pc-sampling-method", "magic", "--", "sh", "-c", "echo x >> starts"},
        {"--pc-sampling-interval", "0", "--", "sh", "-c", "echo x >> starts"}}) {
    EXPECT_EQ(run(std::move(arguments)).exit_code, 2);
    EXPECT_FALSE(fs::exists(folder_ / "starts"));
  }
}

}  // namespace
}  // namespace perflab::cli
