// The llvm model against what clang printed: every vector of
// shared/data/hal/occupancy_vectors.json. Two vectors give a range of group sizes to clang 22,
// whose rule differs there; the file marks them with formula_agrees = false.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "base/files.h"
#include "base/json.h"
#include "hal/occupancy.h"

namespace perflab::hal {
namespace {

const std::filesystem::path kVectors =
    std::filesystem::path(PERFLAB_SHARED_DIR) / "data/hal/occupancy_vectors.json";

OccupancyInput input_of(const Json& vector) {
  OccupancyInput input;
  input.wave_size = vector.at("wave").get<int>();
  if (!vector.at("cu_mode").is_null())
    input.mode = vector.at("cu_mode").get<bool>() ? WorkgroupMode::cu : WorkgroupMode::wgp;
  input.kernel.workgroup_size = vector.at("wg_max").get<int>();
  input.kernel.static_lds = vector.at("lds").get<int>();
  input.kernel.vgprs = vector.at("vgpr").get<int>();
  input.kernel.agprs = vector.at("agpr").get<int>();
  input.kernel.sgprs = vector.at("sgpr").get<int>();
  if (const Json& bounds = vector.at("waves_per_eu"); !bounds.is_null())
    input.kernel.waves_per_eu =
        WavesPerEu{.lo = bounds.at(0).get<int>(), .hi = bounds.at(1).get<int>()};
  return input;
}

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
