// Running other programs: an argument array (never a shell), an own session, output captured or
// passed on, a watchdog, and Ctrl-C. A program that hangs, ignores signals, floods its output or
// leaves children behind cannot hang us. Linux: setsid(2), pidfd_open(2), prctl(2), proc(5).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/system/sandbox.h"
#include "base/units.h"

namespace perflab {

/// Where one output stream of a program goes.
enum class StreamMode {
  inherit,    ///< our own stream of that number
  discard,    ///< /dev/null
  capture,    ///< kept (its end, see capture_limit) and handed to on_output
  to_stderr,  ///< for standard_output only: wherever the program's stderr goes, order kept
};

/// How a program is run. The defaults run it as a shell in the foreground would, and wait.
struct ProcessOptions {
  std::filesystem::path working_directory;                           ///< empty: ours
  std::vector<std::pair<std::string, std::string>> set_environment;  ///< added to ours
  std::vector<std::string> unset_environment;                        ///< removed from ours
  /// The sandbox it runs in; secrets of our environment are removed, too. A signal that ends it
  /// there is exit code 128 and its number.
  Confinement confinement{};
  bool empty_input = false;  ///< stdin is /dev/null, not ours
  /// What the program reads from its stdin, then its end. One that does not read it all loses the
  /// rest, and blocks nobody.
  std::optional<std::string> input;
  StreamMode standard_output = StreamMode::inherit;
  StreamMode standard_error = StreamMode::inherit;
  std::size_t capture_limit = std::size_t{1} << 16;  ///< bytes kept of each captured stream
  std::function<void(std::string_view)> on_output;   ///< captured bytes as they come, both streams
  /// The same, told apart: 1 for stdout, 2 for stderr.
  std::function<void(int stream, std::string_view)> on_stream;

  /// Time after which the program is stopped: SIGTERM to all its processes, SIGKILL after `grace`.
  std::optional<std::chrono::milliseconds> timeout;
  std::chrono::milliseconds grace{10'000};  ///< time between one signal and the next, harder one
  std::chrono::milliseconds linger{2'000};  ///< what its children may live longer than the program
  std::chrono::milliseconds tick{100};      ///< how often on_tick is called
  std::function<void(Nanos elapsed)> on_tick;

  /// Asked at every tick; true: no one wants the answer any more, the program is stopped as it is
  /// at the timeout.
  std::function<bool()> give_up;
  /// False: started and left alone whatever Ctrl-C did, for cleaning up after it. Give a timeout.
  bool heed_interrupts = true;
};

/// What was captured of one stream: its end, and how many bytes there were in all.
struct CapturedStream {
  std::string tail;
  std::uint64_t total_bytes = 0;
};

/// How a program ended. Exactly one of exit_code and signal is set, unless `stuck`.
struct ProcessResult {
  std::optional<int> exit_code;
  std::optional<int> signal;        ///< the signal that killed it
  bool timed_out = false;           ///< stopped by us: it ran longer than the timeout
  bool given_up = false;            ///< stopped by us: give_up said so
  bool interrupted = false;         ///< stopped by us: Ctrl-C (base/system/interrupt.h)
  bool stragglers_stopped = false;  ///< children outlived the program and `linger`; we ended them
  bool stuck = false;               ///< survived SIGKILL (hangs in a driver); it was left behind
  Nanos wall_time;                  ///< from just before the start to the end of the program itself
  CapturedStream output;
  CapturedStream error;

  /// Exit code 0, and not because we stopped it.
  [[nodiscard]] bool succeeded() const {
    return exit_code == 0 && !timed_out && !given_up && !interrupted && !stuck;
  }
};

/// Runs `argv` and waits for it. argv[0] is looked up as a shell would (PATH, or a path relative to
/// our own folder). The program gets an own session, default signal dispositions and no descriptor
/// of ours but 0, 1, 2 (all of ours are close-on-exec). It is told to end (SIGTERM) if we die.
/// Ctrl-C sends SIGINT, then SIGTERM, then SIGKILL, `grace` apart; a second Ctrl-C SIGKILL at once.
/// When the call returns, no process of its session is left, unless `stuck`.
/// Errors: usage (no program, a NUL in an argument), missing_tool (it cannot be started),
/// interrupted (Ctrl-C came before the start; nothing was run), internal (no pipes or processes).
Result<ProcessResult> run_program(const std::vector<std::string>& argv,
                                  const ProcessOptions& options = {});

/// The end of a program as a clause: "exited with code 3", "was killed by SIGSEGV (segmentation
/// fault)", "exited with code 139 (128 + 11: SIGSEGV, as a wrapper reports it)".
std::string describe_end(const ProcessResult& result);

/// "SIGSEGV", or "signal 70" for one without a name.
std::string signal_name(int signal);

/// The absolute path of an executable file: `name` itself when it has a slash, else the first hit
/// on PATH, else in `extra_directories`.
std::optional<std::filesystem::path> find_program(
    std::string_view name, std::span<const std::filesystem::path> extra_directories = {});

/// What starts this same program again: its path, or "/proc/self/exe" when that is not known or the
/// file was replaced while we run.
std::string own_program();

}  // namespace perflab
