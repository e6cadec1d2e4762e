// A counter pass from end to end: the stand-in CUDA and CUPTI (tests/cuda_sim), the recording
// library inside a program of theirs, and what our reader finds in the database.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "record/counters/counter_settings.h"
#include "record/protocol.h"
#include "record/tool/recorded_run.h"
#include "trace/read/read_trace.h"

namespace perflab::record {
namespace {

using ::testing::HasSubstr;

/// What our reader finds of cuda_sim_app in a counter pass.
trace::Trace counter_pass(const std::vector<std::string>& arguments, const std::string& counters,
                          const std::string& faults = "") {
  const RecordedRun run(arguments, {{kCountersVariable, counters},
                                    {kCounterLaunchesVariable, "0"},
                                    {"CUDA_SIM_CUPTI_FAIL", faults}});
  EXPECT_TRUE(run.result.succeeded()) << run.result.error.tail;
  auto trace = trace::read(run.files(kDatabaseSuffix));
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

TEST(CounterPass, ValuesStandAtTheirDispatches) {
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

TEST(CounterPass, FourThreadsAreCountedInTheirOrder) {
  const trace::Trace trace = counter_pass({"threads", "50"}, "gpu__time_duration.sum");
  ASSERT_EQ(trace.dispatches.size(), 200U);
  EXPECT_EQ(trace.counters.dispatch.size(), 200U);
}

TEST(CounterPass, WhatIsNotPermittedIsSaidAndTheProgramRuns) {
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
