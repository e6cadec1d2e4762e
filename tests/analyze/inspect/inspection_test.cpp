// The pipeline of `inspect` over written files: what is found, selected and left out.
#include "analyze/inspect/inspection.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temp_folder.h"
#include "support/code_writer.h"

namespace perflab::analyze {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint32_t kGfx90a = 0x53f;
constexpr std::uint32_t kGfx942 = 0x54c;

std::string object(int kernels, std::uint32_t flags, const char* processor) {
  return test::write_code_object(
      test::sample_code_object(kernels, flags, fmt::format("amdgcn-amd-amdhsa--{}", processor)));
}

std::string bundle(const std::vector<std::pair<std::string, std::string>>& by_processor) {
  std::vector<test::WrittenEntry> entries = {{.id = "host-x86_64-unknown-linux-gnu-", .bytes = ""}};
  for (const auto& [processor, bytes] : by_processor)
    entries.push_back({.id = "hipv4-amdgcn-amd-amdhsa--" + processor, .bytes = bytes});
  return test::write_bundle(entries);
}

class InspectionTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path two_archs() const {
    return folder_.write("app.hipfb", bundle({{"gfx90a", object(2, kGfx90a, "gfx90a")},
                                              {"gfx942", object(3, kGfx942, "gfx942")}}));
  }
  /// Without disassembling: what these tests are about needs no tool.
  static InspectOptions quick() {
    InspectOptions options;
    options.mix = MixChoice::never;
    return options;
  }
  static Pattern pattern(const char* text) { return Pattern::compile(text).value(); }

  test::TempFolder folder_;
};

TEST_F(InspectionTest, ListsEveryObjectAndKernelInOrder) {
  const Inspection all = inspect_file(two_archs(), quick()).value();
  EXPECT_EQ(all.kind, "bundle");
  ASSERT_EQ(all.objects.size(), 2U);
  EXPECT_EQ(all.objects[0].target.processor, "gfx90a");
  EXPECT_EQ(all.objects[1].target.processor, "gfx942");
  EXPECT_EQ(all.objects[1].kernels, 3U);
  ASSERT_EQ(all.kernels.size(), 5U);
  EXPECT_EQ(all.kernels[1].object, 0U);
  EXPECT_EQ(all.kernels[2].object, 1U);
  EXPECT_EQ(all.kernels[2].name, "saxpy_00000(float const*, float const*, float*, int)");
}

TEST_F(InspectionTest, ArchitecturesSelectObjects) {
  InspectOptions options = quick();
  options.archs = {"gfx942"};
  EXPECT_EQ(inspect_file(two_archs(), options).value().kernels.size(), 3U);
  options.archs = {"gfx1100"};
  const auto missing = inspect_file(two_archs(), options);
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::usage);
  EXPECT_THAT(missing.error().message, HasSubstr("gfx90a, gfx942"));
  options.archs = {"gfx942:bogus+"};
  EXPECT_EQ(inspect_file(two_archs(), options).error().code, ErrorCode::usage);
  options.archs = {"x86"};
  EXPECT_EQ(inspect_file(two_archs(), options).error().code, ErrorCode::usage);
}

TEST_F(InspectionTest, KernelsAreFoundByEitherName) {
  InspectOptions options = quick();
  options.kernels = pattern("^_Z11saxpy_00001");
  EXPECT_EQ(inspect_file(two_archs(), options).value().kernels.size(), 2U);
  options.kernels = pattern("saxpy_00002\\(float");
  EXPECT_EQ(inspect_file(two_archs(), options).value().kernels.size(), 1U);
  options.kernels = pattern("gemm");
  const auto none = inspect_file(two_archs(), options);
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, ErrorCode::usage);
}

TEST_F(InspectionTest, ABrokenObjectIsSaidAndTheOthersAreShown) {
  std::string broken = object(1, kGfx942, "gfx942");
  broken[8] = 0;  // code object version 2
  const auto path = folder_.write(
      "mixed.hipfb", bundle({{"gfx942", broken}, {"gfx90a", object(2, kGfx90a, "gfx90a")}}));
  const Inspection mixed = inspect_file(path, quick()).value();
  EXPECT_FALSE(mixed.objects.at(0).readable);
  EXPECT_TRUE(mixed.objects.at(1).readable);
  EXPECT_EQ(mixed.kernels.size(), 2U);
  EXPECT_THAT(mixed.warnings, Contains(HasSubstr("version 2")));

  const auto alone = inspect_file(folder_.write("alone.co", broken), quick());
  ASSERT_FALSE(alone.has_value());
  EXPECT_EQ(alone.error().code, ErrorCode::bad_input);
}

TEST_F(InspectionTest, SourcesNeedAnArchitecture) {
  const auto path = folder_.write("k.hip", "__global__ void k() {}\n");
  const auto result = inspect_file(path, quick());
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::usage);
  EXPECT_THAT(result.error().remedy, HasSubstr("--arch"));
}

TEST_F(InspectionTest, OtherFilesAreRefused) {
  for (const auto& [name, text] : {std::pair{"notes.txt", "hello"}, std::pair{"empty.co", ""}}) {
    const auto result = inspect_file(folder_.write(name, text), quick());
    ASSERT_FALSE(result.has_value()) << name;
    EXPECT_EQ(result.error().code, ErrorCode::bad_input) << name;
  }
  EXPECT_EQ(inspect_file(folder_ / "nowhere.co", quick()).error().code, ErrorCode::bad_input);
}

TEST_F(InspectionTest, TheMixIsLeftOutForManyKernelsUnlessAskedFor) {
  const auto path =
      folder_.write("many.co", object(static_cast<int>(kMostKernelsForMix) + 1, kGfx942, "gfx942"));
  const Inspection many = inspect_file(path, {}).value();
  EXPECT_FALSE(many.disassembler.has_value());
  for (const StaticKernel& kernel : many.kernels) {
    EXPECT_FALSE(kernel.mix.has_value());
    EXPECT_THAT(kernel.missing, Contains(::testing::Field(&Missing::field, "instruction_mix")));
  }
}

TEST_F(InspectionTest, WithoutADisassemblerTheMixIsMissingWithTheReason) {
  const test::ScopedVariable none("ROCM_PERF_LLVM_OBJDUMP", (folder_ / "nowhere").string());
  const auto path = folder_.write("one.co", object(1, kGfx942, "gfx942"));
  const Inspection without = inspect_file(path, {}).value();
  EXPECT_FALSE(without.kernels.at(0).mix.has_value());
  InspectOptions always;
  always.mix = MixChoice::always;
  const auto refused = inspect_file(path, always);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::missing_tool);
}

TEST_F(InspectionTest, OccupancyIsForTheLaunchAskedFor) {
  InspectOptions options = quick();
  options.launch = {.workgroup_size = 64, .dynamic_lds = 32768, .recorded = {}};
  const Inspection one =
      inspect_file(folder_.write("one.co", object(1, kGfx942, "gfx942")), options).value();
  EXPECT_EQ(one.kernels.at(0).workgroup_size, 64);
  EXPECT_EQ(one.kernels.at(0).occupancy.value().resident.workgroups_per_cu, 2);
}

}  // namespace
}  // namespace perflab::analyze
