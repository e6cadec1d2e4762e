// The llvm model against what clang printed: every vector of
// shared/data/hal/occupancy_vectors.json. Two vectors give a range of group sizes to clang 22,
// whose rule differs there; the file marks them with formula_agrees = false.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "base/system/files.h"
#include "base/text/json.h"
#include "hal/occupancy.h"
#include "hal/recorded_vectors.h"

namespace perflab::hal {
namespace {

TEST(OccupancyVectors, LlvmModelAgreesWithTheCompiler) {
  if (!std::filesystem::exists(kVectors))
    GTEST_SKIP() << "skipped: " << kVectors << " is not there";
  const Json file = parse_json(read_file(kVectors).value(), kVectors.string()).value();
  std::map<std::string, int> run;
  int excluded = 0;
  int total = 0;
  for (std::size_t i = 0; i < file.at("vectors").size(); ++i) {
    const Json& vector = file.at("vectors").at(i);
    const std::string gfx = vector.at("arch").get<std::string>();
    const Arch* arch = find_arch(gfx);
    ASSERT_NE(arch, nullptr) << gfx;
    if (!vector.at("formula_agrees").get<bool>()) {
      ++excluded;
      continue;
    }
    const auto occupancy = compute_occupancy(*arch, input_of(vector));
    ASSERT_TRUE(occupancy.has_value()) << "vector " << i << ": " << describe(occupancy.error());
    EXPECT_EQ(occupancy->llvm.waves_per_simd, vector.at("waves_per_simd").get<int>())
        << "vector " << i << ": " << vector.dump();
    ++run[gfx];
    ++total;
  }
  for (const auto& [gfx, count] : run) fmt::print("{}: {} vectors\n", gfx, count);
  fmt::print("{} vectors in all, {} excluded\n", total, excluded);
  EXPECT_EQ(excluded, 2);
  EXPECT_EQ(total, 398);
  EXPECT_EQ(run.size(), 11U) << "architectures";
}

}  // namespace
}  // namespace perflab::hal
