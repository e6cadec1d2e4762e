// Counters under the names that tools gave them at other times: tables of vecCopy, 1,048,576
// doubles, as rocprofiler-compute leaves them (docs/facts/counters.md "Tables"), 8 MiB read and
// written.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/program.h"

namespace perflab::cli {
namespace {

using testing::HasSubstr;

constexpr double kMiB8 = 8 << 20;
constexpr int kDispatches = 2;

using Counts = std::vector<std::pair<std::string, double>>;

/// A GPU as a line of sysinfo.csv.
struct Machine {
  const char* arch;
  int cus, xccs, mhz, wave, waves_per_cu;
};
constexpr Machine kMi100{"gfx908", 120, 1, 1502, 64, 40};
constexpr Machine kMi210{"gfx90a", 104, 1, 1700, 64, 32};
constexpr Machine kMi300x{"gfx942", 304, 8, 2100, 64, 32};
constexpr Machine kHalo{"gfx1151", 40, 1, 2900, 32, 32};

/// 131,072 requests of 64 bytes are 8 MiB; here 2,000 of them are halved into 32-byte ones.
constexpr double kWhole = 130'072, kHalves = 2'000, kAll = kWhole + kHalves;

/// Reads and writes of vecCopy beyond L2, by the beginning of the counters' names.
Counts traffic(const std::string& reads, const std::string& writes) {
  return {{reads + "_RDREQ_sum", kAll},
          {reads + "_RDREQ_32B_sum", kHalves},
          {writes + "_WRREQ_sum", kAll},
          {writes + "_WRREQ_64B_sum", kWhole}};
}

class RooflineNames : public testing::Test {
 protected:
  /// Each of `passes` as one table, every dispatch with the same counts.
  Json roofline(const Machine& machine, const std::vector<Counts>& passes) {
    std::vector<std::string> arguments{"roofline", "--json"};
    for (std::size_t pass = 0; pass < passes.size(); ++pass) {
      const std::string at = fmt::format("pass_{}/", pass + 1);
      std::filesystem::create_directories(folder_ / at);
      std::ignore = folder_.write(
          at + "sysinfo.csv",
          fmt::format("gpu_arch,cu_per_gpu,simd_per_cu,wave_size,max_waves_per_cu,max_sclk,"
                      "num_xcd\n{},{},4,{},{},{},{}\n",
                      machine.arch, machine.cus, machine.wave, machine.waves_per_cu, machine.mhz,
                      machine.xccs));
      std::string table =
          "GPU_ID,GUID,Correlation_Id,Dispatch_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,"
          "Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,Kernel_Name,Start_Timestamp,"
          "End_Timestamp,Kernel_ID,Counter_Name,Counter_Value\n";
      for (int i = 0; i < kDispatches; ++i)
        for (const auto& [name, value] : passes[pass])
          table += fmt::format(
              "2,0000{},{},{},1048576,256,0,0,8,8,16,\"vecCopy(double*, double*, double*, int, "
              "int)\",{},{},0,{},{:.1f}\n",
              pass, i + 1, i, 1'000'000 + 100'000 * i, 1'023'000 + 100'000 * i, name, value);
      arguments.push_back(folder_.write(at + "pmc_perf.csv", table).string());
    }
    const Outcome outcome = rocm_perf(folder_.path(), arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return document("roofline", outcome.out);
  }

  static const Json& of(const Json& roofline) { return roofline.at("kernels").at(0); }

  static void expect_eight_mib(const Json& roofline) {
    const Json& hbm = of(roofline).at("levels").at(0);
    EXPECT_EQ(hbm.at("read_bytes").at("value"), kDispatches * kMiB8) << hbm.dump();
    EXPECT_EQ(hbm.at("write_bytes").at("value"), kDispatches * kMiB8) << hbm.dump();
    EXPECT_EQ(of(roofline).at("per_dispatch").at(1).at("hbm_write_bytes"), kMiB8);
  }

  /// A figure beside the roofline: "latency.fabric_read".
  static Json feature(const Json& roofline, std::string_view name) {
    for (const Json& group : of(roofline).at("features"))
      for (const Json& one : group.at("figures"))
        if (one.at("name") == name) return one;
    ADD_FAILURE() << name << " is not there";
    return {};
  }

  test::TempFolder folder_;
};

TEST_F(RooflineNames, Mi100AsRocprofilerComputeHasItSinceAugust2025) {
  Counts counts = traffic("TCC_EA0", "TCC_EA0");
  counts.insert(counts.end(), {{"GRBM_GUI_ACTIVE", 40'000},
                               {"SQ_WAVES", 16'384},
                               {"TCC_EA0_RDREQ_LEVEL_sum", 1000 * kAll}});
  const Json json = roofline(kMi100, {counts});
  expect_eight_mib(json);
  EXPECT_EQ(feature(json, "latency.fabric_read").at("value"), 1000);
  EXPECT_THAT(of(json).at("assumptions").dump(),
              HasSubstr("names of counters as rocprofiler-compute since 2025-08-08 has them are "
                        "read: TCC_EA0_RDREQ_32B_sum as TCC_EA_RDREQ_32B_sum, TCC_EA0_RDREQ_sum "
                        "as TCC_EA_RDREQ_sum"));
  for (const Json& counter : of(json).at("counters"))
    EXPECT_NE(counter.at("state"), "unsupported") << counter.dump();
}

TEST_F(RooflineNames, Mi100AsOmniperfHadItAndAsRocprofv3HasIt) {
  Counts counts = traffic("TCC_EA", "TCC_EA");
  expect_eight_mib(roofline(kMi100, {counts}));
  counts.insert(counts.end(), {{"GRBM_GUI_ACTIVE", 40'000},
                               {"TCC_EA_RDREQ_LEVEL_sum", 1000 * kAll},
                               {"TCC_EA_RDREQ_DRAM_sum", kAll / 2}});
  const Json json = roofline(kMi100, {counts});
  expect_eight_mib(json);
  EXPECT_EQ(feature(json, "latency.fabric_read").at("value"), 1000);
  EXPECT_EQ(feature(json, "dram_share.read").at("value"), 50);
}

TEST_F(RooflineNames, ChannelsOfACounterAreItsToo) {
  Counts counts;
  for (int channel = 0; channel < 32; ++channel) {
    const double share = channel == 0 ? kAll - 31 * 4'000 : 4'000;
    counts.emplace_back(fmt::format("TCC_EA0_RDREQ[{}]", channel), share);
    counts.emplace_back(fmt::format("TCC_EA0_WRREQ[{}]", channel), share);
  }
  counts.insert(counts.end(),
                {{"TCC_EA0_RDREQ_32B_sum", kHalves}, {"TCC_EA0_WRREQ_64B_sum", kWhole}});
  expect_eight_mib(roofline(kMi100, {counts}));
}

TEST_F(RooflineNames, Mi210HasItsWritesUnderBothNames) {
  expect_eight_mib(roofline(kMi210, {traffic("TCC_EA", "TCC_EA0")}));
  expect_eight_mib(roofline(kMi210, {traffic("TCC_EA", "TCC_EA")}));
  // As recorded in May 2026: each name in a pass of its own, where later dispatches differ a
  // little.
  Counts other = traffic("TCC_EA", "TCC_EA0");
  other[2].second *= 1.004;
  expect_eight_mib(roofline(kMi210, {traffic("TCC_EA", "TCC_EA"), other}));
}

TEST_F(RooflineNames, Gfx1151HasTheNamesOfRocprofilerCompute) {
  const Json json = roofline(kHalo, {{{"GRBM_GUI_ACTIVE", 60'000},
                                      {"SQ_LDS_IDX_ACTIVE", 50'000},
                                      {"SQ_LDS_BANK_CONFLICT", 10'000},
                                      {"CPC_STAT_BUSY", 1'000}}});
  EXPECT_EQ(feature(json, "lds.conflicts_per_access").at("value"), 0.25);
  for (const Json& counter : of(json).at("counters"))
    EXPECT_EQ(counter.at("state"), "measured") << counter.dump();
}

TEST_F(RooflineNames, BothNamesWithOneValueAreOneCounter) {
  Counts counts = traffic("TCC_EA0", "TCC_EA0");
  for (const auto& each : traffic("TCC_EA", "TCC_EA")) counts.push_back(each);
  expect_eight_mib(roofline(kMi100, {counts}));
}

TEST_F(RooflineNames, BothNamesWithTwoValuesAreNoFigureAndSayWhy) {
  Counts counts = traffic("TCC_EA0", "TCC_EA0");
  for (const auto& each : traffic("TCC_EA", "TCC_EA")) counts.push_back(each);
  counts[0].second /= 2;  // TCC_EA0_RDREQ_sum
  const Json json = roofline(kMi100, {counts});
  const Json& hbm = of(json).at("levels").at(0);
  EXPECT_TRUE(hbm.at("read_bytes").at("value").is_null());
  EXPECT_EQ(hbm.at("read_bytes").at("state"), "suspicious");
  EXPECT_THAT(hbm.at("read_bytes").at("reason").get<std::string>(),
              HasSubstr("TCC_EA_RDREQ_sum and TCC_EA0_RDREQ_sum are names of one counter, and one "
                        "dispatch has 132072 and 66036 of them"));
  EXPECT_EQ(hbm.at("write_bytes").at("value"), kDispatches * kMiB8);
  // Another pass that has it once is believed.
  const Json mended = roofline(kMi100, {counts, traffic("TCC_EA0", "TCC_EA0")});
  expect_eight_mib(mended);
}

TEST_F(RooflineNames, AnotherArchitecturesNameIsNoNameHere) {
  Counts counts = traffic("TCC_EA", "TCC_EA");
  const Json json = roofline(kMi300x, {counts});
  const Json& hbm = of(json).at("levels").at(0);
  EXPECT_TRUE(hbm.at("read_bytes").at("value").is_null());
  for (const Json& counter : of(json).at("counters"))
    EXPECT_EQ(counter.at("state"), "unsupported") << counter.dump();
}

}  // namespace
}  // namespace perflab::cli
