// Finding rocprofv3, its command line, and its refusals in the words of each generation.
#include "collect/rocprofv3.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temp_folder.h"

namespace perflab::collect {
namespace {

namespace fs = std::filesystem;
using test::ScopedVariable;
using test::TempFolder;
using testing::ElementsAre;
using testing::HasSubstr;

const fs::path kFake = fs::path(PERFLAB_SOURCE_DIR) / "tests/collect/fake_rocprofv3";

TEST(FindRocprofv3, TakesTheNamedOneAndAsksItsVersion) {
  const ScopedVariable named("ROCPROFV3", kFake.string());
  const ScopedVariable version("FAKE_ROCPROFV3_VERSION", "1.3.0");
  const auto tool = find_rocprofv3();
  ASSERT_TRUE(tool.has_value()) << describe(tool.error());
  EXPECT_EQ(tool->path, kFake);
  EXPECT_EQ(tool->version, "1.3.0");
  EXPECT_EQ(tool->rocm_version, "7.1.1");
}

TEST(FindRocprofv3, LooksOnPathAndInRocmPath) {
  const TempFolder folder;
  fs::create_directories(folder / "rocm" / "bin");
  fs::create_symlink(kFake, folder / "rocm" / "bin" / "rocprofv3");
  const ScopedVariable named("ROCPROFV3", std::nullopt);
  const ScopedVariable rocm("ROCM_PATH", (folder / "rocm").string());
  {
    const auto tool = find_rocprofv3();
    ASSERT_TRUE(tool.has_value());
    EXPECT_EQ(tool->path, folder / "rocm" / "bin" / "rocprofv3");
  }
  fs::create_symlink(kFake, folder / "rocprofv3");
  const ScopedVariable path("PATH", folder.path().string() + ":/usr/bin:/bin");
  EXPECT_EQ(find_rocprofv3()->path, folder / "rocprofv3");
}

TEST(FindRocprofv3, ToleratesOneThatDoesNotSayItsVersion) {
  const TempFolder folder;
  for (const char* body : {"exit 2", "kill -9 $$", "echo nonsense", "cat"}) {
    const ScopedVariable named("ROCPROFV3", folder.script("rocprofv3", body).string());
    const auto tool = find_rocprofv3();
    ASSERT_TRUE(tool.has_value()) << body;
    EXPECT_EQ(tool->version, "");
  }
}

TEST(FindRocprofv3, SaysHowToGetOne) {
  const TempFolder folder;
  const ScopedVariable named("ROCPROFV3", (folder / "missing").string());
  const auto missing = find_rocprofv3();
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::missing_tool);
  EXPECT_THAT(missing.error().remedy, HasSubstr("rocprofiler-sdk"));
  EXPECT_THAT(missing.error().remedy, HasSubstr("--no-rocprof"));
  if (fs::exists("/opt/rocm/bin/rocprofv3")) GTEST_SKIP() << "skipped: this machine has ROCm";
  const ScopedVariable none("ROCPROFV3", std::nullopt);
  const ScopedVariable rocm("ROCM_PATH", std::nullopt);
  const ScopedVariable path("PATH", folder.path().string());
  const auto nowhere = find_rocprofv3();
  ASSERT_FALSE(nowhere.has_value());
  EXPECT_EQ(nowhere.error().code, ErrorCode::missing_tool);
  EXPECT_THAT(nowhere.error().message, HasSubstr("rocprofv3 is not on PATH"));
}

TEST(FindRocprofv3, SaysWhenItsInterpreterIsMissing) {
  const TempFolder folder;
  const fs::path script = folder.write("rocprofv3", "#!/usr/bin/env no-such-python\n");
  fs::permissions(script, fs::perms::owner_all);
  const ScopedVariable named("ROCPROFV3", script.string());
  const auto tool = find_rocprofv3();
  ASSERT_FALSE(tool.has_value());
  EXPECT_EQ(tool.error().code, ErrorCode::missing_tool);
  EXPECT_THAT(tool.error().message, HasSubstr("no-such-python"));
  EXPECT_THAT(tool.error().remedy, HasSubstr("python3"));
}

TEST(Rocprofv3Command, KeepsWordsApart) {
  Rocprofv3 tool;
  tool.path = "/opt/rocm/bin/rocprofv3";
  EXPECT_THAT(rocprofv3_command(tool, "/w/a b/run_1", {"--kernel-trace", "--hip-trace"},
                                {"app", "-f", "--"}),
              ElementsAre("/opt/rocm/bin/rocprofv3", "--kernel-trace", "--hip-trace", "-f", "rocpd",
                          "-d", "/w/a b/run_1", "--", "app", "-f", "--"));
}

TEST(CheckExtraOptions, RefusesOurs) {
  for (const char* option :
       {"-d", "-dout", "--output-directory", "--output-directory=x", "-o", "--output-file", "-f",
        "--output-format=csv", "-i", "--input", "-p", "--pid", "--"}) {
    const auto refused = check_extra_options({"--marker-trace", option});
    ASSERT_FALSE(refused.has_value()) << option;
    EXPECT_EQ(refused.error().code, ErrorCode::usage);
  }
  EXPECT_TRUE(check_extra_options({"--memory-copy-trace", "-P", "0:1:1", "--kernel-include-regex",
                                   "gemm", "--output-config", "--pmc", "SQ_WAVES"})
                  .has_value());
}

TEST(CheckOutputFolder, RefusesWhatRocprofv3WouldReplace) {
  for (const char* folder : {"/w/%pid%/x", "/w/{tag}", "/w/$ENV{HOME}"})
    EXPECT_FALSE(check_output_folder(folder).has_value()) << folder;
  EXPECT_TRUE(check_output_folder("/w/a b/#1").has_value());
}

TEST(RefusedOption, KnowsEveryGenerationAndNoTargetsComplaint) {
  EXPECT_EQ(refused_option("usage: rocprofv3 [options]\nrocprofv3: error: argument "
                           "-f/--output-format: invalid choice: 'rocpd' (choose from csv, json)\n"),
            "rocprofv3: error: argument -f/--output-format: invalid choice: 'rocpd' (choose from "
            "csv, json)");
  EXPECT_TRUE(refused_option("rocprofv3: error: unrecognized arguments: -f rocpd"));
  EXPECT_TRUE(refused_option("Wrong option \"-f\", Please use the following options:\n\nusage"));
  EXPECT_FALSE(refused_option("app: error: unrecognized arguments: --size"));
  EXPECT_FALSE(refused_option("usage: app\nerror: invalid choice: 'x'"));
  EXPECT_FALSE(refused_option(""));
}

}  // namespace
}  // namespace perflab::collect
