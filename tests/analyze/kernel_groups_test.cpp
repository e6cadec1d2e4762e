// analyze/kernel_groups.h: what shortening groups of kernels gives a run whose path is known.
#include "analyze/kernel_groups.h"

#include <gtest/gtest.h>

#include <array>

#include "analyze/critical_path/path_recording.h"

namespace perflab::analyze {
namespace {

using Patterns = std::vector<std::string>;

/// Two streams that the host waits for: gemm for 100 us and then norm for 20; beside them scan for
/// 90 us.
test::Built forked() {
  test::Recording recording;
  const auto call = [](std::int64_t start, test::Id stream) {
    return test::kernel_call(start, start + 1, test::handle(stream));
  };
  recording.launch(call(0, 1), "gemm<32>", 10, 110, {.stream = 1, .queue = 1});
  recording.launch(call(2, 1), "norm", 110, 130, {.stream = 1, .queue = 1});
  recording.launch(call(4, 2), "scan", 10, 100, {.stream = 2, .queue = 2});
  recording.call(test::stream_synchronize(6, 130, test::handle(1)));
  recording.call(test::stream_synchronize(131, 132, test::handle(2)));
  CriticalPathOptions options;
  options.keep_nodes = true;
  return test::build(recording, options);
}

KernelGroups groups_of(const test::Built& built, const Patterns& patterns) {
  auto made = KernelGroups::make(built.trace, built.path, patterns);
  EXPECT_TRUE(made) << (made ? "" : describe(made.error()));
  return std::move(*made);
}

TEST(KernelGroups, CountsTheirDispatches) {
  const test::Built built = forked();
  const KernelGroups groups = groups_of(built, {"gemm|norm", "scan"});
  EXPECT_EQ(groups.recorded(), built.path.length);
  ASSERT_EQ(groups.groups().size(), 2U);
  EXPECT_EQ(groups.groups()[0].dispatches, 2U);
  EXPECT_EQ(groups.groups()[0].total, 120'000);
  EXPECT_EQ(groups.groups()[0].path_time, 120'000);
  EXPECT_EQ(groups.groups()[1].total, 90'000);
  EXPECT_EQ(groups.groups()[1].path_time, 0);
}

TEST(KernelGroups, WorthIsWhatTheRunGains) {
  const test::Built built = forked();
  const KernelGroups groups = groups_of(built, {"gemm", "norm", "scan"});
  const std::vector<GroupWorth> worth = groups.worth({1, 1, 1});
  EXPECT_EQ(worth[0].per_percent, 1000);
  EXPECT_EQ(worth[1].per_percent, 200);
  EXPECT_EQ(worth[2].per_percent, 0);  // the other stream takes longer
  EXPECT_EQ(worth[2].bound, 0);
  EXPECT_EQ(worth[1].bound, 20'000);
  // Without gemm, norm ends 80 us earlier than scan: the host waits for that one.
  EXPECT_LT(worth[0].bound, 100'000);
  EXPECT_GT(worth[0].bound, 20'000);
}

TEST(KernelGroups, WhatHidBehindAnotherIsWorthSomethingOnceThatIsFaster) {
  const test::Built built = forked();
  const KernelGroups groups = groups_of(built, {"gemm", "norm", "scan"});
  const std::vector<GroupWorth> worth = groups.worth({0.5, 1, 1});
  EXPECT_EQ(worth[0].per_percent, 0);
  EXPECT_EQ(worth[2].per_percent, 900);
}

TEST(KernelGroups, MakespansAreThoseOfTheWhatIf) {
  const test::Built built = forked();
  const KernelGroups groups = groups_of(built, {"gemm", "norm"});
  const std::array<GroupFactors, 3> rows = {GroupFactors{1, 1}, {0.9, 1}, {0.9, 2}};
  const std::vector<std::int64_t> makespans = groups.makespans(rows);
  EXPECT_EQ(makespans[0], groups.recorded());
  EXPECT_EQ(makespans[1], groups.recorded() - 10'000);
  EXPECT_EQ(makespans[2], groups.recorded() + 10'000);
}

TEST(KernelGroups, RefusesWhatIsNoGroup) {
  const test::Built built = forked();
  const auto refusal = [&](const Patterns& patterns) {
    const auto made = KernelGroups::make(built.trace, built.path, patterns);
    if (made) return std::string("accepted");
    EXPECT_EQ(made.error().code, ErrorCode::usage);
    return made.error().message;
  };
  EXPECT_EQ(refusal({"gemm", "softmax"}), "'softmax': no kernel of the recording has such a name");
  EXPECT_EQ(refusal({"gemm", "<32>"}), "'gemm' and '<32>' both match kernel gemm<32>");
  EXPECT_NE(refusal({"("}), "accepted");
}

}  // namespace
}  // namespace perflab::analyze
