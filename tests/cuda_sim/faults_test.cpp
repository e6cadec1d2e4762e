// Injection, forks, other clients and the faults of the stand-ins: docs/facts/cuda_cupti.md
// "Injection, exit, forks", "Other clients", "Callbacks". Also the search of src/cuda/libraries.h,
// which finds them.
#include <gtest/gtest.h>

#include <set>

#include "cuda/libraries.h"
#include "cuda_sim/sim_run.h"

namespace perflab::cuda_sim {
namespace {

TEST(CudaSimFaults, TheInjectedLibraryFindsBothLibraries) {
  const SimRun run = run_app({"many", "1"});
  const ClientLine libraries = run.one("libraries");
  EXPECT_EQ(libraries.number("driver"), 0U);
  EXPECT_EQ(libraries.number("cupti"), 0U);
  EXPECT_EQ(libraries.number("version"), 130'001U);
  EXPECT_EQ(libraries.text("path"), PERFLAB_CUDA_SIM_FOLDER "/libcupti.so.13");
  EXPECT_EQ(run.one("early").number("answer"), 3U) << "cuInit has not finished";
}

TEST(CudaSimFaults, ALibraryOfAnotherVersionIsRefused) {
  const SimRun run = run_app({"many", "1"}, "", {{"CUDA_SIM_CUPTI_VERSION", "24"}});
  EXPECT_EQ(run.exit_code, 0);
  const ClientLine libraries = run.one("libraries");
  // Unless the machine has another one: the search goes on.
  if (libraries.number("cupti") == 0) {
    EXPECT_NE(libraries.text("path"), PERFLAB_CUDA_SIM_FOLDER "/libcupti.so.13");
  } else {
    EXPECT_EQ(libraries.number("cupti"),
              static_cast<std::uint64_t>(cuda::LibraryProblem::unknown_version));
    EXPECT_EQ(libraries.number("version"), 24U);
  }
}

TEST(CudaSimFaults, ALibraryThatIsMissingIsNoProblemOfTheProgram) {
  const SimRun run = run_app({"many", "5"}, "", {{"CUDA_INJECTION64_PATH", "/nowhere/lib.so"}});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.counts.at("kernels"), 5U);
  EXPECT_TRUE(run.lines.empty());
}

TEST(CudaSimFaults, AClientThatDoesNothingGetsNothing) {
  const SimRun run = run_app({"many", "5"}, "nothing");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.count("kernel"), 0U);
}

TEST(CudaSimFaults, CallsAnswerWhatTheyAreToldTo) {
  const SimRun run =
      run_app({"all", "1"}, "", {{"CUDA_SIM_CUPTI_FAIL", "cuptiActivityEnable:36=21"}});
  int refused = 0;
  for (const ClientLine& call : run.of("call")) {
    if (call.text("name") == "enable" && call.number("answer") == 21) ++refused;
  }
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(run.count("event"), 0U);
  EXPECT_EQ(run.count("kernel"), 5U);

  const SimRun none =
      run_app({"all", "1"}, "", {{"CUDA_SIM_CUPTI_FAIL", "cuptiActivityEnable=999"}});
  EXPECT_EQ(none.count("kernel") + none.count("runtime"), 0U);
  const SimRun flush =
      run_app({"many", "3"}, "", {{"CUDA_SIM_CUPTI_FAIL", "cuptiActivityFlushAll=999"}});
  EXPECT_EQ(flush.count("kernel"), 0U);
  EXPECT_EQ(flush.exit_code, 0);
}

TEST(CudaSimFaults, RecordsAreDropped) {
  const SimRun run = run_app({"many", "100"}, "", {{"CUDA_SIM_DROP_EVERY", "10"}});
  const std::uint64_t dropped = run.one("dropped").number("count");
  EXPECT_GE(dropped, 30U);
  EXPECT_LT(run.count("kernel"), 100U);
  EXPECT_GT(run.count("kernel"), 80U);
}

TEST(CudaSimFaults, AClientThatWasThereFirstIsNamed) {
  const SimRun run = run_app({"many", "1"}, "subscribe", {{"CUDA_SIM_SECOND_CLIENT", "Nsight"}});
  EXPECT_EQ(run.of("call").front().number("answer"), 39U);
  EXPECT_EQ(run.one("there").text("name"), "Nsight");
  EXPECT_EQ(run.count("callback"), 0U);
}

TEST(CudaSimFaults, ASecondClientIsRefusedWhileThereIsASubscriber) {
  const SimRun run = run_app({"second-client", "3"}, "subscribe");
  EXPECT_NE(run.output.find("{\"subscribe\":39}"), std::string::npos) << run.output;
  EXPECT_EQ(run.count("kernel"), 4U);
}

TEST(CudaSimFaults, ASecondClientTakesTheRecordsOtherwise) {
  const SimRun run = run_app({"second-client", "3"});
  EXPECT_NE(run.output.find("{\"subscribe\":0}"), std::string::npos) << run.output;
  EXPECT_EQ(run.count("kernel"), 0U);
}

TEST(CudaSimFaults, CallbacksSeeInnerCallsAndResources) {
  const SimRun run = run_app({"many", "2"}, "subscribe");
  std::multiset<std::string> entered;
  std::set<std::string> symbols;
  for (const ClientLine& callback : run.of("callback")) {
    if (callback.number("site") == 0) entered.insert(callback.text("name"));
    if (callback.text("name") == "cuLaunchKernel") symbols.insert(callback.text("symbol"));
  }
  EXPECT_EQ(entered.count("cudaLaunchKernel_v7000"), 2U);
  EXPECT_EQ(entered.count("cuLaunchKernel"), 2U);
  EXPECT_EQ(symbols, std::set<std::string>{"_Z4axpyfPKfPfi"});
  std::vector<std::uint64_t> resources;
  for (const ClientLine& event : run.of("resource")) resources.push_back(event.number("id"));
  EXPECT_EQ(resources, (std::vector<std::uint64_t>{5, 1, 6})) << "init, context, module";
}

TEST(CudaSimFaults, AForkBeforeCudaIsInjectedTwice) {
  const SimRun run = run_app({"fork-before", "5"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.count("libraries"), 2U);
  EXPECT_EQ(run.count("kernel"), 10U);
}

TEST(CudaSimFaults, AForkAfterCudaCanDoNothing) {
  const SimRun run = run_app({"fork-after", "5"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.count("libraries"), 1U);
  EXPECT_EQ(run.count("kernel"), 5U);
}

TEST(CudaSimFaults, AFlushInAForksChildHangs) {
  constexpr int milliseconds = 1'500;
  const SimRun run = run_app({"fork-after", "5"}, "child", {}, milliseconds);
  EXPECT_TRUE(run.timed_out);
}

TEST(CudaSimFaults, ProgramsEndAsTheyAreAskedTo) {
  for (const char* const how : {"abort", "kill"}) {
    const SimRun run = run_app({how, "10"});
    EXPECT_EQ(run.exit_code, -1) << how;
    EXPECT_EQ(run.counts.at("kernels"), 10U) << how;
    EXPECT_EQ(run.count("kernel"), 0U) << how;
  }
  const SimRun left = run_app({"at-once", "10"});
  EXPECT_EQ(left.exit_code, 0);
  EXPECT_EQ(left.count("kernel"), 0U);
  EXPECT_EQ(run_app({"many", "1"}, "", {{"CUDA_SIM_DEVICES", "0"}}).exit_code, 3);
  EXPECT_EQ(run_app({"no-such-thing"}).exit_code, 2);
}

}  // namespace
}  // namespace perflab::cuda_sim
