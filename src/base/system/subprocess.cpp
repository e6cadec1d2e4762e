// fork and exec with an error pipe; then one poll loop over output, end of process (pidfd), Ctrl-C
// and the clock. The leader is reaped last: as long as it is a zombie its number is not given to
// another process, so the session can be signalled safely.
#include "base/system/subprocess.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/blocked_signals.h"
#include "base/system/broken_pipe.h"
#include "base/system/descriptor.h"
#include "base/system/files.h"
#include "base/system/interrupt.h"
#include "base/text/numbers.h"

namespace perflab {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kExitCannotStart = 127;
constexpr milliseconds kAfterKill{5'000};     // a process that outlives SIGKILL so long is stuck
constexpr milliseconds kStragglerPoll{20};    // how often a session without its leader is looked at
constexpr milliseconds kWithoutPidfdPoll{5};  // how often the leader is asked on old kernels
constexpr std::size_t kReadBuffer = std::size_t{1} << 16;
constexpr int kReadsPerTurn = 16;  // bounds one turn against a program that never stops writing

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};

/// Close-on-exec, and never 0, 1 or 2 (ours may be closed): the child moves these.
Descriptor above_standard_streams(int fd) {
  if (fd > STDERR_FILENO || fd < 0) return Descriptor(fd);
  const Descriptor low(fd);
  return Descriptor(::fcntl(low.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

std::unexpected<Error> no_resource(std::string_view what) {
  return fail(
      ErrorCode::internal, fmt::format("{} cannot be made: {}", what, errno_text(errno)),
      "the machine is short of processes, open files or memory: `ulimit -a` has the limits");
}

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return no_resource("a pipe");
  Pipe pipe{.read_end = above_standard_streams(ends[0]),
            .write_end = above_standard_streams(ends[1])};
  if (!pipe.read_end.open() || !pipe.write_end.open()) return no_resource("a pipe");
  return pipe;
}

/// Everything the child needs, prepared before it is made: it may call async-signal-safe functions
/// alone, and change nothing that we read. A descriptor of -1 leaves that stream as it is.
struct ChildPlan {
  const char* program = nullptr;
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  const char* working_directory = nullptr;
  int input = -1;
  int output = -1;
  int error = -1;
  int report = -1;
  pid_t parent = 0;
};

/// What the child reports when it cannot become the program.
struct StartFailure {
  int error_number = 0;
  bool in_working_directory = false;
};

void reset_signals() {
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &standard, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// The life of the child up to exec.
[[noreturn]] void become_program(const ChildPlan& plan) {
  StartFailure failure;
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != plan.parent) ::_exit(kExitCannotStart);
  reset_signals();
  if (plan.input >= 0) ::dup2(plan.input, STDIN_FILENO);
  if (plan.output >= 0) ::dup2(plan.output, STDOUT_FILENO);
  if (plan.error >= 0) ::dup2(plan.error, STDERR_FILENO);
  if (plan.working_directory != nullptr && ::chdir(plan.working_directory) != 0)
    failure.in_working_directory = true;
  else
    ::execve(plan.program, plan.argv, plan.environment);
  failure.error_number = errno;
  if (::write(plan.report, &failure, sizeof failure) < 0) ::_exit(kExitCannotStart);
  ::_exit(kExitCannotStart);
}

/// "NAME=value" strings: ours without the removed and replaced ones, then the additions.
std::vector<std::string> child_environment(const ProcessOptions& options) {
  std::vector<std::string> result;
  const Sandbox* const sandbox = options.confinement.sandbox.get();
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    const auto has_name = [&](const auto& pair) { return pair.first == name; };
    if (std::ranges::find(options.unset_environment, name) != options.unset_environment.end() ||
        std::ranges::any_of(options.set_environment, has_name))
      continue;
    if (sandbox && !sandbox->network &&
        is_secret_variable(name, text.substr(std::min(name.size() + 1, text.size()))))
      continue;
    result.emplace_back(text);
  }
  for (const auto& [name, value] : options.set_environment)
    result.push_back(fmt::format("{}={}", name, value));
  return result;
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

struct Member {
  pid_t pid = 0;
  pid_t group = 0;
};

/// One process by its number in /proc; nothing when it is gone, a zombie or of another session.
std::optional<Member> member_of(pid_t session, pid_t pid) {
  std::array<char, 512> text{};
  const Descriptor file(::open(fmt::format("/proc/{}/stat", pid).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open() || ::read(file.get(), text.data(), text.size() - 1) <= 0) return std::nullopt;
  // "pid (name) state ppid pgrp session …"; the name may hold anything, so search from the end.
  const char* after_name = std::strrchr(text.data(), ')');
  if (after_name == nullptr) return std::nullopt;
  char state = 0;
  int parent = 0;
  int its_session = 0;
  Member member{.pid = pid};
  if (std::sscanf(after_name + 1, " %c %d %d %d", &state, &parent, &member.group, &its_session) !=
      4)
    return std::nullopt;
  if (its_session != session || state == 'Z' || state == 'X') return std::nullopt;
  return member;
}

/// Living processes (no zombies) of a session.
std::vector<Member> session_members(pid_t session) {
  std::vector<Member> members;
  std::error_code error;
  for (std::filesystem::directory_iterator it("/proc", error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (const auto pid = whole_number<pid_t>(name))
      if (const auto member = member_of(session, *pid)) members.push_back(*member);
  }
  return members;
}

/// Sends a signal once to every process of the session (twice would cut short a handler that is
/// installed with SA_RESETHAND, as rocprofv3's is); stopped ones are woken to receive it.
void signal_session(pid_t session, int signal) {
  const auto send = [&](pid_t to) {
    ::kill(to, signal);
    if (signal != SIGKILL) ::kill(to, SIGCONT);
  };
  send(-session);
  for (const Member& member : session_members(session))
    if (member.group != session) send(member.pid);
}

/// One captured stream: its number, our end of the pipe and what came out of it.
struct Capture {
  int number = 0;
  Descriptor descriptor;
  CapturedStream* stream = nullptr;
};

/// Watches one started program to its end.
class Supervisor {
 public:
  Supervisor(pid_t pid, Clock::time_point started, const ProcessOptions& options)
      : pid_(pid),
        started_(started),
        options_(options),
        // The system call by number: glibc 2.36 is the first with a wrapper.
        pidfd_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}

  ProcessResult watch(Descriptor input, Descriptor output, Descriptor error) {
    input_ = std::move(input);
    if (options_.input) unread_ = *options_.input;
    captures_[0] = {STDOUT_FILENO, std::move(output), &result_.output};
    captures_[1] = {STDERR_FILENO, std::move(error), &result_.error};
    while (true) {
      feed();
      wait_for_news();
      for (Capture& capture : captures_) read_from(capture);
      note_end();
      const auto now = Clock::now();
      react(now);
      if (options_.on_tick && now >= next_tick_) {
        options_.on_tick(Nanos{std::chrono::nanoseconds(now - started_).count()});
        next_tick_ = now + options_.tick;
      }
      if (finished(now)) break;
    }
    return conclude();
  }

 private:
  void wait_for_news() {
    std::vector<pollfd> polled;
    const auto add = [&](int fd, short events = POLLIN) {
      if (fd >= 0) polled.push_back({.fd = fd, .events = events, .revents = 0});
    };
    add(input_.get(), POLLOUT);
    for (const Capture& capture : captures_) add(capture.descriptor.get());
    if (!ended_at_) add(pidfd_.get());
    if (options_.heed_interrupts && interrupts_seen_ == 0) add(interrupt_descriptor());
    milliseconds wait = std::min(options_.tick, milliseconds(100));
    if (ended_at_)
      wait = kStragglerPoll;
    else if (!pidfd_.open())
      wait = kWithoutPidfdPoll;
    else if (options_.timeout)
      wait =
          std::clamp(std::chrono::ceil<milliseconds>(started_ + *options_.timeout - Clock::now()),
                     milliseconds(1), wait);
    ::poll(polled.data(), polled.size(), static_cast<int>(wait.count()));
  }

  /// Writes as much of the input as the pipe takes, and closes it behind the last byte.
  void feed() {
    if (!input_.open()) return;
    const BrokenPipeGuard guard;
    while (!unread_.empty()) {
      const ssize_t put = ::write(input_.get(), unread_.data(), unread_.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0 && errno == EAGAIN) return;
      if (put < 0) break;  // EPIPE: nobody reads it any more
      unread_.remove_prefix(static_cast<std::size_t>(put));
    }
    input_.reset();
  }

  void read_from(Capture& capture) {
    for (int turn = 0; capture.descriptor.open() && turn < kReadsPerTurn; ++turn) {
      const ssize_t got = ::read(capture.descriptor.get(), buffer_.data(), buffer_.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) return;
      if (got <= 0) {
        capture.descriptor.reset();
        return;
      }
      const std::string_view bytes(buffer_.data(), static_cast<std::size_t>(got));
      std::string& tail = capture.stream->tail;
      capture.stream->total_bytes += bytes.size();
      tail += bytes;
      if (tail.size() / 2 > options_.capture_limit) trim(tail);
      if (options_.on_output) options_.on_output(bytes);
      if (options_.on_stream) options_.on_stream(capture.number, bytes);
    }
  }

  void trim(std::string& tail) const {
    if (tail.size() > options_.capture_limit) tail.erase(0, tail.size() - options_.capture_limit);
  }

  /// Sees whether the program ended, without reaping it.
  void note_end() {
    if (ended_at_) return;
    siginfo_t info{};
    const int answer = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    if (answer == 0 && info.si_pid == 0) return;
    if (answer != 0 && errno == EINTR) return;
    ended_at_ = Clock::now();
  }

  /// Ctrl-C, the watchdog, the next harder signal, and children that do not end.
  void react(Clock::time_point now) {
    if (const int seen_now = options_.heed_interrupts ? interrupt_count() : 0;
        seen_now > interrupts_seen_) {
      interrupts_seen_ = seen_now;
      if (result_.interrupted) {
        stop_with({SIGKILL}, now);
      } else {
        result_.interrupted = true;
        if (!stopping()) stop_with({SIGINT, SIGTERM, SIGKILL}, now);
      }
    }
    if (!ended_at_ && !stopping() && options_.timeout && now - started_ >= *options_.timeout) {
      result_.timed_out = true;
      stop_with({SIGTERM, SIGKILL}, now);
    }
    if (!ended_at_ && !stopping() && options_.give_up && options_.give_up()) {
      result_.given_up = true;
      stop_with({SIGTERM, SIGKILL}, now);
    }
    if (!ladder_.empty() && now >= next_signal_at_) send_next(now);
  }

  [[nodiscard]] bool stopping() const { return last_signal_ != 0; }

  void stop_with(std::vector<int> ladder, Clock::time_point now) {
    ladder_ = std::move(ladder);
    send_next(now);
  }

  void send_next(Clock::time_point now) {
    last_signal_ = ladder_.front();
    ladder_.erase(ladder_.begin());
    signal_session(pid_, last_signal_);
    next_signal_at_ = now + (last_signal_ == SIGKILL ? kAfterKill : options_.grace);
  }

  /// True when nothing of the session lives any more, or nothing more can be done about it.
  bool finished(Clock::time_point now) {
    const bool killed_in_vain = last_signal_ == SIGKILL && now >= next_signal_at_;
    if (!ended_at_) return killed_in_vain;
    if (killed_in_vain || session_members(pid_).empty()) return true;
    if (last_signal_ == SIGKILL) signal_session(pid_, SIGKILL);  // born since the last look
    if (!stopping() && now - *ended_at_ >= options_.linger) {
      result_.stragglers_stopped = true;
      stop_with({SIGTERM, SIGKILL}, now);
    }
    return false;
  }

  ProcessResult conclude() {
    for (Capture& capture : captures_) {
      read_from(capture);
      trim(capture.stream->tail);
    }
    result_.stuck = !ended_at_.has_value();
    const auto end = ended_at_.value_or(Clock::now());
    result_.wall_time = Nanos{std::chrono::nanoseconds(end - started_).count()};
    siginfo_t info{};
    const int flags = WEXITED | (result_.stuck ? WNOHANG : 0);
    while (::waitid(P_PID, static_cast<id_t>(pid_), &info, flags) != 0 && errno == EINTR) {
    }
    if (info.si_pid == pid_ && info.si_code == CLD_EXITED) result_.exit_code = info.si_status;
    if (info.si_pid == pid_ && info.si_code != CLD_EXITED) result_.signal = info.si_status;
    return std::move(result_);
  }

  pid_t pid_;
  Clock::time_point started_;
  const ProcessOptions& options_;
  Descriptor pidfd_;
  Descriptor input_;         // our end of the program's stdin
  std::string_view unread_;  // what it has still to get
  std::array<Capture, 2> captures_;
  std::vector<char> buffer_ = std::vector<char>(kReadBuffer);
  ProcessResult result_;
  std::optional<Clock::time_point> ended_at_;
  Clock::time_point next_tick_ = started_;
  int interrupts_seen_ = 0;
  std::vector<int> ladder_;  // the signals still to send, in order
  int last_signal_ = 0;
  Clock::time_point next_signal_at_;
};

/// The child's ends of the streams, and ours.
struct Streams {
  Descriptor null;
  Pipe input;
  Pipe output;
  Pipe error;
  int child_input = -1;
  int child_output = -1;
  int child_error = -1;
};

Result<Streams> open_streams(const ProcessOptions& options) {
  Streams streams;
  streams.null = above_standard_streams(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!streams.null.open()) return no_resource("access to /dev/null");
  if (options.empty_input) streams.child_input = streams.null.get();
  if (options.input) {
    PERFLAB_TRY(streams.input, make_pipe());
    streams.child_input = streams.input.read_end.get();
  }
  if (options.standard_error == StreamMode::discard) streams.child_error = streams.null.get();
  if (options.standard_error == StreamMode::capture) {
    PERFLAB_TRY(streams.error, make_pipe());
    streams.child_error = streams.error.write_end.get();
  }
  if (options.standard_output == StreamMode::discard) streams.child_output = streams.null.get();
  if (options.standard_output == StreamMode::to_stderr)
    streams.child_output = streams.child_error >= 0 ? streams.child_error : STDERR_FILENO;
  if (options.standard_output == StreamMode::capture) {
    PERFLAB_TRY(streams.output, make_pipe());
    streams.child_output = streams.output.write_end.get();
  }
  for (const int end :
       {streams.input.write_end.get(), streams.output.read_end.get(), streams.error.read_end.get()})
    if (end >= 0) ::fcntl(end, F_SETFL, O_NONBLOCK);
  return streams;
}

/// With every signal blocked: our handlers must not run in the child. Until it execs it shares our
/// memory, of which nothing is copied; fork() under AddressSanitizer also writes 4 MB of its own.
pid_t fork_into(const ChildPlan& plan) {
  const BlockedSignals in_the_child;
  // NOLINTNEXTLINE(clang-analyzer-security.insecureAPI.vfork): what the child does is in ChildPlan
  const pid_t pid = ::vfork();
  if (pid == 0) become_program(plan);
  return pid;
}

/// A parent that started us with SIGCHLD ignored would make every wait fail.
void keep_children_waitable() {
  struct sigaction action{};
  ::sigaction(SIGCHLD, nullptr, &action);
  if (action.sa_handler != SIG_IGN) return;
  action.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &action, nullptr);
}

Result<std::filesystem::path> resolve_program(const std::vector<std::string>& argv) {
  if (argv.empty() || argv.front().empty()) return fail(ErrorCode::usage, "no program is named");
  for (const std::string& argument : argv)
    if (argument.find('\0') != std::string::npos)
      return fail(ErrorCode::usage,
                  fmt::format("{}: an argument holds a NUL character", argv.front()));
  if (auto found = find_program(argv.front())) return *std::move(found);
  return fail(ErrorCode::missing_tool,
              fmt::format("{}: no such program{}", argv.front(),
                          argv.front().find('/') == std::string::npos ? " on PATH" : ""),
              "install it, or give its path");
}

bool is_executable_file(const std::filesystem::path& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

Result<ProcessResult> run_program(const std::vector<std::string>& argv,
                                  const ProcessOptions& options) {
  PERFLAB_TRY(std::filesystem::path program, resolve_program(argv));
  if (options.heed_interrupts && interrupted())
    return fail(ErrorCode::interrupted, fmt::format("{}: not started: interrupted", argv.front()));
  PERFLAB_TRY(Streams streams, open_streams(options));
  PERFLAB_TRY(Pipe report, make_pipe());
  keep_children_waitable();

  std::vector<std::string> arguments = argv;
  if (options.confinement.sandbox) {
    arguments.front() = program.string();  // as found here, whatever PATH means there
    const std::vector<std::string> before = sandbox_command(options.confinement);
    arguments.insert(arguments.begin(), before.begin(), before.end());
    program = options.confinement.sandbox->program;
  }
  std::vector<std::string> variables = child_environment(options);
  const std::vector<char*> argument_pointers = pointers_to(arguments);
  const std::vector<char*> variable_pointers = pointers_to(variables);
  const bool moves = !options.working_directory.empty();
  const ChildPlan plan{.program = program.c_str(),
                       .argv = argument_pointers.data(),
                       .environment = variable_pointers.data(),
                       .working_directory = moves ? options.working_directory.c_str() : nullptr,
                       .input = streams.child_input,
                       .output = streams.child_output,
                       .error = streams.child_error,
                       .report = report.write_end.get(),
                       .parent = ::getpid()};
  const auto started = Clock::now();
  const pid_t pid = fork_into(plan);
  if (pid < 0) return no_resource("a process");
  report.write_end.reset();
  streams.input.read_end.reset();
  streams.output.write_end.reset();
  streams.error.write_end.reset();

  StartFailure failure;
  ssize_t got = 0;
  while ((got = ::read(report.read_end.get(), &failure, sizeof failure)) < 0 && errno == EINTR) {
  }
  if (got == sizeof failure) {
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    const std::string what =
        failure.in_working_directory ? options.working_directory.string() : program.string();
    return fail(ErrorCode::missing_tool,
                fmt::format("{}: cannot be started: {}", what, errno_text(failure.error_number)),
                failure.in_working_directory
                    ? fmt::format("see whether this user may enter that folder: ls -ld {}", what)
                    : fmt::format("see what it is and who may run it: file {0}; ls -l {0}", what));
  }
  return Supervisor(pid, started, options)
      .watch(std::move(streams.input.write_end), std::move(streams.output.read_end),
             std::move(streams.error.read_end));
}

std::string signal_name(int signal) {
  const char* short_name = ::sigabbrev_np(signal);
  return short_name != nullptr ? fmt::format("SIG{}", short_name)
                               : fmt::format("signal {}", signal);
}

std::string describe_end(const ProcessResult& result) {
  constexpr int kWrapped = 128;  // sh and its kin exit with this plus the signal
  if (result.signal) {
    const char* meaning = ::sigdescr_np(*result.signal);
    std::string text = meaning != nullptr ? meaning : "no description";
    std::ranges::transform(text, text.begin(), [](char c) {
      return (c >= 'A' && c <= 'Z') ? static_cast<char>(c | 0x20) : c;
    });
    return fmt::format("was killed by {} ({})", signal_name(*result.signal), text);
  }
  if (!result.exit_code) return "could not be stopped (it hangs in the kernel)";
  const int wrapped = *result.exit_code - kWrapped;
  if (wrapped > 0 && ::sigabbrev_np(wrapped) != nullptr)
    return fmt::format("exited with code {} (128 + {}: {}, as a wrapper reports it)",
                       *result.exit_code, wrapped, signal_name(wrapped));
  return fmt::format("exited with code {}", *result.exit_code);
}

std::optional<std::filesystem::path> find_program(
    std::string_view name, std::span<const std::filesystem::path> extra_directories) {
  const auto as_absolute = [](const std::filesystem::path& path) {
    std::error_code error;
    const std::filesystem::path absolute = std::filesystem::absolute(path, error);
    return error ? path : absolute;
  };
  if (name.empty()) return std::nullopt;
  if (name.find('/') != std::string_view::npos) {
    const std::filesystem::path path(name);
    return is_executable_file(path) ? std::optional(as_absolute(path)) : std::nullopt;
  }
  const char* variable = std::getenv("PATH");
  std::string_view rest = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  std::vector<std::filesystem::path> directories;
  while (true) {
    const std::size_t colon = rest.find(':');
    const std::string_view entry = rest.substr(0, colon);
    directories.emplace_back(entry.empty() ? "." : entry);  // POSIX: an empty entry is "here"
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
  directories.insert(directories.end(), extra_directories.begin(), extra_directories.end());
  for (const std::filesystem::path& directory : directories)
    if (const std::filesystem::path path = directory / name; is_executable_file(path))
      return as_absolute(path);
  return std::nullopt;
}

std::string own_program() {
  constexpr const char* kSelf = "/proc/self/exe";
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink(kSelf, error);
  return error || !std::filesystem::exists(program, error) ? kSelf : program.string();
}

}  // namespace perflab
