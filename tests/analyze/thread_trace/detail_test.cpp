// The detail of traced kernels, from folders that the test writes: all code of the kernel, texts of
// its sources, all waits, and the sums that hold between them.
#include "analyze/thread_trace/detail.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "analyze/thread_trace/fold.h"
#include "analyze/thread_trace/make_thread_traces.h"
#include "support/att_writer.h"

namespace perflab::analyze {
namespace {

namespace fs = std::filesystem;
using test::UiOutput;
using test::UiStep;

class DetailTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* const info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(PERFLAB_BINARY_DIR) / "test-files" / "thread_trace_detail" / info->name();
    fs::remove_all(folder_);
  }

  ThreadTraces make(const fs::path& place, bool keep_detail = true) {
    auto made = make_thread_traces({place}, {}, {}, 2, keep_detail);
    EXPECT_TRUE(made) << describe(made.error());
    return made ? std::move(*made) : ThreadTraces{};
  }
  ThreadTraces make(const UiOutput& output) { return make(test::write_ui_output(folder_, output)); }

  fs::path folder_;
};

/// Loads, waits and a branch that is never taken; three waves.
UiOutput scale_kernel() {
  UiOutput out;
  out.code = {{.text = "; _Z5scalePf", .source = "scale(float*)"},
              {.text = "global_load_dword v1, v0, s[0:1]",
               .source = "/usr/lib/hip/../hip/inner.h:7 -> /src/scale.hip:4"},
              {.text = "s_waitcnt vmcnt(0)", .source = "/src/scale.hip:4"},
              {.text = "v_mul_f32_e32 v1, v1, v1"},
              {.text = "s_trap 2", .source = "/src/scale.hip:9"},
              {.text = "s_endpgm", .source = "/src/scale.hip:0"}};
  out.kernels = {{1, "_Z5scalePf"}};
  out.sources = {{"/usr/lib/hip/inner.h", "inner\n"}};
  const UiStep steps[] = {{.line = 1, .idle = 100},
                          {.line = 2, .issue = 0, .stall = 300, .causes = {1}},
                          {.line = 3},
                          {.line = 5, .idle = 20}};
  for (int i = 0; i < 3; ++i) test::add_ui_wave(out, {.simd = i, .begin = 1000 + i}, steps);
  return out;
}

TEST_F(DetailTest, IsKeptOnlyWhereAskedFor) {
  const fs::path place = test::write_ui_output(folder_, scale_kernel());
  EXPECT_EQ(make(place, false).kernels.at(0).detail, nullptr);
  EXPECT_NE(make(place, true).kernels.at(0).detail, nullptr);
}

TEST_F(DetailTest, HasAllInstructionsInOrder) {
  const ThreadTraces made = make(scale_kernel());
  ASSERT_EQ(made.kernels.size(), 1U);
  const KernelThreadTrace& kernel = made.kernels[0];
  const TraceDetail& detail = *kernel.detail;
  ASSERT_EQ(detail.rows.size(), 5U);
  for (std::size_t i = 0; i < detail.rows.size(); ++i) EXPECT_EQ(detail.rows[i].row, i + 1);
  EXPECT_EQ(detail.rows[0].source, "/usr/lib/hip/../hip/inner.h:7 -> /src/scale.hip:4");
  EXPECT_EQ(detail.rows[0].sums.hits, 3);
  EXPECT_EQ(detail.rows[0].wait_caused, 900);
  EXPECT_EQ(detail.rows[0].instruction_class, code::InstructionClass::vmem_load);
  EXPECT_EQ(detail.rows[1].sums.latency, 900);
  EXPECT_EQ(detail.rows[2].source, "");
  EXPECT_EQ(detail.rows[3].text, "s_trap 2");
  EXPECT_EQ(detail.rows[3].sums.hits, 0);
  EXPECT_EQ(detail.rows[3].vaddr, 4096U + 3 * 8);
  ASSERT_EQ(detail.labels.size(), 1U);
  EXPECT_EQ(detail.labels[0].row, 0U);
  EXPECT_EQ(detail.labels[0].name, "scale(float*)");
  CycleSums sums;
  for (const DetailRow& row : detail.rows) add_sums(row.sums, sums);
  EXPECT_EQ(sums.hits, kernel.sums.hits);
  EXPECT_EQ(sums.cost(), kernel.sums.cost());
  ASSERT_EQ(detail.waits.size(), 1U);
  EXPECT_EQ(detail.waits[0].wait, 2U);
  EXPECT_EQ(detail.waits[0].cause, 1U);
  EXPECT_EQ(detail.waits[0].cycles, 900);
  EXPECT_EQ(detail.waits[0].times, 3U);
}

TEST_F(DetailTest, HasTheStatesOfTheWaves) {
  const ThreadTraces made = make(scale_kernel());
  const TraceDetail& detail = *made.kernels.at(0).detail;
  EXPECT_EQ(detail.wave_count, 3U);
  ASSERT_EQ(detail.waves.size(), 3U);
  EXPECT_EQ(detail.waves[2].place.simd, 2);
  EXPECT_EQ(detail.waves[2].begin, 1002);
  EXPECT_EQ(detail.waves[2].instructions, 4U);
  ASSERT_EQ(detail.states.size(), 1U);
  std::array<std::int64_t, att::kWaveStates> sums{};
  for (const StateBins::Bin& bin : detail.states.at(0).bins())
    for (std::size_t state = 0; state < sums.size(); ++state) sums[state] += bin[state];
  EXPECT_EQ(sums, made.kernels[0].states);
  EXPECT_GT(sums[static_cast<std::size_t>(att::WaveState::wait)], 0);
}

TEST_F(DetailTest, SourcesAreTheTracesOwnCopies) {
  const ThreadTraces made = make(scale_kernel());
  const auto& sources = made.kernels.at(0).detail->sources;
  ASSERT_EQ(sources.size(), 2U);
  EXPECT_EQ(sources.at("/usr/lib/hip/../hip/inner.h").text, "inner\n");  // by another way to it
  const DetailSource& none = sources.at("/src/scale.hip");
  EXPECT_FALSE(none.text);
  EXPECT_EQ(none.missing.reason, "the trace has no copy of this file");
  EXPECT_FALSE(none.missing.remedy.empty());
}

TEST_F(DetailTest, ACopyThatIsNoPlainFileIsNotRead) {
  const fs::path place = test::write_ui_output(folder_, scale_kernel());
  const fs::path copy = place / "source_0_inner.h";
  ASSERT_TRUE(fs::exists(copy));
  std::ofstream(folder_ / "secret") << "secret";
  fs::remove(copy);
  fs::create_symlink(folder_ / "secret", copy);
  const ThreadTraces made = make(place);
  const DetailSource& source = made.kernels.at(0).detail->sources.at("/usr/lib/hip/../hip/inner.h");
  EXPECT_FALSE(source.text);
  EXPECT_NE(source.missing.reason.find("no plain file"), std::string::npos);
  fs::remove(copy);
  EXPECT_FALSE(make(place).kernels.at(0).detail->sources.at("/usr/lib/hip/../hip/inner.h").text);
}

TEST_F(DetailTest, AStatsFileHasRowsAndNoWaves) {
  static_cast<void>(test::write_ui_output(folder_, scale_kernel()));
  const ThreadTraces made = make(folder_ / "stats_ui_output_agent_1_dispatch_1.csv");
  const KernelThreadTrace& kernel = made.kernels.at(0);
  ASSERT_TRUE(kernel.from_stats);
  EXPECT_EQ(kernel.detail->rows.size(), 5U);
  const auto cost =
      std::accumulate(kernel.detail->rows.begin(), kernel.detail->rows.end(), std::int64_t{0},
                      [](std::int64_t sum, const DetailRow& row) { return sum + row.sums.cost(); });
  EXPECT_EQ(cost, kernel.sums.cost());
  EXPECT_TRUE(kernel.detail->waits.empty());
  EXPECT_TRUE(kernel.detail->states.empty());
  EXPECT_EQ(kernel.detail->wave_count, 0U);
  EXPECT_FALSE(kernel.detail->sources.at("/src/scale.hip").text);
}

TEST(ThreadTraceFrames, AreAFileAndALine) {
  EXPECT_EQ(split_frame("/a b/c.hip:12"), (SourceFrame{.path = "/a b/c.hip", .line = 12}));
  EXPECT_EQ(split_frame("c.hip:0"), (SourceFrame{.path = "c.hip", .line = 0}));
  for (const char* text : {"scale(float*)", "c.hip:", "c.hip:-1", "c.hip:1x", ":7", "a::b",
                           "c.hip:99999999999999999999", ""})
    EXPECT_EQ(split_frame(text), (SourceFrame{.path = text, .line = 0})) << text;
}

}  // namespace
}  // namespace perflab::analyze
