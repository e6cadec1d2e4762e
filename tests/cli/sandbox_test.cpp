// Proposers, builds, runs and checks that misbehave, through the real program: what they try is
// stopped or harmless in the sandbox, and is not with --no-sandbox.
#include <gmock/gmock.h>

#include <csignal>
#include <map>
#include <sstream>

#include "base/sandbox_tests.h"
#include "base/system/files.h"
#include "cli/program.h"
#include "cli/told_time.h"

namespace perflab::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// What each of them tries, a line for each: "home: done". The daemon has a session of its own.
constexpr const char* kMisbehave = R"sh(
try() {
  name=$1; shift
  if "$@" 2>/dev/null; then echo "$name: done"; else echo "$name: refused"; fi
}
append() { echo x >>"$1"; }
misbehave() {
  try home append "$HOME/written"
  try source append k.cpp
  try candidate append out/candidates/001.cpp
  try original append out/builds/000/k
  try ledger append out/ledger.jsonl
  try socket python3 -c "import socket; socket.create_connection(('127.0.0.1', $PORT), 5)"
  try ssh_key test -r "$HOME/.ssh/id_rsa"
  try tools test -r "$HOME/tools/list"
  try held_key test -n "$OPENAI_API_KEY"
  try other_key test -n "$SOME_API_KEY"
  setsid sh -c 'while :; do sleep 0.05; done' "$HOME/daemon" </dev/null >/dev/null 2>&1 &
}
)sh";

using Attempts = std::map<std::string, std::string>;

/// Attempts by name, as last tried.
Attempts attempts_in(const std::string& text) {
  Attempts attempts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (const std::size_t colon = line.find(": "); colon != std::string::npos)
      attempts[line.substr(0, colon)] = line.substr(colon + 2);
  return attempts;
}

/// The home that is written to is its own.
const Attempts kStopped{{"home", "done"},        {"source", "refused"}, {"candidate", "refused"},
                        {"original", "refused"}, {"ledger", "refused"}, {"socket", "refused"},
                        {"ssh_key", "refused"},  {"tools", "refused"},  {"held_key", "refused"},
                        {"other_key", "refused"}};

Attempts with(Attempts attempts, std::initializer_list<const char*> done) {
  for (const char* const name : done) attempts[name] = "done";
  return attempts;
}

/// A project in a home folder, and one proposal that is no worse and no better.
class SandboxRun : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(home_ / ".ssh");
    std::filesystem::create_directories(home_ / "tools");
    write(home_ / ".ssh/id_rsa", "the private key");
    write(home_ / "tools/list", "hammer");
    write(project_ / "k.cpp", test::kToldTimeSource);
    script("misbehave", kMisbehave);
    script("agent", R"(. ./misbehave
own=$ROCM_PERF_PROPOSER_DIR
[ -e $own/asked ] || sed 's/i \* 3/3 * i/' k.cpp
touch $own/asked
misbehave >>$own/attempts
)");
    // as WHAT FOLDER COMMAND...: of the first candidate. A build says it on stderr.
    script("as", R"(. ./misbehave
what=$1; own=$2; shift 2
case $what,$own in
  build,*/001*) misbehave >&2 ;;
  *,*/001*) misbehave >>$own/$what.attempts ;;
esac
exec "$@"
)");
  }
  void TearDown() override {
    for (const pid_t process : daemons()) ::kill(process, SIGKILL);
  }

  static void write(const std::filesystem::path& path, const std::string& text) {
    std::filesystem::create_directories(path.parent_path());
    ASSERT_TRUE(write_file_atomically(path, text));
  }
  void script(const std::string& name, const std::string& body) const {
    (void)folder_.script("home/project/" + name, body);
  }
  [[nodiscard]] std::vector<pid_t> daemons() const {
    return test::processes_with((home_ / "daemon").string());
  }

  [[nodiscard]] Outcome optimize(std::vector<std::string> more,
                                 const std::string& path_before = {}) const {
    std::vector<std::string> words{"optimize",
                                   "k.cpp",
                                   "--host",
                                   "--kernel",
                                   "k",
                                   "--build",
                                   "./as build {build_dir} g++ -O0 {source} -o {build_dir}/k",
                                   "--run",
                                   "./as run {build_dir} {build_dir}/k",
                                   "--check",
                                   "./as check {build_dir} true",
                                   "--metric-regex",
                                   "time: ([0-9.]+)",
                                   "--out",
                                   "out",
                                   "--json"};
    if (std::ranges::find(more, "--proposer") == more.end())
      more.insert(more.end(), {"--proposer", "exec:./agent"});
    words.insert(words.end(), more.begin(), more.end());
    ProcessOptions options;
    options.set_environment = {{"HOME", home_.string()},
                               {"PORT", listener_.port()},
                               {"OPENAI_API_KEY", "sk-0123456789"},
                               {"SOME_API_KEY", "0123456789"}};
    if (!path_before.empty())
      options.set_environment.emplace_back("PATH", path_before + ":" + std::getenv("PATH"));
    return rocm_perf(project_, words, options);
  }
  [[nodiscard]] Attempts of_agent() const {
    return attempts_in(test::text_of(project_ / "out/proposer/attempts"));
  }
  [[nodiscard]] Attempts of_candidate(const std::string& what) const {
    return attempts_in(test::text_of(project_ / "out/builds/001" / (what + ".attempts")));
  }
  [[nodiscard]] Outcome recheck(const std::string& name) const {
    return rocm_perf(project_, {"optimize", "--recheck", "out/" + name});
  }

  test::TempFolder folder_;
  std::filesystem::path home_ = folder_ / "home", project_ = home_ / "project";
  test::Listener listener_;
};

TEST_F(SandboxRun, WhatOthersWroteIsStopped) {
  PERFLAB_NEEDS_A_SANDBOX();
  const Outcome outcome = optimize({});
  ASSERT_EQ(outcome.exit_code, 1) << outcome.err;
  const Json result = document("optimization", outcome.out);
  EXPECT_EQ(of_agent(), kStopped);
  EXPECT_EQ(attempts_in(result["candidates"][0]["build"]["compiler_text"]), kStopped);
  EXPECT_EQ(of_candidate("run"), kStopped);
  EXPECT_EQ(of_candidate("check"), kStopped);
  EXPECT_FALSE(std::filesystem::exists(home_ / "written"));
  EXPECT_FALSE(listener_.was_reached());
  EXPECT_THAT(daemons(), ::testing::IsEmpty());
  EXPECT_EQ(test::text_of(project_ / "k.cpp"), test::kToldTimeSource);
  // Nothing came of it: the candidate is judged as any other.
  EXPECT_EQ(result["candidates"][0]["decision"]["reason"], "no_gain");
  EXPECT_EQ(result["sandbox"]["used"], true);
  EXPECT_EQ(result["sandbox"]["tool"], "bubblewrap");
  EXPECT_EQ(result["sandbox"]["reason"], nullptr);
  EXPECT_EQ(result["sandbox"]["proposer_network"], false);

  const Outcome again = recheck("optimization.json");
  EXPECT_EQ(again.exit_code, 0) << again.out << again.err;
  EXPECT_THAT(again.out, HasSubstr("run in a sandbox (bubblewrap"));
  Json altered = result;
  altered["sandbox"]["tool"] = nullptr;
  write(project_ / "out/altered.json", to_canonical_text(altered));
  const Outcome refused = recheck("altered.json");
  EXPECT_EQ(refused.exit_code, 1) << refused.out;
  EXPECT_THAT(refused.out, HasSubstr("the sandbox, by the ledger"));
}

TEST_F(SandboxRun, WithoutItAllOfThatHappensAndTheDocumentSaysSo) {
  const Outcome outcome = optimize({"--no-sandbox"});
  ASSERT_EQ(outcome.exit_code, 1) << outcome.err;
  const Json result = document("optimization", outcome.out);
  // The key of a language model is kept from builds and runs in any case.
  const Json& build = result["candidates"][0]["build"];
  for (auto [who, found] :
       {std::pair{"agent", of_agent()}, std::pair{"build", attempts_in(build["compiler_text"])}})
    for (const auto& [name, end] : kStopped)
      EXPECT_EQ(found[name], who == std::string("build") && name == "held_key" ? "refused" : "done")
          << who << ": " << name;
  EXPECT_TRUE(std::filesystem::exists(home_ / "written"));
  EXPECT_TRUE(listener_.was_reached());
  EXPECT_FALSE(daemons().empty());
  EXPECT_NE(test::text_of(project_ / "k.cpp"), test::kToldTimeSource);
  EXPECT_EQ(result["sandbox"]["used"], false);
  EXPECT_EQ(result["sandbox"]["reason"], "turned_off");
  EXPECT_THAT(result["sandbox"]["sentence"].get<std::string>(), HasSubstr("--no-sandbox"));
  EXPECT_THAT(result["warnings"].dump(), Not(HasSubstr("sandbox")));
}

TEST_F(SandboxRun, WhatAProposerNeedsHasToBeAskedFor) {
  PERFLAB_NEEDS_A_SANDBOX();
  const Outcome outcome =
      optimize({"--proposer-network", "--sandbox-show", (home_ / "tools").string()});
  ASSERT_EQ(outcome.exit_code, 1) << outcome.err;
  const Json result = document("optimization", outcome.out);
  EXPECT_EQ(of_agent(), with(kStopped, {"socket", "held_key", "other_key", "tools"}));
  EXPECT_EQ(of_candidate("run"), with(kStopped, {"tools"}));
  EXPECT_EQ(result["sandbox"]["used"], true);
  EXPECT_EQ(result["sandbox"]["proposer_network"], true);
}

TEST_F(SandboxRun, WithoutBubblewrapThereIsOneWarning) {
  (void)folder_.script("bwrap", "echo 'bwrap: No permissions to create new namespace' >&2; exit 1");
  const Outcome outcome = optimize({}, folder_.path().string());
  ASSERT_EQ(outcome.exit_code, 1) << outcome.err;
  const std::string warning = "there is no sandbox";
  const std::size_t first = outcome.err.find(warning);
  ASSERT_NE(first, std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find(warning, first + 1), std::string::npos) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("No permissions to create new namespace"));
  const Json result = document("optimization", outcome.out);
  EXPECT_EQ(result["sandbox"]["reason"], "does_not_work");
  const auto about_it = [&](const Json& one) { return one.get<std::string>().contains(warning); };
  EXPECT_EQ(std::ranges::count_if(result["warnings"], about_it), 1) << result["warnings"];
}

TEST_F(SandboxRun, WhatCannotWorkInItIsSaidFirst) {
  PERFLAB_NEEDS_A_SANDBOX();
  const std::vector<std::pair<std::vector<std::string>, const char*>> wrong{
      {{"--output", "out.bin"}, "below {build_dir} only"},
      {{"--sandbox-show", "/"}, "a whole folder of homes"},
      {{"--sandbox-show", "/nowhere"}, "it is not there"},
      {{"--proposer", "rules", "--proposer-network"}, "for programs that propose"},
      {{"--no-sandbox", "--proposer-network"}, "--no-sandbox"}};
  for (const auto& [more, part] : wrong) {
    const Outcome outcome = optimize(more);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(part));
  }
}

TEST_F(SandboxRun, ItIsNotResumedWithoutTheSandboxItWasBegunIn) {
  PERFLAB_NEEDS_A_SANDBOX();
  ASSERT_EQ(optimize({}).exit_code, 1);
  const Outcome outcome = optimize({"--resume", "--no-sandbox"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("sandbox"), HasSubstr("bubblewrap")));
}

}  // namespace
}  // namespace perflab::cli
