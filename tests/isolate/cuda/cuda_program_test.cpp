// What the program around the captured launch may do: wait for each other, use many threads, fork;
// and machines on which nothing can be captured. Whatever happens, it goes on.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "isolate/cuda/cuda_isolated.h"
#include "isolate/cuda/hold.h"

namespace perflab::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(IsolateCudaProgram, AKernelThatWaitsForTheHostIsRefusedAndGoesOn) {
  const CudaIsolated run({.options = {"--kernel", "wait_flag"},
                          .kernel = "^wait_flag",
                          .environment = {kLittlePatience}});
  EXPECT_TRUE(run.program_is_fine()) << describe_end(run.outcome.process);
  ASSERT_TRUE(run.problem.has_value());
  EXPECT_EQ(run.problem->code, ErrorCode::refused);
  EXPECT_THAT(run.problem->message,
              StartsWith("the launch was not captured: the launch did not end within 400 ms"));
  EXPECT_FALSE(std::filesystem::exists(run.outcome.folder)) << "nothing half-written";
}

TEST(IsolateCudaProgram, BehindAKernelThatWaitsForTheHostToo) {
  const CudaIsolated run(
      {.options = {"--kernel", "wait_flag", "--before"}, .environment = {kLittlePatience}});
  EXPECT_TRUE(run.program_is_fine()) << describe_end(run.outcome.process);
  ASSERT_TRUE(run.problem.has_value());
  EXPECT_THAT(run.problem->message,
              HasSubstr("the work before the launch did not end within 400 ms"));
}

TEST(IsolateCudaProgram, ThreadsThatLaunchAllocateCopyAndFreeAllTheTime) {
  for (int round = 0; round < 3; ++round) {
    const CudaIsolated run(
        {.options = {"--threads", "4", "--launches", "30", "--n", "20000"}, .dispatch = 17});
    ASSERT_CAPTURED(run);
    EXPECT_EQ(run.array(false, 20000).back(), 19999 + 16);
    EXPECT_EQ(run.array(true, 20000).back(), 19999 + 17);
    EXPECT_EQ(run.written().size(), 1U) << "nothing else ran";
  }
}

// A thread that something else waits for must not be held for ever; one is, while memory is read.
TEST(IsolateCudaProgram, TheHoldLastsAsLongAsTheCaptureGoesOn) {
  using std::chrono::milliseconds;
  isolate::Hold hold(milliseconds(100));
  hold.enter();
  ASSERT_TRUE(hold.close());
  std::atomic<bool> passed = false;
  std::jthread other([&] {
    hold.enter();
    passed = true;
    hold.leave();
  });
  for (int i = 0; i < 12; ++i) {
    std::this_thread::sleep_for(milliseconds(40));
    hold.progress();
  }
  EXPECT_FALSE(passed);
  EXPECT_FALSE(hold.broken());
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!passed && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(milliseconds(5));
  EXPECT_TRUE(passed);
  EXPECT_TRUE(hold.broken());
  hold.open();
  hold.leave();
}

TEST(IsolateCudaProgram, AForkedChildIsLeftAlone) {
  const CudaIsolated run({.options = {"--fork", "--launches", "2"}, .dispatch = 2});
  ASSERT_CAPTURED(run);
  EXPECT_EQ(run.outcome.events.loaded, 1);
}

TEST(IsolateCudaProgram, AnotherClientOfCuptiIsNamed) {
  const CudaIsolated run({.options = {}, .environment = {{"CUDA_SIM_SECOND_CLIENT", "kineto"}}});
  EXPECT_TRUE(run.program_is_fine());
  ASSERT_TRUE(run.problem.has_value());
  EXPECT_EQ(run.problem->code, ErrorCode::missing_tool);
  EXPECT_THAT(run.problem->message,
              HasSubstr("another profiler uses CUPTI in this process already: kineto"));
}

// The capture has no time then, and is whole.
TEST(IsolateCudaProgram, WithoutRecordsTheCaptureHasNoTime) {
  const CudaIsolated run(
      {.options = {}, .environment = {{"CUDA_SIM_CUPTI_FAIL", "cuptiActivityEnable:10=35"}}});
  ASSERT_CAPTURED(run);
  EXPECT_FALSE(run.dispatch().captured_ns.has_value());
}

TEST(IsolateCudaProgram, AFailedCallOfTheDriverIsNamed) {
  const CudaIsolated run(
      {.options = {}, .environment = {{"CUDA_SIM_FAULT", "cuMemcpyDtoHAsync_v2@1=1"}}});
  EXPECT_TRUE(run.program_is_fine());
  ASSERT_TRUE(run.problem.has_value());
  EXPECT_THAT(run.problem->message, HasSubstr("cuMemcpyDtoHAsync answered 1"));
  EXPECT_FALSE(std::filesystem::exists(run.outcome.folder));
}

TEST(IsolateCudaProgram, OnePlatformAloneIsWatchedWhenItIsNamed) {
  const Isolated amd({PERFLAB_CUDA_SIM_FOLDER "/cuda_sim_gpu"},
                     {.options = {},
                      .kernel = "^inplace",
                      .environment = {{"LD_LIBRARY_PATH", PERFLAB_CUDA_SIM_FOLDER}},
                      .platform = capture::Platform::hip});
  EXPECT_EQ(amd.outcome.events.loaded, 0);
  ASSERT_TRUE(amd.problem.has_value());
  EXPECT_THAT(amd.problem->message, HasSubstr("without loading the capture library"));
}

}  // namespace
}  // namespace perflab::test
