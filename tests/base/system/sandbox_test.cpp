// What comes in front of a command line, and what a program behind it can do.
#include "base/system/sandbox.h"
#include "base/system/find_sandbox.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/sandbox_tests.h"
#include "base/shell.h"
#include "base/system/subprocess.h"
#include "base/temp_folder.h"

namespace perflab {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

/// Place of words that follow each other; the size: they do not.
std::ptrdiff_t place_of(const std::vector<std::string>& command,
                        const std::vector<std::string>& words) {
  return std::ranges::search(command, words).begin() - command.begin();
}

std::shared_ptr<Sandbox> some_sandbox() {
  auto sandbox = std::make_shared<Sandbox>();
  sandbox->program = "/usr/bin/bwrap";
  return sandbox;
}

TEST(Sandbox, TheCommandLineHidesThenShowsThenLetsWrite) {
  const test::TempFolder folder;
  fs::create_directories(folder / "project/build");
  const std::string project = folder / "project", build = folder / "project/build";
  const auto sandbox = some_sandbox();
  sandbox->shown = {project, folder / "missing", "/usr/lib", "/tmp"};
  sandbox->devices = {"/dev/kfd"};
  const auto command = sandbox_command({.sandbox = sandbox, .writable = {build}});
  EXPECT_EQ(command.front(), "/usr/bin/bwrap");
  EXPECT_EQ(command.back(), "--");
  for (const char* word : {"--unshare-all", "--die-with-parent"})
    EXPECT_THAT(command, Contains(word));
  // run_program() waits for the processes of its own session.
  for (const char* word : {"--share-net", "--new-session", "/usr/lib"})
    EXPECT_THAT(command, Not(Contains(word)));
  const auto end = static_cast<std::ptrdiff_t>(command.size());
  const std::vector<std::ptrdiff_t> places{
      place_of(command, {"--cap-drop", "ALL"}),
      place_of(command, {"--ro-bind", "/", "/"}),
      place_of(command, {"--dev", "/dev"}),
      place_of(command, {"--dev-bind-try", "/dev/kfd", "/dev/kfd"}),
      place_of(command, {"--proc", "/proc"}),
      place_of(command, {"--tmpfs", "/tmp"}),
      place_of(command, {"--ro-bind", project, project}),
      place_of(command, {"--bind", build, build}),
      end};
  EXPECT_TRUE(std::ranges::is_sorted(places, std::less_equal())) << testing::PrintToString(command);
  EXPECT_LT(places.back() - 1, end);
  // Neither what is not there nor a whole hidden place is shown.
  EXPECT_EQ(std::ranges::count(command, "--ro-bind"), 2);
  sandbox->network = true;
  EXPECT_THAT(sandbox_command({.sandbox = sandbox}), Contains("--share-net"));
}

TEST(Sandbox, ALinkInAHiddenPlaceIsShownWhereItWasNamed) {
  const test::TempFolder folder;
  const std::string there = folder.write("there", ""), link = folder / "link";
  fs::create_symlink(there, link);
  const auto sandbox = some_sandbox();
  sandbox->shown = {link};
  const auto command = sandbox_command({.sandbox = sandbox});
  const auto end = static_cast<std::ptrdiff_t>(command.size());
  EXPECT_LT(place_of(command, {"--ro-bind", there, there}), end);
  EXPECT_LT(place_of(command, {"--ro-bind", there, link}), end);
}

TEST(Sandbox, HomesAndTemporaryFilesAreHidden) {
  EXPECT_TRUE(is_hidden("/tmp"));
  EXPECT_TRUE(is_hidden("/tmp/any/thing"));
  EXPECT_TRUE(is_hidden("/root/.ssh"));
  EXPECT_FALSE(is_hidden("/tmpx"));
  EXPECT_FALSE(is_hidden("/usr/bin"));
  EXPECT_TRUE(holds_hidden("/"));
  EXPECT_TRUE(holds_hidden("/tmp"));
  EXPECT_FALSE(holds_hidden("/tmp/any"));
  EXPECT_FALSE(holds_hidden("/usr"));
  // Homes lie in /home, which is hidden as a whole: none of them is shown for it.
  EXPECT_TRUE(holds_hidden(std::getenv("HOME")));
  EXPECT_TRUE(holds_hidden("/home/anybody"));
  EXPECT_FALSE(holds_hidden("/home/anybody/project"));
}

TEST(Sandbox, VariablesWithSecretsAreKnownByNameOrValue) {
  for (const char* name :
       {"OPENAI_API_KEY", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "PGPASSWORD_X", "db_password",
        "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "GITLAB_PAT"})
    EXPECT_EQ(is_secret_variable(name, "x"), std::string_view(name) != "PGPASSWORD_X") << name;
  for (const char* name : {"PATH", "HOME", "HSA_XNACK", "MONKEY", "KEYBOARD", "PATTERN", "AUTHOR"})
    EXPECT_FALSE(is_secret_variable(name, "/usr/bin:/bin")) << name;
  EXPECT_TRUE(is_secret_variable("DATABASE", "postgres://me:word@host/base"));
  EXPECT_FALSE(is_secret_variable("SITE", "https://host:80/a@b:c"));
  EXPECT_FALSE(is_secret_variable("MAIL", "ssh://git@host/x"));
}

TEST(Sandbox, SaysThatBubblewrapIsMissingOrMayNotWork) {
  const test::TempFolder folder;
  const test::ScopedVariable path("PATH", folder.path().string());
  const auto missing = find_sandbox();
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::missing_tool);
  EXPECT_THAT(missing.error().remedy, HasSubstr("apt install bubblewrap"));
  (void)folder.script("true", "");
  (void)folder.script("bwrap",
                      "[ \"$1\" = --version ] && { echo bubblewrap 9.9; exit; }\n"
                      "echo 'bwrap: No permissions to create new namespace' >&2; exit 1");
  const auto refused = find_sandbox();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::refused);
  EXPECT_THAT(refused.error().message, HasSubstr("No permissions to create new namespace"));
  EXPECT_THAT(refused.error().remedy, HasSubstr("user namespaces"));
}

/// In the sandbox of this machine, with one folder to write to.
class InTheSandbox : public ::testing::Test {
 protected:
  void SetUp() override {
    PERFLAB_NEEDS_A_SANDBOX();
    auto found = find_sandbox();
    found->shown = {folder_.path()};
    sandbox_ = std::make_shared<const Sandbox>(*std::move(found));
    fs::create_directory(folder_ / "own");
  }
  [[nodiscard]] ProcessResult run(const std::string& script, ProcessOptions options = {}) const {
    options.standard_output = options.standard_error = StreamMode::capture;
    options.empty_input = true;
    options.working_directory = folder_.path();
    options.confinement = {.sandbox = sandbox_, .writable = {folder_ / "own"}};
    const auto result = run_program(test::shell(script), options);
    EXPECT_TRUE(result.has_value()) << describe(result.error());
    return result.value_or(ProcessResult{});
  }

  test::TempFolder folder_;
  std::shared_ptr<const Sandbox> sandbox_;
};

TEST_F(InTheSandbox, OnlyItsOwnFolderCanBeWrittenTo) {
  const ProcessResult result =
      run("echo x > own/file && echo own\necho x > beside && echo beside\n"
          "echo x > /etc/rocm-perf-test && echo system\n"
          "echo x > ~/rocm-perf-test && echo home\necho x > /tmp/rocm-perf-test && echo tmp");
  // A home and a /tmp of its own, which are gone with it.
  EXPECT_EQ(result.output.tail, "own\nhome\ntmp\n") << result.error.tail;
  EXPECT_EQ(test::text_of(folder_ / "own/file"), "x\n");
  EXPECT_FALSE(fs::exists(folder_ / "beside"));
  EXPECT_FALSE(fs::exists("/tmp/rocm-perf-test"));
  EXPECT_FALSE(fs::exists(std::string(std::getenv("HOME")) + "/rocm-perf-test"));
}

TEST_F(InTheSandbox, ThereIsNoNetworkAndNoOtherProcess) {
  const test::Listener listener;
  const std::string connect =
      "import socket; socket.create_connection(('127.0.0.1', " + listener.port() + "), 5)";
  EXPECT_NE(run("python3 -c \"" + connect + "\"").exit_code, 0);
  EXPECT_FALSE(listener.was_reached());
  EXPECT_NE(run("kill -0 " + std::to_string(::getpid())).exit_code, 0);
  auto open = std::make_shared<Sandbox>(*sandbox_);
  open->network = true;
  sandbox_ = std::move(open);
  EXPECT_EQ(run("python3 -c \"" + connect + "\"").exit_code, 0);
  EXPECT_TRUE(listener.was_reached());
}

TEST_F(InTheSandbox, WhatItLeavesBehindIsGoneWhenItHasEnded) {
  const std::string mark = folder_.path().string() + "/left-behind";
  const ProcessResult result =
      run("setsid sh -c 'echo up > own/up; while :; do sleep 0.01; done' " + mark +
          " </dev/null >/dev/null 2>&1 &\nwhile ! [ -s own/up ]; do :; done; echo started");
  EXPECT_EQ(result.output.tail, "started\n");
  EXPECT_TRUE(result.succeeded());
  EXPECT_THAT(test::processes_with(mark), testing::IsEmpty());
}

TEST_F(InTheSandbox, TheEnvironmentComesWithoutSecrets) {
  const test::ScopedVariable token("SOME_TOKEN", "secret"), plain("SOME_OTHER", "plain");
  ProcessOptions options;
  options.set_environment = {{"GIVEN_KEY", "given"}};
  EXPECT_EQ(run("echo $SOME_TOKEN,$SOME_OTHER,$GIVEN_KEY,$TMPDIR", options).output.tail,
            ",plain,given,/tmp\n");
}

TEST_F(InTheSandbox, EndsAndLimitsAreThoseOfTheProgram) {
  EXPECT_EQ(run("exit 3").exit_code, 3);
  EXPECT_EQ(run("kill -SEGV $$").exit_code, 128 + SIGSEGV);
  ProcessOptions options;
  options.timeout = std::chrono::milliseconds(200);
  const ProcessResult slow = run("trap '' TERM; while :; do sleep 1; done", options);
  EXPECT_TRUE(slow.timed_out);
  EXPECT_FALSE(slow.stuck);
}

}  // namespace
}  // namespace perflab
