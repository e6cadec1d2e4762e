// The GPU timer over the stand-in rocprofv3 and written databases.
#include "measure/gpu_timer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/shell.h"
#include "base/system/interrupt.h"
#include "base/temp_folder.h"
#include "collect/stand_in_rocprofv3.h"
#include "support/rocpd_writer.h"

namespace perflab::measure {
namespace {

namespace fs = std::filesystem;
using test::ScopedVariable;
using test::shell;
using test::TempFolder;
using test::text_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class GpuTimer : public testing::Test {
 protected:
  GpuTimer() {
    database_ = folder_ / "recorded.db";
    test::RocpdWriter writer(database_);
    writer.agent(test::host_agent());
    const test::Id gpu = writer.agent(test::mi300x_agent());
    writer.queue();
    writer.stream();
    writer.code_object({});
    const auto kernel = [&](std::string name, std::string shown) {
      return writer.kernel({.name = std::move(name), .display_name = std::move(shown)});
    };
    const test::Id axpy = kernel("_Z4axpyPf", "axpy(float*)");
    const test::Id gemm = kernel("_Z4gemmPf", "gemm(float*)");
    const test::Id fill =
        kernel("__amd_rocclr_fillBufferAligned", "__amd_rocclr_fillBufferAligned");
    std::int64_t now = 1000;
    const auto dispatch = [&](test::Id kernel_id, std::int64_t length) {
      writer.dispatch({.kernel = kernel_id, .start = now, .end = now + length, .agent = gpu});
      now += length + 10;
    };
    dispatch(fill, 100'000);
    for (const std::int64_t length : {300, 200, 201}) dispatch(axpy, length);
    for (const std::int64_t length : {500, 400}) dispatch(gemm, length);
    const Result<void> done = writer.close();
    EXPECT_TRUE(done.has_value()) << describe(done.error());
    ::setenv("FAKE_ROCPROFV3_DB", database_.c_str(), 1);
  }

  static tune::Job job_for(std::string pattern = "") {
    tune::Job job;
    job.objective.kind = tune::ObjectiveKind::gpu_time;
    job.objective.kernel_pattern = std::move(pattern);
    job.run_limit_seconds = 60;
    return job;
  }

  tune::ProfiledRun timed(const std::vector<std::string>& argv, const tune::Job& job) {
    Result<tune::GpuTimer> timer = make_gpu_timer(scratch_.path());
    EXPECT_TRUE(timer.has_value()) << describe(timer.error());
    if (!timer) return {};
    Result<tune::ProfiledRun> run = (*timer)(argv, job);
    EXPECT_TRUE(run.has_value()) << describe(run.error());
    EXPECT_TRUE(fs::is_empty(scratch_.path())) << "something was left behind";
    return std::move(run).value_or(tune::ProfiledRun{});
  }

  static void use_mode(const char* mode) { ::setenv("FAKE_ROCPROFV3_MODE", mode, 1); }

  TempFolder folder_, scratch_;
  fs::path database_;

 private:
  test::StandInRocprofv3 stand_in_{folder_ / "log"};
};

TEST_F(GpuTimer, TakesTheKernelWithMostTimeThatIsNoHelper) {
  EXPECT_TRUE(rocprofv3_available());
  const tune::ProfiledRun run = timed({"true"}, job_for());
  EXPECT_EQ(run.problem, "");
  EXPECT_FALSE(run.timed_out);
  EXPECT_THAT(run.samples, ElementsAre(500, 400)) << "gemm: 900 ns in all";
  EXPECT_GT(run.wall_seconds, 0);
  EXPECT_THAT(text_of(folder_ / "log"),
              AllOf(HasSubstr("--kernel-trace\n-f\nrocpd\n"), Not(HasSubstr("--hip-trace"))));
}

TEST_F(GpuTimer, TakesTheKernelsThatThePatternFinds) {
  EXPECT_THAT(timed({"true"}, job_for("^axpy\\(")).samples, ElementsAre(300, 200, 201));
  EXPECT_THAT(timed({"true"}, job_for("_Z4axpyPf")).samples, ElementsAre(300, 200, 201));
  EXPECT_THAT(timed({"true"}, job_for("axpy|gemm")).samples, ElementsAre(300, 200, 201, 500, 400));
  EXPECT_THAT(timed({"true"}, job_for("fillBuffer")).samples, ElementsAre(100'000));
  const tune::ProfiledRun none = timed({"true"}, job_for("softmax"));
  EXPECT_THAT(none.samples, IsEmpty());
  EXPECT_EQ(none.problem,
            "rocprofv3 recorded 6 dispatches, but none of a kernel that 'softmax' finds");
  const auto timer = make_gpu_timer().value();
  EXPECT_EQ(timer({"true"}, job_for("(")).error().code, ErrorCode::usage);
}

TEST_F(GpuTimer, SaysWhatTheProgramDidWrong) {
  EXPECT_EQ(timed(shell("echo 'error: 13 elements differ'; exit 4"), job_for()).problem,
            "exited with code 4: error: 13 elements differ");
  EXPECT_THAT(timed(shell("kill -SEGV $$"), job_for()).problem, HasSubstr("SIGSEGV"));
  EXPECT_THAT(timed({"/nowhere/app"}, job_for()).problem, HasSubstr("no such program"));
  use_mode("no_output");
  EXPECT_THAT(timed({"true"}, job_for()).problem, HasSubstr("left no database"));
  use_mode("empty_db");
  EXPECT_NE(timed({"true"}, job_for()).problem, "");
  use_mode("crash");
  EXPECT_NE(timed({"true"}, job_for()).problem, "");
}

TEST_F(GpuTimer, CutsARunAtItsLimit) {
  tune::Job job = job_for();
  job.run_limit_seconds = 0.2;
  const tune::ProfiledRun run = timed(shell("while :; do sleep 0.05; done"), job);
  EXPECT_TRUE(run.timed_out);
  EXPECT_EQ(run.problem, "was stopped after 0.2 s, the time limit");
  EXPECT_THAT(run.samples, IsEmpty());
}

TEST_F(GpuTimer, RunsItWithTheWorkersVariablesAndWithoutInput) {
  tune::Job job = job_for();
  job.environment = {{"ROCR_VISIBLE_DEVICES", "5"}, {"HIP_VISIBLE_DEVICES", "0"}};
  const ScopedVariable cuda("CUDA_VISIBLE_DEVICES", "7");
  const ScopedVariable leaking("ROCPROF_OUTPUT_FILE_NAME", "everybody");
  const tune::ProfiledRun run =
      timed(shell(fmt::format("cat; echo \"$ROCR_VISIBLE_DEVICES/$HIP_VISIBLE_DEVICES/"
                              "${{CUDA_VISIBLE_DEVICES-unset}}\" > {}",
                              (folder_ / "environment").string())),
            job);
  EXPECT_EQ(run.problem, "");
  EXPECT_EQ(text_of(folder_ / "environment"), "5/0/unset\n");
}

TEST_F(GpuTimer, WorksFromSeveralThreads) {
  const auto timer = make_gpu_timer(scratch_.path()).value();
  std::vector<std::vector<double>> samples(4);
  {
    std::vector<std::jthread> threads;
    for (std::vector<double>& mine : samples)
      threads.emplace_back([&] {
        if (auto run = timer({"true"}, job_for("axpy"))) mine = run->samples;
      });
  }
  for (const std::vector<double>& mine : samples) EXPECT_THAT(mine, ElementsAre(300, 200, 201));
}

TEST_F(GpuTimer, WithoutAUsableRocprofv3NothingCanBeTimed) {
  use_mode("unsupported");
  const auto old = make_gpu_timer().value();
  const auto refused = old({"true"}, job_for());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::missing_tool);
  const ScopedVariable none("ROCPROFV3", "/nowhere/rocprofv3");
  EXPECT_FALSE(rocprofv3_available());
  const auto timer = make_gpu_timer();
  ASSERT_FALSE(timer.has_value());
  EXPECT_EQ(timer.error().code, ErrorCode::missing_tool);
  EXPECT_THAT(timer.error().remedy, AllOf(HasSubstr("--metric-regex"), HasSubstr("--objective")));
}

TEST_F(GpuTimer, StopsWhenTheUserSaysSo) {
  const InterruptScope scope;
  const auto timer = make_gpu_timer(scratch_.path()).value();
  std::jthread user([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    raise_interrupt();
  });
  const auto stopped = timer(shell("while :; do sleep 0.05; done"), job_for());
  user.join();
  clear_interrupts();
  ASSERT_FALSE(stopped.has_value());
  EXPECT_EQ(stopped.error().code, ErrorCode::interrupted);
}

}  // namespace
}  // namespace perflab::measure
