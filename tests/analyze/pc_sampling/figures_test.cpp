// Figures of made-up samples: against a plain count of what the writer made, the filter, ticks and
// intervals.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <tuple>

#include "analyze/pc_sampling/kernel_figures.h"
#include "analyze/pc_sampling/samples_of.h"
#include "analyze/pc_sampling/share_maker.h"
#include "analyze/pc_sampling/ticks.h"

namespace perflab::analyze {
namespace {

using pc_sampling::StallKind;
using test::PcMade;
using test::PcRun;

/// A kernel whose instructions differ in everything that figures look at.
test::PcKernel mixed_kernel() {
  test::PcKernel kernel{.name = "mixed(float*)", .mangled = "_Z5mixedPf", .dispatches = 6};
  kernel.instructions = {
      {.text = "global_load_dword v1, v[0:1], off",
       .comment = "a.hip:3 -> a.hip:9",
       .type = "FLAT",
       .weight = 6,
       .issued_permille = 500,
       .reasons = {{"ARBITER_WIN_EX_STALL", 1}}},
      {.text = "s_waitcnt vmcnt(0)", .comment = "a.hip:4", .type = "OTHER", .weight = 30},
      {.text = "v_fma_f32 v1, v1, v1, v1",
       .comment = "b.hip:1 -> a.hip:9",
       .type = "VALU",
       .weight = 20,
       .issued_permille = 700,
       .reasons = {{"ARBITER_NOT_WIN", 3}, {"ALU_DEPENDENCY", 1}},
       .exec_mask = 0xffff},
      {.text = "s_barrier",
       .comment = "a.hip:5",
       .type = "BARRIER",
       .weight = 8,
       .reasons = {{"BARRIER_WAIT", 1}}},
      {.text = "v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]",
       .type = "MATRIX",
       .weight = 10,
       .issued_permille = 300,
       .reasons = {{"ARBITER_WIN_EX_STALL", 2}, {"NO_INSTRUCTION_AVAILABLE", 1}}},
  };
  return kernel;
}

PcRun mixed_run() {
  PcRun run;
  run.kernels = {mixed_kernel(), test::pc_copy_kernel()};
  run.ticks = 5;
  return run;
}

double share(std::size_t part, std::size_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

/// What the writer made of the first kernel.
std::vector<PcMade> made_of_first(const PcRun& run) {
  std::vector<PcMade> all = test::make_pc_samples(run);
  std::erase_if(all, [](const PcMade& one) { return one.kernel != 0; });
  return all;
}

TEST(PcFigures, AreThoseOfAPlainCount) {
  const PcRun run = mixed_run();
  const std::vector<PcMade> made = made_of_first(run);
  const PcSampling sampling = analysis_of(run);
  const KernelPcSamples& kernel = kernel_of(sampling, "mixed(float*)");
  ASSERT_EQ(kernel.samples, made.size());
  std::map<std::string, std::size_t> reasons;
  std::size_t issued = 0, waits = 0, vmem_refused = 0, matrix_refused = 0, waves = 0, idle = 0;
  double lanes = 0;
  std::set<std::tuple<std::uint64_t, int, std::uint64_t>> ticks;
  for (const PcMade& one : made) {
    const std::string& text = run.kernels[0].instructions[one.instruction].text;
    issued += one.issued ? 1 : 0;
    waves += static_cast<std::size_t>(one.waves);
    lanes += std::popcount(one.exec_mask) / 64.0;
    idle += (one.arbiter_issue & ~one.arbiter_stall) == 0 ? 1 : 0;
    const std::uint64_t start = test::pc_dispatches(run)[one.dispatch_id - 1].start;
    ticks.emplace(one.dispatch_id, one.place[0],
                  (one.timestamp - start) / static_cast<std::uint64_t>(run.tick_ns));
    if (one.issued) continue;
    ++reasons[one.reason];
    waits += one.reason == "WAITCNT" ? 1 : 0;
    if (one.reason != "ARBITER_WIN_EX_STALL") continue;
    (text.starts_with("global") ? vmem_refused : matrix_refused) += 1;
  }
  EXPECT_EQ(kernel.issued.samples, issued);
  ASSERT_EQ(kernel.reasons.size(), reasons.size());
  for (const PcReason& reason : kernel.reasons) {
    EXPECT_EQ(reason.samples, reasons.at(reason.name)) << reason.name;
    EXPECT_NEAR(*reason.of_stalled.value, share(reason.samples, made.size() - issued), 1e-12);
  }
  EXPECT_NEAR(*kernel.features.memory_wait.value, share(waits, made.size()), 1e-12);
  EXPECT_NEAR(*kernel.features.vmem_backpressure.value, share(vmem_refused, made.size()), 1e-12);
  EXPECT_NEAR(*kernel.features.matrix_busy.value, share(matrix_refused, made.size()), 1e-12);
  EXPECT_NEAR(*kernel.features.barrier.value, share(reasons["BARRIER_WAIT"], made.size()), 1e-12);
  EXPECT_NEAR(*kernel.features.lanes_active.value, lanes / static_cast<double>(made.size()), 1e-9);
  EXPECT_NEAR(*kernel.features.simd_latency.value, share(idle, made.size()), 1e-12);
  EXPECT_NEAR(*kernel.waves->mean.value, share(waves, made.size()), 1e-12);
  EXPECT_EQ(kernel.ticks, ticks.size());
}

TEST(PcFigures, RowsAddUp) {
  const PcRun run = mixed_run();
  const PcSampling sampling = analysis_of(run);
  const KernelPcSamples& kernel = kernel_of(sampling, "mixed(float*)");
  std::map<std::size_t, std::size_t> of_instruction;
  for (const PcMade& one : made_of_first(run)) ++of_instruction[one.instruction];
  for (const auto& [instruction, many] : of_instruction)
    EXPECT_EQ(instruction_of(kernel, run.kernels[0].instructions[instruction].text).samples, many);
  const auto sum = [](const auto& rows) {
    std::uint64_t out = 0;
    for (const auto& row : rows) out += row.samples;
    return out;
  };
  EXPECT_EQ(sum(kernel.instructions), kernel.samples);
  EXPECT_EQ(sum(kernel.lines), kernel.samples);
  EXPECT_EQ(sum(kernel.call_sites), kernel.samples);
  EXPECT_EQ(sum(kernel.classes), kernel.samples);
  // "a.hip:9" is the call site of two instructions, and the innermost line of none.
  const auto at = [](const std::vector<PcLine>& lines, const std::string& line) {
    const auto found = std::ranges::find(lines, line, &PcLine::line);
    return found == lines.end() ? 0U : found->samples;
  };
  EXPECT_EQ(at(kernel.lines, "a.hip:9"), 0U);
  EXPECT_EQ(at(kernel.call_sites, "a.hip:9"), of_instruction[0] + of_instruction[2]);
  EXPECT_EQ(at(kernel.lines, ""), of_instruction[4]);
  EXPECT_TRUE(std::ranges::is_sorted(
      kernel.hot, std::greater{}, [&](std::size_t i) { return kernel.instructions[i].samples; }));
}

TEST(PcFigures, TheFilterTurnsTheAnswer) {
  PcRun run;
  run.kernels = {test::pc_matrix_kernel(), test::pc_copy_kernel()};
  run.kernels[0].dispatches = 4;
  run.kernels[1].dispatches = 12;
  const PcSampling sampling = analysis_of(run);
  const PcSampleSet& set = sampling.sets.front();
  EXPECT_EQ(set.reasons.front().kind, StallKind::waitcnt);  // of all
  const KernelPcSamples& matrix = kernel_of(sampling, run.kernels[0].name);
  EXPECT_EQ(matrix.reasons.front().kind, StallKind::arbiter_win_ex_stall);
  const KernelPcSamples& copy = kernel_of(sampling, run.kernels[1].name);
  EXPECT_EQ(copy.reasons.front().kind, StallKind::waitcnt);
  EXPECT_EQ(matrix.samples + copy.samples, set.samples);
  EXPECT_EQ(set.in_kernels, set.samples);
}

TEST(PcFigures, IntervalsAreWiderWhereTicksAreEqual) {
  PcRun run;
  run.kernels = {test::pc_copy_kernel()};
  run.kernels[0].dispatches = 8;
  const PcSampling independent = analysis_of(run);
  run.equal_ticks = true;
  const PcSampling equal = analysis_of(run);
  const auto width = [](const PcSampling& one) {
    const PcEstimate& issued = one.kernels.front().instructions.front().share;
    return issued.interval->high - issued.interval->low;
  };
  EXPECT_GT(width(equal), 1.8 * width(independent));
  EXPECT_GT(*equal.kernels.front().design_effect, 4);
  EXPECT_LT(*independent.kernels.front().design_effect, 1.5);
  EXPECT_EQ(equal.kernels.front().intervals, PcIntervals::ticks);
}

TEST(PcFigures, ClosePlacesAreTied) {
  PcRun run;
  test::PcKernel kernel{.name = "k()", .mangled = "_Z1kv", .dispatches = 10};
  kernel.instructions = {{.text = "v_mov_b32_e32 v0, v1", .weight = 30, .issued_permille = 1000},
                         {.text = "v_mov_b32_e32 v1, v2", .weight = 10, .issued_permille = 1000},
                         {.text = "v_mov_b32_e32 v2, v3", .weight = 10, .issued_permille = 1000}};
  run.kernels = {kernel};
  const PcSampling sampling = analysis_of(run);
  const KernelPcSamples& out = sampling.kernels.front();
  ASSERT_EQ(out.hot.size(), 3U);
  EXPECT_FALSE(out.instructions[out.hot[1]].tied_with_previous);
  EXPECT_TRUE(out.instructions[out.hot[2]].tied_with_previous);
}

TEST(PcFigures, PipesThatAnArchitectureLacksAreNotIdle) {
  using enum pc_sampling::Pipe;
  EXPECT_TRUE(pipe_available("gfx942", matrix, 0));
  EXPECT_FALSE(pipe_available("gfx942", lds_direct, 0));
  EXPECT_FALSE(pipe_available("gfx1201", matrix, 0));
  EXPECT_TRUE(pipe_available("gfx1201", brmsg, 0));
  EXPECT_FALSE(pipe_available("", valu, 0));
  EXPECT_TRUE(pipe_available("", valu, 1));
  const PcSampling sampling = analysis_of(mixed_run());
  const PcArbiter& arbiter = *kernel_of(sampling, "mixed(float*)").arbiter;
  for (const PcPipe& pipe : arbiter.pipes) {
    EXPECT_EQ(pipe.idle.share.value.has_value(), pipe.available);
    if (pipe.available)
      EXPECT_NEAR(*pipe.used.share.value + *pipe.backpressured.share.value + *pipe.idle.share.value,
                  1, 1e-12);
  }
}

TEST(PcFigures, TheSameSamplesGiveTheSameFigures) {
  const PcRun run = mixed_run();
  const PcSampling one = analysis_of(run), other = analysis_of(run);
  for (std::size_t i = 0; i < one.kernels.size(); ++i)
    for (std::size_t k = 0; k < one.kernels[i].instructions.size(); ++k)
      EXPECT_EQ(one.kernels[i].instructions[k].share.interval,
                other.kernels[i].instructions[k].share.interval);
}

TEST(PcTicks, AreThoseOfTheWriter) {
  PcRun run = mixed_run();
  const pc_sampling::PcSamples stated = samples_of(run);
  const TickLength length = tick_length(stated, PcIntervalSource::given);
  EXPECT_NEAR(*length.ns, 65536 / 2.1, 1);
  const std::size_t expected = 7 * static_cast<std::size_t>(run.ticks) * 8;  // of 8 XCCs
  EXPECT_EQ(find_ticks(stated, length.ns).count, expected);
  // Without an interval: a CU gives one sample per tick.
  const pc_sampling::PcSamples unstated = samples_of(run, 0);
  const TickLength estimated = tick_length(unstated, PcIntervalSource::none);
  EXPECT_EQ(estimated.source, PcIntervalSource::estimated);
  EXPECT_NEAR(*estimated.ns, static_cast<double>(run.tick_ns), 3000);
  EXPECT_EQ(find_ticks(unstated, {}).count, expected);
}

TEST(PcTicks, TablesHaveWindowsOfADispatch) {
  const PcRun run = mixed_run();
  const auto samples = samples_of(run, 65536, {.json = false, .csv = true});
  EXPECT_EQ(find_ticks(samples, {}).count, 7U);  // dispatches
  const std::uint32_t windows = find_ticks(samples, static_cast<double>(run.tick_ns)).count;
  EXPECT_EQ(windows, 7U * 5);
}

}  // namespace
}  // namespace perflab::analyze
