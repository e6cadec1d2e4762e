// The progress line on a pseudo terminal, and its silence everywhere else.
#include "base/text/progress.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>

#include <array>
#include <thread>

#include "base/temp_folder.h"

namespace perflab {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using test::ScopedVariable;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

/// A terminal of 40 columns whose screen can be read as bytes.
class Terminal {
 public:
  Terminal() {
    const winsize size{.ws_row = 24, .ws_col = 40, .ws_xpixel = 0, .ws_ypixel = 0};
    EXPECT_EQ(::openpty(&ours_, &theirs_, nullptr, nullptr, &size), 0);
    ::fcntl(ours_, F_SETFL, O_NONBLOCK);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() {
    ::close(ours_);
    ::close(theirs_);
  }

  [[nodiscard]] int descriptor() const { return theirs_; }

  /// What was written since the last call.
  [[nodiscard]] std::string take() const {
    std::string text;
    std::array<char, 4096> buffer{};
    ssize_t got = 0;
    while ((got = ::read(ours_, buffer.data(), buffer.size())) > 0)
      text.append(buffer.data(), static_cast<std::size_t>(got));
    return text;
  }

 private:
  int ours_ = -1;
  int theirs_ = -1;
};

ProgressLine::Options on(const Terminal& terminal, milliseconds interval = milliseconds(0)) {
  return {.quiet = false, .descriptor = terminal.descriptor(), .interval = interval};
}

TEST(Progress, DrawsOnATerminalAndErases) {
  const ScopedVariable term("TERM", "xterm");
  const Terminal terminal;
  {
    ProgressLine line(on(terminal));
    EXPECT_TRUE(line.visible());
    line.update("run 1 of 3");
    EXPECT_EQ(terminal.take(), "\r\x1b[Krun 1 of 3  0.0 s");
  }
  EXPECT_EQ(terminal.take(), "\r\x1b[K");
}

TEST(Progress, IsSilentWhenThereIsNoTerminal) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_NONBLOCK), 0);
  {
    ProgressLine line({.quiet = false, .descriptor = ends[1], .interval = milliseconds(0)});
    EXPECT_FALSE(line.visible());
    line.update("work");
  }
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), -1);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(Progress, IsSilentWhenQuietOrDumb) {
  const Terminal terminal;
  ProgressLine::Options quiet = on(terminal);
  quiet.quiet = true;
  ProgressLine(quiet).update("work");
  const ScopedVariable term("TERM", "dumb");
  ProgressLine(on(terminal)).update("work");
  EXPECT_EQ(terminal.take(), "");
}

TEST(Progress, DrawsNoMoreThanOncePerInterval) {
  const ScopedVariable term("TERM", "xterm");
  const Terminal terminal;
  ProgressLine line(on(terminal, std::chrono::hours(1)));
  line.update("one");
  line.update("two");
  EXPECT_THAT(terminal.take(), Not(HasSubstr("two")));
}

TEST(Progress, CutsToTheWidthAndKeepsTheTimes) {
  const ScopedVariable term("TERM", "xterm");
  const Terminal terminal;
  ProgressLine line(on(terminal));
  line.update("\xC3\xA4\n" + std::string(100, 'x'));
  EXPECT_EQ(terminal.take(), "\r\x1b[K\xC3\xA4 " + std::string(30, 'x') + "  0.0 s");
}

TEST(Progress, EstimatesTheRemainingTime) {
  const ScopedVariable term("TERM", "xterm");
  const Terminal terminal;
  ProgressLine line(on(terminal));
  line.update("work", 0.0);
  EXPECT_THAT(terminal.take(), Not(HasSubstr("left")));
  std::this_thread::sleep_for(milliseconds(50));
  line.update("work", 0.5);
  EXPECT_THAT(terminal.take(), HasSubstr(", about "));
  line.update("next", 0.1);  // a new phase: nothing is known of it yet
  EXPECT_THAT(terminal.take(), Not(HasSubstr("left")));
  line.update("odd", 7.0);
  EXPECT_THAT(terminal.take(), Not(HasSubstr("left")));
}

TEST(Progress, PassesTextThroughOnALineOfItsOwn) {
  const ScopedVariable term("TERM", "xterm");
  const Terminal terminal;
  ProgressLine line(on(terminal));
  line.update("work");
  static_cast<void>(terminal.take());
  line.pass_through("half a ");
  EXPECT_EQ(terminal.take(), "\r\x1b[Khalf a ");
  line.update("work");
  EXPECT_EQ(terminal.take(), "");  // the line of the other program is not finished
  line.pass_through("line\n");
  line.update("work");
  EXPECT_THAT(terminal.take(), EndsWith("\r\x1b[Kwork  0.0 s"));
}

TEST(Progress, PassesTextThroughWithoutATerminal) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_NONBLOCK), 0);
  ProgressLine line({.quiet = true, .descriptor = ends[1], .interval = milliseconds(0)});
  line.pass_through("text");
  std::array<char, 8> buffer{};
  EXPECT_EQ(::read(ends[0], buffer.data(), buffer.size()), 4);
  EXPECT_STREQ(buffer.data(), "text");
  ::close(ends[0]);
  ::close(ends[1]);
}

/// What a terminal shows of work that is not worth a line before `delay`: within 700 ms, and until
/// it shows `wanted`.
std::string seen_of_work(const Terminal& terminal, milliseconds delay,
                         std::string_view wanted = {}) {
  ProgressLine::Options options = on(terminal);
  options.delay = delay;
  LongWork work("reading a.db", options);
  const TellProgress tell = part_of(work.tell(), 0, 0.5);
  tell("reading b.db", 0.5);
  std::this_thread::sleep_for(milliseconds(700));
  std::string seen = terminal.take();
  for (int i = 0; i < 6000 && !seen.contains(wanted); ++i) {
    std::this_thread::sleep_for(milliseconds(20));
    seen += terminal.take();
  }
  return seen;
}

TEST(LongWork, ShowsNothingWhileItIsShort) {
  const ScopedVariable term("TERM", "xterm");
  const Terminal terminal;
  EXPECT_EQ(seen_of_work(terminal, minutes(1)), "");
}

TEST(LongWork, IsDrawnWithoutBeingToldAgainAndErased) {
  const ScopedVariable term("TERM", "xterm");
  const Terminal terminal;
  EXPECT_THAT(seen_of_work(terminal, milliseconds(100), "reading b.db"),
              HasSubstr("reading b.db  "));
  EXPECT_THAT(terminal.take(), EndsWith("\r\x1b[K"));
}

TEST(LongWork, TellsNothingWithoutATerminal) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_NONBLOCK), 0);
  {
    LongWork work("work", {.descriptor = ends[1]});
    EXPECT_FALSE(work.tell());
    EXPECT_FALSE(part_of(work.tell(), 0, 1));
  }
  ::close(ends[1]);
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 0);
  ::close(ends[0]);
}

TEST(PartOf, MapsAShareOfThePartToTheWhole) {
  double seen = -1;
  const TellProgress whole = [&](std::string_view, double done) { seen = done; };
  part_of(whole, 0.2, 0.6)("half", 0.5);
  EXPECT_DOUBLE_EQ(seen, 0.4);
  part_of(part_of(whole, 0.5, 1), 0, 0.5)("end", 1);
  EXPECT_DOUBLE_EQ(seen, 0.75);
}

TEST(DurationText, IsShortForPeople) {
  EXPECT_EQ(duration_text(milliseconds(40)), "0.0 s");
  EXPECT_EQ(duration_text(milliseconds(1'449)), "1.4 s");
  EXPECT_EQ(duration_text(milliseconds(9'960)), "10 s");
  EXPECT_EQ(duration_text(milliseconds(59'600)), "1 min 00 s");
  EXPECT_EQ(duration_text(seconds(125)), "2 min 05 s");
  EXPECT_EQ(duration_text(minutes(62)), "1 h 02 min");
}

}  // namespace
}  // namespace perflab
