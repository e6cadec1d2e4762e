// The counter rule: what raises which counter, what a wait names, and which instructions a wait of
// a wave was for. Expectations are by LLVM's SIInsertWaitcnts and the operand tables of its AMDGPU
// documentation (gfx9_waitcnt, gfx10_waitcnt, gfx11_waitcnt).
#include "analyze/thread_trace/wait_rule.h"

#include <gtest/gtest.h>

#include <map>

#include "analyze/thread_trace/built_wave.h"
#include "analyze/thread_trace/wait_causes.h"

namespace perflab::analyze {
namespace {

using Rows = std::vector<att::RowIndex>;
using C = MemoryCounter;

std::uint8_t bits(std::initializer_list<MemoryCounter> counters) {
  std::uint8_t out = 0;
  for (const MemoryCounter counter : counters)
    out = static_cast<std::uint8_t>(out | 1U << static_cast<unsigned>(counter));
  return out;
}

std::map<MemoryCounter, int> limits(std::string_view text, int gfxip) {
  const CounterEffect effect = counter_effect(text, gfxip);
  EXPECT_EQ(effect.raises, 0) << text;
  std::map<MemoryCounter, int> out;
  for (std::size_t i = 0; i < kMemoryCounters; ++i)
    if (effect.limits[i] >= 0) out[static_cast<MemoryCounter>(i)] = effect.limits[i];
  return out;
}

/// Rows that each executed wait was for.
std::vector<Rows> causes(const std::vector<att::CodeRow>& code, int gfxip, const att::Wave& wave) {
  WaveWaits waits;
  WaitRule(code, gfxip).follow(wave, waits);
  std::vector<Rows> out;
  for (const ExecutedWait& wait : waits.waits) {
    Rows& rows = out.emplace_back();
    for (std::uint32_t i = 0; i < wait.count; ++i)
      rows.push_back(wave.instructions[waits.causes[wait.first + i]].row);
  }
  return out;
}

TEST(WaitRule, WhatRaisesWhichCounter) {
  struct Case {
    const char* text;
    std::initializer_list<MemoryCounter> gfx9, gfx11, gfx12;
  };
  const Case cases[] = {
      {"global_load_dword v0, v[0:1], off", {C::load}, {C::load}, {C::load}},
      {"buffer_store_dword v0, v1, s[0:3], 0 offen", {C::load}, {C::store}, {C::store}},
      {"scratch_store_b32 off, v1, s32", {C::load}, {C::store}, {C::store}},
      {"flat_load_dword v0, v[0:1]", {C::load, C::lds}, {C::load, C::lds}, {C::load, C::lds}},
      {"flat_store_dword v[0:1], v2", {C::load, C::lds}, {C::store, C::lds}, {C::store, C::lds}},
      {"global_atomic_add_u32 v[0:1], v2, off", {C::load}, {C::store}, {C::store}},
      {"global_atomic_add_u32 v0, v[0:1], v2, off glc", {C::load}, {C::load}, {C::load}},
      {"global_atomic_add_u32 v0, v[0:1], v2, off th:TH_ATOMIC_RETURN",
       {C::load},
       {C::load},
       {C::load}},
      {"s_load_dword s0, s[0:1], 0x0", {C::lds}, {C::lds}, {C::scalar}},
      {"s_memtime s[0:1]", {C::lds}, {C::lds}, {C::scalar}},
      {"s_sendmsg sendmsg(MSG_INTERRUPT)", {C::lds}, {C::lds}, {C::scalar}},
      {"ds_read_b32 v0, v1", {C::lds}, {C::lds}, {C::lds}},
      {"lds_param_load v0, attr0.x", {C::export_}, {C::export_}, {C::export_}},
      {"exp mrt0 v0, v0, v0, v0 done vm", {C::export_}, {C::export_}, {C::export_}},
      {"image_sample v[0:3], v[0:1], s[0:7], s[8:11] dmask:0xf", {C::load}, {C::load}, {C::sample}},
      {"image_bvh_intersect_ray v[0:3], v[0:10], s[0:3]", {C::load}, {C::load}, {C::bvh}},
      {"buffer_wbl2 sc1", {C::load}, {C::store}, {C::store}},
      {"buffer_inv sc1", {}, {}, {}},
      {"global_inv scope:SCOPE_SE", {C::load}, {C::load}, {C::load}},
      {"global_wb scope:SCOPE_SE", {C::load}, {C::store}, {C::store}},
      {"v_add_f32_e32 v0, v0, v1", {}, {}, {}},
      {"s_mov_b32 s0, 0", {}, {}, {}},
      {"s_nop 0", {}, {}, {}},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(counter_effect(one.text, 9).raises, bits(one.gfx9)) << one.text;
    EXPECT_EQ(counter_effect(one.text, 11).raises, bits(one.gfx11)) << one.text;
    EXPECT_EQ(counter_effect(one.text, 12).raises, bits(one.gfx12)) << one.text;
    EXPECT_FALSE(counter_effect(one.text, 9).waits()) << one.text;
  }
}

TEST(WaitRule, WhatAWaitNames) {
  using Limits = std::map<MemoryCounter, int>;
  EXPECT_EQ(limits("s_waitcnt vmcnt(3) lgkmcnt(0)", 9), (Limits{{C::load, 3}, {C::lds, 0}}));
  EXPECT_EQ(limits("s_waitcnt vmcnt(0) & expcnt(2)", 10), (Limits{{C::load, 0}, {C::export_, 2}}));
  EXPECT_EQ(limits("s_waitcnt_vscnt null, 0x1", 11), (Limits{{C::store, 1}}));
  EXPECT_EQ(limits("s_waitcnt_lgkmcnt null, 0x0", 10), (Limits{{C::lds, 0}}));
  EXPECT_EQ(limits("s_wait_loadcnt 0x2", 12), (Limits{{C::load, 2}}));
  EXPECT_EQ(limits("s_wait_loadcnt_dscnt 0x103", 12), (Limits{{C::load, 1}, {C::lds, 3}}));
  EXPECT_EQ(limits("s_wait_storecnt_dscnt 0x0", 12), (Limits{{C::store, 0}, {C::lds, 0}}));
  EXPECT_EQ(limits("s_wait_kmcnt 0", 12), (Limits{{C::scalar, 0}}));
  EXPECT_EQ(limits("s_wait_samplecnt 0x0", 12), (Limits{{C::sample, 0}}));
  EXPECT_EQ(limits("s_wait_idle", 12).size(), 7U);
  EXPECT_EQ(limits("s_wait_idle", 9).size(), 3U);  // three counters are all that gfx9 has
  // Bare numbers: fields of all ones are not waited for.
  EXPECT_EQ(limits("s_waitcnt 0xc07f", 9), (Limits{{C::lds, 0}}));
  EXPECT_EQ(limits("s_waitcnt 0x0f70", 9), (Limits{{C::load, 0}}));
  EXPECT_EQ(limits("s_waitcnt 0x0f01", 9), (Limits{{C::load, 1}, {C::export_, 0}}));
  EXPECT_EQ(limits("s_waitcnt 0x3f70", 10), (Limits{{C::load, 0}}));
  EXPECT_EQ(limits("s_waitcnt 0xfc07", 11), (Limits{{C::lds, 0}}));
  EXPECT_EQ(limits("s_waitcnt 0x03f7", 11), (Limits{{C::load, 0}}));
  for (const char* const none : {"s_wait_alu 0xfffe", "s_waitcnt_depctr 0xfff", "s_nop 0"})
    EXPECT_FALSE(counter_effect(none, 12).waits()) << none;
  EXPECT_TRUE(counter_effect("s_wait_asynccnt 0x0", 12).unknown_counter);
  EXPECT_TRUE(counter_effect("s_waitcnt s0", 9).unknown_counter);
}

TEST(WaitRule, APointerChaseWaitsForItsLoad) {
  const auto code = code_of({"global_load_dwordx2 v[0:1], v[0:1], off", "s_waitcnt vmcnt(0)"});
  EXPECT_EQ(causes(code, 9, wave_of_rows({0, 1, 0, 1, 1})), (std::vector<Rows>{{0}, {0}, {}}));
}

TEST(WaitRule, InOrderOnlyTheOldestAreWaitedFor) {
  const auto code = code_of(
      {"buffer_load_dword v0, v1, s[0:3], 0 offen", "buffer_store_dword v2, v1, s[0:3], 0 offen",
       "global_load_dword v3, v[4:5], off", "s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)"});
  EXPECT_EQ(causes(code, 9, wave_of_rows({0, 1, 2, 3, 3, 4})),
            (std::vector<Rows>{{0, 1}, {}, {2}}));
  // From gfx10 on the store is counted apart.
  EXPECT_EQ(causes(code, 10, wave_of_rows({0, 1, 2, 3, 4})), (std::vector<Rows>{{0}, {2}}));
}

TEST(WaitRule, ScalarLoadsEndInAnyOrder) {
  const auto code = code_of({"s_load_dword s0, s[4:5], 0x0", "s_load_dword s1, s[4:5], 0x4",
                             "ds_read_b32 v0, v1", "s_waitcnt lgkmcnt(1)", "s_waitcnt lgkmcnt(0)"});
  EXPECT_EQ(causes(code, 9, wave_of_rows({0, 1, 3, 4})), (std::vector<Rows>{{}, {0, 1}}));
  EXPECT_EQ(causes(code, 9, wave_of_rows({2, 0, 3, 4})), (std::vector<Rows>{{}, {2, 0}}));
  EXPECT_EQ(causes(code, 9, wave_of_rows({2, 2, 3, 4})), (std::vector<Rows>{{2}, {2}}));
  WaveWaits waits;
  WaitRule(code, 9).follow(wave_of_rows({0, 1, 3, 4}), waits);
  EXPECT_FALSE(waits.waits[0].exact);
  EXPECT_TRUE(waits.waits[1].exact);
}

TEST(WaitRule, OneWaitForTwoCounters) {
  const auto code =
      code_of({"ds_read_b32 v0, v1", "global_load_dword v2, v[4:5], off",
               "s_waitcnt vmcnt(0) lgkmcnt(0)", "s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(0)"});
  EXPECT_EQ(causes(code, 9, wave_of_rows({0, 1, 2})), (std::vector<Rows>{{0, 1}}));
  EXPECT_EQ(causes(code, 9, wave_of_rows({0, 1, 4, 3})), (std::vector<Rows>{{1}, {0}}));
}

TEST(WaitRule, FlatIsInTwoCountersAndWaitedForOnce) {
  const auto code = code_of({"flat_load_dword v0, v[2:3]", "global_load_dword v1, v[4:5], off",
                             "s_waitcnt vmcnt(1)", "s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(0)"});
  // Two outstanding, one of them FLAT: vmcnt(1) does not say which; after lgkmcnt(0) it is gone.
  EXPECT_EQ(causes(code, 9, wave_of_rows({0, 1, 2, 3, 4})), (std::vector<Rows>{{}, {0}, {1}}));
  EXPECT_EQ(causes(code, 9, wave_of_rows({0, 1, 4, 3})), (std::vector<Rows>{{0, 1}, {}}));
  // Several FLAT accesses between others, waited for by either counter.
  EXPECT_EQ(causes(code, 9, wave_of_rows({1, 0, 1, 0, 3, 2})), (std::vector<Rows>{{0, 0}, {1}}));
}

TEST(WaitRule, StoresOfRdnaHaveTheirOwnCounter) {
  const auto gfx11 = code_of({"global_store_b32 v[0:1], v2, off", "global_load_b32 v3, v[0:1], off",
                              "scratch_store_b32 off, v1, s32", "s_waitcnt vmcnt(0)",
                              "s_waitcnt_vscnt null, 0x0", "s_waitcnt_vscnt null, 0x1"});
  EXPECT_EQ(causes(gfx11, 11, wave_of_rows({0, 1, 3, 4})), (std::vector<Rows>{{1}, {0}}));
  EXPECT_EQ(causes(gfx11, 11, wave_of_rows({0, 0, 5, 4})), (std::vector<Rows>{{0}, {0}}));
  EXPECT_EQ(causes(gfx11, 11, wave_of_rows({0, 2, 5, 4})), (std::vector<Rows>{{}, {0, 2}}));
  const auto gfx12 =
      code_of({"global_store_b32 v[0:1], v2, off", "ds_load_b32 v3, v4",
               "s_load_b32 s0, s[0:1], 0x0", "global_load_b32 v3, v[0:1], off",
               "s_wait_storecnt_dscnt 0x0", "s_wait_loadcnt 0x0", "s_wait_kmcnt 0x0"});
  EXPECT_EQ(causes(gfx12, 12, wave_of_rows({0, 1, 2, 3, 4, 5, 6})),
            (std::vector<Rows>{{0, 1}, {3}, {2}}));
}

TEST(WaitRule, AnUnknownCounterIsNotGuessed) {
  const auto code = code_of({"global_load_b32 v3, v[0:1], off", "s_wait_asynccnt 0x0"});
  WaveWaits waits;
  WaitRule(code, 12).follow(wave_of_rows({0, 1}), waits);
  ASSERT_EQ(waits.waits.size(), 1U);
  EXPECT_EQ(waits.waits[0].count, 0U);
  EXPECT_FALSE(waits.waits[0].exact);
}

TEST(WaitRule, WithoutAGenerationTheWaitsTellIt) {
  const char* const store = "global_store_b32 v[0:1], v2, off";
  EXPECT_EQ(WaitRule(code_of({store, "s_wait_loadcnt 0x0"}), std::nullopt).waits(1), true);
  const auto raised = [&](const char* wait) {
    const auto code = code_of({store, wait, "s_waitcnt vmcnt(0)"});
    WaveWaits waits;
    WaitRule(code, std::nullopt).follow(wave_of_rows({0, 2}), waits);
    return waits.waits[0].count;
  };
  EXPECT_EQ(raised("s_waitcnt lgkmcnt(0)"), 1U);       // gfx9: stores are in vmcnt
  EXPECT_EQ(raised("s_waitcnt_vscnt null, 0x0"), 0U);  // gfx10: they are not
}

/// Rows that each executed wait is put down to, and whether the trace said so.
struct Put {
  Rows rows;
  bool from_trace = false;
  bool operator==(const Put&) const = default;
};

std::vector<Put> put(const std::vector<att::CodeRow>& code, const att::Wave& wave,
                     std::uint64_t unused = 0) {
  WaitCauses found;
  find_wait_causes(wave, WaitRule(code, 9), found);
  EXPECT_EQ(found.links_unused, unused);
  std::vector<Put> out;
  for (const CausedWait& wait : found.waits)
    out.push_back({.rows = Rows(found.rows.begin() + wait.first,
                                found.rows.begin() + wait.first + wait.count),
                   .from_trace = wait.from_trace});
  return out;
}

TEST(WaitCauses, LinksGoToTheExecutionsThatHadSomethingOutstanding) {
  // A loop that waits before its first load: the first execution has no link.
  const auto code = code_of({"s_waitcnt vmcnt(0)", "global_load_dword v0, v[0:1], off"});
  att::Wave wave = wave_of_rows({0, 1, 0, 1, 0});
  add_link(wave, 0, {1});
  add_link(wave, 0, {1});
  EXPECT_EQ(put(code, wave), (std::vector<Put>{{}, {{1}, true}, {{1}, true}}));
}

TEST(WaitCauses, OneExecutionTakesALinkPerCounter) {
  const auto code = code_of({"flat_load_dword v0, v[2:3]", "scratch_store_dword off, v1, s33",
                             "s_waitcnt vmcnt(0) lgkmcnt(0)"});
  att::Wave wave = wave_of_rows({0, 1, 2, 0, 2});
  add_link(wave, 2, {0});
  add_link(wave, 2, {1});
  add_link(wave, 2, {0});
  EXPECT_EQ(put(code, wave), (std::vector<Put>{{{0, 1}, true}, {{0}, true}}));
}

TEST(WaitCauses, TheNextTurnOfALoopKeepsItsLink) {
  // The decoder puts both into one link: the second one is of the second turn, although two
  // counters were above their limits.
  const auto code = code_of({"flat_load_dword v0, v[2:3]", "s_waitcnt vmcnt(0) lgkmcnt(0)"});
  att::Wave wave = wave_of_rows({0, 0, 1, 0, 1});
  add_link(wave, 1, {0, 0});
  add_link(wave, 1, {0});
  EXPECT_EQ(put(code, wave), (std::vector<Put>{{{0, 0}, true}, {{0}, true}}));
}

TEST(WaitCauses, WithoutALinkTheRuleSays) {
  const auto code = code_of({"global_load_dword v0, v[0:1], off", "s_waitcnt vmcnt(0)",
                             "s_load_dword s0, s[4:5], 0x0", "s_waitcnt lgkmcnt(0)"});
  att::Wave wave = wave_of_rows({0, 1, 2, 3});
  EXPECT_EQ(put(code, wave), (std::vector<Put>{{{0}, false}, {{2}, false}}));
  add_link(wave, 3, {2});
  EXPECT_EQ(put(code, wave), (std::vector<Put>{{{0}, false}, {{2}, true}}));
}

TEST(WaitCauses, ALinkThatFitsNowhereDoesNotStopTheOthers) {
  const auto code = code_of(
      {"global_load_dword v0, v[0:1], off", "s_waitcnt vmcnt(0)", "v_mov_b32 v0, 0", "s_nop 0"});
  att::Wave wave = wave_of_rows({0, 1});
  for (int i = 0; i < 20; ++i) {
    wave.instructions.push_back({.row = 0});
    wave.instructions.push_back({.row = 1});
  }
  add_link(wave, 3, {0});  // of no wait
  add_link(wave, 1, {2});  // of nothing that was outstanding
  for (int i = 0; i < 5; ++i) add_link(wave, 1, {0});
  const std::vector<Put> found = put(code, wave, 2);
  ASSERT_EQ(found.size(), 21U);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].rows, (Rows{0}));
    EXPECT_EQ(found[i].from_trace, i == 16 || (i > 16 && i < 21)) << i;
  }
}

TEST(WaitCauses, WhereTheRuleCannotTellTheTraceIsBelieved) {
  const auto code = code_of({"s_load_dword s0, s[4:5], 0x0", "s_waitcnt lgkmcnt(1)"});
  att::Wave wave = wave_of_rows({0, 0, 1});
  EXPECT_EQ(put(code, wave), (std::vector<Put>{{}}));
  add_link(wave, 1, {0});
  EXPECT_EQ(put(code, wave), (std::vector<Put>{{{0}, true}}));
}

}  // namespace
}  // namespace perflab::analyze
