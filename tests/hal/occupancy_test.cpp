// hal/occupancy.h: worked examples of what compilers print, where the three models part, what
// cannot be launched, inputs from a trace, and properties over many kernels.
#include "hal/occupancy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace perflab::hal {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

const Arch& arch(std::string_view gfx) {
  const Arch* found = find_arch(gfx);
  EXPECT_NE(found, nullptr) << gfx;
  return *found;
}

OccupancyInput kernel(std::int64_t workgroup, std::int64_t vgprs = 4, std::int64_t lds = 0) {
  OccupancyInput input;
  input.kernel.workgroup_size = workgroup;
  input.kernel.vgprs = vgprs;
  input.kernel.static_lds = lds;
  input.kernel.sgprs = 8;
  return input;
}

Occupancy on(std::string_view gfx, const OccupancyInput& input) {
  auto result = compute_occupancy(arch(gfx), input);
  EXPECT_TRUE(result.has_value()) << describe(result.error());
  return result.value_or(Occupancy{});
}

TEST(LlvmModel, WorkedExamples) {
  EXPECT_EQ(on("gfx942", kernel(256, 65)).llvm.waves_per_simd, 7);
  EXPECT_EQ(on("gfx942", kernel(768, 2)).llvm.waves_per_simd, 6);
  EXPECT_EQ(on("gfx942", kernel(256, 4, 10000)).llvm.waves_per_simd, 6);
  EXPECT_EQ(on("gfx950", kernel(256, 4, 81920)).llvm.waves_per_simd, 2);
  EXPECT_EQ(on("gfx950", kernel(256, 4, 81921)).llvm.waves_per_simd, 1);
  EXPECT_EQ(on("gfx1030", kernel(256, 65)).llvm.waves_per_simd, 12);
  EXPECT_EQ(on("gfx1030", kernel(320, 2)).llvm.waves_per_simd, 15);
  OccupancyInput wave64 = kernel(256, 65);
  wave64.wave_size = 64;
  EXPECT_EQ(on("gfx1030", wave64).llvm.waves_per_simd, 7);
}

TEST(LlvmModel, AccumulationRegistersShareTheFile) {
  OccupancyInput input = kernel(256, 33);
  input.kernel.agprs = 28;
  EXPECT_EQ(on("gfx942", input).llvm.waves_per_simd, 8);
  input.kernel.vgprs = 61;
  input.kernel.agprs = 5;
  EXPECT_EQ(on("gfx942", input).llvm.waves_per_simd, 7);
  input.kernel.vgprs = 252;
  input.kernel.agprs = 8;
  EXPECT_EQ(on("gfx90a", input).llvm.waves_per_simd, 1);
}

TEST(LlvmModel, ScalarRegistersFollowItsTableAndOthersTheFile) {
  OccupancyInput input = kernel(256);
  input.kernel.sgprs = 98;
  const Occupancy o = on("gfx942", input);
  EXPECT_EQ(o.llvm.waves_per_simd, 8);
  EXPECT_EQ(o.hip.waves_per_simd, 7);
  EXPECT_EQ(o.resident.waves_per_simd, 7);
  EXPECT_THAT(o.resident.limiters, ElementsAre(Limiter::sgpr));
  input.kernel.sgprs = 102;
  EXPECT_EQ(on("gfx942", input).llvm.waves_per_simd, 7);
  EXPECT_THAT(on("gfx942", input).llvm.limiters, ElementsAre(Limiter::sgpr));
  input.kernel.sgprs = 106;
  EXPECT_EQ(on("gfx1030", input).llvm.waves_per_simd, 16);
}

TEST(LlvmModel, WavesPerEuCapsWhenItIsHonoured) {
  OccupancyInput input = kernel(256);
  input.kernel.waves_per_eu = WavesPerEu{.lo = 1, .hi = 3};
  EXPECT_EQ(on("gfx942", input).llvm.waves_per_simd, 3);
  EXPECT_THAT(on("gfx942", input).llvm.limiters, ElementsAre(Limiter::waves_per_eu));
  EXPECT_EQ(on("gfx942", input).resident.waves_per_simd, 8) << "only the compiler knows it";
  input.kernel.waves_per_eu = WavesPerEu{.lo = 2, .hi = 3};
  EXPECT_EQ(on("gfx1030", input).llvm.waves_per_simd, 4) << "256 registers do not limit further";
  // 80 registers serve 11 waves and 12 alike, so clang 19 prints 12.
  input.kernel.waves_per_eu = WavesPerEu{.lo = 4, .hi = 11};
  EXPECT_EQ(on("gfx1030", input).llvm.waves_per_simd, 12);
  for (const WavesPerEu dropped : {WavesPerEu{.lo = 0, .hi = 3}, WavesPerEu{.lo = 4, .hi = 3},
                                   WavesPerEu{.lo = 2, .hi = 9}, WavesPerEu{.lo = 2, .hi = {}}}) {
    input.kernel.waves_per_eu = dropped;
    EXPECT_EQ(on("gfx942", input).llvm.waves_per_simd, 8);
  }
  input = kernel(1024);
  input.kernel.waves_per_eu = WavesPerEu{.lo = 3, .hi = 4};
  EXPECT_EQ(on("gfx942", input).llvm.waves_per_simd, 8) << "1024 work-items imply 4 waves";
}

TEST(LlvmModel, ARowOfItsTableAtTheMaximumIsNoLimit) {
  // gfx908's row up to 80 SGPRs says 10, gfx90a's row up to 100 says 8: their maxima.
  for (const auto& [gfx, sgprs, below] :
       {std::tuple{"gfx908", 80, 9}, std::tuple{"gfx90a", 100, 7}, std::tuple{"gfx90a", 8, 0}}) {
    OccupancyInput input = kernel(256);
    input.kernel.sgprs = sgprs;
    EXPECT_THAT(on(gfx, input).llvm.limiters, ElementsAre(Limiter::waves)) << gfx << " " << sgprs;
    if (below == 0) continue;
    input.kernel.sgprs = sgprs + 1;
    EXPECT_THAT(on(gfx, input).llvm.limiters, ElementsAre(Limiter::sgpr)) << gfx;
    EXPECT_EQ(on(gfx, input).llvm.waves_per_simd, below) << gfx;
  }
}

TEST(LlvmModel, SaysWhyItDropsTheAttribute) {
  OccupancyInput input = kernel(1024);
  EXPECT_EQ(dropped_attribute(arch("gfx942"), input), std::nullopt);
  const auto why = [&](WavesPerEu bounds) {
    input.kernel.waves_per_eu = bounds;
    return dropped_attribute(arch("gfx942"), input).value_or("honoured");
  };
  EXPECT_EQ(why({.lo = 4, .hi = 8}), "honoured");
  EXPECT_EQ(why({.lo = 4}), "honoured");
  EXPECT_EQ(why({.lo = 3, .hi = 4}),
            "work-groups of 1024 work-items imply at least 4 waves per SIMD");
  EXPECT_EQ(why({.lo = 4, .hi = 9}), "gfx942 has at most 8 waves per SIMD");
  EXPECT_EQ(why({.lo = 9}), "gfx942 has at most 8 waves per SIMD");
  for (const WavesPerEu bounds : {WavesPerEu{.lo = 0, .hi = 3}, WavesPerEu{.lo = 5, .hi = 4}})
    EXPECT_EQ(why(bounds), "its bounds are not 1 <= LO <= HI");
  input.wave_size = 32;  // no such waves: compute_occupancy() says so
  EXPECT_EQ(why({.lo = 3, .hi = 4}), "honoured");
}

TEST(RecordedLimits, GoBeforeTheTablesInTheModelsOfTheDevice) {
  OccupancyInput input = kernel(256, 4, 16384);
  input.recorded = {.max_waves_per_simd = 6, .simds_per_cu = 2, .lds_bytes_per_cu = 131072};
  const Occupancy plain = on("gfx942", kernel(256, 4, 16384));
  const Occupancy o = on("gfx942", input);
  // The compiler never saw the device; HIP's wave slots and SIMDs are its own, its LDS is not.
  EXPECT_EQ(o.llvm.waves_per_simd, plain.llvm.waves_per_simd);
  EXPECT_EQ(plain.hip.workgroups_per_cu, 4);
  EXPECT_EQ(o.hip.workgroups_per_cu, 8);
  EXPECT_EQ(o.hip.max_waves_per_simd, 8);
  EXPECT_EQ(o.simds, 2);
  EXPECT_EQ(o.resident.max_waves_per_simd, 6);
  EXPECT_EQ(o.resident.workgroups_per_cu, 3);
  EXPECT_EQ(o.resident.waves_per_simd, 6);
  EXPECT_THAT(o.resident.limiters, ElementsAre(Limiter::waves));
  const auto advice = advise_occupancy(arch("gfx942"), input);
  ASSERT_TRUE(advice.has_value());
  EXPECT_EQ(advice->resident.next_step.best, std::nullopt) << "at the device's maximum";
  EXPECT_TRUE(advice->llvm.next_step.best.has_value());
}

TEST(RecordedLimits, OfACuAreAsManyTimesThatInAWgp) {
  OccupancyInput input = kernel(256, 4, 16384);
  input.recorded.lds_bytes_per_cu = 32768;
  EXPECT_EQ(on("gfx1100", kernel(256, 4, 16384)).resident.workgroups_per_cu, 8);
  EXPECT_EQ(on("gfx1100", input).resident.workgroups_per_cu, 4);
  EXPECT_EQ(on("gfx1100", input).hip.workgroups_per_cu, 2);
  input.recorded.simds_per_cu = 4;
  EXPECT_EQ(on("gfx1100", input).simds, 8);
  input.mode = WorkgroupMode::cu;
  EXPECT_EQ(on("gfx1100", input).simds, 4);
  EXPECT_EQ(on("gfx1100", input).resident.workgroups_per_cu, 2);
  input.kernel.static_lds = 32769;
  const auto refused = compute_occupancy(arch("gfx1100"), input);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("do not fit the 32768 bytes"));
}

TEST(RecordedLimits, ThatCannotBeAreNamedAndNotUsed) {
  const Occupancy plain = on("gfx942", kernel(256, 4, 16384));
  for (const std::int64_t nonsense : {INT64_C(0), INT64_C(-8), kHuge, -kHuge - 1}) {
    OccupancyInput input = kernel(256, 4, 16384);
    input.recorded = {nonsense, nonsense, nonsense};
    const Occupancy o = on("gfx942", input);
    for (const OccupancyModel model :
         {OccupancyModel::llvm, OccupancyModel::hip, OccupancyModel::resident})
      EXPECT_EQ(o.of(model).waves_per_simd, plain.of(model).waves_per_simd) << nonsense;
    const auto unusable = unusable_limits(arch("gfx942"), input.recorded);
    ASSERT_EQ(unusable.size(), 3U) << nonsense;
    EXPECT_EQ(unusable[0].field, "max_waves_per_simd");
    EXPECT_EQ(unusable[1].table, 4);
    EXPECT_EQ(unusable[2].recorded, nonsense);
  }
  // The limits of what can be: a quarter of the table's 65536 and four times that.
  for (const auto& [lds, usable] :
       {std::pair{16383, false}, {16384, true}, {262144, true}, {262145, false}})
    EXPECT_EQ(unusable_limits(arch("gfx942"), {.lds_bytes_per_cu = lds}).empty(), usable) << lds;
  EXPECT_TRUE(unusable_limits(arch("gfx942"), {}).empty());
}

TEST(RecordedLimits, ConfirmTheTablesGuess) {
  const Arch& mi100 = arch("gfx908");
  const std::string field = "compute_unit.max_waves_per_simd.hardware";
  EXPECT_THAT(unconfirmed_of_occupancy(mi100, {}), ElementsAre(field));
  EXPECT_THAT(unconfirmed_of_occupancy(mi100, {.simds_per_cu = 4}), ElementsAre(field));
  EXPECT_THAT(unconfirmed_of_occupancy(mi100, {.max_waves_per_simd = 0}), ElementsAre(field));
  EXPECT_TRUE(unconfirmed_of_occupancy(mi100, {.max_waves_per_simd = 8}).empty());
  EXPECT_TRUE(unconfirmed_of_occupancy(arch("gfx942"), {}).empty());
}

TEST(ResidentModel, HoldsWholeWorkgroupsInLdsGranules) {
  const Occupancy o = on("gfx942", kernel(256, 4, 21845));
  EXPECT_EQ(o.llvm.waves_per_simd, 3);
  EXPECT_EQ(o.hip.waves_per_simd, 3);
  EXPECT_EQ(o.resident.waves_per_simd, 2);
  EXPECT_EQ(o.resident.workgroups_per_cu, 2);
  EXPECT_EQ(o.resident.occupancy, 0.25);
  for (const OccupancyModel model :
       {OccupancyModel::llvm, OccupancyModel::hip, OccupancyModel::resident})
    EXPECT_THAT(o.of(model).limiters, ElementsAre(Limiter::lds));
}

TEST(ResidentModel, WavesPerSimdNeedNotBeWhole) {
  // Five waves a group: six groups of the 32 slots, 30 waves on 4 SIMDs.
  const Occupancy o = on("gfx942", kernel(320));
  EXPECT_EQ(o.llvm.waves_per_simd, 8);
  EXPECT_EQ(o.resident.workgroups_per_cu, 6);
  EXPECT_EQ(o.resident.waves_per_simd, 7.5);
  EXPECT_EQ(o.resident.waves_per_simd_floor, 7);
  EXPECT_EQ(o.resident.waves_per_simd_ceil, 8);
  EXPECT_EQ(o.resident.occupancy, 30.0 / 32.0);
  EXPECT_THAT(o.resident.limiters, ElementsAre(Limiter::workgroup_slots));
}

TEST(ResidentModel, OneSmallWorkgroupIsNotNothing) {
  // One wave on a CU whose LDS is full: a quarter of a wave per SIMD.
  const Occupancy o = on("gfx942", kernel(64, 4, 65536));
  EXPECT_EQ(o.llvm.waves_per_simd, 1);
  EXPECT_EQ(o.resident.waves_per_simd, 0.25);
  EXPECT_EQ(o.resident.workgroups_per_cu, 1);
}

TEST(ResidentModel, BarriersLimitGroupsOfSeveralWavesOnly) {
  OccupancyInput two_waves = kernel(64);
  EXPECT_EQ(on("gfx1030", two_waves).resident.workgroups_per_cu, 32);
  EXPECT_EQ(on("gfx1030", two_waves).hip.workgroups_per_cu, 32);
  two_waves.mode = WorkgroupMode::cu;
  EXPECT_THAT(on("gfx1030", two_waves).resident.limiters,
              ElementsAre(Limiter::waves, Limiter::barriers));
  OccupancyInput one_wave = kernel(32);
  EXPECT_EQ(on("gfx1030", one_wave).resident.workgroups_per_cu, 64);
  EXPECT_THAT(on("gfx1030", one_wave).resident.limiters, ElementsAre(Limiter::waves));
}

TEST(ResidentModel, LimiterIsEachThatAttainsTheMinimum) {
  EXPECT_THAT(on("gfx942", kernel(256)).resident.limiters, ElementsAre(Limiter::waves));
  EXPECT_THAT(on("gfx942", kernel(256, 65)).resident.limiters, ElementsAre(Limiter::vgpr));
  EXPECT_THAT(on("gfx942", kernel(256, 128, 16384)).resident.limiters,
              ElementsAre(Limiter::vgpr, Limiter::lds));
}

TEST(HipModel, TakesDynamicLdsAndTheLdsOfOneCu) {
  OccupancyInput input = kernel(256, 4, 8192);
  input.kernel.dynamic_lds = 8192;
  EXPECT_EQ(on("gfx942", input).llvm.waves_per_simd, 8);
  EXPECT_EQ(on("gfx942", input).hip.workgroups_per_cu, 4);
  EXPECT_EQ(on("gfx942", input).resident.workgroups_per_cu, 4);
  EXPECT_EQ(on("gfx1030", input).hip.workgroups_per_cu, 4) << "64 KiB although it is a WGP";
  EXPECT_EQ(on("gfx1030", input).resident.workgroups_per_cu, 8);
}

TEST(Defaults, ComeFromTheArchitecture) {
  const Occupancy rdna = on("gfx1030", kernel(256));
  EXPECT_EQ(rdna.wave_size, 32);
  EXPECT_EQ(rdna.mode, WorkgroupMode::wgp);
  EXPECT_EQ(rdna.simds, 4);
  const Occupancy cdna = on("gfx90a", kernel(256));
  EXPECT_EQ(cdna.wave_size, 64);
  EXPECT_EQ(cdna.mode, WorkgroupMode::cu);
  EXPECT_EQ(cdna.simds, 4);
  EXPECT_EQ(cdna.llvm.max_waves_per_simd, 8);
}

TEST(Defaults, MissingScalarRegistersAreSaid) {
  OccupancyInput input = kernel(256);
  EXPECT_FALSE(on("gfx942", input).sgprs_unknown);
  input.kernel.sgprs = std::nullopt;
  EXPECT_TRUE(on("gfx942", input).sgprs_unknown);
  EXPECT_FALSE(on("gfx1030", input).sgprs_unknown);
}

std::string refusal(std::string_view gfx, const OccupancyInput& input) {
  const auto result = compute_occupancy(arch(gfx), input);
  EXPECT_FALSE(result.has_value());
  return result ? "" : result.error().message;
}

TEST(Launch, RefusesWorkgroupsThatCannotBe) {
  EXPECT_THAT(refusal("gfx942", kernel(0)), HasSubstr("0 work-items cannot be launched"));
  EXPECT_THAT(refusal("gfx942", kernel(-64)), HasSubstr("-64 work-items"));
  EXPECT_THAT(refusal("gfx942", kernel(1025)), HasSubstr("more than the 1024 of gfx942"));
  EXPECT_THAT(refusal("gfx942", kernel(kHuge)), HasSubstr("more than the 1024"));
  EXPECT_EQ(on("gfx942", kernel(1024)).resident.workgroups_per_cu, 2);
}

TEST(Launch, RefusesTooMuchLds) {
  EXPECT_THAT(refusal("gfx942", kernel(64, 4, 65537)), HasSubstr("65536 bytes"));
  EXPECT_THAT(refusal("gfx950", kernel(64, 4, 163841)), HasSubstr("163840 bytes"));
  EXPECT_THAT(refusal("gfx1030", kernel(64, 4, 65537)), HasSubstr("65536 bytes"));
  EXPECT_THAT(refusal("gfx942", kernel(64, 4, -1)), HasSubstr("-1 bytes static"));
  OccupancyInput split = kernel(64, 4, 65536);
  split.kernel.dynamic_lds = 1;
  EXPECT_THAT(refusal("gfx942", split), HasSubstr("1 bytes dynamic"));
  split.kernel.static_lds = 1;
  split.kernel.dynamic_lds = kHuge;
  refusal("gfx942", split);
}

TEST(Launch, RefusesRegistersThatDoNotExist) {
  EXPECT_THAT(refusal("gfx942", kernel(64, 257)), HasSubstr("257 VGPRs"));
  EXPECT_THAT(refusal("gfx942", kernel(64, -1)), HasSubstr("-1 VGPRs"));
  OccupancyInput agprs = kernel(64);
  agprs.kernel.agprs = 1;
  EXPECT_THAT(refusal("gfx1030", agprs), HasSubstr("1 AGPRs"));
  OccupancyInput allocated = kernel(64);
  allocated.kernel.allocated_vgprs = 520;
  EXPECT_THAT(refusal("gfx942", allocated), HasSubstr("520 allocated"));
  OccupancyInput sgprs = kernel(64);
  sgprs.kernel.sgprs = 113;
  EXPECT_THAT(refusal("gfx942", sgprs), HasSubstr("113 SGPRs"));
  sgprs.kernel.sgprs = kHuge;
  refusal("gfx942", sgprs);
  sgprs.kernel.sgprs = -1;
  refusal("gfx942", sgprs);
}

TEST(Launch, RefusesAGroupWhoseWavesDoNotFitTogether) {
  EXPECT_THAT(refusal("gfx942", kernel(1024, 200)), HasSubstr("does not fit the register files"));
  EXPECT_EQ(on("gfx942", kernel(1024, 128)).resident.workgroups_per_cu, 1);
}

TEST(Launch, RefusesWavesAndModesThatTheArchitectureLacks) {
  OccupancyInput input = kernel(64);
  input.wave_size = 32;
  EXPECT_THAT(refusal("gfx942", input), HasSubstr("gfx942 has no waves of 32"));
  input.wave_size = 64;
  input.mode = WorkgroupMode::wgp;
  EXPECT_THAT(refusal("gfx942", input), HasSubstr("gfx942 has no WGP mode"));
}

TEST(Trace, TakesTheSumOfTheCountsWhereTheFileIsShared) {
  EXPECT_EQ(allocated_vgprs_in_trace(arch("gfx942"), 128, 384), 512)
      << "the profiler's wrong split";
  EXPECT_EQ(allocated_vgprs_in_trace(arch("gfx90a"), 100, 28), 128);
  EXPECT_EQ(allocated_vgprs_in_trace(arch("gfx1030"), 72, 0), 72);
  EXPECT_LT(allocated_vgprs_in_trace(arch("gfx942"), -8, 128), 0);
  EXPECT_EQ(allocated_vgprs_in_trace(arch("gfx942"), kHuge, kHuge), kHuge);
}

TEST(Trace, GivesTheSameFiguresAsExactCounts) {
  TracedKernel traced;
  traced.workgroup_size = 256;
  traced.static_lds = 1024;
  traced.dispatch_lds = 10240;
  traced.arch_vgprs = 128;
  traced.accum_vgprs = 128;
  traced.sgprs = 32;
  const OccupancyInput input = input_from_trace(arch("gfx942"), traced);
  EXPECT_EQ(input.kernel.static_lds, 1024);
  EXPECT_EQ(input.kernel.dynamic_lds, 9216);
  const Occupancy o = on("gfx942", input);
  EXPECT_EQ(o.llvm.waves_per_simd, 2);
  EXPECT_EQ(o.resident.waves_per_simd, 2);
  // What the descriptor counts in divides what the hardware allocates in: nothing is lost.
  traced = {.wave_size = 32, .workgroup_size = 256, .arch_vgprs = 72, .sgprs = 128};
  EXPECT_EQ(on("gfx1030", input_from_trace(arch("gfx1030"), traced)).llvm.waves_per_simd, 12);
}

TEST(Trace, SgprGranulesThatLlvmsTableCutsThroughAreNamed) {
  const auto range = [](std::string_view gfx, std::int64_t sgprs, std::int64_t vgprs) {
    const TracedKernel traced{.workgroup_size = 256, .arch_vgprs = vgprs, .sgprs = sgprs};
    return llvm_range_of_granule(arch(gfx), input_from_trace(arch(gfx), traced));
  };
  // 97 to 112: up to 100 are 8 waves, more are 7.
  const auto cut = range("gfx942", 112, 32);
  ASSERT_TRUE(cut.has_value());
  EXPECT_EQ(cut->fewest, 97);
  EXPECT_EQ(cut->most, 112);
  EXPECT_EQ(cut->waves_per_simd, 8);
  EXPECT_FALSE(range("gfx942", 112, 72).has_value()) << "registers decide: 7 either way";
  EXPECT_FALSE(range("gfx942", 96, 32).has_value()) << "81 to 96: 8 either way, the maximum";
  EXPECT_FALSE(range("gfx942", 16, 32).has_value());
  EXPECT_FALSE(range("gfx1030", 128, 32).has_value());
  // gfx908 has ten slots: 81 to 88 are 9, more are 8.
  EXPECT_EQ(range("gfx908", 96, 8).value().waves_per_simd, 9);
  EXPECT_FALSE(range("gfx908", 80, 8).has_value()) << "65 to 80";
}

TEST(Trace, DamagedNumbersAreRefusedNotComputedWith) {
  TracedKernel traced{.workgroup_size = 256, .arch_vgprs = 8};
  traced.static_lds = std::numeric_limits<std::int64_t>::min();
  traced.dispatch_lds = kHuge;
  refusal("gfx942", input_from_trace(arch("gfx942"), traced));
  traced.static_lds = 4096;  // more than the dispatch: the dispatch is right
  traced.dispatch_lds = 0;
  EXPECT_EQ(on("gfx942", input_from_trace(arch("gfx942"), traced)).resident.waves_per_simd, 8);
  traced.arch_vgprs = kHuge;
  traced.accum_vgprs = kHuge;
  refusal("gfx942", input_from_trace(arch("gfx942"), traced));
}

/// Random kernels on every architecture of the tables, at every wave size and mode.
class Property : public ::testing::TestWithParam<std::string> {
 protected:
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  OccupancyInput any_kernel(const Arch& on_arch) {
    OccupancyInput input;
    const auto wave = pick(0, static_cast<std::int64_t>(on_arch.wave_sizes.size()) - 1);
    input.wave_size = on_arch.wave_sizes[static_cast<std::size_t>(wave)].wave_size;
    if (on_arch.cus_per_wgp && pick(0, 1) == 1) input.mode = WorkgroupMode::cu;
    KernelResources& k = input.kernel;
    k.workgroup_size = pick(1, on_arch.max_workgroup_size);
    if (pick(0, 1) == 1) k.static_lds = pick(0, on_arch.lds_max_per_workgroup);
    if (pick(0, 1) == 1) k.dynamic_lds = pick(0, on_arch.lds_max_per_workgroup - k.static_lds);
    k.vgprs = pick(0, on_arch.addressable_vgprs);
    if (pick(0, 1) == 1) k.agprs = pick(0, on_arch.addressable_agprs);
    if (pick(0, 3) > 0) k.sgprs = pick(0, on_arch.addressable_sgprs);
    return input;
  }

  static constexpr int kRounds = 3000;
  std::mt19937_64 random_{20240601};
};

constexpr OccupancyModel kModels[] = {OccupancyModel::llvm, OccupancyModel::hip,
                                      OccupancyModel::resident};

TEST_P(Property, FiguresStayWithinTheHardware) {
  const Arch& a = arch(GetParam());
  int launched = 0;
  for (int round = 0; round < kRounds; ++round) {
    const OccupancyInput input = any_kernel(a);
    const auto o = compute_occupancy(a, input);
    if (!o) continue;
    ++launched;
    const std::int64_t waves = (input.kernel.workgroup_size + o->wave_size - 1) / o->wave_size;
    for (const OccupancyModel model : kModels) {
      const ModelOccupancy& m = o->of(model);
      if (model != OccupancyModel::hip) {
        EXPECT_GT(m.occupancy, 0);
        EXPECT_GE(m.workgroups_per_cu, 1);
      }
      EXPECT_LE(m.occupancy, 1);
      EXPECT_LE(m.waves_per_simd_floor, m.waves_per_simd);
      EXPECT_GE(m.waves_per_simd_ceil, m.waves_per_simd);
      EXPECT_LE(m.waves_per_simd_ceil, m.max_waves_per_simd);
      EXPECT_FALSE(m.limiters.empty());
    }
    EXPECT_LE(o->resident.workgroups_per_cu * waves,
              std::int64_t{o->simds} * a.max_waves_per_simd_hardware);
    EXPECT_LE(o->resident.workgroups_per_cu * (input.kernel.static_lds + input.kernel.dynamic_lds),
              o->mode == WorkgroupMode::wgp ? *a.lds_bytes_per_wgp : a.lds_bytes_per_cu);
    EXPECT_LE(o->resident.waves_per_simd, o->llvm.waves_per_simd) << "llvm is an upper bound";
  }
  EXPECT_GT(launched, kRounds / 4);
}

TEST_P(Property, MoreOfAResourceNeverGainsWaves) {
  const Arch& a = arch(GetParam());
  for (int round = 0; round < kRounds; ++round) {
    const OccupancyInput less = any_kernel(a);
    OccupancyInput more = less;
    more.kernel.vgprs = pick(less.kernel.vgprs, a.addressable_vgprs);
    more.kernel.agprs = pick(less.kernel.agprs, a.addressable_agprs);
    more.kernel.static_lds += pick(0, 8192);
    if (less.kernel.sgprs) more.kernel.sgprs = pick(*less.kernel.sgprs, a.addressable_sgprs);
    const auto before = compute_occupancy(a, less);
    const auto after = compute_occupancy(a, more);
    if (!after) continue;
    ASSERT_TRUE(before.has_value()) << "more was launched, less was not";
    for (const OccupancyModel model : kModels)
      EXPECT_LE(after->of(model).waves_per_simd, before->of(model).waves_per_simd);
  }
}

TEST_P(Property, TraceGranulesChangeNothing) {
  const Arch& a = arch(GetParam());
  for (int round = 0; round < kRounds; ++round) {
    OccupancyInput exact = any_kernel(a);
    exact.mode = std::nullopt;
    const auto before = compute_occupancy(a, exact);
    if (!before) continue;
    const auto limits = limits_of(a, exact.wave_size);
    OccupancyInput traced = exact;
    const std::int64_t granule = a.wave_limits(*exact.wave_size)->vgpr_encoding_granule;
    traced.kernel.allocated_vgprs = detail::align_up(
        std::max<std::int64_t>(detail::vgpr_demand(*limits, exact.kernel), 1), granule);
    const auto after = compute_occupancy(a, traced);
    ASSERT_TRUE(after.has_value()) << describe(after.error());
    for (const OccupancyModel model : kModels) {
      EXPECT_EQ(after->of(model).waves_per_simd, before->of(model).waves_per_simd);
      EXPECT_EQ(after->of(model).limiters, before->of(model).limiters);
    }
  }
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const Arch& a : archs_of(Platform::amd)) names.push_back(a.gfx);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Archs, Property, ::testing::ValuesIn(all_names()),
                         [](const auto& test) { return test.param; });

TEST(Names, AreStable) {
  EXPECT_EQ(to_string(OccupancyModel::resident), "resident");
  EXPECT_EQ(to_string(Limiter::workgroup_slots), "workgroup_slots");
  EXPECT_EQ(to_string(Limiter::waves_per_eu), "waves_per_eu");
  EXPECT_EQ(to_string(WorkgroupMode::wgp), "wgp");
  EXPECT_EQ(to_string(AgprRule::separate), "separate");
}

}  // namespace
}  // namespace perflab::hal
