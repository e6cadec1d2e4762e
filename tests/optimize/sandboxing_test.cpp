// What of a home the sandbox shows, and what is said where there is none.
#include "optimize/sandboxing.h"

#include <gmock/gmock.h>

#include "base/temp_folder.h"

namespace perflab::optimize {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

/// Files below a folder of /tmp, which is as hidden as a home.
class Sandboxing : public ::testing::Test {
 protected:
  fs::path make(const std::string& name, bool runs = false) const {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    return runs ? folder_.script(name, "") : folder_.write(name, "");
  }
  [[nodiscard]] std::vector<std::string> shown(SandboxRequest request) const {
    if (request.source.empty()) request.source = "/usr/kernel.hip";
    if (request.folder.empty()) request.folder = "/usr/out";
    std::vector<std::string> names;
    for (const fs::path& path : shown_paths(request))
      if (path.native().starts_with(folder_.path().native()))
        names.push_back(path.lexically_relative(folder_.path()).string());
    return names;
  }

  test::TempFolder folder_;
};

TEST_F(Sandboxing, SourceWorkAndCaptureAreShown) {
  const auto names = shown({.source = make("project/src/kernel.hip"),
                            .folder = folder_ / "project/out",  // not there yet
                            .capture = make("captures/one/capture.json").parent_path()});
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("project/src", "project/out", "captures/one"));
}

TEST_F(Sandboxing, ASourceBesideAHomeIsShownAlone) {
  // Not TMPDIR, which may be a folder of /tmp: no home lies beside what is in that one.
  const fs::path file = "/tmp/perflab-test-kernel.hip";  // it need not be there
  const std::vector<fs::path> paths = shown_paths({.source = file, .folder = "/usr/out"});
  EXPECT_THAT(paths, Contains(file));
  EXPECT_THAT(paths, Not(Contains(file.parent_path())));
}

TEST_F(Sandboxing, WhatCommandsNameIsShown) {
  const std::string compiler = make("rocm/bin/hipcc", true), include = folder_ / "include";
  make("include/a.h");
  const std::string data = make("data/list");
  EXPECT_THAT(shown({.commands = {compiler + " -I" + include + " --data=" + data +
                                  " {source} -o {build_dir}/app"}}),
              ::testing::UnorderedElementsAre("rocm", "include", "data"));
  EXPECT_THAT(shown({.arguments = {"-I" + include, "-O2", "-I/nowhere"}}),
              ::testing::ElementsAre("include"));
}

TEST_F(Sandboxing, FoldersUnderANameWithADotAreNotShownForAFileInThem) {
  const std::string key = make(".ssh/key"), agent = make(".local/bin/agent", true);
  EXPECT_THAT(shown({.commands = {agent + " --identity=" + key}}),
              ::testing::UnorderedElementsAre(".local/bin/agent", ".ssh/key"));
}

TEST_F(Sandboxing, WhatTheToolChainNamesIsShown) {
  make("tools/lib/x");
  make(".local/bin/y");
  const test::ScopedVariable rocm("ROCM_PATH", (folder_ / "rocm").string());
  const test::ScopedVariable path(
      "PATH", (folder_ / "tools/bin").string() + "::" + (folder_ / ".local/bin").string());
  EXPECT_THAT(shown({}), ::testing::UnorderedElementsAre("rocm", "tools", ".local/bin"));
}

TEST_F(Sandboxing, AManagerOfVersionsIsShownWithTheVersions) {
  make(".pyenv/shims/python3", true);
  const test::ScopedVariable path("PATH", (folder_ / ".pyenv/shims").string());
  EXPECT_THAT(shown({.commands = {"python3 agent.py"}}), ::testing::ElementsAre(".pyenv"));
}

TEST_F(Sandboxing, NoneIsNeededForRules) {
  const auto choice = choose_sandbox({.needed = false});
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->candidates, nullptr);
  EXPECT_EQ(choice->warning, "");
  EXPECT_EQ(to_json(choice->record)["reason"], "not_needed");
  EXPECT_EQ(sandbox_kind(choice->record), nullptr);
}

TEST_F(Sandboxing, WithoutBubblewrapThereIsAWarningUnlessItWasTurnedOff) {
  const test::ScopedVariable path("PATH", folder_.path().string());
  const auto missing = choose_sandbox({.needed = true, .source = "k", .folder = "out"});
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->candidates, nullptr);
  EXPECT_EQ(missing->proposer, nullptr);
  EXPECT_EQ(to_json(missing->record)["reason"], "not_installed");
  EXPECT_THAT(missing->warning, HasSubstr("apt install bubblewrap"));
  const auto off = choose_sandbox({.needed = true, .turned_off = true});
  ASSERT_TRUE(off);
  EXPECT_EQ(to_json(off->record)["reason"], "turned_off");
  EXPECT_EQ(off->warning, "");
}

}  // namespace
}  // namespace perflab::optimize
