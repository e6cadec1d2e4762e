// Folding waves on several threads: for TSan, and for the promise that their order means nothing.
#include <gtest/gtest.h>

#include "analyze/thread_trace/built_wave.h"
#include "analyze/thread_trace/folded.h"
#include "base/parallel.h"

namespace perflab::analyze {
namespace {

TEST(ThreadTraceThreads, NothingDependsOnTheOrderOfTheWaves) {
  const auto code = code_of(
      {"; k", "global_load_dword v0, v[2:3], off", "s_waitcnt vmcnt(0)", "v_add_f32 v0, v0, v0"});
  std::vector<att::Wave> waves;
  for (int i = 0; i < 64; ++i) {
    waves.push_back(wave_of({{.row = 1, .gap = i}, waited(2, 100 + 7 * i), {.row = 3}}, 50 * i));
    waves.back().place.simd = i % 4;
    waves.back().place.slot = i / 4;
    waves.back().timeline = {{att::WaveState::idle, i}, {att::WaveState::wait, 900 * i}};
  }
  Folded forward(code, 9, true);
  Folded threads(code, 9, true);
  for (const att::Wave& wave : waves) forward.fold->add(wave);
  ASSERT_TRUE(parallel_for(waves.size(), 4, [&](unsigned, std::size_t i) -> Result<void> {
    threads.fold->add(waves[waves.size() - 1 - i]);
    return {};
  }));
  const KernelThreadTrace a = forward.figures();
  const KernelThreadTrace b = threads.figures();
  EXPECT_EQ(a.wave_cycles, b.wave_cycles);
  EXPECT_EQ(a.wait_by_class, b.wait_by_class);
  EXPECT_EQ(a.simd_ipc, b.simd_ipc);
  ASSERT_EQ(a.hot.size(), b.hot.size());
  for (std::size_t i = 0; i < a.hot.size(); ++i) {
    EXPECT_EQ(a.hot[i].row, b.hot[i].row);
    EXPECT_EQ(a.hot[i].sums.cost(), b.hot[i].sums.cost());
  }
  EXPECT_EQ(a.wait_by_class.at(code::InstructionClass::vmem_load), 64 * 100 + 7 * 63 * 32);
  const KernelFold& one = forward.fold->folds().front();
  const KernelFold& other = threads.fold->folds().front();
  EXPECT_EQ(one.state_bins.at(0).bins(), other.state_bins.at(0).bins());
  EXPECT_EQ(one.state_bins.at(0).bin_cycles(), other.state_bins.at(0).bin_cycles());
  ASSERT_EQ(one.kept.waves().size(), 64U);
  for (std::size_t i = 0; i < 64; ++i)
    EXPECT_EQ(one.kept.waves()[i].place, other.kept.waves()[i].place);
}

}  // namespace
}  // namespace perflab::analyze
