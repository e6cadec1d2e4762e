// The recorded captures against the table in the SOURCE.md beside them and the identities of
// docs/facts/thread_trace.md "Sums". They are not part of the project: without them these tests are
// skipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <tuple>

#include "att/att_checks.h"
#include "base/temp_folder.h"
#include "base/text/text.h"

namespace perflab::att {
namespace {

namespace fs = std::filesystem;

/// Numbers of a capture's line in the table of SOURCE.md, from the column "waves" on.
std::vector<std::int64_t> facts_of(const std::string& capture) {
  const std::string table = test::text_of(test::recorded_traces() / "SOURCE.md");
  std::string_view line(table);
  line.remove_prefix(std::min(table.find("\n| " + capture + " |"), table.size()));
  line = line.substr(0, line.find('\n', 1));
  std::vector<std::int64_t> numbers;
  for (int column = 0; line.find('|') != std::string_view::npos; ++column) {
    line.remove_prefix(line.find('|') + 1);
    const std::string_view cell = trimmed(line.substr(0, line.find('|')));
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
    if (column >= 4 && error == std::errc{}) numbers.push_back(number);
  }
  return numbers;
}

class Recorded : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    folder_ = test::recorded_traces() / GetParam();
    if (!fs::exists(folder_)) GTEST_SKIP() << "skipped: " << folder_ << " is not there";
  }
  /// Of the capture; read once for all tests.
  const WholeTrace& whole() {
    static std::map<std::string, WholeTrace> all;
    const auto [place, added] = all.try_emplace(GetParam());
    if (added) place->second = read_whole(folder_, 2);
    return place->second;
  }

  fs::path folder_;
};

TEST_P(Recorded, HasTheTotalsOfTheTable) {
  const std::vector<std::int64_t> facts = facts_of(GetParam());
  ASSERT_EQ(facts.size(), 6U) << "the table of SOURCE.md has no such line";
  const ThreadTrace& trace = whole().trace;
  LineSums total;
  for (const CodeRow& row : trace.code) {
    total.hits += row.hits;
    total.latency += row.latency;
    total.stall += row.stall;
    total.idle += row.idle;
  }
  EXPECT_EQ(std::ssize(trace.waves), facts[0]);
  EXPECT_EQ(std::ssize(trace.code), facts[1]);
  EXPECT_EQ((std::vector{total.hits, total.latency, total.stall, total.idle}),
            std::vector(facts.begin() + 2, facts.end()));
  EXPECT_EQ(trace.version, "3.1.0");
  EXPECT_EQ(trace.dropped, Dropped{});
  EXPECT_TRUE(std::ranges::all_of(whole().visited, std::identity{}));
}

TEST_P(Recorded, LinesHaveTheSumsOfTheWaves) {
  const std::vector<LineSums> sums = sums_over_waves(whole());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const CodeRow& row = whole().trace.code[i];
    EXPECT_EQ(sums[i], (LineSums{row.hits, row.latency, row.stall, row.idle})) << row.text;
  }
}

/// Cycles of a wave that more than one instruction has (gfx10 and later), and those behind its last
/// instruction when that one's address was not known (a context save took the wave away).
std::pair<std::int64_t, std::int64_t> overlap_and_cut(const Wave& wave) {
  std::int64_t overlap = 0, last = wave.begin;
  for (const WaveInstruction& instruction : wave.instructions) {
    if (instruction.row == kNoRow) continue;
    const std::int64_t end = instruction.time + instruction.duration;
    overlap += std::max<std::int64_t>(0, std::min(last, end) - instruction.time);
    last = std::max(last, end);
  }
  const bool cut = !wave.instructions.empty() && wave.instructions.back().row == kNoRow;
  return {overlap, cut ? wave.end - last : 0};
}

TEST_P(Recorded, CyclesAreTheLivesOfTheWaves) {
  std::int64_t cycles = 0, lives = 0, timelines = 0, overlaps = 0, cuts = 0;
  for (const CodeRow& row : whole().trace.code) cycles += row.latency + row.idle;
  for (const Wave& wave : whole().waves) {
    lives += wave.end - wave.begin;
    for (const StateRun& run : wave.timeline) timelines += run.duration;
    const auto [overlap, cut] = overlap_and_cut(wave);
    overlaps += overlap;
    cuts += cut;
  }
  EXPECT_LE(std::abs(cycles - overlaps + cuts - lives), 4 * std::ssize(whole().waves));
  EXPECT_LE(std::abs(timelines - lives), 4 * std::ssize(whole().waves));
  // Where neither happens the cycles are the lives, as docs/facts/thread_trace.md "Sums" has it.
  const bool plain = whole().trace.gfxip == 9 && std::string_view(GetParam()) != "mi300_pc2";
  EXPECT_TRUE(!plain || (overlaps == 0 && cuts == 0));
}

/// The step functions of the wstates files are those of the waves' timelines.
TEST_P(Recorded, StatesAreThoseOfTheTimelines) {
  for (std::size_t state = 1; state < kWaveStates; ++state) {
    std::int64_t in_files = 0, in_waves = 0;
    const StateSteps& steps = whole().trace.states[state];
    for (std::size_t i = 1; i < steps.time.size(); ++i)
      in_files += steps.count[i - 1] * (steps.time[i] - steps.time[i - 1]);
    for (const Wave& wave : whole().waves)
      for (const StateRun& run : wave.timeline)
        if (run.state == static_cast<WaveState>(state)) in_waves += run.duration;
    EXPECT_EQ(in_files, in_waves) << "state " << state;
  }
}

TEST_P(Recorded, TheStatsFileSaysWhatTheCodeSays) {
  const auto& name = whole().trace.name;
  const auto stats =
      read({.folder = {}, .stats = folder_ / ("stats_" + name + ".csv"), .name = name});
  ASSERT_TRUE(stats) << describe(stats.error());
  EXPECT_EQ(stats->form, Form::stats);
  EXPECT_EQ(stats->dispatch_id, whole().trace.dispatch_id);
  std::vector<CodeRow> code = whole().trace.code;
  std::ranges::stable_sort(
      code, {}, [](const CodeRow& row) { return std::tuple(row.code_object, row.vaddr); });
  for (CodeRow& row : code) row.line = -1;
  EXPECT_TRUE(stats->code == code);
}

TEST_P(Recorded, EveryWaveHasItsStartAndEndInTheOccupancy) {
  for (const Wave& wave : whole().waves) {
    const auto engine =
        std::ranges::find(whole().trace.engines, wave.place.shader_engine, &ShaderEngine::number);
    ASSERT_NE(engine, whole().trace.engines.end());
    const auto is_start = [&](const OccupancyRow& row) {
      return row.start && row.time == wave.begin && row.cu == wave.place.cu &&
             row.simd == wave.place.simd && row.slot == wave.place.slot;
    };
    EXPECT_EQ(std::ranges::count_if(engine->occupancy, is_start), 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Captures, Recorded,
                         testing::Values("mi300_gemmv2", "mi300_pc2", "mi300_shaderdata",
                                         "mi350_histo0", "navi4_barriernop", "navi4_sdata"));

/// What single captures have that the others lack.
TEST(RecordedParts, AreThere) {
  const fs::path folder = test::recorded_traces();
  if (!fs::exists(folder)) GTEST_SKIP() << "skipped: " << folder << " is not there";
  const WholeTrace navi = read_whole(folder / "navi4_sdata");
  EXPECT_EQ(navi.trace.gfxip, 12);
  EXPECT_EQ(navi.trace.agent_handle, 47889);
  EXPECT_EQ(navi.trace.dispatch_id, 1);
  EXPECT_EQ(navi.trace.realtime_hz, std::nullopt);  // recorded as 0
  ASSERT_EQ(navi.trace.engines.size(), 1U);
  EXPECT_EQ(navi.trace.engines[0].shader_data.size(), 408U);
  ASSERT_EQ(navi.trace.engines[0].other_simds.size(), 1U);
  EXPECT_EQ(navi.trace.engines[0].other_simds[0].instructions, 160);
  EXPECT_EQ(navi.trace.engines[0].occupancy.size(), 512U);
  EXPECT_EQ(navi.trace.kernels.at(1), "_Z9vectoropsv");
  EXPECT_TRUE(navi.waves.at(0).links.empty());

  const WholeTrace data = read_whole(folder / "mi300_shaderdata");
  EXPECT_EQ(data.trace.realtime_hz, 100'000'000);
  EXPECT_EQ(data.trace.engines.at(0).clock.size(), 2U);
  const Wave& wave = data.waves.at(0);
  ASSERT_EQ(wave.links.size(), 4U);
  EXPECT_EQ(wave.links[0].row, 6U);
  EXPECT_EQ(std::vector(wave.link_targets.begin(), wave.link_targets.begin() + 6),
            (std::vector<RowIndex>{1, 2, 3, 4, 18, 20}));

  // Category 10 on line 0, which is a label: not attributed. Line 0 of the histogram is code.
  const WholeTrace several = read_whole(folder / "mi300_pc2");
  const auto is_unknown = [](const WaveInstruction& i) { return i.row == kNoRow; };
  std::int64_t unknown = 0;
  for (const Wave& w : several.waves) unknown += std::ranges::count_if(w.instructions, is_unknown);
  EXPECT_EQ(unknown, 22);
  EXPECT_EQ(several.trace.kernels.size(), 4U);
  EXPECT_EQ(several.trace.engines.at(0).trace_stalls + several.trace.engines.at(1).trace_stalls +
                several.trace.engines.at(2).trace_stalls,
            1U);
  const WholeTrace histogram = read_whole(folder / "mi350_histo0");
  for (const Wave& w : histogram.waves)
    EXPECT_EQ(std::ranges::count_if(w.instructions, is_unknown), 0);
}

}  // namespace
}  // namespace perflab::att
