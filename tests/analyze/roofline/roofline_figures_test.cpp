// Formulas over counters of one or several passes, on hand-made traces and the tables of gfx942.
#include "analyze/roofline/roofline_figures.h"

#include <gtest/gtest.h>

#include "analyze/roofline_checks.h"
#include "analyze/trace_builder.h"

namespace perflab::analyze {
namespace {

using trace::Index;
using Values = std::vector<std::pair<const char*, double>>;
using Numbers = std::vector<int>;

class FiguresTest : public testing::Test {
 protected:
  FiguresTest() {
    b_.agent("gfx942");
    constants_ = {.cus = 304,
                  .xccs = 8,
                  .shader_engines = 32,
                  .simds_per_cu = 4,
                  .max_waves_per_cu = 32,
                  .lanes = 64};
  }

  void pass(std::optional<int> number) {
    b_.source(number);
    kernel_ = b_.kernel("k");
  }
  /// A dispatch of the last pass with these counters; `grid` tells geometries apart.
  void dispatch(const Values& values, std::uint32_t grid = 1024) {
    clock_ += 100;
    const Index at = b_.dispatch(
        kernel_,
        {.start = clock_,
         .duration = 10,
         .config = {
             .workgroup = {256, 1, 1}, .grid = {grid, 1, 1}, .lds_bytes = 0, .scratch_bytes = 0}});
    std::vector<std::pair<Index, double>> rows;
    for (const auto& [name, value] : values) rows.emplace_back(counter(name), value);
    std::ranges::sort(rows);
    for (const auto& [index, value] : rows) b_.value(at, index, value);
  }
  Index counter(std::string_view name) {
    for (Index i = 0; i < b_.trace.counter_infos.size(); ++i)
      if (b_.trace.strings.view(b_.trace.counter_infos[i].name) == name) return i;
    return b_.counter(name);
  }
  void doubt(Index pass, const char* name) { doubts_.doubt(pass, counter(name), "made up"); }

  Figure figure(std::string_view name) {
    const Passes passes = find_passes(b_.trace);
    const TimingScope scope = find_timing_scope(b_.trace, passes);
    const CounterJoin joined = join_counters(b_.trace, passes, scope);
    const CounterNames names(b_.trace);
    const CounterIndex index(b_.trace);
    EXPECT_EQ(joined.kernels.size(), 1U);
    const KernelCounters counters{.trace = &b_.trace,
                                  .passes = &passes,
                                  .kernel = &joined.kernels.at(0),
                                  .names = &names,
                                  .table = hal::find_counter_table("gfx942"),
                                  .sums = sum_counters(b_.trace, index, joined.kernels.at(0)),
                                  .doubts = doubts_,
                                  .constants = constants_};
    return compute_figure(counters, name);
  }

  TraceBuilder b_;
  FormulaConstants constants_;
  CounterDoubts doubts_;
  Index kernel_ = 0;
  std::int64_t clock_ = 1000;
};

TEST_F(FiguresTest, CountsOfTheWorkMeetFromSeveralPasses) {
  pass(1);
  dispatch({{"SQ_THREAD_CYCLES_VALU", 3200}});
  pass(2);
  dispatch({{"SQ_ACTIVE_INST_VALU", 100}});
  const Figure lanes = figure("lanes");
  EXPECT_FIGURE(lanes.value, 32);
  EXPECT_EQ(lanes.state, CounterState::measured);
  EXPECT_EQ(lanes.passes, (Numbers{1, 2}));
  EXPECT_EQ(lanes.dispatches, 1U);
  EXPECT_EQ(lanes.across_passes, std::nullopt);
}

TEST_F(FiguresTest, WhatDependsOnTimeIsOfOnePass) {
  pass(1);
  dispatch({{"TCC_HIT_sum", 30}});
  pass(2);
  dispatch({{"TCC_MISS_sum", 70}});
  const Figure hit = figure("hit.l2");
  EXPECT_EQ(hit.value, std::nullopt);
  EXPECT_EQ(hit.state, CounterState::missing);
  EXPECT_FIGURE(hit.across_passes, 30);
  EXPECT_EQ(hit.passes, (Numbers{1, 2}));
  EXPECT_EQ(hit.reason,
            "its counters are in passes 1 and 2: a figure that depends on time is built from "
            "counters of one pass");
  EXPECT_FALSE(hit.remedy.empty());
}

TEST_F(FiguresTest, APassThatHasThemAllIsFound) {
  pass(1);
  dispatch({{"TCC_HIT_sum", 1000}});
  pass(2);
  dispatch({{"TCC_HIT_sum", 30}, {"TCC_MISS_sum", 70}});
  pass(3);
  dispatch({{"TCC_MISS_sum", 1000}});
  const Figure hit = figure("hit.l2");
  EXPECT_FIGURE(hit.value, 30);
  EXPECT_EQ(hit.passes, (Numbers{2}));
}

TEST_F(FiguresTest, ThePassWithTheMostDispatchesIsTaken) {
  pass(1);
  dispatch({{"TCC_HIT_sum", 10}, {"TCC_MISS_sum", 90}});
  dispatch({{"SQ_WAVES", 16}});
  pass(2);
  dispatch({{"TCC_HIT_sum", 30}, {"TCC_MISS_sum", 70}});
  dispatch({{"TCC_HIT_sum", 50}, {"TCC_MISS_sum", 50}});
  const Figure hit = figure("hit.l2");
  EXPECT_FIGURE(hit.value, 40);  // 80 of 200
  EXPECT_EQ(hit.passes, (Numbers{2}));
  EXPECT_EQ(hit.dispatches, 2U);
}

TEST_F(FiguresTest, CountersThatTookTurnsMakeNoRatioOfTime) {
  pass(1);
  dispatch({{"TCC_HIT_sum", 30}});
  dispatch({{"TCC_MISS_sum", 70}});
  const Figure hit = figure("hit.l2");
  EXPECT_EQ(hit.value, std::nullopt);
  EXPECT_FIGURE(hit.across_passes, 30);
  EXPECT_NE(hit.reason.find("took turns"), std::string::npos) << hit.reason;
}

TEST_F(FiguresTest, CountersThatTookTurnsMakeCountsOfTheWork) {
  // Each on half of four dispatches: the mean, times four.
  pass(1);
  for (const double reads : {100.0, 300.0}) {
    dispatch({{"TCP_TCC_READ_REQ_sum", reads}});
    dispatch({{"SQ_THREAD_CYCLES_VALU", 6400}});
  }
  const Figure read = figure("l2.read_bytes");
  EXPECT_FIGURE(read.value, 128 * 200 * 4);
  EXPECT_EQ(read.dispatches, 2U);
}

TEST_F(FiguresTest, ARatioIsNotBuiltFromDifferentGeometries) {
  // Waves of the small grid, instructions of the large one: 8,000 / 16 is nobody's figure.
  pass(1);
  dispatch({{"SQ_WAVES", 16}}, 1024);
  dispatch({{"SQ_INSTS", 8000}}, 4096);
  const Figure per_wave = figure("instructions_per_wave");
  EXPECT_EQ(per_wave.value, std::nullopt);
  EXPECT_FALSE(per_wave.reason.empty());
}

TEST_F(FiguresTest, ARatioAcrossPassesIsNotBuiltFromDifferentGeometries) {
  pass(1);
  dispatch({{"SQ_WAVES", 16}}, 1024);
  dispatch({}, 4096);
  pass(2);
  dispatch({}, 1024);
  dispatch({{"SQ_INSTS", 8000}}, 4096);
  const Figure per_wave = figure("instructions_per_wave");
  EXPECT_EQ(per_wave.value, std::nullopt);
}

TEST_F(FiguresTest, NorIsTheOneForPeopleOfATimeFigure) {
  pass(1);
  dispatch({{"TCC_HIT_sum", 30}}, 1024);
  dispatch({{"TCC_MISS_sum", 7000}}, 4096);
  EXPECT_EQ(figure("hit.l2").across_passes, std::nullopt);
}

TEST_F(FiguresTest, ATotalNeedsEveryGeometry) {
  pass(1);
  dispatch({{"TCP_TCC_READ_REQ_sum", 100}}, 1024);
  dispatch({{"SQ_WAVES", 64}}, 4096);
  const Figure read = figure("l2.read_bytes");
  EXPECT_EQ(read.value, std::nullopt);
  EXPECT_EQ(read.state, CounterState::missing);
  EXPECT_NE(read.reason.find("4096x1x1"), std::string::npos) << read.reason;
}

TEST_F(FiguresTest, TotalsAreScaledToTheTimedDispatchesOfEachGeometry) {
  // One of two dispatches with the small grid has the counter; the large one's has it.
  pass(std::nullopt);
  dispatch({}, 1024);
  dispatch({}, 1024);
  dispatch({}, 4096);
  pass(1);
  dispatch({{"TCP_TCC_READ_REQ_sum", 100}}, 1024);
  dispatch({}, 1024);
  dispatch({{"TCP_TCC_READ_REQ_sum", 1000}}, 4096);
  EXPECT_FIGURE(figure("l2.read_bytes").value, 128 * (2 * 100 + 1000));
}

TEST_F(FiguresTest, DerivedMetricsAreMeansNeverSums) {
  pass(1);
  dispatch({{"VmemLatency", 800}});
  dispatch({{"VmemLatency", 1000}});
  dispatch({{"VmemLatency", 600}}, 4096);
  EXPECT_FIGURE(figure("latency.vmem").value, 800);
}

TEST_F(FiguresTest, CountersGoBeforeTheProfilersOwnMetric) {
  pass(1);
  dispatch({{"VmemLatency", 800}});
  pass(2);
  dispatch({{"SQ_INST_LEVEL_VMEM_ACCUM", 50000}, {"SQ_INSTS_VMEM", 100}});
  const Figure latency = figure("latency.vmem");
  EXPECT_FIGURE(latency.value, 500);
  EXPECT_EQ(latency.passes, (Numbers{2}));
}

TEST_F(FiguresTest, OnePassGoesBeforeSeveralAlsoForALaterAlternative) {
  pass(1);
  dispatch({{"SQ_INST_LEVEL_VMEM_ACCUM", 50000}});
  pass(2);
  dispatch({{"SQ_INSTS_VMEM", 100}, {"VmemLatency", 800}});
  const Figure latency = figure("latency.vmem");
  EXPECT_FIGURE(latency.value, 800);
  EXPECT_EQ(latency.formula, "VmemLatency");
}

TEST_F(FiguresTest, InstancesSumStandsForTheReduction) {
  pass(1);
  dispatch({{"TCC_HIT", 30}, {"TCC_MISS", 70}});
  EXPECT_FIGURE(figure("hit.l2").value, 30);
}

TEST_F(FiguresTest, ZeroIsAValue) {
  pass(1);
  dispatch({{"TCC_HIT_sum", 0}, {"TCC_MISS_sum", 70}});
  const Figure hit = figure("hit.l2");
  EXPECT_EQ(hit.value, 0);
  EXPECT_EQ(hit.state, CounterState::zero);
  EXPECT_TRUE(hit.reason.empty());
}

TEST_F(FiguresTest, DivisionByZeroIsNone) {
  pass(1);
  dispatch({{"TCC_HIT_sum", 0}, {"TCC_MISS_sum", 0}});
  const Figure hit = figure("hit.l2");
  EXPECT_EQ(hit.value, std::nullopt);
  EXPECT_EQ(hit.state, CounterState::missing);
  EXPECT_NE(hit.reason.find("is 0"), std::string::npos) << hit.reason;
}

TEST_F(FiguresTest, CountersThatContradictEachOtherAreSuspicious) {
  pass(1);
  dispatch({{"SQ_LDS_IDX_ACTIVE", 10}, {"SQ_LDS_BANK_CONFLICT", 20}});
  const Figure bytes = figure("lds.bytes");
  EXPECT_EQ(bytes.value, std::nullopt);
  EXPECT_EQ(bytes.state, CounterState::suspicious);
  EXPECT_NE(bytes.reason.find("-1280"), std::string::npos) << bytes.reason;
}

TEST_F(FiguresTest, MoreLanesThanAWaveHasAreSuspicious) {
  pass(1);
  dispatch({{"SQ_THREAD_CYCLES_VALU", 12'800}, {"SQ_ACTIVE_INST_VALU", 100}});
  const Figure lanes = figure("lanes");  // 128 of 64
  EXPECT_EQ(lanes.value, std::nullopt);
  EXPECT_EQ(lanes.state, CounterState::suspicious);
}

TEST_F(FiguresTest, WhatTheArchitectureDoesNotCountIsUnsupported) {
  pass(1);
  dispatch({{"SQ_WAVES", 16}});
  const Figure barrier = figure("wave_time.barrier");  // gfx115x has it
  EXPECT_EQ(barrier.state, CounterState::unsupported);
  EXPECT_EQ(barrier.value, std::nullopt);
  EXPECT_NE(barrier.reason.find("gfx942"), std::string::npos) << barrier.reason;
}

TEST_F(FiguresTest, MissingCountersAreNamed) {
  pass(1);
  dispatch({{"TCC_EA0_RDREQ_sum", 10}});
  const Figure read = figure("fabric.read_bytes");
  EXPECT_EQ(read.state, CounterState::missing);
  EXPECT_EQ(read.reason, "not recorded: TCC_BUBBLE_sum, TCC_EA0_RDREQ_32B_sum");
  EXPECT_EQ(read.remedy, "collect them: rocm-perf profile --roofline");
}

TEST_F(FiguresTest, UnknownMachineIsSaid) {
  constants_.cus.reset();
  pass(1);
  dispatch({{"SQ_WAVE_CYCLES", 1000}, {"GRBM_GUI_ACTIVE", 8000}});
  const Figure waves = figure("occupancy.waves_per_cu");
  EXPECT_EQ(waves.value, std::nullopt);
  EXPECT_EQ(waves.reason, "CU of this GPU is not known");
  EXPECT_FIGURE(figure("occupancy.waves_in_flight").value, 4);  // 4 x 1000 x 8 / 8000
}

TEST_F(FiguresTest, CyclesAreOfOneDie) {
  pass(1);
  dispatch({{"GRBM_GUI_ACTIVE", 8000}});
  dispatch({{"GRBM_GUI_ACTIVE", 16'000}});
  EXPECT_FIGURE(figure("cycles").value, 3000);
}

TEST_F(FiguresTest, ASuspiciousPassIsPassedOver) {
  pass(1);
  dispatch({{"SQ_WAVES", 1}, {"SQ_INSTS", 100}});
  pass(2);
  dispatch({{"SQ_WAVES", 16}, {"SQ_INSTS", 8000}});
  doubt(0, "SQ_WAVES");
  const Figure per_wave = figure("instructions_per_wave");
  EXPECT_FIGURE(per_wave.value, 500);
  EXPECT_EQ(per_wave.passes, (Numbers{2}));
  EXPECT_EQ(per_wave.state, CounterState::measured);
  EXPECT_TRUE(per_wave.reason.empty());
  doubt(0, "SQ_INSTS");
  doubt(1, "SQ_INSTS");
  const Figure none = figure("instructions_per_wave");
  EXPECT_EQ(none.value, std::nullopt);
  EXPECT_EQ(none.state, CounterState::suspicious);
  EXPECT_NE(none.reason.find("made up"), std::string::npos) << none.reason;
}

TEST_F(FiguresTest, ASuspiciousCopyOfACounterIsPassedOver) {
  pass(1);
  dispatch({{"SQ_WAVES", 1}});
  pass(2);
  dispatch({{"SQ_WAVES", 16}});
  pass(3);
  dispatch({{"SQ_INSTS", 8000}});
  doubt(0, "SQ_WAVES");
  const Figure per_wave = figure("instructions_per_wave");
  EXPECT_FIGURE(per_wave.value, 500) << per_wave.reason;
  EXPECT_EQ(per_wave.passes, (Numbers{2, 3}));
}

TEST_F(FiguresTest, APassThatDidOtherWorkGivesNoTotalButItsRatios) {
  pass(1);
  dispatch({{"TCP_TCC_READ_REQ_sum", 100}});
  dispatch({{"TCP_TCC_READ_REQ_sum", 100}});
  pass(2);
  dispatch({{"TCP_TCC_WRITE_REQ_sum", 10}, {"TCC_HIT_sum", 30}, {"TCC_MISS_sum", 70}});
  pass(3);
  dispatch({{"TCP_TCC_ATOMIC_WITH_RET_REQ_sum", 0}, {"TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum", 0}});
  dispatch({{"TCP_TCC_ATOMIC_WITH_RET_REQ_sum", 0}, {"TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum", 0}});
  EXPECT_FIGURE(figure("l2.read_bytes").value, 128 * 200);
  const Figure write = figure("l2.write_bytes");
  EXPECT_EQ(write.value, std::nullopt);
  EXPECT_EQ(write.state, CounterState::missing);
  EXPECT_NE(write.reason.find("did not do the same work each time"), std::string::npos)
      << write.reason;
  EXPECT_FIGURE(figure("hit.l2").value, 30);
}

TEST_F(FiguresTest, ACopyInAPassThatDidOtherWorkIsPassedOver) {
  pass(1);
  dispatch({{"TCP_TCC_WRITE_REQ_sum", 10}});  // one dispatch of two
  pass(2);
  dispatch({{"TCP_TCC_WRITE_REQ_sum", 10}});
  dispatch({{"TCP_TCC_WRITE_REQ_sum", 10}});
  pass(3);
  dispatch({{"TCP_TCC_ATOMIC_WITH_RET_REQ_sum", 1}, {"TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum", 1}});
  dispatch({{"TCP_TCC_ATOMIC_WITH_RET_REQ_sum", 1}, {"TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum", 1}});
  pass(std::nullopt);
  dispatch({});
  dispatch({});
  const Figure write = figure("l2.write_bytes");
  EXPECT_FIGURE(write.value, 64 * (20 + 2 + 2)) << write.reason;
  EXPECT_EQ(write.passes, (Numbers{2, 3}));
}

TEST_F(FiguresTest, OtherGridsInAPassAreOtherWork) {
  pass(1);
  dispatch({{"SQ_THREAD_CYCLES_VALU", 6400}}, 1024);
  pass(2);
  dispatch({{"SQ_ACTIVE_INST_VALU", 100}}, 2048);
  const Figure lanes = figure("lanes");
  EXPECT_EQ(lanes.value, std::nullopt);
  EXPECT_FALSE(lanes.reason.empty());
}

}  // namespace
}  // namespace perflab::analyze
