// The table of bottleneck rules, and the names of verdicts. Thresholds stand here and nowhere else,
// each with its reason. Roofline practice: streaming kernels reach 70 to 85 % of the nominal
// bandwidth and tuned GEMMs 60 to 90 % of the nominal rate, so that 60 % counts as near a roof and
// 40 % as the half of what can be had. Counters: docs/facts/counters.md; thread trace:
// docs/facts/thread_trace.md. docs/models/bottleneck_rules.md has the table for readers.
#include "analyze/bottleneck/rules.h"

#include <algorithm>
#include <array>

#include "base/enum_names.h"

namespace perflab::analyze {
namespace {

using enum FeatureId;
using enum Relation;

constexpr std::string_view kNearRoof =
    "what tuned kernels reach of a nominal roof begins at 60 to 70 %";
constexpr std::string_view kHalfOfAttainable =
    "half of the 70 to 85 % of the nominal bandwidth that streaming kernels reach";
constexpr std::string_view kMajority = "more than half of the time goes there";
constexpr std::string_view kShortDispatch =
    "a launch costs some microseconds: it cannot dominate a dispatch much longer than that";
constexpr std::string_view kManyDispatches =
    "single launches have outliers: a pattern needs some repetitions";
constexpr std::string_view kFillsGpu = "there is work for every wave slot that the kernel can use";
constexpr std::string_view kNotPartial =
    "waves that are not full lower the lanes too, without any branch";

constexpr Condition kRoofIsNear = {nearest_roof, at_least, 0.6,
                                   "a roof is near: something is used well"};
constexpr Condition kValuAtWork = {valu_busy, at_least, 0.6, "the vector ALU is at work"};
constexpr Condition kMatrixAtWork = {mfma_busy, at_least, 0.6, "the matrix pipes are at work"};
constexpr Condition kNothingNear = {nearest_roof, below, 0.3, "every roof is far away"};
constexpr Condition kLanesWasted = {lanes_active, below, 0.5,
                                    "busy with less than half of its lanes: not the ALU's rate, "
                                    "the lanes are what is short"};
constexpr Condition kNotPartialWaves = {partial_waves, below, 0.5, kNotPartial};

// Launches.
constexpr std::array kGaps = {
    Condition{idle_before, at_least, 0.5, "the GPU idles before them longer than they run"},
    Condition{dispatch_count, at_least, 20, kManyDispatches},
    Condition{dispatch_median, below, 20'000, kShortDispatch}};
constexpr std::array kGapsAgainst = {
    Condition{path_launch_share, below, 0.05, "the critical path hardly waits for launches"}};
constexpr std::array kLaunchPath = {
    Condition{path_launch_share, at_least, 0.3, "launches are a leading part of the run's time"},
    Condition{path_kernel_share, at_least, 0.01, "the kernel is on the critical path"},
    Condition{dispatch_count, at_least, 20, kManyDispatches},
    Condition{dispatch_median, below, 20'000, kShortDispatch}};
constexpr std::array kLaunchPathAgainst = {
    Condition{idle_before, below, 0.2, "the GPU hardly idles before its dispatches"}};

// Too few waves.
constexpr std::array kShortWork = {
    kRoofIsNear, kValuAtWork, kMatrixAtWork,
    Condition{dispatch_median, below, 10'000,
              "start and end are a large part of so short a dispatch, however wide it is"}};
constexpr std::array kBusyUnits = {kValuAtWork, kMatrixAtWork};
constexpr std::array kBusyGpu = {kRoofIsNear, kValuAtWork, kMatrixAtWork};
constexpr std::array kIdleCus = {
    Condition{work_per_cu, below, 0.5, "more than half of the CUs get no work-group at all"}};
constexpr std::array kMostCusIdle = {
    Condition{work_per_cu, below, 0.1, "nine CUs of ten get no work-group at all"}};
constexpr std::array kFewWaves = {
    Condition{work_fill, below, 0.5, "less than half of the slots that the kernel can use"}};
constexpr std::array kFewWavesWait = {
    Condition{work_fill, below, 0.5, "less than half of the slots that the kernel can use"},
    Condition{wait_dependency, at_least, 0.4, "other waves would have something to fill"}};
constexpr std::array kLowOccupancy = {
    Condition{
        theoretical_occupancy, below, 0.3,
        "two of eight waves per SIMD, or fewer: a memory access takes longer than they cover"},
    Condition{wait_dependency, at_least, 0.4, "other waves would have something to fill"},
    Condition{nearest_roof, below, 0.6, "no roof is near"}};
constexpr std::array kLowOccupancyTraced = {
    Condition{
        theoretical_occupancy, below, 0.3,
        "two of eight waves per SIMD, or fewer: a memory access takes longer than they cover"},
    Condition{att_memory_wait, at_least, 0.4, "other waves would have something to fill"}};
constexpr std::array kCusSeenIdle = {
    Condition{cu_busy, below, 0.5, "CUs are without waves for more than half of the time"},
    Condition{work_fill, below, 1,
              "the launch does not fill the GPU: it is not only launch and flush that the counted "
              "cycles hold besides (docs/facts/counters.md)"}};
constexpr std::array kUneven = {
    Condition{cu_busy, below, 0.5, "CUs are without waves for more than half of the time"},
    Condition{work_fill, at_least, 1, kFillsGpu},
    Condition{dispatch_median, at_least, 1'000'000,
              "the counted cycles hold launch and flush too, up to 0.15 ms in recorded passes of "
              "MI300X"}};
constexpr std::array kNotFilled = {
    Condition{occupancy_reached, below, 0.5,
              "CUs at work hold less than half of the waves that they could"},
    Condition{work_fill, at_least, 1, kFillsGpu}};
constexpr std::array kLastRound = {
    Condition{gap_tail, at_least, 0.2, "a fifth of what the GPU could hold stands empty there"}};
constexpr std::array kRanOut = {Condition{gap_imbalance, at_least, 0.2,
                                          "a fifth of what the GPU could hold stands empty there"},
                                Condition{work_fill, at_least, 1, kFillsGpu}};
constexpr std::array kPartialWaves = {
    Condition{partial_waves, at_least, 0.5, "at least every other wave is not full"},
    Condition{lanes_active, below, 0.6, "two lanes of five or more have nothing to do"}};
constexpr std::array kTail = {
    Condition{att_tail, at_least, 0.3, "for that part of the dispatch the GPU runs empty"}};

// Divergence.
constexpr std::array kHalfLanes = {
    Condition{lanes_active, below, 0.5, "more than half of the lanes are switched off"},
    kNotPartialWaves};
constexpr std::array kHalfLanesBusy = {
    Condition{lanes_active, below, 0.5, "more than half of the lanes are switched off"},
    kNotPartialWaves,
    Condition{valu_busy, at_least, 0.2, "vector work is a good part of the kernel"}};
constexpr std::array kBranchy = {
    Condition{lanes_active, below, 0.75, "a quarter of the lanes is switched off"},
    kNotPartialWaves,
    Condition{branch_share, at_least, 0.1, "every tenth instruction; straight code has one of 20"}};
constexpr std::array kBranchesTraced = {
    Condition{att_branch, at_least, 0.15, "branches cost more than an instruction like others"}};
// An empty kernel takes 0.83 to 0.9 us on an H100 and an H200 (docs/facts/cuda_cupti.md).
constexpr std::array kDivergenceAgainst = {
    Condition{hbm_share, at_least, 0.6, "memory is near its bandwidth"},
    Condition{dispatch_median, below, 2'000,
              "start and end are most of so short a dispatch, whatever its lanes do"}};

// Memory bandwidth.
constexpr std::array kNearHbm = {Condition{hbm_share, at_least, 0.6, kNearRoof}};
constexpr std::array kAtHbm = {
    Condition{hbm_share, at_least, 0.8, "as much as copies reach that do nothing else"}};
constexpr std::array kMemoryFirst = {
    Condition{hbm_share, at_least, 0.4, kHalfOfAttainable},
    Condition{memory_side, at_least, 0.8, "arithmetic alone would take a quarter of that time"}};
constexpr std::array kFullOnMemorySide = {
    Condition{memory_side, at_least, 0.8, "arithmetic alone would take a quarter of that time"},
    Condition{busy_cu_occupancy, at_least, 0.7,
              "with CUs full of waves, no more accesses can be in flight: what is left is the rate "
              "at which "
              "memory serves them (Little's law)"}};
constexpr std::array kFullAgainst = {kNothingNear, kValuAtWork};
constexpr std::array kNearL2 = {Condition{l2_share, at_least, 0.6, kNearRoof}};
constexpr std::array kNearLds = {Condition{lds_share, at_least, 0.6, kNearRoof}};
constexpr std::array kBackpressure = {
    Condition{att_vmem_stall, at_least, 0.2,
              "memory instructions are denied: the path to memory is full, not slow to answer"}};
constexpr std::array kBackpressureAgainst = {kNothingNear};
constexpr std::array kBandwidthAgainst = {
    Condition{valu_busy, at_least, 0.8, "the vector ALU is as busy"}};

// Compute throughput.
constexpr std::array kNearCompute = {Condition{compute_share, at_least, 0.6, kNearRoof}};
constexpr std::array kAtCompute = {
    Condition{compute_share, at_least, 0.8, "as much as loops of multiply-adds alone reach"}};
constexpr std::array kValuBusy = {
    Condition{valu_busy, at_least, 0.7, "issue slots in between are lost to every kernel"}};
constexpr std::array kMatrixBusy = {
    Condition{mfma_busy, at_least, 0.7, "tuned GEMMs keep the matrix pipes that busy"}};
constexpr std::array kNearInteger = {Condition{integer_share, at_least, 0.6, kNearRoof}};
constexpr std::array kAluTraced = {Condition{att_alu, at_least, 0.6, kMajority}};
constexpr std::array kContention = {
    Condition{wait_issue, at_least, 0.3, "ready waves queue for a unit"},
    Condition{valu_busy, at_least, 0.5, "and the vector ALU is what is busy"}};
constexpr std::array kComputeAgainst = {kLanesWasted};

// Latency.
constexpr std::array kWaitsFarFromMemory = {Condition{wait_dependency, at_least, 0.5, kMajority},
                                            Condition{hbm_share, below, 0.4, kHalfOfAttainable}};
constexpr std::array kWaitsFarFromMemoryAgainst = {
    Condition{l2_share, at_least, 0.6, "L2 is near its bandwidth"},
    Condition{lds_share, at_least, 0.6, "LDS is near its bandwidth"}, kValuAtWork, kMatrixAtWork};
constexpr std::array kWaitsFarFromRoofs = {Condition{wait_dependency, at_least, 0.5, kMajority},
                                           Condition{nearest_roof, below, 0.4, kHalfOfAttainable}};
constexpr std::array kWaitsBetween = {Condition{wait_dependency, at_least, 0.5, kMajority},
                                      Condition{nearest_roof, at_least, 0.4, kHalfOfAttainable},
                                      Condition{nearest_roof, below, 0.6, kNearRoof}};
constexpr std::array kMemoryWaitFar = {Condition{att_memory_wait, at_least, 0.5, kMajority},
                                       Condition{nearest_roof, below, 0.4, kHalfOfAttainable}};
constexpr std::array kMemoryWait = {Condition{att_memory_wait, at_least, 0.5, kMajority}};
constexpr std::array kMemoryWaitFewWaves = {
    Condition{att_memory_wait, at_least, 0.5, kMajority},
    Condition{att_waves_per_cu, below, 8,
              "two waves per SIMD: too few accesses in flight to fill the path to memory"}};
constexpr std::array kLdsWait = {Condition{
    att_lds_wait, at_least, 0.3, "a third of the time, for accesses of a hundred cycles"}};
constexpr std::array kBarrierWait = {
    Condition{att_barrier, at_least, 0.3, "a third of the time, waiting for the slowest wave"}};

// PC samples: thresholds of the traced ones, which the interval's bound has to reach.
constexpr std::array kSampledBackpressure = {
    Condition{pc_vmem_backpressure, at_least, 0.2,
              "memory instructions are refused: the path to memory is full, not slow to answer"}};
constexpr std::array kSampledMatrix = {
    Condition{pc_matrix_busy, at_least, 0.2,
              "matrix instructions wait for the one before: the pipe has no gap"}};
constexpr std::array kSampledVector = {Condition{
    pc_valu_busy, at_least, 0.2, "vector instructions wait for the one before: the pipe is full"}};
constexpr std::array kSampledMemoryFar = {Condition{pc_memory_wait, at_least, 0.5, kMajority},
                                          Condition{nearest_roof, below, 0.4, kHalfOfAttainable}};
constexpr std::array kSampledMemory = {Condition{pc_memory_wait, at_least, 0.5, kMajority}};
constexpr std::array kSampledFewWaves = {
    Condition{pc_memory_wait, at_least, 0.5, kMajority},
    Condition{pc_waves_per_cu, below, 8,
              "two waves per SIMD: too few accesses in flight to fill the path to memory"}};
constexpr std::array kSampledLds = {
    Condition{pc_lds_wait, at_least, 0.3, "a third of the time, for accesses of a hundred cycles"}};
constexpr std::array kSampledBarrier = {
    Condition{pc_barrier, at_least, 0.3, "a third of the time, waiting for the slowest wave"}};
constexpr std::array kSampledDependency = {
    Condition{pc_dependency, at_least, 0.3,
              "a third of the time, for results of a few cycles: too little independent work"}};
constexpr std::array kSampledFetch = {Condition{
    pc_instruction_fetch, at_least, 0.3, "a third of the time without an instruction to issue"}};

constexpr std::span<const Condition> kNoConditions = {};

constexpr std::string_view kUseMoreCus =
    "give the launch more work-groups: smaller ones, a split of the longest loop (split-K), or "
    "several launches side by side on streams";
constexpr std::string_view kSpeedUpMemory =
    "move fewer bytes: keep data in registers or LDS between uses, fuse kernels that pass arrays "
    "to "
    "each other, use narrower types; make accesses of a wave contiguous and wide";
constexpr std::string_view kHideLatency =
    "put more accesses in flight: issue loads earlier and several at a time (unroll, prefetch the "
    "next iteration, load wider), and give every wave independent work to do meanwhile";
constexpr std::string_view kMoreWavesAdvice = "make room for more waves";
constexpr std::string_view kCombineLaunches =
    "launch less often: fuse kernels, give each launch more work, or record the sequence as a HIP "
    "graph";

constexpr std::array kRules = {
    Rule{"launch.gaps", Bottleneck::launch, 4, kGaps, kGapsAgainst,
         "the GPU waits for its short dispatches longer than they run", kCombineLaunches},
    Rule{"launch.on_path", Bottleneck::launch, 2, kLaunchPath, kLaunchPathAgainst,
         "launches are a leading part of the critical path",
         "take launches off the critical path: launch ahead without synchronising in between, or "
         "record the sequence as a HIP graph"},

    Rule{"under_occupied.idle_cus", Bottleneck::under_occupied, 2, kIdleCus, kShortWork,
         "the launch has too few work-groups for the CUs", kUseMoreCus},
    Rule{"under_occupied.most_cus_idle", Bottleneck::under_occupied, 1, kMostCusIdle, kShortWork,
         "nearly all CUs get nothing to do", kUseMoreCus},
    Rule{"under_occupied.few_waves", Bottleneck::under_occupied, 1, kFewWaves, kShortWork,
         "the launch has too few waves for the slots that it could use",
         "give the launch more waves: less work per work-item, or more work-groups"},
    Rule{"under_occupied.few_waves_wait", Bottleneck::under_occupied, 2, kFewWavesWait, kShortWork,
         "the few waves that there are wait, and no others fill in",
         "give the launch more waves: less work per work-item, or more work-groups"},
    Rule{"under_occupied.low_occupancy", Bottleneck::under_occupied, 3, kLowOccupancy, kBusyUnits,
         "its resources allow few waves, and those wait", kMoreWavesAdvice, true},
    Rule{"under_occupied.low_occupancy_traced", Bottleneck::under_occupied, 2, kLowOccupancyTraced,
         kShortWork, "its resources allow few waves, and the traced ones wait for memory",
         kMoreWavesAdvice, true},
    Rule{"under_occupied.cus_seen_idle", Bottleneck::under_occupied, 2, kCusSeenIdle, kShortWork,
         "most CUs were seen without waves", kUseMoreCus},
    Rule{"under_occupied.uneven", Bottleneck::under_occupied, 2, kUneven, kBusyGpu,
         "CUs run out of work although the launch could fill them",
         "even the work out: smaller work-groups, longest pieces first, or work-groups that fetch "
         "their next piece themselves"},
    Rule{"under_occupied.not_filled", Bottleneck::under_occupied, 2, kNotFilled, kShortWork,
         "CUs at work hold fewer waves than they could",
         "waves end before others have been started: give each more work, or even out how long "
         "they take"},
    Rule{"under_occupied.partial_waves", Bottleneck::under_occupied, 2, kPartialWaves,
         kNoConditions, "work-groups do not fill their waves",
         "use work-group sizes that are multiples of the wave size"},
    Rule{
        "under_occupied.last_round", Bottleneck::under_occupied, 1, kLastRound, kShortWork,
        "the last round of work-groups fills a part of the GPU only",
        "let work-groups fill whole rounds: another size, or work-groups that stay and fetch their "
        "next piece themselves"},
    Rule{"under_occupied.ran_out", Bottleneck::under_occupied, 1, kRanOut, kShortWork,
         "CUs run out of work while others still have some",
         "even the work out: smaller work-groups, longest pieces first, or work-groups that fetch "
         "their next piece themselves"},
    Rule{"under_occupied.tail", Bottleneck::under_occupied, 1, kTail, kShortWork,
         "the dispatch ends in a long tail",
         "even the work out: smaller work-groups, or longest pieces first"},

    Rule{"divergence.half_of_lanes", Bottleneck::divergence, 2, kHalfLanes, kDivergenceAgainst,
         "vector instructions run with less than half of their lanes",
         "let the lanes of a wave take the same way: sort or group work by its branch, turn "
         "branches into selects, move per-lane loops into a compacted list",
         true},
    Rule{"divergence.busy_with_half", Bottleneck::divergence, 2, kHalfLanesBusy, kDivergenceAgainst,
         "and vector work is a good part of what it does",
         "shorten the code inside the divergent branches", true},
    Rule{"divergence.branches", Bottleneck::divergence, 2, kBranchy, kDivergenceAgainst,
         "it branches often, and lanes are switched off",
         "turn short branches into selects, and unroll loops whose trip count is known", true},
    Rule{"divergence.traced_branches", Bottleneck::divergence, 1, kBranchesTraced,
         kDivergenceAgainst, "the traced waves spend much time in branches",
         "unroll loops, and turn short branches into selects", true},

    Rule{"bandwidth.near_hbm_roof", Bottleneck::memory_bandwidth, 3, kNearHbm, kBandwidthAgainst,
         "memory works near its bandwidth", kSpeedUpMemory, true},
    Rule{"bandwidth.at_hbm_roof", Bottleneck::memory_bandwidth, 1, kAtHbm, kBandwidthAgainst,
         "memory works at its bandwidth",
         "only fewer bytes help here: the bandwidth is used up as far as it can be", true},
    Rule{"bandwidth.memory_first", Bottleneck::memory_bandwidth, 2, kMemoryFirst, kBandwidthAgainst,
         "memory is used well, and arithmetic hardly counts", kSpeedUpMemory, true},
    Rule{"bandwidth.full_on_memory_side", Bottleneck::memory_bandwidth, 2, kFullOnMemorySide,
         kFullAgainst, "CUs are full of waves, and memory is what the roofline has it do",
         kSpeedUpMemory, true},
    Rule{"bandwidth.near_l2_roof", Bottleneck::memory_bandwidth, 3, kNearL2, kBandwidthAgainst,
         "L2 works near its bandwidth",
         "use what a load brought more often before it leaves: tile for L1, LDS and registers",
         true},
    Rule{"bandwidth.near_lds_roof", Bottleneck::memory_bandwidth, 3, kNearLds, kBandwidthAgainst,
         "LDS works near its bandwidth",
         "keep more in registers, read wider (ds_read_b128), and pad arrays against bank conflicts",
         true},
    Rule{"bandwidth.traced_backpressure", Bottleneck::memory_bandwidth, 2, kBackpressure,
         kBackpressureAgainst, "memory instructions are denied because their path is full",
         "use fewer and wider memory instructions, and make the accesses of a wave contiguous",
         true},

    Rule{"bandwidth.sampled_backpressure", Bottleneck::memory_bandwidth, 2, kSampledBackpressure,
         kBackpressureAgainst, "sampled memory instructions are refused because their path is full",
         "use fewer and wider memory instructions, and make the accesses of a wave contiguous",
         true},

    Rule{"compute.near_roof", Bottleneck::compute_throughput, 3, kNearCompute, kComputeAgainst,
         "arithmetic runs near its roof",
         "do less arithmetic, or cheaper one: matrix instructions, packed or narrower types, fewer "
         "transcendental functions",
         true},
    Rule{"compute.at_roof", Bottleneck::compute_throughput, 1, kAtCompute, kComputeAgainst,
         "arithmetic runs at its roof", "only fewer or cheaper operations help here", true},
    Rule{"compute.vector_busy", Bottleneck::compute_throughput, 2, kValuBusy, kComputeAgainst,
         "the vector ALU is busy nearly all the time",
         "take vector instructions out: address arithmetic, conversions, work that every lane "
         "repeats (to the scalar unit)",
         true},
    Rule{"compute.matrix_busy", Bottleneck::compute_throughput, 3, kMatrixBusy, kNoConditions,
         "the matrix pipes are busy nearly all the time",
         "use a narrower type or a matrix shape with more work per cycle", true},
    Rule{"compute.near_integer_roof", Bottleneck::compute_throughput, 3, kNearInteger,
         kComputeAgainst, "integer arithmetic runs near its roof",
         "take integer instructions out: strength-reduce index arithmetic, avoid 64-bit integers "
         "and divisions",
         true},
    Rule{"compute.traced_alu", Bottleneck::compute_throughput, 2, kAluTraced, kComputeAgainst,
         "the traced waves spend most of their time in arithmetic",
         "shorten the arithmetic of the hot lines", true},
    Rule{"compute.sampled_matrix", Bottleneck::compute_throughput, 2, kSampledMatrix,
         kComputeAgainst, "sampled matrix instructions queue for a full pipe",
         "use a narrower type or a matrix shape with more work per cycle", true},
    Rule{"compute.sampled_vector", Bottleneck::compute_throughput, 2, kSampledVector,
         kComputeAgainst, "sampled vector instructions queue for a full pipe",
         "shorten the arithmetic of the hot lines", true},
    Rule{"compute.contention", Bottleneck::compute_throughput, 1, kContention, kComputeAgainst,
         "ready waves queue for the vector ALU",
         "more waves do not help: take instructions out of the hot loop"},

    Rule{"latency.waits_far_from_memory_roof", Bottleneck::latency, 2, kWaitsFarFromMemory,
         kWaitsFarFromMemoryAgainst,
         "waves wait for most of their time while memory has bandwidth to spare", kHideLatency,
         true},
    Rule{"latency.waits_far_from_roofs", Bottleneck::latency, 1, kWaitsFarFromRoofs, kBusyUnits,
         "and no other roof is near",
         "shorten chains of dependent accesses: pointers behind pointers, indices that are loaded "
         "first",
         true},
    Rule{"latency.waits_between_roofs", Bottleneck::latency, 2, kWaitsBetween, kBusyUnits,
         "waves wait for most of their time, and no roof is near", kHideLatency, true},
    Rule{"latency.traced_memory_wait_far", Bottleneck::latency, 2, kMemoryWaitFar, kBusyUnits,
         "the traced waves wait for memory, which is far from its roof", kHideLatency, true},
    Rule{"latency.traced_memory_wait", Bottleneck::latency, 1, kMemoryWait, kBusyGpu,
         "the traced waves wait for memory for most of their time", kHideLatency, true},
    Rule{"latency.traced_few_waves", Bottleneck::latency, 1, kMemoryWaitFewWaves, kBusyGpu,
         "and they are too few to fill the path to memory",
         "let more waves run, or let each have more accesses in flight", true},
    Rule{"latency.traced_lds_wait", Bottleneck::latency, 2, kLdsWait, kBusyGpu,
         "the traced waves wait for LDS",
         "read LDS earlier and wider, and pad arrays against bank conflicts", true},
    Rule{"latency.traced_barrier", Bottleneck::latency, 2, kBarrierWait, kBusyGpu,
         "the traced waves wait for each other at barriers",
         "use fewer barriers, smaller work-groups, or two buffers so that loading and computing "
         "overlap",
         true},
    Rule{"latency.sampled_memory_wait_far", Bottleneck::latency, 2, kSampledMemoryFar, kBusyUnits,
         "sampled waves wait for memory, which is far from its roof", kHideLatency, true},
    Rule{"latency.sampled_memory_wait", Bottleneck::latency, 1, kSampledMemory, kBusyGpu,
         "sampled waves wait for memory for most of their time", kHideLatency, true},
    Rule{"latency.sampled_few_waves", Bottleneck::latency, 1, kSampledFewWaves, kBusyGpu,
         "and they are too few to fill the path to memory",
         "let more waves run, or let each have more accesses in flight", true},
    Rule{"latency.sampled_lds_wait", Bottleneck::latency, 2, kSampledLds, kBusyGpu,
         "sampled waves wait for LDS",
         "read LDS earlier and wider, and pad arrays against bank conflicts", true},
    Rule{"latency.sampled_barrier", Bottleneck::latency, 2, kSampledBarrier, kBusyGpu,
         "sampled waves wait for each other at barriers",
         "use fewer barriers, smaller work-groups, or two buffers so that loading and computing "
         "overlap",
         true},
    Rule{"latency.sampled_dependency", Bottleneck::latency, 1, kSampledDependency, kBusyGpu,
         "sampled waves wait for results of their own arithmetic",
         "interleave independent work: unroll, use several accumulators", true},
    Rule{"latency.sampled_fetch", Bottleneck::latency, 1, kSampledFetch, kBusyGpu,
         "sampled waves have no instruction to issue",
         "shorten the hot loop so that it fits the instruction cache, and branch less", true},
};

}  // namespace

std::string_view to_string(Bottleneck verdict) {
  using enum Bottleneck;
  static constexpr auto kNames =
      enum_names<Bottleneck>({{launch, "launch-bound"},
                              {under_occupied, "under-occupied"},
                              {divergence, "divergence-limited"},
                              {memory_bandwidth, "memory-bandwidth-bound"},
                              {compute_throughput, "compute-throughput-limited"},
                              {latency, "latency-bound"},
                              {insufficient_data, "insufficient-data"}});
  return kNames[verdict];
}

std::string_view label_of(Bottleneck verdict) {
  using enum Bottleneck;
  static constexpr auto kNames =
      enum_names<Bottleneck>({{launch, "launch-bound"},
                              {under_occupied, "under-occupied"},
                              {divergence, "divergence limited"},
                              {memory_bandwidth, "memory-bandwidth bound"},
                              {compute_throughput, "compute-throughput limited"},
                              {latency, "latency bound"},
                              {insufficient_data, "insufficient data"}});
  return kNames[verdict];
}

std::vector<FeatureId> Rule::needs() const {
  std::vector<FeatureId> ids;
  for (const Condition& condition : when)
    if (std::ranges::find(ids, condition.feature) == ids.end()) ids.push_back(condition.feature);
  return ids;
}

std::span<const Rule> bottleneck_rules() {
  return kRules;
}

}  // namespace perflab::analyze
