// Registers, launch and occupancy from a code object's kernel.
#include "analyze/inspect/static_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perflab::analyze {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;

code::TargetId target(const char* processor) {
  return {.processor = processor, .sramecc = code::Feature::any, .xnack = code::Feature::any};
}

/// A kernel as LLVM writes it, with a descriptor that agrees.
code::KernelMetadata plain_kernel() {
  code::KernelMetadata kernel;
  kernel.name = "_Z3addPfi";
  kernel.symbol = "_Z3addPfi.kd";
  kernel.wave_size = 64;
  kernel.vgpr_count = 24;
  kernel.agpr_count = 0;
  kernel.sgpr_count = 18;
  kernel.sgpr_spills = 0;
  kernel.vgpr_spills = 0;
  kernel.max_workgroup_size = 256;
  kernel.lds_bytes = 1024;
  kernel.descriptor = code::KernelDescriptor{};
  kernel.descriptor->group_segment_bytes = 1024;
  kernel.descriptor->rsrc1 = 2;  // three granules of 8
  return kernel;
}

StaticKernel on(const char* processor, const code::KernelMetadata& kernel,
                const StaticLaunch& launch = {}) {
  return describe_static_kernel(target(processor), kernel, launch);
}

std::vector<std::string> missing_fields(const StaticKernel& kernel) {
  std::vector<std::string> fields;
  for (const Missing& missing : kernel.missing) fields.push_back(missing.field);
  return fields;
}

TEST(StaticKernel, PlainKernelHasEveryFigure) {
  const StaticKernel k = on("gfx942", plain_kernel());
  EXPECT_EQ(k.name, "add(float*, int)");
  EXPECT_EQ(k.vgprs, 24);
  EXPECT_EQ(k.arch_vgprs, 24);
  EXPECT_EQ(k.accum_vgprs, 0);
  EXPECT_EQ(k.allocated_vgprs, 24);
  EXPECT_EQ(k.workgroup_size, 256);
  ASSERT_TRUE(k.occupancy.has_value());
  EXPECT_EQ(k.occupancy->llvm.waves_per_simd, 8);
  EXPECT_THAT(missing_fields(k), ::testing::ElementsAre("occupancy.next_step"));
}

TEST(StaticKernel, UnifiedCountHoldsTheAgprsOnce) {
  // histo_gfx950: .vgpr_count 108 = 44 architected + 64 accumulation.
  code::KernelMetadata kernel = plain_kernel();
  kernel.vgpr_count = 108;
  kernel.agpr_count = 64;
  const StaticKernel k = on("gfx950", kernel);
  EXPECT_EQ(k.vgprs, 108);
  EXPECT_EQ(k.arch_vgprs, 44);
  EXPECT_EQ(k.accum_vgprs, 64);
  EXPECT_EQ(k.allocated_vgprs, 112);
  EXPECT_EQ(k.occupancy.value().llvm.waves_per_simd, 4);  // 512 / 112
}

TEST(StaticKernel, SeparateFilesLetTheLargerDecide) {
  code::KernelMetadata kernel = plain_kernel();
  kernel.vgpr_count = 64;
  kernel.agpr_count = 128;
  const StaticKernel k = on("gfx908", kernel);
  EXPECT_EQ(k.vgprs, 128);
  EXPECT_EQ(k.arch_vgprs, 64);
  EXPECT_EQ(k.accum_vgprs, 128);
  EXPECT_EQ(k.occupancy.value().llvm.waves_per_simd, 2);
}

TEST(StaticKernel, OldCompilersSplitFollowsTheDescriptor) {
  code::KernelMetadata kernel = plain_kernel();
  kernel.vgpr_count = 100;
  kernel.agpr_count.reset();
  kernel.descriptor->rsrc3 = 9;  // ACCUM_OFFSET: (9 + 1) * 4 architected
  const StaticKernel k = on("gfx90a", kernel);
  EXPECT_EQ(k.arch_vgprs, 40);
  EXPECT_EQ(k.accum_vgprs, 60);
  EXPECT_THAT(k.assumptions, Contains(HasSubstr("ACCUM_OFFSET")));

  kernel.descriptor.reset();
  const StaticKernel without = on("gfx90a", kernel);
  EXPECT_EQ(without.vgprs, 100);
  EXPECT_FALSE(without.arch_vgprs.has_value());
  EXPECT_THAT(missing_fields(without), Contains("resources.accum_vgpr"));
  EXPECT_TRUE(without.occupancy.has_value()) << "the sum is enough";
}

TEST(StaticKernel, RdnaTakesWaveSizeAndModeFromTheKernel) {
  code::KernelMetadata kernel = plain_kernel();
  kernel.wave_size = 32;
  kernel.wgp_mode = false;
  EXPECT_EQ(on("gfx1100", kernel).occupancy.value().mode, hal::WorkgroupMode::cu);
  kernel.wgp_mode = true;
  EXPECT_EQ(on("gfx1100", kernel).occupancy.value().mode, hal::WorkgroupMode::wgp);
  kernel.wgp_mode.reset();
  kernel.descriptor->rsrc1 = 2;
  EXPECT_EQ(on("gfx1100", kernel).occupancy.value().mode, hal::WorkgroupMode::cu);
  kernel.descriptor->rsrc1 = 2U | 1U << 29U;
  EXPECT_EQ(on("gfx1100", kernel).occupancy.value().mode, hal::WorkgroupMode::wgp);
  kernel.wave_size = 64;
  EXPECT_EQ(on("gfx1100", kernel).occupancy.value().wave_size, 64);
}

TEST(StaticKernel, UnknownArchitectureIsNeverItsNeighbour) {
  const StaticKernel k = on("gfx1250", plain_kernel());
  EXPECT_EQ(k.vgprs, 24);
  EXPECT_FALSE(k.arch_vgprs.has_value());
  EXPECT_FALSE(k.allocated_vgprs.has_value());
  EXPECT_FALSE(k.occupancy.has_value());
  for (const char* field :
       {"resources.arch_vgpr", "resources.accum_vgpr", "resources.allocated_vgpr",
        "occupancy.theoretical", "occupancy.mode", "occupancy.models"})
    EXPECT_THAT(missing_fields(k), Contains(field));
  EXPECT_THAT(k.missing, Contains(Field(&Missing::reason, HasSubstr("gfx1250"))));
}

TEST(StaticKernel, WorkgroupSizeIsTheOneAskedForRequiredOrAllowed) {
  code::KernelMetadata kernel = plain_kernel();
  EXPECT_THAT(on("gfx942", kernel).assumptions, Contains(HasSubstr("256 work-items")));
  const StaticKernel asked =
      on("gfx942", kernel, {.workgroup_size = 64, .dynamic_lds = 0, .recorded = {}});
  EXPECT_EQ(asked.workgroup_size, 64);
  EXPECT_THAT(asked.assumptions, Each(Not(HasSubstr("work-items"))));
  const StaticKernel beyond =
      on("gfx942", kernel, {.workgroup_size = 512, .dynamic_lds = 0, .recorded = {}});
  EXPECT_THAT(beyond.assumptions, Contains(HasSubstr("more than the 256")));
  kernel.required_workgroup_size = {8, 8, 2};
  EXPECT_EQ(on("gfx942", kernel).workgroup_size, 128);
  kernel.required_workgroup_size.reset();
  kernel.max_workgroup_size.reset();
  const StaticKernel unbounded = on("gfx942", kernel);
  EXPECT_EQ(unbounded.workgroup_size, 0);
  EXPECT_FALSE(unbounded.occupancy.has_value());
  EXPECT_THAT(missing_fields(unbounded), Contains("launch.max_workgroup_size"));
}

TEST(StaticKernel, DynamicLdsCounts) {
  const StaticKernel k = on("gfx942", plain_kernel(),
                            {.workgroup_size = 256, .dynamic_lds = 31 * 1024, .recorded = {}});
  EXPECT_EQ(k.occupancy.value().resident.workgroups_per_cu, 2);
  EXPECT_EQ(k.occupancy.value().llvm.waves_per_simd, 8) << "llvm knows static LDS only";
}

TEST(StaticKernel, WhatTheDeviceSaysOfItselfGoesBeforeTheTables) {
  const StaticLaunch launch{
      .workgroup_size = 256, .dynamic_lds = 0, .recorded = {.max_waves_per_simd = 4}};
  const StaticKernel k = on("gfx942", plain_kernel(), launch);
  EXPECT_EQ(k.occupancy.value().resident.max_waves_per_simd, 4);
  EXPECT_EQ(k.occupancy.value().llvm.max_waves_per_simd, 8) << "the compiler's constant";
}

TEST(StaticKernel, ContradictionsBetweenMetadataAndDescriptorAreSaid) {
  code::KernelMetadata kernel = plain_kernel();
  kernel.descriptor->group_segment_bytes = 2048;
  EXPECT_THAT(on("gfx942", kernel).assumptions, Contains(HasSubstr("LDS bytes: 1024 and 2048")));
}

TEST(StaticKernel, TheDescriptorDecidesWhenItGivesMoreRegisters) {
  code::KernelMetadata kernel = plain_kernel();
  kernel.descriptor->rsrc1 = 63;  // 64 granules of 8
  const StaticKernel k = on("gfx942", kernel);
  EXPECT_EQ(k.vgprs, 512);
  EXPECT_FALSE(k.arch_vgprs.has_value());
  EXPECT_THAT(k.assumptions, Contains(HasSubstr("512 VGPRs where the metadata counts 24")));
  EXPECT_EQ(k.occupancy.value().resident.waves_per_simd, 1);
  // One granule more than the count needs is already a contradiction, the same granule is none.
  kernel.descriptor->rsrc1 = 3;
  EXPECT_EQ(on("gfx942", kernel).vgprs, 32);
  kernel.vgpr_count = 25;
  EXPECT_EQ(on("gfx942", kernel).vgprs, 25);
  kernel.descriptor->rsrc1 = 0;
  kernel.vgpr_count = 0;
  EXPECT_EQ(on("gfx942", kernel).vgprs, 0) << "a wave always has one granule";
}

TEST(StaticKernel, HostileCountsAreRefusedNotComputedWith) {
  code::KernelMetadata kernel = plain_kernel();
  for (const std::int64_t count : {INT64_MIN, INT64_C(-1), INT64_C(513), INT64_MAX}) {
    kernel.vgpr_count = count;
    EXPECT_FALSE(on("gfx942", kernel).occupancy.has_value()) << count;
  }
  kernel = plain_kernel();
  kernel.wave_size = (INT64_C(1) << 32) + 64;
  EXPECT_FALSE(on("gfx942", kernel).occupancy.has_value());
  kernel = plain_kernel();
  kernel.required_workgroup_size = {INT64_MAX, 2, 1};
  EXPECT_FALSE(on("gfx942", kernel).occupancy.has_value());
}

TEST(StaticKernel, NamesAreDemangledOrKept) {
  EXPECT_EQ(demangled("_Z3addPfi"), "add(float*, int)");
  EXPECT_EQ(demangled("triton_poi_fused_relu_0"), "triton_poi_fused_relu_0");
  EXPECT_EQ(demangled("_Zbroken"), "_Zbroken");
  const std::string huge = "_Z" + std::string(1 << 20, '1');
  EXPECT_EQ(demangled(huge), huge);
}

}  // namespace
}  // namespace perflab::analyze
