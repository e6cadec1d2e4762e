// The llvm model's rule for LLVM 20 and later against what clang 22 printed: every vector of
// shared/data/hal/occupancy_vectors.json from that compiler, those that the rule of LLVM 19 misses
// among them. Where the size is fixed, both rules must agree: the vectors of clang 19 say so, too.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "base/system/files.h"
#include "base/text/json.h"
#include "hal/occupancy.h"
#include "hal/recorded_vectors.h"

namespace perflab::hal {
namespace {

OccupancyInput input_of_range(const Json& vector) {
  OccupancyInput input = input_of(vector);
  input.kernel.workgroup_size_min = vector.at("wg_min").get<int>();
  input.kernel.llvm_rule = LlvmRule::v20;
  return input;
}

TEST(Llvm20Rule, AgreesWithTheCompiler) {
  if (!std::filesystem::exists(kVectors))
    GTEST_SKIP() << "skipped: " << kVectors << " is not there";
  const Json file = parse_json(read_file(kVectors).value(), kVectors.string()).value();
  int clang22 = 0;
  int ranges_missed_by_19 = 0;
  int fixed = 0;
  for (std::size_t i = 0; i < file.at("vectors").size(); ++i) {
    const Json& vector = file.at("vectors").at(i);
    const bool new_rule = vector.at("compiler").get<std::string>().starts_with("clang-22");
    if (!new_rule && vector.at("wg_min") != vector.at("wg_max")) continue;
    const Arch* arch = find_arch(vector.at("arch").get<std::string>());
    ASSERT_NE(arch, nullptr) << vector.dump();
    OccupancyInput input = input_of_range(vector);
    const auto occupancy = compute_occupancy(*arch, input);
    ASSERT_TRUE(occupancy.has_value()) << "vector " << i << ": " << describe(occupancy.error());
    EXPECT_EQ(occupancy->llvm.waves_per_simd, vector.at("waves_per_simd").get<int>())
        << "vector " << i << ": " << vector.dump();
    if (!new_rule) {
      ++fixed;
      continue;
    }
    ++clang22;
    input.kernel.llvm_rule = LlvmRule::v19;
    if (compute_occupancy(*arch, input)->llvm.waves_per_simd != occupancy->llvm.waves_per_simd) {
      ++ranges_missed_by_19;
      EXPECT_FALSE(vector.at("formula_agrees").get<bool>()) << "vector " << i;
    }
  }
  fmt::print("{} vectors of clang 22, {} of them missed by the rule of LLVM 19; {} of clang 19\n",
             clang22, ranges_missed_by_19, fixed);
  EXPECT_EQ(clang22, 41);
  EXPECT_EQ(ranges_missed_by_19, 2);
  EXPECT_EQ(fixed, 353);
}

OccupancyInput range(std::int64_t fewest, std::int64_t most, std::int64_t lds = 0) {
  OccupancyInput input;
  input.kernel = {.workgroup_size = most, .static_lds = lds, .vgprs = 4};
  input.kernel.workgroup_size_min = fewest;
  input.kernel.llvm_rule = LlvmRule::v20;
  return input;
}

double llvm_waves(const OccupancyInput& input) {
  return compute_occupancy(*find_arch("gfx942"), input).value().llvm.waves_per_simd;
}

TEST(Llvm20Rule, WorkedByHand) {
  EXPECT_EQ(llvm_waves(range(1, 768)), 8) << "one-wave groups fill every slot";
  EXPECT_EQ(llvm_waves(range(768, 768)), 6) << "a fixed size is the old rule";
  // 12 waves at the least: 2 groups, grown to 16 waves each.
  EXPECT_EQ(llvm_waves(range(768, 1024)), 8);
  // 3 groups by LDS: of one wave, grown to 10 waves: 30 of 32 slots.
  EXPECT_EQ(llvm_waves(range(1, 1024, 20000)), 8);
  // The same three groups, which may grow to four waves only.
  EXPECT_EQ(llvm_waves(range(1, 256, 20000)), 3);
}

TEST(Llvm20Rule, NeverBelowTheBestOfTheTwoEndsAndWithinTheSlots) {
  std::mt19937_64 random{20240901};
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (const Arch& arch : archs_of(Platform::amd))
    for (int round = 0; round < 2000; ++round) {
      const std::int64_t most = pick(1, arch.max_workgroup_size);
      OccupancyInput input = range(pick(1, most), most, pick(0, arch.lds_max_per_workgroup / 8));
      const double both = compute_occupancy(arch, input)->llvm.waves_per_simd;
      input.kernel.llvm_rule = LlvmRule::v19;
      const double at_most = compute_occupancy(arch, input)->llvm.waves_per_simd;
      input.kernel.workgroup_size = *input.kernel.workgroup_size_min;
      const double at_fewest = compute_occupancy(arch, input)->llvm.waves_per_simd;
      ASSERT_GE(both, std::max(at_most, at_fewest)) << arch.gfx;
      ASSERT_LE(both, arch.max_waves_per_simd_llvm);
    }
}

TEST(Llvm20Rule, RangesThatCannotBeAreRefused) {
  const auto refused = [](std::int64_t fewest, std::int64_t most) {
    return !compute_occupancy(*find_arch("gfx942"), range(fewest, most)).has_value();
  };
  EXPECT_TRUE(refused(0, 64));
  EXPECT_TRUE(refused(65, 64));
  EXPECT_FALSE(refused(64, 64));
}

}  // namespace
}  // namespace perflab::hal
