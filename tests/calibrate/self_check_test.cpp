// programs/host.cpp on the CPU: every kernel computes what it expects, and a wrong word is found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/temp_folder.h"
#include "calibrate/plan.h"
#include "calibrate/work.h"

int cpu_host_main(int count, char** arguments);

namespace perflab::calibrate {
namespace {

/// A small launch of a row.
Launch small_launch(const Work& work) {
  Launch launch{.work = &work, .repetitions = 2, .numbers = {}};
  launch.groups = 3;
  launch.group = work.extent == Extent::half_wave ? 32 : 256;
  launch.rounds = 3;
  launch.mask = 4095;
  if (work.extent == Extent::stream) launch.mask = 0xffffffff;
  if (work.extent == Extent::l1) launch.mask = 511;
  set_buffers(launch);
  return launch;
}

std::string run(const test::TempFolder& folder, const std::string& plan) {
  std::vector<std::string> words = {"host", "none", folder.write("plan.txt", plan).string(),
                                    (folder / "results.txt").string()};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  EXPECT_EQ(cpu_host_main(static_cast<int>(arguments.size()), arguments.data()), 0);
  return test::text_of(folder / "results.txt");
}

TEST(SelfCheckTest, EveryKernelComputesWhatTheHostExpects) {
  std::vector<Launch> launches;
  std::string wanted;
  for (const Work& work : all_work()) {
    if (work.name.starts_with("matrix_")) continue;
    launches.push_back(small_launch(work));
    wanted += std::string(work.function) + " right\n";
  }
  const test::TempFolder folder;
  EXPECT_EQ(run(folder, plan_text(launches)), wanted);
}

TEST(SelfCheckTest, FindsTheFirstWrongWord) {
  for (const Work& work : all_work()) {
    if (work.name != "fma_fp32") continue;
    Launch launch = small_launch(work);
    launch.minus = 0x40000000;  // 2: no step gives back what came in
    const test::TempFolder folder;
    EXPECT_THAT(run(folder, plan_text(std::vector{launch})),
                ::testing::StartsWith("calibrate_fma_fp32 word 0 is "));
  }
}

}  // namespace
}  // namespace perflab::calibrate
