// Programs that end well, badly, never, or leave something behind.
#include "base/system/subprocess.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <thread>

#include "base/shell.h"
#include "base/system/interrupt.h"
#include "base/temp_folder.h"

namespace perflab {
namespace {

using std::chrono::milliseconds;
using test::ScopedVariable;
using test::shell;
using test::TempFolder;
using test::text_of;

constexpr std::int64_t kSecond = 1'000'000'000;

ProcessOptions capturing() {
  ProcessOptions options;
  options.standard_output = StreamMode::capture;
  options.standard_error = StreamMode::capture;
  return options;
}

ProcessResult run(const std::vector<std::string>& argv, const ProcessOptions& options) {
  Result<ProcessResult> result = run_program(argv, options);
  EXPECT_TRUE(result.has_value()) << describe(result.error());
  return result.value_or(ProcessResult{});
}

/// How long something that happens at once may take on a busy machine.
constexpr int kPatience = 6000;  // x 20 ms

/// Whether a process lives (is not a zombie), waiting for its end.
bool lives(pid_t pid) {
  for (int i = 0; i < kPatience; ++i) {
    const std::string stat = text_of("/proc/" + std::to_string(pid) + "/stat");
    const std::size_t name_end = stat.rfind(')');
    if (name_end == std::string::npos || stat.at(name_end + 2) == 'Z') return false;
    std::this_thread::sleep_for(milliseconds(20));
  }
  return true;
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// A program that says when it is ready, and is stopped then: no time decides what it got to.
class StoppedWhenReady {
 public:
  /// `$READY` stands in the script for the file that says so.
  explicit StoppedWhenReady(const std::string& script) : script_(script) {
    options.set_environment = {{"READY", ready_.string()}};
    options.tick = milliseconds(5);
    options.give_up = [this] { return is_ready(); };
  }

  [[nodiscard]] bool is_ready() const { return std::filesystem::exists(ready_); }
  [[nodiscard]] ProcessResult run_it() const { return run(shell(script_), options); }

  ProcessOptions options = capturing();

 private:
  TempFolder folder_;
  std::filesystem::path ready_ = folder_ / "ready";
  std::string script_;
};

TEST(Subprocess, ReportsTheExitCodeAndBothStreams) {
  const ProcessResult result = run(shell("echo out; echo err >&2; exit 3"), capturing());
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.signal, std::nullopt);
  EXPECT_FALSE(result.succeeded());
  EXPECT_EQ(result.output.tail, "out\n");
  EXPECT_EQ(result.error.tail, "err\n");
  EXPECT_EQ(describe_end(result), "exited with code 3");
}

TEST(Subprocess, ReportsTheSignalThatKilled) {
  const ProcessResult result = run(shell("kill -SEGV $$"), capturing());
  EXPECT_EQ(result.exit_code, std::nullopt);
  EXPECT_EQ(result.signal, SIGSEGV);
  EXPECT_EQ(describe_end(result), "was killed by SIGSEGV (segmentation fault)");
}

TEST(Subprocess, NamesTheSignalThatAWrapperReports) {
  const ProcessResult result = run(shell("exit 134"), capturing());
  EXPECT_EQ(describe_end(result),
            "exited with code 134 (128 + 6: SIGABRT, as a wrapper reports it)");
}

TEST(Subprocess, MeasuresTheWallTime) {
  const auto before = std::chrono::steady_clock::now();
  const ProcessResult result = run({"sleep", "0.2"}, capturing());
  const std::chrono::nanoseconds most = std::chrono::steady_clock::now() - before;
  EXPECT_TRUE(result.succeeded());
  EXPECT_GE(result.wall_time.value, kSecond / 5);
  EXPECT_LE(result.wall_time.value, most.count());
}

TEST(Subprocess, PassesArgumentsUnaltered) {
  const std::vector<std::string> odd{
      "two words",   "\"quoted\"", "it's", "$(date) `id` $HOME", "line 1\nline 2", "", "*",
      "back\\slash", "--",         "ü\x01"};
  std::vector<std::string> argv{"sh", "-c", "for a; do printf '[%s]' \"$a\"; done", "sh"};
  argv.insert(argv.end(), odd.begin(), odd.end());
  std::string expected;
  for (const std::string& argument : odd) expected += "[" + argument + "]";
  EXPECT_EQ(run(argv, capturing()).output.tail, expected);
}

TEST(Subprocess, AddsAndRemovesEnvironment) {
  const ScopedVariable kept("PERFLAB_KEPT", "kept");
  const ScopedVariable removed("PERFLAB_REMOVED", "here");
  const ScopedVariable replaced("PERFLAB_REPLACED", "old");
  ProcessOptions options = capturing();
  options.set_environment = {{"PERFLAB_REPLACED", "new value"}};
  options.unset_environment = {"PERFLAB_REMOVED"};
  const ProcessResult result =
      run(shell("echo \"$PERFLAB_KEPT|${PERFLAB_REMOVED-none}|$PERFLAB_REPLACED\""), options);
  EXPECT_EQ(result.output.tail, "kept|none|new value\n");
}

TEST(Subprocess, RunsInAnotherFolder) {
  const TempFolder folder;
  ProcessOptions options = capturing();
  options.working_directory = folder.path();
  EXPECT_EQ(run({"pwd", "-P"}, options).output.tail,
            std::filesystem::canonical(folder.path()).string() + "\n");
  options.working_directory = folder / "missing";
  const auto result = run_program({"pwd"}, options);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().message,
            (folder / "missing").string() + ": cannot be started: no such file or directory");
}

TEST(Subprocess, KeepsTheOrderOfStdoutAndStderrInOneStream) {
  ProcessOptions options = capturing();
  options.standard_output = StreamMode::to_stderr;
  const ProcessResult result = run(shell("echo 1; echo 2 >&2; echo 3; echo 4 >&2"), options);
  EXPECT_EQ(result.error.tail, "1\n2\n3\n4\n");
  EXPECT_EQ(result.output.tail, "");
}

TEST(Subprocess, KeepsOnlyTheEndOfALongOutput) {
  ProcessOptions options = capturing();
  options.capture_limit = 100;
  std::uint64_t seen = 0;
  options.on_output = [&](std::string_view text) { seen += text.size(); };
  const ProcessResult result = run(shell("head -c 5000000 /dev/zero; printf end"), options);
  EXPECT_EQ(result.output.total_bytes, 5'000'003U);
  EXPECT_EQ(seen, 5'000'003U);
  EXPECT_EQ(result.output.tail, std::string(97, '\0') + "end");
}

TEST(Subprocess, GivesAnEmptyInput) {
  ProcessOptions options = capturing();
  options.empty_input = true;
  EXPECT_EQ(run({"cat"}, options).output.total_bytes, 0U);
}

TEST(Subprocess, FeedsTheInputWhileTheOutputComes) {
  ProcessOptions options = capturing();
  options.input = std::string(3'000'000, 'i') + "end";  // more than any pipe holds
  const ProcessResult result = run({"cat"}, options);
  EXPECT_TRUE(result.succeeded());
  EXPECT_EQ(result.output.total_bytes, 3'000'003U);
  EXPECT_TRUE(result.output.tail.ends_with("iend"));
  options.input = "";
  EXPECT_EQ(run({"cat"}, options).output.total_bytes, 0U);
}

TEST(Subprocess, AProgramThatDoesNotReadItsInputBlocksNobody) {
  ProcessOptions options = capturing();
  options.input = std::string(3'000'000, 'i');
  const std::size_t before = open_descriptors();
  // A SIGPIPE would end this test program.
  const auto old = ::signal(SIGPIPE, SIG_DFL);
  EXPECT_TRUE(run({"true"}, options).succeeded());
  EXPECT_EQ(run(shell("exec <&-; sleep 0.1; echo done"), options).output.tail, "done\n");
  EXPECT_EQ(run(shell("sleep 0.1; echo done"), options).output.tail, "done\n");
  EXPECT_EQ(run({"head", "-c", "5"}, options).output.tail, "iiiii");
  sigset_t pending;
  EXPECT_EQ(::sigpending(&pending), 0);
  EXPECT_EQ(::sigismember(&pending, SIGPIPE), 0);
  ::signal(SIGPIPE, old);
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Subprocess, CallsOnTick) {
  ProcessOptions options = capturing();
  const TempFolder folder;
  options.tick = milliseconds(20);
  int ticks = 0;
  options.on_tick = [&](Nanos elapsed) {
    if (++ticks == 3) std::ignore = folder.write("enough", "");
    EXPECT_GE(elapsed.value, 0);
  };
  run(shell("until [ -e '" + (folder / "enough").string() + "' ]; do sleep 0.01; done"), options);
  EXPECT_GE(ticks, 3);
}

TEST(Subprocess, RefusesWhatCannotBeStarted) {
  const TempFolder folder;
  EXPECT_EQ(run_program({}).error().code, ErrorCode::usage);
  EXPECT_EQ(run_program({"sh", std::string("a\0b", 3)}).error().code, ErrorCode::usage);
  const auto missing = run_program({"no-such-program-here"});
  EXPECT_EQ(missing.error().code, ErrorCode::missing_tool);
  EXPECT_EQ(missing.error().message, "no-such-program-here: no such program on PATH");
  const auto not_executable = run_program({folder.write("data", "text").string()});
  EXPECT_EQ(not_executable.error().code, ErrorCode::missing_tool);
  const auto no_format = folder.write("garbage", "\x7f not a program");
  std::filesystem::permissions(no_format, std::filesystem::perms::owner_all);
  EXPECT_EQ(run_program({no_format.string()}).error().message,
            no_format.string() + ": cannot be started: exec format error");
}

TEST(Subprocess, StopsAProgramThatRunsTooLong) {
  ProcessOptions options = capturing();
  options.timeout = milliseconds(200);
  const ProcessResult result = run({"sleep", "60"}, options);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.signal, SIGTERM);
  EXPECT_FALSE(result.succeeded());
}

TEST(Subprocess, GivesAStoppedProgramTimeToCleanUp) {
  StoppedWhenReady program(
      "trap 'sleep 0.3; echo saved; exit 7' TERM; : >$READY; while :; do sleep 0.05; done");
  program.options.grace = std::chrono::minutes(2);
  const ProcessResult result = program.run_it();
  EXPECT_TRUE(result.given_up);
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_EQ(result.output.tail, "saved\n");
}

TEST(Subprocess, KillsAProgramThatIgnoresSigterm) {
  StoppedWhenReady program("trap '' TERM; : >$READY; while :; do sleep 0.05; done");
  program.options.grace = milliseconds(200);
  EXPECT_EQ(program.run_it().signal, SIGKILL);
}

TEST(Subprocess, KillsAGrandchildThatIgnoresSigterm) {
  // The child inherits what is ignored when it begins.
  StoppedWhenReady program("trap '' TERM; sleep 600 & echo $!; trap - TERM; : >$READY; wait");
  program.options.grace = milliseconds(200);
  const ProcessResult result = program.run_it();
  EXPECT_EQ(result.signal, SIGTERM);
  EXPECT_FALSE(lives(std::stoi(result.output.tail)));
}

TEST(Subprocess, KillsAGrandchildInItsOwnProcessGroup) {
  // `set -m` puts background jobs into groups of their own.
  StoppedWhenReady program("set -m; sleep 600 & echo $!; : >$READY; wait");
  program.options.grace = milliseconds(200);
  const ProcessResult result = program.run_it();
  EXPECT_FALSE(lives(std::stoi(result.output.tail)));
}

TEST(Subprocess, WakesAStoppedProgramToEndIt) {
  ProcessOptions options = capturing();
  options.timeout = milliseconds(200);
  const ProcessResult result = run(shell("kill -STOP $$; sleep 600"), options);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.signal, SIGTERM);
}

TEST(Subprocess, EndsWhatTheProgramLeftBehind) {
  ProcessOptions options = capturing();
  options.linger = milliseconds(100);
  const ProcessResult result = run(shell("sleep 600 & echo $!; exit 0"), options);
  EXPECT_TRUE(result.succeeded());
  EXPECT_TRUE(result.stragglers_stopped);
  EXPECT_FALSE(lives(std::stoi(result.output.tail)));
}

TEST(Subprocess, WaitsForChildrenThatEndBySelf) {
  ProcessOptions options = capturing();
  options.linger = std::chrono::minutes(2);
  const ProcessResult result = run(shell("(sleep 0.3; echo late) & exit 0"), options);
  EXPECT_TRUE(result.succeeded());
  EXPECT_FALSE(result.stragglers_stopped);
  EXPECT_EQ(result.output.tail, "late\n");
}

TEST(Subprocess, ADaemonThatHoldsThePipeDoesNotHangUs) {
  const TempFolder folder;
  const std::string pid_file = (folder / "pid").string();
  const ProcessResult result =
      run(shell("setsid sh -c 'echo $$ >\"$0\"; exec sleep 600' '" + pid_file + "' & until [ -s '" +
                pid_file + "' ]; do sleep 0.01; done; echo done"),
          capturing());
  EXPECT_TRUE(result.succeeded());
  EXPECT_EQ(result.output.tail, "done\n");
  const pid_t daemon = std::stoi(text_of(pid_file));
  EXPECT_EQ(::kill(daemon, 0), 0) << "it was waited for, or ended";
  ::kill(daemon, SIGKILL);
}

TEST(Subprocess, LeavesNoZombieAndNoDescriptor) {
  run({"true"}, capturing());
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 5; ++i) run(shell("echo x; exit 1"), capturing());
  EXPECT_FALSE(run_program({"/"}, capturing()).has_value());
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(Subprocess, TheProgramGetsNoDescriptorOfOurs) {
  // What this test program inherited itself is not meant.
  for (int fd = STDERR_FILENO + 1; fd < 1024; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  ProcessOptions options = capturing();
  options.empty_input = true;
  // The fourth is the one with which ls reads the folder.
  EXPECT_EQ(run({"ls", "/proc/self/fd"}, options).output.tail, "0\n1\n2\n3\n");
}

TEST(Subprocess, TheProgramGetsDefaultSignals) {
  sigset_t some;
  sigset_t before;
  sigemptyset(&some);
  sigaddset(&some, SIGUSR1);
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &some, &before), 0);
  const auto old = ::signal(SIGPIPE, SIG_IGN);
  const ProcessResult result =
      run({"grep", "-E", "^Sig(Blk|Ign):", "/proc/self/status"}, capturing());
  ::signal(SIGPIPE, old);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  std::string status = result.output.tail;
  // glibc keeps signals 32 and 33 to itself: what a parent did to them cannot be undone.
  constexpr std::string_view kGlibcOnly = "SigIgn:\t0000000180000000";
  if (const auto at = status.find(kGlibcOnly); at != std::string::npos)
    status.replace(at, kGlibcOnly.size(), "SigIgn:\t0000000000000000");
  EXPECT_EQ(status, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST(Subprocess, WaitsThoughOurParentIgnoredSigchld) {
  const auto old = ::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(run(shell("exit 4"), capturing()).exit_code, 4);
  ::signal(SIGCHLD, old);
}

TEST(Subprocess, TheProgramEndsWhenWeAreKilled) {
  const TempFolder folder;
  const pid_t us = ::fork();
  ASSERT_GE(us, 0);
  if (us == 0) {
    const auto ignored =
        run_program(shell("echo $$ > '" + (folder / "pid").string() + "'; exec sleep 60"));
    ::_exit(ignored.has_value() ? 0 : 1);
  }
  std::string pid;
  for (int i = 0; i < kPatience && (pid.empty() || pid.back() != '\n'); ++i) {
    std::this_thread::sleep_for(milliseconds(20));
    pid = text_of(folder / "pid");
  }
  ::kill(us, SIGKILL);
  ::waitpid(us, nullptr, 0);
  ASSERT_FALSE(pid.empty());
  EXPECT_FALSE(lives(std::stoi(pid)));
}

/// Interrupts a program as a Ctrl-C would, as soon as it is ready; `again`: once more after that.
class InterruptWhenReady {
 public:
  explicit InterruptWhenReady(const std::string& script, bool again = false) : program(script) {
    program.options.give_up = {};
    program.options.on_tick = [this, again](Nanos) {
      if (!program.is_ready() || raised_ == (again ? 2 : 1)) return;
      ++raised_;
      raise_interrupt();
    };
  }
  InterruptWhenReady(const InterruptWhenReady&) = delete;
  InterruptWhenReady& operator=(const InterruptWhenReady&) = delete;
  ~InterruptWhenReady() { clear_interrupts(); }

  StoppedWhenReady program;

 private:
  InterruptScope scope_;
  int raised_ = 0;
};

TEST(SubprocessInterrupt, ForwardsSigint) {
  const InterruptWhenReady user(": >$READY; exec sleep 600");
  const ProcessResult result = user.program.run_it();
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.signal, SIGINT);
  EXPECT_FALSE(result.succeeded());
}

TEST(SubprocessInterrupt, GoesOnToSigtermAfterTheGraceTime) {
  InterruptWhenReady user("trap '' INT; : >$READY; exec sleep 600");
  user.program.options.grace = milliseconds(200);
  const ProcessResult result = user.program.run_it();
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.signal, SIGTERM);
}

TEST(SubprocessInterrupt, TheSecondOneKills) {
  InterruptWhenReady user("trap '' INT TERM; : >$READY; exec sleep 600", true);
  user.program.options.grace = std::chrono::minutes(10);
  const ProcessResult result = user.program.run_it();
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.signal, SIGKILL);
}

TEST(SubprocessInterrupt, NothingIsStartedAfterOne) {
  const InterruptScope scope;
  raise_interrupt();
  const TempFolder folder;
  const auto result = run_program(shell("touch '" + (folder / "ran").string() + "'"));
  clear_interrupts();
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::interrupted);
  EXPECT_FALSE(std::filesystem::exists(folder / "ran"));
}

TEST(SubprocessInterrupt, CleaningUpGoesOnAfterOneAndIsLeftAlone) {
  const InterruptScope scope;
  raise_interrupt();
  ProcessOptions options = capturing();
  options.heed_interrupts = false;
  const auto result = run_program(shell("sleep 0.3; echo done"), options);
  clear_interrupts();
  ASSERT_TRUE(result.has_value()) << describe(result.error());
  EXPECT_TRUE(result->succeeded());
  EXPECT_FALSE(result->interrupted);
  EXPECT_EQ(result->output.tail, "done\n");
}

TEST(Subprocess, IsStoppedWhenNoOneWantsItsAnswer) {
  ProcessOptions options = capturing();
  int asked = 0;
  options.tick = milliseconds(10);
  options.give_up = [&] { return ++asked == 3; };
  const ProcessResult result = run({"sleep", "60"}, options);
  EXPECT_TRUE(result.given_up);
  EXPECT_FALSE(result.timed_out);
  EXPECT_FALSE(result.succeeded());
  EXPECT_EQ(result.signal, SIGTERM);
  EXPECT_EQ(asked, 3);
  options.give_up = [] { return false; };
  EXPECT_TRUE(run({"true"}, options).succeeded());
}

TEST(FindProgram, LooksOnPathThenElsewhere) {
  const TempFolder on_path;
  const TempFolder elsewhere;
  const auto first = on_path.script("tool-a", "exit 0");
  const auto second = elsewhere.script("tool-b", "exit 0");
  const auto ignored = on_path.write("tool-b", "not executable");
  std::filesystem::create_directory(on_path / "tool-c");
  const ScopedVariable path("PATH", "/nonexistent:" + on_path.path().string());
  const std::vector<std::filesystem::path> extra{elsewhere.path()};
  EXPECT_EQ(find_program("tool-a"), first);
  EXPECT_EQ(find_program("tool-b"), std::nullopt);
  EXPECT_EQ(find_program("tool-b", extra), second);
  EXPECT_EQ(find_program("tool-c", extra), std::nullopt);
  EXPECT_EQ(find_program(first.string()), first);
  EXPECT_EQ(find_program(ignored.string()), std::nullopt);
  EXPECT_EQ(find_program(""), std::nullopt);
}

TEST(FindProgram, AnEmptyPathEntryIsTheCurrentFolder) {
  const TempFolder folder;
  const auto tool = folder.script("tool-here", "exit 0");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  const ScopedVariable path("PATH", "/nonexistent:");
  const auto found = find_program("tool-here");
  std::filesystem::current_path(before);
  const std::filesystem::path path_found = found.value_or("nothing");
  EXPECT_TRUE(path_found.is_absolute());
  EXPECT_EQ(std::filesystem::weakly_canonical(path_found), std::filesystem::canonical(tool));
}

TEST(SignalName, IsWhatPeopleCallIt) {
  EXPECT_EQ(signal_name(SIGKILL), "SIGKILL");
  EXPECT_EQ(signal_name(70), "signal 70");
}

}  // namespace
}  // namespace perflab
