// The progress line: carriage return, text, "erase to end of line" (ECMA-48 EL), which every
// terminal but TERM=dumb understands.
#include "base/text/progress.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace perflab {
namespace {

constexpr std::string_view kErase = "\r\x1b[K";
constexpr std::size_t kDefaultWidth = 80;
constexpr std::chrono::milliseconds kShortWork{1000};  // needs no progress line
constexpr std::chrono::milliseconds kRedraw{200};

/// Errors are of no interest: talk that nobody can hear.
void write_anyway(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) {
      pollfd ready{.fd = descriptor, .events = POLLOUT, .revents = 0};
      ::poll(&ready, 1, -1);
      continue;
    }
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

bool can_draw(const ProgressLine::Options& options) {
  if (options.quiet || ::isatty(options.descriptor) == 0) return false;
  const char* term = std::getenv("TERM");
  return term == nullptr || std::string_view(term) != "dumb";
}

std::size_t terminal_width(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kDefaultWidth;
  return size.ws_col;
}

bool is_continuation_byte(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

/// At most `columns` characters of UTF-8 text, control characters replaced.
std::string one_line(std::string_view text, std::size_t columns) {
  std::string line;
  std::size_t used = 0;
  for (const char c : text) {
    if (!is_continuation_byte(c) && used++ == columns) break;
    const auto byte = static_cast<unsigned char>(c);
    line += (byte < 0x20 || byte == 0x7F) ? ' ' : c;
  }
  return line;
}

}  // namespace

std::string duration_text(std::chrono::nanoseconds duration) {
  const double seconds = std::chrono::duration<double>(duration).count();
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

TellProgress part_of(const TellProgress& tell, double from, double to) {
  if (!tell) return {};
  return [tell, from, to](std::string_view what, double done) {
    tell(what, from + (to - from) * done);
  };
}

ProgressLine::ProgressLine(Options options) : options_(options), visible_(can_draw(options)) {}

ProgressLine::~ProgressLine() {
  erase();
}

std::string ProgressLine::remaining_text(Clock::time_point now, std::optional<double> fraction) {
  if (!fraction || !std::isfinite(*fraction) || *fraction < 0 || *fraction > 1) return {};
  if (!first_fraction_ || *fraction < last_fraction_) {
    first_fraction_ = fraction;
    first_fraction_at_ = now;
  }
  last_fraction_ = *fraction;
  const double gained = *fraction - *first_fraction_;
  if (gained <= 0) return {};
  const double spent = std::chrono::duration<double>(now - first_fraction_at_).count();
  const std::chrono::duration<double> left(spent * (1 - *fraction) / gained);
  return ", about " + duration_text(std::chrono::duration_cast<std::chrono::nanoseconds>(left)) +
         " left";
}

void ProgressLine::update(std::string_view what, std::optional<double> fraction) {
  if (!visible_) return;
  const std::scoped_lock lock(mutex_);
  const auto now = Clock::now();
  const std::string remaining = remaining_text(now, fraction);
  if (!at_line_start_ || now - started_ < options_.delay ||
      (drawn_at_ && now - *drawn_at_ < options_.interval))
    return;
  drawn_at_ = now;
  const std::string times = fmt::format("  {}{}", duration_text(now - started_), remaining);
  // The last column stays free: writing there wraps on some terminals.
  const std::size_t columns = terminal_width(options_.descriptor) - 1;
  const std::size_t for_what = columns > times.size() ? columns - times.size() : 0;
  write_anyway(options_.descriptor,
               std::string(kErase) + one_line(one_line(what, for_what) + times, columns));
  on_screen_ = true;
}

void ProgressLine::pass_through(std::string_view text) {
  if (text.empty()) return;
  const std::scoped_lock lock(mutex_);
  erase_locked();
  write_anyway(options_.descriptor, text);
  at_line_start_ = text.back() == '\n';
}

void ProgressLine::erase() {
  const std::scoped_lock lock(mutex_);
  erase_locked();
}

void ProgressLine::erase_locked() {
  if (!on_screen_) return;
  write_anyway(options_.descriptor, kErase);
  on_screen_ = false;
  drawn_at_.reset();
}

ProgressLine::Options LongWork::mostly_short(bool quiet) {
  ProgressLine::Options options;
  options.quiet = quiet;
  options.delay = kShortWork;
  return options;
}

LongWork::LongWork(std::string what, ProgressLine::Options options)
    : line_(options), what_(std::move(what)) {
  if (line_.visible()) drawer_ = std::jthread([this](const std::stop_token& stop) { draw(stop); });
}

void LongWork::draw(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, stop, kRedraw, [] { return false; }) && !stop.stop_requested())
    line_.update(what_, done_);
}

TellProgress LongWork::tell() {
  if (!line_.visible()) return {};
  return [this](std::string_view what, double done) {
    const std::scoped_lock lock(mutex_);
    what_ = what;
    done_ = done;
  };
}

void LongWork::end() {
  if (drawer_.joinable()) {
    drawer_.request_stop();
    drawer_.join();
  }
  line_.erase();
}

}  // namespace perflab
