// Sums over waves built by hand: every number below is counted on paper from the steps.
#include "analyze/thread_trace/fold.h"

#include <gtest/gtest.h>

#include "analyze/thread_trace/built_wave.h"
#include "analyze/thread_trace/confidence.h"
#include "analyze/thread_trace/cycles.h"
#include "analyze/thread_trace/folded.h"

namespace perflab::analyze {
namespace {

using code::InstructionClass;
using Category = att::Category;

TEST(ThreadTraceFold, APointerChaseWaitsForItsLoad) {
  Folded chase(
      code_of({"; chase", "v_mov_b32_e32 v0, v1", "global_load_dwordx2 v[0:1], v[0:1], off",
               "s_waitcnt vmcnt(0)", "s_cbranch_scc1 65533", "s_endpgm"}));
  const Step load{.row = 2, .category = Category::flat};
  chase.fold->add(
      wave_of({{.row = 1, .gap = 500},
               load,
               waited(3, 800),
               {.row = 4, .category = Category::jump},
               {.row = 2, .duration = 10, .stall = 6, .gap = 16, .category = Category::flat},
               waited(3, 700),
               {.row = 4, .category = Category::next},
               {.row = 5, .category = Category::message}}));
  const KernelThreadTrace figures = chase.figures();
  EXPECT_EQ(figures.sums.hits, 8);
  EXPECT_EQ(figures.time.issue, 4 + 4 + 4 + 4 + 4 + 4);  // of row 2 the second time 10 - 6
  EXPECT_EQ(figures.time.issue_stall, 6);
  EXPECT_EQ(figures.time.wait, 1500);
  EXPECT_EQ(figures.time.idle, 516);
  EXPECT_EQ(figures.time.barrier, 0);
  EXPECT_EQ(figures.wave_cycles, 24 + 6 + 1500 + 516);
  EXPECT_EQ(figures.wait_by_class,
            (decltype(figures.wait_by_class){{InstructionClass::vmem_load, 1500}}));
  ASSERT_EQ(figures.causes.size(), 1U);
  EXPECT_EQ(figures.causes[0].row, 2U);
  EXPECT_EQ(figures.causes[0].wait_caused, 1500);
  EXPECT_EQ(figures.causes[0].sums.hits, 2);
  ASSERT_EQ(figures.waits.size(), 1U);
  EXPECT_EQ(figures.waits[0].wait_text, "s_waitcnt vmcnt(0)");
  EXPECT_EQ(figures.waits[0].cause_text, "global_load_dwordx2 v[0:1], v[0:1], off");
  EXPECT_EQ(figures.waits[0].cycles, 1500);
  EXPECT_EQ(figures.waits[0].times, 2U);
  EXPECT_EQ(figures.hot[0].row, 3U);
  EXPECT_EQ(figures.hot[1].row, 1U);  // the start-up stands before the first instruction
  EXPECT_EQ(figures.links, WaitLinks::rule);
  EXPECT_EQ(figures.coverage.waits, 2U);
  EXPECT_EQ(figures.coverage.waits_by_rule, 2U);
  EXPECT_DOUBLE_EQ(figures.instructions_per_wave.value(), 8);
  EXPECT_DOUBLE_EQ(figures.wave_ipc.value(), 8.0 / 2046);
}

TEST(ThreadTraceFold, AWaitIsSpreadEvenlyAndTheRestGoesToTheFirst) {
  Folded three(code_of({"; k", "global_load_dword v0, v[2:3], off", "ds_read_b32 v1, v4",
                        "s_waitcnt vmcnt(0) lgkmcnt(0)"}));
  three.fold->add(wave_of({{.row = 1}, {.row = 2}, {.row = 1}, waited(3, 101)}));
  const KernelThreadTrace figures = three.figures();
  // 101 = 34 + 34 + 33, in order of issue: load, LDS, load.
  EXPECT_EQ(figures.wait_by_class.at(InstructionClass::vmem_load), 34 + 33);
  EXPECT_EQ(figures.wait_by_class.at(InstructionClass::lds), 34);
  ASSERT_EQ(figures.waits.size(), 2U);
  EXPECT_EQ(figures.waits[0].cause, 1U);
  EXPECT_EQ(figures.waits[0].times, 2U);
  EXPECT_EQ(figures.waits[1].times, 1U);
  EXPECT_EQ(figures.classes.front().instruction_class, InstructionClass::waitcnt);
  for (const ClassCycles& one : figures.classes)
    EXPECT_EQ(one.wait_caused, one.instruction_class == InstructionClass::vmem_load ? 67
                               : one.instruction_class == InstructionClass::lds     ? 34
                                                                                    : 0);
}

TEST(ThreadTraceFold, LinksOfTheTraceGoFirst) {
  Folded linked(code_of({"; k", "global_load_dword v0, v[2:3], off",
                         "global_load_dword v1, v[4:5], off", "s_waitcnt vmcnt(0)"}));
  att::Wave wave = wave_of({{.row = 1}, {.row = 2}, waited(3, 90)});
  add_link(wave, 3, {2});
  linked.fold->add(wave);
  const KernelThreadTrace figures = linked.figures();
  EXPECT_EQ(figures.links, WaitLinks::trace);
  EXPECT_EQ(figures.coverage.waits_by_rule, 0U);
  ASSERT_EQ(figures.causes.size(), 1U);
  EXPECT_EQ(figures.causes[0].row, 2U);
  EXPECT_EQ(figures.causes[0].wait_caused, 90);
}

TEST(ThreadTraceFold, BarriersNopsAndEmptyWaitsStandApart) {
  Folded apart(code_of({"; k", "s_barrier", "s_nop 3", "s_waitcnt vmcnt(0)", "v_mov_b32 v0, 0"}));
  // A barrier is two tokens: the message that the wave is there, whose stall is the bus's, and the
  // release.
  apart.fold->add(wave_of({{.row = 1, .duration = 24, .stall = 20, .category = Category::message},
                           waited(1, 300),
                           waited(2, 16),
                           waited(3, 8),
                           {.row = 3, .category = Category::none}}));  // a wait by its name
  const KernelThreadTrace figures = apart.figures();
  EXPECT_EQ(figures.time.barrier, 300);
  EXPECT_EQ(figures.time.issue_stall, 20);
  EXPECT_EQ(figures.time.issue, 4);
  EXPECT_EQ(figures.time.wait, 28);
  EXPECT_EQ(figures.wait_other, 16);
  EXPECT_EQ(figures.wait_unattributed, 12);
  EXPECT_TRUE(figures.wait_by_class.empty());
  EXPECT_EQ(figures.links, WaitLinks::rule);  // it says that nothing was outstanding
}

TEST(ThreadTraceFold, WaitsOfRdnaAreTheirWholeLatency) {
  Folded rdna(code_of({"; k", "global_store_b32 v[0:1], v2, off", "s_load_b32 s0, s[0:1], 0x0",
                       "s_wait_storecnt 0x0", "s_wait_kmcnt 0x0", "s_barrier_signal -1",
                       "s_barrier_wait 0xffff"}),
              12);
  const auto wait = [](att::RowIndex row, std::int64_t duration, std::int64_t stall) {
    return Step{.row = row, .duration = duration, .stall = stall, .category = Category::other_salu};
  };
  rdna.fold->add(wave_of({{.row = 1, .duration = 1},
                          {.row = 2, .duration = 1},
                          wait(3, 41, 40),
                          wait(4, 10, 0),
                          {.row = 5, .duration = 1, .category = Category::message},
                          wait(6, 25, 0)}));
  const KernelThreadTrace figures = rdna.figures();
  EXPECT_EQ(figures.time.wait, 51);
  EXPECT_EQ(figures.time.barrier, 25);
  EXPECT_EQ(figures.time.issue, 3);
  EXPECT_EQ(figures.wait_by_class.at(InstructionClass::vmem_store), 41);
  EXPECT_EQ(figures.wait_by_class.at(InstructionClass::smem), 10);
}

TEST(ThreadTraceFold, GapsAreCountedAsTheProfilerDoes) {
  Folded gaps(code_of({"; k", "v_mov_b32 v0, 0", "s_add_f32 s0, s0, 1.0"}));
  att::Wave wave = wave_of({});
  wave.instructions = {{.time = 1010, .duration = 4, .row = 1},   // 10 after the begin
                       {.time = 1020, .duration = 3, .row = 2},   // 6
                       {.time = 1021, .duration = 1, .row = 1},   // overlaps: none
                       {.time = 1024, .duration = 1, .row = 2},   // 1 after 1023, not 2 after 1022
                       {.time = 1030, .duration = 9, .row = 0},   // a label: code not known
                       {.time = 1040, .duration = 9, .row = 77},  // no row at all
                       {.time = 1050, .duration = 4, .row = 1}};  // 25 after 1025
  wave.end = 1054;
  gaps.fold->add(wave);
  const KernelThreadTrace figures = gaps.figures();
  EXPECT_EQ(figures.time.idle, 10 + 6 + 0 + 1 + 25);
  EXPECT_EQ(figures.sums.latency, 4 + 3 + 1 + 1 + 4);
  EXPECT_EQ(figures.sums.hits, 5);
  EXPECT_EQ(figures.coverage.unattributed, 2U);
  EXPECT_EQ(figures.wave_cycles, 54);
  EXPECT_DOUBLE_EQ(figures.instructions_per_wave.value(), 7);
}

TEST(ThreadTraceFold, RowsThatDifferFromTheirWavesAreCounted) {
  Folded sums(code_of({"; k", "v_mov_b32 v0, 0", "v_mov_b32 v1, 0"}));
  sums.fold->add(wave_of({{.row = 1, .gap = 8}, {.row = 2, .duration = 6, .stall = 2}}));
  EXPECT_EQ(sums.figures().coverage.rows_differing, 2U);
  auto& code = sums.trace.code;
  code[1].hits = 1, code[1].latency = 4, code[1].idle = 8;
  EXPECT_EQ(sums.figures().coverage.rows_differing, 1U);
  code[2].hits = 1, code[2].latency = 6, code[2].stall = 2;
  EXPECT_EQ(sums.figures().coverage.rows_differing, 0U);
}

TEST(ThreadTraceFold, SimdsCusAndStates) {
  Folded many(code_of({"; k", "v_mov_b32 v0, 0"}));
  const auto add = [&](int engine, int simd, int slot, std::int64_t begin) {
    att::Wave wave = wave_of({{.row = 1}, {.row = 1, .gap = 2}}, begin);
    wave.place = {.shader_engine = engine, .cu = 1, .simd = simd, .slot = slot, .id = 0};
    wave.timeline = {{.state = att::WaveState::exec, .duration = 8},
                     {.state = att::WaveState::idle, .duration = 2}};
    many.fold->add(wave);
  };
  add(0, 0, 0, 100);
  add(0, 0, 1, 150);
  add(0, 1, 0, 100);
  add(4, 0, 0, 7);
  const KernelThreadTrace figures = many.figures();
  EXPECT_EQ(figures.coverage.waves, 4U);
  EXPECT_EQ(figures.coverage.cus, (std::vector<std::pair<int, int>>{{0, 1}, {4, 1}}));
  EXPECT_EQ(figures.states, (std::array<std::int64_t, 5>{0, 8, 32, 0, 0}));
  // 8 instructions over 60 (100 to 160), 10 and 10 cycles of three SIMDs; waves live 10 each.
  EXPECT_DOUBLE_EQ(figures.simd_ipc.value(), 8.0 / 80);
  EXPECT_DOUBLE_EQ(figures.wave_ipc.value(), 8.0 / 40);
}

TEST(ThreadTraceFold, LinesTakeTheInnermostFrame) {
  auto code = code_of({"; k", "v_mov_b32 v0, 0", "v_mov_b32 v1, 0", "v_mov_b32 v2, 0", "s_endpgm"});
  code[1].source = "lib.h:3 -> main.cpp:10";
  code[2].source = "lib.h:3 -> main.cpp:20";
  code[3].source = "main.cpp:10";
  Folded lines(std::move(code));
  lines.fold->add(wave_of({{.row = 1}, {.row = 2, .duration = 20}, {.row = 3}, {.row = 4}}));
  const KernelThreadTrace figures = lines.figures();
  ASSERT_EQ(figures.lines.size(), 3U);
  EXPECT_EQ(figures.lines[0].line, "lib.h:3");
  EXPECT_EQ(figures.lines[0].sums.latency, 24);
  EXPECT_EQ(figures.lines[0].chain, (std::vector<std::string>{"lib.h:3", "main.cpp:20"}));
  EXPECT_EQ(figures.lines[1].line, "");  // equal cost: by name
  EXPECT_EQ(figures.lines[2].line, "main.cpp:10");
  EXPECT_EQ(figures.hot[0].chain, figures.lines[0].chain);
  EXPECT_EQ(chain_of("a.cpp:1 ->  -> b.cpp:2"), (std::vector<std::string>{"a.cpp:1", "b.cpp:2"}));
  EXPECT_TRUE(chain_of("").empty());
}

TEST(ThreadTraceFold, OnlySoManyHotRowsAndNoneWithoutCost) {
  std::vector<att::CodeRow> code = code_of({"; k"});
  att::Wave wave = wave_of({});
  for (att::RowIndex i = 1; i <= kMostHotRows + 5; ++i) {
    code.push_back(code_of({"v_mov_b32 v0, 0"})[0]);
    const std::int64_t cycles = i < 3 ? 0 : i;
    wave.instructions.push_back({.time = wave.end, .duration = cycles, .row = i});
    wave.end += cycles;
  }
  Folded hot(std::move(code));
  hot.fold->add(wave);
  const KernelThreadTrace figures = hot.figures();
  ASSERT_EQ(figures.hot.size(), kMostHotRows);
  EXPECT_EQ(figures.hot.front().row, kMostHotRows + 5);
  EXPECT_EQ(figures.hot.back().row, 6U);
  EXPECT_TRUE(figures.causes.empty());
  EXPECT_TRUE(figures.lines.empty());  // there is no source anywhere
}

TEST(ThreadTraceFold, NumbersOfAnySizeDoNotOverflow) {
  Folded huge(code_of({"; k", "global_load_dword v0, v[2:3], off", "s_waitcnt vmcnt(0)"}));
  for (int i = 0; i < 8; ++i) {
    att::Wave wave = wave_of({});
    wave.begin = INT64_MIN;
    wave.end = INT64_MAX;
    wave.instructions = {{.time = INT64_MIN, .stall = INT64_MAX, .duration = INT64_MAX, .row = 1},
                         {.time = INT64_MAX, .stall = INT64_MAX, .duration = INT64_MAX, .row = 2},
                         {.time = INT64_MAX, .stall = 0, .duration = INT64_MIN, .row = 2}};
    wave.timeline = {{.state = att::WaveState::wait, .duration = INT64_MAX}};
    huge.fold->add(wave);
  }
  KernelThreadTrace figures;
  add_fold(huge.trace, *huge.table, huge.fold->folds().front(), figures);
  EXPECT_EQ(figures.time.wait, kMostCycles);
  EXPECT_GT(figures.time.total(), 0);
  EXPECT_GT(figures.sums.cost(), 0);
}

TEST(ThreadTraceCodeRows, AloneSplitTheTimeByWhatInstructionsAre) {
  Folded stats(code_of({"; k", "global_load_dword v0, v[2:3], off", "s_waitcnt vmcnt(0)", "s_nop 1",
                        "s_barrier", "v_add_f32 v0, v0, v0", "s_endpgm"}));
  auto& code = stats.trace.code;
  const auto set = [&](std::size_t row, std::int64_t latency, std::int64_t stall,
                       std::int64_t idle) {
    code[row].hits = 2, code[row].latency = latency, code[row].stall = stall, code[row].idle = idle;
  };
  set(1, 20, 12, 100);
  set(2, 500, 500, 0);
  set(3, 8, 8, 0);
  set(4, 60, 50, 0);
  set(5, 8, 0, 4);
  KernelThreadTrace out;
  add_code_rows(stats.trace, *stats.table, *stats.rule, {1, 2, 3, 4, 5, 6}, out);
  EXPECT_EQ(out.sums.hits, 10);
  EXPECT_EQ(out.time.wait, 508);
  EXPECT_EQ(out.wait_unattributed, 500);
  EXPECT_EQ(out.wait_other, 8);
  EXPECT_EQ(out.time.barrier, 60);
  EXPECT_EQ(out.time.issue, 8 + 8);
  EXPECT_EQ(out.time.issue_stall, 12);
  EXPECT_EQ(out.time.idle, 104);
  EXPECT_EQ(out.time.total(), out.sums.cost());
  EXPECT_EQ(out.hot.size(), 5U);  // s_endpgm never ran
  EXPECT_FALSE(out.wave_ipc);
  EXPECT_EQ(out.links, WaitLinks::none);
  EXPECT_TRUE(out.causes.empty());
}

/// A kernel that nothing speaks against.
KernelThreadTrace sound() {
  KernelThreadTrace kernel;
  kernel.coverage.waves = kEnoughWaves;
  kernel.coverage.waves_started = 100;
  kernel.time.wait = 1000;
  return kernel;
}

TEST(ThreadTraceConfidence, EachDoubtLowersItAndIsNamed) {
  const auto judged = [](const auto& change, const TraceDoubts& doubts = {}) {
    KernelThreadTrace kernel = sound();
    change(kernel);
    judge_confidence(kernel, 100, doubts);
    EXPECT_EQ(kernel.confidence_reasons.size(), kernel.confidence == Confidence::high ? 0U : 1U);
    return kernel.confidence;
  };
  using K = KernelThreadTrace;
  EXPECT_EQ(judged([](K&) {}), Confidence::high);
  EXPECT_EQ(judged([](K&) {}, {.several_dispatches = "two"}), Confidence::medium);
  EXPECT_EQ(judged([](K&) {}, {.several_dispatches = {}, .unended = 1}), Confidence::medium);
  EXPECT_EQ(judged([](K&) {}, {.several_dispatches = {}, .unended = 5}),
            Confidence::medium);  // 5 % of the 100 started
  EXPECT_EQ(judged([](K&) {}, {.several_dispatches = {}, .unended = 6}), Confidence::low);
  EXPECT_EQ(judged([](K& k) { k.coverage.waves = kEnoughWaves - 1; }), Confidence::medium);
  EXPECT_EQ(judged([](K& k) { k.coverage.waves = kFewestWaves - 1, k.coverage.waves_started = 1; }),
            Confidence::low);
  EXPECT_EQ(judged([](K& k) { k.coverage.waves = 0; }), Confidence::low);
  EXPECT_EQ(judged([](K& k) { k.from_stats = true; }), Confidence::low);
  EXPECT_EQ(judged([](K& k) { k.coverage.packets_lost = 1; }), Confidence::low);
  EXPECT_EQ(judged([](K& k) { k.coverage.trace_stalls = 1; }), Confidence::medium);
  EXPECT_EQ(judged([](K& k) { k.coverage.dropped["wave file is missing"] = 1; }), Confidence::low);
  EXPECT_EQ(judged([](K& k) { k.coverage.rows_differing = 1; }), Confidence::low);
  EXPECT_EQ(judged([](K& k) { k.coverage.unattributed = 5; }), Confidence::high);
  EXPECT_EQ(judged([](K& k) { k.coverage.unattributed = 6; }), Confidence::low);
  EXPECT_EQ(judged([](K& k) { k.wait_unattributed = 100; }), Confidence::high);
  EXPECT_EQ(judged([](K& k) { k.wait_unattributed = 101; }), Confidence::medium);
  EXPECT_EQ(judged([](K& k) { k.wait_unattributed = 100, k.wait_other = 1; }), Confidence::medium);
  EXPECT_EQ(judged([](K& k) { k.coverage.waves_started = 400; }), Confidence::high);  // 2 %
  EXPECT_EQ(judged([](K& k) { k.coverage.waves_started = 401; }), Confidence::medium);
  EXPECT_EQ(judged([](K& k) { k.coverage.waves_of_dispatch = 401; }), Confidence::medium);
  EXPECT_EQ(judged([](K& k) {
              k.coverage.waves_started = 401;  // the whole dispatch goes before
              k.coverage.waves_of_dispatch = 400;
            }),
            Confidence::high);
}

}  // namespace
}  // namespace perflab::analyze
