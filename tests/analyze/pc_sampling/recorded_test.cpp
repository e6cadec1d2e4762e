// Figures of the recordings that AMD published (docs/facts/pc_sampling.md), against what was
// counted in them by hand. They are not part of the project: without them these tests are skipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "analyze/pc_sampling/samples_of.h"
#include "pc_sampling/read_pc_samples.h"

namespace perflab::analyze {
namespace {

namespace fs = std::filesystem;
using pc_sampling::StallKind;

class RecordedPcSampling : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(folder())) GTEST_SKIP() << "skipped: " << folder() << " is not there";
  }
  static fs::path folder() { return fs::path(PERFLAB_SHARED_DIR) / "data/pc_sampling"; }
  static PcSampling analyze_place(const std::string& name,
                                  std::optional<std::uint64_t> interval = {}) {
    auto sampling = make_pc_sampling(
        {.places = {folder() / name}, .interval = interval, .code_files = {}, .search_code = false},
        {}, {});
    EXPECT_TRUE(sampling) << describe(sampling.error());
    return sampling ? std::move(*sampling) : PcSampling{};
  }
};

const PcReason* reason_of(const KernelPcSamples& kernel, StallKind kind) {
  const auto found = std::ranges::find(kernel.reasons, kind, &PcReason::kind);
  return found == kernel.reasons.end() ? nullptr : &*found;
}

TEST_F(RecordedPcSampling, TableOfTheDocumentation) {
  const PcSampling sampling =
      analyze_place("sdk_docs_mi300_stochastic/pc_sampling_stochastic_debug.csv");
  ASSERT_EQ(sampling.kernels.size(), 1U);
  const KernelPcSamples& kernel = sampling.kernels.front();
  EXPECT_TRUE(kernel.kernel_unknown);
  EXPECT_EQ(kernel.samples, 97U);
  EXPECT_EQ(kernel.issued.samples, 20U);
  EXPECT_EQ(kernel.stalled.samples, 77U);
  const PcReason* const waits = reason_of(kernel, StallKind::waitcnt);
  ASSERT_NE(waits, nullptr);
  EXPECT_EQ(waits->samples, 71U);
  EXPECT_EQ(reason_of(kernel, StallKind::other_wait), nullptr);  // those are of issued samples
  EXPECT_EQ(reason_of(kernel, StallKind::alu_dependency)->samples, 5U);
  EXPECT_EQ(reason_of(kernel, StallKind::no_instruction)->samples, 1U);
  EXPECT_NEAR(*waits->of_all.value, 0.732, 0.0005);
  EXPECT_NEAR(*waits->of_wave_time.value, 0.777, 0.0005);
  EXPECT_NEAR(*waits->of_stalled.value, 71.0 / 77, 1e-12);
  // 48 dispatches stand for ticks, which the table does not tell.
  EXPECT_EQ(kernel.ticks, 48U);
  ASSERT_TRUE(waits->of_all.interval);
  EXPECT_LE(waits->of_all.interval->low, 0.636 + 0.0005);
  EXPECT_GE(waits->of_all.interval->high, 0.810 - 0.0005);
  EXPECT_FALSE(kernel.refusals.empty());
  EXPECT_FALSE(kernel.features.memory_wait.value);
  EXPECT_EQ(kernel.confidence, Confidence::low);
}

TEST_F(RecordedPcSampling, OneSampleIsTooFew) {
  const PcSampling sampling = analyze_place("vcopy_mi300x_1sample");
  ASSERT_EQ(sampling.sets.size(), 1U);
  EXPECT_EQ(sampling.sets.front().interval_source, PcIntervalSource::config);
  ASSERT_TRUE(sampling.sets.front().interval);
  EXPECT_EQ(sampling.sets.front().interval->value, 1'048'576U);
  ASSERT_EQ(sampling.kernels.size(), 1U);
  const KernelPcSamples& kernel = sampling.kernels.front();
  EXPECT_TRUE(kernel.kernel.starts_with("vecCopy(")) << kernel.kernel;
  EXPECT_EQ(kernel.samples, 1U);
  ASSERT_EQ(kernel.instructions.size(), 1U);
  EXPECT_EQ(kernel.instructions.front().text, "s_waitcnt vmcnt(0)");
  EXPECT_EQ(kernel.instructions.front().in_kernel, 104U);
  EXPECT_EQ(kernel.instructions.front().offset, 8040U);
  EXPECT_EQ(kernel.instructions.front().wait, PcWait::vector_memory);
  EXPECT_EQ(*kernel.waves->mean.value, 12);
  EXPECT_EQ(kernel.quality.dispatches, 3U);
  EXPECT_EQ(kernel.quality.dispatches_sampled, 1U);
  EXPECT_EQ(kernel.intervals, PcIntervals::none);
  EXPECT_FALSE(kernel.features.memory_wait.value);
  ASSERT_FALSE(kernel.refusals.empty());
  EXPECT_EQ(kernel.refusals.front(), "1 samples of this kernel are too few: 100 are needed");
  EXPECT_TRUE(is_missing(kernel.missing, "features"));
}

std::uint64_t used(const KernelPcSamples& kernel, pc_sampling::Pipe pipe) {
  return kernel.arbiter->pipes[static_cast<std::size_t>(pipe)].used.samples;
}

std::uint64_t pushed_back(const KernelPcSamples& kernel, pc_sampling::Pipe pipe) {
  return kernel.arbiter->pipes[static_cast<std::size_t>(pipe)].backpressured.samples;
}

TEST_F(RecordedPcSampling, ExcerptOfAnMi350) {
  const PcSampling sampling = analyze_place("vcopy_mi350_excerpt", 65536);
  ASSERT_EQ(sampling.kernels.size(), 1U);
  const KernelPcSamples& kernel = sampling.kernels.front();
  EXPECT_EQ(kernel.samples, 31U);
  EXPECT_EQ(kernel.issued.samples, 1U);
  EXPECT_EQ(reason_of(kernel, StallKind::arbiter_not_win)->samples, 2U);
  EXPECT_EQ(reason_of(kernel, StallKind::waitcnt)->samples, 28U);
  EXPECT_EQ(kernel.waits[static_cast<std::size_t>(PcWait::vector_memory)].samples, 26U);
  EXPECT_EQ(kernel.waits[static_cast<std::size_t>(PcWait::scalar)].samples, 2U);
  EXPECT_EQ(kernel.waits[static_cast<std::size_t>(PcWait::unknown)].samples, 0U);
  ASSERT_TRUE(kernel.arbiter);
  EXPECT_EQ(kernel.arbiter->contradictions, 0U);
  using enum pc_sampling::Pipe;
  EXPECT_EQ(used(kernel, scalar), 4U);
  EXPECT_EQ(used(kernel, valu), 3U);
  EXPECT_EQ(used(kernel, flat), 1U);
  EXPECT_EQ(used(kernel, misc), 1U);
  EXPECT_EQ(pushed_back(kernel, valu), 1U);
  EXPECT_EQ(pushed_back(kernel, flat), 1U);
  EXPECT_EQ(kernel.ticks, 3U);
  ASSERT_EQ(kernel.xccs.size(), 2U);
  EXPECT_EQ(kernel.xccs[0].xcc, 0U);
  EXPECT_EQ(kernel.xccs[0].ticks, 2U);
  EXPECT_EQ(kernel.xccs[0].samples.samples, 24U);
  EXPECT_EQ(kernel.xccs[1].xcc, 3U);
  EXPECT_EQ(kernel.xccs[1].ticks, 1U);
  EXPECT_EQ(kernel.xccs[1].samples.samples, 7U);
}

TEST_F(RecordedPcSampling, HostTrapsSayWhereOnly) {
  const PcSampling sampling = analyze_place("sdk_docs_mi200_host_trap/pc_sampling_host_trap.csv");
  ASSERT_EQ(sampling.kernels.size(), 1U);
  const KernelPcSamples& kernel = sampling.kernels.front();
  EXPECT_EQ(kernel.samples, 79U);
  EXPECT_FALSE(kernel.stalled.share.value);
  EXPECT_TRUE(kernel.reasons.empty());
  EXPECT_FALSE(kernel.waves);
  EXPECT_FALSE(kernel.arbiter);
  EXPECT_EQ(instruction_of(kernel, "s_endpgm").samples, 36U);
  for (const char* const field : {"stalled", "waves", "arbiter"})
    EXPECT_TRUE(is_missing(kernel.missing, field)) << field;
}

}  // namespace
}  // namespace perflab::analyze
