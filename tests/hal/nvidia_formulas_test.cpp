// Formulas over counters of NVIDIA GPUs on what an H100 counted of kernels whose work is known
// (docs/facts/cuda_counters.md "Known work"): exact where the hardware is.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "hal/counter_catalogue.h"
#include "hal/counter_table_of.h"

namespace perflab::hal {
namespace {

using Counts = std::map<std::string, double, std::less<>>;

/// The formula's value; counters that are not given count 0.
std::optional<double> of(std::string_view gfx, std::string_view name, const Counts& counts,
                         std::size_t alternative = 0) {
  const CounterFormula* const formula = table(gfx).find(name);
  if (formula == nullptr) throw std::runtime_error("no formula " + std::string(name));
  return evaluate(formula->alternatives.at(alternative), [&](std::string_view counter) {
    const auto found = counts.find(counter);
    return found == counts.end() ? 0.0 : found->second;
  });
}

std::string thread_instructions(const std::string& operation) {
  return "sm__sass_thread_inst_executed_op_" + operation + "_pred_on.sum";
}

TEST(NvidiaKnownWork, VectorOperationsAreExact) {
  // 128,000 threads: 100 FFMA, 50 FADD and 25 FMUL each.
  const Counts fp32 = {{thread_instructions("ffma"), 12'800'000},
                       {thread_instructions("fadd"), 6'400'000},
                       {thread_instructions("fmul"), 3'200'000}};
  EXPECT_EQ(of("sm_90", "vector.fp32", fp32), 128'000.0 * (2 * 100 + 50 + 25));
  EXPECT_EQ(of("sm_90", "vector.fp64", {{thread_instructions("dfma"), 12'800'000}}),
            128'000.0 * 100 * 2);
  // 100 HFMA2 each, two lanes of two operations; one more per thread loads a constant.
  const Counts hfma = {{thread_instructions("hfma"), 12'928'000}};
  EXPECT_EQ(of("sm_90", "vector.fp16", hfma), 4 * (12'800'000.0 + 128'000));
  EXPECT_EQ(of("sm_90", "vector.fp32", hfma), 0);
}

TEST(NvidiaKnownWork, TensorOperationsAreFlop) {
  // 1000 warps: 100 products of 16x16x16 each.
  EXPECT_EQ(of("sm_90", "matrix.fp16", {{"sm__ops_path_tensor_src_fp16.sum", 819'200'000}}),
            1000.0 * 100 * 2 * 16 * 16 * 16);
  // Older chips count by the type of the result.
  EXPECT_EQ(of("sm_80", "matrix.fp16",
               {{"sm__ops_path_tensor_src_fp16_dst_fp16.sum", 3},
                {"sm__ops_path_tensor_src_fp16_dst_fp32.sum", 40}}),
            43);
}

TEST(NvidiaKnownWork, BytesOfACopyOf256MiB) {
  constexpr double kBytes = 256.0 * 1024 * 1024;
  const Counts copy = {{"dram__bytes_read.sum", 268.450e6},
                       {"dram__bytes_write.sum", 266.44e6},
                       {"lts__t_sectors_srcunit_tex.sum", 16'777'216},
                       {"lts__t_sectors_srcunit_tex_op_read.sum", 8'388'608},
                       {"l1tex__t_bytes.sum", 2 * kBytes}};
  EXPECT_NEAR(*of("sm_90", "fabric.read_bytes", copy), kBytes, 6e-5 * kBytes);
  // The rest is still dirty in L2.
  EXPECT_NEAR(*of("sm_90", "fabric.write_bytes", copy), kBytes, 7.5e-3 * kBytes);
  EXPECT_LT(*of("sm_90", "fabric.write_bytes", copy), kBytes);
  EXPECT_EQ(of("sm_90", "l2.read_bytes", copy), kBytes);
  EXPECT_EQ(of("sm_90", "l2.write_bytes", copy), kBytes);
  EXPECT_EQ(of("sm_90", "l1.bytes", copy), 2 * kBytes);
}

TEST(NvidiaFormulas, OccupancyDivergenceAndStalls) {
  const auto value = [](std::string_view name, const Counts& counts) {
    Counts all = counts;
    all["CU"] = 132;
    all["MAX_WAVES_PER_CU"] = 64;
    return of("sm_90", name, all);
  };
  // 132 SMs for 1000 cycles, with a warp in half of them, 32 then.
  const Counts warps = {{"sm__warps_active.sum", 32.0 * 132 * 500},
                        {"sm__cycles_active.sum", 132.0 * 500},
                        {"sm__cycles_elapsed.sum", 132.0 * 1000}};
  EXPECT_EQ(value("occupancy.busy_cus_waves", warps), 32);
  EXPECT_EQ(value("occupancy.waves_per_cu", warps), 16);
  EXPECT_EQ(value("occupancy.waves_in_flight", warps), 16 * 132);
  EXPECT_EQ(value("occupancy.achieved", warps), 25);
  EXPECT_EQ(value("cu.busy", warps), 50);
  EXPECT_EQ(
      value("lanes", {{"smsp__thread_inst_executed.sum", 1600}, {"smsp__inst_executed.sum", 100}}),
      16);
  EXPECT_EQ(value("issue.any", {{"smsp__issue_active.sum", 30}, {"smsp__cycles_active.sum", 40}}),
            75);
  const auto busy = [](const std::string& pipe) {
    return "sm__pipe_" + pipe + "_cycles_active.avg.pct_of_peak_sustained_elapsed";
  };
  EXPECT_EQ(value("issue.valu", {{busy("fma"), 20}, {busy("alu"), 70}, {busy("fp64"), 5}}), 70);
  EXPECT_EQ(value("hit.l2", {{"lts__t_sectors_srcunit_tex_lookup_hit.sum", 3},
                             {"lts__t_sectors_srcunit_tex_lookup_miss.sum", 1}}),
            75);
  EXPECT_EQ(value("hit.l2", {}), std::nullopt);  // nothing was asked of L2
}

// Each reason why a warp does not issue is in one of the three shares, and none in two.
TEST(NvidiaFormulas, SharesOfWarpTimeAreApart) {
  for (const CounterTable& each : all_counter_tables()) {
    if (each.profiler != CounterProfiler::cupti) continue;
    Counts counts = {{"smsp__warps_active.sum", 0}};
    for (const std::string& counter : each.counters)
      if (counter.starts_with("smsp__warps_issue_stalled_")) {
        counts[counter] = 1;
        counts["smsp__warps_active.sum"] += 1;
      }
    EXPECT_EQ(counts.size(), 17U) << each.gfx;
    double total = 0;
    for (const char* const share : {"dependency", "issue", "active"})
      total += *of(each.gfx, "wave_time." + std::string(share), counts);
    EXPECT_NEAR(total, 100, 1e-9) << each.gfx;
  }
}

TEST(NvidiaTables, SayWhatTheirCountersDoNotTell) {
  const CounterTable& hopper = table("sm_90");
  EXPECT_TRUE(hopper.uncounted.empty());
  EXPECT_TRUE(hopper.counts_threads);
  EXPECT_EQ(hopper.chips.front(), "GH100");
  EXPECT_EQ(hopper.find("matrix.fp4"), nullptr);
  EXPECT_TRUE(table("sm_75").uncounted.contains("matrix.fp16"));
  EXPECT_EQ(table("sm_75").find("matrix.fp16"), nullptr);
  EXPECT_TRUE(table("sm_100").uncounted.contains("matrix.bf16"));
  EXPECT_EQ(table("gfx942").chips.size(), 0U);
  EXPECT_FALSE(table("gfx942").counts_threads);
}

TEST(NvidiaTables, KnowMetricsByTheirForm) {
  const CounterTable& t = table("sm_90");
  for (const char* const name :
       {"sm__inst_executed.sum", "sm__inst_issued.avg.per_cycle_active", "gpu__time_duration.sum"})
    EXPECT_TRUE(t.knows(name)) << name;
  for (const char* const name :
       {"", "__", "sm__", "sm__inst_executed", "sm__.sum", "__a.sum", "SQ_WAVES", "sm__a."})
    EXPECT_FALSE(t.knows(name)) << name;
  EXPECT_FALSE(t.is_derived("sm__inst_issued.sum"));
  EXPECT_FALSE(t.is_derived("sm__cycles_elapsed.max"));  // the table has it: it adds up
  EXPECT_TRUE(t.is_derived("sm__inst_issued.max"));
  EXPECT_TRUE(t.is_derived("sm__inst_issued.avg.per_cycle_active"));
  EXPECT_FALSE(table("gfx942").knows("sm__inst_executed.sum"));
}

TEST(NvidiaFormulas, NamesHaveDotsAndNumbersKeepTheirs) {
  const auto formula = read_formula("0.5*a__b.sum+2.5e1/c__d.avg.pct_of_peak");
  ASSERT_TRUE(formula);
  EXPECT_EQ(formula->counters, (std::vector<std::string>{"a__b.sum", "c__d.avg.pct_of_peak"}));
  EXPECT_EQ(evaluate(*formula, [](std::string_view name) { return name == "a__b.sum" ? 4. : 5.; }),
            7);
}

}  // namespace
}  // namespace perflab::hal
