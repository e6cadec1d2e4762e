// Which launch of a CUDA program is captured, by which of its calls, and in which state.
#include <gmock/gmock.h>

#include "cuda_sim/sim_cubins.h"
#include "isolate/cuda/cuda_isolated.h"

namespace perflab::test {
namespace {

using testing::HasSubstr;

std::vector<float> numbers_from(float first, std::size_t count = 8) {
  std::vector<float> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(first + static_cast<float>(i));
  return out;
}

TEST(IsolateCudaLaunch, InPlaceKernelIsTakenInItsStateBeforeIt) {
  const CudaIsolated run({.options = {"--n", "5000"}});
  ASSERT_CAPTURED(run);
  EXPECT_EQ(run.array(false), numbers_from(0));
  EXPECT_EQ(run.array(true), numbers_from(1));
  EXPECT_EQ(run.written().size(), 1U);
  EXPECT_EQ(run.first_region().bytes, 20000U) << "as asked for";
  EXPECT_EQ(run.first_region().origin, capture::Origin::pool);
  const capture::Dispatch& dispatch = run.dispatch();
  EXPECT_EQ(dispatch.kernel, "_Z7inplacePfj");
  EXPECT_EQ(dispatch.demangled, "inplace(float*, unsigned int)");
  EXPECT_EQ(dispatch.ordinal, 1U);
  EXPECT_EQ(dispatch.grid[0], 20U * 256U) << "threads, not blocks";
  EXPECT_EQ(dispatch.workgroup[0], 256U);
  EXPECT_EQ(dispatch.static_group_segment_bytes, 128U);
  EXPECT_EQ(dispatch.group_segment_bytes, 128U);
  EXPECT_EQ(dispatch.private_segment_bytes, 8U);
  EXPECT_EQ(run.capture->kernarg().size(), 12U);
  EXPECT_EQ(run.argument<std::uint32_t>(8), 5000U);
  ASSERT_TRUE(dispatch.cuda.has_value());
  const std::vector<capture::Parameter> parameters = {{0, 8}, {8, 4}};
  EXPECT_EQ(dispatch.cuda->parameters, parameters);
  EXPECT_EQ(dispatch.cuda->registers, 24U);
  EXPECT_EQ(dispatch.cuda->max_dynamic_shared_bytes, 49152U);
  EXPECT_EQ(dispatch.cuda->shared_carveout, -1);
  EXPECT_GT(dispatch.captured_ns.value_or(0), 0U);
  const capture::Machine& machine = run.description().machine;
  EXPECT_EQ(machine.platform, capture::Platform::cuda);
  EXPECT_EQ(machine.isa, "sm_90");
  EXPECT_EQ(machine.product_name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(machine.compute_units, 132U);
  EXPECT_EQ(machine.runtime_version, "13.0");
  EXPECT_EQ(run.capture->code_object_path().filename(), "kernel.cubin");
  EXPECT_EQ(run.outcome.events.platform, capture::Platform::cuda);
}

TEST(IsolateCudaLaunch, TheNthIsTakenAndAllAreCounted) {
  const CudaIsolated run({.options = {"--launches", "5"}, .dispatch = 3});
  ASSERT_CAPTURED(run);
  EXPECT_EQ(run.dispatch().ordinal, 3U);
  EXPECT_EQ(run.array(false), numbers_from(2));
  EXPECT_EQ(run.array(true), numbers_from(3));
  EXPECT_EQ(run.outcome.events.kernels.at(0).dispatches, 5U);
}

TEST(IsolateCudaLaunch, ByEveryCallThatLaunches) {
  for (const char* const form :
       {"runtime", "driver", "extra", "ex", "cooperative", "cluster", "per-thread"}) {
    const CudaIsolated run({.options = {"--form", form, "--launches", "3"}, .dispatch = 2});
    SCOPED_TRACE(form);
    ASSERT_CAPTURED(run);
    EXPECT_EQ(run.array(false), numbers_from(1));
    EXPECT_EQ(run.array(true), numbers_from(2));
    EXPECT_EQ(run.argument<std::uint32_t>(8), 1000U);
    const capture::CudaLaunch& launch = *run.dispatch().cuda;
    EXPECT_EQ(launch.cooperative, std::string_view(form) == "cooperative");
    const std::uint32_t cluster = std::string_view(form) == "ex"        ? 2
                                  : std::string_view(form) == "cluster" ? 4
                                                                        : 0;
    EXPECT_EQ(launch.cluster[0], cluster);
    EXPECT_EQ(run.dispatch().group_segment_bytes, std::string_view(form) == "driver" ? 192U : 128U);
  }
}

// Two modules have a kernel of this name and differ; one of them was loaded by an earlier launch.
TEST(IsolateCudaLaunch, TheModuleIsTheOneWhoseKernelWasLaunched) {
  for (const char* const form : {"runtime", "driver"}) {
    SCOPED_TRACE(form);
    const auto factor_of = [](const CudaIsolated& run) {
      float factor = 0;
      const auto& regions = run.description().regions;
      for (std::size_t i = 0; i < regions.size(); ++i)
        if (regions[i].symbol == "factor")
          std::memcpy(&factor, run.before(i).data(), sizeof factor);
      return factor;
    };
    const CudaIsolated first(
        {.options = {"--kernel", "scale", "--twin", "1", "--form", form}, .kernel = "^scale"});
    ASSERT_CAPTURED(first);
    EXPECT_EQ(factor_of(first), 3.0F);
    EXPECT_EQ(first.argument<std::uint32_t>(8), 0U);
    const CudaIsolated second({.options = {"--kernel", "scale", "--twin", "1", "--form", form},
                               .kernel = "^scale",
                               .dispatch = 2});
    ASSERT_CAPTURED(second);
    EXPECT_EQ(factor_of(second), 2.5F);
    EXPECT_EQ(second.argument<std::uint32_t>(8), 1000U);
    EXPECT_NE(first.description().code_object_hash, second.description().code_object_hash);
    EXPECT_EQ(second.variable("factor")->code_object_hash, second.description().code_object_hash);
  }
}

TEST(IsolateCudaLaunch, IntoAGraphIsLeftAloneAndNotCounted) {
  const CudaIsolated run({.options = {"--into-graph", "--launches", "2"}, .dispatch = 2});
  ASSERT_CAPTURED(run);
  EXPECT_EQ(run.array(false), numbers_from(1));
  EXPECT_EQ(run.outcome.events.kernels.at(0).dispatches, 2U);
  ASSERT_EQ(run.description().limits.size(), 1U);
  EXPECT_THAT(run.description().limits[0], HasSubstr("into a graph did not run"));
}

// A graph of three launches: the program finds its result right only if what ran alone was taken
// back.
TEST(IsolateCudaGraph, TheFirstNodeRunsAloneAndIsTakenBack) {
  for (const char* const form : {"runtime", "driver", "cooperative", "cluster"})
    for (const char* const memory : {"pool", "pinned"}) {
      SCOPED_TRACE(std::string(form) + " " + memory);
      const CudaIsolated run(
          {.options = {"--graph", "3", "--form", form, "--memory", memory, "--launches", "2"}});
      ASSERT_CAPTURED(run);
      EXPECT_EQ(run.array(false), numbers_from(0));
      EXPECT_EQ(run.array(true), numbers_from(1));
      EXPECT_EQ(run.argument<std::uint32_t>(8), 1000U);
      EXPECT_GT(run.dispatch().captured_ns.value_or(0), 0U) << "of the run alone";
      EXPECT_EQ(run.dispatch().cuda->cooperative, std::string_view(form) == "cooperative");
      EXPECT_EQ(run.dispatch().cuda->cluster[0], std::string_view(form) == "cluster" ? 4U : 0U);
      EXPECT_THAT(run.description().limits, testing::Contains(HasSubstr("is a node of a graph")));
      EXPECT_EQ(run.outcome.events.kernels.at(0).dispatches, 5U) << "nodes are counted";
    }
}

TEST(IsolateCudaGraph, ANodeBehindOthersIsRefusedAndOneAfterTheGraphIsNot) {
  const CudaIsolated behind({.options = {"--graph", "3"}, .dispatch = 2});
  EXPECT_TRUE(behind.program_is_fine());
  ASSERT_TRUE(behind.problem.has_value());
  EXPECT_THAT(behind.problem->message, HasSubstr("it runs inside a graph, behind other nodes"));
  const CudaIsolated after({.options = {"--graph", "3"}, .dispatch = 4});
  ASSERT_CAPTURED(after);
  EXPECT_EQ(after.array(false), numbers_from(3));
}

TEST(IsolateCudaGraph, WhatCannotBePutBackIsSaidLoudly) {
  const CudaIsolated run(
      {.options = {"--graph", "1"}, .environment = {{"CUDA_SIM_FAULT", "cuMemcpyHtoD_v2@1=1"}}});
  EXPECT_FALSE(run.program_is_fine()) << "its result is wrong, as it was told";
  ASSERT_TRUE(run.problem.has_value());
  EXPECT_THAT(run.problem->message, HasSubstr("could not be put back as it was"));
  EXPECT_FALSE(std::filesystem::exists(run.outcome.folder));
}

TEST(IsolateCudaLaunch, AWrongNumberListsTheKernelsInCudasWords) {
  const CudaIsolated run({.options = {"--into-graph", "--launches", "2"}, .dispatch = 3});
  EXPECT_TRUE(run.program_is_fine());
  ASSERT_TRUE(run.problem.has_value());
  EXPECT_EQ(run.problem->code, ErrorCode::refused);
  EXPECT_EQ(run.problem->message,
            "no launch number 3 of a kernel that matches \"^inplace\": it launched "
            "inplace(float*, unsigned int) (2 times); launches of inplace(float*, unsigned int) "
            "while a stream was captured into a graph did not run and were not counted");
  const CudaIsolated other({.options = {}, .kernel = "gemm"});
  ASSERT_TRUE(other.problem.has_value());
  EXPECT_THAT(other.problem->message,
              HasSubstr("it launched inplace(float*, unsigned int) (1 time)"));
}

TEST(IsolateCudaLaunch, TheProgramIsStoppedOnceItIsThere) {
  const CudaIsolated run({.options = {"--launches", "3", "--wait"}, .stop = true});
  ASSERT_TRUE(run.capture.has_value()) << (run.problem ? describe(*run.problem) : "");
  EXPECT_TRUE(run.outcome.process.given_up);
}

}  // namespace
}  // namespace perflab::test
