// The recorded tables of counters (shared/data/pmc), read whole: against each other, against the
// databases of the same runs, and against the figures that stand in the SOURCE.md beside them.
// Without the recorded files these tests are skipped.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "trace/read/read_trace.h"
#include "trace/trace_checks.h"

namespace perflab::trace {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;

fs::path tables() {
  return fs::path(PERFLAB_SHARED_DIR) / "data/pmc";
}

Trace read_files(const Paths& files) {
  Result<Trace> trace = read(files, {.threads = 1});
  if (trace) return std::move(*trace);
  ADD_FAILURE() << describe(trace.error());
  return {};
}

/// One counter of one dispatch: instances, sum, min, max.
using Figures = std::tuple<std::uint32_t, double, double, double>;
/// By recording (its position), dispatch number and counter.
using Values = std::map<std::tuple<Index, std::int64_t, std::string>, Figures>;

Values values_of(const Trace& trace) {
  Values values;
  const CounterColumns& all = trace.counters;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Index dispatch = all.dispatch[i];
    const Index source = trace.source_of_track(trace.dispatches.track[dispatch]);
    const std::string name(trace.strings.view(trace.counter_infos[all.counter[i]].name));
    values[{source, trace.dispatches.dispatch_id[dispatch], name}] = {all.instances[i], all.sum[i],
                                                                      all.min[i], all.max[i]};
  }
  return values;
}

/// Sums of a counter by dispatch number, and the recordings that they are of.
std::pair<std::map<std::int64_t, double>, std::set<Index>> recorded_sums_of(
    const Trace& trace, const std::string& counter) {
  std::map<std::int64_t, double> sums;
  std::set<Index> sources;
  for (const auto& [key, figures] : values_of(trace)) {
    if (std::get<2>(key) != counter) continue;
    sums[std::get<1>(key)] = std::get<1>(figures);
    sources.insert(std::get<0>(key));
  }
  return {sums, sources};
}

using Sums = std::map<std::int64_t, double>;

TEST(RecordedTables, TheMergedTableOfMi300xIsEighteenPasses) {
  const fs::path file = tables() / "vcopy/MI300X_A1/pmc_perf.csv";
  PERFLAB_SKIP_WITHOUT(file);
  const Trace trace = read_files({file});
  ASSERT_EQ(trace.sources.size(), 18U);
  for (const Source& source : trace.sources) {
    EXPECT_EQ(source.collector, "rocprof-compute");
    EXPECT_TRUE(source.counter_table && source.flat_sizes);
    EXPECT_FALSE(source.times_known);  // 8.1097E+14
  }
  EXPECT_EQ(trace.dispatches.size(), 18U * 3U);
  EXPECT_EQ(trace.report.dropped, (std::map<ReadReport::Key, std::uint64_t>{}));

  const auto [bubble, bubble_sources] = recorded_sums_of(trace, "TCC_BUBBLE_sum");
  EXPECT_EQ(bubble, (Sums{{0, 65536}, {1, 65536}, {2, 65536}}));
  const auto [reads, read_sources] = recorded_sums_of(trace, "TCC_EA0_RDREQ_sum");
  EXPECT_EQ(reads, (Sums{{0, 65775}, {1, 65763}, {2, 65758}}));
  // The formula's two inputs are of one pass; the cycles are of another.
  EXPECT_EQ(bubble_sources.size(), 1U);
  EXPECT_EQ(bubble_sources, read_sources);
  const auto [cycles, cycle_sources] = recorded_sums_of(trace, "GRBM_GUI_ACTIVE");
  EXPECT_EQ(cycles, (Sums{{0, 2572147}, {1, 2494642}, {2, 2536062}}));
  EXPECT_NE(cycle_sources, bubble_sources);
  // 128 channels of another pass add up to what that pass saw.
  const auto [hits, hit_sources] = recorded_sums_of(trace, "TCC_HIT");
  EXPECT_EQ(hits.at(0), 66160);
  EXPECT_EQ(recorded_sums_of(trace, "TCC_HIT_sum").first.at(0), 66160);
  EXPECT_NE(hit_sources, recorded_sums_of(trace, "TCC_HIT_sum").second);
  EXPECT_EQ(std::get<0>(values_of(trace).at({*hit_sources.begin(), 0, "TCC_HIT"})), 128U);

  ASSERT_EQ(trace.agents.size(), 1U);
  EXPECT_EQ(trace.agents[0].name, "gfx942");
  EXPECT_EQ(trace.agents[0].product, "MI300X_A1");
  EXPECT_EQ(trace.agents[0].model, "MI300X");
  EXPECT_EQ(trace.agents[0].id, 2);
  EXPECT_EQ(trace.agents[0].facts.compute_units, 304);
  EXPECT_EQ(trace.agents[0].facts.xcc_count, 8);
  EXPECT_EQ(trace.agents[0].facts.clock_mhz, 2100);
  EXPECT_EQ(kernel_name(trace, 0), "vecCopy(double*, double*, double*, int, int)");
  ASSERT_EQ(trace.launch_configs.size(), 1U);
  EXPECT_THAT(trace.launch_configs[0].grid, ElementsAre(1048576, 1, 1));
  EXPECT_THAT(trace.launch_configs[0].workgroup, ElementsAre(256, 1, 1));
}

TEST(RecordedTables, TheAccumulatorIsNamedAfterItsLevelCounter) {
  const fs::path folder = tables() / "vcopy/MI300X_A1";
  PERFLAB_SKIP_WITHOUT(folder);
  const Trace trace = read_files({folder / "SQ_LEVEL_WAVES.csv", folder / "SQ_IFETCH_LEVEL.csv",
                                  folder / "SQ_INST_LEVEL_SMEM.csv"});
  EXPECT_EQ(trace.sources.size(), 3U);
  EXPECT_EQ(recorded_sums_of(trace, "SQ_LEVEL_WAVES_ACCUM").first.at(0), 155189876);
  EXPECT_EQ(recorded_sums_of(trace, "SQ_IFETCH_LEVEL_ACCUM").first.at(1), 1048588);
  EXPECT_EQ(recorded_sums_of(trace, "SQ_INST_LEVEL_SMEM_ACCUM").first.at(0), 295366648);
  EXPECT_TRUE(recorded_sums_of(trace, "SQ_ACCUM_PREV_HIRES").first.empty());
  EXPECT_EQ(recorded_sums_of(trace, "SQ_INST_LEVEL_SMEM").first.at(0), 3692420);
}

TEST(RecordedTables, ATableOfTimesHasDispatchesAndNoCounters) {
  const fs::path file = tables() / "vcopy/MI300X_A1/timestamps.csv";
  PERFLAB_SKIP_WITHOUT(file);
  const Trace trace = read_files({file});
  EXPECT_EQ(trace.dispatches.size(), 3U);
  EXPECT_EQ(trace.counters.size(), 0U);
}

Paths mi210_tables() {
  Paths files;
  for (const auto& entry : fs::directory_iterator(tables() / "vcopy/MI200"))
    if (entry.path().filename().string().starts_with("results_pmc_perf_"))
      files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

/// Values with recordings by guid instead of by position.
auto by_guid(const Trace& trace) {
  std::map<std::tuple<std::string, std::int64_t, std::string>, Figures> values;
  for (const auto& [key, figures] : values_of(trace))
    values[{trace.sources[std::get<0>(key)].guid, std::get<1>(key), std::get<2>(key)}] = figures;
  return values;
}

TEST(RecordedTables, TheMergedTableOfMi210IsItsThirteenParts) {
  const fs::path merged = tables() / "vcopy/MI200/pmc_perf.csv";
  PERFLAB_SKIP_WITHOUT(merged);
  const Trace whole = read_files({merged});
  const Trace parts = read_files(mi210_tables());
  ASSERT_EQ(whole.sources.size(), 13U);
  ASSERT_EQ(parts.sources.size(), 13U);
  EXPECT_EQ(by_guid(whole), by_guid(parts));
  EXPECT_GT(by_guid(whole).size(), 500U);
  for (std::size_t i = 0; i < 13; ++i) {
    EXPECT_EQ(whole.sources[i].guid, parts.sources[i].guid);
    EXPECT_TRUE(whole.sources[i].times_known);
  }
  EXPECT_EQ(whole.dispatches.start, parts.dispatches.start);
  EXPECT_EQ(whole.dispatches.end, parts.dispatches.end);
  EXPECT_EQ(whole.dispatches.start.front(), 8497326606250386);
  EXPECT_EQ(whole.report.rows, parts.report.rows);
  EXPECT_EQ(whole.report.rows.at("counter_table"), 2004U);
  EXPECT_EQ(whole.agents.at(0).name, "gfx90a");
  EXPECT_EQ(whole.agents.at(0).facts.device_id, 29711);
  EXPECT_EQ(whole.agents.at(0).facts.max_waves_per_cu, 32);
}

TEST(RecordedTables, ThePartsInAnyOrderAreTheSameTrace) {
  PERFLAB_SKIP_WITHOUT(tables() / "vcopy/MI200/pmc_perf.csv");
  Paths files = mi210_tables();
  const std::string forward = dump(read_files(files));
  std::ranges::reverse(files);
  EXPECT_EQ(dump(read_files(files)), forward);
  std::ranges::rotate(files, files.begin() + 5);
  EXPECT_EQ(dump(read_files(files)), forward);
}

TEST(RecordedTables, Mi210sTablesSayWhatItsDatabasesSay) {
  const fs::path databases = recorded_folder() / "mi210_vcopy_13_passes";
  const fs::path merged = tables() / "vcopy/MI200/pmc_perf.csv";
  PERFLAB_SKIP_WITHOUT(merged);
  PERFLAB_SKIP_WITHOUT(databases);
  Paths files;
  for (const auto& entry : fs::recursive_directory_iterator(databases))
    if (entry.path().extension() == ".db") files.push_back(entry.path());
  ASSERT_EQ(files.size(), 13U);
  // The tables count dispatches from 0, and have no counters of single channels.
  std::map<std::tuple<std::string, std::int64_t, std::string>, double> database;
  for (const auto& [key, figures] : by_guid(read_files(files))) {
    const auto& [guid, dispatch, counter] = key;
    database[{guid, dispatch - 1, counter.substr(0, counter.find('['))}] += std::get<1>(figures);
  }
  std::map<std::tuple<std::string, std::int64_t, std::string>, double> table;
  for (const auto& [key, figures] : by_guid(read_files({merged})))
    table[key] = std::get<1>(figures);
  EXPECT_EQ(table.size(), 702U);
  EXPECT_EQ(table, database);

  // A recording is a recording, whatever it comes in.
  const Result<Trace> both = read(Paths{files.front(), merged});
  ASSERT_FALSE(both.has_value());
  EXPECT_THAT(both.error().message, HasSubstr("was given already"));
  EXPECT_THAT(both.error().message, HasSubstr(merged.string()));
}

TEST(RecordedTables, Mi350sMissingChannelsAreNoTotals) {
  const fs::path folder = tables() / "vcopy/MI350";
  PERFLAB_SKIP_WITHOUT(folder);
  const Trace trace = read_files({folder / "pmc_perf.csv"});
  EXPECT_EQ(trace.sources.size(), 13U);
  for (const Source& source : trace.sources) EXPECT_TRUE(source.times_known);
  EXPECT_EQ(recorded_sums_of(trace, "GRBM_GUI_ACTIVE").first.at(0), 78383);
  EXPECT_EQ(recorded_sums_of(trace, "SQ_WAVES").first, (Sums{{0, 16384}, {1, 16384}, {2, 16384}}));
  EXPECT_EQ(recorded_sums_of(trace, "TCC_EA0_WRREQ_64B_sum").first.at(0), 131072);
  for (const char* counter : {"TCC_REQ", "TCC_HIT", "TCC_BUBBLE", "TCC_EA0_WRREQ"})
    EXPECT_TRUE(recorded_sums_of(trace, counter).first.empty()) << counter;
  // 61 channels of 3 dispatches.
  EXPECT_EQ(dropped(trace, "counter_table",
                    "TCC_EA0_RDREQ: only 61 of 128 channels are there, so there is no total"),
            183U);
  EXPECT_EQ(dropped(trace, "counter_table",
                    "TCC_BUBBLE: only 52 of 128 channels are there, so there is no total"),
            156U);
  EXPECT_EQ(trace.report.dropped.size(), 14U);
  EXPECT_EQ(odd(trace, "counter_table",
                "dispatch of a merged table: its times are means over the merged passes"),
            39U);

  const Trace part = read_files({folder / "pmc_perf_4.csv"});
  EXPECT_EQ(recorded_sums_of(part, "SQ_WAVES").first, recorded_sums_of(trace, "SQ_WAVES").first);
  EXPECT_EQ(part.report.odd, (std::map<ReadReport::Key, std::uint64_t>{}));
  EXPECT_EQ(part.dispatches.end.front() - part.dispatches.start.front(), 21960);
  EXPECT_EQ(part.agents.at(0).facts.clock_mhz, std::nullopt);  // max_sclk is 0 there
  EXPECT_EQ(part.processes.at(0).pid, 15800);
}

TEST(RecordedTables, Mi350sMergedTableIsNotReadBesideAnyOfItsParts) {
  const fs::path folder = tables() / "vcopy/MI350";
  PERFLAB_SKIP_WITHOUT(folder);
  const fs::path merged = folder / "pmc_perf.csv";
  Paths parts;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("pmc_perf_") || name.starts_with("SQ_")) parts.push_back(entry.path());
  }
  ASSERT_EQ(parts.size(), 13U);
  for (const fs::path& part : parts) {
    const Result<Trace> both = read(Paths{merged, part});
    ASSERT_FALSE(both.has_value()) << part;
    EXPECT_THAT(both.error().message, HasSubstr(fmt::format("{}: is a part of the merged table {}",
                                                            part.string(), merged.string())));
  }
  EXPECT_EQ(read_files(parts).sources.size(), 13U);
  // MI300X's level counters are passes that the merged table does not have.
  const fs::path others = tables() / "vcopy/MI300X_A1";
  EXPECT_EQ(read_files({others / "pmc_perf.csv", others / "SQ_LEVEL_WAVES.csv"}).sources.size(),
            19U);
}

TEST(RecordedTables, CountersRotatedOverDispatchesAreOneRecording) {
  const fs::path file = tables() / "vcopy_iteration_multiplexing/MI350/pmc_perf.csv";
  PERFLAB_SKIP_WITHOUT(file);
  const Trace trace = read_files({file});
  ASSERT_EQ(trace.sources.size(), 1U);
  EXPECT_TRUE(trace.sources[0].times_known);
  EXPECT_EQ(trace.sources[0].guid, "");
  EXPECT_EQ(trace.dispatches.size(), 20U);
  EXPECT_EQ(trace.report.rows.at("counter_table"), 2873U);
  EXPECT_EQ(trace.report.dropped, (std::map<ReadReport::Key, std::uint64_t>{}));
  std::map<std::int64_t, std::uint32_t> rows_of_dispatch;
  for (const auto& [key, figures] : values_of(trace))
    rows_of_dispatch[std::get<1>(key)] += std::get<0>(figures);
  EXPECT_EQ(rows_of_dispatch.at(3), 284U);
  EXPECT_EQ(rows_of_dispatch.at(16), 4U);
  // Every counter is of one dispatch: none of another's.
  EXPECT_EQ(recorded_sums_of(trace, "SQ_WAVES").first, (Sums{{14, 16384}}));
  EXPECT_EQ(recorded_sums_of(trace, "TCC_EA0_RDREQ_128B_sum").first.size(), 1U);
  EXPECT_EQ(recorded_sums_of(trace, "TCC_EA0_RDREQ_128B_sum").first.begin()->second, 65536);
}

}  // namespace
}  // namespace perflab::trace
