// Counter passes of a trace description: what a dispatch counts, worked out by hand, and the files.
#include "support/described_counters.h"

#include <gtest/gtest.h>

#include "support/rocpd_writer.h"
#include "support/test_database.h"

namespace perflab::test {
namespace {

/// 8 work-groups of 4 waves, two of them side by side on a CU; 10 us at 2000 MHz.
DescribedKernel kernel() {
  DescribedKernel kernel;
  kernel.symbol = "k";
  kernel.groups = {.x = 8, .y = 1, .z = 1};
  kernel.workgroup = {.x = 256, .y = 1, .z = 1};
  kernel.lds = 32'768;
  kernel.counts = DescribedCounts{.matrix_bf16 = 8192 * 10,
                                  .fma = 2 * 32 * 100,
                                  .add = 32 * 7,
                                  .mul = 32 * 6,
                                  .trans = 32 * 5,
                                  .lanes = 32,
                                  .read = 128 * 1000,
                                  .write = 64 * 200,
                                  .l2_read = 128 * 3000,
                                  .l2_write = 64 * 200,
                                  .lds = 128 * 64,
                                  .lds_conflicts = 0.5,
                                  .lane_bytes = 4,
                                  .lds_lane_bytes = 4,
                                  .valu = 12,
                                  .salu = 8,
                                  .smem = 2,
                                  .branch = 1};
  return kernel;
}

DescribedCounting counting() {
  return {.clock_mhz = 2000,
          .launch = 5'000,
          .gap = 40'000,
          .slower_permille = 100,
          .read_cycles = 900,
          .write_cycles = 500,
          .l2_cycles = 300,
          .lds_cycles = 128,
          .smem_cycles = 200,
          .fetch_cycles = 60};
}

TEST(DescribedCounters, FollowFromTheWorkOfADispatch) {
  const Result<DescribedCounters> counted = count_dispatch(kernel(), counting(), 10'000);
  ASSERT_TRUE(counted) << describe(counted.error());
  const auto value = [&](const char* name) { return counted->at(name); };
  EXPECT_EQ(value("SQ_WAVES"), 32);
  EXPECT_EQ(value("GRBM_GUI_ACTIVE"), 8 * 30'000);  // 8 dies, 15 us
  EXPECT_EQ(value("SQ_INSTS_VALU_MFMA_MOPS_BF16"), 160);
  EXPECT_EQ(value("SQ_INSTS_MFMA"), 10);
  EXPECT_EQ(value("SQ_INSTS_VALU_FMA_F32"), 100);
  EXPECT_EQ(value("SQ_INSTS_VALU_ADD_F32"), 7);
  EXPECT_EQ(value("SQ_INSTS_VALU_MUL_F32"), 6);
  EXPECT_EQ(value("SQ_INSTS_VALU_TRANS_F32"), 5);
  EXPECT_EQ(value("SQ_INSTS_VALU_FMA_F64"), 0);
  EXPECT_EQ(value("SQ_INSTS_VALU"), 10 + 100 + 7 + 6 + 5 + 32 * 12);
  EXPECT_EQ(value("SQ_THREAD_CYCLES_VALU") / value("SQ_ACTIVE_INST_VALU"), 32);
  EXPECT_EQ(value("SQ_INSTS_SALU"), 32 * 8);
  EXPECT_EQ(value("SQ_INSTS_VMEM"), (128 * 3000 + 64 * 200) / 256);
  EXPECT_EQ(value("SQ_INSTS_LDS"), 32);
  EXPECT_EQ(value("SQ_LDS_IDX_ACTIVE"), 64 + 32);
  EXPECT_EQ(value("SQ_LDS_BANK_CONFLICT"), 32);
  EXPECT_EQ(value("TCC_EA0_RDREQ_sum"), 1000);
  EXPECT_EQ(value("TCC_BUBBLE_sum"), 1000);
  EXPECT_EQ(value("TCC_EA0_WRREQ_64B_sum"), 200);
  EXPECT_EQ(value("TCP_TCC_READ_REQ_sum"), 3000);
  EXPECT_EQ(value("TCC_MISS_sum"), 1000 + 100);
  EXPECT_EQ(value("TCC_HIT_sum") + value("TCC_MISS_sum"), value("TCC_REQ_sum"));
  EXPECT_EQ(value("LdsLatency"), 128 * 1.5);
}

TEST(DescribedCounters, OfTimeStayWithinIt) {
  const auto counted = count_dispatch(kernel(), counting(), 10'000);
  ASSERT_TRUE(counted) << describe(counted.error());
  const auto value = [&](const char* name) { return counted->at(name); };
  EXPECT_LE(4 * value("SQ_WAVE_CYCLES"), 32 * 20'000);
  EXPECT_GT(4 * value("SQ_WAVE_CYCLES"), 0.9 * 32 * 20'000);
  EXPECT_LE(value("SQ_BUSY_CU_CYCLES"), 8 * 20'000);
  const double split =
      value("SQ_WAIT_ANY") + value("SQ_WAIT_INST_ANY") + value("SQ_ACTIVE_INST_ANY");
  EXPECT_LE(split, value("SQ_WAVE_CYCLES"));
  EXPECT_GT(split, 0.95 * value("SQ_WAVE_CYCLES"));
  EXPECT_LE(value("SQ_WAIT_INST_LDS"), value("SQ_WAIT_INST_ANY"));
  EXPECT_EQ(value("SPI_RA_LDS_CU_FULL_CSN"), 0);  // all work-groups fit
  DescribedKernel longer = kernel();
  longer.groups.x = 304 * 2 + 1;  // two to a CU, and one that waits for LDS
  const auto two_rounds = count_dispatch(longer, counting(), 100'000);
  ASSERT_TRUE(two_rounds) << describe(two_rounds.error());
  EXPECT_EQ(two_rounds->at("SPI_RA_LDS_CU_FULL_CSN"), 304 * 100'000 / 4);  // half of 200,000 cycles
  EXPECT_EQ(two_rounds->at("SPI_RA_VGPR_SIMD_FULL_CSN"), 0);
}

TEST(DescribedCounters, OfMemoryComeLaterUnderLoad) {
  const auto idle = count_dispatch(kernel(), counting(), 1'000'000);
  DescribedKernel loaded = kernel();
  loaded.counts->read = loaded.counts->l2_read = 128LL * 200'000;  // 25.6 MB in 10 us
  const auto busy = count_dispatch(loaded, counting(), 10'000);
  ASSERT_TRUE(idle && busy);
  const auto latency = [](const DescribedCounters& counters) {
    return counters.at("TCC_EA0_RDREQ_LEVEL_sum") / counters.at("TCC_EA0_RDREQ_sum");
  };
  EXPECT_NEAR(latency(*idle), 900, 1);
  EXPECT_NEAR(latency(*busy), 900 * (1 + 2 * 0.48 * 0.48), 10);  // 2.56 of 5.3 TB/s
  EXPECT_GT(busy->at("VmemLatency"), idle->at("VmemLatency"));
}

TEST(DescribedCounters, CannotBeMoreThanTheGpuDoes) {
  const auto refused = [](const DescribedKernel& kernel, std::int64_t ns) {
    const auto counted = count_dispatch(kernel, counting(), ns);
    return counted ? "" : counted.error().message;
  };
  EXPECT_EQ(refused(kernel(), 10'000), "");
  DescribedKernel much = kernel();
  much.counts->read = much.counts->l2_read = 128LL * 1'000'000;  // 128 MB in 10 us
  EXPECT_EQ(refused(much, 10'000),
            "kernel k: its counts are more than AMD Instinct MI300X can do in 10000 ns");
  much = kernel();
  much.counts->matrix_bf16 = 8192LL * 1'000'000;  // 8 CUs do 2048 per cycle
  EXPECT_NE(refused(much, 10'000), "");
  much = kernel();
  much.counts->valu = 10'000;  // a wave has 5000 turns of 4 cycles
  EXPECT_NE(refused(much, 10'000), "");
  EXPECT_EQ(refused(kernel(), 0), "kernel k takes no time");
  much.counts.reset();
  EXPECT_EQ(refused(much, 10'000), "kernel k is launched, but has no \"counts\"");
}

constexpr const char* kCounting =
    R"("counting": {"clock_mhz": 2000, "gap_us": 40, "slower_permille": 100,
                    "latency_cycles": {"read": 900}, "why": "test"},)";
constexpr const char* kCounts =
    R"("counts": {"flop": {"fma": 1280}, "read": 1280, "l2_read": 1280,
                  "per_wave": {"valu": 2}, "why": "test"})";

std::string description_text(const std::string& counting, const std::string& counts) {
  return R"({"guid": "0000-g", "process": {"pid": 70}, "agents": ["host", "mi300x"], "seed": 3,
            "synthetic": "made up", "streams": [{"name": "s", "queue": "q"}],
            "code_objects": [{"uri": "file:///x"}], "copies": {}, "timing": {"jitter_permille": 50},
            )" +
         counting + R"("kernels": {"k": {"symbol": "k", "fixed_us": 20, )" + counts +
         R"(}}, "program": [{"repeat": 3, "do": ["k"]}]})";
}

std::string problem_of(const std::string& text) {
  const Result<TraceDescription> read = read_description(text, "d.json");
  if (!read) return read.error().message;
  const auto written = write_described_counters(*read, test_folder() / "passes");
  return written ? "" : written.error().message;
}

TEST(DescribedPasses, RunTheProgramOncePerSetOfCounters) {
  const auto read = read_description(description_text(kCounting, kCounts), "d.json");
  ASSERT_TRUE(read) << describe(read.error());
  const std::filesystem::path folder = test_folder();
  const auto files = write_described_counters(*read, folder);
  ASSERT_TRUE(files) << describe(files.error());
  ASSERT_GE(files->size(), 2U);
  std::string before;
  for (std::size_t i = 0; i < files->size(); ++i) {
    const std::filesystem::path& path = (*files)[i];
    EXPECT_EQ(path, folder / ("pass_" + std::to_string(i + 1)) /
                        (std::to_string(71 + i) + "_results.db"));
    TestDatabase db(path);
    EXPECT_EQ(db.text("SELECT value FROM rocpd_metadata WHERE tag = 'synthetic'"), "made up");
    EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_kernel_dispatch"), 3);
    EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_region"), 0);
    EXPECT_EQ(db.number("SELECT count(*) FROM pragma_foreign_key_check"), 0);
    EXPECT_EQ(db.number("SELECT min(end - start) > 20000 FROM rocpd_kernel_dispatch"), 1);
    const std::string rows =
        "SELECT count(*) FROM rocpd_pmc_event v JOIN rocpd_info_pmc p ON p.id = v.pmc_id WHERE "
        "p.name ";
    EXPECT_EQ(db.number(rows + "= 'GRBM_GUI_ACTIVE'"), 3 * 8);
    EXPECT_EQ(db.number(rows + "<> 'GRBM_GUI_ACTIVE'"),
              3 * (db.number("SELECT count(*) FROM rocpd_info_pmc") - 1));
    const std::string times = db.text(
        "SELECT group_concat(start || '-' || end) FROM "
        "rocpd_kernel_dispatch");
    EXPECT_NE(times, before);
    before = times;
  }
}

TEST(DescribedPasses, AreTheSameEveryTime) {
  const auto read = read_description(description_text(kCounting, kCounts), "d.json");
  ASSERT_TRUE(read) << describe(read.error());
  const std::filesystem::path folder = test_folder();
  const auto one = write_described_counters(*read, folder / "one");
  const auto two = write_described_counters(*read, folder / "two");
  ASSERT_TRUE(one && two);
  for (std::size_t i = 0; i < one->size(); ++i)
    EXPECT_TRUE(file_bytes((*one)[i]) == file_bytes((*two)[i])) << (*one)[i];
}

TEST(DescribedPasses, NeedADescriptionThatSaysEnough) {
  EXPECT_EQ(problem_of(description_text("", kCounts)), "the description has no \"counting\"");
  EXPECT_EQ(problem_of(description_text(kCounting, R"("lds": 0)")),
            "kernel k is launched, but has no \"counts\"");
  EXPECT_EQ(
      problem_of(description_text(R"("counting": {"why": "", "latency_cycles": {}},)", kCounts)),
      "d.json: counting: \"clock_mhz\" must be positive");
  const auto counts = [](const std::string& fields) {
    return problem_of(description_text(
        kCounting, R"("counts": {)" + fields + R"(, "per_wave": {}, "why": "test"})"));
  };
  EXPECT_EQ(counts(R"("l2_read": 100)"),
            "d.json: kernel k: counts: \"l2_read\" is not a multiple of 128 bytes");
  EXPECT_EQ(counts(R"("read": 256, "l2_read": 128)"),
            "d.json: kernel k: counts: more bytes leave L2 than L1 asks it for");
  EXPECT_EQ(counts(R"("lanes": 65)"), "d.json: kernel k: counts: \"lanes\" is not from 1 to 64");
  EXPECT_EQ(counts(R"("flop": {"fp7": 1})"),
            "d.json: kernel k: flop: has an unknown field \"fp7\"");
  EXPECT_EQ(counts(R"("lane_bytes": 0)"), "d.json: kernel k: counts: a lane moves at least 1 byte");
  std::string host = description_text(kCounting, kCounts);
  host.replace(host.find("mi300x"), 6, "host");
  EXPECT_EQ(problem_of(host), "the description's \"gpu\" is not an mi300x");
}

}  // namespace
}  // namespace perflab::test
