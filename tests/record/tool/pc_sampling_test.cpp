// PC sampling from end to end: the stand-in CUDA and CUPTI (tests/cuda_sim), the recording library
// inside a program of theirs, and what our reader finds in the database.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <span>
#include <string>

#include "pc_sampling/read_pc_samples.h"
#include "record/protocol.h"
#include "record/tool/recorded_run.h"
#include "record/tool/settings.h"
#include "trace/read/read_trace.h"

namespace perflab::record {
namespace {

using pc_sampling::PcSamples;
using pc_sampling::StallKind;
using ::testing::HasSubstr;

struct SampledRun {
  PcSamples samples;
  std::size_t dispatches = 0;
};

SampledRun sampled_run(const std::vector<std::string>& arguments, const std::string& period,
                       const std::string& faults = "") {
  const RecordedRun run(arguments,
                        {{kPcSamplingVariable, period}, {"CUDA_SIM_CUPTI_FAIL", faults}});
  EXPECT_TRUE(run.result.succeeded()) << run.result.error.tail;
  const auto files = run.files(kDatabaseSuffix);
  const std::filesystem::path folder = run.folder.path();
  auto samples = pc_sampling::read(std::span(&folder, 1));
  const auto trace = trace::read(files);
  if (!samples || !trace) {
    ADD_FAILURE() << (samples ? trace.error().message : samples.error().message);
    return {};
  }
  return {std::move(*samples), trace->dispatches.size()};
}

std::uint64_t all_of(const PcSamples& samples) {
  return std::accumulate(samples.weight.begin(), samples.weight.end(), std::uint64_t{0});
}

TEST(PcSamplingRun, CountsOfEveryLaunchStandInTheRecording) {
  const auto [samples, dispatches] = sampled_run({"many", "50"}, "10");
  EXPECT_EQ(dispatches, 50U);
  EXPECT_EQ(samples.method, pc_sampling::Method::cupti);
  EXPECT_EQ(samples.form, pc_sampling::Form::cuda_recording);
  EXPECT_EQ(all_of(samples), 50U * 8);
  ASSERT_TRUE(samples.interval);
  EXPECT_EQ(samples.interval->value, 1024U);
  std::map<std::uint64_t, std::uint64_t> by_offset;
  std::map<std::pair<StallKind, bool>, std::uint64_t> by_reason;
  std::uint64_t issued = 0;
  for (std::size_t row = 0; row < samples.size(); ++row) {
    const auto& reason = samples.reasons[samples.reason[row]];
    by_offset[*samples.pcs[samples.pc[row]].offset] += samples.weight_of(row);
    by_reason[{reason.kind, reason.scheduler_idle}] += samples.weight_of(row);
    EXPECT_EQ(samples.pcs[samples.pc[row]].instruction.substr(0, 3), "+0x");
    if (samples.issued(row)) issued += samples.weight_of(row);
    EXPECT_EQ(samples.stall(row).has_value(), !samples.issued(row));
    EXPECT_NE(samples.kernel_of(row), pc_sampling::kNone);
    EXPECT_EQ(samples.agents[samples.agent_of(row)].arch, "sm_90");
    EXPECT_EQ(samples.code_objects[samples.pcs[samples.pc[row]].code_object].id,
              0xfedcba9876543210U);
  }
  EXPECT_EQ(issued, 50U * 2);
  EXPECT_EQ(by_offset, (std::map<std::uint64_t, std::uint64_t>{
                           {0x10, 50U * 2}, {0x20, 50U * 5}, {0x30, 50U}}));
  EXPECT_EQ(by_reason, (std::map<std::pair<StallKind, bool>, std::uint64_t>{
                           {{StallKind::selected, false}, 50U * 2},
                           {{StallKind::long_scoreboard, false}, 50U * 4},
                           {{StallKind::long_scoreboard, true}, 50U},
                           {{StallKind::barrier_wait, false}, 50U}}));
  ASSERT_FALSE(samples.kernels.empty());
  EXPECT_FALSE(samples.kernels[0].name.empty());
  EXPECT_TRUE(samples.timestamp.empty() && samples.dispatch.empty() && samples.type.empty());
}

TEST(PcSamplingRun, FourThreadsAndCuptisOwnPeriod) {
  const auto [samples, dispatches] = sampled_run({"threads", "50"}, "default");
  EXPECT_EQ(dispatches, 200U);
  // Threads of the stand-in may launch while another one still makes the context, which is not
  // sampled yet: all launches of that one are.
  EXPECT_GE(all_of(samples), 50U * 8);
  EXPECT_LE(all_of(samples), 200U * 8);
  EXPECT_EQ(all_of(samples) % 8, 0U);
  EXPECT_FALSE(samples.interval);
  EXPECT_EQ(samples.sources[0].problem, "");
}

TEST(PcSamplingRun, WhatCannotBeSampledIsSaidAndTheRestIsRecorded) {
  for (const std::string call : {"cuptiPCSamplingEnable=35", "cuptiPCSamplingGetNumStallReasons=27",
                                 "cuptiPCSamplingSetConfigurationAttribute=7"}) {
    const auto [samples, dispatches] = sampled_run({"many", "5"}, "20", call);
    EXPECT_EQ(dispatches, 5U);
    EXPECT_EQ(samples.size(), 0U);
    EXPECT_THAT(samples.sources[0].problem, HasSubstr(call.substr(0, call.find('='))));
  }
}

// A recording without PC sampling has no table for it.
TEST(PcSamplingRun, OtherRecordingsHaveNone) {
  const RecordedRun run({"many", "1"});
  const auto samples = pc_sampling::read(run.files(kDatabaseSuffix));
  ASSERT_FALSE(samples);
  EXPECT_THAT(samples.error().message, HasSubstr("this database has no PC samples"));
}

TEST(PcSamplingSetting, DefaultOrAnExponent) {
  EXPECT_EQ(parse_pc_sampling("default").value(), std::nullopt);
  EXPECT_EQ(parse_pc_sampling("5").value(), 5U);
  EXPECT_EQ(parse_pc_sampling("31").value(), 31U);
  for (const char* const text : {"", "4", "32", "10 ", "ten", "-5"})
    EXPECT_FALSE(parse_pc_sampling(text)) << text;
}

TEST(PcSamplingSetting, NamesOfReasons) {
  const auto plain = pc_sampling::cuda_reason("smsp__pcsamp_warps_issue_stalled_imc_miss");
  EXPECT_EQ(plain.kind, StallKind::constant_miss);
  EXPECT_EQ(plain.name, "imc_miss");
  const auto idle = pc_sampling::cuda_reason("smsp__pcsamp_warps_issue_stalled_wait_not_issued");
  EXPECT_EQ(idle.kind, StallKind::fixed_latency);
  EXPECT_TRUE(idle.scheduler_idle);
  EXPECT_EQ(pc_sampling::cuda_reason("smsp__pcsamp_warps_issue_stalled_new").kind,
            StallKind::unknown);
  EXPECT_EQ(pc_sampling::cuda_reason("WAITCNT").kind, StallKind::unknown);
}

}  // namespace
}  // namespace perflab::record
