// Gates and the comparison of two builds.
#include "analyze/inspect/inspection_gates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perflab::analyze {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Spec {
  const char* name;
  std::int64_t vgprs = 32;
  std::int64_t vgpr_spills = 0;
  std::int64_t scratch = 0;
};

Inspection inspection(const std::vector<Spec>& specs, const char* processor = "gfx942") {
  Inspection result;
  result.path = "new.co";
  InspectedObject& object = result.objects.emplace_back();
  object.target.processor = processor;
  for (const Spec& spec : specs) {
    code::KernelMetadata kernel;
    kernel.name = spec.name;
    kernel.wave_size = 64;
    kernel.vgpr_count = spec.vgprs;
    kernel.agpr_count = 0;
    kernel.sgpr_count = 16;
    kernel.vgpr_spills = spec.vgpr_spills;
    kernel.sgpr_spills = 0;
    kernel.scratch_bytes = spec.scratch;
    kernel.max_workgroup_size = 256;
    result.kernels.push_back(describe_static_kernel(object.target, std::move(kernel), {}));
  }
  return result;
}

Gate only_gate(const Inspection& inspection, const GateLimits& limits) {
  const std::vector<Gate> gates = check_gates(inspection, limits);
  EXPECT_EQ(gates.size(), 1U);
  return gates.at(0);
}

TEST(Gates, NoneAskedForNoneChecked) {
  EXPECT_TRUE(check_gates(inspection({{"k"}}), {}).empty());
}

TEST(Gates, MaxVgprIsInclusive) {
  const Inspection file = inspection({{"a", 64}, {"b", 65}});
  EXPECT_TRUE(only_gate(file, {.max_vgprs = 65}).passed());
  const Gate gate = only_gate(file, {.max_vgprs = 64});
  EXPECT_FALSE(gate.passed());
  ASSERT_EQ(gate.failures.size(), 1U);
  EXPECT_EQ(gate.failures[0].kernel, 1U);
  EXPECT_EQ(gate.failures[0].value, 65);
  EXPECT_EQ(gate.checked, 2U);
}

TEST(Gates, MinOccupancyIsTheResidentModels) {
  const Inspection file = inspection({{"a", 128}});  // 4 of 8 waves
  EXPECT_TRUE(only_gate(file, {.max_vgprs = {}, .min_occupancy = 0.5}).passed());
  EXPECT_FALSE(only_gate(file, {.max_vgprs = {}, .min_occupancy = 0.51}).passed());
}

TEST(Gates, SpillsAndScratchBothFail) {
  const GateLimits limits{.max_vgprs = {}, .min_occupancy = {}, .no_spills = true};
  EXPECT_TRUE(only_gate(inspection({{"a"}}), limits).passed());
  EXPECT_FALSE(only_gate(inspection({{"a", 32, 3}}), limits).passed());
  EXPECT_FALSE(only_gate(inspection({{"a", 32, 0, 16}}), limits).passed());
}

TEST(Gates, WhatIsNotKnownDoesNotPass) {
  Inspection unknown = inspection({{"a"}}, "gfx1250");
  const Gate occupancy = only_gate(unknown, {.max_vgprs = {}, .min_occupancy = 0.0});
  ASSERT_FALSE(occupancy.passed());
  EXPECT_FALSE(occupancy.failures[0].value.has_value());
  EXPECT_THAT(occupancy.failures[0].why, HasSubstr("gfx1250"));
  unknown.kernels[0].code.vgpr_spills.reset();
  EXPECT_FALSE(
      only_gate(unknown, {.max_vgprs = {}, .min_occupancy = {}, .no_spills = true}).passed());
  EXPECT_FALSE(only_gate(inspection({}), {.max_vgprs = 1000}).passed())
      << "a gate over nothing proves nothing";
}

TEST(Gates, ACodeObjectThatCouldNotBeReadFailsEveryGate) {
  Inspection file = inspection({{"a"}});
  file.objects.emplace_back().readable = false;
  for (const Gate& gate :
       check_gates(file, {.max_vgprs = 512, .min_occupancy = 0.0, .no_spills = true})) {
    EXPECT_FALSE(gate.passed()) << gate.name;
    EXPECT_THAT(gate.problem, HasSubstr("could not be read"));
  }
  EXPECT_FALSE(comparison_gate(compare_inspections(inspection({{"a"}}), file)).passed());
  EXPECT_FALSE(comparison_gate(compare_inspections(file, inspection({{"a"}}))).passed());
}

TEST(InspectionDiff, EqualBuildsHaveNoChanges) {
  const InspectionDiff same =
      compare_inspections(inspection({{"a"}, {"b"}}), inspection({{"b"}, {"a"}}));
  EXPECT_EQ(same.compared, 2U);
  EXPECT_TRUE(same.changes.empty());
  EXPECT_TRUE(comparison_gate(same).passed());
}

TEST(InspectionDiff, NamesWhatChangedAndWhatIsWorse) {
  const InspectionDiff changed =
      compare_inspections(inspection({{"a", 64}}), inspection({{"a", 72, 1}}));
  ASSERT_EQ(changed.changes.size(), 1U);
  std::vector<std::string> worse;
  for (const FigureChange& figure : changed.changes[0].figures)
    if (figure.worse) worse.push_back(figure.figure);
  EXPECT_THAT(worse,
              ElementsAre("resources.vgpr_spills", "occupancy.models.resident.waves_per_simd"));
  const Gate gate = comparison_gate(changed);
  EXPECT_FALSE(gate.passed());
  EXPECT_EQ(gate.failures.size(), 2U);
}

TEST(InspectionDiff, MoreRegistersAloneAreNoRegression) {
  const InspectionDiff changed =
      compare_inspections(inspection({{"a", 25}}), inspection({{"a", 32}}));
  EXPECT_EQ(changed.changes.size(), 1U);
  EXPECT_TRUE(comparison_gate(changed).passed());
}

TEST(InspectionDiff, AnImprovementPasses) {
  const InspectionDiff changed =
      compare_inspections(inspection({{"a", 72, 4, 32}}), inspection({{"a", 64}}));
  EXPECT_EQ(changed.changes.size(), 1U);
  EXPECT_TRUE(comparison_gate(changed).passed());
}

TEST(InspectionDiff, AFigureThatIsNotKnownAnyMoreIsWorse) {
  Inspection now = inspection({{"a"}});
  now.kernels[0].code.vgpr_spills.reset();
  EXPECT_FALSE(comparison_gate(compare_inspections(inspection({{"a"}}), now)).passed());
  EXPECT_TRUE(comparison_gate(compare_inspections(now, inspection({{"a"}}))).passed());
}

TEST(InspectionDiff, KernelsOfOneFileOnlyAreListed) {
  const InspectionDiff changed =
      compare_inspections(inspection({{"a"}, {"_Z3oldv"}}), inspection({{"a"}, {"new"}}));
  EXPECT_THAT(changed.only_old, ElementsAre("old() (gfx942)"));
  EXPECT_THAT(changed.only_new, ElementsAre("new (gfx942)"));
  EXPECT_TRUE(comparison_gate(changed).passed());
}

TEST(InspectionDiff, NothingInCommonFails) {
  EXPECT_FALSE(
      comparison_gate(compare_inspections(inspection({{"a"}}), inspection({{"b"}}))).passed());
  EXPECT_FALSE(
      comparison_gate(compare_inspections(inspection({{"a"}}), inspection({{"a"}}, "gfx90a")))
          .passed())
      << "another target is another kernel";
}

TEST(InspectionDiff, TheSameNameInSeveralObjectsIsMatchedInOrder) {
  const InspectionDiff same =
      compare_inspections(inspection({{"a", 32}, {"a", 64}}), inspection({{"a", 32}, {"a", 64}}));
  EXPECT_EQ(same.compared, 2U);
  EXPECT_TRUE(same.changes.empty());
}

}  // namespace
}  // namespace perflab::analyze
