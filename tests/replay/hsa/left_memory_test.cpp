// The kernels of replay's trap for left memory: built for every architecture, with the shape that
// fills a CU, from the source that is beside them.
#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>

#include "base/system/files.h"
#include "base/system/subprocess.h"
#include "base/temp_folder.h"
#include "base/text/text.h"
#include "code/elf/elf.h"
#include "code/object/code_object.h"
#include "hal/arch.h"
#include "replay/left_memory.h"

namespace perflab::replay {
namespace {

namespace fs = std::filesystem;

fs::path trap_folder() {
  return fs::path(PERFLAB_SOURCE_DIR) / "src/replay/hsa/left_memory";
}

TEST(LeftMemoryTrap, FillsACuOfEveryArchitecture) {
  for (const hal::Arch& arch : hal::all_archs()) {
    if (arch.platform != hal::Platform::amd) continue;
    SCOPED_TRACE(arch.gfx);
    const auto bytes = read_file(trap_folder() / (arch.gfx + ".hsaco"));
    ASSERT_TRUE(bytes.has_value());
    const auto object = code::read_code_object(*bytes, arch.gfx);
    ASSERT_TRUE(object.has_value()) << object.error().message;
    EXPECT_EQ(object->target.processor, arch.gfx);
    EXPECT_THAT(object->metadata_target, ::testing::EndsWith(arch.gfx));
    const auto* const filling = code::kernel_named(*object, "left_memory_registers");
    const auto* const scratch = code::kernel_named(*object, "left_memory_scratch");
    ASSERT_TRUE(filling != nullptr && filling->max_workgroup_size && scratch != nullptr);
    const auto waves = *filling->max_workgroup_size / arch.default_wave_size;
    const auto* const limits = arch.wave_limits(arch.default_wave_size);
    const auto allocated = (filling->vgpr_count.value_or(0) + limits->vgpr_alloc_granule - 1) /
                           limits->vgpr_alloc_granule * limits->vgpr_alloc_granule;
    EXPECT_EQ(waves * allocated, arch.simds_per_cu * limits->vgprs_per_simd);
    EXPECT_EQ(filling->agpr_count.value_or(0), arch.addressable_agprs);
    ASSERT_TRUE(filling->descriptor.has_value());
    EXPECT_FALSE(filling->descriptor->wgp_mode());  // else the waves lie on two CUs
    EXPECT_LE(*filling->max_workgroup_size, arch.max_workgroup_size);
    EXPECT_EQ(filling->kernarg_bytes, 8);
    EXPECT_EQ(scratch->kernarg_bytes, 8);
    EXPECT_EQ(*scratch->max_workgroup_size, 256);
    // The runtime looks there (docs/facts/hsa_runtime.md "Variables and symbols").
    const auto elf = code::Elf::read(*bytes, arch.gfx);
    ASSERT_TRUE(elf.has_value());
    EXPECT_TRUE(std::ranges::any_of(elf->sections(),
                                    [](const auto& section) { return section.name == ".symtab"; }));
  }
}

TEST(LeftMemoryTrap, IsBuiltFromItsSource) {
  if (!find_program("clang-19") || !find_program("ld.lld-19") || !find_program("python3"))
    GTEST_SKIP() << "clang-19, ld.lld-19 or python3 is not here";
  const test::TempFolder folder;
  const auto built =
      run_program({(fs::path(PERFLAB_SOURCE_DIR) / "scripts/left-memory-objects").string(),
                   folder.path().string()});
  ASSERT_TRUE(built.has_value() && built->succeeded());
  if (*read_file(folder / "clang_version.txt") != *read_file(trap_folder() / "clang_version.txt"))
    GTEST_SKIP() << "another version of clang-19, which may write other bytes";
  int objects = 0;
  for (const auto& entry : fs::directory_iterator(trap_folder())) {
    if (entry.path().extension() != ".hsaco") continue;
    ++objects;
    EXPECT_EQ(*read_file(folder / entry.path().filename().string()), *read_file(entry.path()))
        << entry.path();
  }
  EXPECT_GE(objects, 14);
}

TEST(LeftMemoryTrap, WordsAreNeverZeroNorThoseOfBefore) {
  std::uint32_t before = 0;
  for (std::uint64_t seed = 0; seed < 100'000; ++seed) {
    const std::uint32_t word = left_memory_pattern(seed);
    const double wide = std::bit_cast<double>(std::uint64_t{word} << 32U | word);
    const float narrow = std::bit_cast<float>(word);
    const float low = std::bit_cast<float>(word << 16U);  // a bfloat16
    ASSERT_NE(word, before);
    ASSERT_EQ(std::isnan(wide), seed % 2 == 0) << seed;
    ASSERT_EQ(std::isnan(narrow), seed % 2 == 0) << seed;
    ASSERT_EQ(std::isnan(low), seed % 2 == 0) << seed;
    ASSERT_EQ((word & 0x7c00U) == 0x7c00U, seed % 2 == 0) << seed;  // of a half
    before = word;
  }
}

}  // namespace
}  // namespace perflab::replay
