// Which platform a program is recorded on: by the machine's drivers, by what its file needs.
#include "collect/platform.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temp_folder.h"
#include "support/code_writer.h"

namespace perflab::collect {
namespace {

using test::TempFolder;
using testing::HasSubstr;
using trace::Platform;

ChosenPlatform chosen(const MachineDrivers& drivers, TargetNeeds needs,
                      std::optional<Platform> forced = std::nullopt) {
  return choose_platform(drivers, [&] { return needs; }, forced);
}

TEST(Platform, OfOneDriverIsThatDrivers) {
  const auto never = [] {
    ADD_FAILURE() << "the program's file decides nothing here";
    return TargetNeeds::unknown;
  };
  EXPECT_EQ(choose_platform({.amd = true}, never, {}).platform, Platform::amd);
  EXPECT_EQ(choose_platform({.nvidia = true}, never, {}).platform, Platform::cuda);
  EXPECT_THAT(choose_platform({.nvidia = true}, never, {}).why, HasSubstr("NVIDIA"));
  EXPECT_EQ(choose_platform({}, never, {}).platform, Platform::amd);
  EXPECT_EQ(choose_platform({.amd = true}, never, Platform::cuda).platform, Platform::cuda);
  EXPECT_THAT(choose_platform({.amd = true}, never, Platform::cuda).why, HasSubstr("--platform"));
}

TEST(Platform, OfTwoDriversIsWhatTheProgramNeeds) {
  const MachineDrivers both{.amd = true, .nvidia = true};
  EXPECT_EQ(chosen(both, TargetNeeds::amd).platform, Platform::amd);
  EXPECT_EQ(chosen(both, TargetNeeds::cuda).platform, Platform::cuda);
  for (const TargetNeeds open : {TargetNeeds::script, TargetNeeds::unknown}) {
    EXPECT_EQ(chosen(both, open).platform, Platform::amd);
    EXPECT_THAT(chosen(both, open).why, HasSubstr("--platform cuda"));
  }
}

/// A host program that needs these libraries and has these sections.
std::string program(const std::vector<std::string>& libraries,
                    const std::vector<std::string>& sections) {
  constexpr std::uint32_t kStrings = 3, kDynamic = 6;  // SHT_STRTAB, SHT_DYNAMIC
  std::string strings(1, '\0'), dynamic;
  const auto put = [&](std::uint64_t value) {
    dynamic.append(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  for (const std::string& library : libraries) {
    put(1);  // DT_NEEDED
    put(strings.size());
    strings += library + '\0';
  }
  put(0);
  put(0);
  test::ElfSpec spec;
  spec.parts.push_back({.name = ".dynstr", .type = kStrings, .bytes = strings});
  spec.parts.push_back({.name = ".dynamic", .type = kDynamic, .bytes = dynamic, .link = 1});
  for (const std::string& section : sections)
    spec.parts.push_back({.name = section, .bytes = "device code"});
  return test::write_elf(spec);
}

TEST(Platform, ProgramsSayWhatTheyNeed) {
  const TempFolder folder;
  const auto needs = [&](const std::string& bytes) {
    const auto file = folder.write("app", bytes);
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return needs_of(file.string());
  };
  EXPECT_EQ(needs(program({"libc.so.6", "libamdhip64.so.6"}, {})), TargetNeeds::amd);
  EXPECT_EQ(needs(program({"libcudart.so.13"}, {})), TargetNeeds::cuda);
  EXPECT_EQ(needs(program({"libc.so.6"}, {".nv_fatbin"})), TargetNeeds::cuda);
  EXPECT_EQ(needs(program({"libc.so.6"}, {".text"})), TargetNeeds::unknown);
  EXPECT_EQ(needs(program({"libamdhip64.so.6", "libcuda.so.1"}, {})), TargetNeeds::unknown);
  EXPECT_EQ(needs("#!/bin/sh\n"), TargetNeeds::script);
  EXPECT_EQ(needs(program({"libcudart.so.13"}, {}).substr(0, 80)), TargetNeeds::unknown);
  EXPECT_EQ(needs_of("/no/such/program"), TargetNeeds::unknown);
}

}  // namespace
}  // namespace perflab::collect
