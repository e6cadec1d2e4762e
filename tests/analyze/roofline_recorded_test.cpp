// The roofline of recorded runs, against what is known of them: vecCopy of 1,048,576 doubles reads
// 8 MiB and writes 8 MiB in 16,384 waves (the SOURCE.md files beside the data,
// docs/facts/counters.md).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analyze/roofline_checks.h"

namespace perflab::analyze {
namespace {

namespace fs = std::filesystem;

constexpr double kMiB = 1024.0 * 1024;
constexpr const char* kVecCopy = "vecCopy(double*, double*, double*, int, int)";

class RecordedRoofline : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(data_))
      GTEST_SKIP() << "skipped: " << data_ << " is not there (recorded data is kept outside the "
                   << "project)";
  }
  fs::path data_ = fs::path(PERFLAB_SHARED_DIR) / "data";

  Analysis analyze(std::initializer_list<const char*> files) {
    std::vector<fs::path> paths;
    for (const char* file : files) paths.push_back(data_ / file);
    return analyze_paths(paths);
  }

  /// The first dispatch moves 8 MiB each way, within 1 %.
  static void expect_8_mib(const KernelRoofline& kernel) {
    ASSERT_FALSE(kernel.per_dispatch.empty());
    const DispatchFigures& first = kernel.per_dispatch.front();
    ASSERT_TRUE(first.hbm_read_bytes);
    ASSERT_TRUE(first.hbm_write_bytes);
    EXPECT_NEAR(*first.hbm_read_bytes / kMiB, 8, 0.08);
    EXPECT_NEAR(*first.hbm_write_bytes / kMiB, 8, 0.08);
  }
};

TEST_F(RecordedRoofline, Mi210In13Passes) {
  std::vector<fs::path> files;
  for (int pass = 1; pass <= 13; ++pass)
    files.push_back(data_ / fmt::format("rocpd/mi210_vcopy_13_passes/pass_{}/{}_results.db", pass,
                                        1000 + pass));
  const Analysis analysis = analyze_paths(files);
  check_promises(analysis);
  ASSERT_TRUE(analysis.roofline);
  EXPECT_EQ(analysis.roofline->passes.size(), 13U);
  const KernelRoofline& kernel = kernel_of(analysis, kVecCopy);
  EXPECT_EQ(kernel.architecture, "gfx90a");
  EXPECT_EQ(kernel.dispatches, 3U);
  EXPECT_EQ(kernel.time_from, "counter passes");
  EXPECT_FIGURE(kernel.time_ns, 51'840);  // of pass 1
  expect_8_mib(kernel);
  // MiB of all three: 8.0008 + 8.0004 + 8.0002 read, 8.0 + 5.55 + 5.57 written (SOURCE.md).
  const LevelTraffic& hbm = level_of(kernel, "hbm");
  ASSERT_TRUE(hbm.bytes);
  EXPECT_NEAR(*hbm.read_bytes.value / kMiB, 24.0014, 0.0003);
  EXPECT_NEAR(*hbm.write_bytes.value / kMiB, 19.12, 0.03);
  EXPECT_FIGURE(level_of(kernel, "l2").read_bytes.value, 24 * kMiB);
  EXPECT_FIGURE(level_of(kernel, "l2").write_bytes.value, 24 * kMiB);
  EXPECT_FIGURE(kernel.flops_raw, 0);
  EXPECT_FIGURE(feature_of(kernel, "lanes").value, 64);
  // 34.7 % on the first dispatch (SOURCE.md). Of all three: 69,738 + 69,715 + 70,003 hits, and
  // 131,087 + 131,077 + 131,075 misses.
  EXPECT_FIGURE(feature_of(kernel, "hit.l2").value, 100 * 209'456.0 / (209'456 + 393'239));
  // Accumulated levels are in pass 13, GPU cycles in pass 7: no figure, but the sum for people.
  const Figure& waves = feature_of(kernel, "occupancy.waves_in_flight");
  EXPECT_EQ(waves.value, std::nullopt);
  EXPECT_EQ(waves.state, CounterState::missing);
  EXPECT_FALSE(waves.reason.empty());
  ASSERT_TRUE(waves.across_passes);
  // 1805 is the first dispatch's: 83,175,100 / 46,074. All three: 230,381,970 / 120,948.
  EXPECT_FIGURE(waves.across_passes, 230'381'970.0 / 120'948);
  ASSERT_TRUE(kernel.binding);
  EXPECT_EQ(kernel.binding->roof, "hbm");
  EXPECT_EQ(kernel.binding->bound, "memory");
}

TEST_F(RecordedRoofline, Mi210LongTableGivesTheSameAsItsDatabases) {
  std::vector<fs::path> files;
  for (int pass = 1; pass <= 13; ++pass)
    files.push_back(data_ / fmt::format("rocpd/mi210_vcopy_13_passes/pass_{}/{}_results.db", pass,
                                        1000 + pass));
  const Analysis databases = analyze_paths(files);
  const Analysis table = analyze({"pmc/vcopy/MI200/pmc_perf.csv"});
  check_promises(table);
  const KernelRoofline& a = kernel_of(databases, kVecCopy);
  const KernelRoofline& b = kernel_of(table, kVecCopy);
  EXPECT_EQ(a.architecture, b.architecture);
  EXPECT_EQ(a.flops_raw, b.flops_raw);
  for (const char* level : {"hbm", "l2"}) {
    ASSERT_TRUE(level_of(a, level).bytes && level_of(b, level).bytes) << level;
    EXPECT_NEAR(*level_of(a, level).bytes / *level_of(b, level).bytes, 1, 0.001) << level;
  }
  // The table has channels of a counter as its instances: a pass can have more there.
  std::size_t same = 0;
  ASSERT_EQ(a.features.size(), b.features.size());
  for (std::size_t i = 0; i < a.features.size(); ++i) {
    if (a.features[i].passes != b.features[i].passes) continue;
    ++same;
    EXPECT_EQ(a.features[i].value, b.features[i].value) << a.features[i].name;
    EXPECT_EQ(a.features[i].across_passes, b.features[i].across_passes) << a.features[i].name;
  }
  EXPECT_GT(same, a.features.size() * 4 / 5);
}

TEST_F(RecordedRoofline, Mi300xMergedTable) {
  const Analysis analysis = analyze({"pmc/vcopy/MI300X_A1/pmc_perf.csv"});
  check_promises(analysis);
  const KernelRoofline& kernel = kernel_of(analysis);
  EXPECT_EQ(kernel.architecture, "gfx942");
  EXPECT_EQ(kernel.dispatches, 3U);
  expect_8_mib(kernel);
  EXPECT_FIGURE(feature_of(kernel, "lanes").value, 64);
  // 33.5 % on the first dispatch. All three: 66,160 + 65,536 + 65,536 hits; 131,311 + 131,325 +
  // 131,323 misses.
  EXPECT_FIGURE(feature_of(kernel, "hit.l2").value, 100 * 197'232.0 / (197'232 + 393'959));
  // 128-byte reads and 64-byte writes: 8 MiB each way between L1 and L2 too.
  EXPECT_NEAR(*level_of(kernel, "l2").read_bytes.value / kMiB, 24, 0.24);
  EXPECT_NEAR(*level_of(kernel, "l2").write_bytes.value / kMiB, 24, 0.24);
  // The table's times have lost their digits.
  EXPECT_EQ(kernel.time_ns, std::nullopt);
  ASSERT_NE(missing_of(kernel, "time_ns"), nullptr);
  for (const LevelTraffic& level : kernel.levels) EXPECT_FALSE(level.gb_per_s) << level.name;
}

TEST_F(RecordedRoofline, Mi350PassByPassHasNoReadBytes) {
  const Analysis analysis =
      analyze({"pmc/vcopy/MI350/pmc_perf_0.csv", "pmc/vcopy/MI350/pmc_perf_1.csv",
               "pmc/vcopy/MI350/pmc_perf_2.csv", "pmc/vcopy/MI350/pmc_perf_3.csv",
               "pmc/vcopy/MI350/pmc_perf_4.csv", "pmc/vcopy/MI350/pmc_perf_5.csv",
               "pmc/vcopy/MI350/pmc_perf_6.csv", "pmc/vcopy/MI350/pmc_perf_7.csv",
               "pmc/vcopy/MI350/SQ_IFETCH_LEVEL.csv", "pmc/vcopy/MI350/SQ_INST_LEVEL_LDS.csv",
               "pmc/vcopy/MI350/SQ_INST_LEVEL_SMEM.csv", "pmc/vcopy/MI350/SQ_INST_LEVEL_VMEM.csv",
               "pmc/vcopy/MI350/SQ_LEVEL_WAVES.csv"});
  check_promises(analysis);
  ASSERT_TRUE(analysis.roofline);
  EXPECT_EQ(analysis.roofline->passes.size(), 13U);
  const KernelRoofline& kernel = kernel_of(analysis, kVecCopy);
  EXPECT_EQ(kernel.architecture, "gfx950");
  EXPECT_FIGURE(feature_of(kernel, "lanes").value, 64);
  // This run did not count requests of 128 bytes, so that nobody knows what was read; the formula
  // of gfx942 would have all its counters but TCC_BUBBLE, which is 0 on gfx950: 4 MiB.
  const LevelTraffic& hbm = level_of(kernel, "hbm");
  EXPECT_EQ(hbm.read_bytes.state, CounterState::missing);
  EXPECT_EQ(hbm.read_bytes.reason, "not recorded: TCC_EA0_RDREQ_128B_sum, TCC_EA0_RDREQ_64B_sum");
  EXPECT_EQ(hbm.bytes, std::nullopt);
  EXPECT_EQ(hbm.share, std::nullopt);
  EXPECT_EQ(kernel.binding, std::nullopt);
  EXPECT_FIGURE(hbm.write_bytes.value, 24 * kMiB);
  EXPECT_FIGURE(hbm.ceiling.value, 8000);
  EXPECT_FIGURE(level_of(kernel, "l2").read_bytes.value, 24 * kMiB);
  EXPECT_FIGURE(level_of(kernel, "l2").write_bytes.value, 24 * kMiB);
}

TEST_F(RecordedRoofline, Mi350RotatedCounters) {
  const Analysis analysis = analyze({"pmc/vcopy_iteration_multiplexing/MI350/pmc_perf.csv"});
  check_promises(analysis);
  const KernelRoofline& kernel = kernel_of(analysis, kVecCopy);
  EXPECT_EQ(kernel.architecture, "gfx950");
  EXPECT_EQ(kernel.dispatches, 20U);
  const LevelTraffic& hbm = level_of(kernel, "hbm");
  EXPECT_EQ(hbm.read_bytes.formula.find("BUBBLE"), std::string::npos);
  ASSERT_TRUE(hbm.read_bytes.value) << hbm.read_bytes.reason;
  ASSERT_TRUE(hbm.write_bytes.value) << hbm.write_bytes.reason;
  const auto dispatches = static_cast<double>(kernel.dispatches);
  EXPECT_NEAR(*hbm.read_bytes.value / dispatches / kMiB, 8, 0.08);
  EXPECT_NEAR(*hbm.write_bytes.value / dispatches / kMiB, 8, 0.08);
  EXPECT_LT(hbm.read_bytes.dispatches, kernel.dispatches);  // not every dispatch has them
  EXPECT_FIGURE(feature_of(kernel, "lanes").value, 64);
}

TEST_F(RecordedRoofline, EmulatedCountersThatAreAllZeroGiveNothing) {
  for (const char* file : {"pmc_multi_serial.db", "pmc_single2.db", "pmc_tcc.db"}) {
    SCOPED_TRACE(file);
    const Analysis analysis = analyze_paths({data_ / "rocpd/emulated_mi300x" / file});
    check_promises(analysis);
    ASSERT_TRUE(analysis.roofline);
    for (const KernelRoofline& kernel : analysis.roofline->kernels) {
      EXPECT_EQ(kernel.flops_raw, std::nullopt);
      EXPECT_EQ(kernel.estimate, std::nullopt);
      EXPECT_EQ(kernel.binding, std::nullopt);
      ASSERT_FALSE(kernel.counters.empty());
      for (const CounterValue& counter : kernel.counters)
        EXPECT_EQ(counter.state, CounterState::suspicious) << counter.name;
      for (const Figure& feature : kernel.features)
        EXPECT_EQ(feature.value, std::nullopt) << feature.name;
      for (const LevelTraffic& level : kernel.levels)
        EXPECT_EQ(level.bytes, std::nullopt) << level.name;
    }
  }
}

TEST_F(RecordedRoofline, TraceWithoutCountersHasNone) {
  const Analysis analysis = analyze({"rocpd/mi350x_rocprofsys/rocpd.db"});
  check_promises(analysis);
  EXPECT_FALSE(analysis.roofline);
  EXPECT_EQ(analysis.roofline_missing.reason, "no hardware counters were collected");
  EXPECT_FALSE(analysis.roofline_missing.remedy.empty());
  EXPECT_FALSE(analysis.kernels.empty());
}

}  // namespace
}  // namespace perflab::analyze
