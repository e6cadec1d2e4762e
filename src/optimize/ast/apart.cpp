// One pipe, one child, one deadline.
#include "optimize/ast/apart.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <string_view>

#include "base/system/files.h"
#include "base/system/subprocess.h"

namespace perflab::optimize {
namespace {

constexpr const char* kShort =
    "the machine is short of processes, open files or memory: `ulimit -a` has the limits";

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kLimitsMemory = false;  // shadow memory is counted as well
#else
constexpr bool kLimitsMemory = true;
#endif
// Address space that the child may take beyond what the parent has, bytes. Clang maps 360 MiB for a
// source with HIP's headers; what unfolds without end has to fail before a machine of 16 GiB swaps.
constexpr rlim_t kMostAddressSpace = rlim_t{8} << 30;

/// What this process has mapped, bytes: proc(5), statm. 0: not known.
rlim_t mapped_address_space() {
  const auto text = read_file("/proc/self/statm");
  rlim_t pages = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), pages);
  return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

[[noreturn]] void be_child(const std::function<std::string()>& work, int pipe, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  if (const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0)
    ::dup2(nowhere, STDERR_FILENO);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const rlim_t most = mapped_address_space() + kMostAddressSpace;
  const rlimit memory{most, most};
  if (kLimitsMemory) ::setrlimit(RLIMIT_AS, &memory);
  const std::string text = work();
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t written = ::write(pipe, rest.data(), rest.size());
    if (written < 0 && errno != EINTR) ::_exit(1);
    if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
  }
  ::_exit(0);
}

/// Everything until the end of the pipe. False: the deadline came first.
bool read_all(int pipe, std::chrono::steady_clock::time_point deadline, std::string& text) {
  std::array<char, 16384> buffer{};
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd poll{.fd = pipe, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&poll, 1, static_cast<int>(left.count()));
    if (ready == 0) return false;
    if (ready < 0) continue;  // EINTR
    const ssize_t count = ::read(pipe, buffer.data(), buffer.size());
    if (count == 0) return true;
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

Result<ApartResult> run_apart(const std::function<std::string()>& work,
                              std::chrono::milliseconds limit) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return fail(ErrorCode::internal, fmt::format("a pipe cannot be made: {}", errno_text(errno)),
                kShort);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    be_child(work, ends[1], parent);
  }
  const int fork_error = errno;
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    return fail(ErrorCode::internal,
                fmt::format("a process cannot be made: {}", errno_text(fork_error)), kShort);
  }
  ApartResult result;
  std::string text;
  const bool ended = read_all(ends[0], std::chrono::steady_clock::now() + limit, text);
  ::close(ends[0]);
  if (!ended) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!ended)
    result.ending = fmt::format("took longer than {} s", limit.count() / 1000);
  else if (WIFSIGNALED(status))
    result.ending = fmt::format("crashed ({})", signal_name(WTERMSIG(status)));
  else if (WEXITSTATUS(status) != 0)
    result.ending = "crashed";
  else
    result.text = std::move(text);
  return result;
}

}  // namespace perflab::optimize
