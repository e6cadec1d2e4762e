// Features with values worked out by hand: from traces made row by row, from figures of counters
// and thread traces, and from recorded counters of vecCopy.
#include "analyze/bottleneck/features.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "analyze/bottleneck/bottleneck_checks.h"
#include "analyze/pipeline.h"
#include "analyze/trace_builder.h"

namespace perflab::analyze {
namespace {

namespace fs = std::filesystem;
using enum FeatureId;

/// Verdicts of a trace as analyze_trace() and find_bottlenecks() give them.
Bottlenecks bottlenecks_of(const trace::Trace& trace) {
  const Analysis analysis = analyze_trace(trace);
  return find_bottlenecks(trace, find_timing_scope(trace, find_passes(trace)), analysis);
}

const KernelBottleneck& kernel_named(const Bottlenecks& all, std::string_view name) {
  static const KernelBottleneck kNone;
  for (const KernelBottleneck& kernel : all.kernels)
    if (kernel.kernel == name) return kernel;
  ADD_FAILURE() << name << " has no verdict";
  return kNone;
}

class TraceFeatures : public testing::Test {
 protected:
  TraceFeatures() {
    b_.source();
    b_.agent("gfx942", "AMD Instinct MI300X");  // 304 CUs of 32 wave slots
  }
  TraceBuilder b_;
};

TEST_F(TraceFeatures, IdleBeforeIsOfTheWholeGpu) {
  const auto a = b_.kernel("a");
  const auto b = b_.kernel("b");
  const auto first = b_.queue();
  const auto second = b_.queue();
  b_.dispatch(a, {.start = 1000, .duration = 100, .queue = first});   // first of the GPU: left out
  b_.dispatch(b, {.start = 1050, .duration = 500, .queue = second});  // overlaps: idle 0
  b_.dispatch(a, {.start = 1600, .duration = 100, .queue = first});   // 50 after b's end at 1550
  b_.dispatch(a, {.start = 2000, .duration = 100, .queue = first});   // 300
  b_.dispatch(b, {.start = 2050, .duration = 10, .queue = second});   // inside: 0
  b_.dispatch(a, {.start = 2700, .duration = 100, .queue = first});   // 600 after 2100, not 640
  const Bottlenecks all = bottlenecks_of(b_.trace);
  const FeatureSet& of_a = kernel_named(all, "a").features;
  EXPECT_EQ(of_a[dispatch_count].value, 4.0);
  EXPECT_EQ(of_a[dispatch_median].value, 100.0);
  EXPECT_EQ(of_a[idle_before].value, 300.0 / 400);  // median idle of 50, 300, 600
  EXPECT_EQ(of_a[idle_before].from, "median of 3 dispatches: 300 ns idle, 100 ns running");
  EXPECT_EQ(kernel_named(all, "b").features[idle_before].value, 0.0);
}

TEST_F(TraceFeatures, IdleBeforeIsPerGpu) {
  const auto k = b_.kernel("k");
  b_.dispatch(k, {.start = 1000, .duration = 100});
  b_.agent("gfx942", "AMD Instinct MI300X");
  b_.dispatch(k, {.start = 1050, .duration = 100});  // first of its GPU
  b_.dispatch(k, {.start = 1450, .duration = 100});
  const FeatureSet features = kernel_named(bottlenecks_of(b_.trace), "k").features;
  EXPECT_EQ(features[idle_before].value, 300.0 / 400);
}

TEST_F(TraceFeatures, OneDispatchHasNothingBeforeIt) {
  b_.dispatch(b_.kernel("k"), {.start = 1000, .duration = 100});
  const Feature feature = kernel_named(bottlenecks_of(b_.trace), "k").features[idle_before];
  EXPECT_FALSE(feature.value);
  EXPECT_FALSE(feature.reason.empty());
  EXPECT_TRUE(feature.remedy.empty());  // no other recording of it would have one
}

TEST_F(TraceFeatures, WorkIsComparedWithWhatTheGpuCanHold) {
  TraceBuilder::KernelOptions options;
  options.arch_vgprs = 256;  // 512 registers of a SIMD: 2 waves, 8 of a CU
  b_.dispatch(
      b_.kernel("k", options),
      {.start = 1000,
       .duration = 50'000,
       .config = {
           .workgroup = {100, 2, 1}, .grid = {1000, 2, 1}, .lds_bytes = 0, .scratch_bytes = 16}});
  const KernelBottleneck kernel = kernel_named(bottlenecks_of(b_.trace), "k");
  const FeatureSet& features = kernel.features;
  // 10 work-groups of 200 work-items, 4 waves each.
  EXPECT_DOUBLE_EQ(*features[work_per_cu].value, 10.0 / 304);
  EXPECT_DOUBLE_EQ(*features[theoretical_occupancy].value, 2.0 / 8);
  EXPECT_DOUBLE_EQ(*features[work_fill].value, 40.0 / (304 * 8));
  EXPECT_EQ(features[scratch_bytes].value, 16.0);
  EXPECT_EQ(kernel.verdict, Bottleneck::under_occupied);
  EXPECT_EQ(kernel.architecture, "gfx942");
  EXPECT_EQ(features[hbm_share].reason, "no hardware counters were collected");
  EXPECT_FALSE(features[hbm_share].remedy.empty());
}

TEST_F(TraceFeatures, ManyTinyLaunchesAreLaunchBound) {
  const auto k = b_.kernel("tiny");
  for (int i = 0; i < 100; ++i)
    b_.dispatch(
        k, {.start = 1000 + i * 10'000,
            .duration = 2000,
            .config = {
                .workgroup = {64, 1, 1}, .grid = {64, 1, 1}, .lds_bytes = 0, .scratch_bytes = 0}});
  const KernelBottleneck kernel = kernel_named(bottlenecks_of(b_.trace), "tiny");
  EXPECT_EQ(kernel.verdict, Bottleneck::launch);
  EXPECT_EQ(kernel.features[idle_before].value, 0.8);
  EXPECT_EQ(kernel.candidates[0].held[0].rule->id, "launch.gaps");
}

TEST_F(TraceFeatures, RuntimeHelpersAreLeftOutUnlessAlone) {
  b_.dispatch(b_.kernel("__amd_rocclr_fillBuffer"), {.start = 1000, .duration = 100});
  EXPECT_EQ(bottlenecks_of(b_.trace).kernels.size(), 1U);
  b_.dispatch(b_.kernel("k"), {.start = 2000, .duration = 100});
  const Bottlenecks all = bottlenecks_of(b_.trace);
  ASSERT_EQ(all.kernels.size(), 1U);
  EXPECT_EQ(all.kernels[0].kernel, "k");
}

TEST_F(TraceFeatures, KernelsBeyondTheMostAreCounted) {
  for (int i = 0; i < 53; ++i)
    b_.dispatch(b_.kernel(fmt::format("k{}", i)), {.start = 1000 + i * 1000, .duration = 100 + i});
  const Bottlenecks all = bottlenecks_of(b_.trace);
  EXPECT_EQ(all.kernels.size(), kMostBottlenecks);
  EXPECT_EQ(all.left_out, 3U);
  EXPECT_EQ(all.kernels.front().kernel, "k52");  // most time first
}

Figure figure(std::string name, double value) {
  Figure made;
  made.name = std::move(name);
  made.value = value;
  made.state = CounterState::measured;
  made.formula = "A/B";
  made.passes = {2};
  return made;
}

LevelTraffic level(std::string name, double bytes, double ceiling, double ns) {
  LevelTraffic made;
  made.name = std::move(name);
  made.bytes = bytes;
  made.gb_per_s = bytes / ns;
  made.ceiling.value = ceiling;
  made.ceiling.unit = "GB/s";
  made.share = bytes / ns / ceiling;
  return made;
}

/// 1 us; 2 MB at 5000 GB/s (400 ns), 100 MFLOP at 1000 GFLOP/s... of which 100 ns.
KernelRoofline some_roofline() {
  KernelRoofline made;
  made.kernel = "k";
  made.architecture = "gfx942";
  made.dispatches = 3;
  made.time_ns = 1000;
  made.time_from = "trace";
  made.levels = {level("hbm", 2e6, 5000, 1000), level("l2", 3e6, 30'000, 1000),
                 level("lds", 0, 80'000, 1000)};
  Work work;
  work.flops = figure("vector.fp32", 1e7);
  work.ceiling.value = 1e5;
  made.work = {work};
  made.flops_raw = 1e7;
  made.flops_are = "lane-corrected";
  made.gflops = 1e4;
  made.compute_roof.value = 1e5;
  made.compute_share = 0.1;
  made.binding = {.roof = "hbm", .bound = "memory", .attainable_gflops = {}, .share = 0.4};
  made.features = {figure("wave_time.dependency", 75), figure("lanes", 16),
                   figure("occupancy.busy_cus_waves", 24), figure("cu.busy", 98)};
  Figure scattered = figure("issue.valu", 0);
  scattered.value.reset();
  scattered.state = CounterState::missing;
  scattered.across_passes = 55;
  scattered.reason = "its counters are in passes 1 and 2";
  scattered.remedy = "collect them in one pass";
  made.features.push_back(scattered);
  return made;
}

TEST(CounterFeatures, AreSharesOfTheirRoofs) {
  const FeatureSet set = features_of_roofline(some_roofline());
  EXPECT_DOUBLE_EQ(*set[hbm_share].value, 0.4);
  EXPECT_EQ(set[hbm_share].from, "2000 of 5000 GB/s; times: trace");
  EXPECT_DOUBLE_EQ(*set[l2_share].value, 0.1);
  EXPECT_EQ(set[lds_share].value, 0.0);
  EXPECT_DOUBLE_EQ(*set[compute_share].value, 0.1);
  EXPECT_DOUBLE_EQ(*set[nearest_roof].value, 0.4);
  EXPECT_EQ(set[integer_share].value, 0.0);
  EXPECT_DOUBLE_EQ(*set[memory_side].value, 400.0 / 500);  // 400 ns of bytes, 100 ns of FLOP
  EXPECT_EQ(
      set[memory_side].from,
      "400 ns at the memory roof, 100 ns at the floating-point roof, of 3 dispatches together");
  EXPECT_DOUBLE_EQ(*set[wait_dependency].value, 0.75);
  EXPECT_EQ(set[wait_dependency].from, "A/B, pass 2");
  EXPECT_DOUBLE_EQ(*set[lanes_active].value, 0.25);
  EXPECT_DOUBLE_EQ(*set[busy_cu_occupancy].value, 24.0 / 32);
  EXPECT_FALSE(set[occupancy_reached].value);  // its resources are not known
  EXPECT_DOUBLE_EQ(*set[cu_busy].value, 0.98);
}

TEST(CounterFeatures, AcrossPassesAreNotUsed) {
  const FeatureSet set = features_of_roofline(some_roofline());
  EXPECT_FALSE(set[valu_busy].value);
  EXPECT_EQ(set[valu_busy].reason, "its counters are in passes 1 and 2");
  EXPECT_EQ(set[valu_busy].remedy, "collect them in one pass");
  // No formula: nothing would get it.
  EXPECT_FALSE(set[wait_issue].value);
  EXPECT_TRUE(set[wait_issue].remedy.empty());
}

TEST(CounterFeatures, WithoutAWaveOrAnInstructionAreNone) {
  for (const char* const name : {"SQ_WAVES", "SQ_INSTS"}) {
    KernelRoofline roofline = some_roofline();
    CounterValue counter;
    counter.name = name;
    counter.mean = 1;
    roofline.counters = {counter};
    EXPECT_TRUE(features_of_roofline(roofline)[hbm_share].value);
    roofline.counters[0].mean = 0;
    const FeatureSet set = features_of_roofline(roofline);
    for (const Feature& feature : set.all()) EXPECT_FALSE(feature.value) << info(feature.id).name;
    EXPECT_FALSE(set[lds_share].remedy.empty());
  }
}

TEST(CounterFeatures, OfAnIntegerKernelNameItsRoof) {
  KernelRoofline roofline = some_roofline();
  roofline.binding->roof = "integer";
  roofline.binding->bound = "compute";
  roofline.binding->share = 0.7;
  const FeatureSet set = features_of_roofline(roofline);
  EXPECT_DOUBLE_EQ(*set[integer_share].value, 0.7);
  EXPECT_FALSE(set[memory_side].value);
  EXPECT_EQ(decide(score(set)), Bottleneck::compute_throughput);
}

TEST(CounterFeatures, WithoutFloatingPointWorkComputeIsZero) {
  KernelRoofline roofline = some_roofline();
  roofline.work[0].flops.value = 0;
  roofline.flops_raw = 0;
  roofline.compute_share.reset();
  roofline.compute_roof.value.reset();
  const FeatureSet set = features_of_roofline(roofline);
  EXPECT_EQ(set[compute_share].value, 0.0);
  EXPECT_EQ(set[memory_side].value, 1.0);
  roofline.flops_raw.reset();  // not counted: not zero
  roofline.work[0].flops.value.reset();
  const FeatureSet unknown = features_of_roofline(roofline);
  EXPECT_FALSE(unknown[compute_share].value);
  EXPECT_FALSE(unknown[memory_side].value);
}

/// A trace of one kernel with whole waves, and what analyze_trace() makes of it.
class AnalysisFeatures : public TraceFeatures {
 protected:
  AnalysisFeatures() {
    name_ = b_.kernel("k");
    b_.dispatch(name_, {.start = 1000, .duration = 50'000});
    analysis_ = analyze_trace(b_.trace);
  }
  FeatureSet features() {
    const TimingScope scope = find_timing_scope(b_.trace, find_passes(b_.trace));
    return features_of_kernel(b_.trace, scope, analysis_, 0, nullptr);
  }
  trace::Index name_ = 0;
  Analysis analysis_;
};

TEST_F(AnalysisFeatures, OfCountersAreThoseOfItsOwnGpu) {
  KernelRoofline other = some_roofline();
  other.architecture = "gfx90a";
  other.levels[0].share = 0.9;
  analysis_.roofline.emplace();
  analysis_.roofline->kernels = {other, some_roofline()};
  EXPECT_DOUBLE_EQ(*features()[hbm_share].value, 0.4);
  analysis_.roofline->kernels = {other};
  EXPECT_FALSE(features()[hbm_share].value);
  EXPECT_EQ(features()[hbm_share].reason, "no pass counted this kernel on its GPU");
}

TEST_F(AnalysisFeatures, WavesOfAWholeLaunchAreFull) {
  analysis_.roofline.emplace();
  analysis_.roofline->kernels = {some_roofline()};
  // 256 work-items in work-groups of 4 waves; lanes were counted, partial waves were not.
  EXPECT_EQ(features()[partial_waves].value, 0.0);
  // 24 waves on CUs that have any, of 32: 32 registers let every slot be used.
  EXPECT_DOUBLE_EQ(*features()[occupancy_reached].value, 24.0 / 32);
  analysis_.kernels[0].launch.grid[0] += 8;  // the last work-group is a piece
  EXPECT_FALSE(features()[partial_waves].value);
  analysis_.roofline.reset();  // without lanes it says nothing: no counters, no counter feature
  EXPECT_FALSE(features()[partial_waves].value);
}

// Without registers and LDS every wave slot was taken for one that the kernel can use.
TEST_F(AnalysisFeatures, FillIsOnlyALowerBoundWithoutResources) {
  Kernel& kernel = analysis_.kernels[0];
  kernel.workgroups = 2431;  // of 4 waves: one work-group less than 304 CUs have slots for
  EXPECT_DOUBLE_EQ(*features()[work_fill].value, 2431.0 / 2432);
  kernel.occupancy.reset();
  kernel.gpu.wave_size = 64;
  const FeatureSet set = features();
  EXPECT_FALSE(set[work_fill].value);
  EXPECT_NE(set[work_fill].reason.find("0.999589 of all wave slots"), std::string::npos)
      << set[work_fill].reason;
  EXPECT_EQ(set[work_fill].remedy, "give the program or its code object with --code");
  kernel.workgroups = 2432;
  EXPECT_DOUBLE_EQ(*features()[work_fill].value, 1);
  EXPECT_NE(features()[work_fill].from.find("at least"), std::string::npos);
  kernel.workgroups = 100;  // no verdict from it, but the code is asked for
  EXPECT_EQ(held_by(score(features()), "under_occupied.few_waves"), nullptr);
  EXPECT_TRUE(is_open(score(features()), "under_occupied.few_waves"));
  kernel.missing = {{.field = "occupancy.theoretical", .reason = "it fits nowhere", .remedy = {}}};
  EXPECT_TRUE(features()[work_fill].remedy.empty());
}

TEST_F(AnalysisFeatures, OfTheCriticalPathAreItsLaunchesAndItsKernel) {
  EXPECT_EQ(features()[path_kernel_share].reason, "there is no critical path");
  b_.region("HIP_RUNTIME_API", "hipLaunchKernel", 100, 10);
  b_.region("HIP_RUNTIME_API", "hipMalloc", 200, 10);
  CriticalPath& path = analysis_.critical_path.emplace();
  path.length = 10'000;
  path.spent[static_cast<std::size_t>(Spent::launch_latency)] = 1500;
  path.spent[static_cast<std::size_t>(Spent::host_call)] = 5000;
  PathSegment segment;
  segment.names = {{b_.trace.regions.name[0], 2000}, {b_.trace.regions.name[1], 3000}};
  path.segments = {segment};
  KernelCriticality row;
  row.name = b_.trace.kernel_symbols[name_].name;
  row.path_time = 2500;
  path.kernels = {row};
  EXPECT_DOUBLE_EQ(*features()[path_launch_share].value, 0.35);  // hipMalloc is no launch
  EXPECT_DOUBLE_EQ(*features()[path_kernel_share].value, 0.25);
  path.kernels.clear();
  EXPECT_FALSE(features()[path_kernel_share].value);
}

TEST(ThreadTraceFeatures, AreSharesOfTheWavesTime) {
  KernelThreadTrace traced;
  traced.time = {.issue = 100, .wait = 500, .barrier = 50, .issue_stall = 250, .idle = 100};
  traced.classes = {{.instruction_class = code::InstructionClass::vmem_load,
                     .sums = {.hits = 4, .latency = 220, .stall = 200, .idle = 10}},
                    {.instruction_class = code::InstructionClass::valu,
                     .sums = {.hits = 8, .latency = 60, .stall = 20, .idle = 30}},
                    {.instruction_class = code::InstructionClass::branch,
                     .sums = {.hits = 2, .latency = 30, .stall = 10, .idle = 20}}};
  traced.wait_by_class = {{code::InstructionClass::vmem_load, 380},
                          {code::InstructionClass::smem, 20},
                          {code::InstructionClass::lds, 80}};
  traced.wait_unattributed = 20;
  traced.links = WaitLinks::trace;
  traced.coverage.waves = 4;
  traced.occupancy.emplace();
  traced.occupancy->average = 6;
  traced.occupancy->tail_share = 0.4;
  const FeatureSet set = features_of_thread_trace(traced);
  EXPECT_DOUBLE_EQ(*set[att_issue].value, 0.1);
  EXPECT_DOUBLE_EQ(*set[att_wait].value, 0.5);
  EXPECT_DOUBLE_EQ(*set[att_barrier].value, 0.05);
  EXPECT_DOUBLE_EQ(*set[att_issue_stall].value, 0.25);
  EXPECT_DOUBLE_EQ(*set[att_idle].value, 0.1);
  EXPECT_DOUBLE_EQ(*set[att_memory_wait].value, 0.4);
  EXPECT_DOUBLE_EQ(*set[att_lds_wait].value, 0.08);
  EXPECT_DOUBLE_EQ(*set[att_vmem_stall].value, 0.2);
  EXPECT_DOUBLE_EQ(*set[att_alu].value, 0.06);
  EXPECT_DOUBLE_EQ(*set[att_branch].value, 0.05);
  EXPECT_DOUBLE_EQ(*set[att_tail].value, 0.4);
  EXPECT_DOUBLE_EQ(*set[att_waves_per_cu].value, 6);
  EXPECT_EQ(decide(score(set)), Bottleneck::memory_bandwidth);  // loads are denied to issue
  traced.links = WaitLinks::none;
  traced.coverage.waves = 0;
  traced.occupancy.reset();
  const FeatureSet sums = features_of_thread_trace(traced);
  for (const FeatureId id : {att_memory_wait, att_lds_wait, att_tail, att_waves_per_cu}) {
    EXPECT_FALSE(sums[id].value);
    EXPECT_FALSE(sums[id].reason.empty());
  }
  traced.time = {};
  EXPECT_FALSE(features_of_thread_trace(traced)[att_issue].value);
}

// On gfx9 s_barrier's row holds the message that a wave has arrived beside the wait.
TEST(ThreadTraceFeatures, SumsDoNotTellWaitingAtABarrier) {
  KernelThreadTrace traced;
  traced.time = {.issue = 100, .wait = 0, .barrier = 500, .issue_stall = 300, .idle = 100};
  traced.classes = {{.instruction_class = code::InstructionClass::barrier,
                     .sums = {.hits = 4, .latency = 500, .stall = 480, .idle = 0}}};
  traced.coverage.waves = 4;
  EXPECT_DOUBLE_EQ(*features_of_thread_trace(traced)[att_barrier].value, 0.5);
  EXPECT_EQ(decide(score(features_of_thread_trace(traced))), Bottleneck::latency);
  for (const bool from_stats : {true, false}) {
    traced.from_stats = from_stats;
    traced.coverage.waves = from_stats ? 4 : 0;
    const FeatureSet sums = features_of_thread_trace(traced);
    for (const FeatureId id : {att_barrier, att_issue_stall}) {
      EXPECT_FALSE(sums[id].value);
      EXPECT_EQ(sums[id].reason,
                "sums by instruction do not tell arriving at a barrier from waiting there");
      EXPECT_EQ(sums[id].remedy, "give the ui_output folder of the dispatch");
    }
    EXPECT_DOUBLE_EQ(*sums[att_issue].value, 0.1);
    EXPECT_EQ(decide(score(sums)), Bottleneck::insufficient_data);
  }
  traced.classes[0].sums = {};  // no barrier was executed
  traced.time.barrier = 0;
  EXPECT_EQ(features_of_thread_trace(traced)[att_barrier].value, 0.0);
  EXPECT_DOUBLE_EQ(*features_of_thread_trace(traced)[att_issue_stall].value, 0.6);
}

TEST(ThreadTraceFeatures, WaitsOnNoMemoryCounterAreNotForMemory) {
  KernelThreadTrace traced;  // the only waits are s_nop: there is nothing to link
  traced.time = {.issue = 100, .wait = 400, .barrier = 0, .issue_stall = 0, .idle = 0};
  traced.wait_other = 400;
  traced.links = WaitLinks::none;
  for (const std::uint64_t waves : {4U, 0U}) {
    traced.coverage.waves = waves;
    const FeatureSet set = features_of_thread_trace(traced);
    EXPECT_EQ(set[att_memory_wait].value, 0.0);
    EXPECT_EQ(set[att_lds_wait].value, 0.0);
    EXPECT_DOUBLE_EQ(*set[att_wait].value, 0.8);
  }
  traced.wait_other = 399;  // of sums: one cycle for memory, or for LDS
  EXPECT_FALSE(features_of_thread_trace(traced)[att_memory_wait].value);
  EXPECT_EQ(features_of_thread_trace(traced)[att_memory_wait].remedy,
            "give the ui_output folder of the dispatch");
}

/// A traced dispatch of a kernel that is in no recording; `alu`: cycles of 100 in arithmetic.
KernelThreadTrace traced_alone(std::string mangled, Confidence confidence, std::int64_t alu,
                               std::int64_t cycles = 100) {
  KernelThreadTrace made;
  made.kernel = "k";
  made.mangled_name = std::move(mangled);
  made.confidence = confidence;
  made.coverage.waves = 8;
  made.sums.latency = cycles;
  made.time.issue = cycles;
  made.classes = {{.instruction_class = code::InstructionClass::valu,
                   .sums = {.hits = 1, .latency = alu, .stall = 0, .idle = 0}}};
  return made;
}

TEST(TracedOnly, TheBestTracedDispatchStandsForAKernelInAnyOrder) {
  const std::vector<KernelThreadTrace> all = {traced_alone("_Z1k", Confidence::high, 0, 0),
                                              traced_alone("_Z1k", Confidence::low, 10),
                                              traced_alone("_Z1k", Confidence::medium, 90),
                                              traced_alone("_Z1k", Confidence::medium, 20, 50)};
  std::vector<std::size_t> order = {0, 1, 2, 3};
  do {
    Analysis analysis;
    analysis.thread_traces.emplace();
    for (const std::size_t i : order) analysis.thread_traces->kernels.push_back(all[i]);
    const Bottlenecks found = find_bottlenecks(trace::Trace{}, TimingScope{}, analysis);
    ASSERT_EQ(found.kernels.size(), 1U);
    EXPECT_EQ(order[*found.kernels[0].thread_trace], 2U);
    EXPECT_EQ(found.kernels[0].verdict, Bottleneck::compute_throughput);
  } while (std::ranges::next_permutation(order).found);
}

TEST(TracedOnly, KernelsAreToldApartByTheirNamesInTheCode) {
  Analysis analysis;
  analysis.thread_traces.emplace();
  // The same name for people: two instances whose arguments it does not show; and two without one.
  analysis.thread_traces->kernels = {
      traced_alone("_Z1kIfE", Confidence::high, 90), traced_alone("_Z1kIdE", Confidence::high, 0),
      traced_alone("", Confidence::low, 0), traced_alone("", Confidence::high, 90),
      traced_alone("_Z1kIfE", Confidence::low, 0)};
  const Bottlenecks found = find_bottlenecks(trace::Trace{}, TimingScope{}, analysis);
  ASSERT_EQ(found.kernels.size(), 3U);
  EXPECT_EQ(found.kernels[0].thread_trace, 0U);
  EXPECT_EQ(found.kernels[1].thread_trace, 1U);
  EXPECT_EQ(found.kernels[2].thread_trace, 3U);
  EXPECT_EQ(found.kernels[1].verdict, Bottleneck::insufficient_data);
}

// The stats file says 50.6 % in barriers, the folder of the same dispatch 2.7 %.
TEST(RecordedThreadTraces, AStatsFileMakesNoVerdictOfBarriers) {
  const fs::path data = fs::path(PERFLAB_SHARED_DIR) / "data/att/mi300_shaderdata";
  if (!fs::exists(data))
    GTEST_SKIP() << "skipped: " << data << " is not there (recorded data is kept outside the "
                 << "project)";
  fs::path folder, stats;
  for (const auto& entry : fs::directory_iterator(data)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("ui_output")) folder = entry.path();
    if (name.starts_with("stats")) stats = entry.path();
  }
  const auto verdict = [](const fs::path& place) {
    const auto analyzed = analyze_thread_traces({.threads = 2, .thread_traces = {place}});
    EXPECT_TRUE(analyzed.has_value());
    return analyzed ? analyzed->analysis.bottlenecks.kernels.at(0) : KernelBottleneck{};
  };
  EXPECT_NEAR(verdict(folder).features[att_barrier].value.value_or(1), 0.027, 0.001);
  ASSERT_FALSE(stats.empty());
  const KernelBottleneck sums = verdict(stats);
  EXPECT_FALSE(sums.features[att_barrier].value);
  EXPECT_EQ(sums.verdict, Bottleneck::insufficient_data) << sums.summary;
}

class RecordedVerdicts : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(data_))
      GTEST_SKIP() << "skipped: " << data_ << " is not there (recorded data is kept outside the "
                   << "project)";
  }
  fs::path data_ = fs::path(PERFLAB_SHARED_DIR) / "data";

  KernelBottleneck verdict_of(const std::vector<fs::path>& files) {
    const auto analyzed = analyze_files(files, {.threads = 2});
    EXPECT_TRUE(analyzed.has_value());
    if (!analyzed || analyzed->analysis.bottlenecks.kernels.size() != 1) {
      ADD_FAILURE() << "not one kernel";
      return {};
    }
    return analyzed->analysis.bottlenecks.kernels[0];
  }
};

// vecCopy moves 8 MiB each way and computes nothing (the SOURCE.md files beside the data).
TEST_F(RecordedVerdicts, VecCopyOfMi210IsBoundByMemoryBandwidth) {
  std::vector<fs::path> files;
  for (int pass = 1; pass <= 13; ++pass)
    files.push_back(data_ / fmt::format("rocpd/mi210_vcopy_13_passes/pass_{}/{}_results.db", pass,
                                        1000 + pass));
  const KernelBottleneck kernel = verdict_of(files);
  EXPECT_EQ(kernel.verdict, Bottleneck::memory_bandwidth);
  // 43.1 MiB in 51.84 us, of 1638.4 GB/s.
  EXPECT_NEAR(*kernel.features[hbm_share].value, 43.12 * 1024 * 1024 / 51'840 / 1638.4, 0.001);
  EXPECT_EQ(kernel.features[memory_side].value, 1.0);
  EXPECT_EQ(kernel.features[lanes_active].value, 1.0);
  // 16384 waves of 104 CUs with 32 each.
  EXPECT_DOUBLE_EQ(*kernel.features[work_fill].value, 16'384.0 / (104 * 32));
  EXPECT_FALSE(kernel.features[wait_dependency].value);  // its counters are in two passes
  EXPECT_FALSE(kernel.features[idle_before].value);      // under counters
  EXPECT_NEAR(*kernel.bound.kernel_factor, 1.878, 0.001);
  ASSERT_TRUE(kernel.next);  // waits are not known: latency is not ruled out
  EXPECT_EQ(kernel.next->source, FeatureSource::counters);
  EXPECT_EQ(kernel.history.back().with, FeatureSource::counters);
  EXPECT_EQ(kernel.history.front().verdict, Bottleneck::insufficient_data);
}

// Its timestamps are lost: what is left is that memory is its only roof and CUs are full of waves.
// GRBM_GUI_ACTIVE holds far more than the kernel there (5 % of CU time busy): no verdict from that.
TEST_F(RecordedVerdicts, VecCopyOfMi300xIsBoundByMemoryBandwidthWithoutTimes) {
  const KernelBottleneck kernel = verdict_of({data_ / "pmc/vcopy/MI300X_A1/pmc_perf.csv"});
  EXPECT_EQ(kernel.verdict, Bottleneck::memory_bandwidth);
  EXPECT_EQ(kernel.candidates[0].held[0].rule->id, "bandwidth.full_on_memory_side");
  EXPECT_NEAR(*kernel.features[busy_cu_occupancy].value, 27.84 / 32, 0.001);
  EXPECT_LT(*kernel.features[cu_busy].value, 0.06);
  EXPECT_FALSE(kernel.features[hbm_share].value);
  EXPECT_EQ(kernel.features[hbm_share].reason, "there is no time to divide by");
  EXPECT_FALSE(kernel.bound.kernel_factor);
  ASSERT_TRUE(kernel.next);
  EXPECT_EQ(kernel.next->command, "rocm-perf profile -- ./app");
}

TEST_F(RecordedVerdicts, VecCopyOfMi350) {
  // The merged table lacks channels: bytes beyond L2 are not known, and nothing else decides.
  const KernelBottleneck lacking = verdict_of({data_ / "pmc/vcopy/MI350/pmc_perf.csv"});
  EXPECT_EQ(lacking.verdict, Bottleneck::insufficient_data);
  ASSERT_TRUE(lacking.next);
  EXPECT_EQ(lacking.next->command, "rocm-perf profile --roofline -- ./app");
  // With every channel: 3.46 TB/s of 8.
  const KernelBottleneck kernel =
      verdict_of({data_ / "pmc/vcopy_iteration_multiplexing/MI350/pmc_perf.csv"});
  EXPECT_EQ(kernel.verdict, Bottleneck::memory_bandwidth);
  EXPECT_NEAR(*kernel.features[hbm_share].value, 335'759'360.0 / 97'160 / 8000, 0.0005);
}

}  // namespace
}  // namespace perflab::analyze
