// Which dispatch is captured, and in which state: the sample program of the stand-in runtime,
// launched in the ways that a public prototype gets wrong (docs/facts/hsa_runtime.md "A prototype's
// mistakes").
#include "isolate/isolated.h"

namespace perflab::test {
namespace {

std::vector<float> counting_from(float first, std::size_t count = 8) {
  std::vector<float> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(first + static_cast<float>(i));
  return out;
}

const std::vector<float> eight_sixes(8, 6.0F), eight_sevens(8, 7.0F);

TEST(IsolateDispatch, InPlaceKernelIsTakenInItsStateBeforeIt) {
  const Isolated run({.options = {"--kernel", "inplace", "--n", "5000"}});
  ASSERT_CAPTURED(run);
  EXPECT_EQ(run.array(false), counting_from(0));
  EXPECT_EQ(run.array(true), counting_from(1));
  EXPECT_EQ(run.written().size(), 1U);
  EXPECT_EQ(run.first_region().bytes, 20000U);
  ASSERT_EQ(run.first_region().written.size(), 1U);
  EXPECT_EQ(run.first_region().written.front(), (capture::PageRun{.first = 0, .count = 5}));
  const capture::Dispatch& dispatch = run.dispatch();
  EXPECT_EQ(dispatch.kernel, "inplace");
  EXPECT_EQ(dispatch.ordinal, 1U);
  EXPECT_EQ(dispatch.grid[0], 5000U);
  EXPECT_TRUE(dispatch.had_completion_signal);
  EXPECT_EQ(dispatch.packet.size(), 128U);
  EXPECT_EQ(run.argument<std::uint32_t>(8), 5000U);
  EXPECT_EQ(run.capture->kernarg().size(), dispatch.kernarg_bytes);
  EXPECT_TRUE(dispatch.captured_ns.has_value());
  EXPECT_EQ(run.description().machine.isa, "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-");
  EXPECT_EQ(run.description().machine.gpu_count, 1U);
  EXPECT_EQ(run.description().machine.address_mode, "mmap");
  const std::vector<isolate::SeenKernel> seen = {
      {.symbol = "inplace", .demangled = "inplace", .dispatches = 1}};
  EXPECT_EQ(run.outcome.events.kernels, seen);
}

TEST(IsolateDispatch, TheNthIsTakenAndAllAreCounted) {
  const Isolated run({.options = {"--kernel", "inplace", "--launches", "5"}, .dispatch = 3});
  ASSERT_CAPTURED(run);
  EXPECT_EQ(run.dispatch().ordinal, 3U);
  EXPECT_EQ(run.array(false), counting_from(2));
  EXPECT_EQ(run.array(true), counting_from(3));
  EXPECT_EQ(run.outcome.events.kernels.at(0).dispatches, 5U);
}

TEST(IsolateDispatch, WhatWasLaunchedJustBeforeIsWaitedFor) {
  for (const char* streams : {"1", "2"}) {
    const Isolated run(
        {.options = {"--kernel", "inplace", "--back-to-back", "--streams", streams}});
    ASSERT_CAPTURED(run);
    EXPECT_EQ(run.array(false), eight_sixes) << streams;
    EXPECT_EQ(run.array(true), eight_sevens) << streams;
  }
}

// The runtime has one queue for them, however often it is asked, and destroys it itself: the
// stand-in ends a program that does so too (tests/hsa_sim/queues.cpp).
TEST(IsolateDispatch, OfACooperativeLaunchLeavesTheProgramItsEnd) {
  const Isolated run(
      {.options = {"--kernel", "inplace", "--cooperative", "--streams", "2", "--launches", "4"},
       .dispatch = 3});
  ASSERT_CAPTURED(run);
  EXPECT_EQ(run.array(true), counting_from(3));
}

TEST(IsolateDispatch, IsFoundWhereverItStandsInABatch) {
  const std::vector<std::pair<const char*, std::string>> one_each = {{"HSA_SIM_ONE_PACKET", "1"}};
  for (const bool wrap : {false, true})
    for (const bool single : {false, true}) {
      Ask ask{.options = {"--kernel", "reverse", "--batch", "3", "--target-at", "2"},
              .kernel = "reverse",
              .dispatch = 1};
      if (wrap) ask.options.insert(ask.options.end(), {"--wrap", "--queue-size", "64"});
      if (single) ask.environment = one_each;
      const Isolated run(ask);
      ASSERT_CAPTURED(run);
      EXPECT_EQ(run.array(false), counting_from(0)) << wrap << single;
      EXPECT_EQ(run.array(true).front(), 255) << wrap << single;
      EXPECT_FALSE(run.dispatch().had_completion_signal);
    }
}

TEST(IsolateDispatch, LaterPacketsOfABatchAreCountedToo) {
  const Isolated run(
      {.options = {"--kernel", "inplace", "--batch", "5", "--target-at", "2"}, .dispatch = 5});
  ASSERT_CAPTURED(run);
  // The first, third, fourth and fifth work on another array.
  EXPECT_EQ(run.array(false), counting_from(3));
  EXPECT_EQ(run.array(true), counting_from(4));
}

TEST(IsolateDispatch, IsTheOneOfSeveralKernelsInAnObject) {
  const Isolated run({.options = {"--kernel", "scale", "--several-kernels"}, .kernel = "^scale$"});
  ASSERT_CAPTURED(run);
  EXPECT_EQ(run.dispatch().kernel, "scale");
  EXPECT_EQ(run.array(true), (std::vector<float>{0, 2.5, 5, 7.5, 10, 12.5, 15, 17.5}));
  EXPECT_EQ(run.capture->code_object().size(), run.description().code_object_bytes);
}

TEST(IsolateDispatch, DynamicLdsIsThatOfThePacket) {
  const Isolated run({.options = {"--kernel", "reverse"}, .kernel = "reverse"});
  ASSERT_CAPTURED(run);
  EXPECT_EQ(run.dispatch().group_segment_bytes, 1024U);
  EXPECT_EQ(run.dispatch().static_group_segment_bytes, 0U);
}

TEST(IsolateDispatch, TheProgramsOwnSignalIsCountedDownOnce) {
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--no-signal"}, {"--signal-value", "5"}}) {
    Ask ask{.options = {"--kernel", "inplace", "--launches", "3"}, .dispatch = 2};
    ask.options.insert(ask.options.end(), more.begin(), more.end());
    const Isolated run(ask);
    ASSERT_CAPTURED(run);
    EXPECT_EQ(run.dispatch().had_completion_signal, more.size() == 2);
    EXPECT_EQ(run.array(false), counting_from(1));
  }
}

TEST(IsolateDispatch, RunsAloneOnAnAgentThatOverlapsKernels) {
  const Isolated run({.options = {"--kernel", "inplace", "--back-to-back"},
                      .environment = {{"HSA_SIM_OVERLAP", "1"}, {"HSA_SIM_GPUS", "2"}}});
  ASSERT_TRUE(run.capture.has_value()) << describe(*run.problem);
  EXPECT_EQ(run.array(false), eight_sixes);
  EXPECT_EQ(run.description().machine.gpu_count, 2U);
}

TEST(IsolateDispatch, CodeFromAFileIsKept) {
  const TempFolder files;
  const std::string file = (files / "object.hsaco").string();
  const Isolated run({.options = {"--kernel", "inplace", "--from-file", file}});
  ASSERT_CAPTURED(run);
  const auto kept = run.capture->code_object();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(kept.data()), kept.size()), text_of(file));
}

TEST(IsolateDispatch, WorksWithTheOlderTablesToo) {
  const Isolated run(
      {.options = {"--kernel", "inplace"}, .environment = {{"HSA_SIM_TABLE", "5.2.3"}}});
  ASSERT_CAPTURED(run);
  EXPECT_EQ(run.array(true), counting_from(1));
}

TEST(IsolateDispatch, ThereIsNoneWhenNothingMatches) {
  const Isolated run({.options = {"--kernel", "inplace", "--launches", "3"}, .dispatch = 4});
  EXPECT_FALSE(run.outcome.events.captured);
  EXPECT_TRUE(run.program_is_fine());
  ASSERT_TRUE(run.problem.has_value());
  EXPECT_EQ(run.problem->code, ErrorCode::refused);
  EXPECT_EQ(run.problem->message,
            "no dispatch number 4 of a kernel that matches \"^inplace$\": it launched inplace (3 "
            "times)");
  EXPECT_FALSE(std::filesystem::exists(run.outcome.folder));
}

TEST(IsolateDispatch, CountsOutliveAProgramThatEndsAbruptly) {
  const Isolated run(
      {.options = {"--kernel", "inplace", "--launches", "3", "--exit-without-shutdown"},
       .kernel = "nothing"});
  EXPECT_TRUE(run.program_is_fine());
  ASSERT_EQ(run.outcome.events.kernels.size(), 1U);
  EXPECT_EQ(run.outcome.events.kernels[0].dispatches, 3U);
}

TEST(IsolateDispatch, CallsFromExitHandlersAreStillServed) {
  const Isolated run({.options = {"--kernel", "inplace", "--shutdown-at-exit"}});
  ASSERT_CAPTURED(run);
}

TEST(IsolateDispatch, AProfilerInTheProcessIsNamed) {
  const Isolated run(
      {.options = {"--kernel", "inplace"}, .environment = {{"HSA_SIM_ROCPROFILER", "1"}}});
  EXPECT_TRUE(run.program_is_fine());
  ASSERT_TRUE(run.problem.has_value());
  EXPECT_EQ(run.problem->code, ErrorCode::missing_tool);
  EXPECT_NE(run.problem->remedy.find("rocprofiler"), std::string::npos);
}

TEST(IsolateDispatch, StopEndsTheProgramOnceItIsThere) {
  const Isolated run(
      {.options = {"--kernel", "inplace", "--launches", "100000000"}, .dispatch = 2, .stop = true});
  ASSERT_TRUE(run.capture.has_value());
  EXPECT_TRUE(run.outcome.process.given_up);
  EXPECT_FALSE(run.problem.has_value());
}

}  // namespace
}  // namespace perflab::test
