// rocm-perf profile --pc-sampling with the stand-in rocprofv3: the profiler is asked first, the
// samples become a part of the analysis, and everything that can keep it from them is said.
// Synthetic samples.
#include <gmock/gmock.h>

#include <functional>
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
    write_recording({test::pc_copy_kernel()},
                    [](test::RocpdWriter& writer, const std::vector<test::Id>& ids) {
                      for (std::int64_t i = 0; i < 20; ++i)
                        writer.dispatch({.kernel = ids[0],
                                         .start = 1'000'000 + i * 200'000,
                                         .end = 1'000'000 + i * 200'000 + 130'000});
                    });
    write_samples(true);
  }

  /// Two kernels in turns: the copy with most time, the other with the longest dispatch.
  void write_two_kernels() {
    test::PcRun run;
    run.kernels = {test::pc_copy_kernel(), test::pc_matrix_kernel()};
    run.undecoded = 20;
    write_recording(run.kernels, [](test::RocpdWriter& writer, const std::vector<test::Id>& ids) {
      for (std::int64_t i = 0; i < 20; ++i) {
        const std::int64_t start = 1'000'000 + i * 800'000;
        writer.dispatch({.kernel = ids[0], .start = start, .end = start + 130'000});
        writer.dispatch({.kernel = ids[1],
                         .start = start + 200'000,
                         .end = start + (i == 0 ? 700'000 : 265'000)});
      }
    });
    write_samples(std::move(run));
  }

  /// `add` writes the dispatches of these kernels.
  void write_recording(
      const std::vector<test::PcKernel>& kernels,
      const std::function<void(test::RocpdWriter&, const std::vector<test::Id>&)>& add) {
    fs::remove(folder_ / "base.db");
    test::RocpdWriter writer(folder_ / "base.db", {.guid = "base", .process = {.pid = 4242}});
    writer.agent(test::host_agent());
    writer.agent(test::mi300x_agent());
    writer.queue();
    writer.stream();
    writer.code_object({});
    std::vector<test::Id> ids;
    for (const test::PcKernel& kernel : kernels)
      ids.push_back(writer.kernel({.name = kernel.mangled, .display_name = kernel.name}));
    add(writer, ids);
    EXPECT_TRUE(writer.close().has_value());
  }

  void write_samples(bool stochastic) {
    test::PcRun run;
    run.stochastic = stochastic;
    run.kernels = {test::pc_copy_kernel()};
    write_samples(std::move(run));
  }
  /// Of twenty dispatches of each kernel.
  void write_samples(test::PcRun run) {
    for (test::PcKernel& kernel : run.kernels) kernel.dispatches = 20;
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

TEST_F(ProfilePcSampling, TheKernelWithMostTimeIsAnalysedAndSamplesOfOthersAreCounted) {
  write_two_kernels();
  const std::string copy = test::pc_copy_kernel().name, matrix = test::pc_matrix_kernel().name;
  const Outcome outcome = run({"--", "sh", "-c", "echo x >> starts"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(lines(test::text_of(folder_ / "starts")), 2);
  const Json analysis = written("analysis");
  EXPECT_EQ(analysis["selected_kernel"]["name"], matrix);
  const Json& sampling = analysis["pc_sampling"];
  ASSERT_EQ(sampling["kernels"].size(), 1);
  EXPECT_EQ(sampling["kernels"][0]["name"], copy);
  const Json& set = sampling["sets"][0];
  const std::uint64_t in = set["in_kernels"], others = set["other_kernels"];
  EXPECT_EQ(sampling["kernels"][0]["samples"], in);
  ASSERT_EQ(set["others"].size(), 1);
  EXPECT_EQ(set["others"][0]["name"], matrix);
  EXPECT_EQ(set["others"][0]["samples"], others);
  EXPECT_GT(others, 100);
  EXPECT_EQ(in + others + set["kernel_unknown"].get<std::uint64_t>(), set["samples"]);
  for (const Json& verdict : analysis["bottlenecks"]["kernels"])
    EXPECT_EQ(verdict["pc_samples"].is_null(), verdict["name"] == matrix);
  EXPECT_THAT(outcome.err, HasSubstr("PC samples of " + copy + ": " + std::to_string(in) + " of "));
  // What is kept is whole: another look needs no other run.
  const Outcome again = rocm_perf(
      folder_.path(), {"analyze", "--pc-samples", ".rocpd_profile/0001/pc_sampling", "--json"});
  EXPECT_EQ(document("analysis", again.out)["pc_sampling"]["kernels"].size(), 2) << again.err;
}

TEST_F(ProfilePcSampling, AnotherKernelOrAllOfThemCanBeAskedFor) {
  write_two_kernels();
  const std::string copy = test::pc_copy_kernel().name, matrix = test::pc_matrix_kernel().name;
  EXPECT_EQ(run({"--pc-sampling-kernel", "^gemm", "--", "true"}).exit_code, 0);
  const Json one = written("analysis")["pc_sampling"];
  ASSERT_EQ(one["kernels"].size(), 1);
  EXPECT_EQ(one["kernels"][0]["name"], matrix);
  EXPECT_EQ(one["sets"][0]["others"][0]["name"], copy);
  const Outcome details =
      run({"--pc-sampling-kernel", "^gemm", "--details", "pc-samples", "--", "true"});
  EXPECT_THAT(details.out, AllOf(HasSubstr("PC samples of " + matrix),
                                 HasSubstr("Other kernels with samples"), HasSubstr(copy)));

  EXPECT_EQ(run({"--pc-sampling-all-kernels", "--", "true"}).exit_code, 0);
  const Json all = written("analysis")["pc_sampling"];
  EXPECT_EQ(all["kernels"].size(), 2);
  EXPECT_EQ(all["sets"][0]["other_kernels"], 0);
  EXPECT_TRUE(all["sets"][0]["others"].empty());
}

TEST_F(ProfilePcSampling, AKernelThatIsNotThereOrHasNoSamplesIsSaid) {
  const Outcome none = run({"--pc-sampling-kernel", "gemm", "--", "sh", "-c", "echo x >> starts"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("--pc-sampling-kernel: no kernel of the run matches \"gemm\""));
  EXPECT_EQ(lines(test::text_of(folder_ / "starts")), 1);
  EXPECT_THAT(missing(), HasSubstr("no kernel of the run matches"));
  EXPECT_FALSE(written("profile")["runtime_ms"].is_null());

  write_two_kernels();
  write_samples(true);  // of the copy alone
  const Outcome empty = run({"--pc-sampling-kernel", "gemm", "--", "true"});
  EXPECT_EQ(empty.exit_code, 4) << empty.err;
  EXPECT_THAT(empty.err, HasSubstr("PC sampling left no sample of gemm"));
  EXPECT_THAT(warnings(), HasSubstr("samples are of " + test::pc_copy_kernel().name));
  EXPECT_TRUE(written("analysis")["pc_sampling"]["kernels"].empty());
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
        {"--pc-sampling-kernel", "ge(mm", "--", "sh", "-c", "echo x >> starts"},
        {"--pc-sampling-kernel", "", "--", "sh", "-c", "echo x >> starts"},
        {"--pc-sampling-kernel", "gemm", "--pc-sampling-all-kernels", "--", "sh", "-c",
         "echo x >> starts"},
        {"--pc-sampling-interval", "0", "--", "sh", "-c", "echo x >> starts"}}) {
    EXPECT_EQ(run(std::move(arguments)).exit_code, 2);
    EXPECT_FALSE(fs::exists(folder_ / "starts"));
  }
}

}  // namespace
}  // namespace perflab::cli
