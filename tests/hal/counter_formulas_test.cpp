// Values of the counter formulas: on inputs worked out by hand, and on recorded counters of vecCopy
// (shared/data/pmc), which reads 8 MiB and writes 8 MiB.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <sstream>
#include <thread>

#include "base/system/files.h"
#include "hal/counter_catalogue.h"
#include "hal/counter_table_of.h"

namespace perflab::hal {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

using Values = std::map<std::string, double, std::less<>>;

const std::filesystem::path kData = std::filesystem::path(PERFLAB_SHARED_DIR) / "data/pmc/vcopy";

/// The first alternative whose names all have a value, evaluated.
std::optional<double> value(std::string_view gfx, std::string_view name, const Values& values) {
  const CounterFormula* formula = table(gfx).find(name);
  if (formula == nullptr) throw std::runtime_error("no formula " + std::string(name));
  for (const FormulaText& text : formula->alternatives) {
    const auto known = [&](const std::string& counter) { return values.contains(counter); };
    if (!std::ranges::all_of(text.counters, known) || !std::ranges::all_of(text.constants, known))
      continue;
    return evaluate(text, [&](std::string_view counter) { return values.find(counter)->second; });
  }
  throw std::runtime_error("no alternative of " + std::string(name) + " has all its counters");
}

TEST(FabricBytes, ByArchitecture) {
  // gfx90a: 3 of 10 requests are of 32 bytes: 3*32 + 7*64.
  EXPECT_EQ(
      value("gfx90a", "fabric.read_bytes", {{"TCC_EA_RDREQ_sum", 10}, {"TCC_EA_RDREQ_32B_sum", 3}}),
      544);
  EXPECT_EQ(value("gfx90a", "fabric.write_bytes",
                  {{"TCC_EA_WRREQ_sum", 10}, {"TCC_EA_WRREQ_64B_sum", 6}}),
            512);
  EXPECT_EQ(
      value("gfx908", "fabric.read_bytes", {{"TCC_EA_RDREQ_sum", 10}, {"TCC_EA_RDREQ_32B_sum", 3}}),
      544);
  // vecCopy on an MI300X: 65536 requests of 128 bytes and 239 of 64.
  const Values mi300x = {
      {"TCC_EA0_RDREQ_sum", 65775}, {"TCC_EA0_RDREQ_32B_sum", 0}, {"TCC_BUBBLE_sum", 65536}};
  for (const char* gfx : {"gfx940", "gfx941", "gfx942"})
    EXPECT_EQ(value(gfx, "fabric.read_bytes", mi300x), 65536.0 * 128 + 239 * 64) << gfx;
  // 2 of 128, 3 of 32, 5 of 64.
  EXPECT_EQ(value("gfx942", "fabric.read_bytes",
                  {{"TCC_EA0_RDREQ_sum", 10}, {"TCC_EA0_RDREQ_32B_sum", 3}, {"TCC_BUBBLE_sum", 2}}),
            672);
  EXPECT_EQ(value("gfx942", "fabric.write_bytes",
                  {{"TCC_EA0_WRREQ_sum", 10}, {"TCC_EA0_WRREQ_64B_sum", 6}}),
            512);
  // vecCopy on an MI350X.
  EXPECT_EQ(value("gfx950", "fabric.read_bytes",
                  {{"TCC_EA0_RDREQ_128B_sum", 65536},
                   {"TCC_EA0_RDREQ_64B_sum", 168},
                   {"TCC_EA0_RDREQ_32B_sum", 5}}),
            65536.0 * 128 + 168 * 64 + 5 * 32);
  EXPECT_EQ(value("gfx950", "fabric.write_bytes",
                  {{"TCC_EA0_WRREQ_sum", 131072}, {"TCC_EA0_WRREQ_64B_sum", 131072}}),
            8.0 * 1024 * 1024);
  for (const char* gfx : {"gfx1030", "gfx1100", "gfx1101", "gfx1102", "gfx1150", "gfx1151"}) {
    EXPECT_EQ(value(gfx, "fabric.read_bytes",
                    {{"GL2C_EA_RDREQ_32B_sum", 1},
                     {"GL2C_EA_RDREQ_64B_sum", 20},
                     {"GL2C_EA_RDREQ_96B_sum", 300},
                     {"GL2C_EA_RDREQ_128B_sum", 4000}}),
              32 + 1280 + 28800 + 512000)
        << gfx;
    EXPECT_EQ(
        value(gfx, "fabric.write_bytes", {{"GL2C_MC_WRREQ_sum", 10}, {"GL2C_EA_WRREQ_64B_sum", 6}}),
        512)
        << gfx;
  }
  for (const char* gfx : {"gfx1200", "gfx1201"}) {
    EXPECT_EQ(value(gfx, "fabric.read_bytes",
                    {{"GL2C_EA_RDREQ_32B_sum", 1},
                     {"GL2C_EA_RDREQ_64B_sum", 20},
                     {"GL2C_EA_RDREQ_128B_sum", 300},
                     {"GL2C_EA_RDREQ_256B_sum", 4000}}),
              32 + 1280 + 38400 + 1024000)
        << gfx;
    EXPECT_EQ(
        value(gfx, "fabric.write_bytes", {{"GL2C_EA_WRREQ_sum", 10}, {"GL2C_EA_WRREQ_64B_sum", 6}}),
        512)
        << gfx;
  }
}

// The counter of gfx942's formula exists on gfx950 and stays 0: half the bytes would be missing.
TEST(FabricBytes, OfGfx950DoNotComeFromTccBubble) {
  ASSERT_TRUE(table("gfx950").has_counter("TCC_BUBBLE_sum"));
  for (const CounterFormula& formula : table("gfx950").formulas)
    for (const FormulaText& text : formula.alternatives)
      EXPECT_THAT(text.text, Not(HasSubstr("TCC_BUBBLE"))) << formula.name;
  for (const auto& set : table("gfx950").sets) EXPECT_THAT(set, Not(Contains("TCC_BUBBLE_sum")));
}

// No alternative makes do without the small requests, or with AMD's KiB.
TEST(FabricBytes, AreSaidInOneWay) {
  for (const CounterTable& each : all_counter_tables())
    for (const char* name : {"fabric.read_bytes", "fabric.write_bytes"})
      EXPECT_EQ(each.find(name)->alternatives.size(), 1U) << each.gfx;  // NVIDIA: of one name
}

TEST(CacheBytes, OfL2AndLds) {
  const Values requests = {{"TCP_TCC_READ_REQ_sum", 1000},
                           {"TCP_TCC_WRITE_REQ_sum", 100},
                           {"TCP_TCC_ATOMIC_WITH_RET_REQ_sum", 10},
                           {"TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum", 1}};
  EXPECT_EQ(value("gfx90a", "l2.read_bytes", requests), 64000);
  EXPECT_EQ(value("gfx90a", "l2.write_bytes", requests), 7104);
  for (const char* gfx : {"gfx942", "gfx950"}) {
    EXPECT_EQ(value(gfx, "l2.read_bytes", requests), 128000) << gfx;
    EXPECT_EQ(value(gfx, "l2.write_bytes", requests), 7104) << gfx;
  }
  EXPECT_EQ(value("gfx942", "lds.bytes", {{"SQ_LDS_IDX_ACTIVE", 50}, {"SQ_LDS_BANK_CONFLICT", 8}}),
            42 * 32 * 4);
  EXPECT_EQ(
      value("gfx1100", "lds.bytes", {{"SQC_LDS_IDX_ACTIVE", 50}, {"SQC_LDS_BANK_CONFLICT", 8}}),
      42 * 32 * 4);
}

TEST(Flops, OfVectorAndMatrixInstructions) {
  for (const char* gfx : {"gfx90a", "gfx942", "gfx950"}) {
    for (const auto& [counter, name] :
         std::map<std::string, std::string>{{"F16", "fp16"}, {"F32", "fp32"}, {"F64", "fp64"}}) {
      const std::string prefix = "SQ_INSTS_VALU_";
      EXPECT_EQ(value(gfx, "vector." + name,
                      {{prefix + "ADD_" + counter, 1},
                       {prefix + "MUL_" + counter, 20},
                       {prefix + "TRANS_" + counter, 300},
                       {prefix + "FMA_" + counter, 4000}}),
                64 * (1 + 20 + 300 + 8000))
          << gfx << " " << name;
    }
    EXPECT_EQ(value(gfx, "vector.int32", {{"SQ_INSTS_VALU_INT32", 3}}), 192);
    EXPECT_EQ(value(gfx, "vector.int64", {{"SQ_INSTS_VALU_INT64", 3}}), 192);
    for (const auto& [counter, name] : std::map<std::string, std::string>{
             {"F16", "fp16"}, {"BF16", "bf16"}, {"F32", "fp32"}, {"F64", "fp64"}, {"I8", "int8"}})
      EXPECT_EQ(value(gfx, "matrix." + name, {{"SQ_INSTS_VALU_MFMA_MOPS_" + counter, 3}}), 1536);
    EXPECT_EQ(value(gfx, "estimate.fp32",
                    {{"SQ_INSTS_VALU", 10}, {"LANES", 64}, {"SQ_INSTS_VALU_MFMA_MOPS_F32", 2}}),
              1664);
  }
  EXPECT_EQ(value("gfx942", "matrix.fp8", {{"SQ_INSTS_VALU_MFMA_MOPS_F8", 3}}), 1536);
  EXPECT_EQ(value("gfx950", "matrix.fp4", {{"SQ_INSTS_VALU_MFMA_MOPS_F6F4", 3}}), 1536);
  EXPECT_EQ(value("gfx1100", "estimate.fp32", {{"SQ_INSTS_VALU", 10}, {"LANES", 32}}), 320);
  EXPECT_EQ(value("gfx908", "estimate.fp32", {{"SQ_INSTS_VALU", 10}, {"LANES", 64}}), 640);
}

// Two dies, 8 CUs, 1000 cycles on each die: 8000 CU cycles in all.
const Values kSmallGpu = {
    {"GRBM_GUI_ACTIVE", 2000}, {"XCC", 2}, {"CU", 8}, {"SIMD_PER_CU", 4}, {"MAX_WAVES_PER_CU", 32}};

Values with(Values values, const Values& more) {
  values.insert(more.begin(), more.end());
  return values;
}

// Two dies of two engines each: 4000 engine cycles.
TEST(Occupancy, KnowsWhenEnginesHaveWavesAndWorkGroupsWait) {
  for (const char* const gfx : {"gfx908", "gfx90a", "gfx942", "gfx950"}) {
    EXPECT_EQ(value(gfx, "se.busy", with(kSmallGpu, {{"SE", 4}, {"SQ_BUSY_CYCLES", 1000}})), 25);
    EXPECT_EQ(value(gfx, "se.busy", with(kSmallGpu, {{"SE", 4}, {"SPI_CSN_BUSY", 3000}})), 75);
    EXPECT_EQ(
        value(gfx, "launch.resource_wait", {{"SPI_RA_RES_STALL_CSN", 250}, {"SPI_CSN_BUSY", 2000}}),
        50);
  }
}

TEST(Occupancy, CountsQuadCyclesOnCdnaAndCyclesOnRdna) {
  const Values waves = with(kSmallGpu, {{"SQ_WAVE_CYCLES", 16000}, {"SQ_BUSY_CU_CYCLES", 4000}});
  EXPECT_EQ(value("gfx942", "cycles", waves), 1000);
  EXPECT_EQ(value("gfx942", "occupancy.waves_in_flight", waves), 64);
  EXPECT_EQ(value("gfx942", "occupancy.waves_per_cu", waves), 8);
  EXPECT_EQ(value("gfx942", "occupancy.achieved", waves), 25);
  EXPECT_EQ(value("gfx942", "occupancy.busy_cus_waves", waves), 16);
  EXPECT_EQ(value("gfx942", "cu.busy", waves), 50);
  EXPECT_EQ(value("gfx1100", "occupancy.waves_in_flight", waves), 16);
  EXPECT_EQ(value("gfx1100", "occupancy.waves_per_cu", waves), 2);
  EXPECT_EQ(value("gfx1100", "occupancy.achieved", waves), 6.25);
}

TEST(Occupancy, IsTheSameFromTheAccumulatedLevelAndFromTheDerivedMetric) {
  for (const char* gfx : {"gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1150"}) {
    const Values level = with(kSmallGpu, {{"SQ_LEVEL_WAVES_ACCUM", 64000}});
    const Values derived = with(kSmallGpu, {{"MeanOccupancyPerCU", 8}});
    for (const Values& values : {level, derived}) {
      EXPECT_EQ(value(gfx, "occupancy.waves_in_flight", values), 64) << gfx;
      EXPECT_EQ(value(gfx, "occupancy.waves_per_cu", values), 8) << gfx;
      EXPECT_EQ(value(gfx, "occupancy.achieved", values), 25) << gfx;
    }
  }
}

TEST(Features, OnCdna) {
  const Values v = with(kSmallGpu, {{"SQ_ACTIVE_INST_VALU", 800},
                                    {"SQ_ACTIVE_INST_SCA", 1600},
                                    {"SQ_ACTIVE_INST_VMEM", 80},
                                    {"SQ_ACTIVE_INST_FLAT", 320},
                                    {"SQ_ACTIVE_INST_LDS", 2400},
                                    {"SQ_ACTIVE_INST_MISC", 8},
                                    {"SQ_VALU_MFMA_BUSY_CYCLES", 8000},
                                    {"SQ_THREAD_CYCLES_VALU", 40000},
                                    {"SQ_LDS_IDX_ACTIVE", 4000},
                                    {"SQ_LDS_BANK_CONFLICT", 1000},
                                    {"SPI_RA_VGPR_SIMD_FULL_CSN", 800},
                                    {"SPI_RA_LDS_CU_FULL_CSN", 200},
                                    {"TCP_PENDING_STALL_CYCLES_sum", 25},
                                    {"TCP_GATE_EN1_sum", 100}});
  const std::map<std::string, double> kExpected = {
      {"issue.valu", 10},   {"issue.salu", 20},    {"issue.vmem", 5},
      {"issue.lds", 30},    {"issue.branch", 0.1}, {"issue.mfma", 25},
      {"lanes", 50},        {"lds.util", 50},      {"lds.conflicts_per_access", 1.0 / 3},
      {"limiter.vgpr", 10}, {"limiter.lds", 10},   {"l1.stall.l2_data", 25}};
  for (const char* gfx : {"gfx90a", "gfx942", "gfx950"})
    for (const auto& [name, expected] : kExpected)
      EXPECT_DOUBLE_EQ(value(gfx, name, v).value_or(-1), expected) << gfx << " " << name;
}

TEST(Features, OfHitRates) {
  EXPECT_EQ(value("gfx942", "hit.l2", {{"TCC_HIT_sum", 3}, {"TCC_MISS_sum", 1}}), 75);
  EXPECT_EQ(value("gfx942", "hit.l1",
                  {{"TCP_TCC_READ_REQ_sum", 1},
                   {"TCP_TCC_WRITE_REQ_sum", 2},
                   {"TCP_TCC_ATOMIC_WITH_RET_REQ_sum", 3},
                   {"TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum", 4},
                   {"TCP_TOTAL_CACHE_ACCESSES_sum", 100}}),
            90);
  EXPECT_EQ(value("gfx942", "hit.instruction", {{"SQC_ICACHE_HITS", 9}, {"SQC_ICACHE_REQ", 10}}),
            90);
  EXPECT_EQ(value("gfx1100", "hit.l2", {{"GL2C_HIT_sum", 3}, {"GL2C_MISS_sum", 1}}), 75);
  EXPECT_EQ(value("gfx1150", "hit.l1", {{"TCP_REQ_MISS_sum", 1}, {"TCP_REQ_sum", 4}}), 75);
  EXPECT_EQ(value("gfx1201", "hit.l1", {{"TCP_REQ_MISS", 1}, {"TCP_REQ", 4}}), 75);
  EXPECT_EQ(value("gfx90a", "hit.l2", {{"L2CacheHit", 33}}), 33);
}

TEST(Features, OfRdnaWorkGroupProcessors) {
  // Two SIMDs per CU: 8 CUs are 4 work-group processors, 4000 of their cycles.
  Values v = kSmallGpu;
  v["SIMD_PER_CU"] = 2;
  v["SQ_INST_CYCLES_VALU"] = 1000;
  v["SQC_LDS_IDX_ACTIVE"] = 2000;
  EXPECT_EQ(value("gfx1201", "issue.valu", v), 25);
  EXPECT_EQ(value("gfx1201", "lds.util", v), 50);
}

TEST(Evaluate, WithoutAFiniteNumberThereIsNoValue) {
  EXPECT_EQ(value("gfx942", "hit.l2", {{"TCC_HIT_sum", 0}, {"TCC_MISS_sum", 0}}), std::nullopt);
  EXPECT_EQ(value("gfx942", "ipc", {{"SQ_INSTS", 5}, {"SQ_BUSY_CU_CYCLES", 0}}), std::nullopt);
  EXPECT_EQ(value("gfx942", "hit.l2", {{"TCC_HIT_sum", 0}, {"TCC_MISS_sum", 5}}), 0);
}

TEST(Evaluate, InManyThreadsAtTheSameTime) {
  std::vector<std::thread> threads;
  std::vector<int> wrong(8);
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([t, &wrong] {
      for (int i = 1; i < 500; ++i) {
        const double hits = i * static_cast<double>(t + 1);
        if (value("gfx942", "hit.l2", {{"TCC_HIT_sum", hits}, {"TCC_MISS_sum", 3 * hits}}) != 25)
          ++wrong[t];
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, testing::Each(0));
}

// ---------------------------------------------------------------- recorded vecCopy

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> found(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      found.emplace_back();
    else if (c != '\r')
      found.back() += c;
  }
  return found;
}

std::optional<double> number(const std::string& text) {
  double parsed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (error != std::errc() || text.empty() || end != text.data() + text.size()) return std::nullopt;
  return parsed;
}

/// Counters of the first dispatch: of one column each, or of one row each.
Values first_dispatch(const std::filesystem::path& path) {
  std::istringstream lines(read_file(path).value());
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> header = cells(line);
  const auto name_column = std::ranges::find(header, "Counter_Name") - header.begin();
  const bool one_row_each = name_column < std::ssize(header);
  Values values;
  while (std::getline(lines, line)) {
    const std::vector<std::string> row = cells(line);
    if (one_row_each) {
      const auto at = static_cast<std::size_t>(name_column);
      values.emplace(row.at(at), number(row.at(at + 1)).value());
      continue;
    }
    for (std::size_t i = 0; i < row.size() && i < header.size(); ++i)
      if (const auto value = number(row[i])) values.emplace(header[i], *value);
    break;
  }
  return values;
}

constexpr double kEightMiB = 8.0 * 1024 * 1024;

TEST(RecordedVecCopy, OnMi210) {
  const auto path = kData / "MI200/pmc_perf.csv";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "skipped: " << path << " is not there";
  const Values v = with(first_dispatch(path),
                        {{"XCC", 1}, {"CU", 104}, {"SIMD_PER_CU", 4}, {"MAX_WAVES_PER_CU", 32}});
  const auto of = [&](const char* name) { return value("gfx90a", name, v).value_or(-1); };
  EXPECT_NEAR(of("fabric.read_bytes"), kEightMiB, 0.01 * kEightMiB);
  EXPECT_NEAR(of("fabric.write_bytes"), kEightMiB, 0.01 * kEightMiB);
  EXPECT_EQ(of("l2.read_bytes"), kEightMiB);
  EXPECT_EQ(of("l2.write_bytes"), kEightMiB);
  EXPECT_EQ(of("lanes"), 64);
  EXPECT_NEAR(of("hit.l2"), 34.7, 0.05);
  EXPECT_NEAR(of("occupancy.waves_in_flight"), 1805, 1);
  EXPECT_NEAR(of("occupancy.busy_cus_waves"), 27.8, 0.1);
  EXPECT_NEAR(of("cu.busy"), 60, 0.5);
  EXPECT_NEAR(of("latency.vmem"), 1608, 1);
  EXPECT_NEAR(of("latency.fabric_read"), 873, 1);
  EXPECT_NEAR(of("dram_share.read"), 100, 0.1);
  EXPECT_EQ(of("hit.l1"), 50);
  EXPECT_EQ(of("vector.fp64"), 0);
  EXPECT_EQ(of("branch_share"), 100.0 * 16384 / 393216);
}

TEST(RecordedVecCopy, OnMi300x) {
  const auto path = kData / "MI300X_A1/pmc_perf.csv";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "skipped: " << path << " is not there";
  const Values v = with(first_dispatch(path),
                        {{"XCC", 8}, {"CU", 304}, {"SIMD_PER_CU", 4}, {"MAX_WAVES_PER_CU", 32}});
  const auto of = [&](const char* name) { return value("gfx942", name, v).value_or(-1); };
  EXPECT_NEAR(of("fabric.read_bytes"), kEightMiB, 0.01 * kEightMiB);
  EXPECT_EQ(of("fabric.write_bytes"), kEightMiB);
  EXPECT_EQ(of("l2.read_bytes"), kEightMiB);
  EXPECT_EQ(of("l2.write_bytes"), kEightMiB);
  EXPECT_EQ(of("lanes"), 64);
  EXPECT_NEAR(of("hit.l2"), 33.5, 0.05);
  EXPECT_NEAR(of("wave_time.dependency"), 76, 0.5);
  EXPECT_NEAR(of("wave_time.issue"), 17, 0.5);
  EXPECT_NEAR(of("wave_time.active"), 1, 0.5);
  EXPECT_EQ(of("instructions_per_wave"), 20);
  EXPECT_GT(of("issue.vmem"), 0);  // global instructions are in SQ_ACTIVE_INST_FLAT alone
}

TEST(RecordedVecCopy, OnMi350x) {
  const auto path = kData / "MI350/pmc_perf.csv";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "skipped: " << path << " is not there";
  const Values v = with(first_dispatch(path),
                        {{"XCC", 8}, {"CU", 256}, {"SIMD_PER_CU", 4}, {"MAX_WAVES_PER_CU", 32}});
  const auto of = [&](const char* name) { return value("gfx950", name, v).value_or(-1); };
  EXPECT_EQ(of("fabric.write_bytes"), kEightMiB);
  EXPECT_EQ(of("l2.read_bytes"), kEightMiB);
  EXPECT_EQ(of("l2.write_bytes"), kEightMiB);
  EXPECT_EQ(of("lanes"), 64);
  EXPECT_GT(of("issue.vmem"), 0);
}

}  // namespace
}  // namespace perflab::hal
