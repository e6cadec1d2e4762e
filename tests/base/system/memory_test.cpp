// Memory by the kernel's files, made up; sizes as they are typed.
#include "base/system/memory.h"

#include <gtest/gtest.h>

#include "base/temp_folder.h"

namespace perflab {
namespace {

TEST(Memory, IsTheLeastOfTheMachineAndItsControlGroups) {
  const test::TempFolder root;
  for (const char* folder : {"proc/self", "sys/fs/cgroup/memory", "sys/fs/cgroup/user/job_7"})
    std::filesystem::create_directories(root / folder);
  EXPECT_EQ(available_memory(root.path()), std::nullopt);
  (void)root.write("proc/meminfo",
                   "MemTotal:       24000000 kB\nMemFree: 1 kB\nMemAvailable:   20000000 kB\n");
  EXPECT_EQ(available_memory(root.path()), 20'480'000'000U);
  (void)root.write("proc/self/cgroup", "5:cpu:/a\n0::/user/job_7\n");
  (void)root.write("sys/fs/cgroup/user/job_7/memory.max", "max\n");
  EXPECT_EQ(available_memory(root.path()), 20'480'000'000U);
  (void)root.write("sys/fs/cgroup/user/memory.max", "8000000000\n");
  EXPECT_EQ(available_memory(root.path()), 8'000'000'000U) << "of a group above";
  // Version 1; the group is not below what is mounted here, as in a container.
  (void)root.write("proc/self/cgroup", "4:memory:/docker/12ab\n");
  (void)root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "4000000000\n");
  EXPECT_EQ(available_memory(root.path()), 4'000'000'000U);
  EXPECT_GT(available_memory().value_or(0), 1U << 20U) << "of this machine";
}

TEST(Memory, SizesAsTheyAreTyped) {
  EXPECT_EQ(parse_bytes("800000000"), 800'000'000U);
  EXPECT_EQ(parse_bytes("512M"), std::uint64_t{512} << 20U);
  EXPECT_EQ(parse_bytes("1.5T"), std::uint64_t{3} << 39U);
  for (const char* wrong : {"", "0", "-1G", "16g", "1GB", "nan", "G", "9999999999T"})
    EXPECT_FALSE(parse_bytes(wrong).has_value()) << wrong;
}

}  // namespace
}  // namespace perflab
