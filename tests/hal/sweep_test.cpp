// hal/occupancy_sweep.h: known edges, and every amount of random kernels against
// compute_occupancy().
#include "hal/occupancy_sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace perflab::hal {
namespace {

using ::testing::HasSubstr;

OccupancyInput swept_kernel(std::int64_t block, std::int64_t vgprs, std::int64_t lds) {
  OccupancyInput input;
  input.kernel.workgroup_size = block;
  input.kernel.vgprs = vgprs;
  input.kernel.static_lds = lds;
  return input;
}

TEST(Sweep, VgprsOfAnMi300StepWhereTheFileIsDivided) {
  const auto sweep =
      sweep_occupancy(*find_arch("gfx942"), swept_kernel(256, 72, 0), Sweep::vgpr).value();
  EXPECT_EQ(sweep.current, 72);
  std::vector<std::pair<std::int64_t, double>> ends;
  for (const SweepStep& step : sweep.steps)
    ends.emplace_back(step.to, step.of(OccupancyModel::resident).waves_per_simd);
  EXPECT_THAT(ends,
              ::testing::ElementsAre(std::pair(64, 8.0), std::pair(72, 7.0), std::pair(80, 6.0),
                                     std::pair(96, 5.0), std::pair(128, 4.0), std::pair(168, 3.0),
                                     std::pair(256, 2.0)));
}

TEST(Sweep, BlocksThatCannotBeLaunchedAreSaid) {
  const auto sweep =
      sweep_occupancy(*find_arch("gfx942"), swept_kernel(64, 200, 0), Sweep::block).value();
  EXPECT_EQ(sweep.steps.front().from, 1);
  const SweepStep& last = sweep.steps.back();
  EXPECT_EQ(last.from, 513);
  EXPECT_EQ(last.to, 1024);
  EXPECT_THAT(last.refusal, HasSubstr("does not fit the register files"));
}

TEST(Sweep, RefusesWhatCannotBeLaunchedToBeginWith) {
  EXPECT_FALSE(
      sweep_occupancy(*find_arch("gfx942"), swept_kernel(0, 8, 0), Sweep::vgpr).has_value());
  OccupancyInput traced = swept_kernel(64, 0, 0);
  traced.kernel.allocated_vgprs = 64;
  EXPECT_FALSE(sweep_occupancy(*find_arch("gfx942"), traced, Sweep::vgpr).has_value());
  EXPECT_TRUE(sweep_occupancy(*find_arch("gfx942"), traced, Sweep::lds).has_value());
}

/// Every amount lies in exactly one step, whose figures are those of compute_occupancy().
TEST(Sweep, SaysWhatTheModelsSayAtEveryAmount) {
  std::mt19937_64 random{20240801};
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (const Arch& arch : all_archs()) {
    for (const Sweep of : {Sweep::vgpr, Sweep::lds, Sweep::block}) {
      OccupancyInput input = swept_kernel(pick(1, 512), pick(1, 128), pick(0, 16384));
      input.kernel.dynamic_lds = pick(0, 4096);
      const auto sweep = sweep_occupancy(arch, input, of);
      ASSERT_TRUE(sweep.has_value()) << describe(sweep.error());
      std::int64_t next = sweep->steps.front().from;
      for (const SweepStep& step : sweep->steps) {
        ASSERT_EQ(step.from, next);
        next = step.to + 1;
        const std::int64_t stride = std::max<std::int64_t>((step.to - step.from) / 40, 1);
        for (std::int64_t amount = step.from; amount <= step.to; amount += stride) {
          OccupancyInput tried = input;
          (of == Sweep::vgpr  ? tried.kernel.vgprs
           : of == Sweep::lds ? tried.kernel.static_lds
                              : tried.kernel.workgroup_size) = amount;
          const auto expected = compute_occupancy(arch, tried);
          ASSERT_EQ(expected.has_value(), step.refusal.empty()) << arch.gfx << " " << amount;
          for (const OccupancyModel model : models_of(arch.platform))
            if (expected) {
              ASSERT_EQ(step.of(model).waves_per_simd, expected->of(model).waves_per_simd);
              ASSERT_EQ(step.of(model).occupancy, expected->of(model).occupancy);
            }
        }
      }
      for (std::size_t i = 1; i < sweep->steps.size(); ++i) {
        const auto same = [&](OccupancyModel model) {
          return sweep->steps[i].of(model).waves_per_simd ==
                 sweep->steps[i - 1].of(model).waves_per_simd;
        };
        ASSERT_FALSE(sweep->steps[i].refusal == sweep->steps[i - 1].refusal &&
                     std::ranges::all_of(models_of(arch.platform), same))
            << "two steps that are one";
      }
    }
  }
}

}  // namespace
}  // namespace perflab::hal
