// A counter pass from end to end: the stand-in CUDA and CUPTI (tests/cuda_sim), the recording
// library inside a program of theirs, and what our reader finds in the database.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <string>

#include "base/system/subprocess.h"
#include "support/test_database.h"
#include "trace/read/read.h"

namespace perflab::record {
namespace {

using ::testing::HasSubstr;

/// Runs cuda_sim_app in a counter pass and reads what it left.
trace::Trace counter_pass(const std::vector<std::string>& arguments, const std::string& counters,
                          const std::string& faults = "") {
  const std::filesystem::path folder = test::test_folder();
  std::vector<std::string> command{PERFLAB_CUDA_SIM_APP};
  command.insert(command.end(), arguments.begin(), arguments.end());
  ProcessOptions options;
  options.standard_output = StreamMode::capture;
  options.timeout = std::chrono::seconds(60);
  options.set_environment = {{"LD_LIBRARY_PATH", PERFLAB_CUDA_SIM_FOLDER},
                             {"CUDA_INJECTION64_PATH", PERFLAB_RECORD_LIBRARY_FILE},
                             {"PERFLAB_RECORD_OUT", folder.string()},
                             {"PERFLAB_RECORD_COUNTERS", counters},
                             {"PERFLAB_RECORD_COUNTER_LAUNCHES", "0"},
                             {"CUDA_SIM_CUPTI_FAIL", faults}};
  const auto ended = run_program(command, options);
  EXPECT_TRUE(ended && ended->succeeded());
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().string().ends_with("_results.db")) files.push_back(entry.path());
  EXPECT_EQ(files.size(), 1U);
  auto trace = trace::read(files, {.threads = 1});
  if (!trace) {
    ADD_FAILURE() << trace.error().message;
    return {};
  }
  return std::move(*trace);
}

/// Values of a dispatch by the names of their counters.
std::map<std::string, double> values_of(const trace::Trace& trace, trace::Index dispatch) {
  std::map<std::string, double> values;
  for (std::size_t row = 0; row < trace.counters.dispatch.size(); ++row)
    if (trace.counters.dispatch[row] == dispatch)
      values[std::string(trace.strings.view(
          trace.counter_infos[trace.counters.counter[row]].name))] = trace.counters.sum[row];
  return values;
}

class CounterPass : public testing::Test {
 protected:
  // The stand-in libraries have no sanitizer, nor has the program that loads ours.
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the recording library is not loaded into a program without the sanitizer";
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    GTEST_SKIP() << "the recording library is not loaded into a program without the sanitizer";
#endif
#endif
  }
};

TEST_F(CounterPass, ValuesStandAtTheirDispatches) {
  const trace::Trace trace = counter_pass(
      {"all", "3"}, "smsp__warps_launched.sum,gpu__time_duration.sum,sm__cycles_elapsed.max");
  ASSERT_EQ(trace.dispatches.size(), 15U);
  ASSERT_EQ(trace.sources.size(), 1U);
  EXPECT_EQ(trace.sources[0].counter_problem, "");
  for (trace::Index i = 0; i < trace.dispatches.size(); ++i) {
    const auto values = values_of(trace, i);
    ASSERT_EQ(values.size(), 3U);
    const trace::LaunchConfig& launch = trace.launch_configs[trace.dispatches.config[i]];
    double blocks = 1, threads = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      blocks *= static_cast<double>(launch.grid[axis] / launch.workgroup[axis]);
      threads *= static_cast<double>(launch.workgroup[axis]);
    }
    EXPECT_EQ(values.at("smsp__warps_launched.sum"), blocks * std::ceil(threads / 32));
    EXPECT_NEAR(values.at("sm__cycles_elapsed.max"), 1.98 * values.at("gpu__time_duration.sum"),
                1e-6);
  }
}

TEST_F(CounterPass, FourThreadsAreCountedInTheirOrder) {
  const trace::Trace trace = counter_pass({"threads", "50"}, "gpu__time_duration.sum");
  ASSERT_EQ(trace.dispatches.size(), 200U);
  EXPECT_EQ(trace.counters.dispatch.size(), 200U);
}

TEST_F(CounterPass, WhatIsNotPermittedIsSaidAndTheProgramRuns) {
  const trace::Trace trace = counter_pass({"many", "5"}, "gpu__time_duration.sum",
                                          "cuptiProfilerGetCounterAvailability=35");
  EXPECT_EQ(trace.dispatches.size(), 5U);
  EXPECT_EQ(trace.counters.dispatch.size(), 0U);
  ASSERT_EQ(trace.sources.size(), 1U);
  EXPECT_THAT(trace.sources[0].counter_problem, HasSubstr("cuptiProfilerGetCounterAvailability"));
  EXPECT_THAT(trace.sources[0].counter_remedy, HasSubstr("NVreg_RestrictProfilingToAdminUsers"));
}

}  // namespace
}  // namespace perflab::record
