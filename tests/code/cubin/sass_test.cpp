// code/cubin/sass.h on instructions as nvcc 13.0 wrote them for sm_80 and sm_90; tests/calibrate
// holds whole kernels against it where a toolkit is installed.
#include "code/cubin/sass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace perflab::code {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // high, low

// Of sm_90.
constexpr std::pair<std::uint64_t, std::uint64_t> kLoad16{0x000ea4000c1e1d00, 0x0000000604047981};
constexpr std::pair<std::uint64_t, std::uint64_t> kLoad4{0x000ea2000c1e1900, 0x0000000602027981};
constexpr std::pair<std::uint64_t, std::uint64_t> kStore16{0x004fe8000c101d06, 0x000000041c007986};
constexpr std::pair<std::uint64_t, std::uint64_t> kShared{0x000fe20000000800, 0x0000000007007984};
constexpr std::pair<std::uint64_t, std::uint64_t> kConstant{0x000fe200000001ff, 0x00000001ff0d7435};
constexpr std::pair<std::uint64_t, std::uint64_t> kBack7{0x000fea000383ffff, 0xfffffffc00e40947};
constexpr std::pair<std::uint64_t, std::uint64_t> kExit{0x000fea0003800000, 0x000000000000794d};
constexpr std::pair<std::uint64_t, std::uint64_t> kSelf{0x000fc0000383ffff, 0xfffffffc00fc7947};
constexpr std::pair<std::uint64_t, std::uint64_t> kNop{0x000fc00000000000, 0x0000000000007918};
// Of sm_80.
constexpr std::pair<std::uint64_t, std::uint64_t> kOldBack15{0x000fea000383ffff,
                                                             0xffffff1000000947};
constexpr std::pair<std::uint64_t, std::uint64_t> kOldSelf{0x000fc0000383ffff, 0xfffffff000007947};

std::string code_of(const Words& words) {
  std::string code;
  for (const auto& [high, low] : words)
    for (const std::uint64_t word : {low, high}) {
      char bytes[8];
      std::memcpy(bytes, &word, 8);
      code.append(bytes, 8);
    }
  return code;
}

std::vector<Instruction> read(const Words& words) {
  auto instructions = read_sass(code_of(words), "k");
  if (instructions) return std::move(*instructions);
  ADD_FAILURE() << describe(instructions.error());
  return {};
}

TEST(SassTest, NamesWidthsAndBranches) {
  const auto code =
      read({kLoad16, kLoad4, kStore16, kShared, kConstant, kNop, kBack7, kExit, kSelf, kNop, kNop});
  ASSERT_EQ(code.size(), 8U);  // neither the endless loop nor the padding behind it
  std::vector<std::string> names;
  for (const Instruction& one : code) names.push_back(one.mnemonic);
  EXPECT_EQ(names, (std::vector<std::string>{"LDG.128", "LDG", "STG.128", "LDS", "HFMA2.MMA", "NOP",
                                             "BRA", "EXIT"}));
  // Seven instructions back from the one behind it: the first.
  EXPECT_EQ(code[6].branch_target, 0U);
  EXPECT_EQ(code[6].operands, kSassPredicated);
  EXPECT_EQ(code[4].operands, kSassConstant);
  EXPECT_EQ(code[2].address, 32U);
}

TEST(SassTest, BranchesOfOlderArchitecturesCountBytes) {
  Words words(14, kNop);
  words.push_back(kOldBack15);
  words.push_back(kExit);
  words.push_back(kOldSelf);
  const auto code = read(words);
  ASSERT_EQ(code.size(), 16U);
  EXPECT_EQ(code[14].branch_target, 0U);
}

TEST(SassTest, ClassesAndOperations) {
  const auto info = [](const std::string& mnemonic, std::string operands = {}) {
    Instruction one;
    one.mnemonic = mnemonic;
    one.operands = std::move(operands);
    return classify_sass(one);
  };
  EXPECT_EQ(info("FFMA").flops_per_lane, 2);
  EXPECT_EQ(info("FFMA").precision, "f32");
  EXPECT_EQ(info("DADD").flops_per_lane, 1);
  EXPECT_EQ(info("HFMA2").flops_per_lane, 4);
  EXPECT_TRUE(info("HFMA2").packed);
  EXPECT_EQ(info("HFMA2", std::string(kSassConstant)).flops_per_lane, 0);
  EXPECT_EQ(info("LDG.128").memory_bytes_per_lane, 16);
  EXPECT_EQ(info("LDG").memory_bytes_per_lane, 4);
  EXPECT_EQ(info("STS.64").memory_bytes_per_lane, 8);
  EXPECT_EQ(info("LDG.128").instruction_class, InstructionClass::vmem_load);
  EXPECT_EQ(info("HMMA").instruction_class, InstructionClass::matrix);
  EXPECT_TRUE(info("MUFU").transcendental);
  EXPECT_FALSE(info("op_1ff").known);
  EXPECT_FALSE(info("LDGX").known);
}

TEST(SassTest, RefusesWhatIsNoCode) {
  EXPECT_THAT(read_sass("", "k").error().message, HasSubstr("does not end"));
  EXPECT_THAT(read_sass("abc", "k").error().message, HasSubstr("no whole number"));
  EXPECT_THAT(read_sass(code_of({kLoad4, kExit}), "k").error().message, HasSubstr("does not end"));
  EXPECT_THAT(read_sass(code_of({kNop, kNop}), "k").error().message, HasSubstr("does not end"));
}

}  // namespace
}  // namespace perflab::code
