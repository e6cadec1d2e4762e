// rocm-perf profile of a CUDA program: the program is a script that leaves a recording where the
// library would.
#include <gmock/gmock.h>

#include "cli/program.h"
#include "support/cuda_rows.h"
#include "support/rocpd_writer.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

/// A short CUDA recording: one slow first launch, four launches, a synchronisation.
fs::path write_cuda_recording(const fs::path& path, const test::CudaRecording& recording = {}) {
  constexpr std::int64_t kStart = 5'000'000'000'000;
  test::RocpdWriter w(path, test::cuda_recording(recording));
  w.agent(test::host_agent());
  const test::Id gpu = w.agent(test::h100_agent());
  w.queue({.id = 7, .name = "Default Stream"});
  w.stream({.id = 7, .name = "Default Stream"});
  w.code_object({.uri = "cuda:unknown"});
  const test::Id kernel = w.kernel({.name = "_Z4axpyPf",
                                    .display_name = "axpy(float*)",
                                    .group_segment_size = 1024,
                                    .sgpr_count = 0,
                                    .arch_vgpr_count = 40,
                                    .add_kd_suffix = false});
  std::int64_t at = kStart;
  for (int i = 0; i < 5; ++i) {
    const std::int64_t call = i == 0 ? 400'000 : 4'000;
    w.launch(test::cuda_launch(at, at + call), {.kernel = kernel,
                                                .start = at + call + 1'000,
                                                .end = at + call + 31'000,
                                                .agent = gpu,
                                                .queue = 7,
                                                .stream = 7,
                                                .group_segment_size = 1024});
    at += call + 40'000;
  }
  w.region(test::cuda_stream_sync(at - 30'000, at, 7));
  const Result<void> done = w.close();
  EXPECT_TRUE(done) << (done ? "" : describe(done.error()));
  return path;
}

class ProfileCuda : public testing::Test {
 protected:
  ProfileCuda() { std::ofstream(folder_ / "librecord.so") << "library"; }

  /// A program that leaves the database, then does `more`.
  [[nodiscard]] std::string app(const fs::path& database, const std::string& more = "true",
                                const std::string& tail = "") const {
    return folder_
        .script("app", "mkdir -p $PERFLAB_RECORD_OUT/host && cp " + database.string() +
                           " $PERFLAB_RECORD_OUT/host/$$_results.db" + tail + "; " + more)
        .string();
  }
  Outcome run(std::vector<std::string> arguments) {
    ProcessOptions options;
    options.set_environment = {{"PERFLAB_RECORD_LIBRARY", (folder_ / "librecord.so").string()}};
    arguments.insert(arguments.begin(), {"profile", "--platform", "cuda"});
    return rocm_perf(folder_.path(), std::move(arguments), options);
  }
  Json written(const std::string& name) {
    return document(name, test::text_of(folder_ / (name + ".json")));
  }

  test::TempFolder folder_;
};

TEST_F(ProfileCuda, WritesTheSameDocumentsAndSaysWhy) {
  const Outcome outcome = run({"--", app(write_cuda_recording(folder_ / "cuda.db"))});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("recorded on CUDA: --platform says so"));
  const Json profile = written("profile");
  EXPECT_EQ(profile["gpu"]["architecture"], "sm_90");
  EXPECT_EQ(profile["environment"]["platform"]["name"], "cuda");
  EXPECT_EQ(profile["environment"]["rocprofv3"], nullptr);
  EXPECT_EQ(profile["occupancy"]["model"], "cuda");
  const Json analysis = written("analysis");
  EXPECT_EQ(analysis["recordings"][0]["collector"], "rocm-perf-record");
  EXPECT_EQ(analysis["recordings"][0]["platform"], "cuda");
  EXPECT_EQ(analysis["recordings"][0]["complete"], true);
  const Json dag = written("dag");
  EXPECT_EQ(dag["graph"]["without_launch"], 0);
  EXPECT_THAT(dag["warnings"].dump(), HasSubstr("first launch of a kernel took"));
}

TEST_F(ProfileCuda, SpeaksOfBlocksAndSharedMemory) {
  const Outcome outcome =
      run({"--details", "profile", "--", app(write_cuda_recording(folder_ / "cuda.db"))});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("132 SMs"));
  EXPECT_THAT(outcome.out, HasSubstr("block 256x1x1"));
  EXPECT_THAT(outcome.out, HasSubstr("shared memory 1024 B"));
  EXPECT_THAT(outcome.out, HasSubstr("warps"));
  for (const char* word : {"VGPR", "work-group", "LDS", "CUs"})
    EXPECT_THAT(outcome.out, Not(HasSubstr(word)));
}

TEST_F(ProfileCuda, WhatWasLostIsAWarning) {
  const fs::path database = write_cuda_recording(
      folder_ / "cuda.db",
      {.complete = false, .dropped_records = 3, .second_client = "libkineto.so"});
  const Outcome outcome = run({"--", app(database)});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string warnings = written("analysis")["warnings"].dump();
  EXPECT_THAT(warnings, HasSubstr("a recording is not finished"));
  EXPECT_THAT(warnings, HasSubstr("3 records were dropped"));
  EXPECT_THAT(warnings, HasSubstr("libkineto.so"));
}

TEST_F(ProfileCuda, AKilledProgramKeepsWhatWasWritten) {
  const fs::path database = write_cuda_recording(folder_ / "cuda.db", {.complete = false});
  const Outcome outcome = run({"--", app(database, "kill -9 $$", ".partial")});
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  const std::string warnings = written("profile")["warnings"].dump();
  EXPECT_THAT(warnings, HasSubstr("what had been written until then is kept"));
  EXPECT_THAT(warnings, HasSubstr("partial"));
  EXPECT_EQ(written("analysis")["totals"]["dispatches"], 5);
}

TEST_F(ProfileCuda, ThreadTracesAreRefused) {
  const Outcome outcome = run({"--att", "--", app(folder_ / "none.db")});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("thread traces are of AMD's GPUs"));
  EXPECT_FALSE(fs::exists(folder_ / ".rocpd_profile"));
}

TEST_F(ProfileCuda, CountersThatNobodyCountedAreMissingWithAReason) {
  const Outcome outcome = run({"--roofline", "--", app(write_cuda_recording(folder_ / "cuda.db"))});
  EXPECT_THAT(written("profile")["missing"].dump(), HasSubstr("roofline"));
  EXPECT_TRUE(fs::exists(folder_ / ".rocpd_profile/0001/counters/pass_1"));
}

/// The recording library in a program of the stand-in CUDA (tests/cuda_sim).
Outcome run_in_stand_in(const fs::path& folder, std::vector<std::string> arguments,
                        const std::string& faults = "") {
  ProcessOptions options;
  options.set_environment = {{"LD_LIBRARY_PATH", PERFLAB_CUDA_SIM_FOLDER},
                             {"PERFLAB_RECORD_LIBRARY", PERFLAB_RECORD_LIBRARY_FILE},
                             {"CUDA_SIM_CUPTI_FAIL", faults}};
  return rocm_perf(folder, std::move(arguments), options);
}

TEST_F(ProfileCuda, OfAProgramThatIsReallyRecorded) {
  const Outcome outcome =
      run_in_stand_in(folder_.path(), {"profile", "--platform", "cuda", "--runs", "2", "--",
                                       PERFLAB_CUDA_SIM_FOLDER "/cuda_sim_app", "all"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(written("profile")["stability"]["runs"].size(), 2U);
  const Json analysis = written("analysis");
  EXPECT_EQ(analysis["totals"]["dispatches"], 10);
  EXPECT_EQ(analysis["recordings"][0]["complete"], true);
  EXPECT_EQ(written("dag")["graph"]["without_launch"], 0);
}

// Of each of the 50 launches the stand-in gives two samples that issued, five that wait for memory
// and one at a barrier.
TEST_F(ProfileCuda, PcSamplesAreTakenInARunOfTheirOwn) {
  const Outcome outcome = run_in_stand_in(
      folder_.path(), {"profile", "--platform", "cuda", "--pc-sampling", "--pc-sampling-interval",
                       "1024", "--", PERFLAB_CUDA_SIM_FOLDER "/cuda_sim_app", "many", "50"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json analysis = written("analysis");
  EXPECT_EQ(analysis["totals"]["dispatches"], 50);
  ASSERT_FALSE(analysis["pc_sampling"].is_null());
  const Json& set = analysis["pc_sampling"]["sets"][0];
  EXPECT_EQ(set["method"], "cupti");
  EXPECT_EQ(set["interval"]["value"], 1024);
  const Json& kernel = analysis["pc_sampling"]["kernels"][0];
  EXPECT_EQ(kernel["kernel"], 0);
  EXPECT_EQ(kernel["samples"], 400);
  EXPECT_EQ(kernel["issued"]["samples"], 100);
  EXPECT_EQ(kernel["reasons"][0]["name"], "long_scoreboard");
  EXPECT_EQ(kernel["reasons"][0]["samples"], 250);
  EXPECT_EQ(analysis["bottlenecks"]["kernels"][0]["pc_samples"], 0);

  const Outcome again = run_in_stand_in(
      folder_.path(), {"analyze", "--pc-samples", ".rocpd_profile/0001/pc_sampling", "--json"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(document("analysis", again.out)["pc_sampling"]["kernels"][0]["samples"], 400);
}

TEST_F(ProfileCuda, WhatKeepsPcSamplesAwayIsSaid) {
  const Outcome outcome = run_in_stand_in(folder_.path(),
                                          {"profile", "--platform", "cuda", "--pc-sampling", "--",
                                           PERFLAB_CUDA_SIM_FOLDER "/cuda_sim_app", "many", "5"},
                                          "cuptiPCSamplingEnable=35");
  EXPECT_EQ(outcome.exit_code, 4) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("it ended well and left no sample"));
  EXPECT_THAT(outcome.err, HasSubstr("cuptiPCSamplingEnable"));
  const Json analysis = written("analysis");
  EXPECT_EQ(analysis["totals"]["dispatches"], 5);
  EXPECT_TRUE(analysis["pc_sampling"].is_null());
  EXPECT_THAT(analysis["missing"].dump(), HasSubstr("left no sample"));
}

TEST_F(ProfileCuda, TheStandInsDriverIsFound) {
  if (fs::exists("/dev/kfd")) GTEST_SKIP() << "this machine has an AMD GPU";
  const Outcome outcome = run_in_stand_in(
      folder_.path(), {"profile", "--", PERFLAB_CUDA_SIM_FOLDER "/cuda_sim_app", "all"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("the GPU driver here is NVIDIA's"));
}

TEST_F(ProfileCuda, AnotherPlatformIsAUsageError) {
  ProcessOptions options;
  EXPECT_EQ(rocm_perf(folder_.path(), {"profile", "--platform", "metal", "--", "true"}, options)
                .exit_code,
            2);
}

TEST_F(ProfileCuda, WithoutTheLibraryIsExit4) {
  ProcessOptions options;
  options.set_environment = {{"PERFLAB_RECORD_LIBRARY", "/no/such/library.so"}};
  const Outcome outcome =
      rocm_perf(folder_.path(), {"profile", "--platform", "cuda", "--", "true"}, options);
  EXPECT_EQ(outcome.exit_code, 4);
  EXPECT_THAT(outcome.err, HasSubstr("PERFLAB_RECORD_LIBRARY"));
}

}  // namespace
}  // namespace perflab::cli
