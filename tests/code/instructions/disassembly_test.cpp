// code/instructions/disassembly.h: llvm-objdump's text (written here, printed by a script in its
// place), the search, one bad object among many, and real code objects where llvm-objdump is
// installed.
#include "code/instructions/disassembly.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/system/files.h"
#include "base/temp_folder.h"

namespace perflab::code {
namespace {

namespace fs = std::filesystem;
using test::ScopedVariable;
using test::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A script as the disassembler. It runs in the folder of the objects, which are 0.co, 1.co, ...;
/// objects.txt lists those of the run.
class FakeDisassembler : public ::testing::Test {
 protected:
  [[nodiscard]] Disassembler script(std::string_view body) const {
    return {.program = folder_.script("objdump", "PATH=/usr/bin:/bin\n" + std::string(body)),
            .version = "LLVM 0.1",
            .processors = {"gfx900", "gfx1100"}};
  }

  /// The functions of one object for which the program prints `text`.
  [[nodiscard]] std::vector<Function> functions(std::string_view text,
                                                std::vector<std::string> symbols = {}) const {
    const fs::path file = folder_.write("text", text);
    const std::vector<ToDisassemble> objects{
        {.bytes = "x", .processor = "gfx900", .symbols = std::move(symbols)}};
    auto result = disassemble(script("cat " + file.string()), objects);
    EXPECT_TRUE(result.has_value()) << describe(result.error());
    EXPECT_THAT(*result, SizeIs(1));
    EXPECT_TRUE(result->front().has_value()) << describe(result->front().error());
    return result->front().value();
  }

  TempFolder folder_;
};

constexpr std::string_view kText =
    "\n0.co:\tfile format elf64-amdgpu\n"
    "\nDisassembly of section .text:\n"
    "\n0000000000002e00 <_Z1kPf>:\n"
    "\ts_load_dword s4, s[0:1], 0x2c                              // 000000002E00: C0020100 "
    "0000002C\n"
    "\ts_cbranch_execz 28                                         // 000000002E08: BF88001C "
    "<_Z1kPf+0x7c>\n"
    "\ts_cbranch_scc1 65534                                       // 000000002E0C: BF85FFFE "
    "<_Z1kPf+0x8>\n"
    "\ts_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_1)// 000000002E10: "
    "BF8700A2\n"
    "\tv_dual_mov_b32 v4, 0 :: v_dual_lshlrev_b32 v3, 2, v1       // 000000002E14: CA220080 "
    "04020282\n"
    "\ts_endpgm                                                   // 000000002E1C: BF810000\n"
    "\ts_nop 0                                                    // 000000002E20: BF800000\n"
    "\ts_code_end                                                 // 000000002E24: BF9F0000\n"
    "\t\t...\n"
    "\n0000000000002f00 <f>:\n"
    "\ts_nop 0                                                    // 000000002F00: BF800000\n"
    "\t.long 0xffffffff                                           // 000000002F04: FFFFFFFF\n"
    "\ts_nop 1                                                    // 000000002F08: BF800001\n";

TEST_F(FakeDisassembler, ReadsAddressesSizesNamesAndOperands) {
  const std::vector<Function> found = functions(kText);
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].symbol, "_Z1kPf");
  EXPECT_EQ(found[0].address, 0x2e00U);
  const std::vector<Instruction>& code = found[0].instructions;
  ASSERT_THAT(code, SizeIs(6));
  EXPECT_EQ(code[0].address, 0x2e00U);
  EXPECT_EQ(code[0].bytes, 8);
  EXPECT_EQ(code[0].mnemonic, "s_load_dword");
  EXPECT_EQ(code[0].operands, "s4, s[0:1], 0x2c");
  EXPECT_EQ(code[0].branch_target, std::nullopt);
  EXPECT_EQ(code[3].operands, "instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_1)");
  EXPECT_EQ(code[4].mnemonic, "v_dual_mov_b32");
  EXPECT_EQ(code[4].operands, "v4, 0 :: v_dual_lshlrev_b32 v3, 2, v1");
  EXPECT_EQ(code[4].bytes, 8);
}

TEST_F(FakeDisassembler, BranchesKnowTheirTargets) {
  const std::vector<Function> found = functions(kText);
  EXPECT_EQ(found.at(0).instructions.at(1).branch_target, 0x2e0cU + 28 * 4);
  EXPECT_EQ(found.at(0).instructions.at(2).branch_target, 0x2e08U);
}

TEST_F(FakeDisassembler, PaddingIsLeftOutOnlyAfterAnEnd) {
  const std::vector<Function> found = functions(kText);
  EXPECT_EQ(found.at(0).instructions.back().mnemonic, "s_endpgm");
  // No end before it: these two may run.
  ASSERT_THAT(found.at(1).instructions, SizeIs(3));
  EXPECT_EQ(found.at(1).instructions[1].mnemonic, ".long");
}

TEST_F(FakeDisassembler, WhatStandsBeforeALabelIsCode) {
  const std::vector<Function> found = functions(
      "0.co:\tfile format elf64-amdgpu\n\n0000000000002e00 <k>:\n"
      "\ts_branch 65535 // 000000002E00: BF82FFFF\n"
      "\ts_nop 0 // 000000002E04: BF800000\n"
      "\n0000000000002e08 <label>:\n"
      "\ts_endpgm // 000000002E08: BF810000\n");
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_THAT(found[0].instructions, SizeIs(2));
}

TEST_F(FakeDisassembler, OnlyTheSymbolsAskedFor) {
  const std::vector<Function> found = functions(kText, {"f", "not there"});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].symbol, "f");
}

TEST_F(FakeDisassembler, SymbolsArePassedOnUnlessTheyDoNotFit) {
  const auto command = [&](std::vector<std::string> symbols) {
    const fs::path words = folder_ / "words";
    const std::vector<ToDisassemble> objects{
        {.bytes = "x", .processor = "gfx900", .symbols = std::move(symbols)}};
    EXPECT_TRUE(disassemble(script("echo \"$*\" > " + words.string()), objects).has_value());
    return test::text_of(words);
  };
  EXPECT_EQ(command({"b", "a"}), "-d --disassemble-symbols=a,b @objects.txt\n");
  EXPECT_EQ(command({}), "-d @objects.txt\n");
  EXPECT_EQ(command({"a,b"}), "-d @objects.txt\n");
  EXPECT_EQ(command({std::string(70'000, 'x')}), "-d @objects.txt\n");
}

TEST_F(FakeDisassembler, GarbageIsPassedOver) {
  EXPECT_THAT(functions("\ts_nop 0 // 000000000000: BF800000\n"), IsEmpty());
  EXPECT_THAT(functions("7.co:\tfile format x\n0000000000000000 <f>:\n\ts_nop 0 // 0: BF800000\n"),
              IsEmpty());
  const auto odd = functions(
      "0.co:\tfile format x\n00 <f>:\n\ts_nop\n\t// \n\t x // \n\ts_nop // 4 BF\n\ts_nop // 4:\n"
      "\ts_nop // zz: zz\nno newline");
  ASSERT_THAT(odd, SizeIs(1));
  EXPECT_THAT(odd[0].instructions, SizeIs(2));
}

TEST_F(FakeDisassembler, ObjectsKeepTheirOrderAndUnknownOnesAreNamed) {
  const Disassembler objdump = script(
      "for f in $(cat objects.txt); do printf '\\n%s:\\tfile format elf\\n' $f; "
      "printf '0000 <%s>:\\n\\ts_endpgm // 0: BF810000\\n' $(cat $f); done");
  const std::vector<ToDisassemble> objects{
      {.bytes = "one", .processor = "gfx900", .symbols = {}},
      {.bytes = "two", .processor = "gfx950", .symbols = {}},
      {.bytes = "three", .processor = "gfx1100", .symbols = {}}};
  const auto result = disassemble(objdump, objects);
  ASSERT_TRUE(result.has_value()) << describe(result.error());
  ASSERT_THAT(*result, SizeIs(3));
  EXPECT_EQ((*result)[0].value().at(0).symbol, "one");
  ASSERT_FALSE((*result)[1].has_value());
  EXPECT_EQ((*result)[1].error().code, ErrorCode::missing_tool);
  EXPECT_EQ((*result)[1].error().message, "LLVM 0.1 does not know gfx950");
  EXPECT_EQ((*result)[2].value().at(0).symbol, "three");
}

TEST_F(FakeDisassembler, OneBadObjectDoesNotTakeTheOthersWithIt) {
  const Disassembler objdump = script(
      "case \"$*\" in *0.co*) files=0.co ;; *) files=$(cat objects.txt) ;; esac\n"
      "for f in $files; do\n"
      "  if grep -q bad $f; then echo \"$f: no\" >&2; kill -ABRT $$; fi\n"
      "  printf '\\n%s:\\tfile format elf\\n' $f; printf '0000 <%s>:\\n\\ts_endpgm // 0: "
      "BF810000\\n' $(cat $f); done");
  std::vector<ToDisassemble> objects;
  for (const char* bytes : {"a", "b", "bad", "c", "d"})
    objects.push_back({.bytes = bytes, .processor = "gfx900", .symbols = {}});
  const auto result = disassemble(objdump, objects);
  ASSERT_TRUE(result.has_value()) << describe(result.error());
  for (const std::size_t i : {0UZ, 1UZ, 3UZ, 4UZ}) {
    ASSERT_TRUE((*result)[i].has_value()) << i;
    ASSERT_THAT((*result)[i].value(), SizeIs(1));
    EXPECT_EQ((*result)[i].value()[0].symbol, objects[i].bytes);
  }
  ASSERT_FALSE((*result)[2].has_value());
  EXPECT_EQ((*result)[2].error().code, ErrorCode::bad_input);
  EXPECT_THAT((*result)[2].error().message, HasSubstr("SIGABRT"));
  EXPECT_THAT((*result)[2].error().notes, ElementsAre("0.co: no"));
}

TEST_F(FakeDisassembler, NothingToDoRunsNothing) {
  Disassembler none;
  none.program = "/no/such/program";
  EXPECT_THAT(disassemble(none, {}).value(), IsEmpty());
  none.processors = {"gfx900"};
  const std::vector<ToDisassemble> objects{{.bytes = "x", .processor = "gfx900", .symbols = {}}};
  EXPECT_EQ(disassemble(none, objects).error().code, ErrorCode::missing_tool);
}

TEST(FunctionAt, PutsTheLabelsOfAKernelTogether) {
  const auto nop = [](std::uint64_t address) {
    return Instruction{.address = address,
                       .bytes = 4,
                       .mnemonic = "s_nop",
                       .operands = std::to_string(address),
                       .branch_target = std::nullopt};
  };
  const std::vector<Function> functions{
      {.symbol = "a", .address = 0, .instructions = {nop(0), nop(4)}},
      {.symbol = "label", .address = 8, .instructions = {nop(8)}},
      {.symbol = "b", .address = 16, .instructions = {nop(16), nop(20)}}};
  const auto addresses = [&](std::uint64_t address, std::uint64_t bytes) {
    std::vector<std::uint64_t> found;
    for (const auto function = function_at(functions, "k", address, bytes);
         const Instruction& i : function.instructions)
      found.push_back(i.address);
    return found;
  };
  EXPECT_THAT(addresses(0, 12), ElementsAre(0, 4, 8));
  EXPECT_THAT(addresses(4, 14), ElementsAre(4, 8, 16));
  EXPECT_THAT(addresses(8, 0), IsEmpty());
  EXPECT_THAT(addresses(100, 4), IsEmpty());
  EXPECT_THAT(addresses(16, ~std::uint64_t{0}), ElementsAre(16, 20));
  EXPECT_EQ(function_at(functions, "k", 8, 4).symbol, "k");
}

// --- the search -----------------------------------------------------------------------------

class DisassemblerSearch : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_ / "bin"); }

  static std::string answers(std::string_view version, std::string_view processor) {
    return "case \"$*\" in\n"
           "  --version) echo 'X LLVM version " +
           std::string(version) +
           "' ;;\n"
           "  '-d --mattr=help '*) printf 'Available CPUs for this target:\\n\\n  " +
           std::string(processor) +
           " - Select the processor.\\n\\nAvailable features for this "
           "target:\\n\\n  gfx9-insts - More.\\n' >&2 ;;\n"
           "  *) exit 9 ;;\n"
           "esac";
  }

  TempFolder folder_;
  ScopedVariable path_{"PATH", (folder_ / "bin").string()};
  ScopedVariable hip_clang_{"HIP_CLANG_PATH", std::nullopt};
  ScopedVariable rocm_{"ROCM_PATH", std::nullopt};
  ScopedVariable named_{"ROCM_PERF_LLVM_OBJDUMP", std::nullopt};
};

TEST_F(DisassemblerSearch, TheOneBesideTheCompilerComesFirst) {
  static_cast<void>(folder_.script("bin/llvm-objdump-19", answers("19.1.7", "gfx900")));
  static_cast<void>(folder_.script("bin/llvm-objdump-22", answers("22.1.8", "gfx950")));
  auto found = find_disassembler();
  ASSERT_TRUE(found.has_value()) << describe(found.error());
  EXPECT_EQ(found->version, "LLVM 22.1.8");
  EXPECT_THAT(found->processors, ElementsAre("gfx950"));
  EXPECT_EQ(find_disassembler("gfx900").value().version, "LLVM 19.1.7");
  fs::create_directories(folder_ / "llvm");
  static_cast<void>(folder_.script("llvm/clang", "exit 1"));
  static_cast<void>(folder_.script("llvm/llvm-objdump", answers("18.0.0", "gfx906")));
  fs::create_symlink(folder_ / "llvm/clang", folder_ / "bin/clang++-18");
  EXPECT_EQ(find_disassembler().value().version, "LLVM 18.0.0");
}

TEST_F(DisassemblerSearch, UselessOnesAreNamed) {
  EXPECT_EQ(find_disassembler().error().code, ErrorCode::missing_tool);
  static_cast<void>(folder_.script("bin/llvm-objdump", answers("19.1.7", "cortex")));
  const auto found = find_disassembler();
  ASSERT_FALSE(found.has_value());
  EXPECT_THAT(found.error().notes, ElementsAre(HasSubstr("does not know AMDGPU")));
  EXPECT_THAT(found.error().remedy, HasSubstr("llvm-19"));
  const ScopedVariable named("ROCM_PERF_LLVM_OBJDUMP", (folder_ / "none").string());
  EXPECT_THAT(find_disassembler().error().message, HasSubstr("$ROCM_PERF_LLVM_OBJDUMP"));
}

// --- the installed program ------------------------------------------------------------------

TEST(RealDisassembler, ReadsRecordedCodeObjects) {
  const auto objdump = find_disassembler("gfx1201");
  if (!objdump) GTEST_SKIP() << "skipped: " << describe(objdump.error());
  const fs::path folder = fs::path(PERFLAB_SHARED_DIR) / "data/codeobjects";
  if (!fs::exists(folder)) GTEST_SKIP() << "skipped: " << folder << " is not there";
  const std::string gfx942 = read_file(folder / "pc2_gfx942_2.out").value();
  const std::string gfx1201 = read_file(folder / "float_gfx1201_2.out").value();
  const std::string gfx950 = read_file(folder / "histo_gfx950_2.out").value();
  const std::string cut = gfx942.substr(0, gfx942.size() / 2);
  const std::vector<ToDisassemble> objects{
      {.bytes = gfx942, .processor = "gfx942", .symbols = {"_Z15subtract_kernelPfPKfS1_ii"}},
      {.bytes = gfx950, .processor = "gfx950", .symbols = {}},
      {.bytes = cut, .processor = "gfx942", .symbols = {}},
      {.bytes = gfx1201, .processor = "gfx1201", .symbols = {}}};
  const auto result = disassemble(*objdump, objects);
  ASSERT_TRUE(result.has_value()) << describe(result.error());
  ASSERT_TRUE((*result)[0].has_value()) << describe((*result)[0].error());
  ASSERT_THAT((*result)[0].value(), SizeIs(1));
  const Function& subtract = (*result)[0].value()[0];
  EXPECT_EQ(subtract.address, 0x2e00U);
  ASSERT_EQ(subtract.instructions.size(), 32U);
  EXPECT_EQ(subtract.instructions.back().mnemonic, "s_endpgm");
  EXPECT_EQ(subtract.instructions.back().address, 0x2ebcU);
  const Instruction& branch = subtract.instructions[14];
  EXPECT_EQ(branch.mnemonic, "s_cbranch_execz");
  EXPECT_EQ(branch.branch_target, 0x2e00U + 0xbc);
  // LLVM 19 aborts on gfx950: it must have been asked before.
  if (std::ranges::find(objdump->processors, "gfx950") == objdump->processors.end()) {
    EXPECT_EQ((*result)[1].error().code, ErrorCode::missing_tool);
  } else {
    EXPECT_TRUE((*result)[1].has_value());
  }
  EXPECT_FALSE((*result)[2].has_value());
  ASSERT_TRUE((*result)[3].has_value()) << describe((*result)[3].error());
  // Another processor in the same call is read as what it is.
  const Function& squared = (*result)[3].value().at(0);
  EXPECT_EQ(squared.symbol, "_Z11mat_squaredPf");
  EXPECT_EQ(squared.instructions.at(2).mnemonic, "s_delay_alu");
  EXPECT_EQ(squared.instructions.at(9).operands, "s6, s2");
}

}  // namespace
}  // namespace perflab::code
