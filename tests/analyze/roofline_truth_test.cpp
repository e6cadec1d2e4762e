// Ground truth by construction: databases of kernels whose counts were chosen, on every
// architecture that has counters, and every figure worked out by hand. Formulas:
// docs/facts/counters.md; ceilings: rate x CUs x clock (docs/facts/hardware.md "Limits and rates").
#include <gtest/gtest.h>

#include "analyze/roofline_checks.h"

namespace perflab::analyze {
namespace {

using enum hal::Pipe;
using enum hal::Precision;
using test::CountedGpu;
using test::CountedProgram;

constexpr double kNs = 100'000;  // of every kernel here

/// What follows by hand for a GPU from the counts of counted() and from its data sheet.
struct Truth {
  CountedGpu gpu;
  double cus, ghz;
  /// Per clock and CU: vector FP32, FP64 and FP16 alike; then matrix.
  double vector = 128;
  double matrix_fp16, matrix_fp32, matrix_fp64, matrix_fp8;
  double lds_bytes = 128;  ///< per clock and CU
  double hbm, l2;          ///< GB/s
  double read, write;      ///< bytes beyond L2 of counted()
  double l2_read;          ///< bytes: 40,000 reads x line

  [[nodiscard]] double peak(double per_clock) const { return per_clock * cus * ghz; }
};

void PrintTo(const Truth& truth, std::ostream* out) {
  *out << truth.gpu.gfx;
}

const Truth kMi210{.gpu = test::mi210(),
                   .cus = 104,
                   .ghz = 1.7,
                   .matrix_fp16 = 1024,
                   .matrix_fp32 = 256,
                   .matrix_fp64 = 256,
                   .matrix_fp8 = 0,
                   .hbm = 1638.4,
                   .l2 = 3481.6,        // 64 B x 32 channels x 1.7 GHz
                   .read = 5'760'000,   // 64 x 80,000 + 32 x 20,000
                   .write = 2'880'000,  // 64 x 40,000 + 32 x 10,000
                   .l2_read = 2'560'000};
const Truth kMi300x{.gpu = test::mi300x(),
                    .cus = 304,
                    .ghz = 2.1,
                    .matrix_fp16 = 2048,
                    .matrix_fp32 = 256,
                    .matrix_fp64 = 256,
                    .matrix_fp8 = 4096,
                    .hbm = 5300,
                    .l2 = 34406.4,      // 128 B x 128 channels x 2.1 GHz
                    .read = 7'680'000,  // 128 x 30,000 + 64 x 50,000 + 32 x 20,000
                    .write = 2'880'000,
                    .l2_read = 5'120'000};
const Truth kMi350x{.gpu = test::mi350x(),
                    .cus = 256,
                    .ghz = 2.2,
                    .matrix_fp16 = 4096,
                    .matrix_fp32 = 256,
                    .matrix_fp64 = 128,
                    .matrix_fp8 = 8192,
                    .lds_bytes = 256,
                    .hbm = 8000,
                    .l2 = 36044.8,      // 128 B x 128 channels x 2.2 GHz
                    .read = 7'680'000,  // the formula of gfx942 would give 5,760,000 here
                    .write = 2'880'000,
                    .l2_read = 5'120'000};

class Instinct : public testing::TestWithParam<Truth> {
 protected:
  const Truth& t_ = GetParam();

  KernelRoofline run(const std::map<std::string, double>& counts) {
    const CountedProgram program{.gpu = t_.gpu, .dispatches = {counted(t_.gpu, counts)}};
    const Analysis analysis = analyze_program(program);
    check_promises(analysis);
    return kernel_of(analysis);
  }

  /// Bytes beyond L2, between L1 and L2, and of LDS, of counted().
  void expect_base_traffic(const KernelRoofline& kernel) {
    const LevelTraffic& hbm = level_of(kernel, "hbm");
    EXPECT_FIGURE(hbm.read_bytes.value, t_.read);
    EXPECT_FIGURE(hbm.write_bytes.value, t_.write);
    EXPECT_FIGURE(hbm.bytes, t_.read + t_.write);
    EXPECT_FIGURE(hbm.gb_per_s, (t_.read + t_.write) / kNs);
    EXPECT_FIGURE(hbm.ceiling.value, t_.hbm);
    EXPECT_FIGURE(hbm.share, (t_.read + t_.write) / kNs / t_.hbm);
    const LevelTraffic& l2 = level_of(kernel, "l2");
    EXPECT_FIGURE(l2.read_bytes.value, t_.l2_read);
    EXPECT_FIGURE(l2.write_bytes.value, 64 * 20'300);  // writes and atomics: 64-byte requests
    EXPECT_FIGURE(l2.ceiling.value, t_.l2);
    EXPECT_FIGURE(l2.share, (t_.l2_read + 1'299'200) / kNs / t_.l2);
    const LevelTraffic& lds = level_of(kernel, "lds");
    EXPECT_FALSE(lds.split);
    EXPECT_FIGURE(lds.bytes, 6'400'000);  // 128 x (60,000 - 10,000)
    EXPECT_FIGURE(lds.ceiling.value, t_.peak(t_.lds_bytes));
    if (wide_lds())
      EXPECT_FALSE(lds.share);
    else
      EXPECT_FIGURE(lds.share, 6'400'000 / kNs / t_.peak(t_.lds_bytes));
  }
  /// gfx950 reads its LDS up to twice as wide as its counters tell: no share of a ceiling.
  [[nodiscard]] bool wide_lds() const { return t_.gpu.gfx == "gfx950"; }
};

INSTANTIATE_TEST_SUITE_P(, Instinct, testing::Values(kMi210, kMi300x, kMi350x),
                         [](const auto& of) { return of.param.gpu.gfx; });

TEST_P(Instinct, FmaFp32) {
  // 1024 waves x 1000 v_fma_f32: 2 x 64 lanes x 1,024,000 = 131,072,000 FLOP.
  const KernelRoofline kernel = run({{"SQ_INSTS_VALU_FMA_F32", 1'024'000}});
  constexpr double kFlops = 131'072'000;
  EXPECT_EQ(kernel.kernel, "kernel");
  EXPECT_EQ(kernel.architecture, t_.gpu.gfx);
  EXPECT_EQ(kernel.product, t_.gpu.product);
  EXPECT_EQ(kernel.dispatches, 1U);
  EXPECT_FIGURE(kernel.time_ns, kNs);
  EXPECT_EQ(kernel.time_from, "trace");
  EXPECT_FIGURE(work_of(kernel, vector, fp32).flops.value, kFlops);
  EXPECT_EQ(work_of(kernel, vector, fp64).flops.state, CounterState::zero);
  EXPECT_EQ(work_of(kernel, matrix, fp16).flops.state, CounterState::zero);
  EXPECT_FIGURE(kernel.flops_raw, kFlops);
  EXPECT_FIGURE(kernel.flops_lane_corrected, kFlops);
  EXPECT_EQ(kernel.flops_are, "lane-corrected");
  EXPECT_FALSE(kernel.estimate);
  EXPECT_FIGURE(kernel.gflops, 1310.72);  // 131,072,000 / 100,000 ns
  EXPECT_FIGURE(kernel.compute_roof.value, t_.peak(128));
  EXPECT_FIGURE(kernel.overlapped_roof, t_.peak(128));
  EXPECT_FIGURE(kernel.compute_share, 1310.72 / t_.peak(128));
  expect_base_traffic(kernel);
  const LevelTraffic& hbm = level_of(kernel, "hbm");
  EXPECT_FIGURE(hbm.intensity, kFlops / (t_.read + t_.write));
  EXPECT_FIGURE(hbm.ridge, t_.peak(128) / t_.hbm);
  EXPECT_FIGURE(hbm.ridge_ratio, kFlops / (t_.read + t_.write) * t_.hbm / t_.peak(128));
  EXPECT_FIGURE(level_of(kernel, "l2").intensity, kFlops / (t_.l2_read + 1'299'200));
  EXPECT_FIGURE(level_of(kernel, "lds").intensity, kFlops / 6'400'000);
  ASSERT_TRUE(kernel.binding);
  // MI210: compute 5.79 us, HBM 5.27 us; MI300X: 1.60 against 1.99; MI350X: 1.82 against 1.32.
  const bool memory = t_.gpu.gfx == "gfx942";
  EXPECT_EQ(kernel.binding->roof, memory ? "hbm" : "compute");
  EXPECT_EQ(kernel.binding->bound, memory ? "memory" : "compute");
  const double longest = memory ? (t_.read + t_.write) / t_.hbm : kFlops / t_.peak(128);  // ns
  EXPECT_FIGURE(kernel.binding->attainable_gflops, kFlops / longest);
  EXPECT_FIGURE(kernel.binding->share, longest / kNs);
}

TEST_P(Instinct, FmaFp64) {
  // 64 x (10,000 adds + 20,000 multiplications + 1,000 others + 2 x 500,000) = 65,984,000 FLOP.
  const KernelRoofline kernel = run({{"SQ_INSTS_VALU_ADD_F64", 10'000},
                                     {"SQ_INSTS_VALU_MUL_F64", 20'000},
                                     {"SQ_INSTS_VALU_TRANS_F64", 1'000},
                                     {"SQ_INSTS_VALU_FMA_F64", 500'000}});
  EXPECT_FIGURE(work_of(kernel, vector, fp64).flops.value, 65'984'000);
  EXPECT_FIGURE(kernel.flops_raw, 65'984'000);
  EXPECT_FIGURE(kernel.gflops, 659.84);
  EXPECT_FIGURE(kernel.compute_roof.value, t_.peak(128));
}

TEST_P(Instinct, FmaFp16) {
  // Plain v_fma_f16: 64 lanes, 2 operations; the ceiling is the one of plain instructions.
  const KernelRoofline kernel =
      run({{"SQ_INSTS_VALU_FMA_F16", 300'000}, {"SQ_INSTS_VALU_ADD_F16", 50'000}});
  EXPECT_FIGURE(work_of(kernel, vector, fp16).flops.value, 64 * 650'000);
  EXPECT_FIGURE(kernel.flops_raw, 41'600'000);
  EXPECT_FIGURE(kernel.compute_roof.value, t_.peak(128));
}

TEST_P(Instinct, MatrixOfOnePrecision) {
  const struct {
    const char* counter;
    hal::Precision precision;
    double per_clock;
  } kinds[] = {{"SQ_INSTS_VALU_MFMA_MOPS_F16", fp16, t_.matrix_fp16},
               {"SQ_INSTS_VALU_MFMA_MOPS_BF16", bf16, t_.matrix_fp16},
               {"SQ_INSTS_VALU_MFMA_MOPS_F32", fp32, t_.matrix_fp32},
               {"SQ_INSTS_VALU_MFMA_MOPS_F64", fp64, t_.matrix_fp64},
               {"SQ_INSTS_VALU_MFMA_MOPS_F8", fp8, t_.matrix_fp8}};
  for (const auto& kind : kinds) {
    if (kind.per_clock == 0) continue;  // MI210 has no FP8
    SCOPED_TRACE(kind.counter);
    // 512 x 2,000,000 = 1,024,000,000 FLOP.
    const KernelRoofline kernel = run({{kind.counter, 2'000'000}});
    EXPECT_FIGURE(work_of(kernel, matrix, kind.precision).flops.value, 1'024'000'000);
    EXPECT_FIGURE(work_of(kernel, matrix, kind.precision).ceiling.value, t_.peak(kind.per_clock));
    EXPECT_FIGURE(kernel.flops_raw, 1'024'000'000);
    EXPECT_FIGURE(kernel.flops_lane_corrected, 1'024'000'000);
    EXPECT_FIGURE(kernel.gflops, 10'240);
    EXPECT_FIGURE(kernel.compute_roof.value, t_.peak(kind.per_clock));
    EXPECT_FIGURE(kernel.compute_share, 10'240 / t_.peak(kind.per_clock));
  }
}

TEST_P(Instinct, Fp8DoesNotExistBeforeGfx942) {
  const KernelRoofline kernel = run({});
  bool counted_fp8 = false;
  for (const Work& work : kernel.work) counted_fp8 = counted_fp8 || work.precision == fp8;
  EXPECT_EQ(counted_fp8, t_.gpu.gfx != "gfx90a");
}

TEST_P(Instinct, MatrixIgnoresMaskedLanes) {
  // MFMA works whatever EXEC says; the vector part is halved.
  const KernelRoofline kernel = run({{"SQ_INSTS_VALU_MFMA_MOPS_F16", 2'000'000},
                                     {"SQ_INSTS_VALU_FMA_F32", 1'024'000},
                                     {"SQ_THREAD_CYCLES_VALU", 32 * 2'048'000.0}});
  EXPECT_FIGURE(kernel.flops_raw, 1'024'000'000 + 131'072'000);
  EXPECT_FIGURE(kernel.flops_lane_corrected, 1'024'000'000 + 65'536'000);
  EXPECT_FIGURE(work_of(kernel, matrix, fp16).lane_corrected, 1'024'000'000);
  EXPECT_FIGURE(work_of(kernel, vector, fp32).lane_corrected, 65'536'000);
}

TEST_P(Instinct, IntegerMatrixWorkTakesTimeButIsNoFlop) {
  // int8 runs at the rate of FP16 (MI210) or FP8: 512 x 1,000,000 OP.
  const double rate = t_.peak(t_.matrix_fp8 > 0 ? t_.matrix_fp8 : t_.matrix_fp16);
  const KernelRoofline kernel =
      run({{"SQ_INSTS_VALU_MFMA_MOPS_I8", 1'000'000}, {"SQ_INSTS_VALU_FMA_F32", 1'024'000}});
  EXPECT_FIGURE(work_of(kernel, matrix, int8).flops.value, 512'000'000);
  EXPECT_EQ(work_of(kernel, matrix, int8).flops.unit, "OP");
  EXPECT_FIGURE(work_of(kernel, matrix, int8).ceiling.value, rate);
  EXPECT_FIGURE(kernel.flops_raw, 131'072'000);
  EXPECT_FIGURE(kernel.compute_roof.value,
                131'072'000 / (131'072'000 / t_.peak(128) + 512'000'000 / rate));
}

TEST_P(Instinct, PackedInstructionsCountOnce) {
  // v_pk_fma_f32 does two operations per lane, and the counter adds one per instruction: the figure
  // is what was counted, against the ceiling of one operation per lane, and its note says so.
  const KernelRoofline kernel = run({{"SQ_INSTS_VALU_FMA_F32", 1'024'000}});
  const Work& work = work_of(kernel, vector, fp32);
  EXPECT_FIGURE(work.flops.value, 131'072'000);
  EXPECT_FIGURE(work.ceiling.value, t_.peak(128));
  EXPECT_NE(work.flops.note.find("packed"), std::string::npos) << work.flops.note;
  EXPECT_EQ(kernel.packed_code, std::nullopt);  // no code object to look into
  ASSERT_NE(missing_of(kernel, "packed_code"), nullptr);
  EXPECT_NE(missing_of(kernel, "packed_code")->reason.find("code object"), std::string::npos);
}

TEST_P(Instinct, MixedPrecisionHasTheWeightedRoof) {
  // A third of the FLOPs are vector FP32 (131,072,000), two thirds matrix FP16 (262,144,000). With
  // q = matrix rate / vector rate, both one after the other take (q + 2) parts of time for three
  // parts of work at the matrix rate: neither the vector roof, nor the matrix roof.
  const KernelRoofline kernel =
      run({{"SQ_INSTS_VALU_FMA_F32", 1'024'000}, {"SQ_INSTS_VALU_MFMA_MOPS_F16", 512'000}});
  const double q = t_.matrix_fp16 / 128;  // 8, 16, 32
  const double roof = 3 / (q + 2) * t_.peak(t_.matrix_fp16);
  // By hand: MI210 54,312.96; MI300X 217,907.2; MI350X 203,547.1 GFLOP/s.
  EXPECT_NEAR(roof, q == 8 ? 54'312.96 : q == 16 ? 217'907.2 : 203'547.1, 0.06);
  EXPECT_FIGURE(kernel.compute_roof.value, roof);
  EXPECT_GT(*kernel.compute_roof.value, t_.peak(128));
  EXPECT_LT(*kernel.compute_roof.value, t_.peak(t_.matrix_fp16));
  // Both pipes at once: the vector part is the longer one, q parts.
  EXPECT_FIGURE(kernel.overlapped_roof, 3 / q * t_.peak(t_.matrix_fp16));
  EXPECT_FIGURE(kernel.gflops, 3932.16);
  EXPECT_FIGURE(kernel.compute_share, 3932.16 / roof);
  EXPECT_FIGURE(level_of(kernel, "hbm").ridge, roof / t_.hbm);
}

TEST_P(Instinct, LdsBindsAKernelOfLdsAccesses) {
  // 10,000,000 cycles of accesses, 2,500,000 of them conflicts: 128 x 7,500,000 = 960,000,000
  // bytes.
  const KernelRoofline kernel =
      run({{"SQ_LDS_IDX_ACTIVE", 10'000'000}, {"SQ_LDS_BANK_CONFLICT", 2'500'000}});
  const LevelTraffic& lds = level_of(kernel, "lds");
  EXPECT_FIGURE(lds.bytes, 960'000'000);
  EXPECT_FIGURE(lds.gb_per_s, 9600);
  EXPECT_FIGURE(feature_of(kernel, "lds.conflicts_per_access").value, 1.0 / 3);
  // Of the cycles of all CUs in 100 us.
  EXPECT_FIGURE(feature_of(kernel, "lds.util").value, 100 * 1e7 / (t_.cus * t_.ghz * kNs));
  EXPECT_FIGURE(kernel.flops_raw, 0);
  EXPECT_EQ(lds.intensity, 0);
  EXPECT_FALSE(kernel.compute_roof.value);
  ASSERT_TRUE(kernel.binding);
  if (wide_lds()) {
    EXPECT_FALSE(lds.share);
    EXPECT_NE(missing_of(kernel, "levels.lds.share"), nullptr);
    EXPECT_NE(kernel.binding->roof, "lds");
    const auto says = [](const std::string& text) {
      return text.find("without lds") != std::string::npos;
    };
    EXPECT_TRUE(std::ranges::any_of(kernel.assumptions, says));
    return;
  }
  EXPECT_FIGURE(lds.share, 9600 / t_.peak(t_.lds_bytes));
  EXPECT_EQ(kernel.binding->roof, "lds");
  EXPECT_EQ(kernel.binding->bound, "memory");
  EXPECT_FIGURE(kernel.binding->share, 9600 / t_.peak(t_.lds_bytes));
  EXPECT_FALSE(kernel.binding->attainable_gflops);
  EXPECT_NE(missing_of(kernel, "binding.attainable_gflops"), nullptr);
}

TEST_P(Instinct, AtomicsAreBytesOfL2) {
  // 1,000,000 atomics without and 100 with a return value: requests of 64 bytes.
  const KernelRoofline kernel = run({{"TCP_TCC_READ_REQ_sum", 0},
                                     {"TCP_TCC_WRITE_REQ_sum", 0},
                                     {"TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum", 1'000'000}});
  const LevelTraffic& l2 = level_of(kernel, "l2");
  EXPECT_EQ(l2.read_bytes.state, CounterState::zero);
  EXPECT_FIGURE(l2.write_bytes.value, 64'006'400);
  EXPECT_FIGURE(l2.bytes, 64'006'400);
  EXPECT_FIGURE(l2.gb_per_s, 640.064);
  EXPECT_FIGURE(l2.share, 640.064 / t_.l2);
  // MI210: L2 18.4 us, HBM 5.3 us; MI300X: 1.86 and 1.99; MI350X: 1.78 and 1.32.
  ASSERT_TRUE(kernel.binding);
  EXPECT_EQ(kernel.binding->roof, t_.gpu.gfx == "gfx942" ? "hbm" : "l2");
}

TEST_P(Instinct, HalfOfTheLanesMasked) {
  const KernelRoofline kernel =
      run({{"SQ_INSTS_VALU_FMA_F32", 1'024'000}, {"SQ_THREAD_CYCLES_VALU", 32 * 2'048'000.0}});
  EXPECT_FIGURE(feature_of(kernel, "lanes").value, 32);
  EXPECT_FIGURE(kernel.flops_raw, 131'072'000);
  EXPECT_FIGURE(kernel.flops_lane_corrected, 65'536'000);
  EXPECT_EQ(kernel.flops_are, "lane-corrected");
  EXPECT_FIGURE(kernel.gflops, 655.36);
  EXPECT_FIGURE(kernel.gflops_raw, 1310.72);
  EXPECT_FIGURE(level_of(kernel, "hbm").intensity, 65'536'000 / (t_.read + t_.write));
}

TEST_P(Instinct, RidgeRatioAgreesWithTheRoofThatBinds) {
  // 3,000,000 v_fma_f32 with half of the lanes: 16.97 us (MI210), 4.70 us, 5.33 us of the vector
  // pipe, against 5.27, 1.99 and 1.32 us of HBM: bound by compute, whatever the lanes do. The ratio
  // to the ridge is above 1 for a kernel that is bound by compute (roofline.h).
  for (const double lanes : {64.0, 32.0, 16.0, 8.0}) {
    SCOPED_TRACE(lanes);
    const KernelRoofline kernel =
        run({{"SQ_INSTS_VALU_FMA_F32", 3'000'000}, {"SQ_THREAD_CYCLES_VALU", lanes * 2'048'000.0}});
    ASSERT_TRUE(kernel.binding);
    EXPECT_EQ(kernel.binding->bound, "compute");
    for (const LevelTraffic& level : kernel.levels) EXPECT_GT(level.ridge_ratio, 1) << level.name;
  }
}

TEST_P(Instinct, OccupancyIsInItsUnits) {
  const KernelRoofline kernel = run({});
  // Quad-cycles: 4 x SQ_WAVE_CYCLES / cycles of one die = 8 waves per CU of 32.
  EXPECT_FIGURE(feature_of(kernel, "occupancy.waves_in_flight").value, 8 * t_.cus);
  EXPECT_FIGURE(feature_of(kernel, "occupancy.waves_per_cu").value, 8);
  EXPECT_FIGURE(feature_of(kernel, "occupancy.achieved").value, 25);
  EXPECT_FIGURE(feature_of(kernel, "cycles").value, kNs * t_.ghz);
  EXPECT_FIGURE(feature_of(kernel, "hit.l2").value, 30);  // 30,000 of 100,000
  // 1 - 60,300 requests to L2 / 120,600 accesses.
  EXPECT_FIGURE(feature_of(kernel, "hit.l1").value, 50);
  EXPECT_FIGURE(feature_of(kernel, "instructions_per_wave").value, 4000);
}

TEST_P(Instinct, WaveTimeIsSplitWithinItsPass) {
  const double wave_cycles = 8 * t_.cus * kNs * t_.ghz / 4;
  const KernelRoofline kernel = run({{"SQ_WAIT_ANY", 0.75 * wave_cycles},
                                     {"SQ_WAIT_INST_ANY", 0.125 * wave_cycles},
                                     {"SQ_ACTIVE_INST_ANY", 0.125 * wave_cycles}});
  EXPECT_FIGURE(feature_of(kernel, "wave_time.dependency").value, 75);
  EXPECT_FIGURE(feature_of(kernel, "wave_time.issue").value, 12.5);
  EXPECT_FIGURE(feature_of(kernel, "wave_time.active").value, 12.5);
  EXPECT_EQ(feature_of(kernel, "wave_time.dependency").passes.size(), 1U);
}

TEST_P(Instinct, LatenciesAreCyclesPerRequest) {
  const std::string ea = t_.gpu.gfx == "gfx90a" ? "TCC_EA_" : "TCC_EA0_";
  const KernelRoofline kernel = run({{ea + "RDREQ_LEVEL_sum", 80'000'000},
                                     {ea + "WRREQ_LEVEL_sum", 20'000'000},
                                     {"VmemLatency", 1608},
                                     {"LdsLatency", 64.5},
                                     {"SmemLatency", 130.25}});
  EXPECT_FIGURE(feature_of(kernel, "latency.fabric_read").value, 800);  // / 100,000 requests
  EXPECT_FIGURE(feature_of(kernel, "latency.fabric_write").value, 400);
  EXPECT_FIGURE(feature_of(kernel, "latency.vmem").value, 1608);
  EXPECT_FIGURE(feature_of(kernel, "latency.lds").value, 64.5);
  EXPECT_FIGURE(feature_of(kernel, "latency.smem").value, 130.25);
}

TEST_P(Instinct, TotalsAreOfAllDispatches) {
  // Two launch geometries, three dispatches; the second dispatch of the first does twice the work.
  const test::CountedDispatch one = counted(t_.gpu, {{"SQ_INSTS_VALU_FMA_F32", 100'000}});
  test::CountedDispatch two = counted(t_.gpu, {{"SQ_INSTS_VALU_FMA_F32", 200'000}});
  test::CountedDispatch big =
      counted(t_.gpu, {{"SQ_INSTS_VALU_FMA_F32", 400'000}, {"SQ_WAVES", 2048}});
  big.grid = {.x = 1024, .y = 128};
  big.workgroup = {.x = 16, .y = 16};
  const Analysis analysis =
      analyze_program(CountedProgram{.gpu = t_.gpu, .dispatches = {one, big, two}});
  check_promises(analysis);
  const KernelRoofline& kernel = kernel_of(analysis);
  EXPECT_EQ(kernel.dispatches, 3U);
  EXPECT_FIGURE(kernel.time_ns, 3 * kNs);
  EXPECT_FIGURE(kernel.flops_raw, 128 * 700'000);
  EXPECT_FIGURE(level_of(kernel, "hbm").bytes, 3 * (t_.read + t_.write));
  EXPECT_FIGURE(feature_of(kernel, "hit.l2").value, 30);
  ASSERT_EQ(kernel.per_dispatch.size(), 3U);
  EXPECT_EQ(kernel.dispatches_left_out, 0U);
  // Geometry by geometry, the smaller grid in x first.
  const double flops[] = {128 * 400'000, 128 * 100'000, 128 * 200'000};
  const std::uint64_t ordinals[] = {1, 1, 2};
  for (std::size_t i = 0; i < 3; ++i) {
    const DispatchFigures& row = kernel.per_dispatch[i];
    EXPECT_EQ(row.ordinal, ordinals[i]);
    EXPECT_EQ(row.grid[1], i == 0 ? 128U : 1U);
    EXPECT_FIGURE(row.flops, flops[i]);
    EXPECT_FIGURE(row.hbm_read_bytes, t_.read);
    EXPECT_FIGURE(row.hbm_write_bytes, t_.write);
    EXPECT_FIGURE(row.duration_ns, kNs);
  }
}

TEST(Gfx950, F6AndF4RunAtFourTimesTheRateOfFp16) {
  const CountedGpu gpu = test::mi350x();
  const Analysis analysis = analyze_program(
      {.gpu = gpu, .dispatches = {counted(gpu, {{"SQ_INSTS_VALU_MFMA_MOPS_F6F4", 2'000'000}})}});
  const KernelRoofline& kernel = kernel_of(analysis);
  EXPECT_FIGURE(kernel.flops_raw, 1'024'000'000);
  EXPECT_FIGURE(kernel.compute_roof.value, 16384 * 256 * 2.2);
}

TEST(Gfx950, ReadsWithoutTccBubble) {
  // vecCopy of 8 MiB as recorded: 65,536 requests of 128 bytes, TCC_BUBBLE is 0
  // (docs/facts/counters.md "Bytes").
  const CountedGpu gpu = test::mi350x();
  auto sets = own_sets("gfx950");
  for (const auto& set : sets)
    for (const std::string& counter : set) EXPECT_FALSE(counter.starts_with("TCC_BUBBLE"));
  sets.push_back({"TCC_BUBBLE_sum", "TCC_EA0_RDREQ_sum", "GRBM_GUI_ACTIVE"});
  const Analysis analysis =
      analyze_program({.gpu = gpu,
                       .dispatches = {counted(gpu, {{"TCC_EA0_RDREQ_sum", 65'536},
                                                    {"TCC_EA0_RDREQ_128B_sum", 65'536},
                                                    {"TCC_EA0_RDREQ_64B_sum", 0},
                                                    {"TCC_EA0_RDREQ_32B_sum", 0},
                                                    {"TCC_BUBBLE_sum", 0}})}},
                      sets);
  const LevelTraffic& hbm = level_of(kernel_of(analysis), "hbm");
  EXPECT_FIGURE(hbm.read_bytes.value, 8 * 1024 * 1024);
  EXPECT_EQ(hbm.read_bytes.formula.find("BUBBLE"), std::string::npos);
}

struct Radeon {
  CountedGpu gpu;
  double read, write, hbm;
};

void PrintTo(const Radeon& radeon, std::ostream* out) {
  *out << radeon.gpu.gfx;
}

class RadeonBytes : public testing::TestWithParam<Radeon> {};

// Reads of counted(): 1,000 requests of 32 bytes, 2,000 of 64, 3,000 of 96, 4,000 of 128; gfx12 has
// no 96 and 5,000 of 256. Writes: 6,000 of 64 among 9,000 (gfx12: 7,000), the others of 32.
INSTANTIATE_TEST_SUITE_P(, RadeonBytes,
                         testing::Values(Radeon{test::rx6900xt(), 960'000, 480'000, 512},
                                         Radeon{test::rx7900xtx(), 960'000, 480'000, 960},
                                         Radeon{test::rx9070xt(), 1'952'000, 416'000, 640}),
                         [](const auto& of) { return of.param.gpu.gfx; });

TEST_P(RadeonBytes, ComeFromItsOwnRequests) {
  const Radeon& t = GetParam();
  const Analysis analysis = analyze_program({.gpu = t.gpu, .dispatches = {counted(t.gpu)}});
  check_promises(analysis);
  const KernelRoofline& kernel = kernel_of(analysis);
  const LevelTraffic& hbm = level_of(kernel, "hbm");
  EXPECT_FIGURE(hbm.read_bytes.value, t.read);
  EXPECT_FIGURE(hbm.write_bytes.value, t.write);
  EXPECT_FIGURE(hbm.gb_per_s, (t.read + t.write) / kNs);
  EXPECT_FIGURE(hbm.ceiling.value, t.hbm);
  EXPECT_FIGURE(hbm.share, (t.read + t.write) / kNs / t.hbm);
  EXPECT_FIGURE(level_of(kernel, "lds").bytes, 6'400'000);
  // No counters by type: the estimate, of 32 lanes, because 2,048 waves are 256 work-groups of 256.
  EXPECT_FALSE(kernel.flops_raw);
  EXPECT_EQ(kernel.flops_are, "estimate");
  ASSERT_TRUE(kernel.estimate);
  EXPECT_FIGURE(kernel.estimate->flops, 2'048'000 * 32);
  EXPECT_FIGURE(kernel.gflops, 2'048'000 * 32 / kNs);
  EXPECT_TRUE(kernel.work.empty());
  EXPECT_EQ(level_of(kernel, "l2").read_bytes.state, CounterState::unsupported);
  // RDNA counts wave cycles, not quad-cycles: 8 waves per CU of 32.
  EXPECT_FIGURE(feature_of(kernel, "occupancy.waves_per_cu").value, 8);
  EXPECT_FIGURE(feature_of(kernel, "occupancy.achieved").value, 25);
}

}  // namespace
}  // namespace perflab::analyze
