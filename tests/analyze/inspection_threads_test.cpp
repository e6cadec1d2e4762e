// Code objects are read in parallel: the result is the same on any number of threads, and there is
// no data race (this program is part of the tsan preset).
#include <gtest/gtest.h>

#include "analyze/inspect/inspection.h"
#include "base/temp_folder.h"
#include "support/code_writer.h"

namespace perflab::analyze {
namespace {

constexpr std::uint32_t kTarget = 0x54c;

TEST(InspectionThreads, DoNotChangeTheResult) {
  const test::TempFolder folder;
  std::vector<test::WrittenEntry> entries;
  for (int i = 0; i < 24; ++i)
    entries.push_back(
        {.id = "hipv4-amdgcn-amd-amdhsa--gfx942",
         .bytes = test::write_code_object(test::sample_code_object(1 + i % 5, kTarget))});
  const auto path = folder.write("many.hipfb", test::write_bundle(entries));
  InspectOptions options;
  options.mix = MixChoice::never;
  options.threads = 1;
  const Inspection one = inspect_file(path, options).value();
  options.threads = 5;
  const Inspection five = inspect_file(path, options).value();
  ASSERT_EQ(one.objects.size(), 24U);
  ASSERT_EQ(one.kernels.size(), five.kernels.size());
  for (std::size_t i = 0; i < one.objects.size(); ++i)
    EXPECT_EQ(one.objects[i].hash, five.objects[i].hash);
  for (std::size_t i = 0; i < one.kernels.size(); ++i) {
    EXPECT_EQ(one.kernels[i].name, five.kernels[i].name);
    EXPECT_EQ(one.kernels[i].object, five.kernels[i].object);
  }
}

}  // namespace
}  // namespace perflab::analyze
