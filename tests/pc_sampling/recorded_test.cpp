// Recordings that AMD published, against what was counted in them by other means. They are not part
// of the project: without them these tests are skipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "pc_sampling/read_pc_samples.h"

namespace perflab::pc_sampling {
namespace {

namespace fs = std::filesystem;

class RecordedSamples : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(folder())) GTEST_SKIP() << "skipped: " << folder() << " is not there";
  }
  static fs::path folder() { return fs::path(PERFLAB_SHARED_DIR) / "data/pc_sampling"; }
  static PcSamples read_place(const std::string& name) {
    const fs::path place = folder() / name;
    auto samples = read(std::span(&place, 1));
    EXPECT_TRUE(samples) << describe(samples.error());
    return samples ? std::move(*samples) : PcSamples{};
  }
  static std::map<StallKind, int> stalls_of(const PcSamples& samples) {
    std::map<StallKind, int> stalls;
    for (std::size_t row = 0; row < samples.size(); ++row)
      if (const auto stall = samples.stall(row)) ++stalls[*stall];
    return stalls;
  }
};

TEST_F(RecordedSamples, HostTrapTables) {
  const PcSamples plain = read_place("sdk_docs_mi200_host_trap/pc_sampling_host_trap.csv");
  EXPECT_EQ(plain.size(), 79U);
  EXPECT_EQ(plain.method, Method::host_trap);
  EXPECT_EQ(plain.form, Form::rocprofv3_csv);
  EXPECT_TRUE(std::ranges::all_of(plain.exec_mask, [](auto mask) { return mask == 0xffff; }));
  EXPECT_FALSE(std::ranges::is_sorted(plain.timestamp));
  const auto at_end = std::ranges::count_if(
      plain.pc, [&](Index pc) { return plain.pcs[pc].instruction == "s_endpgm"; });
  EXPECT_EQ(at_end, 36);
  EXPECT_TRUE(plain.reason.empty());
  EXPECT_TRUE(plain.wave_count.empty());
  EXPECT_TRUE(plain.hardware.empty());
  // Commas inside an instruction are of the text.
  EXPECT_TRUE(std::ranges::any_of(plain.pcs, [](const Pc& pc) {
    return pc.instruction == "v_addc_co_u32_e32 v5, vcc, v1, v5, vcc";
  }));
  EXPECT_EQ(plain.dispatches.size(), 1U);
  EXPECT_EQ(plain.counts.dispatch_unrecorded, 79U);  // no kernel trace beside it
  EXPECT_EQ(plain.counts.dropped, 0U);

  const PcSamples debug = read_place("sdk_docs_mi200_host_trap/pc_sampling_host_trap_debug.csv");
  EXPECT_EQ(debug.size(), 21U);
  EXPECT_TRUE(std::ranges::all_of(debug.pcs, [](const Pc& pc) { return pc.source_line != ""; }));
}

TEST_F(RecordedSamples, StochasticTable) {
  const PcSamples samples =
      read_place("sdk_docs_mi300_stochastic/pc_sampling_stochastic_debug.csv");
  ASSERT_EQ(samples.size(), 97U);
  EXPECT_EQ(samples.method, Method::stochastic);
  EXPECT_TRUE(std::ranges::all_of(samples.exec_mask, [](auto mask) { return mask == ~0ULL; }));
  EXPECT_EQ(std::ranges::count_if(samples.flags, [](auto flags) { return flags & kIssued; }), 20);
  const std::map<StallKind, int> stalls = stalls_of(samples);
  const std::map<StallKind, int> expected = {
      {StallKind::waitcnt, 71}, {StallKind::alu_dependency, 5}, {StallKind::no_instruction, 1}};
  EXPECT_EQ(stalls, expected);
  std::map<InstructionType, int> types;
  for (std::size_t row = 0; row < samples.size(); ++row)
    if (samples.issued(row)) ++types[samples.type[row]];
  EXPECT_EQ(types[InstructionType::valu], 14);
  EXPECT_EQ(types[InstructionType::scalar], 6);
  EXPECT_EQ(std::set(samples.dispatch.begin(), samples.dispatch.end()).size(), 48U);
}

TEST_F(RecordedSamples, TableAndJsonOfOneRun) {
  // The folder gives the JSON alone: it has all that the table has.
  const PcSamples json = read_place("vcopy_mi300x_1sample");
  const PcSamples csv = read_place("vcopy_mi300x_1sample/ps_file_pc_sampling_stochastic.csv");
  EXPECT_EQ(json.form, Form::rocprofv3_json);
  EXPECT_EQ(csv.form, Form::rocprofv3_csv);
  for (const PcSamples* samples : {&json, &csv}) {
    ASSERT_EQ(samples->size(), 1U);
    EXPECT_EQ(samples->timestamp[0], 1987779595259424U);
    EXPECT_EQ(samples->exec_mask[0], ~0ULL);
    EXPECT_EQ(samples->wave_count[0], 12);
    EXPECT_EQ(samples->type[0], InstructionType::no_inst);
    EXPECT_EQ(samples->stall(0), StallKind::waitcnt);
    EXPECT_EQ(samples->pcs[samples->pc[0]].instruction, "s_waitcnt vmcnt(0)");
    const Dispatch& dispatch = samples->dispatches[samples->dispatch[0]];
    EXPECT_EQ(dispatch.id, 3U);
    EXPECT_EQ(dispatch.start, 1987779595252844U);
    EXPECT_EQ(dispatch.grid.x, 1048576U);
    const Kernel& kernel = samples->kernels[samples->kernel_of(0)];
    EXPECT_EQ(kernel.name, "vecCopy(double*, double*, double*, int, int)");
    EXPECT_EQ(kernel.id, 12U);
    const Agent& agent = samples->agents[samples->agent_of(0)];
    EXPECT_EQ(agent.arch, "gfx942");
    EXPECT_EQ(agent.xccs, 8U);
    EXPECT_EQ(agent.cus, 304U);
    EXPECT_EQ(agent.wave_size, 64U);
    EXPECT_EQ(agent.max_clock_mhz, 2100U);
    EXPECT_EQ(samples->dispatches.size(), 3U);
    EXPECT_EQ(samples->counts.dispatch_unrecorded, 0U);
    EXPECT_EQ(samples->counts.kernel_disagrees, 0U);
  }
  const Pc& pc = json.pcs[json.pc[0]];
  EXPECT_EQ(pc.offset, 8040U);
  EXPECT_EQ(json.kernels[pc.kernel].begin, 7936U);
  EXPECT_EQ(json.kernels[pc.kernel].mangled_name, "_Z7vecCopyPdS_S_ii");
  EXPECT_EQ(json.code_objects[pc.code_object].id, 2U);
  EXPECT_EQ(json.hardware[0].xcc, 6);
  EXPECT_EQ(json.hardware[0].cu, 7);
  EXPECT_EQ(json.hardware[0].shader_engine, 3);
  EXPECT_EQ(json.workgroup[0].x, 142U);
  EXPECT_FALSE(json.sources[0].states_lock_errors);
  EXPECT_EQ(json.sources[0].pid, 298597);
  EXPECT_EQ(json.agents.size(), 1U);  // CPUs are none
}

TEST_F(RecordedSamples, Excerpt) {
  const PcSamples samples = read_place("vcopy_mi350_excerpt");
  ASSERT_EQ(samples.size(), 31U);
  EXPECT_EQ(std::ranges::count_if(samples.flags, [](auto flags) { return flags & kIssued; }), 1);
  const std::map<StallKind, int> expected = {{StallKind::waitcnt, 28},
                                             {StallKind::arbiter_not_win, 2}};
  EXPECT_EQ(stalls_of(samples), expected);
  std::map<std::string, int> waits;
  std::map<Pipe, int> used, backpressured;
  std::map<std::pair<int, int>, int> by_slot;
  for (std::size_t row = 0; row < samples.size(); ++row) {
    if (samples.stall(row) == StallKind::waitcnt) ++waits[samples.pcs[samples.pc[row]].instruction];
    EXPECT_EQ(samples.workgroup[row].x % 8, samples.hardware[row].xcc);
    EXPECT_EQ(samples.arbiter_stall[row] & ~samples.arbiter_issue[row], 0);
    for (const Pipe pipe : enumerators<Pipe>()) {
      const int bit = 1 << static_cast<int>(pipe);
      if ((samples.arbiter_issue[row] & bit) == 0) continue;
      ++((samples.arbiter_stall[row] & bit) != 0 ? backpressured : used)[pipe];
    }
    ++by_slot[{samples.hardware[row].xcc, samples.hardware[row].wave_slot}];
  }
  EXPECT_EQ(waits["s_waitcnt vmcnt(0)"], 26);
  EXPECT_EQ(waits["s_waitcnt lgkmcnt(0)"], 2);
  const std::map<Pipe, int> expected_used = {
      {Pipe::scalar, 4}, {Pipe::valu, 3}, {Pipe::flat, 1}, {Pipe::misc, 1}};
  const std::map<Pipe, int> expected_back = {{Pipe::valu, 1}, {Pipe::flat, 1}};
  EXPECT_EQ(used, expected_used);
  EXPECT_EQ(backpressured, expected_back);
  const std::map<std::pair<int, int>, int> expected_slots = {
      {{0, 4}, 16}, {{0, 5}, 8}, {{3, 5}, 7}};
  EXPECT_EQ(by_slot, expected_slots);
  // Equal texts at two places are two places.
  EXPECT_EQ(std::ranges::count(samples.pcs, "s_waitcnt vmcnt(0)", &Pc::instruction), 1);
  EXPECT_TRUE(samples.agents.empty() || samples.agents[0].arch.empty());
}

}  // namespace
}  // namespace perflab::pc_sampling
