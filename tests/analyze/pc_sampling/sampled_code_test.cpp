// The listing that samples lie in, and what waits are for in it.
#include "analyze/pc_sampling/sampled_code.h"

#include <gtest/gtest.h>

#include "analyze/pc_sampling/samples_of.h"

namespace perflab::analyze {
namespace {

using pc_sampling::Index;

/// A kernel whose instructions, 4 bytes each, are sampled where a text begins with '*'.
struct Code {
  pc_sampling::PcSamples samples;
  std::vector<Index> pcs;
  CodeOfKernelFile disassembly;
};

constexpr std::uint64_t kBegin = 0x1900;

Code code_of(const std::vector<std::string>& texts, const std::string& arch = "gfx942") {
  Code out;
  out.samples.agents.emplace_back().arch = arch;
  out.samples.code_objects.emplace_back().agent = 0;
  pc_sampling::Kernel& kernel = out.samples.kernels.emplace_back();
  kernel.code_object = 0;
  kernel.mangled_name = kernel.name = "copy";
  kernel.begin = kBegin;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const bool sampled = texts[i].starts_with('*');
    const std::string text = texts[i].substr(sampled ? 1 : 0);
    CodeInstruction& instruction = out.disassembly.emplace_back();
    instruction.in_kernel = 4 * i;
    instruction.text = text;
    if (!sampled) continue;
    out.pcs.push_back(static_cast<Index>(out.samples.pcs.size()));
    pc_sampling::Pc& pc = out.samples.pcs.emplace_back();
    pc.code_object = pc.kernel = 0;
    pc.offset = kBegin + 4 * i;
    pc.decoded = true;
    pc.instruction = text;
  }
  return out;
}

SampledCode whole(const Code& code) {
  return sampled_code(code.samples, code.pcs, 0, std::span(&code.disassembly, 1));
}
SampledCode without_code(const Code& code) {
  return sampled_code(code.samples, code.pcs, 0, {});
}

TEST(SampledCode, DisassemblyFillsWhatWasNeverSampled) {
  const Code code = code_of({"s_load_dword s0, s[0:1], 0x0", "*v_mov_b32_e32 v0, v1",
                             "v_add_u32_e32 v0, s0, v0", "*s_endpgm"});
  const SampledCode out = whole(code);
  EXPECT_TRUE(out.code_known);
  ASSERT_EQ(out.instructions.size(), 4U);
  EXPECT_EQ(out.instructions[2].text, "v_add_u32_e32 v0, s0, v0");
  EXPECT_EQ(out.instructions[2].in_kernel, 8U);
  EXPECT_EQ(out.instructions[2].offset, kBegin + 8);
  EXPECT_EQ(out.instructions[2].instruction_class, code::InstructionClass::valu);
  EXPECT_EQ(out.of_pc.at(0), 1U);
  EXPECT_EQ(out.of_pc.at(1), 3U);
  EXPECT_EQ(without_code(code).instructions.size(), 2U);
}

TEST(SampledCode, CodeOfAnotherBuildIsNotTaken) {
  Code code = code_of({"*v_mov_b32_e32 v0, v1", "*s_endpgm"});
  code.disassembly[0].text = "v_mov_b32_e32 v0, v2";
  const SampledCode out = whole(code);
  EXPECT_FALSE(out.code_known);
  EXPECT_EQ(out.instructions.size(), 2U);
  EXPECT_NE(out.code_refused.find("1 of 2 sampled instructions"), std::string::npos);
  // The next file's may fit.
  const std::vector<CodeOfKernelFile> codes = {
      code.disassembly, code_of({"*v_mov_b32_e32 v0, v1", "*s_endpgm"}).disassembly};
  EXPECT_TRUE(sampled_code(code.samples, code.pcs, 0, codes).code_known);
}

TEST(SampledCode, BranchesMayNameTheirTargetsOtherwise) {
  EXPECT_TRUE(same_instruction("s_cbranch_execz 17", "s_cbranch_execz  17 <L0>"));
  EXPECT_TRUE(same_instruction("v_add_f32 v0, v1,  v2", "v_add_f32 v0, v1, v2"));
  EXPECT_FALSE(same_instruction("v_add_f32 v0, v1, v2", "v_add_f32 v0, v1, v3"));
}

TEST(SampledWaits, TheLastButNLoadIsWaitedFor) {
  const Code code =
      code_of({"global_load_dword v1, v[0:1], off", "global_load_dword v2, v[0:1], off",
               "global_load_dword v3, v[0:1], off", "*s_waitcnt vmcnt(1)",
               "v_add_f32_e32 v1, v1, v2", "*s_waitcnt vmcnt(0)"});
  const SampledCode out = whole(code);
  EXPECT_EQ(out.instructions[3].wait, PcWait::vector_memory);
  EXPECT_EQ(out.instructions[3].waits_for, (std::vector<std::size_t>{1}));
  EXPECT_EQ(out.instructions[5].waits_for, (std::vector<std::size_t>{2}));
  // Without the code, the kind is known by the name and the load is not.
  const SampledCode partly = without_code(code);
  EXPECT_EQ(partly.instructions[0].wait, PcWait::vector_memory);
  EXPECT_TRUE(partly.instructions[0].waits_for.empty());
}

TEST(SampledWaits, LgkmcntIsWhatIsBeforeIt) {
  const std::string wait = "*s_waitcnt lgkmcnt(0)";
  const auto kind = [&](std::vector<std::string> texts) {
    texts.push_back(wait);
    return whole(code_of(texts)).instructions.back().wait;
  };
  EXPECT_EQ(kind({"s_load_dword s0, s[0:1], 0x0"}), PcWait::scalar);
  EXPECT_EQ(kind({"ds_read_b32 v0, v1"}), PcWait::lds);
  EXPECT_EQ(kind({"ds_read_b32 v0, v1", "s_load_dword s0, s[0:1], 0x0"}), PcWait::unknown);
  EXPECT_EQ(kind({"v_mov_b32_e32 v0, v1"}), PcWait::unknown);
  EXPECT_EQ(kind({"flat_load_dword v0, v[0:1]"}), PcWait::unknown);
  // An earlier wait is between them.
  EXPECT_EQ(kind({"ds_read_b32 v0, v1", "s_waitcnt lgkmcnt(0)", "s_load_dword s0, s[0:1], 0x0"}),
            PcWait::scalar);
}

TEST(SampledWaits, OfTwoCountersTheOneWithSomethingOutstanding) {
  const SampledCode loads =
      whole(code_of({"global_load_dword v1, v[0:1], off", "*s_waitcnt vmcnt(0) lgkmcnt(0)"}));
  EXPECT_EQ(loads.instructions[1].wait, PcWait::vector_memory);
  const SampledCode both = whole(code_of({"global_load_dword v1, v[0:1], off", "ds_read_b32 v0, v1",
                                          "*s_waitcnt vmcnt(0) lgkmcnt(0)"}));
  EXPECT_EQ(both.instructions[2].wait, PcWait::unknown);
  EXPECT_EQ(both.instructions[2].waits_for, (std::vector<std::size_t>{0, 1}));
}

TEST(SampledWaits, ALoadAtTheEndOfALoopIsWaitedForAtItsHead) {
  Code code = code_of({"v_mov_b32_e32 v0, 0", "*s_waitcnt vmcnt(0)", "v_add_f32_e32 v0, v0, v1",
                       "global_load_dword v1, v[2:3], off", "s_cbranch_scc1 65532", "s_endpgm"});
  code.disassembly[4].branch_target = 4;
  const SampledCode out = whole(code);
  EXPECT_EQ(out.instructions[1].waits_for, (std::vector<std::size_t>{3}));
}

TEST(SampledWaits, Gfx12NamesItsCounters) {
  const auto kind = [&](const std::string& wait) {
    return without_code(code_of({"*" + wait}, "gfx1201")).instructions.back().wait;
  };
  EXPECT_EQ(kind("s_wait_loadcnt 0x0"), PcWait::vector_memory);
  EXPECT_EQ(kind("s_wait_storecnt 0x0"), PcWait::vector_memory);
  EXPECT_EQ(kind("s_wait_dscnt 0x0"), PcWait::lds);
  EXPECT_EQ(kind("s_wait_kmcnt 0x0"), PcWait::scalar);
  EXPECT_EQ(kind("s_wait_alu 0xfffd"), std::nullopt);
  EXPECT_EQ(generation_of("gfx1201", {}), 12);
  EXPECT_EQ(generation_of("gfx942", {}), 9);
  EXPECT_EQ(generation_of("gfx90a", {}), 9);
  EXPECT_EQ(generation_of("", {}), 9);
}

}  // namespace
}  // namespace perflab::analyze
