// code/instructions/kernarg_use.h on what a compiler really makes of kernels, without and with
// optimisation, on three architectures with different calling sequences; and on instructions that
// are written here. What is compiled is skipped where no clang for AMDGPU or no llvm-objdump is
// installed.
#include "code/instructions/kernarg_use.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "base/system/files.h"
#include "base/temp_folder.h"
#include "code/tools/compiler.h"

namespace perflab::code {
namespace {

/// Kernels of pointers a and b and a count n: 24 bytes, then the hidden arguments.
constexpr const char* kKernels = R"(
#define GLOBAL extern "C" __attribute__((global)) void
#define DEVICE __attribute__((device))
#define HIDDEN ((unsigned long*)__builtin_amdgcn_implicitarg_ptr())
DEVICE inline unsigned id() {
  return __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
}
DEVICE __attribute__((noinline)) unsigned size() { return __builtin_amdgcn_workgroup_size_x(); }
DEVICE __attribute__((noinline)) float twice(float x) { return x + x; }
#ifdef ASKS
DEVICE __attribute__((noinline)) unsigned long deep(int i) { return i > 3 ? HIDDEN[10] : 7; }
DEVICE __attribute__((noinline)) unsigned long deeper(int i) { return deep(i + 1) + 1; }
#endif
DEVICE float (*chosen)(float);
GLOBAL plain(float* a, const float* b, int n) { if (id() < n) a[id()] = b[id()]; }
GLOBAL calls(float* a, const float* b, int n) { if (id() < n) a[id()] = twice(b[id()]); }
GLOBAL sized(float* a, const float* b, int n) {
  unsigned i = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x();
  if (i < n) a[i] = b[i];
}
GLOBAL sized_deep(float* a, const float* b, int n) { if (size() < n) a[size()] = b[0]; }
GLOBAL loops(float* a, const float* b, int n) {
  for (int i = 0; i < n; ++i) a[i] = twice(b[i]) + b[n - i];
}
#ifdef ASKS
GLOBAL asks(unsigned long* a, const float* b, int n) { a[0] = HIDDEN[10]; }
GLOBAL asks_late(unsigned long* a, const float* b, int n) {
  for (int i = 0; i < n; ++i) a[i] = i;
  if (n > 5) a[id()] = HIDDEN[10];
}
GLOBAL asks_deep(unsigned long* a, const float* b, int n) { a[0] = deeper(n); }
GLOBAL indexes(unsigned long* a, const float* b, int n) { a[0] = HIDDEN[n]; }
#endif
GLOBAL jumps(float* a, const float* b, int n) { a[0] = chosen(b[0]); }
)";
constexpr std::int64_t kHiddenBase = 24, kGroupSize = kHiddenBase + 12,
                       kHostcall = kHiddenBase + 80;

class CompiledUse : public testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  using Uses = std::map<std::string, KernargUse>;
  /// Of one architecture and level.
  struct Kernels {
    Uses uses;   ///< of all kernels
    Uses quiet;  ///< of those in an object where nothing asks the host
    std::string skipped;
  };

  void SetUp() override {
    static std::map<ParamType, Kernels> all;  // compiled once for all tests
    const auto [found, is_new] = all.try_emplace(GetParam());
    kernels_ = &found->second;
    if (is_new) build_all(*kernels_);
    if (!kernels_->skipped.empty()) GTEST_SKIP() << "skipped: " << kernels_->skipped;
    ASSERT_FALSE(kernels_->uses.empty() || kernels_->quiet.empty());
  }

  static void build_all(Kernels& kernels) {
    const auto& [arch, level] = GetParam();
    auto compiler = find_compiler(arch);
    const auto objdump = find_disassembler(arch);
    if (!compiler)
      kernels.skipped = compiler.error().message;
    else if (!compiler->knows(arch))
      kernels.skipped = arch + " is not known";
    else if (!objdump)
      kernels.skipped = objdump.error().message;
    if (!kernels.skipped.empty()) return;
    const test::TempFolder folder;
    CompileRequest request;
    request.source = folder.write("kernels.hip", kKernels);
    request.arch = arch;
    request.arguments = {level, "-nogpuinc", "-nogpulib", "-mcode-object-version=5", "-w"};
    build(*compiler, *objdump, request, kernels.quiet);
    request.arguments.emplace_back("-DASKS");
    build(*compiler, *objdump, request, kernels.uses);
  }

  static void build(const Compiler& compiler, const Disassembler& objdump,
                    const CompileRequest& request, Uses& uses) {
    const auto compiled = compile(compiler, request);
    ASSERT_TRUE(compiled) << describe(compiled.error());
    const auto object = read_code_object(compiled->code_object, "kernels");
    ASSERT_TRUE(object) << describe(object.error());
    const std::array<ToDisassemble, 1> wanted{
        {{.bytes = compiled->code_object, .processor = request.arch, .symbols = {}}}};
    const auto functions = disassemble(objdump, wanted);
    ASSERT_TRUE(functions && functions->front());
    for (const KernelMetadata& kernel : object->kernels)
      uses[kernel.name] = KernargUse::of(*object, kernel, *functions->front());
  }

  [[nodiscard]] const KernargUse& use(const std::string& kernel) const {
    return kernels_->uses.at(kernel);
  }
  [[nodiscard]] ArgumentUse hostcall(const std::string& kernel) const {
    return use(kernel).use_of(kHostcall, 8);
  }
  [[nodiscard]] std::string why(const std::string& kernel) const {
    return fmt::format("{}: {}", kernel, use(kernel).why_unknown(kHostcall, 8));
  }

  Kernels* kernels_ = nullptr;
};

TEST_P(CompiledUse, WhatNoInstructionLoadsIsNotUsed) {
  for (const char* kernel : {"plain", "calls", "sized", "sized_deep", "loops", "jumps"}) {
    const KernargUse& quiet = kernels_->quiet.at(kernel);
    EXPECT_EQ(quiet.use_of(kHostcall, 8), ArgumentUse::unused)
        << kernel << ": " << quiet.why_unknown(kHostcall, 8);
  }
  // Beside functions that ask, a call whose target is kept over another call may be one of them.
  for (const char* kernel : {"plain", "calls", "sized", "sized_deep", "loops"})
    EXPECT_NE(hostcall(kernel), ArgumentUse::loaded) << why(kernel);
  EXPECT_EQ(hostcall("sized"), ArgumentUse::unused) << why("sized");
  for (const char* kernel : {"plain", "calls", "sized", "sized_deep", "loops"}) {
    for (const std::int64_t argument : {0, 8}) {
      if (argument == 8 && std::string_view(kernel) == "calls") continue;
      EXPECT_NE(use(kernel).use_of(argument, 8), ArgumentUse::unused)
          << kernel << " has " << argument;
    }
  }
}

TEST_P(CompiledUse, WhatIsLoadedSomewhereIsUsed) {
  for (const char* kernel : {"asks", "asks_late", "asks_deep"})
    EXPECT_EQ(hostcall(kernel), ArgumentUse::loaded) << why(kernel);
  EXPECT_EQ(use("sized").use_of(kGroupSize, 2), ArgumentUse::loaded);
  EXPECT_EQ(use("sized_deep").use_of(kGroupSize, 2), ArgumentUse::loaded);
}

TEST_P(CompiledUse, WhatIsComputedOrCalledByAddressIsNotTold) {
  EXPECT_EQ(hostcall("indexes"), ArgumentUse::unknown);
  // Any function may be the one that it calls, and one of them asks.
  EXPECT_NE(hostcall("jumps"), ArgumentUse::unused);
}

INSTANTIATE_TEST_SUITE_P(KernargUse, CompiledUse,
                         testing::Combine(testing::Values("gfx90a", "gfx942", "gfx1100"),
                                          testing::Values("-O0", "-O1", "-O2", "-O3")),
                         [](const auto& one) {
                           return fmt::format("{}_{}", std::get<0>(one.param),
                                              std::get<1>(one.param).substr(1));
                         });

// ---- instructions that are written here

/// The kernel arguments are in s[4:5]; hidden ones begin at byte 24.
class WrittenUse : public testing::Test {
 protected:
  WrittenUse() {
    kernel_.name = "k";
    kernel_.descriptor = KernelDescriptor{};
    kernel_.descriptor->properties = 0x9;  // private segment buffer, kernarg segment pointer
    kernel_.code_address = 0x1000;
    add_argument(0, 8, "global_buffer");
    add_argument(kHiddenBase, 4, "hidden_block_count_x");
  }
  void add_argument(std::int64_t offset, std::int64_t size, const char* value_kind) {
    KernelArgument argument;
    argument.offset = offset;
    argument.size = size;
    argument.value_kind = value_kind;
    kernel_.arguments.push_back(std::move(argument));
  }
  /// Instructions of four bytes each: mnemonic and operands; "-> n" makes a branch to the nth.
  [[nodiscard]] KernargUse use(const std::vector<std::pair<std::string, std::string>>& code) {
    Function function{.symbol = "k", .address = 0x1000, .instructions = {}};
    for (const auto& [mnemonic, operands] : code) {
      Instruction one{.address = 0x1000 + 4 * function.instructions.size(),
                      .bytes = 4,
                      .mnemonic = mnemonic,
                      .operands = operands,
                      .branch_target = {}};
      if (operands.starts_with("-> ")) {
        one.branch_target = 0x1000 + 4 * std::stoul(operands.substr(3));
        one.operands.clear();
      }
      function.instructions.push_back(std::move(one));
    }
    kernel_.code_bytes = 4 * code.size();
    object_.kernels = {kernel_};
    return KernargUse::of(object_, object_.kernels[0], std::array{function});
  }
  [[nodiscard]] ArgumentUse hostcall(const std::vector<std::pair<std::string, std::string>>& code) {
    return use(code).use_of(kHostcall, 8);
  }

  KernelMetadata kernel_;
  CodeObject object_;
};

TEST_F(WrittenUse, LoadsCoverAllTheirBytes) {
  EXPECT_EQ(hostcall({{"s_load_dwordx2", "s[0:1], s[4:5], 0x68"}}), ArgumentUse::loaded);
  EXPECT_EQ(hostcall({{"s_load_dwordx4", "s[0:3], s[4:5], 0x60"}}), ArgumentUse::loaded);
  EXPECT_EQ(hostcall({{"s_load_b512", "s[16:31], s[4:5], 0x40"}}), ArgumentUse::loaded);
  EXPECT_EQ(hostcall({{"s_load_dwordx2", "s[0:1], s[4:5], 0x60"}}), ArgumentUse::unused);
  EXPECT_EQ(hostcall({{"s_load_dwordx2", "s[0:1], s[4:5], 0x70"}}), ArgumentUse::unused);
  EXPECT_EQ(hostcall({{"s_load_b64", "s[0:1], s[4:5], null"}}), ArgumentUse::unused);
  EXPECT_EQ(hostcall({{"s_mov_b32", "s7, 0x68"}, {"s_load_b64", "s[0:1], s[4:5], s7"}}),
            ArgumentUse::loaded);
  EXPECT_EQ(hostcall({{"s_load_b64", "s[0:1], s[4:5], s7 offset:0x8"}}), ArgumentUse::unknown);
  EXPECT_EQ(hostcall({{"v_mov_b32_e32", "v0, 8"},
                      {"global_load_dwordx2", "v[0:1], v0, s[4:5] offset:96"}}),
            ArgumentUse::loaded);
  EXPECT_EQ(hostcall({{"global_load_dwordx2", "v[0:1], v0, s[4:5] offset:8"}}),
            ArgumentUse::unknown);
}

TEST_F(WrittenUse, PointersAreFollowedThroughCopiesAndSums) {
  const std::vector<std::pair<std::string, std::string>> sum{
      {"s_mov_b64", "s[6:7], s[4:5]"}, {"s_add_u32", "s8, s6, 24"}, {"s_addc_u32", "s9, s7, 0"}};
  auto code = sum;
  code.emplace_back("s_load_dwordx2", "s[0:1], s[8:9], 0x50");
  EXPECT_EQ(hostcall(code), ArgumentUse::loaded);
  code.back().second = "s[0:1], s[8:9], 0x48";
  EXPECT_EQ(hostcall(code), ArgumentUse::unused);
  // Overwritten in between: another pointer, of which only the distance is known.
  code = sum;
  code.emplace_back("s_load_dwordx2", "s[8:9], s[4:5], 0x0");
  code.emplace_back("s_load_dwordx2", "s[0:1], s[8:9], 0x10");
  EXPECT_EQ(hostcall(code), ArgumentUse::unused);
  code.back().second = "s[0:1], s[8:9], 0x50";
  EXPECT_EQ(hostcall(code), ArgumentUse::unknown);
  code.back().second = "s[0:1], s[8:9], 0x68";
  EXPECT_EQ(hostcall(code), ArgumentUse::unknown);
  // Relative to the code: a table, no argument.
  EXPECT_EQ(hostcall({{"s_getpc_b64", "s[8:9]"},
                      {"s_add_u32", "s8, s8, 0x1234"},
                      {"s_addc_u32", "s9, s9, 0"},
                      {"s_load_dwordx2", "s[0:1], s[8:9], 0x50"}}),
            ArgumentUse::unused);
}

TEST_F(WrittenUse, CopiesInVectorsLanesAndTheFrameAreFollowed) {
  const auto saved = [](const char* load) {
    return std::vector<std::pair<std::string, std::string>>{
        {"v_writelane_b32", "v1, s4, 3"},
        {"v_writelane_b32", "v1, s5, 4"},
        {"v_accvgpr_write_b32", "a0, v1"},
        {"s_mov_b64", "s[4:5], 0"},
        {"v_mov_b32_e32", "v1, 0"},
        {"v_accvgpr_read_b32", "v2, a0"},
        {"scratch_store_dword", "off, v2, s33 offset:40"},
        {"v_mov_b32_e32", "v2, 0"},
        {"scratch_load_dword", "v3, off, s33 offset:40"},
        {"v_readlane_b32", "s6, v3, 3"},
        {"v_readlane_b32", "s7, v3, 4"},
        {"s_load_dwordx2", load}};
  };
  EXPECT_EQ(hostcall(saved("s[0:1], s[6:7], 0x68")), ArgumentUse::loaded);
  EXPECT_EQ(hostcall(saved("s[0:1], s[6:7], 0x50")), ArgumentUse::unused);
  for (const auto& [copy, from] :
       {std::pair{"v_mov_b64_e32", "v[4:5], s[4:5]"},
        std::pair{"v_pk_mov_b32", "v[4:5], s[4:5], s[4:5] op_sel:[0,1]"}})
    EXPECT_EQ(hostcall({{copy, from}, {"flat_load_dwordx2", "v[2:3], v[4:5] offset:104"}}),
              ArgumentUse::loaded)
        << copy;
}

TEST_F(WrittenUse, ACopyThatIsNotFollowedLeavesTheDistance) {
  // Into memory and back.
  const auto stored = [](const char* load) {
    return std::vector<std::pair<std::string, std::string>>{
        {"v_mov_b32_e32", "v0, s4"},
        {"v_mov_b32_e32", "v1, s5"},
        {"flat_store_dwordx2", "v[6:7], v[0:1]"},
        {"flat_load_dwordx2", "v[2:3], v[6:7]"},
        {"flat_load_dwordx2", load}};
  };
  EXPECT_EQ(hostcall(stored("v[4:5], v[2:3] offset:104")), ArgumentUse::unknown);
  EXPECT_EQ(hostcall(stored("v[4:5], v[2:3] offset:8")), ArgumentUse::unused);
  EXPECT_EQ(hostcall({{"v_mov_b32_e32", "v2, 0x68"},
                      {"v_add_co_u32_e32", "v8, vcc, v9, v2"},
                      {"flat_load_dwordx2", "v[2:3], v[8:9]"}}),
            ArgumentUse::unknown);
  EXPECT_EQ(hostcall({{"v_mov_b32_e32", "v0, s4"}, {"v_add_co_u32_e32", "v0, vcc, v0, v2"}}),
            ArgumentUse::unknown);
  // The frame's own distances are none of a pointer's.
  EXPECT_EQ(hostcall({{"s_add_i32", "s9, s33, 0x68"}, {"s_add_i32", "s32, s32, 0x50"}}),
            ArgumentUse::unused);
  // Into the middle of the arguments, and then out of sight: no distance tells.
  EXPECT_EQ(hostcall({{"s_add_u32", "s6, s4, 0x48"},
                      {"s_addc_u32", "s7, s5, 0"},
                      {"v_mov_b32_e32", "v0, s6"},
                      {"flat_store_dword", "v[6:7], v0"}}),
            ArgumentUse::unknown);
}

TEST_F(WrittenUse, WaysThroughTheCodeAreJoined) {
  // Both ways leave the pointer in s[4:5].
  EXPECT_EQ(hostcall({{"s_cbranch_scc0", "-> 2"},
                      {"s_mov_b32", "s0, 1"},
                      {"s_load_dwordx2", "s[0:1], s[4:5], 0x68"},
                      {"s_endpgm", ""}}),
            ArgumentUse::loaded);
  // One way is enough.
  EXPECT_EQ(hostcall({{"s_cbranch_scc0", "-> 2"},
                      {"s_load_dwordx2", "s[4:5], s[4:5], 0x0"},
                      {"s_load_dwordx2", "s[0:1], s[4:5], 0x68"},
                      {"s_endpgm", ""}}),
            ArgumentUse::loaded);
  EXPECT_EQ(hostcall({{"s_load_dwordx2", "s[0:1], s[4:5], 0x68"},
                      {"s_load_dwordx2", "s[4:5], s[0:1], 0x0"},
                      {"s_cbranch_scc0", "-> 0"},
                      {"s_endpgm", ""}}),
            ArgumentUse::loaded);
  // On no way is it the pointer that it was.
  EXPECT_EQ(hostcall({{"s_mov_b64", "s[4:5], 0"},
                      {"s_cbranch_scc0", "-> 3"},
                      {"s_load_dwordx2", "s[4:5], s[2:3], 0x0"},
                      {"s_load_dwordx2", "s[0:1], s[4:5], 0x68"},
                      {"s_endpgm", ""}}),
            ArgumentUse::unknown);
  // Code behind an end that nothing is seen to jump to is looked at all the same.
  EXPECT_EQ(hostcall({{"s_endpgm", ""}, {"s_load_dwordx2", "s[0:1], s[4:5], 0x68"}}),
            ArgumentUse::unknown);
}

TEST_F(WrittenUse, WhatIsNotKnownIsSaid) {
  EXPECT_THAT(use({{".long", "0xffffffff"}}).why_unknown(kHostcall, 8),
              testing::HasSubstr("disassembler"));
  EXPECT_THAT(use({{"s_getpc_b64", "s[0:1]"},
                   {"s_add_u32", "s0, s0, 0x7000"},
                   {"s_addc_u32", "s1, s1, 0"},
                   {"s_swappc_b64", "s[30:31], s[0:1]"}})
                  .why_unknown(kHostcall, 8),
              testing::HasSubstr("not in the object"));
  kernel_.descriptor->properties = 0x1;  // no pointer to arguments at all
  EXPECT_EQ(hostcall({{"s_load_dwordx2", "s[0:1], s[6:7], 0x68"}}), ArgumentUse::unused);
  kernel_.descriptor->properties = 0x8;
  kernel_.descriptor->kernarg_preload = 28;  // dwords: bytes 0 to 112
  EXPECT_EQ(hostcall({{"s_endpgm", ""}}), ArgumentUse::loaded);
  kernel_.descriptor->kernarg_preload = 0;
  kernel_.code_address = 0x2000;  // no instruction is there
  EXPECT_EQ(hostcall({{"s_endpgm", ""}}), ArgumentUse::unknown);
  kernel_.descriptor.reset();
  EXPECT_EQ(hostcall({{"s_endpgm", ""}}), ArgumentUse::unknown);
}

}  // namespace
}  // namespace perflab::code
