// hal/peaks.h: the products' peaks against printed ones (docs/facts/hardware.md "Limits and
// rates"), what an agent's record changes, and what is said about figures that are missing or
// unsourced.
#include "hal/peaks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>

#include "base/system/files.h"
#include "base/text/json.h"

namespace perflab::hal {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Peaks peaks_of(std::string_view product, const AgentFigures& agent = {}) {
  const Product* found = find_product_by_name(product);
  EXPECT_NE(found, nullptr) << product;
  return compute_peaks(peak_inputs(*found, agent));
}

/// As it was printed: TFLOP/s with one digit, or "-".
std::string tera(const Peak& peak) {
  return peak.value ? fmt::format("{:.1f}", *peak.value / 1000) : "-";
}

std::string giga(const Peak& peak) {
  return peak.value ? fmt::format("{:.0f}", *peak.value) : "-";
}

struct Row {
  const char* product;
  const char *fp64_vector, *fp64_matrix, *fp32_vector, *fp32_doubled, *fp16_matrix, *fp8_matrix,
      *fp4_matrix;
  const char *l2, *infinity_cache, *memory;
};

constexpr Row kTable[] = {
    {"MI100", "11.5", "-", "23.1", "-", "184.6", "-", "-", "3076", "-", "1229"},
    {"MI210", "22.6", "45.3", "22.6", "45.3", "181.0", "-", "-", "3482", "-", "1638"},
    {"MI250", "22.6", "45.3", "22.6", "45.3", "181.0", "-", "-", "3482", "-", "1638"},
    {"MI250X", "23.9", "47.9", "23.9", "47.9", "191.5", "-", "-", "3482", "-", "1638"},
    {"MI300A", "61.3", "122.6", "61.3", "122.6", "980.6", "1961.2", "-", "25805", "17200", "5300"},
    {"MI300X", "81.7", "163.4", "81.7", "163.4", "1307.4", "2614.9", "-", "34406", "17200", "5300"},
    {"MI325X", "81.7", "163.4", "81.7", "163.4", "1307.4", "2614.9", "-", "34406", "17200", "6000"},
    {"MI350X", "72.1", "72.1", "72.1", "144.2", "2306.9", "4613.7", "9227.5", "36045", "-", "8000"},
    {"MI355X", "78.6", "78.6", "78.6", "157.3", "2516.6", "5033.2", "10066.3", "39322", "-",
     "8000"},
    {"RX 6900 XT", "1.4", "-", "23.0", "-", "-", "-", "-", "-", "-", "512"},
    {"RX 6800", "1.0", "-", "16.2", "-", "-", "-", "-", "-", "-", "512"},
    {"RX 7900 XTX", "1.0", "-", "30.7", "61.4", "122.9", "-", "-", "-", "-", "960"},
    {"RX 7800 XT", "0.6", "-", "18.7", "37.3", "74.6", "-", "-", "-", "-", "624"},
    {"Radeon 8060S", "0.5", "-", "14.8", "29.7", "59.4", "-", "-", "2970", "-", "256"},
    {"RX 9060 XT", "0.4", "-", "12.8", "25.6", "102.6", "205.1", "-", "-", "-", "320"},
    {"RX 9070 XT", "0.8", "-", "24.3", "48.7", "194.6", "389.3", "-", "-", "-", "640"},
};

TEST(Peaks, AreThePrintedOnes) {
  for (const Row& row : kTable) {
    SCOPED_TRACE(row.product);
    const Peaks peaks = peaks_of(row.product);
    EXPECT_EQ(tera(peaks.of(Pipe::vector, Precision::fp64)), row.fp64_vector);
    EXPECT_EQ(tera(peaks.of(Pipe::matrix, Precision::fp64)), row.fp64_matrix);
    EXPECT_EQ(tera(peaks.of(Pipe::vector, Precision::fp32)), row.fp32_vector);
    const Peak packed = peaks.of(Pipe::packed, Precision::fp32);
    const Peak dual = peaks.of(Pipe::dual_issue, Precision::fp32);
    EXPECT_FALSE(packed.value && dual.value) << "packed FP32 is CDNA's, dual issue RDNA's";
    EXPECT_EQ(tera(packed.value ? packed : dual), row.fp32_doubled);
    EXPECT_EQ(tera(peaks.of(Pipe::matrix, Precision::fp16)), row.fp16_matrix);
    EXPECT_EQ(tera(peaks.of(Pipe::matrix, Precision::fp8)), row.fp8_matrix);
    EXPECT_EQ(tera(peaks.of(Pipe::matrix, Precision::fp4)), row.fp4_matrix);
    EXPECT_EQ(tera(peaks.of(Pipe::matrix, Precision::fp6)), row.fp4_matrix);
    EXPECT_EQ(giga(peaks.l2), row.l2);
    EXPECT_EQ(giga(peaks.infinity_cache), row.infinity_cache);
    EXPECT_EQ(giga(peaks.memory), row.memory);
  }
  EXPECT_EQ(tera(peaks_of("MI300X").of(Pipe::matrix, Precision::tf32)), "653.7");
  EXPECT_EQ(tera(peaks_of("MI300A").of(Pipe::matrix, Precision::tf32)), "490.3");
  EXPECT_EQ(tera(peaks_of("RX 6900 XT").of(Pipe::packed, Precision::fp16)), "46.1");
  EXPECT_EQ(tera(peaks_of("RX 6900 XT").of(Pipe::dot, Precision::int8)), "92.2");
  EXPECT_EQ(tera(peaks_of("RX 9070 XT").of(Pipe::matrix, Precision::int4)), "778.6");
  EXPECT_EQ(giga(peaks_of("MI355X").lds), "157286");
  EXPECT_EQ(giga(peaks_of("MI100").l1), "11535");
}

TEST(Peaks, AreThoseOfTheFacts) {
  const auto path = std::filesystem::path(PERFLAB_SHARED_DIR) / "data/hal/hal_facts.json";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "skipped: " << path << " is not there";
  const std::map<std::string, Pipe> pipes{{"vec", Pipe::vector},
                                          {"vec_packed", Pipe::packed},
                                          {"vec_vopd", Pipe::dual_issue},
                                          {"mat", Pipe::matrix},
                                          {"dot", Pipe::dot}};
  const Json facts = parse_json(read_file(path).value(), path.string()).value();
  int compared = 0;
  for (const Json& fact : facts.at("products")) {
    const Peaks peaks =
        peaks_of(std::regex_replace(fact.at("name").get<std::string>(), std::regex(" \\(.*"), ""));
    for (const auto& [key, published] : fact.at("peak_tflops").items()) {
      const std::string precision = key.substr(0, key.find('_'));
      const Pipe pipe =
          key == "fp16_vec" ? Pipe::packed : pipes.at(key.substr(precision.size() + 1));
      const auto entry = std::ranges::find_if(peaks.compute, [&](const ComputePeak& candidate) {
        return candidate.pipe == pipe && to_string(candidate.precision) == precision;
      });
      ASSERT_NE(entry, peaks.compute.end()) << fact.at("name") << " " << key;
      EXPECT_NEAR(entry->peak.value.value() / 1000, published.get<double>(), 0.0501);
      EXPECT_EQ(entry->peak.unit, precision.starts_with("int") ? "GOP/s" : "GFLOP/s");
      ++compared;
    }
    for (const auto& [key, peak, tolerance] :
         {std::tuple{"lds_gbps", &peaks.lds, 0.51}, std::tuple{"l1_gbps", &peaks.l1, 0.51},
          std::tuple{"l2_gbps", &peaks.l2, 0.051}, std::tuple{"mem_gbps", &peaks.memory, 1e-9},
          std::tuple{"mall_gbps", &peaks.infinity_cache, 1e-9}}) {
      ASSERT_EQ(peak->value.has_value(), !fact.at(key).is_null()) << fact.at("name") << " " << key;
      if (!peak->value) continue;
      EXPECT_NEAR(*peak->value, fact.at(key).get<double>(), tolerance) << fact.at("name") << key;
      ++compared;
    }
  }
  fmt::print("{} peaks compared\n", compared);
  EXPECT_EQ(compared, 214);
}

TEST(Peaks, CarryTheirFormulaAndSources) {
  const Peak peak = peaks_of("MI300X").of(Pipe::packed, Precision::fp32);
  EXPECT_EQ(peak.formula, "256 FLOP/clk/CU x 304 CUs x 2100 MHz");
  EXPECT_THAT(peak.origins,
              ElementsAre("gfx942 ops_per_clk_per_cu.packed.fp32", "AMD Instinct MI300X cus",
                          "AMD Instinct MI300X max_clock_mhz"));
  EXPECT_THAT(peak.sources, ElementsAre("MI300DOC", "RPC", "MCA", "SPEC"));
  EXPECT_TRUE(peak.confirmed());
  EXPECT_EQ(unconfirmed_text(peak), "");
  EXPECT_EQ(peaks_of("MI300X").l2.formula, "128 B/clk/channel x 128 channels x 2100 MHz");
  EXPECT_EQ(peaks_of("MI100").memory.formula, "1228.8 GB/s");
  EXPECT_EQ(peaks_of("MI300X").of(Pipe::matrix, Precision::int8).formula,
            "4096 OP/clk/CU x 304 CUs x 2100 MHz");
}

TEST(Peaks, SayWhichInputsHaveNoSource) {
  const Peaks navi = peaks_of("RX 6900 XT");
  const Peak fp64 = navi.of(Pipe::vector, Precision::fp64);
  EXPECT_FALSE(fp64.confirmed());
  EXPECT_EQ(unconfirmed_text(fp64), "no source for: gfx1030 ops_per_clk_per_cu.vector.fp64");
  EXPECT_TRUE(navi.of(Pipe::vector, Precision::fp32).confirmed());
  EXPECT_TRUE(navi.lds.confirmed());
  EXPECT_THAT(navi.l1.unconfirmed, ElementsAre("gfx1030 bytes_per_clk.l1_per_cu"));
  // The clock of MI300A is in every peak that has a clock in it.
  const Peaks mi300a = peaks_of("MI300A");
  for (const ComputePeak& entry : mi300a.compute)
    EXPECT_THAT(entry.peak.unconfirmed, ElementsAre("AMD Instinct MI300A max_clock_mhz"));
  EXPECT_FALSE(mi300a.lds.confirmed());
  EXPECT_TRUE(mi300a.memory.confirmed());
  EXPECT_THAT(mi300a.infinity_cache.unconfirmed, ElementsAre("AMD Instinct MI300A mall.gbps"));
  EXPECT_THAT(peaks_of("MI210").l2.unconfirmed, ElementsAre("gfx90a bytes_per_clk.l2_per_channel"));
  // Two inputs at once.
  EXPECT_THAT(
      peaks_of("RX 7800 XT").of(Pipe::vector, Precision::fp64).unconfirmed,
      ElementsAre("gfx1101 ops_per_clk_per_cu.vector.fp64", "AMD Radeon RX 7800 XT max_clock_mhz"));
}

TEST(Peaks, WithASourcelessInputAreNeverConfirmed) {
  int unconfirmed = 0;
  for (const Arch& arch : all_archs()) {
    for (const Product& product : arch.products) {
      const Peaks peaks = compute_peaks(peak_inputs(product));
      const bool cus = product.provenance.is_unconfirmed("cus");
      for (const auto& [pipe, precision, peak] : peaks.compute) {
        const bool slower =
            product.matrix_clock_mhz && pipe == Pipe::matrix && precision != Precision::fp64;
        const bool clock =
            product.provenance.is_unconfirmed(slower ? "matrix_clock_mhz" : "max_clock_mhz");
        const bool own = std::ranges::any_of(product.rates, [&](const Rate& rate) {
          return rate.pipe == pipe && rate.precision == precision;
        });
        const bool rate = (own ? product.provenance : arch.provenance)
                              .is_unconfirmed(fmt::format("ops_per_clk_per_cu.{}.{}",
                                                          to_string(pipe), to_string(precision)));
        EXPECT_EQ(peak.confirmed(), !cus && !clock && !rate) << product.name;
        EXPECT_EQ(unconfirmed_text(peak).empty(), peak.confirmed());
        EXPECT_FALSE(peak.sources.empty());
        unconfirmed += peak.confirmed() ? 0 : 1;
      }
      EXPECT_EQ(peaks.memory.confirmed(), !product.provenance.is_unconfirmed("memory.gbps"));
    }
  }
  EXPECT_GT(unconfirmed, 20);
}

/// Dense peaks as NVIDIA's tables print them (docs/facts/cuda_architectures.md "Products").
TEST(Peaks, OfNvidiaAreThePublishedOnes) {
  struct Published {
    const char* product;
    Pipe pipe;
    Precision precision;
    double tera;
  };
  using enum Pipe;
  using enum Precision;
  const Published all[] = {{"V100 SXM2 16GB", vector, fp32, 15.7},
                           {"V100 SXM2 16GB", vector, fp64, 7.8},
                           {"V100 SXM2 16GB", matrix, fp16, 125},
                           {"T4", matrix, fp16, 65},
                           {"T4", matrix, int8, 130},
                           {"A100-SXM4-80GB", vector, fp32, 19.5},
                           {"A100-SXM4-80GB", vector, fp64, 9.7},
                           {"A100-SXM4-80GB", packed, fp16, 78},
                           {"A100-SXM4-80GB", matrix, fp16, 312},
                           {"A100-SXM4-80GB", matrix, tf32, 156},
                           {"A100-SXM4-80GB", matrix, fp64, 19.5},
                           {"A100-SXM4-80GB", matrix, int8, 624},
                           {"A10", vector, fp32, 31.2},
                           {"A10", matrix, bf16, 125},
                           {"A40", matrix, fp16, 149.7},
                           {"RTX 3090", matrix, fp16, 142},
                           {"RTX 3090", matrix, bf16, 71},
                           {"L4", matrix, fp16, 121},
                           {"L40", matrix, bf16, 181.05},
                           {"L40S", matrix, fp8, 733},
                           {"RTX 4090", matrix, fp16, 330.3},
                           {"RTX 4090", matrix, bf16, 165.2},
                           {"H100 SXM5", vector, fp32, 66.9},
                           {"H100 SXM5", vector, fp64, 33.5},
                           {"H100 SXM5", packed, fp16, 133.8},
                           {"H100 SXM5", matrix, bf16, 989.4},
                           {"H100 SXM5", matrix, fp8, 1978.9},
                           {"H100 SXM5", matrix, fp64, 66.9},
                           {"H100 PCIe", matrix, fp16, 756.5},
                           {"H200", matrix, int8, 1978.9},
                           {"B200", matrix, fp16, 2250},
                           {"B200", matrix, fp4, 9000},
                           {"B200", vector, fp32, 75},
                           {"RTX 5090", vector, fp32, 104.8},
                           {"RTX PRO 6000", matrix, fp16, 503.8}};
  for (const Published& p : all) {
    const Peak peak = peaks_of(p.product).of(p.pipe, p.precision);
    ASSERT_TRUE(peak.value.has_value()) << p.product;
    EXPECT_NEAR(*peak.value / 1e3, p.tera, 0.005 * p.tera) << p.product << " " << peak.formula;
  }
  EXPECT_EQ(peaks_of("H100 SXM5").of(matrix, bf16).formula,
            "4096 FLOP/clk/SM x 132 SMs x 1830 MHz");
  EXPECT_EQ(peaks_of("H100 SXM5").memory.value, 3350);
  EXPECT_NEAR(*peaks_of("A100-SXM4-40GB").l2.value, 5120 * 1.41, 1e-6);
  EXPECT_FALSE(peaks_of("H100 SXM5").l2.value.has_value()) << "nothing is published";
}

TEST(Peaks, OfTheTensorCoresFollowARecordedClockDownwards) {
  const auto at = [](std::int64_t mhz) {
    return peaks_of("H100 SXM5", {.cus = {}, .clock_mhz = mhz, .xcds = {}})
        .of(Pipe::matrix, Precision::fp16)
        .value.value();
  };
  EXPECT_DOUBLE_EQ(at(1980), 4096.0 * 132 * 1830 / 1e3);
  EXPECT_DOUBLE_EQ(at(1500), 4096.0 * 132 * 1500 / 1e3);
}

TEST(Peaks, ThatAreMissingSayWhy) {
  EXPECT_EQ(peaks_of("MI350X").infinity_cache.value, std::nullopt);
  EXPECT_EQ(peaks_of("MI350X").infinity_cache.missing,
            "the tables have no source for AMD Instinct MI350X mall.gbps");
  EXPECT_FALSE(peaks_of("MI350X").infinity_cache.confirmed());
  EXPECT_EQ(peaks_of("MI210").infinity_cache.missing, "AMD Instinct MI210 has no Infinity Cache");
  EXPECT_EQ(peaks_of("RX 9070 XT").l2.missing,
            "the tables have no source for AMD Radeon RX 9070 XT l2.channels");
  const Peak tf32 = peaks_of("MI355X").of(Pipe::matrix, Precision::tf32);
  EXPECT_EQ(tf32.value, std::nullopt);
  EXPECT_EQ(tf32.missing, "the tables have no matrix tf32 instructions for gfx950");
  EXPECT_EQ(peaks_of("MI100").of(Pipe::matrix, Precision::int4).unit, "GOP/s");
  EXPECT_EQ(tf32.formula, "");
}

TEST(Peaks, TakeWhatTheAgentSays) {
  const Peaks peaks = peaks_of("MI300X", {.cus = 320, .clock_mhz = 1900, .xcds = 8});
  const Peak fp32 = peaks.of(Pipe::vector, Precision::fp32);
  EXPECT_DOUBLE_EQ(fp32.value.value(), 128.0 * 320 * 1900 / 1000);
  EXPECT_THAT(fp32.origins, ElementsAre(HasSubstr("gfx942"), "recording", "recording"));
  EXPECT_DOUBLE_EQ(peaks.l2.value.value(), 128.0 * 128 * 1900 / 1000);
  EXPECT_EQ(peaks.memory.value, 5300);
  // A recorded clock stands in for one that has no source.
  EXPECT_TRUE(peaks_of("MI300A", {.cus = {}, .clock_mhz = 2100, .xcds = {}})
                  .of(Pipe::vector, Precision::fp32)
                  .confirmed());
}

TEST(Peaks, OfAPartitionHaveTheL2OfItsDies) {
  const Peaks peaks = peaks_of("MI300X", {.cus = 38, .clock_mhz = 2100, .xcds = 1});
  EXPECT_DOUBLE_EQ(peaks.l2.value.value(), 34406.4 / 8);
  EXPECT_THAT(peaks.l2.origins, Contains("AMD Instinct MI300X l2.channels (1 of 8 XCDs)"));
  const Peaks odd = peaks_of("MI300X", {.cus = {}, .clock_mhz = {}, .xcds = 9});
  EXPECT_EQ(odd.l2.value, std::nullopt);
  EXPECT_EQ(odd.l2.missing, "the recording has 9 XCDs where AMD Instinct MI300X has 8");
}

TEST(Peaks, IgnoreAgentFiguresThatCannotBe) {
  const Peaks peaks = peaks_of("MI300X", {.cus = 0, .clock_mhz = -1, .xcds = 0});
  EXPECT_EQ(tera(peaks.of(Pipe::vector, Precision::fp32)), "81.7");
  EXPECT_EQ(giga(peaks.l2), "34406");
}

TEST(Peaks, OfAnArchitectureAloneNeedTheAgent) {
  const Arch& arch = *find_arch("gfx940");
  const Peaks none = compute_peaks(peak_inputs(arch));
  for (const Peak* peak : {&none.memory, &none.l2, &none.infinity_cache, &none.lds, &none.l1}) {
    EXPECT_EQ(peak->value, std::nullopt);
    EXPECT_THAT(peak->missing, HasSubstr("no product of the tables and no agent record"));
  }
  for (const ComputePeak& entry : none.compute) EXPECT_EQ(entry.peak.value, std::nullopt);
  const Peaks some = compute_peaks(peak_inputs(arch, {.cus = 100, .clock_mhz = 1000, .xcds = 1}));
  EXPECT_EQ(some.of(Pipe::vector, Precision::fp32).value, 128.0 * 100);
  EXPECT_EQ(some.lds.value, 128.0 * 100);
  EXPECT_EQ(some.l2.value, std::nullopt);
  EXPECT_EQ(some.l2.missing,
            "the L2 channels of this gfx940 are not known: no product of the tables and no agent "
            "record names them");
  EXPECT_THAT(some.memory.unconfirmed, IsEmpty());
}

TEST(Peaks, OfMemoryByAttributesWhereTheProductIsNotKnown) {
  const AgentFigures agent{.cus = 132, .clock_mhz = 1980, .xcds = 1, .memory_gbps = 3352.3};
  const Peaks unknown = compute_peaks(peak_inputs(*find_arch("sm_90"), agent));
  EXPECT_EQ(unknown.memory.value, 3352.3);
  EXPECT_THAT(unknown.memory.origins, ElementsAre("recording"));
  const Peaks known = peaks_of("NVIDIA H200", agent);
  EXPECT_EQ(known.memory.value, 4800);
}

}  // namespace
}  // namespace perflab::hal
