// Registers, memory, GPU and occupancy of a kernel as a trace knows them, and what is said about
// everything that it does not know. Facts of the profilers' defects: docs/facts/rocpd.md
// "Registers".
#include "analyze/kernels/resources.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analyze/pipeline.h"
#include "analyze/trace_builder.h"

namespace perflab::analyze {
namespace {

using trace::AgentFacts;
using trace::Index;
using trace::LaunchConfig;

/// The reason that a kernel gives for a missing field; "" when it gives none.
std::string reason(const Kernel& kernel, const std::string& field) {
  const auto entry = std::ranges::find(kernel.missing, field, &Missing::field);
  return entry == kernel.missing.end() ? "" : entry->reason;
}

class ResourcesTest : public testing::Test {
 protected:
  /// The kernel of one dispatch on this GPU, recorded with this schema version.
  Kernel kernel(const std::string& gfx, TraceBuilder::KernelOptions options,
                const std::string& version = "3.0.1", LaunchConfig config = kLaunch) {
    b_.source(std::nullopt, version);
    b_.agent(gfx);
    options.code_object = b_.code_object();
    b_.dispatch(b_.kernel("k", options), {.start = 10, .duration = 5, .config = config});
    return analyze_trace(b_.trace).kernels.at(0);
  }
  /// Adds a symbol that is never dispatched to the last code object.
  void also_loaded(TraceBuilder::KernelOptions options) {
    options.code_object = static_cast<Index>(b_.trace.code_objects.size() - 1);
    b_.kernel("other", options);
  }
  [[nodiscard]] Kernel again() const { return analyze_trace(b_.trace).kernels.at(0); }

  static constexpr LaunchConfig kLaunch = {.workgroup = {256, 1, 1}, .grid = {65536, 1, 1}};
  TraceBuilder b_;
};

using Registers = ResourcesTest;
using Memory = ResourcesTest;
using GpuFacts = ResourcesTest;
using OccupancyOfTrace = ResourcesTest;
using Workgroups = ResourcesTest;

TEST_F(Registers, AreTheSumOfBothKinds) {
  // The profiler shows 128/384 where the truth is 256/256: only the sum is right.
  const Kernel k = kernel("gfx942", {.arch_vgprs = 128, .accum_vgprs = 384, .sgprs = 112});
  EXPECT_EQ(k.resources.vgprs, 512);
  EXPECT_EQ(k.resources.arch_vgprs, 128);
  EXPECT_EQ(k.resources.accum_vgprs, 384);
  EXPECT_EQ(k.resources.sgprs, 112);
  for (const Missing& missing : k.missing)
    EXPECT_FALSE(missing.field.starts_with("resources.")) << missing.field;
  EXPECT_TRUE(k.assumptions.empty());
  EXPECT_DOUBLE_EQ(k.occupancy.value().resident.occupancy, 0.125);
}

TEST_F(Registers, OfGfx950AreUncertainFromAnOldRecorder) {
  const Kernel k = kernel("gfx950", {.arch_vgprs = 16}, "3");
  EXPECT_EQ(k.resources.vgprs, std::nullopt);
  EXPECT_EQ(k.resources.arch_vgprs, std::nullopt);
  EXPECT_EQ(k.resources.accum_vgprs, std::nullopt);
  const std::string why =
      "recorders of this age decode gfx950 registers as half of what is allocated, and nothing in "
      "the recording shows whether this one does";
  EXPECT_EQ(reason(k, "resources.vgpr_per_thread"), why);
  // The recording does hold these; they are not to be trusted.
  EXPECT_EQ(reason(k, "resources.arch_vgpr"), why);
  EXPECT_EQ(reason(k, "resources.accum_vgpr"), why);
  EXPECT_EQ(k.occupancy, std::nullopt);
  EXPECT_EQ(reason(k, "occupancy.theoretical"), "the register count is missing");
}

TEST_F(Registers, OfGfx950AreDoubledWhenTheGranuleShowsIt) {
  kernel("gfx950", {.arch_vgprs = 16}, "3");
  also_loaded({.arch_vgprs = 12});  // the hardware allocates in eights
  const Kernel k = again();
  EXPECT_EQ(k.resources.vgprs, 32);
  EXPECT_EQ(k.resources.arch_vgprs, std::nullopt);
  EXPECT_EQ(k.resources.accum_vgprs, std::nullopt);
  const std::string why = "this recorder does not know how gfx950 splits its registers";
  EXPECT_EQ(reason(k, "resources.arch_vgpr"), why);
  EXPECT_EQ(reason(k, "resources.accum_vgpr"), why);
  ASSERT_EQ(k.assumptions.size(), 1U);
  EXPECT_TRUE(k.assumptions[0].starts_with("vgpr_per_thread is twice the recorded count"));
  EXPECT_DOUBLE_EQ(k.occupancy.value().resident.occupancy, 1);
}

TEST_F(Registers, OfGfx950AreAsRecordedWithAccumulationRegisters) {
  kernel("gfx950", {.arch_vgprs = 16}, "3");
  also_loaded({.arch_vgprs = 12, .accum_vgprs = 4});
  EXPECT_EQ(again().resources.vgprs, 16);
}

TEST_F(Registers, OfGfx950AreAsRecordedByANewRecorder) {
  EXPECT_EQ(kernel("gfx950", {.arch_vgprs = 12}, "3.0.1").resources.vgprs, 12);
}

TEST_F(Registers, OfOtherArchitecturesAreAsRecordedByAnOldRecorder) {
  EXPECT_EQ(kernel("gfx942", {.arch_vgprs = 12}, "3").resources.vgprs, 12);
}

TEST_F(Registers, AreJudgedPerRecording) {
  kernel("gfx950", {.arch_vgprs = 16}, "3");
  b_.source(std::nullopt, "3.0.1");
  const Index k2 = b_.kernel("new", {.arch_vgprs = 12, .code_object = b_.code_object()});
  b_.dispatch(k2, {.start = 20, .duration = 50});
  const RegisterRules rules = find_register_rules(b_.trace);
  EXPECT_EQ(rules, (RegisterRules{RegisterRule::uncertain, RegisterRule::as_recorded}));
}

TEST_F(Registers, ThatCannotBeAreMissing) {
  for (const std::int64_t arch : {INT64_C(-1), INT64_C(4097), INT64_MAX}) {
    b_ = {};
    const Kernel k = kernel("gfx950", {.arch_vgprs = arch, .accum_vgprs = 4}, "3");
    EXPECT_EQ(k.resources.vgprs, std::nullopt);
    EXPECT_EQ(reason(k, "resources.vgpr_per_thread"),
              "the recording has no register counts for this kernel");
  }
}

TEST_F(Registers, ThatAreNullAreMissing) {
  const Kernel k = kernel("gfx942", {.arch_vgprs = {}, .accum_vgprs = {}, .sgprs = {}});
  EXPECT_EQ(reason(k, "resources.vgpr_per_thread"),
            "the recording has no register counts for this kernel");
  EXPECT_EQ(reason(k, "resources.arch_vgpr"), "the recording does not hold it");
  EXPECT_EQ(reason(k, "resources.sgpr_per_wave"), "the recording does not hold it");
}

TEST_F(Registers, OfAKernelWithoutASymbolAreMissing) {
  const Kernel k = kernel("gfx942", {.mangled = "",
                                     .arch_vgprs = {},
                                     .accum_vgprs = {},
                                     .sgprs = {},
                                     .static_lds = {},
                                     .kernarg = {},
                                     .known = false});
  for (const char* field : {"sgpr_per_wave", "static_lds_bytes", "dynamic_lds_bytes",
                            "kernarg_bytes", "arch_vgpr", "accum_vgpr"})
    EXPECT_EQ(reason(k, std::string("resources.") + field),
              "the recording has no symbol row for this kernel");
  EXPECT_EQ(reason(k, "mangled_name"), "the recording has no symbol row for this kernel");
  EXPECT_EQ(k.resources.lds_bytes, 0);  // the dispatch knows these
  EXPECT_EQ(k.resources.scratch_bytes, 0);
}

TEST_F(Registers, OfAKernelWithoutAMangledNameAreThere) {
  const Kernel k = kernel("gfx942", {.mangled = ""});
  EXPECT_EQ(reason(k, "mangled_name"), "the recording does not hold it");
  EXPECT_EQ(k.resources.vgprs, 32);
}

TEST_F(Memory, DynamicLdsIsWhatTheDispatchHasBeyondTheKernel) {
  const Kernel k = kernel(
      "gfx942", {.static_lds = 1024}, "3.0.1",
      {.workgroup = {256, 1, 1}, .grid = {256, 1, 1}, .lds_bytes = 5120, .scratch_bytes = 48});
  EXPECT_EQ(k.resources.lds_bytes, 5120);
  EXPECT_EQ(k.resources.static_lds_bytes, 1024);
  EXPECT_EQ(k.resources.dynamic_lds_bytes, 4096);
  EXPECT_EQ(k.resources.scratch_bytes, 48);
  EXPECT_EQ(k.resources.kernarg_bytes, 64);
}

TEST_F(Memory, DynamicLdsIsMissingWhenTheKernelHasMoreThanTheDispatch) {
  const Kernel k = kernel("gfx942", {.static_lds = 1024});
  EXPECT_EQ(k.resources.static_lds_bytes, 1024);
  EXPECT_EQ(k.resources.dynamic_lds_bytes, std::nullopt);
  EXPECT_EQ(reason(k, "resources.dynamic_lds_bytes"),
            "the recording gives the dispatch less LDS than the kernel's static part");
}

TEST_F(Workgroups, RoundUpOnEveryAxis) {
  const Kernel k = kernel("gfx942", {}, "3.0.1", {.workgroup = {64, 2, 1}, .grid = {65, 4, 3}});
  EXPECT_EQ(k.workgroups, 2U * 2U * 3U);
}

TEST_F(Workgroups, OfSizeZeroAreMissing) {
  const Kernel k = kernel("gfx942", {}, "3.0.1", {.workgroup = {0, 1, 1}, .grid = {64, 1, 1}});
  EXPECT_EQ(k.workgroups, std::nullopt);
  EXPECT_EQ(reason(k, "launch.workgroups"), "the recorded work-group size is 0");
  EXPECT_EQ(k.occupancy, std::nullopt);
  EXPECT_EQ(reason(k, "occupancy.theoretical"), "a work-group of 0 work-items cannot be launched");
}

TEST_F(Workgroups, BeyondAnyCountAreMissing) {
  for (const std::uint32_t z : {1U, 0xFFFF'FFFFU}) {
    b_ = {};
    const Kernel k = kernel("gfx942", {}, "3.0.1",
                            {.workgroup = {1, 1, 1}, .grid = {0xFFFF'FFFF, 0xFFFF'FFFF, z}});
    EXPECT_EQ(k.workgroups, std::nullopt);
    EXPECT_EQ(reason(k, "launch.workgroups"),
              "the recorded grid has more work-groups than fit 63 bits");
  }
}

TEST_F(GpuFacts, OfTheRecordingGoFirst) {
  b_.source();
  b_.agent("gfx942", "AMD Instinct MI300X");
  AgentFacts& facts = b_.trace.agents[0].facts;
  facts.compute_units = 38;
  facts.xcc_count = 1;
  facts.wave_size = 64;
  facts.clock_mhz = 1900;
  b_.dispatches(b_.kernel("k"), {5});
  const Gpu gpu = again().gpu;
  EXPECT_EQ(gpu.architecture, "gfx942");
  EXPECT_EQ(gpu.product, "AMD Instinct MI300X");
  EXPECT_EQ(gpu.compute_units, 38);
  EXPECT_EQ(gpu.xcc_count, 1);
  EXPECT_EQ(gpu.clock_mhz, 1900);
  EXPECT_EQ(gpu.facts_from, "recording");
}

TEST_F(GpuFacts, OfTheTablesFillGaps) {
  b_.source();
  b_.agent("gfx942", "AMD Instinct MI300X");
  b_.trace.agents[0].facts.compute_units = 38;
  b_.dispatches(b_.kernel("k"), {5});
  const Gpu gpu = again().gpu;
  EXPECT_EQ(gpu.compute_units, 38);
  EXPECT_EQ(gpu.xcc_count, 8);
  EXPECT_EQ(gpu.wave_size, 64);
  EXPECT_EQ(gpu.clock_mhz, 2100);
  EXPECT_EQ(gpu.facts_from, "recording and hal");
}

TEST_F(GpuFacts, FindTheProductByItsPciId) {
  b_.source();
  b_.agent("gfx950", "some driver's name");
  b_.trace.agents[0].uuid = 0x75a0;
  b_.dispatches(b_.kernel("k"), {5});
  const Gpu gpu = again().gpu;
  EXPECT_EQ(gpu.product, "AMD Instinct MI350X");
  EXPECT_EQ(gpu.compute_units, 256);
  EXPECT_EQ(gpu.facts_from, "hal");
}

TEST_F(GpuFacts, ThatDifferFromTheTablesAreNamedAndUsed) {
  b_.source();
  b_.agent("gfx942", "AMD Instinct MI300X");
  AgentFacts& facts = b_.trace.agents[0].facts;
  facts = {.compute_units = 320,
           .xcc_count = 8,
           .simds_per_cu = 4,
           .wave_size = 64,
           .max_waves_per_simd = 8,
           .max_waves_per_cu = 32,
           .lds_bytes_per_cu = 65536,
           .clock_mhz = 2100,
           .target_version = 90402,
           .device_id = 0x74a1};
  b_.dispatches(b_.kernel("k"), {5});
  const Gpu gpu = again().gpu;
  EXPECT_EQ(gpu.compute_units, 320);
  EXPECT_EQ(gpu.differences, (std::vector<TableDifference>{{"compute_units", 320, 304}}));
  facts.compute_units = 304;
  EXPECT_TRUE(again().gpu.differences.empty());
  facts = {.compute_units = 38,
           .xcc_count = 1,
           .simds_per_cu = 2,
           .wave_size = 32,
           .max_waves_per_simd = 10,
           .max_waves_per_cu = 40,
           .lds_bytes_per_cu = 163840,
           .clock_mhz = 1900,
           .target_version = 90500,
           .device_id = {}};
  EXPECT_EQ(again().gpu.differences,
            (std::vector<TableDifference>{{"compute_units", 38, 304},
                                          {"xcc_count", 1, 8},
                                          {"clock_mhz", 1900, 2100},
                                          {"wave_size", 32, 64},
                                          {"simds_per_cu", 2, 4},
                                          {"max_waves_per_simd", 10, 8},
                                          {"max_waves_per_cu", 40, 32},
                                          {"lds_bytes_per_cu", 163840, 65536},
                                          {"target_version", 90500, 90402}}));
}

TEST_F(GpuFacts, DifferencesFromFiguresWithoutASourceSaySo) {
  b_.source();
  b_.agent("gfx942", "AMD Instinct MI300A");
  AgentFacts& facts = b_.trace.agents[0].facts;
  facts.clock_mhz = 1900;
  facts.compute_units = 76;
  b_.dispatches(b_.kernel("k"), {5});
  EXPECT_EQ(again().gpu.differences,
            (std::vector<TableDifference>{{"compute_units", 76, 228, true},
                                          {"clock_mhz", 1900, 2100, false}}));
  EXPECT_TRUE(again().assumptions.empty()) << "the tables' clock is not used";
  b_ = {};
  b_.source();
  b_.agent("gfx908");
  b_.trace.agents[0].facts.max_waves_per_simd = 8;
  b_.dispatches(b_.kernel("k"), {5});
  EXPECT_EQ(again().gpu.differences,
            (std::vector<TableDifference>{{"max_waves_per_simd", 8, 10, false}}));
}

TEST_F(GpuFacts, OfTheTablesWithoutASourceAreAssumptions) {
  b_.source();
  b_.agent("gfx942", "AMD Instinct MI300A");
  b_.dispatches(b_.kernel("k"), {5});
  EXPECT_EQ(again().gpu.clock_mhz, 2100);
  EXPECT_EQ(again().assumptions,
            std::vector<std::string>{
                "gpu: the tables have no source for max_clock_mhz of AMD Instinct MI300A"});
}

TEST_F(GpuFacts, OfAPciIdOfTwoProductsFollowTheName) {
  for (const auto& [name, cus] :
       {std::pair{"AMD Instinct MI250X", std::optional<std::int64_t>(110)},
        std::pair{"AMD Instinct MI250", std::optional<std::int64_t>(104)},
        std::pair{"AMD Instinct MI250X / MI250", std::optional<std::int64_t>()}}) {
    b_ = {};
    b_.source();
    b_.agent("gfx90a", name);
    b_.trace.agents[0].facts.device_id = 0x740c;
    b_.dispatches(b_.kernel("k"), {5});
    EXPECT_EQ(again().gpu.compute_units, cus) << name;
    EXPECT_EQ(again().gpu.product, name);
  }
}

TEST_F(GpuFacts, ThatNobodyRecordedOrTabulatedDoNotDiffer) {
  EXPECT_TRUE(kernel("gfx942", {}).gpu.differences.empty());
  b_ = {};
  b_.source();
  b_.agent("gfx9999", "AMD Instinct MI300X");
  b_.trace.agents[0].facts.compute_units = 12;
  b_.trace.agents[0].facts.wave_size = 32;
  b_.dispatches(b_.kernel("k"), {5});
  EXPECT_TRUE(again().gpu.differences.empty());
}

TEST_F(GpuFacts, AreNotThoseOfAProductOfAnotherArchitecture) {
  b_.source();
  b_.agent("gfx942", "AMD Instinct MI350X");
  b_.dispatches(b_.kernel("k"), {5});
  const Kernel k = again();
  EXPECT_EQ(k.gpu.product, "AMD Instinct MI350X");  // what the recording says
  EXPECT_EQ(k.gpu.compute_units, std::nullopt);
  EXPECT_EQ(reason(k, "gpu.compute_units"),
            "neither the recording nor the tables of this version have it for this agent");
}

TEST_F(GpuFacts, NameTheArchitectureWithoutItsFeatures) {
  EXPECT_EQ(kernel("gfx90a:sramecc+:xnack-", {}).gpu.architecture, "gfx90a");
}

TEST_F(GpuFacts, TakeTheArchitectureFromTheTargetVersion) {
  b_.source();
  b_.agent("Some Radeon");
  b_.trace.agents[0].facts.target_version = 100300;
  b_.dispatches(b_.kernel("k"), {5});
  EXPECT_EQ(again().gpu.architecture, "gfx1030");
}

TEST_F(GpuFacts, OfAnUnknownArchitectureAreMissingNotANeighbours) {
  const Kernel k = kernel("gfx9999", {});
  EXPECT_EQ(k.gpu.architecture, "gfx9999");
  EXPECT_EQ(k.gpu.wave_size, std::nullopt);
  EXPECT_EQ(k.occupancy, std::nullopt);
  EXPECT_EQ(reason(k, "occupancy.theoretical"),
            "unknown architecture gfx9999: its register files, LDS, occupancy and peaks are "
            "missing from the tables");
  for (const char* field : {"compute_units", "xcc_count", "wave_size", "clock_mhz", "product"})
    EXPECT_NE(reason(k, std::string("gpu.") + field), "") << field;
}

TEST_F(GpuFacts, OfADispatchWithoutAnAgentAreMissing) {
  b_.source();
  b_.dispatches(b_.kernel("k"), {5});
  const Kernel k = again();
  EXPECT_EQ(k.gpu.architecture, "");
  EXPECT_EQ(reason(k, "gpu"), "the dispatch names no agent of the recording");
  EXPECT_EQ(reason(k, "occupancy.theoretical"), "the dispatch names no GPU agent");
}

TEST_F(GpuFacts, OfANamelessAgentAreMissing) {
  const Kernel k = kernel("", {});
  EXPECT_EQ(reason(k, "gpu"), "the agent has no name in the recording");
}

TEST_F(OccupancyOfTrace, IsFullForASmallKernel) {
  const Kernel k = kernel("gfx942", {.arch_vgprs = 32, .sgprs = 32});
  const hal::Occupancy& o = k.occupancy.value();
  EXPECT_EQ(o.wave_size, 64);
  EXPECT_EQ(o.mode, hal::WorkgroupMode::cu);
  EXPECT_DOUBLE_EQ(o.resident.occupancy, 1);
  EXPECT_EQ(o.resident.workgroups_per_cu, 8);
  EXPECT_EQ(o.resident.limiters, std::vector<hal::Limiter>{hal::Limiter::waves});
}

TEST_F(OccupancyOfTrace, IsLimitedByRegisters) {
  const Kernel k = kernel("gfx90a", {.arch_vgprs = 128, .accum_vgprs = 0});
  EXPECT_DOUBLE_EQ(k.occupancy.value().resident.occupancy, 0.5);
  EXPECT_EQ(k.occupancy->resident.limiters, std::vector<hal::Limiter>{hal::Limiter::vgpr});
}

TEST_F(OccupancyOfTrace, IsLimitedByTheLdsOfTheDispatch) {
  // 40000 bytes of 65536: one work-group of four waves per CU, one wave per SIMD of eight.
  const Kernel k = kernel("gfx942", {.static_lds = 0}, "3.0.1",
                          {.workgroup = {256, 1, 1}, .grid = {2560, 1, 1}, .lds_bytes = 40'000});
  EXPECT_DOUBLE_EQ(k.occupancy.value().resident.occupancy, 0.125);
  EXPECT_EQ(k.occupancy->resident.limiters, std::vector<hal::Limiter>{hal::Limiter::lds});
  // The compiler's model knows static LDS only.
  EXPECT_DOUBLE_EQ(k.occupancy->llvm.occupancy, 1);
}

TEST_F(OccupancyOfTrace, IsMissingForALaunchThatCannotBe) {
  const Kernel k = kernel("gfx942", {}, "3.0.1", {.workgroup = {2048, 1, 1}, .grid = {2048, 1, 1}});
  EXPECT_EQ(reason(k, "occupancy.theoretical"),
            "a work-group of 2048 work-items is more than the 1024 of gfx942");
  const Kernel huge = [&] {
    b_ = {};
    return kernel("gfx942", {}, "3.0.1",
                  {.workgroup = {0xFFFF'FFFF, 0xFFFF'FFFF, 0xFFFF'FFFF}, .grid = {1, 1, 1}});
  }();
  EXPECT_EQ(reason(huge, "occupancy.theoretical"), "the work-group size is out of range");
}

TEST_F(OccupancyOfTrace, SaysWhatItAssumesWhereWavesHaveTwoSizes) {
  const Kernel k = kernel("gfx1030", {.arch_vgprs = 32, .sgprs = 128});
  ASSERT_TRUE(k.occupancy);
  EXPECT_EQ(k.occupancy->wave_size, 32);
  EXPECT_EQ(k.assumptions,
            std::vector<std::string>{"a trace does not say a kernel's wave size and work-group "
                                     "mode: wave32 and wgp mode are taken"});
}

TEST_F(OccupancyOfTrace, NamesTheLimitsWithoutASource) {
  const Kernel k = kernel("gfx908", {.arch_vgprs = 4, .sgprs = 16});
  EXPECT_EQ(k.assumptions,
            std::vector<std::string>{"occupancy: the tables have no source for "
                                     "compute_unit.max_waves_per_simd.hardware of gfx908"});
}

/// A trace of one dispatch on an agent with these facts.
TraceBuilder on_agent(const std::string& gfx, const AgentFacts& facts,
                      const TraceBuilder::KernelOptions& options = {}) {
  TraceBuilder b;
  b.source();
  b.agent(gfx);
  b.trace.agents[0].facts = facts;
  b.dispatch(b.kernel("k", options), {.start = 10, .duration = 5});
  return b;
}

TEST_F(OccupancyOfTrace, TakesTheLimitsOfTheAgent) {
  AgentFacts facts;
  facts.max_waves_per_simd = 6;
  b_ = on_agent("gfx942", facts);
  const hal::Occupancy o = again().occupancy.value();
  EXPECT_EQ(o.resident.max_waves_per_simd, 6);
  EXPECT_EQ(o.resident.waves_per_simd, 6);
  EXPECT_EQ(o.llvm.max_waves_per_simd, 8) << "the compiler never saw the agent";
  EXPECT_EQ(o.hip.max_waves_per_simd, 8) << "nor does the runtime ask it";
  facts = {};
  facts.simds_per_cu = 2;
  b_ = on_agent("gfx942", facts);
  EXPECT_EQ(again().occupancy.value().resident.workgroups_per_cu, 4);
  facts = {};
  facts.lds_bytes_per_cu = 32768;
  b_ = on_agent("gfx942", facts);
  b_.trace.launch_configs[0].lds_bytes = 16384;
  EXPECT_EQ(again().occupancy.value().resident.workgroups_per_cu, 2);
  EXPECT_EQ(again().occupancy->hip.workgroups_per_cu, 2);
  EXPECT_TRUE(again().assumptions.empty());
}

TEST_F(OccupancyOfTrace, TheAgentsWaveSlotsNeedNoSourceOfTheTables) {
  AgentFacts facts;
  facts.max_waves_per_simd = 10;
  b_ = on_agent("gfx908", facts, {.arch_vgprs = 4, .sgprs = 16});
  EXPECT_EQ(again().occupancy.value().resident.max_waves_per_simd, 10);
  EXPECT_TRUE(again().assumptions.empty());
}

TEST_F(OccupancyOfTrace, LimitsThatCannotBeAreNotTaken) {
  AgentFacts facts;
  facts.max_waves_per_simd = 0;
  facts.simds_per_cu = -4;
  facts.lds_bytes_per_cu = INT64_C(1) << 40;
  b_ = on_agent("gfx942", facts);
  EXPECT_EQ(again().occupancy.value().resident.max_waves_per_simd, 8);
  EXPECT_EQ(again().assumptions,
            (std::vector<std::string>{
                "occupancy: the agent records max_waves_per_simd 0, which cannot be: the 8 of "
                "gfx942 is taken",
                "occupancy: the agent records simds_per_cu -4, which cannot be: the 4 of gfx942 is "
                "taken",
                "occupancy: the agent records lds_bytes_per_cu 1099511627776, which cannot be: the "
                "65536 of gfx942 is taken"}));
}

TEST_F(OccupancyOfTrace, AWaveSizeThatTheArchitectureLacksIsNotTaken) {
  AgentFacts facts;
  facts.wave_size = 32;
  b_ = on_agent("gfx942", facts);
  EXPECT_EQ(again().occupancy.value().wave_size, 64);
  EXPECT_EQ(again().assumptions, std::vector<std::string>{"the agent records waves of 32, gfx942 "
                                                          "has none: 64 is taken"});
}

TEST_F(OccupancyOfTrace, SaysWhereTheSgprGranuleHidesTheLlvmFigure) {
  b_ = on_agent("gfx942", {}, {.sgprs = 112});
  EXPECT_EQ(again().occupancy.value().llvm.waves_per_simd, 7);
  EXPECT_EQ(again().assumptions,
            std::vector<std::string>{"occupancy: 97 to 112 SGPRs are recorded as 112: with the "
                                     "fewest, llvm is 8 waves per SIMD"});
  b_ = on_agent("gfx942", {}, {.arch_vgprs = 72, .sgprs = 112});
  EXPECT_TRUE(again().assumptions.empty()) << "VGPRs decide";
}

TEST_F(OccupancyOfTrace, TakesTheWaveSizeOfTheAgentWhereThatCanBe) {
  for (const auto& [recorded, taken] :
       {std::pair{INT64_C(64), 64}, std::pair{INT64_C(32), 32}, std::pair{INT64_C(16), 32},
        std::pair{(INT64_C(1) << 32) + 64, 32}}) {
    b_ = {};
    b_.source();
    b_.agent("gfx1030");
    b_.trace.agents[0].facts.wave_size = recorded;
    b_.dispatches(b_.kernel("k"), {5});
    EXPECT_EQ(again().occupancy.value().wave_size, taken) << recorded;
  }
}

/// CSV tables: no LDS of dispatches, and no code object that --code could be recognised by.
TEST_F(Memory, OfTablesIsNotKnownAndCodeDoesNotHelp) {
  (void)kernel("gfx942", {.arch_vgprs = 8, .accum_vgprs = 0, .sgprs = 16});
  b_.trace.sources[0].lds_known = false;
  b_.trace.kernel_symbols[0].static_lds_bytes.reset();
  const Kernel k = again();
  EXPECT_EQ(k.resources.lds_bytes, std::nullopt);
  EXPECT_EQ(k.occupancy, std::nullopt);
  EXPECT_EQ(reason(k, "resources.lds_bytes_per_workgroup"), "the recording does not hold it");
  EXPECT_EQ(reason(k, "occupancy.theoretical"),
            "the recording does not hold the LDS of dispatches");
  for (const Missing& missing : k.missing)
    if (missing.field.contains("lds") || missing.field.starts_with("occupancy.")) {
      EXPECT_EQ(missing.remedy, "record with rocprofv3 -f rocpd or -f json") << missing.field;
    }
}

TEST_F(OccupancyOfTrace, EveryMissingFieldHasAnEntry) {
  const Kernel k = kernel("gfx9999", {});
  for (const char* field : {"theoretical", "wave_size", "mode", "models"})
    EXPECT_NE(reason(k, std::string("occupancy.") + field), "") << field;
}

}  // namespace
}  // namespace perflab::analyze
