// What is wrong with samples: counted apart, never in figures, and said.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analyze/pc_sampling/kernel_tally.h"
#include "analyze/pc_sampling/samples_of.h"

namespace perflab::analyze {
namespace {

using test::PcRun;

PcRun copy_run(std::int64_t dispatches = 10) {
  PcRun run;
  run.kernels = {test::pc_copy_kernel()};
  run.kernels[0].dispatches = dispatches;
  return run;
}

bool any_contains(const std::vector<std::string>& texts, const std::string& part) {
  return std::ranges::any_of(texts,
                             [&](const std::string& text) { return text.find(part) != text.npos; });
}

TEST(PcQuality, GoodSamplesAreTrusted) {
  PcRun run = copy_run(20);
  run.ticks = 8;
  const PcSampling sampling = analysis_of(run);
  const KernelPcSamples& kernel = sampling.kernels.front();
  EXPECT_TRUE(kernel.refusals.empty());
  EXPECT_EQ(kernel.confidence, Confidence::high)
      << (kernel.confidence_reasons.empty() ? "" : kernel.confidence_reasons.front());
  ASSERT_TRUE(kernel.quality.delivered);
  EXPECT_NEAR(*kernel.quality.delivered, 1, 0.1);
  EXPECT_EQ(kernel.quality.dispatches, 20U);
  EXPECT_EQ(kernel.quality.dispatches_sampled, 20U);
  EXPECT_EQ(kernel.quality.dispatches_lost, 0U);
  EXPECT_EQ(kernel.quality.reason_contradictions, 0U);
  EXPECT_EQ(kernel.arbiter->contradictions, 0U);
  ASSERT_TRUE(kernel.features.memory_wait.low());
  EXPECT_GT(*kernel.features.memory_wait.low(), 0.5);
}

TEST(PcQuality, BadPlacesAreCountedAndOfNoInstruction) {
  PcRun run = copy_run();
  const PcSampling good = analysis_of(run);
  run.undecoded = 60;
  run.out_of_range = 30;
  run.no_code_object = 40;
  run.dispatch_unknown = 20;
  const PcSampling bad = analysis_of(run);
  const PcSampleSet& set = bad.sets.front();
  const KernelPcSamples& kernel = bad.kernels.front();
  EXPECT_EQ(set.samples, good.sets.front().samples);
  EXPECT_GT(kernel.quality.undecoded, 0U);
  EXPECT_EQ(kernel.samples + set.kernel_unknown, set.samples);
  std::uint64_t in_rows = 0;
  for (const PcInstruction& one : kernel.instructions) in_rows += one.samples;
  EXPECT_EQ(in_rows, kernel.samples);
  // The last instruction got none of the undecoded ones (index -1).
  const auto last = [](const PcSampling& one) {
    return *one.kernels.front().instructions.back().share.value;
  };
  EXPECT_NEAR(last(bad), last(good), 0.03);
  EXPECT_TRUE(kernel.refusals.empty());
  EXPECT_TRUE(any_contains(kernel.confidence_reasons, "could not be decoded"));
}

TEST(PcQuality, MostlyUndecodedSamplesAreRefused) {
  PcRun run = copy_run();
  run.undecoded = 300;
  const PcSampling sampling = analysis_of(run);
  const KernelPcSamples& kernel = sampling.kernels.front();
  EXPECT_TRUE(any_contains(kernel.refusals, "could not be decoded"));
  EXPECT_FALSE(kernel.features.memory_wait.value);
  EXPECT_TRUE(is_missing(kernel.missing, "features"));
}

TEST(PcQuality, FewSamplesAndTicks) {
  PcRun run = copy_run(1);
  run.agents[0].xccs = 1;
  run.ticks = 5;
  const PcSampling sampling = analysis_of(run);
  const KernelPcSamples& kernel = sampling.kernels.front();
  EXPECT_EQ(kernel.samples, 40U);
  EXPECT_EQ(kernel.ticks, 5U);
  EXPECT_EQ(kernel.intervals, PcIntervals::none);
  EXPECT_FALSE(kernel.instructions.front().share.interval);
  EXPECT_TRUE(kernel.instructions.front().share.value);
  EXPECT_TRUE(any_contains(kernel.refusals, "too few"));
  EXPECT_EQ(kernel.confidence, Confidence::low);
}

TEST(PcQuality, ALostTailIsSeen) {
  PcRun run = copy_run(200);
  run.ticks = 1;
  run.until_dispatch = 41;
  const PcSampling sampling = analysis_of(run);
  const KernelPcSamples& kernel = sampling.kernels.front();
  EXPECT_EQ(kernel.quality.dispatches, 200U);
  EXPECT_EQ(kernel.quality.dispatches_sampled, 41U);
  EXPECT_EQ(kernel.quality.dispatches_lost, 159U);
  EXPECT_EQ(kernel.confidence, Confidence::low);
  EXPECT_TRUE(any_contains(sampling.warnings, "samples were lost"));
}

TEST(PcQuality, FewDeliveredSamplesAreRefused) {
  PcRun run = copy_run(60);
  run.lost = 900;
  const PcSampling sampling = analysis_of(run);
  const KernelPcSamples& kernel = sampling.kernels.front();
  ASSERT_TRUE(kernel.quality.delivered);
  EXPECT_LT(*kernel.quality.delivered, 0.2);
  EXPECT_TRUE(any_contains(kernel.refusals, "expected samples were delivered"));
}

TEST(PcQuality, OfTheIntervalNothingIsExpectedWhereItIsNotStated) {
  const PcSampling sampling = analysis_of(copy_run(), 0);
  const KernelPcSamples& kernel = sampling.kernels.front();
  EXPECT_FALSE(kernel.quality.expected);
  EXPECT_TRUE(is_missing(kernel.missing, "quality.expected"));
  EXPECT_EQ(sampling.sets.front().interval_source, PcIntervalSource::estimated);
}

TEST(PcQuality, WithoutDispatchesTheCodeSaysTheKernel) {
  PcRun run = copy_run();
  run.kernel_trace = false;
  const PcSampling sampling = analysis_of(run);
  const KernelPcSamples& kernel = sampling.kernels.front();
  EXPECT_EQ(kernel.kernel, run.kernels[0].name);
  EXPECT_FALSE(kernel.quality.dispatches);
  EXPECT_TRUE(is_missing(kernel.missing, "quality.dispatches"));
}

TEST(PcQuality, SlowedKernelsAreRefused) {
  const auto samples = samples_of(copy_run(20));
  Kernel plain;
  plain.name = samples.kernels[0].name;
  plain.durations.mean = 40'000;
  const auto made = analyze_pc_samples(samples, PcIntervalSource::given, {}, {}, {plain});
  const KernelPcSamples& kernel = made.kernels.front();
  EXPECT_EQ(kernel.analysis_kernel, 0U);
  EXPECT_NEAR(*kernel.quality.sampled_ns, 4 * 31'207 + 10'000, 1);
  EXPECT_EQ(*kernel.quality.plain_ns, 40'000);
  EXPECT_TRUE(any_contains(kernel.refusals, "3.4 times as slow"));
  // A recording of the sampled run itself says nothing of that.
  trace::Trace same;
  same.dispatches.start = {static_cast<std::int64_t>(*samples.dispatches[0].start)};
  const auto again = analyze_pc_samples(samples, PcIntervalSource::given, {}, same, {plain});
  EXPECT_FALSE(again.kernels.front().quality.plain_ns);
  EXPECT_TRUE(is_missing(again.kernels.front().missing, "quality.plain_ns"));
}

TEST(PcQuality, OfOneKernelThereAreFiguresOfTheOthersCounts) {
  PcRun run;
  run.agents = {{.handle = 1}, {.handle = 2}};
  run.undecoded = 20;
  for (int i = 0; i < 25; ++i) {
    test::PcKernel& kernel = run.kernels.emplace_back(test::pc_copy_kernel());
    kernel.name = "kernel_" + std::to_string(i);
    kernel.mangled = "k" + std::to_string(i);
    kernel.dispatches = 4 + i;
  }
  const auto samples = samples_of(run);
  Kernel recorded;
  recorded.mangled_name = "k3";
  recorded.name = "kernel_3";
  const auto made = analyze_pc_samples(samples, PcIntervalSource::given, {}, {}, {recorded}, 0);
  const PcSampleSet& set = made.sets.front();
  ASSERT_EQ(made.kernels.size(), 2U);  // on two GPUs
  for (const KernelPcSamples& kernel : made.kernels) EXPECT_EQ(kernel.kernel, "kernel_3");
  EXPECT_EQ(set.in_kernels + set.other_kernels + set.kernel_unknown, set.samples);
  EXPECT_EQ(set.in_kernels, made.kernels[0].samples + made.kernels[1].samples);
  ASSERT_EQ(set.others.size(), kMostPcKernels);
  EXPECT_EQ(set.others.front().name, "kernel_24");
  EXPECT_TRUE(std::ranges::is_sorted(set.others, std::greater{}, &PcOtherKernel::samples));
  // The same figures as where all are analysed.
  const auto all = analyze_pc_samples(samples, PcIntervalSource::given, {}, {}, {recorded});
  EXPECT_EQ(all.kernels.size(), kMostPcKernels);
  EXPECT_EQ(all.sets.front().samples, set.samples);
  EXPECT_EQ(all.sets.front().kernel_unknown, set.kernel_unknown);
  EXPECT_EQ(all.sets.front().in_kernels + all.sets.front().other_kernels + set.kernel_unknown,
            set.samples);
}

TEST(PcQuality, HostTrapsHaveNoReasons) {
  PcRun run = copy_run(20);
  run.stochastic = false;
  const PcSampling sampling = analysis_of(run, 512);
  const KernelPcSamples& kernel = sampling.kernels.front();
  EXPECT_GT(kernel.samples, 1000U);
  EXPECT_FALSE(kernel.features.issued.value);
  EXPECT_FALSE(kernel.features.memory_wait.value);
  EXPECT_TRUE(kernel.features.lanes_active.value);
  EXPECT_TRUE(kernel.xccs.empty());
  EXPECT_FALSE(kernel.slots_alias);  // slots are by chance
  for (const char* const field : {"stalled", "arbiter", "waves", "features.memory_wait",
                                  "features.waves_per_busy_cu", "quality.expected"})
    EXPECT_TRUE(is_missing(kernel.missing, field)) << field;
  EXPECT_TRUE(kernel.instructions.front().share.interval);
  EXPECT_EQ(kernel.confidence, Confidence::low);
}

TEST(PcQuality, AnXccThatIsAskedAtOneSlotIsFlagged) {
  PcRun run = copy_run(20);
  run.stochastic = false;
  auto samples = samples_of(run, 512);
  for (auto& id : samples.hardware) id.wave_slot = id.xcc;
  const PcSampling sampling = analysis_of(samples);
  EXPECT_TRUE(sampling.kernels.front().slots_alias);
  EXPECT_TRUE(any_contains(sampling.warnings, "one wave slot of its own"));
}

TEST(PcQuality, ImpossibleSamplesAreCounted) {
  auto samples = samples_of(copy_run());
  for (std::size_t i = 0; i < samples.size(); i += 4) {
    samples.arbiter_issue[i] = 0;
    samples.arbiter_stall[i] = 1;
  }
  const PcSampling sampling = analysis_of(samples);
  const KernelPcSamples& kernel = sampling.kernels.front();
  EXPECT_EQ(kernel.arbiter->contradictions, (samples.size() + 3) / 4);
  EXPECT_EQ(kernel.confidence, Confidence::low);
  using enum pc_sampling::StallKind;
  PcInstruction wait, add, nop;
  wait.text = "s_waitcnt vmcnt(0)";
  add.text = "v_add_f32 v0, v1, v2";
  nop.text = "s_nop 0";
  EXPECT_TRUE(contradicts(wait, true, {}, "gfx942"));
  EXPECT_FALSE(contradicts(wait, false, waitcnt, "gfx942"));
  EXPECT_TRUE(contradicts(wait, false, alu_dependency, "gfx942"));
  EXPECT_FALSE(contradicts(wait, false, no_instruction, "gfx942"));
  EXPECT_TRUE(contradicts(add, false, waitcnt, ""));
  EXPECT_TRUE(contradicts(add, false, barrier_wait, "gfx1201"));
  EXPECT_FALSE(contradicts(nop, false, internal_instruction, "gfx942"));
  EXPECT_TRUE(contradicts(nop, false, arbiter_not_win, "gfx942"));
  EXPECT_FALSE(contradicts(add, false, arbiter_not_win, "gfx942"));
}

TEST(PcQuality, CuptiHasCountsWithoutTicks) {
  pc_sampling::PcSamples samples;
  samples.method = pc_sampling::Method::cupti;
  samples.form = pc_sampling::Form::cuda_recording;
  samples.sources.emplace_back().file = "run.db";
  samples.agents.emplace_back().arch = "sm_90";
  samples.code_objects.emplace_back().agent = 0;
  pc_sampling::Kernel& copy = samples.kernels.emplace_back();
  copy.code_object = 0;
  copy.mangled_name = copy.name = "copy";
  samples.reasons = {{"selected", pc_sampling::StallKind::selected, false},
                     {"long_scoreboard", pc_sampling::StallKind::long_scoreboard, false},
                     {"long_scoreboard", pc_sampling::StallKind::long_scoreboard, true},
                     {"wait", pc_sampling::StallKind::fixed_latency, true}};
  const auto add = [&](std::uint64_t offset, std::uint8_t reason, std::uint64_t count) {
    pc_sampling::Pc& pc = samples.pcs.emplace_back();
    pc.code_object = pc.kernel = 0;
    pc.offset = offset;
    pc.decoded = true;
    pc.instruction = "+" + std::to_string(offset);
    samples.source.push_back(0);
    samples.pc.push_back(static_cast<pc_sampling::Index>(samples.pcs.size() - 1));
    samples.flags.push_back(reason == 0 ? pc_sampling::kIssued : 0);
    samples.reason.push_back(reason);
    samples.weight.push_back(count);
  };
  add(0x10, 0, 100);
  add(0x20, 1, 200);
  add(0x20, 2, 600);
  add(0x30, 3, 100);
  const PcSampling sampling = analysis_of(samples);
  ASSERT_EQ(sampling.kernels.size(), 1U);
  const KernelPcSamples& kernel = sampling.kernels.front();
  EXPECT_EQ(kernel.samples, 1000U);
  EXPECT_EQ(kernel.issued.samples, 100U);
  ASSERT_EQ(kernel.reasons.size(), 2U);
  EXPECT_EQ(kernel.reasons.front().name, "long_scoreboard");
  EXPECT_EQ(kernel.reasons.front().samples, 800U);
  EXPECT_EQ(*kernel.features.memory_wait.value, 0.8);
  EXPECT_EQ(kernel.features.memory_wait.interval, stats::wilson(800, 1000));
  EXPECT_EQ(*kernel.features.simd_latency.value, 0.7);
  EXPECT_EQ(kernel.intervals, PcIntervals::independent);
  EXPECT_EQ(kernel.confidence, Confidence::medium);
  EXPECT_EQ(kernel.instructions[kernel.hot.front()].text, "+32");
  EXPECT_EQ(kernel.instructions[kernel.hot.front()].samples, 800U);
}

TEST(PcQuality, NothingAtAllIsSaid) {
  PcRun run = copy_run(1);
  run.ticks = 0;
  const PcSampling sampling = analysis_of(run);
  EXPECT_TRUE(sampling.kernels.empty());
  EXPECT_EQ(sampling.sets.front().samples, 0U);
  EXPECT_TRUE(any_contains(sampling.warnings, "hold none"));
}

}  // namespace
}  // namespace perflab::analyze
