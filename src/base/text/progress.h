// One line of progress on the terminal: what is being done, for how long, and how long it will
// still take when that is known. Nothing at all is written when the descriptor is not a terminal.
#pragma once

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace perflab {

/// A span of time for people: "0.4 s", "12 s", "2 min 05 s", "1 h 02 min".
std::string duration_text(std::chrono::nanoseconds duration);

/// Told by long work what it does and which share of the whole is done, 0 to 1. Called on any
/// thread, often: it has to be quick. May be empty.
using TellProgress = std::function<void(std::string_view what, double done)>;

/// The part from `from` to `to` of a whole that `tell` is told about.
TellProgress part_of(const TellProgress& tell, double from, double to);

/// The progress line of one command. It is drawn at most once per interval, cut to the terminal's
/// width and erased at the end. Text of other programs goes through pass_through(), so that the
/// two never mix. Any thread may call any member.
class ProgressLine {
 public:
  struct Options {
    bool quiet = false;                       ///< never draw, not even on a terminal
    int descriptor = STDERR_FILENO;           ///< not owned
    std::chrono::milliseconds interval{100};  ///< least time between two drawings
    std::chrono::milliseconds delay{0};       ///< nothing is drawn before: short work needs none
  };

  ProgressLine() : ProgressLine(Options{}) {}
  explicit ProgressLine(Options options);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

  /// Shows `what` and the time since construction. `fraction` (0 to 1) is the share of the work
  /// that is done, when known: the remaining time is estimated from it, and anew whenever it falls.
  void update(std::string_view what, std::optional<double> fraction = std::nullopt);

  /// Writes the bytes to the descriptor as they are (terminal or not, quiet or not). The line is
  /// out of the way meanwhile, and comes back only after a whole line was passed.
  void pass_through(std::string_view text);

  /// Takes the line off the terminal until the next update.
  void erase();

  /// False when nothing will ever be drawn: no terminal, TERM=dumb, or quiet.
  [[nodiscard]] bool visible() const { return visible_; }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] std::string remaining_text(Clock::time_point now, std::optional<double> fraction);
  void erase_locked();

  Options options_;
  bool visible_;
  std::mutex mutex_;
  Clock::time_point started_ = Clock::now();
  std::optional<Clock::time_point> drawn_at_;
  bool on_screen_ = false;
  bool at_line_start_ = true;
  std::optional<double> first_fraction_;
  double last_fraction_ = 0;
  Clock::time_point first_fraction_at_;
};

/// The progress line of work that is mostly short: nothing is drawn in its first second; then the
/// line is drawn anew all the time, whether anything was told or not, until this ends. Without a
/// terminal it does nothing.
class LongWork {
 public:
  /// `what`: shown until something else is told.
  explicit LongWork(std::string what) : LongWork(std::move(what), mostly_short()) {}
  LongWork(std::string what, ProgressLine::Options options);
  /// `quiet`: no terminal at all.
  static ProgressLine::Options mostly_short(bool quiet = false);
  LongWork(const LongWork&) = delete;
  LongWork& operator=(const LongWork&) = delete;
  ~LongWork() { end(); }

  /// Shows what it is told from then on. Must not be called after this is gone.
  TellProgress tell();

  /// Takes the line off the terminal for good. Call before anything else is written there.
  void end();

 private:
  void draw(const std::stop_token& stop);

  ProgressLine line_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::string what_;
  std::optional<double> done_;
  std::jthread drawer_;
};

}  // namespace perflab
