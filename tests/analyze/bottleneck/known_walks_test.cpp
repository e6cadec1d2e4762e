// Kernels with a known answer on both sides of thresholds, ten thousand tiny launches, and kernels
// of which hardly anything is there: seen from outside, through written files.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "analyze/bottleneck/known_kernels_checks.h"
#include "support/test_database.h"

namespace perflab::analyze {
namespace {

namespace fs = std::filesystem;
using enum FeatureId;

constexpr Bottleneck kNotDecided = Bottleneck::insufficient_data;

/// One kernel on both sides of a threshold.
struct Walk {
  std::string_view rule;
  FeatureId feature;
  KernelPhysics kernel;
  std::function<void(KernelPhysics&, double)> set;  ///< its physics, so that the feature is that
  Bottleneck holds, breaks;                         ///< labels on the side where it holds, or not
  FeatureSource with = FeatureSource::counters;     ///< labels are with everything up to this
};

const Condition& condition_of(std::string_view rule_id, FeatureId feature) {
  for (const Rule& rule : bottleneck_rules())
    if (rule.id == rule_id)
      for (const Condition& condition : rule.when)
        if (condition.feature == feature) return condition;
  ADD_FAILURE() << rule_id << " has no condition on " << info(feature).name;
  return bottleneck_rules().front().when.front();
}

void set_fma(KernelPhysics& k, double share) {
  k.fma = share * k.valu_slots();
}

void set_groups(KernelPhysics& k, double per_cu) {
  const double waves = k.waves / static_cast<double>(k.groups);
  k.groups = std::llround(per_cu * kCus);
  k.waves = waves * static_cast<double>(k.groups);
  k.busy_cus = std::min(kCus, static_cast<double>(k.groups));
}

std::vector<Walk> walks() {
  using enum Bottleneck;
  const auto waits = [](KernelPhysics& k, double share) { k.waits = share; };
  return {
      // Fewer bytes in the same time: first only the strongest evidence goes, then the label.
      {"bandwidth.near_hbm_roof", hbm_share, stream_copy(), set_bandwidth, memory_bandwidth,
       memory_bandwidth},
      {"bandwidth.at_hbm_roof", hbm_share, stream_copy(), set_bandwidth, memory_bandwidth,
       memory_bandwidth},
      {"bandwidth.memory_first", hbm_share, stream_copy(), set_bandwidth, memory_bandwidth,
       latency},
      {"bandwidth.near_l2_roof", l2_share, stream_copy(),
       [](KernelPhysics& k, double share) {
         set_bandwidth(k, 0.3);
         k.waits = 0.45;  // waits for most of its time would be latency
         k.l2_read = share * kL2 * static_cast<double>(k.ns) - k.l2_written;
       },
       memory_bandwidth, memory_bandwidth},
      {"latency.waits_far_from_memory_roof", wait_dependency, pointer_chase(), waits, latency,
       kNotDecided},
      {"latency.waits_far_from_memory_roof", hbm_share, pointer_chase(), set_bandwidth, latency,
       memory_bandwidth},
      {"compute.near_roof", compute_share, fma_loop(), set_fma, compute_throughput, kNotDecided},
      {"compute.at_roof", compute_share, fma_loop(), set_fma, compute_throughput,
       compute_throughput},
      {"compute.matrix_busy", mfma_busy, matrix_loop(),
       [](KernelPhysics& k, double share) { k.matrix_flop = share * kMatrixBf16 * 1e6; },
       compute_throughput, compute_throughput},
      {"divergence.half_of_lanes", lanes_active, divergent_branch(),
       [](KernelPhysics& k, double share) { k.lanes = 64 * share; }, divergence,
       compute_throughput},
      {"under_occupied.idle_cus", work_per_cu, huge_workgroup(), set_groups, under_occupied,
       kNotDecided, FeatureSource::critical_path},
      {"under_occupied.most_cus_idle", work_per_cu, huge_workgroup(), set_groups, under_occupied,
       under_occupied, FeatureSource::critical_path},
      {"under_occupied.few_waves_wait", wait_dependency, lonely_chase(), waits, under_occupied,
       kNotDecided},
      {"under_occupied.cus_seen_idle", cu_busy, lonely_chase(),
       [](KernelPhysics& k, double share) { k.busy_cus = share * kCus; }, under_occupied,
       under_occupied},
      {"latency.traced_memory_wait_far", att_memory_wait, pointer_chase(),
       [](KernelPhysics& k, double share) {
         // 100 cycles of start-up, 4 of the end and 20 turns of 1016 others: 20424 in all.
         k.loop.body[3].stall = 1000;
         k.loop.body[1].stall =
             static_cast<std::int64_t>(std::llround(20'424 * share / (1 - share) / 20));
       },
       latency, latency, FeatureSource::thread_trace},
  };
}

/// On the side where the condition holds, or just on the other; half a per cent from the threshold.
double beside(const Condition& condition, bool holds) {
  const bool above = (condition.comparison == Relation::at_least) == holds;
  return condition.threshold * (above ? 1.005 : 0.995);
}

TEST(ThresholdWalks, MoveTheEvidenceOrTheLabel) {
  std::vector<Walk> all = walks();
  std::vector<KernelPhysics> kernels;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const bool holds : {true, false}) {
      KernelPhysics kernel = all[i].kernel;
      kernel.name = fmt::format("{}_{}_{}", kernel.name, i, holds ? "holds" : "breaks");
      kernel.dispatches = 1;
      all[i].set(kernel, beside(condition_of(all[i].rule, all[i].feature), holds));
      kernels.push_back(std::move(kernel));
    }
  const fs::path folder = test::test_folder();
  const ProgramFiles files = write_program(folder, kernels, sets_of_mi300x());
  for (std::size_t i = 0; i < kernels.size(); ++i)
    if (all[i / 2].with == FeatureSource::thread_trace)
      test::write_ui_output(folder / "att",
                            traced(kernels[i], files.first_dispatch.at(kernels[i].name)));
  const Analysis analysis = analysis_of(joined(files.timing, files.passes), {folder / "att"});
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const Walk& walk = all[i / 2];
    const bool holds = i % 2 == 0;
    const KernelBottleneck& kernel = verdict_of(analysis, kernels[i].name);
    SCOPED_TRACE(fmt::format("{} {}: {}", walk.rule, kernel.kernel, kernel.summary));
    expect_sound(kernel);
    EXPECT_EQ(to_string(verdict_at(kernel, walk.with)),
              to_string(holds ? walk.holds : walk.breaks));
    const Condition& condition = condition_of(walk.rule, walk.feature);
    Figures figures = all_figures(kernels[i]);
    EXPECT_EQ(figures[walk.feature] >= condition.threshold,
              (condition.comparison == Relation::at_least) == holds)
        << figures[walk.feature];
    expect_figures(kernel, {{walk.feature, figures[walk.feature]}});
    const HeldRule* const rule = held(kernel, walk.rule);
    ASSERT_EQ(rule != nullptr, holds);
    if (rule == nullptr) continue;
    const auto named = std::ranges::find_if(rule->evidence, [&](const Evidence& evidence) {
      return evidence.condition.feature == walk.feature;
    });
    ASSERT_NE(named, rule->evidence.end());
    EXPECT_EQ(named->condition.threshold, condition.threshold);
    EXPECT_TRUE(equal(named->value, figures[walk.feature]));
  }
}

/// Of the idle time before a tiny launch that which its own launch takes: 3 us of call and 3 us to
/// the start. Before that the host is busy otherwise.
constexpr std::int64_t kLaunchTakes = 6'000;

// Ten thousand launches of 2 us with 8 us in between. Of each 10 us the critical path has 3 us in
// hipLaunchKernel and 3 us to the start of the kernel.
TEST(TinyLaunches, TenThousandAreLaunchBound) {
  constexpr int kLaunches = 10'000;
  const fs::path folder = test::test_folder();
  const KernelPhysics tiny = tiny_kernel();
  const ProgramFiles files =
      write_tiny_launches(folder, tiny, kLaunches, 8'000,
                          {{"SQ_WAVES", "SQ_WAVE_CYCLES", "SQ_BUSY_CU_CYCLES", "SQ_WAIT_ANY",
                            "SQ_WAIT_INST_ANY", "GRBM_GUI_ACTIVE"}});
  test::write_ui_output(folder / "att", traced(tiny, 1));
  KernelPhysics counted = tiny;
  counted.dispatches = kLaunches;
  Figures figures = dispatch_figures(counted, kLaunchTakes);
  const Analysis trace = analysis_of(files.timing);
  ASSERT_EQ(trace.bottlenecks.kernels.size(), 1U);  // not the one that was never launched
  const KernelBottleneck& kernel = trace.bottlenecks.kernels[0];
  EXPECT_EQ(kernel.verdict, Bottleneck::launch) << dump(trace);
  expect_sound(kernel);
  expect_figures(kernel, figures);
  EXPECT_NEAR(*kernel.features[path_launch_share].value, 0.6, 0.05);
  EXPECT_NEAR(*kernel.features[path_kernel_share].value, 0.2, 0.02);
  figures[path_launch_share] = *kernel.features[path_launch_share].value;
  figures[path_kernel_share] = *kernel.features[path_kernel_share].value;
  expect_evidence(kernel, figures);
  ASSERT_NE(held(kernel, "launch.gaps"), nullptr);
  ASSERT_NE(held(kernel, "launch.on_path"), nullptr);
  // Without the launches before them 8 us become 2 us.
  const auto launch = std::ranges::find(kernel.bound.parts, "launch", &GainBound::from);
  ASSERT_NE(launch, kernel.bound.parts.end());
  EXPECT_TRUE(equal(*launch->factor, 4));
  figures.merge(counter_figures(tiny));
  figures.merge(thread_trace_figures(tiny));
  const Analysis everything = analysis_of(joined(files.timing, files.passes), {folder / "att"});
  const KernelBottleneck& more = verdict_of(everything, "tiny");
  EXPECT_EQ(more.verdict, Bottleneck::launch);
  expect_sound(more);
  expect_evidence(more, figures);
  EXPECT_TRUE(equal(*more.features[wait_dependency].value, 0.5));
  // Alone, a thread trace knows nothing of launches: four waves that wait.
  EXPECT_EQ(verdict_of(analysis_of({}, {folder / "att"}), "tiny").verdict, Bottleneck::latency);
}

TEST(TinyLaunches, WalkAcrossGapCountAndLength) {
  const fs::path folder = test::test_folder();
  const auto verdict = [&](int launches, std::int64_t ns, std::int64_t idle, bool gaps) {
    KernelPhysics tiny = tiny_kernel();
    tiny.ns = ns;
    tiny.dispatches = launches;
    const Analysis analysis =
        analysis_of(write_tiny_launches(folder / fmt::format("{}_{}_{}", launches, ns, idle), tiny,
                                        launches, idle, {})
                        .timing);
    const KernelBottleneck& kernel = verdict_of(analysis, "tiny");
    expect_sound(kernel);
    expect_figures(kernel,
                   dispatch_figures(tiny, static_cast<double>(std::min(idle, kLaunchTakes))));
    EXPECT_EQ(held(kernel, "launch.gaps") != nullptr, gaps) << dump(analysis);
    return kernel.verdict;
  };
  const double share = condition_of("launch.gaps", idle_before).threshold;
  const auto many = static_cast<int>(condition_of("launch.gaps", dispatch_count).threshold);
  const auto longest =
      static_cast<std::int64_t>(condition_of("launch.gaps", dispatch_median).threshold);
  const auto idle = static_cast<std::int64_t>(4'000 * share / (1 - share));
  EXPECT_EQ(verdict(40, 4'000, idle, true), Bottleneck::launch);
  EXPECT_EQ(verdict(40, 4'000, idle - 10, false), Bottleneck::launch);  // by the critical path
  EXPECT_EQ(verdict(many, 2'000, 8'000, true), Bottleneck::launch);
  EXPECT_EQ(verdict(many - 1, 2'000, 8'000, false), Bottleneck::insufficient_data);
  // However long the GPU idles: what a launch does not take is not a launch's.
  EXPECT_EQ(verdict(40, longest - 10, 2 * longest, false), Bottleneck::insufficient_data);
}

TEST(OddKernels, ZeroTimeZeroCountsAndForeignTraces) {
  const fs::path folder = test::test_folder();
  KernelPhysics nothing = stream_copy();
  nothing.name = "takes_no_time";
  nothing.ns = 0;
  KernelPhysics idle_waves = {.name = "no_instruction", .groups = 9728, .items = 256};
  KernelPhysics zeros = stream_copy();
  zeros.name = "all_zero";
  zeros.all_counts_zero = true;
  KernelPhysics wide = stream_copy();
  const ProgramFiles files =
      write_program(folder / "runs", {wide, nothing, idle_waves, zeros}, sets_of_mi300x());
  KernelPhysics foreign = fma_loop();
  foreign.name = "foreign";
  // Dispatch 2 is of the copy: the number alone joins nothing.
  test::write_ui_output(folder / "att", traced(foreign, files.first_dispatch.at("copy")));
  const Analysis analysis = analysis_of(joined(files.timing, files.passes), {folder / "att"});
  ASSERT_EQ(analysis.bottlenecks.kernels.size(), 5U) << dump(analysis);
  for (const KernelBottleneck& kernel : analysis.bottlenecks.kernels) expect_sound(kernel);
  EXPECT_EQ(verdict_of(analysis, "copy").verdict, Bottleneck::memory_bandwidth);
  expect_missing(verdict_of(analysis, "copy"), FeatureSource::thread_trace);
  const KernelBottleneck& last = analysis.bottlenecks.kernels.back();
  EXPECT_EQ(last.kernel, "foreign");
  EXPECT_FALSE(last.analysis_kernel);
  EXPECT_EQ(last.thread_trace, 0U);
  EXPECT_EQ(last.verdict, Bottleneck::compute_throughput);
  expect_figures(last, thread_trace_figures(foreign));
  expect_missing(last, FeatureSource::counters);
  expect_missing(last, FeatureSource::dispatches);
  // Shares of no time are none; nothing is a label.
  const KernelBottleneck& timeless = verdict_of(analysis, "takes_no_time");
  EXPECT_EQ(timeless.verdict, Bottleneck::insufficient_data) << timeless.summary;
  EXPECT_EQ(timeless.features[dispatch_median].value, 0.0);
  for (const FeatureId id : {hbm_share, l2_share, nearest_roof, cu_busy, valu_busy})
    EXPECT_FALSE(timeless.features[id].value) << info(id).name;
  // It was launched with waves: counters without any have counted nothing.
  const KernelBottleneck& zero = verdict_of(analysis, "all_zero");
  EXPECT_EQ(zero.verdict, Bottleneck::insufficient_data) << zero.summary;
  expect_missing(zero, FeatureSource::counters);
  // Every wave has at least one instruction: waves without any were not seen.
  const KernelBottleneck& seen = verdict_of(analysis, "no_instruction");
  EXPECT_EQ(seen.verdict, Bottleneck::insufficient_data) << seen.summary;
  for (const FeatureId id : {wait_dependency, cu_busy, lanes_active, nearest_roof})
    EXPECT_FALSE(seen.features[id].value) << info(id).name;
}

TEST(OddKernels, ATraceIsJoinedToTheDispatchThatItNames) {
  const fs::path folder = test::test_folder();
  KernelPhysics narrow = pointer_chase();
  narrow.groups = 100;
  narrow.waves = narrow.launched_waves();
  const ProgramFiles files = write_program(folder / "runs", {narrow, pointer_chase()}, {});
  // Three dispatches of each shape: 2 to 4 have 400 waves, 5 to 7 have 6080.
  for (const std::int64_t id : {3, 6})
    test::write_ui_output(folder / fmt::format("att{}", id), traced(pointer_chase(), id));
  const auto waves = [&](int id) {
    const Analysis analysis = analysis_of(files.timing, {folder / fmt::format("att{}", id)});
    EXPECT_EQ(verdict_of(analysis, "chase").thread_trace, 0U);
    EXPECT_EQ(analysis.thread_traces->kernels.at(0).dispatch_id, id);
    return analysis.thread_traces->kernels.at(0).coverage.waves_of_dispatch;
  };
  EXPECT_EQ(waves(3), 400U);
  EXPECT_EQ(waves(6), 6080U);
}

}  // namespace
}  // namespace perflab::analyze
