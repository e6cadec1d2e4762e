// Target ids in every spelling, and the table of machine numbers against LLVM's own reader.
#include "code/elf/target_id.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "base/system/subprocess.h"
#include "base/temp_folder.h"
#include "code/elf/elf_flags.h"
#include "support/code_writer.h"

namespace perflab::code {
namespace {

struct Spelling {
  std::string_view text;
  std::string_view canonical;  ///< empty: no target
};

class Spellings : public testing::TestWithParam<Spelling> {};

TEST_P(Spellings, AreRead) {
  const auto target = parse_target_id(GetParam().text);
  EXPECT_EQ(target ? to_string(*target) : "", GetParam().canonical);
}

INSTANTIATE_TEST_SUITE_P(
    All, Spellings,
    testing::Values(
        Spelling{"gfx1030", "gfx1030"}, Spelling{"gfx90a:xnack+", "gfx90a:xnack+"},
        Spelling{"gfx90a:xnack+:sramecc-", "gfx90a:sramecc-:xnack+"},
        Spelling{"gfx906:sram-ecc+:xnack-", "gfx906:sramecc+:xnack-"},
        Spelling{"hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-", "gfx942:sramecc+:xnack-"},
        Spelling{"hip-amdgcn-amd-amdhsa-unknown-gfx90a", "gfx90a"},
        Spelling{"openmp-amdgcn-amd-amdhsa--gfx908", "gfx908"},
        Spelling{"hipv4-amdgcn-amd-amdhsa--gfx950-", "gfx950"},
        Spelling{"hipv4-amdgcn-amd-amdhsa--gfx90a:xnack--", "gfx90a:xnack-"},
        Spelling{"hipv4-amdgcn-amd-amdhsa--gfx9-4-generic", "gfx9-4-generic"},
        Spelling{"hipv4-amdgcn-amd-amdhsa--gfx9-4-generic:xnack+-", "gfx9-4-generic:xnack+"},
        Spelling{"amdgcn-amd-amdhsa--gfx11-generic", "gfx11-generic"},
        Spelling{"amdgcn-amd-amdhsa--gfx942:tgsplit+:xnack+", "gfx942:xnack+"},
        Spelling{"host-x86_64-unknown-linux-gnu-", ""}, Spelling{"host-x86_64-unknown-linux--", ""},
        Spelling{"hip-spirv64-amd-amdhsa--amdgcnspirv", ""}, Spelling{"", ""}, Spelling{"gfx", ""},
        Spelling{"gfx--", ""}, Spelling{"gfx9_0", ""}, Spelling{"notgfx900", ""},
        Spelling{"gfx900::", "gfx900"}, Spelling{"gfx900:xnack", "gfx900"}));

TEST(TargetId, IsReadBackAsItIsSpelled) {
  for (const Processor& machine : machines())
    for (const Feature sramecc : {Feature::any, Feature::off, Feature::on})
      for (const Feature xnack : {Feature::any, Feature::off, Feature::on}) {
        const TargetId target{std::string(machine.processor), sramecc, xnack};
        for (const char* before : {"", "hipv4-amdgcn-amd-amdhsa--", "amdgcn-amd-amdhsa-unknown-"})
          for (const char* behind : {"", "-"})
            EXPECT_EQ(parse_target_id(before + to_string(target) + behind), target);
      }
}

TEST(TargetId, RunsWhereFeaturesAgreeOrDoNotMatter) {
  const TargetId device{"gfx90a", Feature::on, Feature::off};
  EXPECT_TRUE(runs_on({"gfx90a"}, device));
  EXPECT_TRUE(runs_on({"gfx90a", Feature::on, Feature::off}, device));
  EXPECT_TRUE(runs_on({"gfx90a", Feature::unsupported, Feature::unsupported}, device));
  EXPECT_FALSE(runs_on({"gfx90a", Feature::off, Feature::any}, device));
  EXPECT_FALSE(runs_on({"gfx90a", Feature::any, Feature::on}, device));
  EXPECT_FALSE(runs_on({"gfx942"}, device));
  EXPECT_FALSE(runs_on({"gfx90a", Feature::any, Feature::on}, {"gfx90a"}));
}

TEST(ElfFlags, FeaturesOfEveryVersion) {
  // Seen in recorded files (docs/facts/code_object.md "ELF header").
  EXPECT_EQ(to_string(target_of_flags(0x54c, 6)), "gfx942");
  EXPECT_EQ(to_string(target_of_flags(0xe4c, 5)), "gfx942:sramecc+:xnack-");
  EXPECT_EQ(target_of_flags(0x36, 5),
            (TargetId{"gfx1030", Feature::unsupported, Feature::unsupported}));
  EXPECT_EQ(target_of_flags(0x54c, 4), (TargetId{"gfx942", Feature::any, Feature::any}));
  EXPECT_EQ(to_string(target_of_flags(0xb3f, 4)), "gfx90a:sramecc-:xnack+");
  // Version 3 has a bit each; a clear one means off only where the processor has the feature.
  EXPECT_EQ(target_of_flags(0x12f, 3), (TargetId{"gfx906", Feature::off, Feature::on}));
  EXPECT_EQ(target_of_flags(0x22f, 3), (TargetId{"gfx906", Feature::on, Feature::off}));
  EXPECT_EQ(target_of_flags(0x2c, 3), (TargetId{"gfx900", Feature::unsupported, Feature::off}));
  EXPECT_EQ(target_of_flags(0x36, 3),
            (TargetId{"gfx1030", Feature::unsupported, Feature::unsupported}));
  EXPECT_EQ(target_of_flags(0xff, 6).processor, "mach 0xff");
  EXPECT_EQ(target_of_flags(0x00, 3).processor, "mach 0x0");
}

TEST(ElfFlags, GenericVersionAndAbi) {
  EXPECT_EQ(generic_version_of_flags(0x01000054, 6), 1);
  EXPECT_EQ(generic_version_of_flags(0x01000054, 5), 0);
  EXPECT_EQ(version_of_abi(0), 2);
  EXPECT_EQ(version_of_abi(4), 6);
  EXPECT_EQ(version_of_abi(5), std::nullopt);
}

TEST(ElfFlags, NumbersAndNamesAreThereOnce) {
  std::set<std::string_view> names;
  for (const Processor& machine : machines()) {
    EXPECT_TRUE(names.insert(machine.processor).second) << machine.processor;
    EXPECT_EQ(target_of_flags(machine.number, 6).processor, machine.processor);
  }
}

TEST(ElfFlags, NamesAreThoseOfLlvm) {
  const auto readelf = find_program("llvm-readelf-19");
  if (!readelf) GTEST_SKIP() << "skipped: no llvm-readelf-19";
  const test::TempFolder folder;
  std::vector<std::string> command{readelf->string(), "-h"};
  for (const Processor& machine : machines())
    command.push_back(
        folder.write(fmt::format("{:02x}", machine.number),
                     test::write_code_object({.abi_version = 2, .flags = machine.number})));
  ProcessOptions captured;
  captured.standard_output = StreamMode::capture;
  captured.capture_limit = std::size_t{1} << 20U;
  const auto result = run_program(command, captured);
  ASSERT_TRUE(result.has_value() && result->succeeded());
  // "Flags: 0x4C, gfx942": one line per file. LLVM 19 has no name for what is younger.
  std::size_t named = 0;
  std::string_view rest = result->output.tail;
  for (const Processor& machine : machines()) {
    const std::size_t at = rest.find("Flags:");
    ASSERT_NE(at, std::string_view::npos) << machine.processor;
    rest.remove_prefix(at);
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size());
    if (line.find(',') == std::string_view::npos) continue;
    EXPECT_TRUE(line.ends_with(fmt::format(", {}", machine.processor))) << line;
    ++named;
  }
  EXPECT_GE(named, 45U);
}

}  // namespace
}  // namespace perflab::code
